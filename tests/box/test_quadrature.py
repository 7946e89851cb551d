"""Integrals of functions, in limits and parameters, and of samples."""

import ctypes
import functools
import math

import harness
import numpy as np
import pytest
import scipy
import scipy.integrate as si

import wengert as wg
from wengert.errors import ConvergenceError, UnsupportedFunctionError

agrees = functools.partial(harness.agrees, compiled=False, second=True)
RNG = np.random.default_rng(0)


def test_limits_and_arguments():
    agrees(lambda p, a, b: si.quad(lambda t, p: np.exp(-p * t) * math.sin(t), a, b, args=(p,))[0], 0.7, 0.1, 2.0)
    agrees(lambda a, b: si.quad(np.sin, a, b)[0], 0.1, 2.0)


def test_variables_around_the_integrand():
    agrees(lambda p, b: si.quad(lambda t: np.exp(-p[0] * t) + p[1] * t**2, 0, b)[0], [0.7, 0.3], 2.0)

    def gaussian_moment(p):
        def density(t):
            return np.exp(-p * t * t)

        return si.quad(lambda t: t * density(t), 0, np.inf)[0]

    agrees(gaussian_moment, 1.3)
    np.testing.assert_allclose(wg.grad(gaussian_moment)(1.3), -0.5 / 1.3**2, rtol=1e-9)


class Oscillator:
    def __init__(self, k):
        self.k = k

    def at(self, t):
        return np.cos(self.k * t)


def test_methods_partials_and_recursion():
    agrees(lambda p: si.quad(Oscillator(p).at, 0, 1)[0], 1.3)
    agrees(lambda p: si.quad(functools.partial(lambda q, t: np.cos(q * t), p), 0, 1)[0], 1.3)

    def f(p):
        def power(t, n):
            return 1.0 if n == 0 else p * t * power(t, n - 1)

        return si.quad(power, 0, 1, args=(3,))[0]

    np.testing.assert_allclose(wg.grad(f)(2.0), 3 * 2.0**2 / 4, rtol=1e-12)


def test_weights_points_and_other_results():
    agrees(lambda p, b: si.quad(lambda t: np.exp(-p * t), 0, b, weight="cos", wvar=3.0)[0], 1.3, 0.8)
    agrees(lambda p: si.quad(lambda t: np.abs(t - 0.3) * p * p, 0, 1, points=[0.3])[0], 1.3)
    (value, error), _ = wg.value_and_grad(lambda p: si.quad(lambda t: p * t, 0, 1), has_aux=True)(2.0)
    assert value == pytest.approx(1.0)
    assert 0 < error < 1e-10


def test_weights_that_are_differentiated():
    f = lambda w, p, a, b: si.quad(lambda t: np.exp(-p * t), a, b, weight="cos", wvar=w)[0]
    agrees(f, 4.0, 0.3, 0.1, 2.0)
    harness.agrees(lambda w, p: si.quad(lambda t: np.exp(-p * t), 0.1, 2.0, weight="sin", wvar=w * p)[0], 4.0, 0.3)
    # ∫ e^(−pt) sin(wt) dt = w / (p² + w²)
    g = lambda w: si.quad(lambda t: np.exp(-0.7 * t), 0, np.inf, weight="sin", wvar=w)[0]
    wanted = [3 / 9.49, (0.49 - 9) / 9.49**2]
    np.testing.assert_allclose([g(3.0), wg.grad(g)(3.0)], wanted, rtol=1e-8)
    closed = lambda w: w / (0.49 + w * w)
    np.testing.assert_allclose(wg.grad(wg.grad(g))(3.0), wg.grad(wg.grad(closed))(3.0), rtol=1e-7)
    agrees(lambda p, b: si.quad(lambda t: np.exp(-p * t), -1, b, weight="cauchy", wvar=0.2)[0], 0.7, 1.0)
    with pytest.raises(UnsupportedFunctionError, match="traced wvar"):
        wg.grad(lambda w: si.quad(np.cos, -1, 1, weight="cauchy", wvar=w)[0])(0.2)


