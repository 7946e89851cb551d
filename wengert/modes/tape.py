"""Reverse mode: linearise once, then transpose.

Running a function on `Tape` boxes computes its values and records the linear program of its tangent (`linear.py`).
Only the coefficients of that linear map are kept; the values of the program are not. `record` runs a function and
returns its values with the finished program.

An elementwise op becomes one node that holds its partial derivatives; a linear op or a product becomes a node that
applies the op itself; for any other op its tangent rule is run, once, with a symbol for x_dot, and leaves nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from wengert.box.box import Box, outside
from wengert.box.constructors import as_argument
from wengert.box.writing import overwrite, plain, settled, value_in
from wengert.errors import MismatchError
from wengert.modes.cuts import Cutoff, cut_by, cut_by_text, warn_of_constant, warn_of_search
from wengert.modes.dual import check_not_inner
from wengert.modes.held import arrays_in, in_library, memory_owner, with_copies
from wengert.modes.linear import (
    APPLY,
    COMPONENT,
    PASS,
    PULLBACK,
    SCALE,
    SCALE2,
    SCALES,
    LinearTrace,
    Map,
    Tangent,
    kept_args,
    node_inputs,
    place_of,
    pull,
    push,
)
from wengert.modes.searches import Searches
from wengert.ops.derive import Control, Elementwise, General, Multilinear, Zero
from wengert.ops.index import Scattered
from wengert.ops.library import example_of, gathered
from wengert.ops.op import NO_PARAMS, Op, Trace, call, call1, call2, enclosing, fresh_tag, pointed
from wengert.ops.store import store
from wengert.running import entered, making, running
from wengert.types import PLAIN, aval_of, dtype_of, is_inexact, same_aval, shape_of

_FIRST, _SECOND, _BOTH = (0,), (1,), (0, 1)
_new = object.__new__


class Tape(Box):
    """A value and the index of the node that is its tangent."""

    __slots__ = ()
    _state = ("_owner", "_value", "_node")

    def __init__(self, trace: TapeTrace, value: Any, node: int):
        self._owner = trace
        self._value = value
        self._node = node


Tape.__name__ = "traced array"  # which Python's own errors show


class TapeTrace(Trace):
    """One reverse differentiation, while its function runs."""

    __slots__ = ("_coefficients", "_searched", "alive", "cut", "library", "nodes", "searches", "tag", "text")

    def __init__(self) -> None:
        self.tag = fresh_tag()
        self.alive = True
        self.nodes: list[Any] = []
        self._coefficients: dict[int, list[int]] = {}
        self._searched = 0
        self.library = running.state.library
        """An array of the library of the arguments, if that is not NumPy."""
        self.cut: Cutoff | None = None
        """The first op with a derivative of zero. Roundings count more than decisions."""
        self.searches = Searches()
        self.text: Cutoff | None = None
        """Where a text was first made of a value. It counts if nothing else does."""

    def note_text(self, is_part: bool) -> None:
        if is_part and self.text is None:
            self.text = cut_by_text()

    def input(self, value: Any) -> Tape:
        """A new independent variable."""
        self.nodes.append(None)
        return Tape(self, value, len(self.nodes) - 1)

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if not self.alive:
            return outside(self, op, args, params)
        if self.library is not None:
            args = tuple(gathered(args))
        family = op.__class__
        if family is Elementwise:
            return self._elementwise(op, args, params)  # type: ignore[arg-type]
        if family is Control:
            results = op.record(self, args, params)  # type: ignore[attr-defined]
            if self.cut is None and not any(r.__class__ is Tape for r in results):
                self.cut = cut_by(self, op, params)
            return results
        if len(args) == 1 and family is not Zero and not isinstance(op, General):
            (a,) = args
            x = a._value
            y = self._computed(op, (x,), params)
            return self._append((APPLY, op, (a._node,), _FIRST, (aval_of(x),), params), y)
        values = tuple([a._value if a.__class__ is Tape and a._owner is self else a for a in args])
        y = self._computed(op, values, params)
        if family is Zero or (op.writes and not is_inexact(dtype_of(y))):
            self._cut_by(op)
            if len(args) <= 2:
                self.searches.look_at(self, op, values, lambda: self._slope(args))
            return y
        places = tuple([p for p, a in enumerate(args) if a.__class__ is Tape and a._owner is self])
        if isinstance(op, General):
            return self._by_rule(op, args, values, places, y, params)
        inputs = tuple([args[p]._node for p in places])
        return self._append((APPLY, op, inputs, places, kept_args(op, values, places, params), params), y)

    def _computed(self, op: Op, values: tuple, params: dict) -> Any:
        """The value of an op, of values inside of the boxes of this trace."""
        if len(values) == 1 and values[0].__class__ in PLAIN:
            return op.impl(*values, **params)
        return call(op, *values, **params)

    def _cut_by(self, op: Op) -> None:
        if self.cut is None or (self.cut.decides and not op.compares):
            self.cut = cut_by(self, op, NO_PARAMS)

    def _append(self, node: tuple, value: Any) -> Tape:
        """Record a node; box the value it belongs to."""
        nodes = self.nodes
        nodes.append(node)
        box = _new(Tape)  # what Tape(self, value, node) does, without the cost of a call
        box._owner = self
        box._value = value
        k = len(nodes) - 1
        box._node = k if nodes[k] is node else place_of(node, nodes)
        return box

    # ------------------------------------------------------------------ quicker ways for the commonest ops

    def unary(self, op: Op, a: Any) -> Any:
        if not isinstance(op, Elementwise) or not self.alive:
            return self.process(op, (a,), NO_PARAMS)
        x = a._value
        y = op.impl(x) if x.__class__ in PLAIN else call1(op, x)
        partial = op.partials[0]
        c = partial(y, x) if partial.__class__ is FunctionType else partial
        return self._append((SCALES, op, ((a._node, c, None),)) if op.selects else (SCALE, a._node, c), y)

    def binary(self, op: Op, a: Any, b: Any) -> Any:
        if not self.alive:
            return outside(self, op, (a, b), NO_PARAMS)
        if self.library is not None:
            a, b = gathered((a, b))
        if op.__class__ is not Elementwise:
            if op.__class__ is Multilinear:
                return self._product(op, a, b)
            return self._decided(op, a, b) if op.__class__ is Zero else self.process(op, (a, b), NO_PARAMS)
        a_traced = a.__class__ is Tape and a._owner is self
        b_traced = b.__class__ is Tape and b._owner is self
        x = a._value if a_traced else a
        y = b._value if b_traced else b
        z = op.impl(x, y) if x.__class__ in PLAIN and y.__class__ in PLAIN else call2(op, x, y)
        p, q = op.partials
        if a_traced and p is not None:
            c = p(z, x, y) if p.__class__ is FunctionType else p
            if b_traced and q is not None:
                d = q(z, x, y) if q.__class__ is FunctionType else q
                if same_aval(x, z) and same_aval(y, z) and not op.selects:
                    return self._append((SCALE2, a._node, c, b._node, d), z)
                return self._append((SCALES, op, (_term(a, c, z), _term(b, d, z))), z)
            box, coefficient, operand = a, c, x
        elif b_traced and q is not None:
            box, coefficient, operand = b, q(z, x, y) if q.__class__ is FunctionType else q, y
        else:
            return z
        if op.selects or not (operand.__class__ is z.__class__ is np.float64 or same_aval(operand, z)):
            return self._append((SCALES, op, (_term(box, coefficient, z),)), z)
        passes = coefficient.__class__ is int and coefficient == 1
        return self._append((PASS, box._node) if passes else (SCALE, box._node, coefficient), z)

    def _decided(self, op: Op, a: Any, b: Any) -> Any:
        """An op with a derivative of zero, mostly a comparison."""
        x = a._value if a.__class__ is Tape and a._owner is self else a
        y = b._value if b.__class__ is Tape and b._owner is self else b
        z = op.impl(x, y) if x.__class__ in PLAIN and y.__class__ in PLAIN else call2(op, x, y)
        if self.cut is None or not op.compares:
            self._cut_by(op)
        self.searches.look_at(self, op, (x, y), lambda: self._slope((a, b)))
        return z

    def _slope(self, operands: tuple) -> float:
        """The size of the derivative of a difference, or of one number, of which the first elements stand for all."""
        cts: list[Any] = [None] * len(self.nodes)
        for sign, a in zip((1.0, -1.0), operands, strict=False):
            if a.__class__ is Tape and a._owner is self:
                ct = np.zeros(shape_of(a._value), dtype_of(a._value))
                ct.flat[0] = sign
                before = cts[a._node]
                cts[a._node] = ct[()] if before is None else before + ct[()]
        pull(self.nodes, cts)
        found = [np.asarray(plain(ct.total() if ct.__class__ is Scattered else ct)) for ct in cts if ct is not None]
        return float(sum(np.sum(np.abs(ct)) for ct in found))

    def _product(self, op: Op, a: Any, b: Any) -> Tape:
        """Record a product of two factors: each is the coefficient of the other."""
        a_traced = a.__class__ is Tape and a._owner is self
        b_traced = b.__class__ is Tape and b._owner is self
        x = a._value if a_traced else a
        y = b._value if b_traced else b
        z = op.impl(x, y) if x.__class__ in PLAIN and y.__class__ in PLAIN else call2(op, x, y)
        if not b_traced:
            return self._append((APPLY, op, (a._node,), _FIRST, (aval_of(x), y), NO_PARAMS), z)
        if not a_traced:
            return self._append((APPLY, op, (b._node,), _SECOND, (x, aval_of(y)), NO_PARAMS), z)
        return self._append((APPLY, op, (a._node, b._node), _BOTH, (x, y), NO_PARAMS), z)

    def _elementwise(self, op: Elementwise, args: tuple, params: dict) -> Any:
        """Record an elementwise op of any number of operands, with parameters."""
        values = tuple([a._value if a.__class__ is Tape and a._owner is self else a for a in args])
        y = self._computed(op, values, params)
        terms = []
        for p, a in enumerate(args):
            if a.__class__ is Tape and a._owner is self and op.partials[p] is not None:
                terms.append(_term(a, op.coefficient(p, y, values, params), y))
        return self._append((SCALES, op, terms), y) if terms else y

    def write(self, box: Any, v: Any, pattern: tuple, arrays: tuple) -> Any:
        if not self.alive:
            return NotImplemented
        mine = v.__class__ is Tape and v._owner is self
        value = v._value if mine else v
        avals = (aval_of(box._value), aval_of(value), *arrays)
        overwrite(box, "_value", value, pattern, arrays)
        inputs, places = ((box._node, v._node), _BOTH) if mine else ((box._node,), _FIRST)
        node = (APPLY, store, inputs, places, avals, {"pattern": pattern})
        self.nodes.append(node)
        box._node = place_of(node, self.nodes)
        return None

    def keep_values_of(self, x: Any) -> None:
        """Put copies where nodes have an array as coefficient that is about to be written to.

        Nodes are searched when that is first asked for, each once; `_coefficients` says which nodes hold what memory.
        """
        nodes = self.nodes
        for k in range(self._searched, len(nodes)):
            for c in arrays_in(nodes[k]):
                self._coefficients.setdefault(id(memory_owner(c)), []).append(k)
        self._searched = len(nodes)
        memory = memory_owner(x)
        copies: dict[int, Any] = {}
        for k in self._coefficients.pop(id(memory), ()):
            nodes[k] = with_copies(nodes[k], memory, copies)

    def _by_rule(self, op: Op, args: tuple, values: tuple, places: tuple, y: Any, params: dict) -> Any:
        linear = LinearTrace(self.tag, self.nodes)
        dots = [Tangent(linear, args[p]._node, aval_of(v)) if p in places else None for p, v in enumerate(values)]
        y_dot = op.tangent(y, values, dots, params)
        if y_dot is None:
            return y
        if y.__class__ is tuple:
            return tuple(v if d is None else Tape(self, v, d._node) for v, d in zip(y, y_dot, strict=True))
        return Tape(self, y, y_dot._node)

    def custom(
        self,
        inputs: Sequence[int],
        outputs: Sequence[Any],
        pull: Callable,
        *,
        push: Callable | None = None,
        accumulates: bool = False,
        selects: bool = False,
        kept: tuple[list[Any], ...] = (),
    ) -> list[Tape]:
        """Boxes for values that depend on the inputs by a linear map given as functions (`linear.Map`)."""
        nodes = self.nodes
        avals = tuple([aval_of(y) for y in outputs])
        node = (PULLBACK, tuple(inputs), Map(pull, avals, push, accumulates, selects, kept))
        nodes.append(node)
        whole = place_of(node, nodes)
        return [self._append((COMPONENT, whole, which), y) for which, y in enumerate(outputs)]


class ResultsOfOps:
    """Results of ops of some names, in the order in which a function computes them: kept when it is run for the first
    time, and used instead of computing them when it is run again."""

    def __init__(self, names: frozenset[str], known: Sequence[Any] | None = None):
        self.names = names
        self.kept: list[Any] = [] if known is None else list(known)
        self._next = None if known is None else iter(self.kept)

    def again(self) -> ResultsOfOps:
        """The same, for another run."""
        return ResultsOfOps(self.names, self.kept)

    def of(self, op: Op, values: tuple, params: dict) -> Any:
        """The result of an op whose results are kept."""
        if self._next is not None:
            return next(self._next)
        y = call(op, *values, **params)
        self.kept.append(y)
        return y


class RememberingTrace(TapeTrace):
    """A trace that asks for results of ops that were kept."""

    __slots__ = ("_results",)

    def __init__(self, results: ResultsOfOps) -> None:
        super().__init__()
        self._results = results

    def _computed(self, op: Op, values: tuple, params: dict) -> Any:
        if op.name in self._results.names:
            return self._results.of(op, values, params)
        return super()._computed(op, values, params)

    def unary(self, op: Op, a: Any) -> Any:
        return self.process(op, (a,), NO_PARAMS) if op.name in self._results.names else super().unary(op, a)

    def binary(self, op: Op, a: Any, b: Any) -> Any:
        return self.process(op, (a, b), NO_PARAMS) if op.name in self._results.names else super().binary(op, a, b)


def _term(a: Tape, c: Any, y: Any) -> tuple:
    """One operand of an elementwise op: its node, its coefficient, and how its shape and dtype differ from y's."""
    x = a._value
    return (a._node, c, None if same_aval(x, y) else (aval_of(x), aval_of(y)))


