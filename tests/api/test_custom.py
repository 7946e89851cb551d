"""Derivative rules of the user's own: `custom_jvp`, `custom_vjp`, `stop_gradient`.

The functions are chosen so that the rule is right but differentiating the implementation would be wrong or
impossible: rounding, Python loops that stop early, calls of `math`. So a right derivative can only come from the rule.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.errors import MismatchError, NotLinearError, WengertError


@wg.custom_jvp
def sine_by_jvp(x: Any) -> Any:
    return np.vectorize(math.sin, otypes=[float])(x)[()]


@sine_by_jvp.defjvp
def _(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return sine_by_jvp(x), cosine_by_jvp(x) * x_dot


@wg.custom_jvp
def cosine_by_jvp(x: Any) -> Any:
    return np.vectorize(math.cos, otypes=[float])(x)[()]


@cosine_by_jvp.defjvp
def _(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return cosine_by_jvp(x), -sine_by_jvp(x) * x_dot


@wg.custom_vjp
def sine_by_vjp(x: Any) -> Any:
    return np.vectorize(math.sin, otypes=[float])(x)[()]


@wg.custom_vjp
def cosine_by_vjp(x: Any) -> Any:
    return np.vectorize(math.cos, otypes=[float])(x)[()]


sine_by_vjp.defvjp(lambda x: (sine_by_vjp(x), x), lambda x, y_bar: (cosine_by_vjp(x) * y_bar,))
cosine_by_vjp.defvjp(lambda x: (cosine_by_vjp(x), x), lambda x, y_bar: (-sine_by_vjp(x) * y_bar,))

SINES = pytest.mark.parametrize("sine", [sine_by_jvp, sine_by_vjp])


def forward(f: Any) -> Any:
    return lambda x: wg.jvp(f, (x,), (1.0,))[1]


def reverse(f: Any) -> Any:
    return wg.grad(f)


def linearized(f: Any) -> Any:
    return lambda x: wg.linearize(f, x)[1].push(1.0)


# ------------------------------------------------------------------------------------------- forward, reverse, nested


@SINES
@pytest.mark.parametrize("order", [1, 2, 3])
def test_every_nesting(sine, order):
    expected = [math.cos(0.7), -math.sin(0.7), -math.cos(0.7)][order - 1]
    for nesting in itertools.product([forward, reverse, linearized], repeat=order):
        f = sine
        for mode in nesting:
            f = mode(f)
        assert f(0.7) == pytest.approx(expected, rel=1e-14), [mode.__name__ for mode in nesting]


@SINES
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobians_with_many_vectors_at_once(sine, mode, rng):
    x = rng.normal(size=(2, 3))
    expected = np.zeros((2, 3, 2, 3))
    for i, j in np.ndindex(2, 3):
        expected[i, j, i, j] = math.cos(x[i, j])
    np.testing.assert_allclose(wg.jacobian(sine, mode=mode)(x), expected, rtol=1e-14)


@SINES
def test_hessian_and_laplacian(sine, rng):
    x = rng.normal(size=4)
    f = lambda x: np.sum(sine(x) ** 2)
    np.testing.assert_allclose(wg.hessian(f)(x), np.diag(2 * np.cos(2 * x)), rtol=1e-12, atol=1e-13)
    assert wg.laplacian(f)(x) == pytest.approx(np.sum(2 * np.cos(2 * x)))


@SINES
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_no_elements(sine, mode):
    assert wg.jacobian(lambda x: sine(x) * 2, mode=mode)(np.zeros(0)).shape == (0, 0)


@SINES
def test_check_gradients_accepts_the_rules(sine):
    wg.check_gradients(lambda x: sine(x) * x, np.array([0.3, -1.2]), order=3)


@SINES
def test_untraced_arguments_compute(sine):
    assert sine(0.5) == math.sin(0.5)
    assert type(sine(0.5)) is np.float64


def test_the_rule_is_what_counts():
    """Approximate the derivative: the rule may differ from the derivative of what is computed."""

    @wg.custom_jvp
    def straight_through(x):
        return np.round(x)

    straight_through.defjvp(lambda primals, tangents: (straight_through(*primals), tangents[0]))
    assert wg.grad(lambda x: straight_through(3 * x) ** 2)(0.5) == 2 * 2 * 3
    assert wg.jvp(lambda x: straight_through(3 * x) ** 2, (0.5,), (1.0,)) == (4.0, 12.0)


def test_a_reverse_rule_may_be_nonlinear_in_reverse_only():
    @wg.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, y_bar: (np.clip(y_bar, -1, 1),))
    assert wg.grad(lambda x: 5 * clipped(x))(3.0) == 1
    with pytest.raises(NotLinearError):
        wg.jvp(clipped, (3.0,), (1.0,))
    with pytest.raises(NotLinearError):
        wg.linearize(clipped, 3.0)[1].push(1.0)


# -------------------------------------------------------------------------------------- several arguments and results


def _polar_jvp():
    @wg.custom_jvp
    def polar(p):
        return {"x": p["r"] * np.cos(p["phi"]), "y": p["r"] * np.sin(p["phi"])}

    @polar.defjvp
    def _(primals, tangents):
        (p,), (d,) = primals, tangents
        c, s = np.cos(p["phi"]), np.sin(p["phi"])
        y = polar(p)
        return y, {"x": c * d["r"] - y["y"] * d["phi"], "y": s * d["r"] + y["x"] * d["phi"]}

    return polar


def _polar_vjp():
    @wg.custom_vjp
    def polar(p):
        return {"x": p["r"] * np.cos(p["phi"]), "y": p["r"] * np.sin(p["phi"])}

    def fwd(p):
        y = polar(p)
        return y, (p, y)

    def bwd(residuals, bar):
        p, y = residuals
        c, s = np.cos(p["phi"]), np.sin(p["phi"])
        return ({"r": c * bar["x"] + s * bar["y"], "phi": -y["y"] * bar["x"] + y["x"] * bar["y"]},)

    polar.defvjp(fwd, bwd)
    return polar


@pytest.mark.parametrize("make", [_polar_jvp, _polar_vjp])
def test_containers_in_and_out(make):
    """Polar coordinates: J = [[cos, −r sin], [sin, r cos]], so det J = r; |z|² = r² has Hessian diag(2, 0)."""
    polar, p = make(), {"r": 2.0, "phi": 0.6}
    for mode in ["auto", "forward", "reverse"]:
        J = wg.jacobian(polar, mode=mode)(p)
        assert J["x"]["r"] == pytest.approx(math.cos(0.6))
        assert J["x"]["phi"] == pytest.approx(-2 * math.sin(0.6))
        assert J["y"]["r"] == pytest.approx(math.sin(0.6))
        assert J["y"]["phi"] == pytest.approx(2 * math.cos(0.6))

    def squared_radius(p):
        z = polar(p)
        return z["x"] ** 2 + z["y"] ** 2

    H = wg.hessian(squared_radius)(p)
    assert H["r"]["r"] == pytest.approx(2)
    assert H["r"]["phi"] == pytest.approx(0, abs=1e-14)
    assert H["phi"]["phi"] == pytest.approx(0, abs=1e-14)


def _product_jvp():
    product = wg.custom_jvp(lambda x, y: x * y)
    product.defjvp(lambda primals, dots: (product(*primals), primals[1] * dots[0] + primals[0] * dots[1]))
    return product


def _product_vjp():
    product = wg.custom_vjp(lambda x, y: x * y)
    product.defvjp(lambda x, y: (product(x, y), (x, y)), lambda xy, bar: (xy[1] * bar, xy[0] * bar))
    return product


@pytest.mark.parametrize("make", [_product_jvp, _product_vjp])
def test_arguments_of_different_differentiations(make):
    """∂²(x·y)/∂x∂y = 1 where x belongs to the inner differentiation and y to the outer, in all four nestings."""
    product = make()
    for inner, outer in itertools.product([forward, reverse], repeat=2):
        assert outer(lambda y: inner(lambda x: product(x, y))(2.0))(3.0) == 1  # noqa: B023
        assert outer(lambda y: inner(lambda x: product(y, x))(2.0))(3.0) == 1  # noqa: B023
        assert outer(lambda y: y * inner(lambda x: product(x, y))(2.0))(3.0) == 6  # noqa: B023


@pytest.mark.parametrize("make", [_product_jvp, _product_vjp])
def test_only_some_arguments_are_differentiated(make):
    product = make()
    assert wg.grad(product, 0)(2.0, 3.0) == 3
    assert wg.grad(product, 1)(2.0, 3.0) == 2
    assert wg.grad(product, (0, 1))(2.0, 3.0) == (3, 2)
    assert wg.grad(lambda x: product(x, x))(3.0) == 6
    assert wg.jvp(lambda x: product(x, 5.0), (2.0,), (1.0,)) == (10.0, 5.0)


def test_none_is_a_zero_cotangent():
    f = wg.custom_vjp(lambda x, y: x * np.floor(y))
    f.defvjp(lambda x, y: (f(x, y), y), lambda y, bar: (np.floor(y) * bar, None))
    assert wg.grad(f, (0, 1))(2.0, 3.5) == (3.0, 0.0)
    assert wg.jvp(f, (2.0, 3.5), (1.0, 1.0)) == (6.0, 3.0)
    assert wg.jvp(lambda y: f(2.0, y), (3.5,), (1.0,)) == (6.0, 0.0)


def test_integer_arguments_have_no_cotangent():
    f = wg.custom_vjp(lambda x, n: x**n)
    f.defvjp(lambda x, n: (x**n, (x, n)), lambda r, bar: (r[1] * r[0] ** (r[1] - 1) * bar, None))
    assert wg.grad(f)(2.0, 3) == 12
    assert wg.jvp(lambda x: f(x, 3), (2.0,), (1.0,)) == (8.0, 12.0)


def test_float32_stays_float32():
    for sine in (_product_jvp(), _product_vjp()):
        x = np.array([1, 2], np.float32)
        assert wg.grad(lambda x: np.sum(sine(x, x)))(x).dtype == np.float32  # noqa: B023
        assert wg.jvp(lambda x: sine(x, x), (x,), (x,))[1].dtype == np.float32  # noqa: B023


# ------------------------------------------------------------------------------------------ nondiff_argnums, methods


def test_nondiff_arguments_come_first():
    def integrate(f, a, b):
        """Gauss-Legendre quadrature; the derivative in the bounds is the integrand itself."""
        t, w = np.polynomial.legendre.leggauss(20)
        return (b - a) / 2 * sum(wi * f((b - a) / 2 * ti + (a + b) / 2) for ti, wi in zip(t, w, strict=True))

    by_jvp = wg.custom_jvp(integrate, nondiff_argnums=(0,))
    by_jvp.defjvp(
        lambda f, primals, tangents: (by_jvp(f, *primals), f(primals[1]) * tangents[1] - f(primals[0]) * tangents[0])
    )
    by_vjp = wg.custom_vjp(integrate, nondiff_argnums=(0,))
    by_vjp.defvjp(lambda f, a, b: (by_vjp(f, a, b), (a, b)), lambda f, ab, bar: (-f(ab[0]) * bar, f(ab[1]) * bar))
    for integral in (by_jvp, by_vjp):
        assert integral(np.cos, 0.0, 1.0) == pytest.approx(math.sin(1))
        assert wg.grad(lambda b: integral(np.cos, 0.0, b))(0.4) == pytest.approx(math.cos(0.4))  # noqa: B023
        assert forward(lambda a: integral(np.cos, a, 1.0))(0.4) == pytest.approx(-math.cos(0.4))  # noqa: B023
        for outer, inner in itertools.product([forward, reverse], repeat=2):
            second = outer(inner(lambda b: integral(np.cos, 0.0, b)))(0.4)  # noqa: B023
            assert second == pytest.approx(-math.sin(0.4))


def test_differentiating_a_nondiff_argument_is_an_error():
    f = wg.custom_vjp(lambda n, x: n * x, nondiff_argnums=(0,))
    f.defvjp(lambda n, x: (n * x, None), lambda n, _, bar: (n * bar,))
    assert wg.grad(lambda x: f(3.0, x))(2.0) == 3
    with pytest.raises(WengertError, match="nondiff_argnums"):
        wg.grad(lambda n: f(n, 2.0))(3.0)


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_methods(kind):
    @dataclass
    class Scale:
        factor: Any

        def times(self, x):
            return self.factor * x

    if kind == "jvp":
        times = wg.custom_jvp(Scale.times)
        times.defjvp(lambda p, d: (p[0].factor * p[1], p[0].factor * d[1] + d[0].factor * p[1]))
    else:
        times = wg.custom_vjp(Scale.times)
        times.defvjp(lambda s, x: (s.factor * x, (s.factor, x)), lambda r, bar: (Scale(r[1] * bar), r[0] * bar))
    Scale.times = times
    assert Scale(3.0).times(2.0) == 6
    assert wg.grad(lambda x: Scale(3.0).times(x))(2.0) == 3
    assert wg.grad(lambda s: s.times(2.0))(Scale(3.0)) == Scale(2.0)
    assert wg.jvp(lambda s: Scale(s).times(s), (3.0,), (1.0,)) == (9.0, 6.0)


@SINES
def test_arguments_that_were_written_to(sine):
    """A view of an array that has changed since: the rule is given what it shows now."""

    def f(x):
        y = 2 * x
        view = y[:2]
        y[0] = 5.0
        return sine(view)

    expected = np.array([[0, 0, 0], [0, 2 * math.cos(0.8), 0]])
    for mode in ("auto", "forward", "reverse"):
        np.testing.assert_allclose(wg.jacobian(f, mode=mode)(np.array([0.3, 0.4, 0.5])), expected)


def test_the_wrapper_looks_like_the_function():
    assert sine_by_jvp.__name__ == "sine_by_jvp"
    assert sine_by_vjp.__name__ == "sine_by_vjp"


# --------------------------------------------------------------------------------------------------------- bad rules


def identity_with(fwd: Any = None, bwd: Any = None) -> Any:
    f = wg.custom_vjp(lambda x: x)
    f.defvjp(fwd or (lambda x: (x, None)), bwd or (lambda _, bar: (bar,)))
    return f


def identity_with_rule(rule: Any) -> Any:
    f = wg.custom_jvp(lambda x: x)
    f.defjvp(rule)
    return f


X = np.array([1.0, 2.0])
EITHER = pytest.mark.parametrize(
    "differentiate",
    [lambda f: wg.grad(lambda x: np.sum(f(x)))(X), lambda f: wg.jvp(f, (X,), (X,))],
    ids=["reverse", "forward"],
)


@EITHER
@pytest.mark.parametrize(
    "bwd",
    [
        lambda _, bar: bar,
        lambda _, bar: (bar, bar),
        lambda _, bar: (),
        lambda _, bar: ((bar, bar),),
        lambda _, bar: (bar[:1],),
        lambda _, bar: (np.sum(bar),),
    ],
    ids=["no tuple", "too many", "too few", "containers", "shape", "scalar"],
)
def test_a_pullback_must_fit_the_arguments(differentiate, bwd):
    with pytest.raises(MismatchError):
        differentiate(identity_with(bwd=bwd))


@EITHER
def test_the_forward_part_must_return_a_pair(differentiate):
    with pytest.raises(MismatchError, match="pair"):
        differentiate(identity_with(fwd=lambda x: x * 2))


@EITHER
@pytest.mark.parametrize(
    "rule",
    [
        lambda p, d: p[0],
        lambda p, d: (p[0], d[0], d[0]),
        lambda p, d: (p[0], (d[0],)),
        lambda p, d: (p[0], d[0][:1]),
        lambda p, d: (p[0], np.sum(d[0])),
    ],
    ids=["no pair", "triple", "containers", "shape", "scalar"],
)
def test_a_forward_rule_must_fit_the_result(differentiate, rule):
    with pytest.raises(MismatchError):
        differentiate(identity_with_rule(rule))


@pytest.mark.parametrize(
    "tangent",
    [
        lambda d: d * d,
        lambda d: np.sin(d),
        lambda d: d + 1.0,
        lambda d: np.ones(2),
        lambda d: np.maximum(d, 0.0),
        lambda d: np.where(d > 0, d, 0.0),
        lambda d: d / d,
        lambda d: d if d[0] > 0 else -d,
    ],
    ids=["square", "sin", "affine", "constant", "maximum", "mask", "quotient", "branch"],
)
def test_a_rule_that_is_not_linear_is_refused(tangent):
    """A forward rule is transposed for reverse mode, a reverse rule for forward mode: possible if linear."""
    with pytest.raises(NotLinearError):
        wg.grad(lambda x: np.sum(identity_with_rule(lambda p, d: (p[0], tangent(d[0])))(x)))(X)
    with pytest.raises(NotLinearError):
        wg.jvp(identity_with(bwd=lambda _, bar: (tangent(bar),)), (X,), (X,))


def test_a_rule_may_use_structure_and_products():
    """Linear maps of every kind are transposed: here J = [[3, 1], [2, 0]] is written with slices, sums and matmul."""
    M = np.array([[3.0, 1.0], [2.0, 0.0]])
    spellings = [
        lambda d: M @ d,
        lambda d: np.stack([3 * d[0] + d[1], d[0] + d[0]]),
        lambda d: np.concatenate([np.sum(d)[None] + 2 * d[:1], 2 * d[:1]]),
        lambda d: np.einsum("ij,j->i", M, d),
        lambda d: np.sum(M * d, axis=1),
        lambda d: np.where([True, False], 3 * d[0] + d[::-1], 0.0) + np.where([False, True], 2 * d[0], 0.0),
    ]
    for spelling in spellings:
        f = wg.custom_jvp(lambda x: M @ x)
        f.defjvp(lambda p, d, spelling=spelling: (M @ p[0], spelling(d[0])))
        np.testing.assert_allclose(wg.jacrev(f)(X), M)
        np.testing.assert_allclose(wg.jacfwd(f)(X), M)
        g = wg.custom_vjp(lambda x: M.T @ x)
        g.defvjp(lambda x: (M.T @ x, None), lambda _, bar, spelling=spelling: (spelling(bar),))
        np.testing.assert_allclose(wg.jacrev(g)(X), M.T)
        np.testing.assert_allclose(wg.jacfwd(g)(X), M.T)


@pytest.mark.parametrize("mode", [forward, reverse, linearized])
@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_closing_over_a_traced_value_is_an_error(mode, kind):
    """g(y) = x·y with x from outside: the rule knows nothing of x, and its derivative must not be lost silently."""

    def f(x):
        g = (wg.custom_jvp if kind == "jvp" else wg.custom_vjp)(lambda y: x * y)
        if kind == "jvp":
            g.defjvp(lambda p, d: (x * p[0], x * d[0]))
        else:
            g.defvjp(lambda y: (x * y, None), lambda _, bar: (x * bar,))
        return g(x)

    with pytest.raises(WengertError, match="argument"):
        mode(f)(3.0)


@pytest.mark.parametrize("mode", [forward, reverse])
@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_closing_over_the_value_of_an_outer_differentiation_is_fine(mode, kind):
    """∂/∂x [∂/∂y (x·y)] = 1: the outer x is a constant of the inner differentiation."""

    def inner(x):
        g = (wg.custom_jvp if kind == "jvp" else wg.custom_vjp)(lambda y: x * y)
        if kind == "jvp":
            g.defjvp(lambda p, d: (x * p[0], x * d[0]))
        else:
            g.defvjp(lambda y: (x * y, None), lambda _, bar: (x * bar,))
        return mode(g)(2.0)

    for outer in (forward, reverse):
        assert outer(inner)(3.0) == 1


@pytest.mark.parametrize("mode", [forward, reverse])
def test_closing_over_the_value_of_an_inner_differentiation_is_an_error(mode):
    """The argument belongs to the outer differentiation, the closure to the inner one."""

    def outer(x):
        def inner(z):
            g = wg.custom_jvp(lambda y: z * y)
            g.defjvp(lambda p, d: (z * p[0], z * d[0]))
            return g(x) + z

        return mode(inner)(2.0)

    with pytest.raises(WengertError, match="argument"):
        mode(outer)(3.0)


def test_a_function_without_a_rule():
    with pytest.raises(WengertError, match="defjvp"):
        wg.grad(wg.custom_jvp(lambda x: x))(1.0)
    with pytest.raises(WengertError, match="defvjp"):
        wg.grad(wg.custom_vjp(lambda x: x))(1.0)


def test_keyword_arguments_are_refused():
    with pytest.raises(MismatchError, match="position"):
        wg.grad(lambda x: sine_by_jvp(x=x))(1.0)


# ----------------------------------------------------------------------------------------------------- stop_gradient


def test_stop_gradient():
    assert wg.grad(lambda x: x * wg.stop_gradient(x))(3.0) == 3
    assert wg.jvp(lambda x: x * wg.stop_gradient(x), (3.0,), (1.0,)) == (9.0, 3.0)
    assert wg.grad(wg.grad(lambda x: x**2 * wg.stop_gradient(x)))(3.0) == 6
    held = wg.stop_gradient({"a": 1.0, "b": [np.ones(2)]})
    assert held["a"] == 1.0
    np.testing.assert_array_equal(held["b"][0], np.ones(2))


def test_stop_gradient_stops_every_differentiation():
    """Also the outer ones: the value counts as a constant."""
    assert wg.grad(lambda x: wg.grad(lambda y: y * wg.stop_gradient(x * y))(2.0))(3.0) == 0