def test_complex_integrands():
    """∫ e^(ipt) dt = (e^(ipb) − 1) / (ip)"""
    f = lambda p, b: si.quad(lambda t: np.exp(1j * p * t), 0, b, complex_func=True)[0]
    closed = lambda p, b: (np.exp(1j * p * b) - 1) / (1j * p)
    for compiled in (lambda f: f, wg.jit):
        for own in (lambda f: lambda p: f(p, 1.3), lambda f: lambda b: f(0.7, b)):
            found, slope = compiled(lambda x, own=own: wg.jvp(own(f), (x,), (1.0,)))(0.9)
            np.testing.assert_allclose([found, slope], wg.jvp(own(closed), (0.9,), (1.0,)), rtol=1e-9)
    value, error = wg.jvp(lambda p: si.quad(lambda t: p * t + 1j, 0, 1, complex_func=True), (2.0,), (1.0,))[0]
    assert value == pytest.approx(1 + 1j)
    assert abs(error) < 1e-10


def test_a_derivative_is_integrated_where_it_needs_it():
    """The integrand is zero everywhere; its derivative is a narrow peak, which a quadrature of zeros cannot see."""
    f = lambda p: si.quad(lambda t: p * np.exp(-5000 * (t - 0.2) ** 2), -5, 5, points=[0.2])[0]
    np.testing.assert_allclose(wg.grad(f)(0.0), np.sqrt(np.pi / 5000), rtol=1e-9)


def test_to_third_order_and_in_batches():
    f = lambda p: si.quad(lambda t: np.exp(-p * t), 0, 1)[0]
    np.testing.assert_allclose(wg.grad(wg.grad(wg.grad(f)))(1.0), 16 / math.e - 6, rtol=1e-9)
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(np.array([0.5, 1.0])), [wg.grad(f)(0.5), wg.grad(f)(1.0)])
    np.testing.assert_allclose(wg.jvp(wg.grad(f), (1.0,), (1.0,))[1], 2 - 5 / math.e, rtol=1e-9)


def test_second_derivatives_of_arrays_of_parameters_compile():
    """∫ exp(−p₀ t) cos(p₁ t) dt from 0 to ∞ is p₀ / (p₀² + p₁²)."""
    q = np.array([1.3, 0.7])
    integral = lambda q: si.quad(lambda t: np.exp(-q[0] * t) * np.cos(q[1] * t), 0, np.inf)[0]
    closed = lambda q: q[0] / (q[0] ** 2 + q[1] ** 2)
    np.testing.assert_allclose(wg.jit(wg.hessian(integral))(q), wg.hessian(closed)(q), rtol=1e-7)
    np.testing.assert_allclose(wg.hessian(wg.jit(integral))(q), wg.hessian(closed)(q), rtol=1e-7)
    several = lambda q: si.quad_vec(lambda t: np.exp(-q * t), 0, 30)[0]
    np.testing.assert_allclose(wg.jit(wg.hessian(lambda q: np.sum(several(q))))(q), np.diag(2 / q**3), atol=1e-6)


def test_double_integrals():
    agrees(lambda p, q: si.quad(lambda t: si.quad(lambda u: np.exp(-p * t * u), 0, q)[0] * t, 0, 1)[0], 1.3, 0.9,
           second=False)  # fmt: skip
    agrees(lambda p: si.dblquad(lambda y, x: np.exp(-p * x * y), 0, 1, lambda x: 0 * x, lambda x: x)[0], 1.3,
           second=False)  # fmt: skip


@pytest.mark.slow
def test_triple_integrals():
    def f(p, b):
        integrand = lambda z, y, x: np.exp(-p * z) * y + x
        return si.tplquad(integrand, 0, b, 0, lambda x: x * p, lambda x, y: x, lambda x, y: x + y)[0]

    y, slopes = wg.value_and_grad(f, argnums=(0, 1))(0.7, 1.1)
    np.testing.assert_allclose(y, f(0.7, 1.1), rtol=1e-10)
    expected = [harness.slope_by_differences(g, x) for g, x in ((lambda p: f(p, 1.1), 0.7), (lambda b: f(0.7, b), 1.1))]
    np.testing.assert_allclose(slopes, expected, rtol=1e-6)


