"""Differentiations inside differentiations.

Perturbation confusion: an inner derivative mistakes a perturbation of the outer one for its own (Siskind &
Pearlmutter 2005, "Perturbation confusion and referential transparency"; Manzyuk, Pearlmutter, Radul, Rush & Siskind
2012, "Confusion of tagged perturbations in forward automatic differentiation of higher-order functions"). Each case is
run for every assignment of forward and reverse mode to its differentiations, and has an answer known by hand.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.errors import EscapedValueError, NotDifferentiableOutputError


def forward(f: Any) -> Any:
    return lambda x: wg.jvp(f, (x,), (1.0,))[1]


def reverse(f: Any) -> Any:
    return lambda x: wg.grad(f)(x)


def pulled(f: Any) -> Any:
    return lambda x: wg.vjp(f, x)[1](1.0)[0]


def pushed(f: Any) -> Any:
    """Forward through the linear program that reverse mode recorded."""
    return lambda x: wg.linearize(f, x)[1].push(1.0)


def batched(f: Any) -> Any:
    """Forward mode with a hidden axis."""
    return lambda x: wg.jacfwd(f)(x)


MODES = [forward, reverse, pulled, pushed, batched]
FIRST = pytest.mark.parametrize("D", MODES)
PAIRS = pytest.mark.parametrize(("D", "E"), list(itertools.product(MODES, repeat=2)))


# ------------------------------------------------------------------------------------------------ the literature


@PAIRS
def test_siskind_pearlmutter(D, E):
    """d/dx [x · d/dy (x + y) at y = 1] at x = 1 is 1; a confused system says 2."""
    assert D(lambda x: x * E(lambda y: x + y)(1.0))(1.0) == 1


@PAIRS
def test_siskind_pearlmutter_with_a_product(D, E):
    """d/dx [x · d/dy (x·y)] = d/dx x² = 2x."""
    assert D(lambda x: x * E(lambda y: x * y)(1.0))(3.0) == 6


@PAIRS
def test_the_outer_variable_is_the_inner_point(D, E):
    """d/dx [d/dy (x·y²) at y = x] = d/dx 2x² = 4x: the inner point depends on x, and so does the coefficient."""
    assert D(lambda x: E(lambda y: x * y**2)(x))(3.0) == 12


@PAIRS
def test_inner_gradient_of_the_same_variable(D, E):
    """d/dx [x³ · d/dx x²] = d/dx 2x⁴ = 8x³."""
    square = lambda x: x * x
    assert D(lambda x: x**3 * E(square)(x))(2.0) == 64


@PAIRS
def test_constant_inner_function(D, E):
    """d/dx [x · d/dy x] = 0: the inner function does not depend on its variable, only on the outer one."""
    assert D(lambda x: x * E(lambda y: x * 1.0)(2.0))(3.0) == 0
    assert D(lambda x: x * E(lambda y: x)(2.0))(3.0) == 0


@FIRST
def test_manzyuk_curried_function_is_refused(D):
    """The derivative of u ↦ (f ↦ (x ↦ f(x + u))) is a function. Applied to itself it confused every tagged system.

    Sussman's amazing bug: with s(u)(f)(x) = f(x + u) and D̂ = D(s)(0), D̂(D̂(h)) should be h″, and was 0 or h′. The
    perturbation is captured in a closure, which no tag can reach; here that is an error, which says what to write.
    """
    s = lambda u: lambda f: lambda x: f(x + u)
    with pytest.raises(NotDifferentiableOutputError, match="returned a function"):
        D(s)(0.0)


@pytest.mark.parametrize(
    "result",
    [
        lambda x: lambda y: x * y,
        lambda x: (x, lambda y: x * y),
        lambda x: {"f": lambda y: x * y},
        lambda x: [1.0, [lambda y: x]],
        lambda x: type("Closure", (), {"__call__": lambda self, y: x * y})(),
        lambda x: type("Opaque", (), {"x": x})(),
        lambda x: iter([x]),
        lambda x: (y for y in [x]),
    ],
    ids=["closure", "in a tuple", "in a dict", "nested", "callable", "object", "iterator", "generator"],
)
def test_results_that_hide_traced_values_are_refused(result):
    for differentiate in [
        lambda f: wg.jvp(f, (2.0,), (1.0,)),
        lambda f: wg.vjp(f, 2.0),
        lambda f: wg.linearize(f, 2.0),
        lambda f: wg.jacfwd(f)(2.0),
        lambda f: wg.jacrev(f)(2.0),
    ]:
        with pytest.raises(NotDifferentiableOutputError):
            differentiate(result)


@PAIRS
def test_manzyuk_uncurried(D, E):
    """What the remedy says: differentiate the curried function after applying it. (f ↦ f′)² = f″."""
    derivative_of = lambda mode: lambda f: lambda x: mode(lambda u: f(x + u))(0.0)
    assert derivative_of(D)(derivative_of(E)(np.exp))(1.0) == pytest.approx(math.e)
    assert derivative_of(D)(derivative_of(E)(lambda x: x**3))(2.0) == 12


def test_a_closure_that_escapes_sideways_is_refused():
    """The same smuggling by way of a variable: the closure holds a perturbation whose differentiation has ended."""
    for D in MODES:
        kept = []
        D(lambda x: kept.append(lambda y: x * y) or x * 2)(3.0)  # noqa: B023
        with pytest.raises(EscapedValueError):
            kept[0](5.0)
        with pytest.raises(EscapedValueError):
            D(kept[0])(5.0)


@PAIRS
def test_church_encoded_results(D, E):
    """Functions as data inside the differentiated function are fine, as long as they stay inside."""
    pair = lambda a, b: lambda choose: choose(a, b)
    first, second = lambda p: p(lambda a, b: a), lambda p: p(lambda a, b: b)

    def f(x):
        p = pair(x * x, lambda y: x * y)
        return first(p) * E(second(p))(7.0)  # x² · x

    assert D(f)(2.0) == 12


# ------------------------------------------------------------------------------------------ any order, any depth

SCALAR = {
    "sin": (np.sin, 0.3, [math.cos(0.3), -math.sin(0.3), -math.cos(0.3), math.sin(0.3), math.cos(0.3)]),
    "x⁵": (lambda x: x**5, 1.5, [5 * 1.5**4, 20 * 1.5**3, 60 * 1.5**2, 120 * 1.5, 120]),
    "exp(2x)": (lambda x: np.exp(2 * x), 0.5, [2**k * math.e for k in range(1, 6)]),
    "1/x": (lambda x: 1 / x, 2.0, [(-1) ** k * math.factorial(k) / 2 ** (k + 1) for k in range(1, 6)]),
    "a dot product": (
        lambda x: np.stack([x, x**2]) @ np.stack([x**3, x]),  # x⁴ + x³
        2.0,
        [4 * 8 + 3 * 4, 12 * 4 + 6 * 2, 24 * 2 + 6, 24, 0],
    ),
}


@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_forward_and_reverse_in_any_order(name, depth):
    f, x, expected = SCALAR[name]
    for nesting in itertools.product([forward, reverse], repeat=depth):
        g = f
        for mode in nesting:
            g = mode(g)
        assert g(x) == pytest.approx(expected[depth - 1], rel=1e-12, abs=1e-12), [mode.__name__ for mode in nesting]


@pytest.mark.parametrize("depth", [2, 3])
def test_all_modes_in_any_order(depth):
    for nesting in itertools.product(MODES, repeat=depth):
        g = lambda x: np.sin(x) * x
        for mode in nesting:
            g = mode(g)
        x = 0.3
        expected = {2: 2 * math.cos(x) - x * math.sin(x), 3: -3 * math.sin(x) - x * math.cos(x)}[depth]
        assert g(x) == pytest.approx(expected, rel=1e-12), [mode.__name__ for mode in nesting]


def test_depth_seven():
    for nesting in itertools.product([forward, reverse], repeat=7):
        g = lambda x: x**7
        for mode in nesting:
            g = mode(g)
        assert g(1.0) == pytest.approx(math.factorial(7))


def test_derivative_operator_to_order_eight():
    for order in range(9):
        assert wg.derivative(np.exp, order)(0.5) == pytest.approx(math.exp(0.5), rel=1e-13)
        assert wg.derivative(lambda x: x**8, order)(1.0) == pytest.approx(math.perm(8, order))


@PAIRS
def test_mixed_partials_commute(D, E):
    """∂²/∂x∂y of sin(x·y) is cos(xy) − xy·sin(xy), whichever is taken first."""
    f = lambda x, y: np.sin(x * y)
    expected = math.cos(6) - 6 * math.sin(6)
    assert D(lambda x: E(lambda y: f(x, y))(3.0))(2.0) == pytest.approx(expected)
    assert D(lambda y: E(lambda x: f(x, y))(2.0))(3.0) == pytest.approx(expected)


@pytest.mark.parametrize("modes", list(itertools.product([forward, reverse], repeat=3)))
def test_three_variables_of_three_differentiations(modes):
    """∂³/∂x∂y∂z exp(xyz) = (1 + 3xyz + (xyz)²) exp(xyz), each variable belonging to a differentiation of its own."""
    D, E, F = modes
    x, y, z = 0.5, 0.7, 1.1
    p = x * y * z
    result = D(lambda a: E(lambda b: F(lambda c: np.exp(a * b * c))(z))(y))(x)
    assert result == pytest.approx((1 + 3 * p + p * p) * math.exp(p), rel=1e-13)


def test_matrix_of_nested_operators(rng):
    """For f(x) = Σ sin(xᵢ): gradient cos, Hessian −diag sin, third derivatives −cos on the diagonal."""
    x = rng.normal(size=3)
    f = lambda x: np.sum(np.sin(x))
    third = np.zeros((3, 3, 3))
    third[[0, 1, 2], [0, 1, 2], [0, 1, 2]] = -np.cos(x)
    for A, B in itertools.product([wg.jacfwd, wg.jacrev, wg.jacobian], repeat=2):
        np.testing.assert_allclose(A(B(f))(x), -np.diag(np.sin(x)), atol=1e-14)
        np.testing.assert_allclose(A(B(wg.grad(f)))(x), third, atol=1e-14)
    np.testing.assert_allclose(wg.grad(lambda x: wg.laplacian(f)(x))(x), -np.cos(x), atol=1e-14)
    np.testing.assert_allclose(wg.jacobian(wg.hessian(f))(x), third, atol=1e-14)
    np.testing.assert_allclose(wg.grad(lambda x: np.sum(wg.hvp(f)(x, np.ones(3))))(x), -np.cos(x), atol=1e-14)
    np.testing.assert_allclose(wg.grad(lambda v: np.sum(wg.hvp(f)(x, v)))(np.ones(3)), -np.sin(x), atol=1e-14)


# --------------------------------------------------------------------------------------------------- closures


@PAIRS
def test_closures_over_outer_values_at_every_level(D, E):
    """x outside, y in the middle, a plain constant inside: d/dx [x · d/dy (x·y²·c)] with y = 2 is 2x·2y·c."""
    c = 10.0

    def outer(x):
        a = x * x

        def inner(y):
            return a * y * y * c / x

        return x * E(inner)(2.0)

    assert D(outer)(3.0) == pytest.approx(2 * 3 * 4 * c)


@PAIRS
def test_hypergradient_of_gradient_descent(D, E):
    """w ← w − η·L′(w) with L = w²/2 gives w = w₀(1 − η)ⁿ; its derivative in η is −n·w₀(1 − η)ⁿ⁻¹."""

    def trained(rate):
        w = 2.0
        for _ in range(5):
            w = w - rate * E(lambda w: w * w / 2)(w)
        return w

    assert D(trained)(0.1) == pytest.approx(-5 * 2.0 * 0.9**4)


@pytest.mark.parametrize("D", [forward, reverse])
def test_hypergradient_of_newton(D):
    """Newton on f(w) = w² − a by an inner derivative converges to √a: its derivative in a is 1 / 2√a."""

    def root(a):
        w = 1.0
        for _ in range(8):
            f = lambda w: w * w - a
            w = w - f(w) / wg.grad(f)(w)
        return w

    assert D(root)(2.0) == pytest.approx(0.5 / math.sqrt(2), rel=1e-14)
    assert D(D(root))(2.0) == pytest.approx(-0.25 / 2**1.5, rel=1e-13)


def test_minimax_saddle():
    """The paper's example: ∇ₓ of max_y (x² − y² + xy), found by inner gradient ascent: y = x/2, value 5x²/4."""

    def best(x):
        y = 0.0
        for _ in range(60):
            y = y + 0.25 * wg.grad(lambda y: x * x - y * y + x * y)(y)
        return x * x - y * y + x * y

    assert wg.grad(best)(2.0) == pytest.approx(5.0)
    assert wg.grad(wg.grad(best))(2.0) == pytest.approx(2.5)
    assert forward(wg.grad(best))(2.0) == pytest.approx(2.5)


