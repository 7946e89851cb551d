"""Functions with a derivative rule of their author's: `custom(*args, *taken; name, rule, body)`.

The op holds the function, and what its author says of the derivative, as a `Rule`. Forward and reverse mode and series
ask the rule; every other mode goes through the function itself. In a program that is captured the function is a block,
`body`, which may take values from outside (`taken` says how many); the rule stays Python code, and is run when a mode
comes to the op. (To capture it at once would not end: the rule of a sine calls a cosine, whose rule calls the sine.)
When a program is compiled there is nothing left to differentiate, and the op is a call of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from wengert.box.box import plain
from wengert.box.writing import settled
from wengert.control.blocks import unwrapped
from wengert.control.call import call as call_block
from wengert.control.lifting import joined, lifted, parts_of, types_of_body
from wengert.errors import ConcretizationError, InPlaceError, NotLinearError, StagingError, WengertError
from wengert.ir.build import Capture, capturing
from wengert.ir.interpret import run
from wengert.ir.node import Block, Node, all_nodes
from wengert.modes.batch import Batch
from wengert.modes.dual import Dual, DualTrace, push
from wengert.modes.linear import LinearTrace, Tangent, transpose
from wengert.modes.mode import Mode, closure
from wengert.modes.tape import Tape, TapeTrace, record
from wengert.ops import shape
from wengert.ops.derive import Control, zeros_like
from wengert.ops.index import index
from wengert.ops.op import Traced, call
from wengert.running import entered, running
from wengert.types import SCALARS, Aval, aval_of, dtype_of, is_inexact, shape_of


class Rule:
    """What the author of a function says, from lists of leaves to lists of leaves.

    Either `tangent` is stated or `forward` with `backward`; `pulls` says which. `fixed` has the places of arguments
    that are not to be differentiated.
    """

    name: str
    pulls: bool
    fixed: frozenset[int] = frozenset()
    pushes_function: bool = False
    """Whether tangents are those of the function itself, for a pullback that cannot be transposed."""

    def apart(self) -> AbstractContextManager:
        """While the rule is run for a program that was captured before. What it reads outside must stay the same."""
        return nullcontext()

    def primal(self, args: Sequence[Any]) -> list[Any]:
        """The function itself."""
        raise NotImplementedError

    def tangent(self, args: Sequence[Any], dots: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The results and their tangents, linear in `dots`."""
        raise NotImplementedError

    def forward(self, args: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        """The results, the values that are kept for `backward`, and what else it is to be told."""
        raise NotImplementedError

    def backward(self, kept: Sequence[Any], told: Any, cts: Sequence[Any]) -> list[Any]:
        """The cotangents of the arguments (`None` for zero), linear in `cts`."""
        raise NotImplementedError


class _OfExamples(Rule):
    """The rule of the same function on the examples of a batch, stacked."""

    def __init__(self, rule: Rule, mode: Mode, boxed: Sequence[bool]):
        self._rule, self._mode, self._boxed = rule, mode, list(boxed)
        self.name, self.pulls, self.fixed = rule.name, rule.pulls, rule.fixed
        self.pushes_function = rule.pushes_function

    def apart(self) -> AbstractContextManager:
        return self._rule.apart()

    def _boxes(self, trace: Any, values: Sequence[Any]) -> list[Any]:
        return [v if v is None or not b else trace.wrap(v) for v, b in zip(values, self._boxed, strict=True)]

    def primal(self, args: Sequence[Any]) -> list[Any]:
        trace: Any = self._mode.fresh()
        with entered(trace):
            return [trace.unwrap(settled(y)) for y in self._rule.primal(self._boxes(trace, args))]

    def tangent(self, args: Sequence[Any], dots: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        trace: Any = self._mode.fresh()
        with entered(trace):
            ys, y_dots = self._rule.tangent(self._boxes(trace, args), self._boxes(trace, dots))
            return [trace.unwrap(settled(y)) for y in ys], [trace.unwrap(settled(d)) for d in y_dots]

    def forward(self, args: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        trace: Any = self._mode.fresh()
        with entered(trace):
            ys, kept, told = self._rule.forward(self._boxes(trace, args))
            stacked = [trace.owns(x) for x in kept]
            kept = [x._value if s else x for x, s in zip(kept, stacked, strict=True)]
            return [trace.unwrap(settled(y)) for y in ys], kept, (stacked, told)

    def backward(self, kept: Sequence[Any], told: Any, cts: Sequence[Any]) -> list[Any]:
        stacked, inner = told
        trace: Any = self._mode.fresh()
        with entered(trace):
            kept = [trace.wrap(x) if s else x for x, s in zip(kept, stacked, strict=True)]
            found = self._rule.backward(kept, inner, [trace.wrap(ct) for ct in cts])
            return [None if c is None else trace.unwrap(settled(c)) if b else _over_examples(trace, settled(c))
                    for c, b in zip(found, self._boxed, strict=True)]  # fmt: skip


def _over_examples(trace: Any, ct: Any) -> Any:
    """The cotangent of an argument that all examples share."""
    return shape.sum(trace.unwrap(ct), axis=(0,), keepdims=False)


# --------------------------------------------------------------------------------------------------------- the modes


def _impl(*args: Any, name: str, rule: Rule, body: Block | None = None, taken: int = 0) -> tuple:
    return tuple(rule.primal(args) if body is None else run(body, args))


def _checked(trace: Any, mine: Sequence[bool], rule: Rule, count: int) -> None:
    """Refuse to differentiate what the rule does not speak of."""
    for k, m in enumerate(mine):
        if m and k >= count:
            raise closure(rule.name)
        if m and k in rule.fixed:
            raise WengertError(
                f"an argument of {rule.name} is in nondiff_argnums but is being differentiated",
                remedy="take it out of nondiff_argnums, or pass wg.stop_gradient(x)",
            )


def _refuse_closures(name: str, results: Sequence[Any], trace: Any) -> None:
    """A rule is given values without their trace. If what it returns has that trace, or an inner one, then by way of a
    closure, and that dependence would be lost."""
    for leaf in results:
        leaf = settled(leaf)
        symbolic = leaf.__class__ is Tangent or leaf.__class__ is Batch
        if isinstance(leaf, Traced) and not symbolic and leaf._owner.tag >= trace.tag:
            raise closure(name)


def _lift(mode: Mode, args: tuple, params: dict) -> tuple:
    rule, body, taken = params["rule"], params.get("body"), params.get("taken", 0)
    count = len(args) - taken
    if isinstance(mode, DualTrace) and not rule.pushes_function:
        with nullcontext() if body is None else rule.apart():
            return _push(mode, args, rule, count)
    if not mode.batches:
        return tuple(rule.primal(args[:count]) if body is None else run(body, args))
    given = parts_of(mode, args)
    if running.state.capture is None and mode.size:  # type: ignore[attr-defined]
        return _one_by_one(mode, given.leading, given.boxed, params)
    of_examples = {"name": rule.name, "rule": _OfExamples(rule, mode, given.boxed[:count])}
    if body is not None:
        block = lifted(body, mode, given.boxed, [True] * len(body.results))[0]
        of_examples.update(body=block, taken=taken)
    results = call(custom, *given.leading, **of_examples)
    return joined(mode, results, [], [True] * len(results))


def _one_by_one(mode: Any, leading: Sequence[Any], boxed: Sequence[bool], params: dict) -> tuple:
    """Example by example: the function may be anything that computes."""
    results = [
        call(custom, *[index(x, pattern=(k,)) if b else x for x, b in zip(leading, boxed, strict=True)], **params)
        for k in range(mode.size)
    ]
    return tuple([mode.wrap(np.stack(examples)) for examples in zip(*results, strict=True)])


def _push(trace: DualTrace, args: Sequence[Any], rule: Rule, count: int) -> tuple:
    mine, values = unwrapped(trace, Dual, args)
    _checked(trace, mine, rule, count)
    mine, values = mine[:count], values[:count]
    dots = [a._tangent if m else None for a, m in zip(args, mine, strict=False)]
    if rule.pulls:
        ys, kept, told = rule.forward(values)
        _refuse_closures(rule.name, [*ys, *kept], trace)
        y_dots = transpose(lambda cts: rule.backward(kept, told, cts), [aval_of(y) for y in ys])(dots)
    else:
        ys, y_dots = rule.tangent(
            values, [zeros_like(x) if d is None else d for x, d in zip(values, dots, strict=True)]
        )
    _refuse_closures(rule.name, [*ys, *y_dots], trace)
    return tuple([Dual(trace, y, d) for y, d in zip(ys, y_dots, strict=True)])


def _tangents(y: tuple, args: tuple, dots: list, params: dict) -> tuple:
    """The tangents of the results, on values of any kind: series of which the first coefficients are known."""
    rule, count = params["rule"], len(args) - params.get("taken", 0)
    _checked(None, [d is not None for d in dots], rule, count)
    args, dots = args[:count], dots[:count]
    with rule.apart() if "body" in params else nullcontext():
        if rule.pushes_function:
            return tuple(_pushed(rule, args, dots))
        if rule.pulls:
            ys, kept, told = rule.forward(args)
            return tuple(transpose(lambda cts: rule.backward(kept, told, cts), [aval_of(y) for y in ys])(dots))
        filled = [zeros_like(x) if d is None else d for x, d in zip(args, dots, strict=True)]
        return tuple(rule.tangent(args, filled)[1])


def _pushed(rule: Rule, args: Sequence[Any], dots: Sequence[Any]) -> list[Any]:
    """The tangents of the function itself."""
    ys, y_dots = push(lambda *xs: rule.primal(xs), args, dots)
    return [zeros_like(y) if d is None else d for y, d in zip(ys, y_dots, strict=True)]


def _record(trace: TapeTrace, args: tuple, params: dict) -> tuple:
    rule, count = params["rule"], len(args) - params.get("taken", 0)
    mine, values = unwrapped(trace, Tape, args)
    _checked(trace, mine, rule, count)
    mine, values = mine[:count], values[:count]
    nodes = [a._node if m else None for a, m in zip(args, mine, strict=False)]
    apart = nullcontext if "body" not in params else rule.apart
    if rule.pulls:
        return _pulled(trace, rule, apart, values, nodes)
    linear = LinearTrace(trace.tag, trace.nodes)
    with apart():
        floats = [dtype_of(x) for x in values if is_inexact(dtype_of(x)) and x.__class__ not in SCALARS]
        dtype = np.result_type(*floats) if floats else np.dtype(float)
        dots = [_symbol(linear, x, n, dtype) for x, n in zip(values, nodes, strict=True)]
        try:
            ys, y_dots = rule.tangent(values, dots)
        except (ConcretizationError, StagingError):
            if running.state.capture is None:
                raise
            return _by_tape(trace, rule, values, nodes)
    _refuse_closures(rule.name, [*ys, *y_dots], trace)
    for d in y_dots:
        if d.__class__ is not Tangent and (isinstance(plain(d), Traced) or np.any(plain(d))):
            raise NotLinearError(
                f"the forward rule of {rule.name} returned a tangent that is not made from those it was given",
                remedy="return a linear function of the tangents",
            )
    return tuple([y if d.__class__ is not Tangent else Tape(trace, y, d._node)
                  for y, d in zip(ys, y_dots, strict=True)])  # fmt: skip


def _by_tape(trace: TapeTrace, rule: Rule, values: Sequence[Any], nodes: Sequence[int | None]) -> tuple:
    """For a forward rule that branches on values of the program: a branch has no unknown tangents for results. What is
    linear is its own derivative, so the rule is differentiated in the tangents."""
    wanted = [k for k, n in enumerate(nodes) if n is not None]
    ys: list[Any] = []

    def tangents(*dots: Any) -> list[Any]:
        every = [zeros_like(x) for x in values]
        for k, dot in zip(wanted, dots, strict=True):
            every[k] = dot
        found, y_dots = rule.tangent(values, every)
        ys.extend(found)
        return y_dots

    _, program = record(tangents, [zeros_like(values[k]) for k in wanted])
    _refuse_closures(rule.name, ys, trace)
    return tuple(trace.custom([nodes[k] for k in wanted], ys, program.pull))  # type: ignore[misc]


def _symbol(linear: LinearTrace, x: Any, node: int | None, dtype: np.dtype) -> Any:
    """The unknown tangent of an argument. One that is not differentiated gets a tangent nobody will ever send."""
    if node is not None:
        return Tangent(linear, node, aval_of(x))
    if dtype_of(x).kind not in "biufc":
        return zeros_like(x)
    return linear.input(aval_of(x) if is_inexact(dtype_of(x)) else Aval(shape_of(x), dtype))


def _pulled(trace: TapeTrace, rule: Rule, apart: Callable, values: Sequence[Any], nodes: Sequence[int | None]) -> tuple:
    with apart():
        ys, kept, told = rule.forward(values)
    kept = list(kept)
    _refuse_closures(rule.name, [*ys, *kept], trace)
    wanted = [k for k, n in enumerate(nodes) if n is not None]

    def pull(cts: Sequence[Any]) -> list[Any]:
        with apart():
            cotangents = rule.backward(kept, told, cts)
        return [cotangents[k] for k in wanted]

    def tangent(dots: Sequence[Any]) -> list[Any]:
        given = dict(zip(wanted, dots, strict=True))
        with apart():
            return _pushed(rule, values, [given.get(k) for k in range(len(values))])

    inputs: list[Any] = [nodes[k] for k in wanted]
    pushed = tangent if rule.pushes_function else None
    return tuple(trace.custom(inputs, ys, pull, push=pushed, kept=(list(values), kept)))


# -------------------------------------------------------------------------------------------------------- in programs


def _stage(args: tuple, params: dict) -> tuple[tuple, dict]:
    """The op as it stands in a program: the function is a block."""
    return (args, params) if "body" in params else staged(args, params, params["rule"].name, params["rule"].primal)


def staged(args: tuple, params: dict, name: str, function: Callable) -> tuple[tuple, dict]:
    """Arguments and parameters of an op that holds a Python function, with a block in its place."""
    capture = Capture()
    with capturing(capture):
        formals = [capture.like(a) for a in args]
        variables = [x._node for x in formals]
        outputs = [settled(y) for y in function(formals)]
        if capture.restore() or any(settled(x)._node is not v for x, v in zip(formals, variables, strict=True)):
            raise InPlaceError(
                f"{name} writes into an array that it did not make, and its derivative is taken as a whole",
                remedy="write into a copy, x = x.copy(), and return it",
            )
        block = capture.block(outputs)
    taken = [(p, x) for p, x in zip(block.params, capture.captured, strict=True) if x is not None]
    body = Block([*variables, *[p for p, _ in taken]], block.nodes, block.results)
    return (*args, *[x for _, x in taken]), {**params, "body": body, "taken": len(taken)}


custom = Control(
    "custom", _impl, lift=_lift, record=_record, types=types_of_body, stage=_stage, push=_tangents, marks=True
)


PYTHON: set[Any] = {custom}
"""Ops that hold Python code for derivatives beside their block."""


def without_rules(block: Block) -> Block:
    """A block in which nothing will be differentiated any more: functions with rules are called."""
    if not any(node.op in PYTHON for node in all_nodes(block)):
        return block
    nodes = []
    for node in block.nodes:
        params = {key: without_rules(p) if p.__class__ is Block else p for key, p in node.params.items()}
        op: Any = node.op
        if op in PYTHON:
            op, params = call_block, {"body": params["body"], "name": params["name"]}
        nodes.append(Node(op, node.args, params, node.outs, node.sizes, node.source))
    return Block(block.params, nodes, block.results)
