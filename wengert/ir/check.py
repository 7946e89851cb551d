"""Whether a program is well formed. Every pass must keep it so; tests run this check between passes.

The rules, in the order in which a node is looked at:

- the op is a row of the table, and operands are values of the same block (blocks are closed) that are defined already;
- constants are of the type they say; a `Ref` in a parameter has its size, and sizes are integer scalars;
- ops that hold code take and return what `control/` says, with carried values of one type throughout;
- the types of results are what the op makes of the types of its operands, as far as that can be told: a length may be
  left open where it could be known, or have a bound that only the builder of the program knew;
- each value is defined once, also seen from the blocks inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.ir.infer import results
from wengert.ir.node import Block, Const, Dyn, Node, Operand, Program, Ref, Type, Var, map_refs
from wengert.ir.show import COUNTER, names_of, show_node
from wengert.ir.symbol import Sym
from wengert.ops.op import TABLE
from wengert.types import SCALARS, broadcast_shapes, dtype_of

_TRIED = 100_000
"""Ops that are tried out to learn the types of their results are not tried on more elements than this."""


class InvalidProgram(Exception):
    """A program breaks a rule of the IR. Says which, and shows the node as the printed program does."""


def check(program: Program | Block, types: bool = True, weak: bool = True) -> None:
    """Raise `InvalidProgram` unless a program, or a block, is well formed.

    `types=False` leaves out what takes time: asking ops for the types of their results. `weak=False` allows that the
    operands of an op are weak where others stood when the type of its result was found, as passes put them there.
    """
    _Check(program, types, weak).block(program.block if isinstance(program, Program) else program, ())


def type_of_value(value: Any) -> Type:
    """The type of a constant."""
    return Type(np.shape(value), dtype_of(value), value.__class__ in SCALARS)


def refs_in(params: Any) -> list[Ref]:
    """Every `Ref` in parameters, at any depth."""
    found: list[Ref] = []
    map_refs(params, found.append)
    return found


class _Check:
    def __init__(self, program: Program | Block, types: bool, weak: bool):
        self.program = program
        self.types = types
        self.weak = weak
        self.node: Node | None = None

    def fail(self, problem: str) -> InvalidProgram:
        where = "" if self.node is None else f"\n  in {show_node(self.program, self.node)}"
        return InvalidProgram(problem + where)

    def name(self, var: Var) -> str:
        return names_of(self.program).get(var) or f"%?{var.hint or ''}"

    def expect(self, ok: bool, problem: Callable[[], str]) -> None:
        if not ok:
            raise self.fail(problem())

    # ------------------------------------------------------------------------------------------------------- blocks

    def block(self, block: Block, outside: tuple[set[Var], ...]) -> None:
        defined: set[Var] = set()
        for param in block.params:
            self.define(param, defined, outside)
        for node in block.nodes:
            self.node = node
            self.node_in(node, block, defined, outside)
            for inner in node.blocks:
                self.block(inner, (*outside, defined))
                self.node = node
            for out in node.outs:
                self.define(out, defined, outside)
        holder, self.node = self.node, None
        for result in block.results:
            self.operand(result, block, defined, outside)
        self.node = holder

    def define(self, var: Var, defined: set[Var], outside: tuple[set[Var], ...]) -> None:
        self.expect(
            var not in defined and not any(var in names for names in outside),
            lambda: f"{self.name(var)} is defined twice",
        )
        self.expect(not var.type.weak or not var.type.shape, lambda: f"{self.name(var)}: only scalars can be weak")
        defined.add(var)

    def operand(self, operand: Operand, block: Block, defined: set[Var], outside: tuple[set[Var], ...]) -> None:
        if isinstance(operand, Const):
            found = type_of_value(operand.value)
            self.expect(found == operand.type, lambda: f"a constant of type {found} says that it is {operand.type}")
        elif operand not in defined:
            if any(operand in names for names in outside):
                problem = "belongs to an outer block; blocks are closed, it must come in as a parameter"
            elif any(operand in node.outs for node in block.nodes):
                problem = "is used before it is defined"
            else:
                problem = "is not defined"
            raise self.fail(f"{self.name(operand)} {problem}")

    def node_in(self, node: Node, block: Block, defined: set[Var], outside: tuple[set[Var], ...]) -> None:
        name = node.op.name
        self.expect(TABLE.get(name) is node.op, lambda: f"there is no op {name!r} in the table, or another one")
        for operand in (*node.args, *node.sizes):
            self.operand(operand, block, defined, outside)
        for ref in refs_in(node.params):
            self.expect(0 <= ref.k < len(node.sizes), lambda r=ref: f"there is no size number {r.k}")  # type: ignore[misc]
        for size in node.sizes:
            self.expect(_is_integer(size.type), lambda s=size: f"a size must be an integer, not {s.type}")  # type: ignore[misc]
        known = _PARAMS.get(name)
        if known is not None:
            self.expect(set(node.params) == set(known), lambda: f"the parameters of {name} are {', '.join(known)}")
        rule = _RULES.get(name)
        if rule is not None:
            rule(self, node)
        elif self.types:
            self.results(node)

    def count(self, what: str, found: int, wanted: int) -> None:
        self.expect(found == wanted, lambda: f"{what}: {found}, but there must be {wanted}")

    def same(self, what: str, types: Sequence[Type], rooms: Sequence[Type] | None = None) -> None:
        """Types that are the same or, where these are given, that all of `rooms` have room for."""
        self.expect(
            all(covers(a, b, weakly=True) for a in rooms or types for b in types),
            lambda: f"{what} have different types: {', '.join(map(repr, types))}",
        )

    # ------------------------------------------------------------------------------------------ ops that hold code

    def blocks(self, node: Node) -> None:
        for key in _PARAMS[node.op.name]:
            if key not in ("carried", "name"):
                self.expect(node.params[key].__class__ is Block, lambda k=key: f"{k} must be a block")  # type: ignore[misc]

    def entry(self, what: str, block: Block, args: Sequence[Operand]) -> None:
        """Arguments and the parameters they are bound to."""
        self.count(f"parameters of {what}", len(block.params), len(args))
        for param, arg in zip(block.params, args, strict=True):
            self.expect(
                covers(param.type, arg.type, weakly=True),
                lambda p=param, a=arg: f"{self.name(p)} of {what} is {p.type} and gets a {a.type}",  # type: ignore[misc]
            )

    def carried(self, node: Node, inits: Sequence[Operand], params: Sequence[Var], results: Sequence[Operand]) -> None:
        """The first and the next value of what is carried fit into the parameter and the result, whatever lengths they
        have themselves."""
        for i, init in enumerate(inits):
            rooms, values = (params[i].type, node.outs[i].type), (init.type, results[i].type)
            what = f"first value, parameter, next value and result of carried value {i}"
            self.same(what, [values[0], rooms[0], values[1], rooms[1]], rooms)

    def stacked(self, outs: Sequence[Var], ys: Sequence[Operand], length: int | Dyn) -> None:
        for out, y in zip(outs, ys, strict=True):
            wanted = Type((length, *y.type.shape), y.type.dtype)
            self.expect(
                covers(out.type, wanted, weakly=True),
                lambda o=out, w=wanted: f"{self.name(o)} is {o.type}, but it stacks up a {w}",  # type: ignore[misc]
            )  # fmt: skip

    def is_count(self, carried: Any, most: int) -> None:
        self.expect(
            carried.__class__ is int and 0 <= carried <= most, lambda: f"carried={carried!r} of {most} operands"
        )

    def loop(self, node: Node) -> None:
        self.blocks(node)
        self.expect(bool(node.args), lambda: "a loop needs the number of its iterations")
        body, carried = node.params["body"], node.params["carried"]
        self.is_count(carried, len(node.args) - 1)
        count = node.args[0]
        self.expect(_is_integer(count.type), lambda: f"the number of iterations must be an integer, not {count.type}")
        self.expect(
            bool(body.params) and body.params[0].type == COUNTER,
            lambda: f"the first parameter of the body counts the iterations, so it must be {COUNTER}",
        )
        self.count("parameters of body", len(body.params) - 1, len(node.args) - 1)
        self.expect(len(body.results) >= carried, lambda: f"the body must return {carried} carried values")
        self.count("results", len(node.outs), len(body.results))
        self.carried(node, node.args[1 : carried + 1], body.params[1:], body.results)
        self.entry("body", Block(body.params[carried + 1 :], [], []), node.args[carried + 1 :])
        length = max(int(count.value), 0) if isinstance(count, Const) else Dyn()
        self.stacked(node.outs[carried:], body.results[carried:], length)

    def while_(self, node: Node) -> None:
        self.blocks(node)
        body, test, carried = node.params["body"], node.params["test"], node.params["carried"]
        self.is_count(carried, len(node.args))
        self.count("parameters of body", len(body.params), len(node.args))
        self.expect(len(body.results) >= carried, lambda: f"the body must return {carried} carried values")
        self.count("results", len(node.outs), len(body.results) + 1)
        self.carried(node, node.args[:carried], body.params, body.results)
        self.entry("body", Block(body.params[carried:], [], []), node.args[carried:])
        self.entry("test", test, node.args)
        self.count("results of test", len(test.results), 1)
        answer = test.results[0].type
        self.expect(_is_truth(answer), lambda: f"the test must return true or false, not {answer}")
        iterations = node.outs[carried]
        self.expect(
            iterations.type == COUNTER, lambda: f"{self.name(iterations)} counts the iterations: it must be {COUNTER}"
        )
        self.stacked(node.outs[carried + 1 :], body.results[carried:], Dyn())

    def cond(self, node: Node) -> None:
        self.blocks(node)
        self.expect(bool(node.args), lambda: "a cond needs a condition")
        pred = node.args[0].type
        self.expect(_is_truth(pred), lambda: f"the condition must be true or false, not {pred}")
        then, orelse = node.params["then"], node.params["orelse"]
        self.entry("then", then, node.args[1:])
        self.entry("orelse", orelse, node.args[1:])
        self.count("results of then", len(then.results), len(node.outs))
        self.count("results of orelse", len(orelse.results), len(node.outs))
        for i, (a, b, out) in enumerate(zip(then.results, orelse.results, node.outs, strict=True)):
            self.expect(  # a length may be one in this branch and another in that one
                covers(out.type, a.type, weakly=True) and covers(out.type, b.type, weakly=True),
                lambda i=i, types=(a.type, b.type, out.type): (  # type: ignore[misc]
                    f"both branches and result {i} have different types: {', '.join(map(repr, types))}"
                ),
            )

    def call(self, node: Node) -> None:
        self.blocks(node)
        body = node.params["body"]
        self.expect(isinstance(node.params["name"], str), lambda: "the name must be a text")
        self.entry("body", body, node.args)
        self.count("results", len(node.outs), len(body.results))
        for i, (result, out) in enumerate(zip(body.results, node.outs, strict=True)):
            self.same(f"what body returns and result {i}", [result.type, out.type])

    def require(self, node: Node) -> None:
        self.expect(bool(node.args), lambda: "require needs a condition")
        self.count("results", len(node.outs), 0)

    # ---------------------------------------------------------------------------------------------- types of results

    def results(self, node: Node) -> None:
        try:
            found = _derived(node)
        except _Contradiction as error:
            raise self.fail(str(error)) from None
        if found is None:
            return
        self.count("results", len(node.outs), len(found))
        for out, type in zip(node.outs, found, strict=True):
            if node.op.name in ("astype", "as_integer") and not out.type.shape:
                type = type._replace(weak=out.type.weak)  # as `float(x)` and `int(x)`
            self.expect(
                covers(out.type, type, weakly=not self.weak),
                lambda o=out, t=type: f"{self.name(o)} is {o.type}, but the op gives {t}",  # type: ignore[misc]
            )


_PARAMS = {
    "loop": ("body", "carried"),
    "while": ("body", "carried", "test"),
    "cond": ("orelse", "then"),
    "call": ("body", "name"),
    "checkpoint": ("body", "function", "name", "taken"),
    "custom": ("body", "name", "rule", "taken"),
    "require": ("error", "message"),
    "size": ("axis",),
    "iota": ("n",),
    "padded": ("shape",),
}
_RULES: dict[str, Callable[[_Check, Node], None]] = {
    "loop": _Check.loop,
    "while": _Check.while_,
    "cond": _Check.cond,
    "call": _Check.call,
    "checkpoint": _Check.call,
    "custom": _Check.call,
    "require": _Check.require,
}


class _Contradiction(Exception):
    pass


def covers(declared: Type, found: Type, *, weakly: bool = False) -> bool:
    """Whether a value of type `found` may be one of type `declared`: nothing contradicts it.

    Where values only pass in and out of blocks, `weakly`, it does not matter whether they are weak: that counted when
    the types of results were inferred.

    >>> f64 = np.dtype(float)
    >>> covers(Type((Dyn(5),), f64), Type((3,), f64)), covers(Type((2,), f64), Type((3,), f64))
    (True, False)
    """
    return (
        declared.dtype == found.dtype
        and (weakly or declared.weak == found.weak)
        and len(declared.shape) == len(found.shape)
        and all(_may_be(n, m) for n, m in zip(declared.shape, found.shape, strict=True))
    )


def _may_be(n: Any, m: Any) -> bool:
    if n.__class__ is int and m.__class__ is int:
        return n == m
    if n.__class__ is not int and m.__class__ is not int:
        return True
    length, dyn = (n, m) if n.__class__ is int else (m, n)
    return dyn.bound is None or length <= dyn.bound


def _is_integer(type: Type) -> bool:
    return not type.shape and type.dtype.kind in "iu"


def _is_truth(type: Type) -> bool:
    return not type.shape and type.dtype.kind == "b"


def _derived(node: Node) -> list[Type] | None:
    """The types of a node's results, as far as those of its operands tell; `None` where they do not."""
    name, types = node.op.name, [a.type for a in node.args]
    lengths = _lengths(node)
    if name == "size":
        axis = node.params["axis"]
        if not (axis.__class__ is int and 0 <= axis < types[0].ndim):
            raise _Contradiction(f"a {types[0]} has no axis {axis!r}")
        return [COUNTER]
    if name == "iota":
        return [Type((lengths(node.params["n"]),), np.dtype(np.int64))]
    if name == "padded":
        return [_with_room(types[0], node.params["shape"])]
    if name in ("reshape", "broadcast_to"):
        return [_reshaped(name, types[0], tuple([lengths(n) for n in node.params["shape"]]))]
    if node.op.writes:
        return [types[0]._replace(weak=False)]
    symbols = [a.value if isinstance(a, Const) else Sym(None, a, a.type.shape) for a in node.args]
    if node.op.elementwise:
        if node.sizes:
            return None
        try:
            shape = broadcast_shapes([t.shape for t in types])
        except ValueError as error:
            raise _Contradiction(str(error)) from None
        return _asked(
            node, [s if s.__class__ in SCALARS else _scalar(t) for s, t in zip(symbols, types, strict=True)], shape
        )
    if node.sizes or not all(t.is_static and _number_of_elements(t.shape) <= _TRIED for t in types):
        return None
    return _asked(node, symbols, None)