def test_inner_pullback_with_an_outer_cotangent():
    """A pullback is linear: the derivative of r ↦ Jᵀr is Jᵀ, with r traced from outside."""
    x = np.array([1.0, 2.0])
    _, pullback = wg.vjp(lambda x: x**2, x)
    np.testing.assert_allclose(wg.jacobian(lambda r: pullback(r)[0])(np.ones(2)), np.diag(2 * x))
    np.testing.assert_allclose(wg.jacfwd(lambda r: pullback(r)[0])(np.ones(2)), np.diag(2 * x))
    assert wg.grad(lambda s: pullback(s * np.ones(2))[0][1])(1.0) == 4


@PAIRS
def test_inner_tangent_from_outside(D, E):
    """d/dv of J(x)·v is J(x): the tangent of the inner differentiation is the variable of the outer one."""
    assert D(lambda v: wg.jvp(np.sin, (0.4,), (v,))[1])(2.0) == pytest.approx(math.cos(0.4))
    assert D(lambda v: E(lambda w: wg.jvp(np.sin, (w,), (v,))[1])(0.4))(2.0) == pytest.approx(-math.sin(0.4))


# ------------------------------------------------------------------------------------- generators and outliving values


@FIRST
def test_generators_inside(D):
    """A generator that runs within the differentiation is ordinary Python: Σ xᵏ, k = 1…4."""

    def powers(x):
        p = x
        while True:
            yield p
            p = p * x

    f = lambda x: sum(itertools.islice(powers(x), 4))
    assert D(f)(2.0) == 1 + 2 * 2 + 3 * 4 + 4 * 8