@pytest.mark.slow
def test_integrals_in_several_variables():
    def f(x, y, p):
        return np.exp(-p * x * y)

    agrees(lambda p, b: si.nquad(f, [lambda y, p: (0, y * p), (0.1, b)], (p,))[0], 0.7, 1.1, second=False)
    agrees(lambda p: si.nquad(lambda x, y: np.sin(p * x) * y, [(0, 1), (0, p)], opts=[{"epsabs": 1e-10}, {}])[0], 0.7,
           second=False)  # fmt: skip
    agrees(lambda a: si.nquad(lambda x: x * a, [(0, a)])[0], 1.3)  # a³/2


def test_vector_valued_integrals():
    agrees(lambda p, b: si.quad_vec(lambda t: np.exp(-p * t) * np.array([1.0, t]), 0, b)[0], [0.7, 0.3], 2.0)
    agrees(lambda p: si.quad_vec(lambda t, p: np.outer(p, np.sin(t * p)), 0, 1, args=(p,))[0], [0.7, 0.3], second=False)
    agrees(lambda p: si.quad_vec(lambda t: np.exp(-p * t), 0, np.inf, epsrel=1e-10)[0], 1.7)  # 1/p
    got = wg.jacobian(lambda p: si.quad_vec(lambda t: np.exp(-p * t), 0, np.inf)[0])(np.array([1.7, 2.0]))
    np.testing.assert_allclose(got, -np.diag([1 / 1.7**2, 1 / 4]), rtol=1e-7, atol=1e-12)


def test_romberg():
    y = RNG.normal(size=(3, 9))
    agrees(lambda y, h: si.romb(y, h), y, 0.3)
    agrees(lambda y: si.romb(y, axis=0), y.T)


def test_fixed_order():
    agrees(lambda p, a, b: si.fixed_quad(lambda t: np.exp(-p * t), a, b, n=6)[0], 1.3, 0.1, 2.0)


HIDDEN = {}


def hidden(t):
    return HIDDEN["p"] * t


def test_in_compiled_functions():
    """Limits that are known only when the program runs, infinite ones too: ∫ exp(−a t) from 0 to b."""
    exact = lambda a, b: (1 - math.exp(-a * b)) / a
    ways = [
        lambda a, b: si.quad(lambda t: np.exp(-a * t), 0.0, b)[0],
        lambda a, b: si.quad_vec(lambda t: np.stack([np.exp(-a * t), t]), 0.0, b)[0][0],
        lambda a, b: si.fixed_quad(lambda t: np.exp(-a * t), 0.0, b, n=12)[0],
        lambda a, b: si.dblquad(lambda u, t: np.exp(-a * t), 0.0, b, lambda t: 0.0, lambda t: 1.0)[0],
    ]
    a, b = 1.3, 0.8
    slopes = (b * math.exp(-a * b) - exact(a, b)) / a, math.exp(-a * b)
    for f in ways:
        assert wg.jit(f)(a, b) == pytest.approx(exact(a, b))
        assert wg.jit(wg.grad(f, (0, 1)))(a, b) == pytest.approx(slopes)
        assert wg.grad(wg.jit(f), (0, 1))(a, b) == pytest.approx(slopes)
    assert wg.jit(wg.grad(ways[0]))(a, np.inf) == pytest.approx(-1 / a**2)
    rates = np.array([0.5, 1.5])  # a parameter that is an array
    f = lambda rates, b: si.quad(lambda t: np.sum(np.exp(-rates * t)), 0.0, b)[0]
    assert wg.jit(wg.grad(f))(rates, b) == pytest.approx(wg.grad(f)(rates, b))


@pytest.mark.parametrize(
    "f",
    [
        lambda a: si.quad(lambda t: a / (t - 0.3), 0.0, 1.0)[0],  # no integral: the estimated error is tiny
        lambda a: si.quad(lambda t: np.cos(a * t) / (1 + t), 0.0, np.inf)[0],  # that of the derivative diverges
        lambda a: si.quad(lambda t: np.sin(a / t), 0.0, 1.0, limit=5, full_output=1)[0],  # too few intervals
        lambda a: si.quad_vec(lambda t: np.sin(a / t) * np.ones(2), 1e-9, 1.0, limit=5)[0][0],
    ],
)
@pytest.mark.parametrize("derive", [wg.grad, lambda f: wg.jacfwd(wg.jit(f))])
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_integrals_of_derivatives_that_do_not_converge(f, derive):
    with pytest.raises(ConvergenceError, match="did not converge"):
        derive(f)(2.0)