def _scalar(type: Type) -> Sym:
    return Sym(None, Var(type._replace(shape=())), ())


def _number_of_elements(shape: tuple) -> int:
    return math.prod(shape)


def _asked(node: Node, args: list[Any], shape: tuple | None) -> list[Type] | None:
    """What `infer` says. An op that raises may do so when the program runs: that is no matter of types."""
    try:
        _, found = results(node.op, args, node.params)
    except Exception:  # whatever an op may raise when it is computed: its values are no matter of types
        return None
    shapes = [f.shape if shape is None else shape for f in found]
    return [Type(n, f.dtype, f.weak and not n) for n, f in zip(shapes, found, strict=True)]  # (no array is weak)


def _lengths(node: Node) -> Callable[[Any], int | Dyn]:
    def length(n: Any) -> int | Dyn:
        if n.__class__ is not Ref:
            return n
        size = node.sizes[n.k]
        return int(size.value) if isinstance(size, Const) else Dyn()

    return length


def _with_room(type: Type, shape: tuple[int, ...]) -> Type:
    found = Type(shape, type.dtype)
    most = [n.bound if isinstance(n, Dyn) else n for n in type.shape]
    if len(most) != len(shape) or any(m is None or m > n for m, n in zip(most, shape, strict=True)):
        raise _Contradiction(f"a {type} has no room in {found}")
    return found


def _reshaped(name: str, type: Type, shape: tuple[int | Dyn, ...]) -> Type:
    found = Type(shape, type.dtype)
    if type.is_static and found.is_static:
        if name == "reshape":
            if _number_of_elements(type.shape) != _number_of_elements(shape):
                raise _Contradiction(f"a {type} cannot be reshaped to {found}")
        else:
            try:
                fits = np.broadcast_shapes(type.shape, shape) == shape  # type: ignore[arg-type]
            except ValueError:
                fits = False
            if not fits:
                raise _Contradiction(f"a {type} cannot be broadcast to {found}")
    return found