@PAIRS
def test_a_generator_shared_by_two_differentiations(D, E):
    """Its outer value is alive while the inner differentiation runs: d/dx [x · d/dy (x·y + x²·y)] = 2x + 3x²."""

    def multiples(x):
        yield x
        yield x * x

    def outer(x):
        values = multiples(x)
        return x * E(lambda y: next(values) * y + next(values) * y)(1.0)

    assert D(outer)(2.0) == 2 * 2 + 3 * 4


@FIRST
def test_a_generator_resumed_afterwards(D):
    generators = []

    def f(x):
        def later():
            yield 1.0
            yield x * 2

        generator = later()
        generators.append(generator)
        return next(generator) * x

    assert D(f)(3.0) == 1
    with pytest.raises(EscapedValueError):
        next(generators[0])


@FIRST
@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + 1,
        lambda x: 2.0 * x,
        lambda x: -x,
        lambda x: np.sin(x),
        lambda x: np.sum(x),
        lambda x: x > 0,
        lambda x: np.stack([x, x]),
        lambda x: x @ np.ones(2),
        lambda x: wg.stop_gradient(x),
        lambda x: wg.jvp(lambda y: x * y, (1.0,), (1.0,)),
        lambda x: wg.grad(lambda y: x * y)(1.0),
    ],
)
def test_values_that_outlive_their_differentiation(D, use):
    stored = []
    assert D(lambda x: stored.append(x * np.ones(2)) or x * 1.0)(3.0) == 1
    with pytest.raises(EscapedValueError):
        use(stored[0])


