"""Generated NumPy source: it runs without this package, computes what the interpreter computes, and reads well.

Programs come from their printed form, from capturing functions and derivatives, and from the examples of every op
(`tests/ops/test_table.py`); `test_python_random.py` makes them at random. What the source looks like is pinned in
`golden/*.py`; after a change that is meant, run this file with `--update-golden` and read the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from backend.as_source import TRAPS, M, V, captured, compare, compiled, program
from op_calls import EXAMPLES, call

import wengert as wg
import wengert.control
from wengert.backend.python import python_source
from wengert.errors import UnsupportedFunctionError
from wengert.ir.build import type_of_value
from wengert.ir.node import Block, Const, Node, Program, Type, Var
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE

# ------------------------------------------------------------------------------------- programs with a trap in them


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
    "succeeds": "it asks the table",
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
