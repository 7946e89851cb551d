"""The walk over op × mode: every op of the table has a rule for every mode, or an entry here that says why not.

`EXAMPLES` has one or more calls of every op (a new op without one fails this file). Each is run through
`harness.check` (forward, reverse, linearised, many vectors at once, second order by all nestings, float32, against an
independent reference), and through the batch rule for every choice of operands that have the hidden axis.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import as_list, check
from op_calls import CALLS, EXAMPLES, NAMES, Call, floats

import wengert as wg
from wengert.modes.batch import BatchTrace
from wengert.ops.derive import Elementwise, General, Linear, Multilinear, Zero
from wengert.ops.op import TABLE, Op, Traced

WITHOUT_BATCH_RULE = {
    "integral": "SciPy's adaptive quadrature finds its points for one example",
    "observe": "asks a function of the caller's, of which nothing is known",
    "iota": "it has no operands",
    "true_positions": "how many there are differs between examples",
    "linear_solution": "the map is a Python function of one vector",
    "solution": "a solver finds the answer of one example at a time",
    "refined_solution": "a solver finds the answer of one example at a time",
    "roots": "NumPy finds the roots of one polynomial at a time",
    "are_simple": "NumPy evaluates one polynomial at a time",
}
"""Ops that are applied example by example, and why."""

WITHOUT_PARTIAL = {
    ("eigh_repeated", 1): "it only chooses among vectors that are equally good",
    ("svd_repeated", 1): "it only chooses among vectors that are equally good",
    ("refuse_derivative_if", 1): "a mask has no derivative",
    ("null_basis", 1): "it only chooses among bases that are equally good",
    ("where", 0): "a mask has no derivative",
    ("ldexp", 1): "an exponent is an integer",
    ("solve_factored", 1): "the factors are those of the matrix, in which it has one",
    ("copysign", 1): "only its sign counts, which is locally constant",
    ("heaviside", 0): "a step is locally constant",
}
"""Operands in which an op that is differentiable in others has no derivative, and why."""


SMOOTH = [p for p in CALLS if not isinstance(TABLE[p.values[0]], Zero) and not TABLE[p.values[0]].marks]
CONSTANT = [p for p in CALLS if isinstance(TABLE[p.values[0]], Zero) and floats(p.values[1])]


def as_function(name: str, c: Call) -> tuple[Callable, list]:
    """The call as a function of its floating-point operands, and these."""
    op, places = TABLE[name], floats(c)

    def f(*chosen: Any) -> Any:
        filled = list(c.args)
        for k, x in zip(places, chosen, strict=True):
            filled[k] = c.before(x) if c.before else x
        y = op(*filled, **c.params)
        return c.after(y) if c.after else y

    return f, [c.args[k] for k in places]


# -------------------------------------------------------------------------------------------------------- the walk


@pytest.mark.parametrize("name", NAMES)
def test_every_op_has_an_example(name):
    assert EXAMPLES.get(name), f"add a call of {name} to EXAMPLES"


def test_every_example_is_of_an_op():
    assert set(EXAMPLES) <= set(TABLE)
    assert set(WITHOUT_BATCH_RULE) <= set(TABLE)
    assert {name for name, _ in WITHOUT_PARTIAL} <= set(TABLE)


@pytest.mark.parametrize("name", NAMES)
def test_every_op_belongs_to_a_family(name):
    op = TABLE[name]
    assert op.name == name
    assert isinstance(op, (Elementwise, Linear, Multilinear, General, Zero))
    assert repr(op) == f"<op {name}>"


@pytest.mark.parametrize("name", NAMES)
def test_forward_rule(name):
    """A family gives the tangent; what a row states for each operand is a rule or has a reason not to be."""
    op = TABLE[name]
    assert type(op).tangent is not Op.tangent
    stated = op.partials if isinstance(op, Elementwise) else op.tangents if isinstance(op, General) else ()
    for k, rule in enumerate(stated):
        assert rule is not None or (name, k) in WITHOUT_PARTIAL, f"operand {k} of {name} has no rule and no reason"
        assert rule is None or (name, k) not in WITHOUT_PARTIAL
        assert rule is None or callable(rule) or isinstance(rule, (int, float))
    if isinstance(op, Elementwise):
        assert len(op.partials) == len(EXAMPLES[name][0].args)


@pytest.mark.parametrize("name", NAMES)
def test_reverse_rule(name):
    """Elementwise ops and rules that are linear in the tangent are transposed; the others state a transpose."""
    op = TABLE[name]
    assert isinstance(op, (Elementwise, Zero)) or callable(getattr(op, "transpose", None))


@pytest.mark.parametrize("name", NAMES)
def test_batch_rule(name):
    op = TABLE[name]
    assert (op.batch is not None) != (name in WITHOUT_BATCH_RULE), "a rule, or a reason why there is none"


# ---------------------------------------------------------------------------------------------------- the examples

ANALYTIC = {
    "negative",
    "positive",
    "square",
    "exp",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "arctan",
    "arcsin",
    "arccos",
    "arcsinh",
    "arccosh",
    "arctanh",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "reciprocal",
    "expm1",
    "exp2",
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "reshape",
    "transpose",
    "broadcast_to",
    "sum",
    "flip",
    "copy",
    "concatenate",
    "index",
    "cumsum",
    "cumprod",
    "prod",
    "matmul",
    "einsum",
    "convolve",
    "sech_squared",
    "one_minus_square",
}
"""Ops that compute with complex numbers as with real ones: for them the complex step is exact."""


@pytest.mark.parametrize(("name", "c"), SMOOTH)
def test_derivatives(name, c):
    f, args = as_function(name, c)
    single = name != "astype" and c.before is None  # these make double precision
    reference = "complex-step" if name in ANALYTIC and all(np.size(a) for a in args) else "richardson"
    check(f, *args, reference=reference, single=single)


@pytest.mark.parametrize(("name", "c"), CONSTANT)
def test_locally_constant_ops_give_plain_results(name, c):
    """Exactly zero, in every mode: what comes out is not traced at all."""
    f, args = as_function(name, c)
    expected, seen = f(*args), []

    def spying(*xs: Any) -> Any:
        y = f(*xs)
        assert not isinstance(y, Traced)
        np.testing.assert_array_equal(y, expected)
        seen.append(True)
        return sum(np.sum(x) for x in xs)

    ones = tuple(np.ones_like(a)[()] for a in args)
    gradients = wg.grad(spying, tuple(range(len(args))))(*args)
    for gradient, one in zip(gradients, ones, strict=True):
        np.testing.assert_array_equal(gradient, one)
    wg.jvp(spying, tuple(args), ones)
    wg.jvp(lambda *xs: wg.grad(spying, tuple(range(len(args))))(*xs), tuple(args), ones)
    assert len(seen) == 3


@pytest.mark.parametrize(("name", "c"), CONSTANT)
def test_locally_constant_ops_have_derivative_zero(name, c):
    f, args = as_function(name, c)
    if np.asarray(f(*args)).dtype.kind != "f":
        assert np.asarray(f(*args)).dtype.kind in "biu"
        return
    ones = tuple(np.ones_like(a)[()] for a in args)
    assert not np.any(wg.jvp(f, tuple(args), ones)[1])
    for gradient in wg.grad(lambda *xs: np.sum(f(*xs)), tuple(range(len(args))))(*args):
        assert not np.any(gradient)


@pytest.mark.parametrize(("name", "c"), CALLS)
def test_batches(name, c):
    """Every choice of operands with the hidden axis gives what the examples give one by one."""
    op, places, prepare = TABLE[name], floats(c), c.before or (lambda x: x)

    def result(j: int | None, mapped: set) -> Any:
        """Of example j, or of all at once."""
        args = []
        for k, a in enumerate(c.args):
            if k in places:
                examples = [prepare(np.asarray(a) * factor) for factor in (1.0, 0.9, 0.8)]
                a = (many.wrap(np.stack(examples)) if j is None else examples[j]) if k in mapped else prepare(a)
            args.append(a)
        return op(*args, **c.params)

    for count in range(1, len(places) + 1):
        for mapped in map(set, itertools.combinations(places, count)):
            many = BatchTrace(3)
            whole, singles = as_list(result(None, mapped)), [as_list(result(j, mapped)) for j in range(3)]
            for got, *expected in zip(map(many.unwrap, whole), *singles, strict=True):
                assert got.shape == np.stack(expected).shape
                np.testing.assert_allclose(got, np.stack(expected), rtol=1e-13, atol=1e-13)