@PAIRS
def test_an_inner_value_used_by_the_outer_function(D, E):
    """The inner differentiation has ended; using its variable outside would silently lose a derivative."""

    def outer(x):
        kept = []
        E(lambda y: kept.append(y) or x * y)(1.0)
        return x * kept[0]

    with pytest.raises(EscapedValueError):
        D(outer)(2.0)


@PAIRS
def test_an_inner_value_returned_by_the_outer_function(D, E):
    def outer(x):
        kept = []
        E(lambda y: kept.append(y * x) or x * y)(1.0)
        return kept[0]

    with pytest.raises(EscapedValueError):
        D(outer)(2.0)


def test_a_value_of_the_previous_run():
    """State kept from one gradient to the next, as in a cache that stores what it was given."""
    cache = {}

    def f(x):
        cache.setdefault("x", x)
        return cache["x"] * x

    assert wg.grad(f)(2.0) == 4
    with pytest.raises(EscapedValueError):
        wg.grad(f)(2.0)


def test_auxiliary_data_are_values():
    """has_aux is the way out: what it returns is plain, and outer traces in it stay differentiable."""
    gradient, aux = wg.grad(lambda x: (x**2, {"x": x, "label": "a"}), has_aux=True)(3.0)
    assert gradient == 6
    assert aux == {"x": 3.0, "label": "a"}
    assert type(aux["x"]) is float

    def outer(x):
        _, aux = wg.grad(lambda y: (y * y, x * y), has_aux=True)(x)
        return aux  # x·y at y = x

    assert wg.grad(outer)(3.0) == 6