def test_integrands_that_are_infinite_at_a_limit_that_moves():
    f = lambda t: si.quad(lambda s: (t - s) ** -0.4, 0.0, t)[0]
    for derivative in (wg.grad(f), wg.jit(wg.grad(f)), lambda t: wg.jvp(f, (t,), (1.0,))):
        with pytest.raises(ConvergenceError, match="substitute another variable"):
            derivative(1.2)


def test_warnings_of_integrals_point_at_the_line_of_the_user():
    with pytest.warns(si.IntegrationWarning) as seen:
        wg.grad(lambda b: si.quad(lambda t: np.sin(1 / t), 0.0, b, limit=5)[0])(1.0)
    assert seen[0].filename == __file__


def test_hidden_dependence_is_an_error():
    def f(p):
        HIDDEN["p"] = p
        return si.quad(hidden, 0, p)[0]

    with pytest.raises(UnsupportedFunctionError, match="args="):
        wg.grad(f)(2.0)


@pytest.mark.parametrize("name", ["simpson", "cumulative_trapezoid", "cumulative_simpson"])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 9])
def test_samples(name, n):
    f = getattr(si, name)
    y, x = RNG.normal(size=(2, n)), np.cumsum(RNG.uniform(0.3, 1, size=n))
    xs = np.cumsum(RNG.uniform(0.3, 1, size=(n, 2)), axis=0)
    agrees(lambda y: f(y, dx=0.3), y, second=False)
    agrees(lambda y, x: f(y, x=x), y, x, rtol=1e-5)
    agrees(lambda y, x: f(y, x=x, axis=0), y.T, xs, second=False, rtol=1e-5)
    if name != "simpson":
        agrees(lambda y: f(y, initial=0), y, second=False)


