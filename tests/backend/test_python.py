"""Generated NumPy source: it runs without this package, computes what the interpreter computes, and reads well.

Programs come from their printed form, from capturing functions and derivatives, from the examples of every op
(`tests/ops/test_table.py`), and at random. What the source looks like is pinned in `golden/*.py`; after a change that
is meant, run this file with `--update-golden` and read the difference.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from op_calls import EXAMPLES, call

import wengert as wg
import wengert.control
from wengert.backend.python import python_source
from wengert.errors import UnsupportedFunctionError
from wengert.ir.build import Capture, capturing, type_of_value
from wengert.ir.interpret import run
from wengert.ir.node import Block, Const, Node, Program, Type, Var, all_nodes
from wengert.ir.parse import parse
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE


def compiled(source: str, name: str) -> Callable:
    assert "wengert" not in source
    namespace: dict[str, Any] = {}
    exec(compile(source, "<generated>", "exec"), namespace)
    return namespace[name]


def copies(args: Sequence[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def compare(program: Program, *args: Any, rtol: float = 1e-12) -> str:
    """The source of a program, after checking that it gives what the interpreter gives, and leaves arguments alone."""
    source = python_source(program)
    expected = run(program.block, copies(args))
    given = copies(args)
    got = compiled(source, program.name)(*given)
    got = got if len(expected) != 1 else (got,)
    assert isinstance(got, tuple)
    assert len(got) == len(expected), source
    for g, e in zip(got, expected, strict=True):
        assert np.shape(g) == np.shape(e), source
        assert np.asarray(g).dtype == np.asarray(e).dtype, source
        np.testing.assert_allclose(g, e, rtol=rtol, atol=1e-14, err_msg=source)
    for g, a in zip(given, args, strict=True):
        np.testing.assert_array_equal(g, a, err_msg=source)
    return source


def program(text: str) -> Program:
    found = parse(text)
    assert isinstance(found, Program)
    return found


def captured(name: str, function: Callable, *args: Any, hints: str = "") -> Program:
    """The program of a function of values like these."""
    capture = Capture()
    with capturing(capture):
        names = hints.split() or [None] * len(args)
        symbols = [capture.formal(type_of_value(a), hint=name) for a, name in zip(args, names, strict=True)]
        block = capture.block(function(*symbols))
    for node in all_nodes(block):
        node.source = None  # lines of this file
    return Program(name, block)


V = np.array([0.3, -0.7, 0.55])
M = np.array([[0.5, -1.2, 2.0], [1.1, 0.3, -0.4]])

# ------------------------------------------------------------------------------------- programs with a trap in them

TRAPS: dict[str, tuple[str, list]] = {
    "the old version is read after a store": (
        """program f(%x: f64[3]) {
             %a: f64[3] = multiply(%x, 2.0)
             %b: f64[3] = store(%a, 5.0, pattern=(0,))
             %c: f64[3] = add(%a, %b)
             return %c
           }""",
        [V],
    ),
    "a view of the old version is read after a store": (
        """program f(%x: f64[3]) {
             %a: f64[3] = multiply(%x, 2.0)
             %v: f64[2] = index(%a, pattern=(1:,))
             %b: f64[3] = store(%a, 5.0, pattern=(1,))
             return %b, %v
           }""",
        [V],
    ),
    "a nameless view waits while its array is written to": (
        """program f(%x: f64[3]) {
             %a: f64[3] = multiply(%x, 2.0)
             %0: f64[2] = index(%a, pattern=(1:,))
             %1: f64[2] = multiply(%0, 3.0)
             %b: f64[3] = store(%a, 5.0, pattern=(1,))
             %2: f64 = sum(%1, axis=(0,))
             %3: f64[3] = multiply(%b, %2)
             return %3
           }""",
        [V],
    ),
    "an argument is not written to": (
        """program f(%x: f64[3]) {
             %y: f64[3] = store(%x, 5.0, pattern=(0,))
             %z: f64[3] = store(%y, 6.0, pattern=(1,))
             return %z
           }""",
        [V],
    ),
    "nor through a view": (
        """program f(%x: f64[2, 3]) {
             %r: f64[3] = index(%x, pattern=(0,))
             %y: f64[3] = store(%r, 5.0, pattern=(0,))
             %t: f64[3, 2] = transpose(%x, axes=(1, 0))
             %z: f64[3, 2] = add_at(%t, 1.0, pattern=(:, 0))
             return %y, %z, %x
           }""",
        [M],
    ),
    "a constant is not written to": (
        """program f(%n: i64~) {
             %a: f64[3] = store(f64[3](1.0, 2.0, 3.0), 5.0, pattern=(0,))
             %b: f64[3] = store(f64[3](1.0, 2.0, 3.0), 6.0, pattern=(1,))
             return %a, %b
           }""",
        [1],
    ),
    "a part is moved within its array": (
        """program f(%x: f64[3]) {
             %a: f64[3] = multiply(%x, 2.0)
             %0: f64[2] = index(%a, pattern=(:2,))
             %b: f64[3] = store(%a, %0, pattern=(1:,))
             %1: f64[2] = index(%b, pattern=(1:,))
             %c: f64[3] = add_at(%b, %1, pattern=(:2,))
             return %c
           }""",
        [V],
    ),
    "a loop fills an array": (
        """program f(%x: f64[3]) {
             %y: f64[3] = loop %k < 3 {
               carry %out: f64[3] = f64[3](0.0, 0.0, 0.0)
               given %x
               %0: f64 = index(%x, %k, pattern=(ARRAY,))
               %1: f64 = multiply(%0, %0)
               %2: f64[3] = store(%out, %1, %k, pattern=(ARRAY,))
               next %2
             }
             return %y
           }""",
        [V],
    ),
    "a loop writes to what it got": (
        """program f(%x: f64[3]) {
             %y: f64[3] = loop %k < 2 {
               carry %a: f64[3] = %x
               %2: f64[3] = store(%a, 7.0, %k, pattern=(ARRAY,))
               next %2
             }
             %z: f64[3] = add(%x, %y)
             return %y, %z
           }""",
        [V],
    ),
    "a loop writes to what it also looks at": (
        """program f(%x: f64[3]) {
             %s: f64[3] = multiply(%x, 2.0)
             %y: f64[3] = loop %k < 2 {
               carry %a: f64[3] = %s
               given %c: f64[3] = %s
               %0: f64 = index(%c, 0, pattern=(ARRAY,))
               %1: f64 = add(%0, 1.0)
               %2: f64[3] = store(%a, %1, %k, pattern=(ARRAY,))
               next %2
             }
             return %y
           }""",
        [V],
    ),
    "two arrays change places": (
        """program f(%x: f64[3]) {
             %p: f64[3] = multiply(%x, 2.0)
             %q: f64[3] = multiply(%x, 3.0)
             %y: f64[3], %z: f64[3] = loop %k < 3 {
               carry %a: f64[3] = %p
               carry %b: f64[3] = %q
               %2: f64[3] = store(%a, 7.0, %k, pattern=(ARRAY,))
               next %b, %2
             }
             %w: f64[3] = add(%p, %q)
             return %y, %z, %w
           }""",
        [V],
    ),
    "two carried values begin as one": (
        """program f(%x: f64[3]) {
             %p: f64[3] = multiply(%x, 2.0)
             %y: f64[3], %z: f64[3] = loop %k < 3 {
               carry %a: f64[3] = %p
               carry %b: f64[3] = %p
               %0: f64 = index(%b, %k, pattern=(ARRAY,))
               %1: f64 = add(%0, 1.0)
               %2: f64[3] = store(%a, %1, 0, pattern=(ARRAY,))
               %3: f64[3] = add(%b, %2)
               next %2, %3
             }
             return %y, %z
           }""",
        [V],
    ),
    "the old array goes on in another variable": (
        """program f(%x: f64[3]) {
             %p: f64[3] = multiply(%x, 2.0)
             %y: f64[3], %z: f64[3] = loop %k < 3 {
               carry %a: f64[3] = %p
               carry %b: f64[3] = %x
               %2: f64[3] = store(%a, 7.0, %k, pattern=(ARRAY,))
               next %2, %a
             }
             return %y, %z
           }""",
        [V],
    ),
    "fibonacci": (
        """program f(%n: i64~) {
             %y: f64, %z: f64 = loop %k < %n {
               carry %a: f64 = f64(0.0)
               carry %b: f64 = f64(1.0)
               %0: f64 = add(%a, %b)
               next %b, %0
             }
             return %y, %z
           }""",
        [7],
    ),
    "what is kept is written to afterwards": (
        """program f(%x: f64[3]) {
             %p: f64[3] = multiply(%x, 2.0)
             %y: f64[3], %all: f64[3, 3], %sums: f64[3] = loop %k < 3 {
               carry %a: f64[3] = %p
               %0: f64 = sum(%a, axis=(0,))
               %2: f64[3] = store(%a, %0, %k, pattern=(ARRAY,))
               next %2
               yield %a, %0
             }
             return %y, %all, %sums
           }""",
        [V],
    ),
    "a loop that runs not once": (
        """program f(%x: f64[3], %n: i64~) {
             %y: f64[3], %all: f64[?, 3] = loop %k < %n {
               carry %a: f64[3] = %x
               %2: f64[3] = store(%a, 1.0, %k, pattern=(ARRAY,))
               next %2
               yield %a
             }
             return %y, %all
           }""",
        [V, 0],
    ),
    "nested loops": (
        """program f(%x: f64[2, 3]) {
             %y: f64[2, 3], %s.2: f64 = loop %i < 2 {
               carry %out: f64[2, 3] = f64[2, 3]([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
               carry %s: f64 = f64(0.0)
               given %x
               %0: f64[2, 3], %1: f64 = loop %j < 3 {
                 carry %out.1: f64[2, 3] = %out
                 carry %s.1: f64 = %s
                 given %x, %i
                 %2: f64 = index(%x, %i, %j, pattern=(ARRAY, ARRAY))
                 %3: f64 = add(%s.1, %2)
                 %4: f64[2, 3] = store(%out.1, %3, %i, %j, pattern=(ARRAY, ARRAY))
                 next %4, %3
               }
               next %0, %1
             }
             return %y, %s.2
           }""",
        [M],
    ),
    "while with stacked values": (
        """program f(%x: f64) {
             %y: f64, %a: f64[3], %count: i64~, %xs: f64[?], %as: f64[?, 3] = while {
               carry %x.1: f64 = %x
               carry %a.1: f64[3] = f64[3](0.0, 0.0, 0.0)
               test {
                 %0: bool = greater(%x.1, 1.0)
                 return %0
               }
               %1: f64 = multiply(%x.1, 0.5)
               %2: f64[3] = add_at(%a.1, %1, pattern=(:2,))
               next %1, %2
               yield %x.1, %a.1
             }
             return %y, %a, %count, %xs, %as
           }""",
        [np.float64(9.0)],
    ),
    "a test that needs statements": (
        """program f(%x: f64[3]) {
             %y: f64[3], %count: i64~ = while {
               carry %a: f64[3] = %x
               test {
                 %n: f64 = norm(%a, axis=(0,))
                 %0: bool = less(%n, 10.0)
                 %1: f64 = sum(%a, axis=(0,))
                 %2: bool = greater(%1, %n)
                 %3: bool = logical_not(%2)
                 %4: bool = logical_and(%0, %3)
                 return %4
               }
               %5: f64[3] = multiply(%a, 2.0)
               next %5
             }
             return %y, %count
           }""",
        [V],
    ),
    "cond with writes": (
        """program f(%x: f64[3], %t: f64) {
             %a: f64[3] = multiply(%x, 2.0)
             %p: bool = greater(%t, 0.0)
             %b: f64[3], %c: f64 = cond %p {
               given %a, %t
               then {
                 %0: f64[3] = store(%a, %t, pattern=(0,))
                 return %0, %t
               }
               else {
                 %1: f64 = multiply(%t, 3.0)
                 return %a, %1
               }
             }
             return %b, %c
           }""",
        [V, np.float64(2.0)],
    ),
    "cond that writes to what is needed": (
        """program f(%x: f64[3], %t: f64) {
             %a: f64[3] = multiply(%x, 2.0)
             %p: bool = greater(%t, 0.0)
             %b: f64[3] = cond %p {
               given %a, %t
               then {
                 %0: f64[3] = store(%a, %t, pattern=(0,))
                 return %0
               }
               else {
                 return %a
               }
             }
             %c: f64[3] = subtract(%a, %b)
             return %b, %c
           }""",
        [V, np.float64(2.0)],
    ),
    "a choice": (
        """program f(%x: f64, %t: f64) {
             %p: bool = greater(%t, 0.0)
             %b: f64 = cond %p {
               given %x, %t
               then { return %x }
               else { return %t }
             }
             return %b
           }""",
        [np.float64(1.0), np.float64(-2.0)],
    ),
    "lengths of run time": (
        """program f(%x: f64[3], %n: i64~) {
             %y: f64[?<=3] = index(%x, pattern=(:%n,))
             %m: i64~ = size(%y, axis=0)
             %i: i64[?<=3] = iota(n=%m)
             %z: f64[?<=3] = multiply(%y, %i)
             %w: f64[3] = store(%x, %z, pattern=(:%n,))
             %b: f64[?<=3] = broadcast_to(f64(2.0), shape=(%n,))
             %p: f64[4] = padded(%z, shape=(4,))
             %q: f64[?<=3] = index(%p, pattern=(:%n,))
             return %z, %w, %b, %q
           }""",
        [V, 2],
    ),
    "index arrays with repetitions": (
        """program f(%x: f64[3], %i: i64[4]) {
             %a: f64[4] = index(%x, %i, pattern=(ARRAY,))
             %b: f64[3] = add_at(%x, %a, %i, pattern=(ARRAY,))
             %c: f64[3] = store(%b, %a, %i, pattern=(ARRAY,))
             %0: f64[2, 3] = scatter(%a, %i, patterns=((0, ARRAY),), shape=(2, 3))
             return %a, %b, %c, %0
           }""",
        [V, np.array([0, 2, 0, -1])],
    ),
    "a condition that must hold": (
        """program f(%x: f64) {
             %0: bool = greater(%x, 0.0)
             require(%0, error='ValueError', message='x must be "positive"')
             %1: f64 = sqrt(%x)
             return %1
           }""",
        [np.float64(4.0)],
    ),
    "single precision stays single": (
        """program f(%x: f32[3], %t: f32) {
             %0: f32[3] = multiply(%x, 2.5)
             %1: f32[3] = add(%0, f32(0.1))
             %2: f32[3] = multiply(%1, %t)
             %3: f64[3] = multiply(%2, f64(3.0))
             %4: f64[3] = astype(%x, dtype=f64)
             %5: f32 = astype(%t, dtype=f32)
             return %2, %3, %4, %5
           }""",
        [V.astype(np.float32), np.float32(0.3)],
    ),
    "python's own numbers": (
        """program f(%k: i64~, %x: f32[3]) {
             %0: f64~ = divide(%k, 2)
             %1: f32[3] = multiply(%x, %0)
             %2: i64~ = subtract(%k, 1)
             %3: f64~ = divide(%k, %2)
             %4: f32[3] = multiply(%1, %3)
             %5: bool = less(%k, 3)
             %6: bool = logical_not(%5)
             %7: f32[3] = multiply(%x, %6)
             return %1, %4, %7
           }""",
        [5, V.astype(np.float32)],
    ),
    "operators and their precedence": (
        """program f(%a: f64[3], %b: f64[3], %c: f64[3]) {
             %0: f64[3] = subtract(%b, %c)
             %1: f64[3] = subtract(%a, %0)
             %2: f64[3] = negative(%1)
             %3: f64[3] = power(%2, 2)
             %4: f64[3] = multiply(%b, %c)
             %5: f64[3] = divide(%3, %4)
             %6: f64[3] = negative(%5)
             %7: f64[3] = power(2.0, %6)
             %8: f64[3] = power(%7, -1.0)
             %9: bool[3] = less(%8, %a)
             %10: bool[3] = greater(%b, 0.0)
             %11: bool[3] = logical_and(%9, %10)
             %12: bool[3] = logical_not(%11)
             %13: bool[3] = equal(%12, %10)
             %14: f64 = matmul(%a, %b)
             %15: f64[3] = multiply(%c, %14)
             %16: f64[3] = add(%15, %6)
             %17: f64[3] = subtract(-2.0, %16)
             return %13, %8, %17
           }""",
        [V, V + 2, V * V],
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_programs_with_a_trap(name):
    text, args = TRAPS[name]
    compare(program(text), *args)


def test_the_other_branch():
    for name in ("cond with writes", "cond that writes to what is needed"):
        compare(program(TRAPS[name][0]), V, np.float64(-1.0))


def test_what_is_written_in_place():
    source = compare(program(TRAPS["a loop fills an array"][0]), V)
    assert "out = np.zeros(3)\n    for k in range(3):" in source
    assert "out[k] = " in source
    assert "copy" not in source
    assert "copy" not in compare(program(TRAPS["nested loops"][0]), M)
    assert "copy" not in compare(program(TRAPS["cond with writes"][0]), V, np.float64(1.0))
    assert compare(program(TRAPS["an argument is not written to"][0]), V).count("copy") == 1


def test_require_raises():
    f = compiled(python_source(program(TRAPS["a condition that must hold"][0])), "f")
    with pytest.raises(ValueError, match="positive"):
        f(np.float64(-1.0))


def test_constants_are_exact():
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=n) for n in (3, 40, 5000)] + [np.array([np.inf, -0.0, np.nan]), np.float32([0.1, 7])]
    arrays += [np.zeros((2, 0)), np.eye(20), np.arange(50), np.full((3, 4), 2.5), rng.normal(size=(5, 5)) + 1j]
    arrays += [np.array([complex(-0.0, 2), -1j, complex(np.inf, -0.0)]), np.full(3, -0.0), np.array([0.0, -0.0, 0.0])]
    block = Block([], [], [Const(a, type_of_value(a)) for a in arrays])
    source = python_source(Program("f", block))
    for got, a in zip(compiled(source, "f")(), arrays, strict=True):
        assert got.dtype == a.dtype
        assert got.shape == a.shape
        assert got.tobytes() == np.ascontiguousarray(a).tobytes()
    for first, second in zip(compiled(source, "f")(), compiled(source, "f")(), strict=True):
        assert first.flags.writeable or first.size > 12
        assert first is not second


def test_names():
    x, y = (Var(type_of_value(1.5), hint) for hint in ("lambda", "np"))
    out = Var(type_of_value(1.5), "range")
    block = Block([x, y], [Node(TABLE["add"], (x, y), {}, (out,))], [out])
    assert compiled(python_source(Program("f", block)), "f")(1.0, 2.0) == 3.0
    source = python_source(Program("f", block), ["first", "second"])
    assert "def f(first, second):" in source


def test_blocks_that_are_called_twice_become_functions():
    x = Var(type_of_value(V), "x")
    y = Var(type_of_value(V))
    body = Block([x], [Node(TABLE["sin"], (x,), {}, (y,))], [y])
    a, b, c = (Var(type_of_value(V), hint) for hint in ("a", "b", "c"))
    call = TABLE["call"]
    nodes = [
        Node(call, (a,), {"body": body, "name": "wave"}, (b,)),
        Node(call, (b,), {"body": body, "name": "wave"}, (c,)),
    ]
    source = compare(Program("f", Block([a], nodes, [c])), V)
    assert "def wave(x):" in source
    once = Program("f", Block([a], nodes[:1], [b]))
    assert "wave" not in compare(once, V)


def test_long_chains():
    """Neither recursion nor line length grows with the program."""
    x = Var(type_of_value(V), "x")
    nodes, last = [], x
    for _ in range(3000):
        out = Var(x.type)
        nodes.append(Node(TABLE["sin"], (last,), {}, (out,)))
        last = out
    source = compare(Program("f", Block([x], nodes, [last])), V)
    assert max(map(len, source.splitlines())) <= 100


# ----------------------------------------------------------------------------------------------- every op of the table

WITHOUT_SOURCE = {
    "integral": "its integrand is a Python function of the user's",
    "linear_solution": "the linear map is a Python function of the user's",
    "solution": "its equation and its solver are Python functions of the user's",
    "matrix_function": "the function is the user's",
    "matrix_derivative": "the function is the user's",
    "act": "it calls a function of the user's",
}
"""Ops that have no source, and why."""
NOT_TRIED = dict.fromkeys(
    ("by_numpy", "by_numpy_of_two"), "only enclosures ask for it, which are not written as source"
)
CONTROL = (
    "checkpoint",
    "custom",
    "loop",
    "while",
    "cond",
    "call",
    "require",
    "iota",
    "act",
    "undifferentiable",
    "reread",
)
"""Ops that the programs above are made of."""

INTEGERS = np.array([5, 2, 9])
MORE = {
    **{
        name: [call(INTEGERS, 3), call(6, INTEGERS), call(6, 3)]
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
    },
    **{name: [call(INTEGERS, 2), call(6, 3)] for name in ("left_shift", "right_shift")},
    "fits": [call(INTEGERS, 2, operation=name) for name in ("add", "subtract", "multiply", "left_shift")],
    "invert": [call(INTEGERS), call(6), call(INTEGERS > 3)],
    "size": [call(M, axis=1), call(V, axis=0)],
    "true_positions": [call(M > 0), call(V > 0)],
    "add_at": [
        call(V, 0.5, pattern=(1,)),
        call(M, V, pattern=(0,)),
        call(V, V, np.array([2, 0, 2]), pattern=(ARRAY,)),
        call(M, 0.5, np.array([2, 0, 2]), pattern=(slice(None), ARRAY)),
    ],
}
"""Calls of ops that have none there, and other calls."""

CALLS = [
    pytest.param(name, c, id=f"{name}-{k}")
    for name in sorted({*EXAMPLES, *MORE})
    for k, c in enumerate([*EXAMPLES.get(name, []), *MORE.get(name, [])])
]


def one_node(name: str, args: Sequence[Any], params: dict) -> Program:
    op = TABLE[name]
    ys = op.impl(*args, **params)
    ins = [Var(type_of_value(a)) for a in args]
    outs = [Var(type_of_value(y)) if hasattr(y, "dtype") else Var(Type((), np.dtype(float), True))
            for y in (ys if isinstance(ys, tuple) else (ys,))]  # fmt: skip
    return Program("f", Block(ins, [Node(op, tuple(ins), params, tuple(outs))], outs))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "c"), CALLS)
@pytest.mark.filterwarnings("ignore")
def test_every_op_has_source(name, c):
    args = [c.before(a) if c.before and np.asarray(a).dtype.kind == "f" else a for a in c.args]
    if name in NOT_TRIED:
        pytest.skip(NOT_TRIED[name])
    whole = one_node(name, args, c.params)
    if name in WITHOUT_SOURCE:
        with pytest.raises(UnsupportedFunctionError, match=name):
            python_source(whole)
    else:
        compare(whole, *args)


def test_every_op_has_been_tried():
    assert set(TABLE) - set(EXAMPLES) - set(MORE) - set(CONTROL) == set()


# ------------------------------------------------------------------------------------------------------ random programs


class Maker:
    """Makes a random block; every value has an example, from which types come."""

    def __init__(self, draw: Callable[[int], int]):
        self.draw = draw  # a number below the given one

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self.draw(len(items))]

    def block(self, samples: Sequence[Any], size: int, depth: int, counter: bool = False) -> tuple[Block, dict]:
        params = [Var(type_of_value(s), self.pick([None, "a", "b"])) for s in samples]
        known: dict[Var, Any] = dict(zip(params, samples, strict=True))
        nodes: list[Node] = []
        for _ in range(size):
            self.node(nodes, known, depth, params[0] if counter else None)
        return Block(params, nodes, []), known

    def emit(self, nodes: list, known: dict, name: str, args: Sequence[Any], **params: Any) -> None:
        values = [a.value if isinstance(a, Const) else known[a] for a in args]
        ys = TABLE[name].impl(*copies(values), **params)
        ys = ys if isinstance(ys, tuple) else (ys,)
        outs = tuple([Var(type_of_value(y), self.pick([None, None, "a", "c"])) for y in ys])
        nodes.append(Node(TABLE[name], tuple(args), params, outs))
        known.update(zip(outs, ys, strict=True))

    def node(self, nodes: list, known: dict, depth: int, k: Var | None) -> None:
        arrays = [v for v in known if v.type.ndim == 1]
        matrices = [v for v in known if v.type.ndim == 2]
        numbers = [v for v in known if v.type.ndim == 0 and not v.type.weak]
        kind = self.draw(12 if depth else 9)
        a, m, s = self.pick(arrays), self.pick(matrices), self.pick(numbers)
        same = [v for v in arrays if v.type == a.type]
        if kind == 0:
            self.emit(nodes, known, self.pick(["add", "subtract", "multiply"]), [a, self.pick(same)])
        elif kind == 1:
            self.emit(nodes, known, self.pick(["sin", "negative", "tanh"]), [self.pick([a, m, s])])
        elif kind == 2:
            self.emit(
                nodes, known, "index", [m], pattern=self.pick([(0,), (slice(None), 1), (1, slice(None, None, -1))])
            )
        elif kind == 3:
            self.emit(nodes, known, "transpose", [m], axes=(1, 0))
        elif kind == 4:
            self.emit(nodes, known, "sum", [self.pick([a, m])], axis=(0,))
        elif kind in (5, 6):
            place = k if k is not None and self.draw(2) else Const(np.array(self.draw(2)), Type((), np.dtype(np.int64)))
            x = self.pick([a, m])
            part = [v for v in known if v.type.shape == x.type.shape[1:] and not v.type.weak]
            v = self.pick(part) if part else Const(0.25, Type((), np.dtype(float), True))
            self.emit(nodes, known, self.pick(["store", "add_at"]), [x, v, place], pattern=(ARRAY,))
        elif kind == 7:
            n = a.type.shape[0]
            part = [v for v in arrays if v.type.shape == (n - 1,)] + [s]
            self.emit(nodes, known, self.pick(["store", "add_at"]), [a, self.pick(part)], pattern=(slice(1, None),))
            self.emit(
                nodes,
                known,
                "index",
                [self.pick([a, nodes[-1].outs[0]])],
                pattern=(slice(0, -1) if n > 2 else slice(None),),
            )
        elif kind == 8:
            self.emit(nodes, known, "multiply", [self.pick([a, m]), s])
        elif kind == 9:
            self.loop(nodes, known, depth)
        elif kind == 10:
            self.cond(nodes, known, depth)
        else:
            self.loop(nodes, known, depth, is_while=True)

    def some(self, known: dict, count: int) -> list[Var]:
        strong = [v for v in known if not v.type.weak]
        least = [next(v for v in strong[::-1] if v.type.ndim == n) for n in (0, 1, 2)]
        return [*least, *[self.pick(strong) for _ in range(count)]]

    def results(self, known: dict, types: Sequence[Type]) -> list[Var]:
        return [self.pick([v for v in known if v.type == t]) for t in types]

    def loop(self, nodes: list, known: dict, depth: int, is_while: bool = False) -> None:
        carried, consts = self.some(known, 2), self.some(known, 1)
        iterations = Const(0, Type((), np.dtype(np.int64), True))
        first: list[Any] = [iterations] if is_while else []
        samples = [*([0] if True else []), *[known[v] for v in (*carried, *consts)]]
        body, inside = self.block(samples, 4, depth - 1, counter=True)
        types = [v.type for v in carried]
        results = self.results(inside, types)
        kept = [self.pick([v for v in inside if not v.type.weak]) for _ in range(self.draw(3))]
        if is_while:
            one = Const(1, Type((), np.dtype(np.int64), True))
            count = Var(Type((), np.dtype(np.int64), True))
            body.nodes.append(Node(TABLE["add"], (body.params[0], one), {}, (count,)))
            body.results = [count, *results, *kept]
            params = [Var(p.type) for p in body.params]
            stop = Const(self.draw(3), Type((), np.dtype(np.int64), True))
            going = Var(Type((), np.dtype(bool)))
            test = Block(params, [Node(TABLE["less"], (params[0], stop), {}, (going,))], [going])
            self.emit(
                nodes, known, "while", [*first, *carried, *consts], body=body, test=test, carried=1 + len(carried)
            )
        else:
            body.results = [*results, *kept]
            count_ = Const(self.draw(2) + 1, Type((), np.dtype(np.int64), True))
            self.emit(nodes, known, "loop", [count_, *carried, *consts], body=body, carried=len(carried))
        for v in nodes[-1].outs:  # stacks are not of the shapes that this is about
            if v.type.ndim > 2 or v.type.shape[:1] in ((0,), (1,)) or (v.type.ndim == 2 and 1 in v.type.shape):
                del known[v]

    def cond(self, nodes: list, known: dict, depth: int) -> None:
        args = self.some(known, 2)
        types = [v.type for v in self.some(known, 0)]
        s = self.pick([v for v in known if v.type.ndim == 0 and not v.type.weak])
        self.emit(nodes, known, "greater", [s, Const(0.1, Type((), np.dtype(float), True))])
        asked = nodes[-1].outs[0]
        branches = []
        for _ in range(2):
            branch, inside = self.block([known[v] for v in args], 3, depth - 1)
            branch.results = list(self.results(inside, types))
            branches.append(branch)
        del known[asked]
        chosen = branches[0] if (s_value := np.asarray(known[s])) > 0.1 else branches[1]
        del s_value
        ys = run(chosen, [known[v] for v in args])
        outs = tuple([Var(type_of_value(y)) for y in ys])
        nodes.append(Node(TABLE["cond"], (asked, *args), {"then": branches[0], "orelse": branches[1]}, outs))
        known.update(zip(outs, ys, strict=True))


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_random_programs(seed):
    maker = Maker(random.Random(seed).randrange)
    samples = [np.float64(0.3), np.array([0.5, -0.2]), np.array([[0.1, 0.7], [-0.4, 0.9]]), np.array([0.2, 0.6])]
    block, known = maker.block(samples, 8, 2)
    strong = [v for v in known if not v.type.weak]
    block.results = [*strong[-3:], *[maker.pick(strong) for _ in range(4)]]
    compare(Program("f", block), *samples)


# ------------------------------------------------------------------------------------------------- what it looks like


def cost(A, b, x):
    r = A @ x - b
    return np.sum(r * r) / len(b)


def network(W, b, v, x):
    return np.sum((v @ np.tanh(W @ x + b[:, None])) ** 2)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


A, B = np.arange(15.0).reshape(5, 3) / 10, np.ones(5)
LOOKS: dict[str, Callable[[], tuple[Program, list]]] = {
    "least_squares": lambda: (
        captured("cost_and_gradient", lambda *a: list(wg.value_and_grad(cost, 2)(*a)), A, B, V, hints="A b x"),
        [A, B, V],
    ),
    "network": lambda: (
        captured(
            "gradients", lambda *a: list(wg.grad(network, (0, 1, 2))(*a)), A, B, B / 5, A.T[:, :4], hints="W b v x"
        ),
        [A, B, B / 5, A.T[:, :4]],
    ),
    "rosenbrock": lambda: (captured("gradient", lambda x: [wg.grad(rosenbrock)(x)], B + 1, hints="x"), [B + 1]),
    "nested_loops": lambda: (program(TRAPS["nested loops"][0]), [M]),
    "while_loop": lambda: (program(TRAPS["while with stacked values"][0]), [np.float64(9.0)]),
    "cond": lambda: (program(TRAPS["cond with writes"][0]), [V, np.float64(2.0)]),
    "loop_gradient": lambda: (BACKWARDS, [V]),
    "matrix_loop": lambda: (MATRIX_LOOP, [M]),
    "special_functions": lambda: (
        captured(
            "gradient", lambda x, a: [wg.grad(lambda x, a: np.sum(x**a), 1)(x, a)], B, np.float64(2.5), hints="x a"
        ),
        [B, np.float64(2.5)],
    ),
}
BACKWARDS = program(
    """program gradient(%x: f64[3]) {
         %y: f64, %cs: f64[20], %0: f64[20] = loop %k < 20 {     # model.py:3
           carry %s: f64 = f64(1.0)
           given %x
           %1: f64 = index(%x, pattern=(0,))                     # 4
           %2: f64 = multiply(%1, %s)                            # 4
           %3: f64 = index(%x, pattern=(1,))                     # 4
           %4: f64 = add(%2, %3)                                 # 4
           %5: f64 = sin(%4)                                     # 5
           %6: f64 = cos(%4)                                     # 5
           next %5
           yield %6, %s
         }
         %7: f64, %x_bar: f64[3] = loop %8 < 20 {
           carry %s_bar: f64 = f64(1.0)
           carry %x_bar.1: f64[3] = f64[3](0.0, 0.0, 0.0)
           given %n: i64~ = 20
           given %cs, %0, %x
           %10: i64~ = subtract(%n, 1)
           %11: i64~ = subtract(%10, %8)
           %12: f64 = index(%cs, %11, pattern=(ARRAY,))          # 5
           %13: f64 = multiply(%12, %s_bar)                      # 5
           %14: f64[3] = add_at(%x_bar.1, %13, pattern=(1,))     # 4
           %15: f64 = index(%0, %11, pattern=(ARRAY,))           # 4
           %16: f64 = multiply(%15, %13)                         # 4
           %17: f64[3] = add_at(%14, %16, pattern=(0,))          # 4
           %18: f64 = index(%x, pattern=(0,))                    # 4
           %19: f64 = multiply(%18, %13)                         # 4
           next %19, %17
         }
         return %x_bar
       }"""
)
MATRIX_LOOP = program(
    """program row_sums(%A: f64[2, 3]) {
         %sums: f64[2], %A.1: f64[2, 3] = loop %i < 2 {         # rows.py:2
           carry %sums.1: f64[2] = f64[2](0.0, 0.0)
           carry %A.2: f64[2, 3] = %A
           %row: f64[3] = index(%A.2, %i, pattern=(ARRAY, :))    # 3
           %total: f64 = sum(%row, axis=(0,))                  # 4
           %0: f64[2] = store(%sums.1, %total, %i, pattern=(ARRAY,))     # 5
           %1: f64[3] = divide(%row, %total)                   # 6
           %2: f64[2, 3] = store(%A.2, %1, %i, pattern=(ARRAY, :))       # 6
           next %0, %2
         }
         return %sums, %A.1
       }"""
)


@pytest.mark.parametrize("name", LOOKS)
def test_looks(name, golden):
    whole, args = LOOKS[name]()
    golden(f"{name}.py", compare(whole, *args))
