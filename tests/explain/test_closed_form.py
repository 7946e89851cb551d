"""`wg.symbolic`: expressions agree with the program, their derivatives with automatic ones, at any precision."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import wengert as wg
from wengert.errors import NoClosedFormError, NotDifferentiableInputError
from wengert.explain.closed_form import evaluate, exact_ratio, table
from wengert.ops.op import TABLE

sympy = pytest.importorskip("sympy")


def vectors(x, A):
    bx = x @ A @ x
    out = np.zeros(3)
    for i in range(3):
        out[i] = np.exp(x[i]) * bx
    return np.sum(np.where(out > 1, np.log(out), out)) + np.linalg.norm(x) + np.var(x)


def layers(p):
    h = np.tanh(p["w"] @ np.array([1.0, 0.5]) + p["b"])
    return wg.logsumexp(h) + np.prod(h) * np.max(h) + np.arctan2(h[0], h[1])


def matrices(A):
    return np.linalg.det(A) + np.sum(np.linalg.inv(A)) + np.trace(A @ A.T) + np.linalg.solve(A, np.ones(2))[0]


PROGRAMS = [
    (lambda x: x * np.sin(x), (0.7,)),
    (lambda x: np.sqrt(1 + np.abs(x)) ** 3 / (2 + np.cos(x)), (-0.7,)),
    (lambda x, y: np.hypot(x, y) * np.expm1(x) + np.log1p(y) * np.arcsin(x), (0.3, 0.6)),
    (vectors, (np.array([0.1, 0.2, 0.3]), np.arange(9.0).reshape(3, 3))),
    (layers, ({"w": np.array([[0.1, 0.4], [0.3, -0.2]]), "b": np.array([0.3, 0.2])},)),
    (matrices, (np.array([[2.0, 0.5], [0.3, 1.5]]),)),
    (wg.jit(lambda x: np.sum(np.cumsum(x) ** 2)), (np.array([0.5, 1.5]),)),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_values_and_derivatives_agree(f, args):
    s = wg.symbolic(f, *args)
    np.testing.assert_allclose(s.function(*args), f(*args), rtol=1e-12)
    expected = wg.grad(f, tuple(range(len(args))))(*args)
    found = s.gradient(*args)
    for a, b in zip(_leaves(found), _leaves(expected[0] if len(args) == 1 else expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def _leaves(container):
    if isinstance(container, dict):
        return [leaf for key in sorted(container) for leaf in _leaves(container[key])]
    if isinstance(container, (tuple, list)):
        return [leaf for item in container for leaf in _leaves(item)]
    return [container]


def test_expressions_are_those_of_calculus():
    x = sympy.Symbol("x", real=True)
    s = wg.symbolic(lambda x: np.exp(x) / x, 1.0)
    assert s.expression == sympy.exp(x) / x
    assert sympy.simplify(s.derivative - sympy.diff(sympy.exp(x) / x, x)) == 0
    assert sympy.simplify(s.simplified - s.derivative) == 0
    assert "e^{x}" in s._repr_latex_()
    assert str(s) == "f(x) = exp(x)/x"


def test_automatic_differentiation_of_symbols_gives_symbols():
    """Reverse mode over expressions is symbolic differentiation, up to simplification."""
    f = lambda x: np.sum(np.sin(x) ** 2 * np.exp(x[0]))
    by_modes = wg.symbolic(wg.grad(f), np.ones(2)).expression
    by_sympy = wg.symbolic(f, np.ones(2)).derivative
    assert all(sympy.simplify(a - b) == 0 for a, b in zip(by_modes, by_sympy, strict=True))
    second = wg.symbolic(wg.derivative(np.tan, order=2), 0.3).expression
    x = sympy.Symbol("x", real=True)
    assert sympy.simplify(second.subs(sympy.Symbol(str(next(iter(second.free_symbols))), real=True), x)
                          - sympy.diff(sympy.tan(x), x, 2)) == 0  # fmt: skip


def test_jacobians_have_the_shape_of_result_and_argument():
    f = lambda x: np.stack([x[0] * x[1], x[0] + x[1] ** 2, np.sin(x[0])])
    x = np.array([2.0, 3.0])
    np.testing.assert_allclose(wg.symbolic(f, x).gradient(x), wg.jacobian(f)(x))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: x if x > 0 else -x, (1.0,)),
        (lambda x: np.sum(np.sort(x)), (np.ones(3),)),
        (lambda x: np.sum(np.linalg.eigvalsh(x)), (np.eye(2),)),
    ],
)
def test_programs_without_closed_form_are_refused(f, args):
    with pytest.raises(NoClosedFormError, match="remedy"):
        wg.symbolic(f, *args)


def test_there_must_be_a_number():
    with pytest.raises(NotDifferentiableInputError):
        wg.symbolic(lambda n: n, 3)


def test_many_digits():
    """Reverse mode over numbers of fifty digits agrees with mpmath to fifty digits."""
    f = lambda x: np.exp(np.sin(x)) / (1 + x**2)
    start = np.array(sympy.Float(exact_ratio(0.3), 50), object)
    (found,) = evaluate(lambda x: [wg.grad(f)(x)], [start], 50)
    with mpmath.workdps(60):
        expected = mpmath.diff(lambda x: mpmath.exp(mpmath.sin(x)) / (1 + x**2), mpmath.mpf(0.3))
        assert abs(mpmath.mpf(str(found[()])) - expected) < mpmath.mpf(10) ** -40


def test_numbers_decide():
    f = lambda x: x**2 if x > 0 else -x
    (found,) = evaluate(lambda x: [wg.grad(f)(x)], [np.array(sympy.Float(3, 30), object)], 30)
    assert float(found[()]) == 6


def test_the_table_names_ops_that_exist_and_means_them():
    x, y = sympy.symbols("x y", positive=True)
    for name, function in table().items():
        if name not in TABLE:
            continue
        op = TABLE[name]
        count = len(getattr(op, "partials", ())) or 1
        if name in ("arccosh", "where", "heaviside") or op.__class__.__name__ == "Zero":
            continue
        at = (0.3, 0.4)[:count] if name != "jv" else (1.0, 0.4)
        numbers = [sympy.Float(v) for v in at]
        np.testing.assert_allclose(complex(sympy.N(function(*numbers))).real, op.impl(*map(np.float64, at)),
                                   rtol=1e-12, err_msg=name)  # fmt: skip