class Recorded:
    """A finished linear program with its inputs first and the places of its outputs."""

    __slots__ = ("cut", "inputs", "intervals", "library", "nodes", "outputs", "search")

    def __init__(self, nodes: list[Any], inputs: int, outputs: list[int | None], cut: Cutoff | None = None):
        self.nodes = nodes
        self.inputs = inputs
        self.outputs = outputs
        self.cut = cut
        self.search: Cutoff | None = None
        """The first search that has found a number without its derivative."""
        self.intervals: Any = None
        """The transformation whose values are intervals, if there is one: tangents and cotangents are some, too."""
        self.library: Any = None
        """An empty array of the library of the inputs, if that is not NumPy."""

    def warn_if_constant(self) -> None:
        """Warn if no output depends on the inputs, because the derivative was cut, or if a part of it was."""
        if self.cut is not None and all(k is None for k in self.outputs):
            warn_of_constant(self.cut)
        elif self.search is not None:
            warn_of_search(self.search)

    def prune(self) -> None:
        """Forget what the outputs do not depend on. Worth its cost if the program is kept."""
        needed = bytearray(len(self.nodes))
        for k in self.outputs:
            if k is not None:
                needed[k] = 1
        for k in range(len(self.nodes) - 1, -1, -1):
            if needed[k]:
                for i in node_inputs(self.nodes[k]):
                    needed[i] = 1
            elif k >= self.inputs:
                self.nodes[k] = None

    def pull(self, cts: Sequence[Any], *, consume: bool = False, so_far: Sequence[Any] = ()) -> list[Any]:
        """Cotangents of the inputs from those of the outputs, added to what is there `so_far`; `None` is zero."""
        if self.intervals is not None:
            cts = [pointed(ct, self.intervals) for ct in cts]
        seeds = self.seeds(cts, so_far)
        if self.library is None:
            pull(self.nodes, seeds, consume=consume)
        else:
            self._pull_in_library(seeds, consume)
        return seeds[: self.inputs]

    def seeds(self, cts: Sequence[Any], so_far: Sequence[Any]) -> list[Any]:
        """A cotangent for each node, to start with."""
        found: list[Any] = [*so_far, *[None] * (len(self.nodes) - len(so_far))]
        for k, ct in zip(self.outputs, cts, strict=True):
            if k is not None and ct is not None:
                found[k] = ct if found[k] is None else found[k] + ct
        return found

    def _pull_in_library(self, seeds: list[Any], consume: bool) -> None:
        try:
            with making(self.library):
                pull(self.nodes, seeds, consume=consume)
        except TypeError as error:
            if "nsupported type" not in str(error):
                raise
            kind = type(self.library)
            raise MismatchError(
                f"arrays of NumPy and of {kind.__module__.partition('.')[0]} are differentiated together, and their "
                "cotangents meet",
                remedy="move all arguments to one library first",
            ) from error

    def push(self, dots: Sequence[Any]) -> list[Any]:
        """Tangents of the outputs from those of the inputs; `None` is zero."""
        if self.intervals is not None:
            dots = [pointed(dot, self.intervals) for dot in dots]
        start = [*dots, *[None] * (len(self.nodes) - self.inputs)]
        wanted = [k for k in self.outputs if k is not None]
        with making(self.library):
            found = iter(push(self.nodes, start, wanted))
        return [None if k is None else next(found) for k in self.outputs]