@pytest.mark.parametrize(
    ("f", "a", "first", "second"),
    [
        (lambda a: si.quad(lambda t: 1.0 if t < a else 0.0, 0, 1)[0], 0.4, 1.0, 0.0),
        (lambda a: si.quad(lambda t: 1.0 if t < a else 0.0, 1, 0, points=[a])[0], 0.4, -1.0, 0.0),
        (lambda a: si.quad(lambda t: np.where(t < a * a, a * t, np.sin(t)), 0, 1)[0], 0.6,
         2.5 * 0.6**4 - 1.2 * math.sin(0.36), 10 * 0.6**3 - 2 * math.sin(0.36) - 4 * 0.36 * math.cos(0.36)),
        (lambda a: si.quad(lambda t: np.heaviside(a - t, 0.5) * t, 0, 1)[0], 0.5, 0.5, 1.0),
        (lambda a: si.quad(lambda t: np.exp(-t) if t < a else 0.0, 0, np.inf)[0], 0.4, math.exp(-0.4), -math.exp(-0.4)),
        (lambda a: si.quad(lambda t: 1.0 if (t % a) < a / 2 else -1.0, 0, 1)[0], 0.4, -2.0, 0.0),
        (lambda a: si.quad(lambda t: max(t - a, 0.0), 0, 1)[0], 0.3, -0.7, 1.0),
        (lambda a: si.quad(lambda t: 1.0 if t % 1 < a else 0.0, 0, 1.5)[0], 0.3, 2.0, 0.0),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_jumps_at_places_that_move(f, a, first, second):
    for derivative in (wg.grad(f), wg.jit(wg.grad(f)), lambda a: wg.jvp(wg.jit(f), (a,), (1.0,))[1]):
        np.testing.assert_allclose(derivative(a), first, rtol=1e-12)
    np.testing.assert_allclose(wg.hessian(f)(a), second, rtol=1e-9, atol=1e-12)


def test_third_derivatives_at_places_that_move():
    """∫ t³ dt from 0 to a² is a⁸/4."""
    f = lambda a: si.quad(lambda t: t**3 if t < a * a else 0.0, 0, 1)[0]
    np.testing.assert_allclose(wg.grad(wg.grad(wg.grad(f)))(0.7), 84 * 0.7**5, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_jumps_of_vectors_and_of_integrals_within():
    got = wg.jacobian(lambda a: si.quad_vec(lambda t: np.array([1.0, t]) * (t < a), 0, 1, points=[0.4])[0])(0.4)
    np.testing.assert_allclose(got, [1.0, 0.4], rtol=1e-12)
    f = lambda p: si.quad(lambda t: np.sum((t < p) * np.array([1.0, 2.0])), 0, 1)[0]
    np.testing.assert_allclose(wg.grad(f)(np.array([0.4, 0.7])), [1.0, 2.0], rtol=1e-12)
    with pytest.raises(UnsupportedFunctionError, match="jumps at 0.4"):  # two places, which move apart
        wg.grad(f)(np.array([0.4, 0.4]))
    outer = lambda a: si.dblquad(lambda y, x: 1.0 if x < a else 0.0, 0, 1, 0, 2)[0]
    np.testing.assert_allclose(wg.grad(outer)(0.4), 2.0, rtol=1e-12)
    inner = wg.jit(lambda t, a: np.where(t < a, 1.0, 0.0))
    np.testing.assert_allclose(wg.grad(lambda a: si.quad(inner, 0, 1, args=(a,))[0])(0.3), 1.0, rtol=1e-12)


def test_jumps_of_a_table():
    """Where a place that is searched for passes one of the table is not known, so a jump there is refused."""
    table = np.array([1.0, 3.0, 2.0])
    f = lambda p: si.quad(lambda t: table[np.searchsorted(p, t)], 0, 1)[0]
    with pytest.raises(UnsupportedFunctionError, match="jumps at 0.4"):
        wg.grad(f)(np.array([0.4, 0.7]))


def length_of_a_curve(a):
    ends = (0j, complex(1, 1) * a, 3 + 1j * a)
    return si.quad(lambda t: abs(2 * (ends[1] - ends[0]) * (1 - t) + 2 * (ends[2] - ends[1]) * t), 0, 1, epsabs=1e-12)[
        0
    ]


def of_a_complex_argument(a):
    return si.quad(lambda t, z: abs(z * t + 1j), 0, 1, args=((1 + 2j) * a,), epsabs=1e-12)[0]


def of_complex_vectors(a):
    z = (1 + 2j) * a
    return abs(si.quad_vec(lambda t: np.exp(z * t) * np.array([t, t**2]), 0, a, epsabs=1e-12)[0][1])


def of_a_complex_function(a):
    return abs(si.quad_vec(lambda t: np.exp((1 + 2j) * a * t), 0, 1, epsabs=1e-12, norm="max")[0])


@pytest.mark.parametrize(
    "f", [length_of_a_curve, of_a_complex_argument, of_complex_vectors, of_a_complex_function], ids=lambda f: f.__name__
)
def test_integrands_that_depend_on_complex_values(f):
    """Both parts of what an integrand closes over count; a cast to real numbers once lost one of them."""
    x, h = 1.3, 1e-4
    slope = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
    for way in (wg.value_and_grad(f), wg.jit(wg.value_and_grad(f)), wg.value_and_grad(wg.jit(f))):
        np.testing.assert_allclose(way(x), (f(x), slope), rtol=1e-9)
    np.testing.assert_allclose(wg.jvp(f, (x,), (1.0,)), (f(x), slope), rtol=1e-9)
    np.testing.assert_allclose(wg.vmap(f)(np.array([x, 1.5])), [f(x), f(1.5)], rtol=1e-12)


def test_integrands_in_c():
    c = ctypes.CDLL(None)
    c.cos.restype, c.cos.argtypes = ctypes.c_double, (ctypes.c_double,)
    np.testing.assert_allclose(wg.grad(lambda a: si.quad(c.cos, 0, a)[0])(1.2), math.cos(1.2))
    low = scipy.LowLevelCallable(c.cos)
    np.testing.assert_allclose(wg.grad(lambda a: a * si.quad(low, 0, 1)[0])(1.2), math.sin(1))
    for way in (wg.grad, wg.jit):
        with pytest.raises(UnsupportedFunctionError, match="a function in C"):
            way(lambda a: si.quad(low, 0, a)[0])(1.2)
        with pytest.raises(UnsupportedFunctionError, match="calls compiled code, which says"):
            way(lambda a: c.cos(a))(1.2)
