"""A few programs of the IR, put together by hand: what tests of the printed form, the checker and the passes use."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert.control  # noqa: F401  the ops that hold code
from wengert.ir.check import type_of_value
from wengert.ir.node import Block, Const, Dyn, Node, Operand, Program, Ref, Source, Type, Var
from wengert.ops import store as _store  # noqa: F401
from wengert.ops.index import ARRAY, FLAG
from wengert.ops.op import TABLE

F, I, B = (np.dtype(t) for t in (np.float64, np.int64, np.bool_))
SCALAR, COUNTER, TRUTH = Type((), F), Type((), I, True), Type((), B)


def vector(n: Any, dtype: Any = F) -> Type:
    return Type((n,), dtype)


class Making:
    """A block in the making."""

    def __init__(self, *params: tuple[str, Type]):
        self.params = [Var(type, hint) for hint, type in params]
        self.nodes: list[Node] = []

    def add(
        self, op: str, *args: Any, out: Any = SCALAR, line: Any = None, sizes: tuple = (), hint: Any = None, **params
    ):
        """The result of a new node, or results, if `out` is a list of types."""
        outs = tuple([Var(t, hint) for t in (out if isinstance(out, list) else [out])])
        source = None if line is None else line if isinstance(line, Source) else Source("example.py", line)
        operands = tuple([operand(a) for a in args])
        self.nodes.append(Node(TABLE[op], operands, params, outs, tuple([operand(s) for s in sizes]), source))
        return outs if isinstance(out, list) else outs[0]

    def block(self, *results: Any) -> Block:
        return Block(self.params, self.nodes, [operand(r) for r in results])

    def program(self, name: str, *results: Any) -> Program:
        return Program(name, self.block(*results))


def operand(x: Any) -> Operand:
    return x if isinstance(x, (Var, Const)) else Const(x, type_of_value(x))


def mean_square() -> Program:
    """A loop over the elements of an array."""
    body = Making(("k", COUNTER), ("s", SCALAR), ("x", vector(8)))
    k, s, x = body.params
    xk = body.add("index", x, k, pattern=(ARRAY,), line=4)
    square = body.add("multiply", xk, xk, line=4)
    total = body.add("add", s, square, line=4)
    m = Making(("x", vector(8)), ("n", COUNTER))
    x, n = m.params
    (total,) = m.add("loop", n, np.float64(0), x, body=body.block(total), carried=1, out=[SCALAR], line=3, hint="total")
    return m.program("mean_square", m.add("divide", total, 8, line=5))


def newton() -> Program:
    """A while loop that keeps what it went through."""
    test = Making(("x", SCALAR), ("a", SCALAR))
    x, a = test.params
    error = test.add("subtract", test.add("multiply", x, x, line=7), a, line=7)
    test_block = test.block(test.add("greater", test.add("absolute", error, line=7), 1e-9, out=TRUTH, line=7))
    body = Making(("x", SCALAR), ("a", SCALAR))
    x, a = body.params
    better = body.add("multiply", 0.5, body.add("add", x, body.add("divide", a, x, line=8), line=8), line=8, hint="x")
    m = Making(("a", SCALAR))
    (a,) = m.params
    root, iterations, path = m.add(
        "while", np.float64(1), a, out=[SCALAR, COUNTER, vector(Dyn())], line=7, test=test_block,
        body=body.block(better, x), carried=1)  # fmt: skip
    return m.program("newton", root, iterations, path)


def triangle() -> Program:
    """Arrays whose lengths are values, in a loop in a call."""
    body = Making(("i", COUNTER), ("A", Type((5, 5), F)), ("x", vector(5)), ("b", vector(5)))
    i, A, x, b = body.params
    n = body.add("add", i, 1, out=COUNTER, line=Source("solve.py", 10))
    row = body.add(
        "index", A, i, sizes=(i,), pattern=(ARRAY, slice(None, Ref(0))), out=vector(Dyn(5)), line=Source("solve.py", 11)
    )
    part = body.add(
        "index", x, sizes=(i,), pattern=(slice(None, Ref(0)),), out=vector(Dyn(5)), line=Source("solve.py", 11)
    )
    dot = body.add("sum", body.add("multiply", row, part, out=vector(Dyn(5))), axis=(0,), keepdims=False)
    rest = body.add("subtract", body.add("index", b, i, pattern=(ARRAY,)), dot)
    diagonal = body.add("index", A, i, i, pattern=(ARRAY, ARRAY))
    new = body.add("store", x, body.add("divide", rest, diagonal), i, pattern=(ARRAY,), out=vector(5), hint="x")
    ok = body.add("less_equal", n, 5, out=TRUTH)
    body.add("require", ok, error="IndexError", message='row %d of # 5: it\'s "too" large\n', out=[])
    loop_body = body.block(A, new)
    whole = Making(("A", Type((5, 5), F)), ("b", vector(5)))
    A, b = whole.params
    start = whole.add("broadcast_to", np.float64(0), shape=(5,), out=vector(5), line=Source("solve.py", 8))
    (_, x) = whole.add("loop", 5, A, start, b, body=loop_body, carried=2, out=[Type((5, 5), F), vector(5)])
    m = Making(("A", Type((5, 5), F)), ("b", vector(5)))
    (x,) = m.add("call", *m.params, body=whole.block(x), name="solve.<locals>.forward", out=[vector(5)], line=3)
    return m.program("<lambda>", x)


def branches() -> Program:
    """Branches in branches, and one block that stands in two places."""
    leaf = Making(("x", SCALAR))
    leaf_block = leaf.block(leaf.add("sin", leaf.params[0]))
    other = Making(("x", SCALAR))
    other_block = other.block(np.float64(2.5))
    outer = Making(("x", SCALAR), ("p", TRUTH))
    x, p = outer.params
    (y,) = outer.add("cond", p, x, then=leaf_block, orelse=other_block, out=[SCALAR])
    (z,) = outer.add("cond", False, y, then=other_block, orelse=leaf_block, out=[SCALAR])
    nothing = Making(("x", SCALAR), ("p", TRUTH))
    m = Making(("x", SCALAR), ("x", TRUTH))
    (r,) = m.add(
        "cond", m.params[1], *m.params, then=outer.block(z), orelse=nothing.block(nothing.params[0]), out=[SCALAR]
    )
    return m.program("branches", r, m.params[0], m.params[0])


def constants() -> Program:
    """Every kind of constant."""
    m = Making()
    found = [
        *(0, -3, 2.0, -0.0, 1e-300, float("nan"), float("-inf"), 1 + 2j, complex(-0.0, float("nan")), True, False),
        *(np.float64(0.1), np.float32(0.1), np.float16(0.1), np.int8(-7), np.uint64(2**64 - 1), np.bool_(True)),
        *(np.complex64(1 - 2j), np.complex128(complex(float("inf"), -0.0)), np.float32("nan")),
        *(np.array(2.5), np.array([1.0, -0.0, np.nan]), np.array([[True, False]]), np.zeros((0, 3), np.int32)),
        *(np.arange(12.0).reshape(3, 4), np.arange(40, dtype=np.int16), np.eye(2, dtype=complex)),
    ]
    large = np.linspace(0, 1, 30)
    return m.program("constants", *found, large, large)


def parameters() -> Program:
    """Every kind of parameter."""
    m = Making(("x", vector(3)), ("n", Type((), I)))
    x, n = m.params
    y = m.add(
        "observe", x, sizes=(n, 4), function=len, whole=(slice(None), slice(1, Ref(0), -2), slice(None, None, 3), ...),
        marks=(ARRAY, FLAG, None), number=(1, -2.5, True, 1j), text="a 'b' \"c\"\n", dtype=np.dtype("f4"), empty=(),
        sizes_=(Ref(0), Ref(1)), nested=((1, (2,)), [3, {"k": Ref(0)}]), scalar=np.float64(2), array=np.arange(3),
        again=len, thing=object, out=vector(3),
    )  # fmt: skip
    return m.program("parameters", y)


ALL = (mean_square, newton, triangle, branches, constants, parameters)