def record(
    function: Callable[..., Sequence[Any]], primals: Sequence[Any], results: ResultsOfOps | None = None
) -> tuple[list[Any], Recorded]:
    """Run a function from leaves to a list of leaves; return its values and the linear program of its tangent."""
    watch = running.state.watch if results is None else None
    trace: TapeTrace = TapeTrace() if results is None else RememberingTrace(results)
    if watch is not None:
        trace = watch.tape()
    with entered(trace, records=True, library=example_of(primals)):
        trace.library = running.state.library
        inputs = [trace.input(x) for x in primals]  # (the first nodes, before any other)
        outputs = function(*[as_argument(*pair) for pair in zip(inputs, primals, strict=True)])
        values: list[Any] = []
        places: list[int | None] = []
        for y in map(settled, outputs):
            if y.__class__ is Tape and y._owner is trace:
                values.append(value_in(y))
                places.append(y._node)
            else:
                check_not_inner(y, trace.tag)
                values.append(y)
                places.append(None)
        program = Recorded(trace.nodes, len(primals), places, trace.cut or trace.text)
        program.search = trace.searches.ended()
        program.intervals = enclosing(*primals, *values)
        program.library = trace.library
        are_together = not any(x.__class__ is np.ndarray and x.ndim for x in primals)  # (others are refused)
        if trace.library is not None and running.state.capture is None and are_together:
            trace.nodes[:] = [in_library(node, trace.library) for node in trace.nodes]
        if watch is not None:
            return values, watch.recorded(trace, program, values)
        trace.nodes = []  # a box that outlives its transformation must not hold all that was recorded
        return values, program
