"""Random programs of the IR for hypothesis: nested loops, whiles, branches and calls, effects, lengths that are values.

A program is grown by choosing ops for values there are. Along with each value goes a sample of it, from which the
types of results are read off; samples are not used otherwise.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from hypothesis import strategies as st

import wengert.control  # noqa: F401  the ops that hold code
from wengert.ir.check import type_of_value
from wengert.ir.node import Block, Const, Dyn, Node, Operand, Program, Ref, Source, Type, Var
from wengert.ops import store as _store  # noqa: F401
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE

F, I, B, C, S = (np.dtype(t) for t in (np.float64, np.int64, np.bool_, np.complex128, np.float32))
COUNTER = Type((), I, True)
PARAMS = (
    Var(Type((3,), F), "x"),
    Var(Type((2, 3), F), "y"),
    Var(Type((), F), "s"),
    Var(COUNTER, "n"),
    Var(Type((3,), C), "z"),
    Var(Type((), B), "flag"),
    Var(Type((3,), S), "w"),
    Var(Type((3,), I), "j"),
    Var(Type((), F, True), "p"),
)
_NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan, 1e-300, 7e200]
_CONSTANTS: list[Any] = [
    *(0, 1, -1, 2, 0.0, -0.0, 1.0, -1.0, 2.0, 0.5, True, False, complex(1, 0), complex(-0.0, -0.0)),
    *(np.float64(1), np.float64(-0.0), np.float32(2), np.int64(0), np.bool_(True)),
    *(np.ones(3), np.zeros(3), np.arange(3.0), np.ones((2, 3)), np.array([True, False, True]), np.array([1, 1, 1])),
]
_UNARY = ("negative", "absolute", "square", "sin", "exp", "positive", "conjugate", "copy", "real", "logical_not")
_BINARY = ("add", "add", "subtract", "subtract", "multiply", "multiply", "divide", "maximum", "minimum", "less",
           "equal", "greater_equal", "logical_and", "logical_or")  # fmt: skip


def arguments() -> st.SearchStrategy[list[Any]]:
    """Arguments for a random program."""
    number = st.sampled_from(_NUMBERS)

    def array(shape: tuple, dtype: Any) -> st.SearchStrategy:
        n = int(np.prod(shape))
        return st.lists(number, min_size=n, max_size=n).map(lambda v: np.array(v).reshape(shape).astype(dtype))

    integers = st.lists(st.integers(0, 2), min_size=3, max_size=3)
    return st.tuples(
        array((3,), F),
        array((2, 3), F),
        number.map(np.float64),
        st.integers(0, 4),
        array((3,), C),
        st.booleans().map(np.bool_),
        st.lists(st.sampled_from([0.5, -0.0, 2.0]), min_size=3, max_size=3).map(lambda v: np.array(v, S)),
        integers.map(np.array),
        number.map(float),
    ).map(list)


_SAMPLES = [np.ones(3), np.ones((2, 3)), np.float64(1), 2, np.ones(3, C), np.bool_(True), np.ones(3, S),
            np.array([0, 1, 2]), 1.5]  # fmt: skip


class _Growing:
    """A block that is being grown."""

    def __init__(self, draw: Any, params: list[tuple[Var, Any]]):
        self.draw = draw
        self.params = [v for v, _ in params]
        self.pool: list[tuple[Operand, Any]] = list(params) or [constant(np.float64(0.5))]
        self.nodes: list[Node] = []

    def grow(self, count: int, depth: int) -> None:
        kinds = ["unary", "binary", "binary", "constant", "shape", "index", "store", "where", "require", "dyn", "power"]
        if depth:
            kinds += ["loop", "loop", "while", "cond", "cond", "call"]
        for _ in range(count):
            getattr(self, self.draw(st.sampled_from(kinds)))(depth)

    def pick(self, *tests: Any) -> tuple[Operand, Any] | None:
        """A value with a property."""
        found = [p for p in self.pool if all(t(p[0].type) for t in tests)]
        return self.draw(st.sampled_from(found)) if found else None

    def value(self) -> tuple[Operand, Any]:
        if self.draw(st.integers(0, 3)) == 0:
            return constant(self.draw(st.sampled_from(_CONSTANTS)))
        return self.draw(st.sampled_from(self.pool))

    def add(
        self, name: str, args: list[Any], params: dict | None = None, sizes: tuple = (), lengths: Any = None
    ) -> None:
        """A node, if the op can do it; `lengths` are the lengths of its result, where they are values."""
        if name == "divide" and all(a.type.weak for a, _ in args):
            return  # of Python's numbers, dividing by zero gives NumPy's
        samples = [s for _, s in args]
        filled = {} if params is None else params
        if sizes:
            numbers = [s for _, s in sizes]
            filled = _filled(filled, numbers)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                y = TABLE[name].impl(*samples, **filled)
        except (TypeError, ValueError, OverflowError):
            return
        type = type_of_value(y)
        if type.dtype.kind not in "bifc" or type.dtype.itemsize > 16:
            return
        if type.weak and not all(a.type.weak for a, _ in args) and name != "size":
            return  # a Python complex number times a float64 is a Python number, since a float64 is a float
        if lengths is not None:
            type = type._replace(shape=lengths)
        hint = self.draw(st.sampled_from([None, None, "a", "b"]))
        out = Var(type, hint)
        source = self.draw(st.sampled_from([None, Source("f.py", 3), Source("g.py", 4)]))
        operands = tuple([a for a, _ in args])
        self.nodes.append(Node(TABLE[name], operands, params or {}, (out,), tuple([a for a, _ in sizes]), source))
        self.pool.append((out, y))

    # Each of these adds a node of a kind, or nothing.

    def constant(self, depth: int) -> None:
        self.add(self.draw(st.sampled_from(_BINARY)), [self.value(), constant(self.draw(st.sampled_from(_CONSTANTS)))])

    def unary(self, depth: int) -> None:
        x = self.value()
        self.add(self.draw(st.sampled_from(_UNARY)), [x], lengths=x[0].type.shape)

    def binary(self, depth: int) -> None:
        x, y = self.value(), self.value()
        if not (x[0].type.is_static and y[0].type.is_static):
            if x[0].type.shape and y[0].type.shape and x is not y:
                return
            self.add(self.draw(st.sampled_from(_BINARY)), [x, y], lengths=x[0].type.shape or y[0].type.shape)
        else:
            self.add(self.draw(st.sampled_from(_BINARY)), [x, y])

    def power(self, depth: int) -> None:
        x = self.pick(lambda t: t.dtype.kind in "fi" and t.is_static)
        if x is not None:
            self.add("power", [x, constant(self.draw(st.sampled_from([1, 2, 1.0, 2.0])))])

    def where(self, depth: int) -> None:
        masks = [m for m in [self.pick(lambda t: t.dtype.kind == "b" and t.is_static)] if m] + [constant(True)]
        x, y = self.value(), self.value()
        if x[0].type.is_static and y[0].type.is_static:
            self.add("where", [self.draw(st.sampled_from(masks)), x, y])

    def shape(self, depth: int) -> None:
        x = self.pick(lambda t: t.is_static and not t.weak)
        if x is None:
            return
        shape = x[0].type.shape
        size = int(np.prod(shape))
        kind = self.draw(st.sampled_from(["reshape", "transpose", "broadcast_to", "sum", "astype", "flip"]))
        if kind == "reshape":
            shapes = [s for s in ((3,), (1, 3), (3, 1), (2, 3), (3, 2), (6,), (), (1,)) if int(np.prod(s)) == size]
            if shapes:
                self.add(kind, [x], {"shape": self.draw(st.sampled_from(shapes))})
        elif kind == "transpose":
            self.add(kind, [x], {"axes": tuple(self.draw(st.permutations(range(len(shape)))))})
        elif kind == "broadcast_to":
            self.add(kind, [x], {"shape": self.draw(st.sampled_from([(3,), (2, 3), shape]))})
        elif kind == "sum":
            axis = tuple(k for k in range(len(shape)) if self.draw(st.booleans()))
            self.add(kind, [x], {"axis": axis, "keepdims": False})
        elif kind == "astype":
            self.add(kind, [x], {"dtype": self.draw(st.sampled_from([F, C, S, x[0].type.dtype]))})
        elif shape:
            self.add(kind, [x], {"axis": (0,)})

    def place(self, ndim: int) -> tuple[tuple, list]:
        pattern: list[Any] = []
        arrays = []
        for _ in range(self.draw(st.integers(0, ndim))):
            item = self.draw(st.sampled_from([0, 1, -1, slice(None), slice(None), slice(1, None), slice(0, 3), ARRAY]))
            if item is ARRAY:
                arrays.append(self.pick(lambda t: t.shape == () and t.dtype == I and t.weak) or constant(1))
                if not isinstance(arrays[-1][0], Const):
                    arrays[-1] = self.wrapped(arrays[-1])
            pattern.append(item)
        return tuple(pattern), arrays

    def wrapped(self, i: tuple[Operand, Any]) -> tuple[Operand, Any]:
        """An integer that is 0 or 1."""
        self.add("remainder", [i, constant(2)])
        return self.pool[-1]

    def index(self, depth: int) -> None:
        x = self.pick(lambda t: t.is_static and t.shape != ())
        if x is not None and 0 not in x[0].type.shape and 1 not in x[0].type.shape:
            pattern, arrays = self.place(x[0].type.ndim)
            self.add("index", [x, *arrays], {"pattern": pattern})

    def store(self, depth: int) -> None:
        x = self.pick(lambda t: t.is_static and t.shape != ())
        v = self.value()
        if x is not None and 0 not in x[0].type.shape and 1 not in x[0].type.shape and v[0].type.is_static:
            if (v[0].type.dtype.kind == "c" and x[0].type.dtype.kind != "c") or x[0].type.dtype.kind != "f":
                return
            pattern, arrays = self.place(x[0].type.ndim)
            before = len(self.nodes)
            name = self.draw(st.sampled_from(["store", "store", "add_at"]))
            self.add(name, [x, v, *arrays], {"pattern": pattern})
            if len(self.nodes) > before and self.draw(st.booleans()):
                self.add("index", [self.pool[-1], *arrays], {"pattern": pattern})

    def dyn(self, depth: int) -> None:
        """Arrays whose length is a value."""
        kind = self.draw(st.sampled_from(["iota", "slice", "size", "sum"]))
        if kind in ("iota", "slice"):
            n = self.pick(lambda t: t == COUNTER)
            x = self.pick(lambda t: t.shape == (3,))
            if n is None or x is None:
                return
            if kind == "iota":
                self.add("iota", [], {"n": Ref(0)}, (n,), (Dyn(),))
            else:
                self.add("index", [x], {"pattern": (slice(None, Ref(0)),)}, (n,), (Dyn(3),))
        else:
            x = self.pick(lambda t: len(t.shape) == 1)
            if x is not None:
                self.add(kind, [x], {"axis": 0} if kind == "size" else {"axis": (0,), "keepdims": False})

    def require(self, depth: int) -> None:
        x = self.pick(lambda t: t.shape == () and t.dtype.kind in "fi")
        if x is not None:
            self.add("less", [x, constant(self.draw(st.sampled_from([2.0, np.inf, 1e300])))])
            ok = self.pool[-1][0]
            self.nodes.append(Node(TABLE["require"], (ok,), {"error": "ValueError", "message": "too large"}, ()))

    # ---------------------------------------------------------------------------------------------- ops that hold code

    def some(self) -> list[tuple[Operand, Any]]:
        chosen = self.draw(st.lists(st.sampled_from(self.pool), max_size=4))
        if self.draw(st.integers(0, 3)) == 0:
            chosen.append(constant(self.draw(st.sampled_from(_CONSTANTS))))
        return chosen

    def inner(self, given: list[tuple[Operand, Any]], counter: bool = False) -> _Growing:
        params = [(Var(a.type, a.hint if isinstance(a, Var) else None), s) for a, s in given]
        return _Growing(self.draw, [(Var(COUNTER, "k"), 0), *params] if counter else params)

    def nexts(self, block: _Growing, state: list[Var]) -> list[Operand]:
        """What carried values become."""
        return [self.draw(st.sampled_from([a for a, _ in block.pool if a.type == p.type])) for p in state]

    def finish(self, name: str, args: list[Any], params: dict, types: list[Type], samples: list[Any]) -> None:
        outs = tuple([Var(t) for t in types])
        self.nodes.append(Node(TABLE[name], tuple([a for a, _ in args]), params, outs))
        self.pool += zip(outs, samples, strict=True)

    def loop(self, depth: int) -> None:
        count = self.draw(st.sampled_from([constant(0), constant(1), constant(3), self.pick(lambda t: t == COUNTER)]))
        if count is None:
            return
        state, consts = self.some(), self.some()
        body = self.inner([*state, *consts], counter=True)
        body.grow(self.draw(st.integers(0, 5)), depth - 1)
        ys = self.draw(st.lists(st.sampled_from([p for p in body.pool if p[0].type.is_static]), max_size=2))
        n = count[0].value if isinstance(count[0], Const) else Dyn()
        results = [*self.nexts(body, body.params[1 : 1 + len(state)]), *[y for y, _ in ys]]
        block = Block(body.params, body.nodes, results)
        types = [a.type for a, _ in state] + [Type((n, *y.type.shape), y.type.dtype) for y, _ in ys]
        samples = [s for _, s in state] + [np.stack([s] * (2 if isinstance(n, Dyn) else n)) if n != 0
                                           else np.zeros((0, *np.shape(s)), y.type.dtype) for y, s in ys]  # fmt: skip
        self.finish("loop", [count, *state, *consts], {"body": block, "carried": len(state)}, types, samples)

    def while_(self, depth: int) -> None:
        start = self.draw(st.sampled_from([constant(0), constant(5), self.pick(lambda t: t == COUNTER)]))
        if start is None:
            return
        state, consts = [start, *self.some()], self.some()
        given = [*state, *consts]
        test = self.inner(given)
        test.add("less", [test.pool[0], constant(3)])
        answer = test.pool[-1][0]
        test.grow(self.draw(st.integers(0, 2)), 0)
        body = self.inner(given)
        body.add("add", [body.pool[0], constant(1)])
        following = body.pool[-1][0]
        body.grow(self.draw(st.integers(0, 5)), depth - 1)
        ys = self.draw(st.lists(st.sampled_from([p for p in body.pool if p[0].type.is_static]), max_size=1))
        results = [following, *self.nexts(body, body.params[1 : len(state)]), *[y for y, _ in ys]]
        params = {
            "body": Block(body.params, body.nodes, results),
            "carried": len(state),
            "test": Block(test.params, test.nodes, [answer]),
        }
        types = [a.type for a, _ in state] + [COUNTER] + [Type((Dyn(), *y.type.shape), y.type.dtype) for y, _ in ys]
        samples = [*[s for _, s in state], 2, *[np.stack([s, s]) for _, s in ys]]
        self.finish("while", given, params, types, samples)

    def cond(self, depth: int) -> None:
        preds = [p for p in [self.pick(lambda t: t == Type((), B))] if p] + [constant(True), constant(False)]
        given = self.some()
        branches = [self.inner(given), self.inner(given)]
        for b in branches:
            b.grow(self.draw(st.integers(0, 4)), depth - 1)
            b.pool.append(constant(np.float64(1.5)))
        results: list[list[Operand]] = [[], []]
        samples = []
        for _ in range(self.draw(st.integers(0, 3))):
            a, s = self.draw(st.sampled_from(branches[0].pool))
            fitting = [b for b, _ in branches[1].pool if b.type == a.type]
            if fitting:
                results[0].append(a)
                results[1].append(self.draw(st.sampled_from(fitting)))
                samples.append(s)
        blocks = [Block(b.params, b.nodes, r) for b, r in zip(branches, results, strict=True)]
        pred = self.draw(st.sampled_from(preds))
        self.finish(
            "cond", [pred, *given], {"then": blocks[0], "orelse": blocks[1]}, [r.type for r in results[0]], samples
        )

    def call(self, depth: int) -> None:
        given = self.some()
        body = self.inner(given)
        body.grow(self.draw(st.integers(0, 5)), depth - 1)
        chosen = self.draw(st.lists(st.sampled_from(body.pool), max_size=3))
        block = Block(body.params, body.nodes, [a for a, _ in chosen])
        self.finish("call", given, {"body": block, "name": "g"}, [a.type for a, _ in chosen], [s for _, s in chosen])


setattr(_Growing, "while", _Growing.while_)


def constant(value: Any) -> tuple[Const, Any]:
    return Const(value, type_of_value(value)), value


def _filled(params: Any, numbers: list[int]) -> Any:
    if isinstance(params, Ref):
        return numbers[params.k]
    if isinstance(params, tuple):
        return tuple([_filled(p, numbers) for p in params])
    if isinstance(params, slice):
        return slice(*[_filled(p, numbers) for p in (params.start, params.stop, params.step)])
    if isinstance(params, dict):
        return {k: _filled(p, numbers) for k, p in params.items()}
    return params


@st.composite
def programs(draw: Any, size: int = 12, depth: int = 2) -> Program:
    """A program of about `size` nodes, blocks nested at most `depth` deep, whose results are many of its values."""
    growing = _Growing(draw, [(Var(p.type, p.hint), s) for p, s in zip(PARAMS, _SAMPLES, strict=True)])
    growing.grow(draw(st.integers(1, size)), depth)
    results = draw(st.lists(st.sampled_from(growing.pool), min_size=1, max_size=6))
    return Program("random", Block(growing.params, growing.nodes, [a for a, _ in results]))
