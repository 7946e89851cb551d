"""`jet`, `taylor`, `derivatives`, `derivative_tensor`: identities, closed forms, containers, dtypes and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import wengert as wg
from wengert.errors import MismatchError, NotDifferentiableInputError

RNG = np.random.default_rng(14)


def agree(got, want, rtol=1e-12):
    np.testing.assert_allclose(np.array(got, dtype=np.result_type(*got)), want, rtol=rtol, atol=rtol)


def test_known_series():
    n = 20
    k = np.arange(n + 1)
    factorial = special.factorial(k)
    agree(wg.taylor(np.exp, 0.0, n), 1 / factorial)
    agree(wg.taylor(lambda x: 1 / (1 - x), 0.0, n), np.ones(n + 1))
    agree(wg.taylor(np.log1p, 0.0, n)[1:], (-1.0) ** (k[1:] + 1) / k[1:])
    agree(wg.taylor(lambda x: (1 + x) ** 0.3, 0.0, n), special.binom(0.3, k))
    fibonacci = [1, 1]
    while len(fibonacci) <= n:
        fibonacci.append(sum(fibonacci[-2:]))
    agree(wg.taylor(lambda x: 1 / (1 - x - x * x), 0.0, n), fibonacci)


def curves(count, n):
    return [[1.5 + 0.1 * i, *(RNG.normal(size=n) * 0.5 ** np.arange(1, n + 1))] for i in range(count)]


def product(a, b):
    return [sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(len(a))]


def test_ring():
    """Sums and products of series are those of polynomials; quotients, roots and logarithms undo what they should."""
    a, b = curves(2, 12)
    agree(wg.jet(lambda x, y: x * y, a, b), product(a, b))
    agree(wg.jet(lambda x, y: x - 2 * y, a, b), np.array(a) - 2 * np.array(b))
    agree(product(wg.jet(lambda x, y: x / y, a, b), b), a)
    root = wg.jet(np.sqrt, a)
    agree(product(root, root), a)
    agree(wg.jet(np.log, wg.jet(np.exp, a)), a)
    agree(wg.jet(np.arctan, wg.jet(np.tan, [0.3, *a[1:]])), [0.3, *a[1:]], 1e-10)
    s, c = wg.jet(np.sin, a), wg.jet(np.cos, a)
    agree(np.array(product(s, s)) + product(c, c), [1, *[0] * 12])


def test_composition():
    (a,) = curves(1, 10)
    f, g = lambda x: np.tanh(x) * x, lambda x: np.exp(-x) + np.sqrt(x)
    agree(wg.jet(f, wg.jet(g, a)), wg.jet(lambda x: f(g(x)), a))


def test_derivative_of_an_antiderivative():
    x, n = 0.7, 15
    erf = wg.taylor(special.erf, x, n)
    density = wg.taylor(lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), x, n - 1)
    agree([k * c for k, c in enumerate(erf)][1:], density)


@pytest.mark.parametrize("p", [2, 3, 7, -2, 0.5, 1.5, -0.7, 2.5, 0])
@pytest.mark.parametrize("x", [0.0, 1.3, -0.4])
def test_powers(p, x):
    """Binomial series; at zero finite as long as the derivative is."""
    with np.errstate(all="ignore"):
        binomials = [math.prod((p - j) / (j + 1) for j in range(k)) for k in range(7)]
        want = [c * np.float64(x) ** (p - k) if c else 0.0 for k, c in enumerate(binomials)]
        series = lambda x: wg.taylor(lambda x: np.power(x, p), x, 6)
        for f in (series, wg.jit(series)):
            got = np.array(f(x), float)
            finite = np.isfinite(want)
            np.testing.assert_allclose(got[finite], np.array(want)[finite], rtol=1e-12, atol=1e-14)
            assert not np.any(np.isfinite(got[~finite]))


@pytest.mark.parametrize("p", [0, 1, 2, 3, 2.0, 3.0, 2.5, -2.0])
def test_powers_with_an_exponent_that_a_compiled_function_is_given(p):
    """A whole exponent that is not known while compiling has its binomial series at negative bases, too."""
    with np.errstate(all="ignore"):
        for x in (-0.4, 0.0, 1.3):
            series = lambda x, p: np.array(wg.jet(lambda x: np.power(x, p), [x, 0.5, 0.2, 0.3]))
            if x or p >= 0:
                got, want = wg.jit(series)(x, p), series(x, p)
                np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))  # at zero: infinite, or undetermined
                np.testing.assert_allclose(got[np.isfinite(got)], want[np.isfinite(want)], rtol=1e-12, atol=1e-14)
    counted = lambda x: np.array(wg.jet(lambda x: x ** np.sum(x > 0), [x, np.ones(3)]))
    x = np.array([0.3, -0.7, 1.2])
    np.testing.assert_allclose(wg.jit(counted)(x), np.array([x**2, 2 * x]), rtol=1e-12)


@pytest.mark.parametrize("x", [1e-9, 1e-3, 0.7, -1e-3, -0.7, 0.0])
def test_powers_whose_exponents_are_known_late(x):
    """Whole powers are polynomials, also next to zero: nothing is left of them beyond their degree."""
    exponents = np.array([3.0, 2.5, -2.0, 0.0, 1.0, 17.0, 0.5, -0.5, 2.0001, -40.0])
    series = lambda x, p: wg.taylor(lambda x: np.power(x, p), x, 6)
    compiled = wg.jit(series)
    with np.errstate(all="ignore"):
        several = np.array(wg.taylor(lambda x: np.power(x, exponents), x, 6))
        batch = np.array(wg.vmap(lambda p: series(x, p))(exponents))
        for i, p in enumerate(exponents):
            binomials = [math.prod((p - j) / (j + 1) for j in range(k)) for k in range(7)]
            want = np.array([c * np.float64(x) ** (p - k) if c else 0.0 for k, c in enumerate(binomials)])
            finite = np.isfinite(want)
            for got in (several[:, i], batch[:, i], np.array(compiled(x, p))):
                np.testing.assert_allclose(got[finite], want[finite], rtol=1e-11, atol=0)
                assert not np.any(np.isfinite(got[~finite]))


def test_exponents_are_variables_at_whole_numbers_too():
    third = lambda p: wg.taylor(lambda x: x**p, 0.5, 3)[3]  # p (p - 1) (p - 2) 0.5^(p - 3) / 6
    for way in (wg.grad(third), wg.jit(wg.grad(third)), lambda p: wg.jvp(third, (p,), (1.0,))[1]):
        assert way(3.0) == pytest.approx((11.0 + 6.0 * math.log(0.5)) / 6)


@pytest.mark.parametrize("x", [1e-12, 1e-3, 0.3, 0.0])
def test_distribution_functions_with_whole_parameters(x):
    """Polynomials, but for an exponential: next to zero their coefficients are not differences of large ones."""
    density = np.array([0.0, 0.0, *[(-1) ** k / math.factorial(k) / 2 for k in range(10)]])  # of t² exp(−t)/2
    expanded = lambda c: [sum(c[j] * math.comb(j, k) * x ** (j - k) for j in range(k, len(c))) for k in range(8)]
    gamma = np.append(0.0, density / np.arange(1, len(density) + 1))
    beta = np.array([0.0, 0.0, 0.0, 4.0, -3.0])
    for f, known in ((lambda x: special.gammainc(3.0, x), gamma), (lambda x: special.betainc(3.0, 2.0, x), beta)):
        series = lambda x, f=f: wg.taylor(f, x, 6)
        for way in (series, wg.jit(series)):
            np.testing.assert_allclose(way(x)[1:], expanded(known)[1:7], rtol=1e-5 if x == 0.3 else 1e-11, atol=1e-18)
    mixed = wg.taylor(lambda x: special.betainc(np.array([3.0, 2.5]), 2.0, x), 1e-3, 6)
    assert abs(mixed[6][0]) < 1e-12 < abs(mixed[6][1])


def test_a_power_of_two_series():
    a, b = curves(2, 8)
    agree(wg.jet(lambda x, p: x**p, a, b), wg.jet(lambda x, p: np.exp(p * np.log(x)), a, b))
    agree(wg.jit(lambda a, b: wg.jet(lambda x, p: x**p, a, b))(a, b), wg.jet(lambda x, p: x**p, a, b))


def test_singular_points_are_not_finite():
    with np.errstate(all="ignore"):
        for f in (np.sqrt, np.log, lambda x: np.divide(1, x), np.cbrt):
            assert not np.any(np.isfinite(wg.taylor(f, 0.0, 4)[1:]))


def test_shorter_series_are_padded_and_order_may_be_more():
    assert wg.jet(lambda x, y: x * y, [1.0, 2.0], [3.0]) == [3.0, 6.0]
    assert wg.jet(lambda x: x * x, [1.0, 1.0], order=3) == [1.0, 2.0, 1.0, 0.0]
    assert wg.jet(lambda x: x * x, [1.0, 1.0, 5.0], order=1) == [1.0, 2.0]
    assert wg.jet(lambda x: x * x, [3.0]) == [9.0]
    assert wg.jet(lambda x: 2.0, [3.0, 1.0]) == [2.0, 0.0]
    agree(wg.jet(np.exp, np.array([0.0, 1.0, 0.0])), [1, 1, 0.5])


def test_containers():
    x0 = {"a": np.array([1.0, 2.0]), "b": (3.0,)}
    x1 = {"a": np.array([1.0, 0.0]), "b": (2.0,)}
    got = wg.jet(lambda p: {"s": p["a"] * p["b"][0], "t": [np.sum(p["a"])]}, [x0, x1, x0])
    assert [sorted(y) for y in got] == [["s", "t"]] * 3
    np.testing.assert_array_equal(got[1]["s"], [5.0, 4.0])
    np.testing.assert_array_equal(got[2]["s"], [8.0, 12.0])
    assert got[2]["t"] == [3.0]
    along = wg.taylor(lambda p: p["a"] @ p["a"] * p["b"][0], x0, 3, direction=x1)
    agree(along, wg.jet(lambda p: p["a"] @ p["a"] * p["b"][0], [x0, x1], order=3))


def test_dtypes():
    got = wg.taylor(lambda x: np.exp(x) / (1 + x) ** 1.5, np.float32(0.5), 6)
    assert {y.dtype for y in got} == {np.dtype(np.float32)}
    agree(got, wg.taylor(lambda x: np.exp(x) / (1 + x) ** 1.5, 0.5, 6), 1e-5)
    z = 0.3 + 0.4j
    agree(wg.taylor(np.sin, z, 8), [(np.sin, np.cos, lambda z: -np.sin(z), lambda z: -np.cos(z))[k % 4](z)
                                    / math.factorial(k) for k in range(9)])  # fmt: skip
    agree(wg.jet(lambda t: np.real(np.exp(1j * t)), [0.3, 1.0], order=8), wg.taylor(np.cos, 0.3, 8))


def test_results_belong_to_the_caller():
    x, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    got = wg.taylor(lambda x: x, x, 2, direction=v)
    got[0][0], got[1][0], got[2][0] = 7, 7, 7
    assert (x[0], v[0]) == (1.0, 3.0)


def test_derivatives():
    x = np.array([0.2, 0.5, 1.1])
    for k, d in enumerate(wg.derivatives(np.sin, order=5)(x)):
        np.testing.assert_allclose(d, np.sin(x + k * np.pi / 2), rtol=1e-14)
    assert len(wg.derivatives(np.sin, order=0)(1.0)) == 1
    found = wg.derivatives(lambda a, x: a * x**3, order=4, argnums=1)(2.0, 3.0)
    assert found == (54.0, 54.0, 36.0, 12.0, 0.0)
    for n in range(5):
        assert wg.derivative(lambda x: np.exp(2 * x), order=n)(0.3) == pytest.approx(2**n * math.exp(0.6), rel=1e-14)


@pytest.mark.parametrize("f", [np.cumsum, np.sum, lambda x: x * np.sum(x), lambda x: x[::-1]])
def test_derivatives_of_what_is_not_elementwise_are_refused(f):
    with pytest.raises(NotDifferentiableInputError, match="elementwise"):
        wg.derivatives(f, order=2)(np.array([0.2, 0.5, 1.1]))

    for operator in (wg.derivatives, wg.derivative):
        for order in (1, 2, 3):
            with pytest.raises(NotDifferentiableInputError, match="elementwise"):
                wg.jit(operator(f, order=order))(np.array([0.2, 0.5, 1.1]))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_elements(order):
    x = np.array([0.2, 0.5, 1.1])
    f = lambda x: {"a": np.where(x > 0.4, np.exp(2 * x), x * np.exp(x)), "b": np.ones(3)}
    expected = np.where(x > 0.4, 2**order * np.exp(2 * x), (x + order) * np.exp(x))
    for g in (wg.derivative(f, order), wg.jit(wg.derivative(f, order)), wg.derivative(wg.jit(f), order)):
        np.testing.assert_allclose(g(x)["a"], expected, rtol=1e-14)
        assert not np.any(g(x)["b"])
    bounds = wg.enclose(wg.jit(wg.derivative(lambda x: f(x)["a"], order)))(wg.interval(x, x + 1e-9))
    assert np.all((bounds.lo <= expected) & (expected <= bounds.hi))


def test_derivatives_of_a_number_of_pythons_are_pythons():
    found = [*wg.derivatives(lambda x: x**2, order=3)(1.0), *wg.taylor(lambda x: 1 / x, 2.0, 3)]
    assert {type(d) for d in found} == {float}
    assert {type(d) for d in wg.derivatives(lambda x: x**2, order=3)(np.float64(1.0))} == {np.float64}


def test_refusals():
    with pytest.raises(MismatchError, match="direction"):
        wg.taylor(np.sum, np.ones(2), 2)
    with pytest.raises(MismatchError, match="list of coefficients"):
        wg.jet(np.sin, 1.0)
    with pytest.raises(MismatchError, match="no coefficients"):
        wg.jet(np.sin, [])
    with pytest.raises(MismatchError, match="shape"):
        wg.jet(np.sin, [np.ones(2), np.ones(3)])
    with pytest.raises(NotDifferentiableInputError, match="integer"):
        wg.taylor(np.sin, 1, 2)
    for order in (-1, 1.5, "two"):
        with pytest.raises(ValueError, match="whole number"):
            wg.taylor(np.sin, 1.0, order)


# ------------------------------------------------------------------------------------------------ derivative_tensor


def test_tensor_of_a_polynomial():
    x = np.array([0.3, -1.2, 2.0])
    f = lambda x: x[0] ** 2 * x[1] * x[2] + x[1] ** 4
    third = np.zeros((3, 3, 3))
    for i, j, k, v in [(0, 0, 1, 2 * x[2]), (0, 0, 2, 2 * x[1]), (0, 1, 2, 2 * x[0]), (1, 1, 1, 24 * x[1])]:
        for places in {(i, j, k), (i, k, j), (j, i, k), (j, k, i), (k, i, j), (k, j, i)}:
            third[places] = v
    np.testing.assert_allclose(wg.derivative_tensor(f, order=3)(x), third, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(wg.derivative_tensor(f, order=2)(x), wg.hessian(f)(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(wg.derivative_tensor(f, order=1)(x), wg.grad(f)(x), rtol=1e-12)
    assert wg.derivative_tensor(f, order=0)(x) == f(x)


def test_tensor_of_arrays():
    f = lambda x: np.stack([np.sin(x[0, 0] * x[1, 1]), np.exp(x[0, 1]) * x[1, 0]])
    x = np.array([[0.5, 0.2], [1.1, 0.7]])
    got = wg.derivative_tensor(f, order=3)(x)
    assert got.shape == (2, 2, 2, 2, 2, 2, 2)
    np.testing.assert_allclose(got, wg.jacobian(wg.jacobian(wg.jacobian(f)))(x), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(wg.jit(wg.derivative_tensor(f, order=3))(x), got, rtol=1e-11, atol=1e-11)
    assert wg.derivative_tensor(np.sin, order=3)(0.3) == pytest.approx(-np.cos(0.3))
    assert wg.derivative_tensor(lambda x: 2.0, order=2)(np.ones(3)).shape == (3, 3)
    assert wg.derivative_tensor(np.sum, order=2)(np.ones(0)).shape == (0, 0)
    np.testing.assert_allclose(
        wg.grad(lambda a: np.sum(wg.derivative_tensor(lambda x: a * x[0] * x[1], order=2)(np.ones(2))))(3.0), 2.0
    )
