"""Intervals: arithmetic of sets, comparisons, branches, loops, derivatives, and every placement of `jit`."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
from scipy.linalg import solve_triangular

import wengert as wg
from wengert.errors import ConcretizationError, UndecidedError, UnsupportedFunctionError, WengertError

I = wg.interval
INF = math.inf


def same(y, low, high):
    assert (y.lo, y.hi) == (low, high), y


def close(y, low, high):
    """A little more than an interval: compiled products are rounded outward, exact or not."""
    assert y.lo <= low <= y.lo + 4 * np.spacing(abs(low))
    assert y.hi - 4 * np.spacing(abs(high)) <= high <= y.hi


def contains_values(y, values, slack=0.0):
    assert np.all(np.asarray(y.lo) - slack <= values), y
    assert np.all(values <= np.asarray(y.hi) + slack), y


# ------------------------------------------------------------------------------------------------------------ the sets


@pytest.mark.parametrize(
    ("got", "low", "high"),
    [
        (lambda: I(1, 2) + I(3, 4), 4, 6),
        (lambda: I(1, 2) - I(3, 4), -3, -1),
        (lambda: I(-1, 2) * I(-3, 4), -6, 8),
        (lambda: I(0) * I(-INF, INF), 0, 0),
        (lambda: I(0, 1) * I(2, INF), 0, INF),
        (lambda: I(1, 2) / I(4, 8), 0.125, 0.5),
        (lambda: I(1, 2) / I(0, 1), 1, INF),
        (lambda: I(1, 2) / I(-1, 0), -INF, -1),
        (lambda: I(1, 2) / I(-1, 1), -INF, INF),
        (lambda: I(0) / I(-1, 1), 0, 0),
        (lambda: 1 / I(2, INF), 0, 0.5),
        (lambda: I(-1, 2) ** 2, 0, 4),
        (lambda: I(-2, 1) ** 3, -8, 1),
        (lambda: I(-2, -1) ** -1, -1, -0.5),
        (lambda: I(-1, 2) ** -2, 0.25, INF),
        (lambda: I(-5, 3) ** 0, 1, 1),
        (lambda: I(-4, 9) ** 0.5, 0, 3),
        (lambda: I(0, 4) ** -0.5, 0.5, INF),
        (lambda: np.sqrt(I(-1, 4)), 0, 2),
        (lambda: abs(I(-3, 2)), 0, 3),
        (lambda: abs(I(-3, -2)), 2, 3),
        (lambda: np.log(I(0, 1)), -INF, 0),
        (lambda: np.cos(I(-1, 7)), -1, 1),
        (lambda: np.tan(I(1, 2)), -INF, INF),
        (lambda: np.floor(I(1.5, 3.5)), 1, 3),
        (lambda: np.sign(I(-2, 3)), -1, 1),
        (lambda: np.maximum(I(0, 3), I(1, 2)), 1, 3),
        (lambda: I(1, 3) & I(2, 4), 2, 3),
        (lambda: I(1, 2) | I(4, 5), 1, 5),
        (lambda: np.where(I(-1, 1) > 0, I(2, 3), 7.0), 2, 7),
        (lambda: I(1, 2) * 2 - 1, 1, 3),
        (lambda: 3 - I(1, 2), 1, 2),
    ],
)
def test_sets(got, low, high):
    y = got()
    same(y, low, high)
    assert not y.empty


@pytest.mark.parametrize(
    "got",
    [
        lambda: np.log(I(-1, 0)),
        lambda: np.sqrt(I(-2, -1)),
        lambda: I(1, 2) & I(3, 4),
        lambda: I(1, 2) / I(0),
        lambda: np.arccosh(I(0, 0.5)),
        lambda: np.log(I(-1, 0)) + 1,
        lambda: np.sin(np.log(I(-1, 0))),
        lambda: (I(1, 2) & I(3, 4)) * I(0),
        lambda: (I(1, 2) & I(3, 4)) ** 2,
        lambda: np.sum(np.log(I(np.array([-1.0, 1.0]), np.array([0.0, 2.0])))),
    ],
)
def test_nothing_stays_nothing(got):
    y = got()
    assert y.empty
    assert math.isnan(y.lo)
    assert math.isnan(y.hi)


def test_parts():
    x = I(1, 4)
    assert (x.mid, x.rad, x.width) == (2.5, 1.5, 3)
    assert 1 in x
    assert 4.0 in x
    assert 4.1 not in x
    assert math.inf not in I(-INF, INF)
    assert I(2, 3) in x
    assert I(0, 2) not in x
    assert I(-INF, INF).mid == 0
    assert math.isfinite(I(0, INF).mid)
    big = I(-1.7e308, 1.7e308)
    assert big.mid == 0
    assert big.rad >= 1.7e308
    tiny = I(0, 5e-324)
    assert tiny.mid in tiny
    assert tiny.mid + tiny.rad >= 5e-324
    assert repr(x) == "interval(1.0, 4.0)"
    y = I(0.1)
    assert y.lo == y.hi == 0.1
    a = I(np.zeros(3), np.arange(1.0, 4))
    assert a.shape == (3,)
    assert a[1].hi == 2
    assert len(a) == 3
    assert np.all(a.mid == [0.5, 1, 1.5])


@pytest.mark.parametrize(
    "bounds", [(2, 1), (math.nan, 1), (INF, INF), (-INF, -INF), (1j, 2), (np.ones(2), np.zeros(2))]
)
def test_what_is_no_interval_is_refused(bounds):
    with pytest.raises((ValueError, TypeError)):
        I(*bounds)


def test_bounds_in_the_wrong_order_are_refused_when_the_program_runs():
    f = lambda a, b: wg.interval(a, b) * 2
    assert wg.jit(f)(1.0, 2.0).hi >= 4.0
    with pytest.raises(ValueError, match="lower bound"):
        wg.jit(f)(2.0, 1.0)
    with pytest.raises(ValueError, match="lower bound"):
        wg.grad(lambda a: f(a, 1.0).hi)(2.0)


def test_bounds_that_are_no_floats_are_rounded_outward():
    n = 2**60 + 1
    assert I(n).lo < I(n).hi
    assert int(I(n).lo) < n < int(I(n).hi)


def test_rounding_is_outward(rng):
    """Exact rational arithmetic lies between the bounds, which are neighbours or equal."""
    from fractions import Fraction

    for _ in range(300):
        a, b = (float(v) for v in rng.normal(size=2) * 10.0 ** rng.integers(-5, 5, size=2))
        for y, exact in [
            (I(a) + b, Fraction(a) + Fraction(b)),
            (I(a) - b, Fraction(a) - Fraction(b)),
            (I(a) * b, Fraction(a) * Fraction(b)),
            (I(a) / b, Fraction(a) / Fraction(b)),
        ]:
            assert Fraction(float(y.lo)) <= exact <= Fraction(float(y.hi))
            assert y.hi <= np.nextafter(y.lo, INF)
            assert (y.lo == y.hi) == (Fraction(float(y.lo)) == exact)


def test_sums_are_outward_and_good(rng):
    from fractions import Fraction

    for n in (1, 2, 7, 100, 1001):
        v = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, size=n)
        y = np.sum(I(v))
        exact = sum(map(Fraction, v.tolist()))
        assert Fraction(float(y.lo)) <= exact <= Fraction(float(y.hi))
        assert y.hi - y.lo <= 4 * np.spacing(abs(y.hi)) + 1e-25 * np.sum(abs(v))
    same(np.sum(I(np.arange(100.0))), 4950, 4950)


def test_products_of_matrices(rng):
    from fractions import Fraction

    for n in (3, 40):
        a, b = rng.normal(size=(n, n)), rng.normal(size=(n, n))
        y = I(a) @ I(b)
        for i, j in [(0, 0), (n - 1, 1)]:
            exact = sum(Fraction(p) * Fraction(q) for p, q in zip(a[i].tolist(), b[:, j].tolist(), strict=True))
            assert Fraction(float(y.lo[i, j])) <= exact <= Fraction(float(y.hi[i, j]))
        wide = I(a - 0.1, a + 0.1) @ I(b - 0.1, b + 0.1)
        for _ in range(20):
            contains_values(wide, (a + rng.uniform(-0.1, 0.1, a.shape)) @ (b + rng.uniform(-0.1, 0.1, b.shape)))


def test_linear_systems(rng):
    a, b = rng.normal(size=(5, 5)) + 6 * np.eye(5), rng.normal(size=5)
    y = np.linalg.solve(I(a - 1e-2, a + 1e-2), I(b - 1e-2, b + 1e-2))
    for _ in range(50):
        x = np.linalg.solve(a + rng.uniform(-1e-2, 1e-2, a.shape), b + rng.uniform(-1e-2, 1e-2, b.shape))
        contains_values(y, x)
    assert np.all(y.width < 0.1)
    point = np.linalg.solve(I(a), b)
    assert np.all(point.width < 1e-13)
    assert np.all(np.abs(a @ point.mid - b) < 1e-12)
    singular = np.linalg.solve(I(np.ones((2, 2))), np.ones(2))
    assert np.all(singular.lo == -INF)
    assert np.all(singular.hi == INF)
    contains_values(np.linalg.inv(I(a)), np.linalg.inv(a), 1e-14)
    contains_values(np.linalg.det(I(a[:3, :3])), np.linalg.det(a[:3, :3]), 1e-10)


# ------------------------------------------------------------------------------------------- comparisons and branches


def _exact_determinant(a):
    """By Bareiss's elimination, which stays with integers."""
    a, last, sign = [[int(v) for v in row] for row in a], 1, 1
    for k in range(len(a) - 1):
        swap = next((i for i in range(k, len(a)) if a[i][k]), None)
        if swap is None:
            return 0
        if swap != k:
            a[k], a[swap], sign = a[swap], a[k], -sign
        for i in range(k + 1, len(a)):
            for j in range(k + 1, len(a)):
                a[i][j] = (a[i][j] * a[k][k] - a[i][k] * a[k][j]) // last
        last = a[k][k]
    return sign * a[-1][-1]


def test_determinants(rng):
    for n in (1, 3, 4, 7):
        for a in rng.integers(-9, 10, (10, n, n)):
            known = _exact_determinant(a)
            found = np.linalg.det(I(a.astype(float)))
            assert found.lo <= known <= found.hi
            sign, log = np.linalg.slogdet(I(a.astype(float)))
            if known:
                assert np.sign(known) in sign
                assert log.lo - 1e-13 <= math.log(abs(known)) <= log.hi + 1e-13
                assert log.width < 1e-10
    assert np.linalg.det(I(np.ones((4, 4)))).hi == math.inf  # nothing is known where a matrix may be singular


@pytest.mark.parametrize("f", [np.linalg.cholesky, np.linalg.det, lambda a: np.linalg.slogdet(a)[1],
                               lambda a: solve_triangular(a, np.arange(1.0, 6.0), lower=True),
                               lambda a: solve_triangular(a, np.ones((5, 2)), unit_diagonal=True)])  # fmt: skip
def test_matrices_within_bounds(f, rng):
    middle = rng.normal(size=(5, 5))
    middle = middle @ middle.T + 5 * np.eye(5)
    for radius in (1e-9, 1e-2):
        found = wg.enclose(f)(I(middle - radius, middle + radius))
        assert np.all(found.width < 1e4 * radius * np.max(np.abs(f(middle))))
        for _ in range(20):
            change = radius * np.tril(rng.choice([-1.0, 1.0], (5, 5)))
            contains_values(found, f(middle + change + np.tril(change, -1).T)[None], slack=1e-12 * np.max(found.hi))


def test_comparisons_are_certain_impossible_or_undecided():
    assert I(1, 2) < 3
    assert not I(1, 2) > 3
    assert not I(1, 2) <= 0.5
    assert I(1, 2) < I(2.5, 3)
    assert I(1) == 1
    assert I(1, 2) != 3
    for undecided in (I(1, 2) < 1.5, I(1, 2) == 1.5, I(1, 2) <= I(2, 3) - 0.5):
        with pytest.raises(UndecidedError, match="remedy"):
            bool(undecided)
    mask = I(np.array([0.0, 2.0]), np.array([1.0, 3.0])) > 1.5
    assert mask.tolist() == [False, True]


def kink(x):
    if x > 1:
        return x * x
    return 2 - x


def test_branches():
    same(wg.enclose(kink)(I(2, 3)), 4, 9)
    for f in (wg.enclose(kink), wg.enclose(wg.jit(kink)), wg.jit(wg.enclose(kink))):
        close(f(I(2, 3)), 4, 9)
        close(f(I(0, 0.5)), 1.5, 2)
        with pytest.raises(UndecidedError, match="holds for some numbers and not for others"):
            f(I(0, 3))
    for f in (
        wg.enclose(kink, branch="both"),
        wg.enclose(wg.jit(kink), branch="both"),
        wg.jit(wg.enclose(kink, branch="both")),
    ):
        y = f(I(0, 3))
        contains_values(y, np.array([kink(v) for v in np.linspace(0, 3, 50)]))
        close(f(I(2, 3)), 4, 9)


def test_both_ways_of_many_branches_and_a_loop():
    def collatz(x):
        count = 0.0
        while x < 10:
            if x > 5:
                x = x + 3
            else:
                x = x * 2
            count = count + 1
        return x, count

    x, count = wg.enclose(collatz, branch="both")(I(1, 2))
    for v in np.linspace(1, 2, 40):
        a, b = collatz(v)
        assert a in x
        assert b in count


def test_what_a_function_does_outside_is_done_once_for_the_last_way():
    seen = []

    def f(x):
        seen.append(1)
        return x if x > 0 else -x

    wg.enclose(f, branch="both")(I(-1, 1))
    assert len(seen) == 1


def test_undecided_loops_of_compiled_code_are_refused():
    @wg.jit
    def f(x):
        while x < 10:
            x = x * 1.5
        return x

    contains_values(wg.enclose(f)(I(1, 1.01)), np.array([f(v) for v in np.linspace(1, 1.01, 20)]))
    for branch in ("raise", "both"):
        with pytest.raises(UndecidedError, match="holds for some"):
            wg.enclose(f, branch=branch)(I(1, 2))


def test_masks_are_combined():
    x = I(np.array([0.2, 0.8, -1.0]), np.array([0.4, 1.2, -0.5]))
    for f in (
        lambda x: np.where((x > 0) & (x < 1), x, 5.0),
        lambda x: np.where(~((x <= 0) | (x >= 1)), x, 5.0),
        lambda x: np.where(np.logical_and(x > 0, x < 1), x, 5.0),
        lambda x: np.where((x > 0) ^ (x > 1), x, 5.0),
    ):
        for g in (wg.enclose(f), wg.enclose(wg.jit(f)), wg.jit(wg.enclose(f))):
            y = g(x)
            assert y.lo.tolist() == [0.2, 0.8, 5.0]
            assert y.hi.tolist() == [0.4, 5.0, 5.0]


def test_what_is_not_selected_has_no_derivative_that_counts():
    f = lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0))
    y = wg.enclose(wg.grad(f))(I(np.array([-2.0, 1.0]), np.array([-1.0, 4.0])))
    assert y.lo.tolist() == [0.0, 0.25]
    assert y.hi.tolist() == [0.0, 0.5]


def test_indices_and_masks_must_be_decided():
    a = np.arange(5.0)
    assert wg.enclose(lambda x: a[int(x)])(I(1.2, 1.8)).lo == 1
    with pytest.raises(UndecidedError):
        wg.enclose(lambda x: a[int(x)])(I(1.2, 2.8))
    x = I(np.array([-1.0, 2.0]), np.array([-0.5, 3.0]))
    same(wg.enclose(lambda x: np.sum(x[x > 0]))(x), 2, 3)
    with pytest.raises(UndecidedError):
        wg.enclose(lambda x: x[x > 2.5])(x)


def test_what_has_no_enclosure_is_refused_with_its_line():
    def f(x):
        return scipy.special.eval_legendre(0.5, x)[0]

    with pytest.raises(UnsupportedFunctionError, match=r"no enclosure(.|\n)*scipy\.special\.eval_legendre"):
        wg.enclose(f)(I(np.zeros(3), np.ones(3)))


def test_an_order_that_is_certain():
    x = I(np.array([3.0, 1.0, 2.0, 0.0]), np.array([3.5, 1.5, 2.5, 0.5]))
    assert np.sort(x).lo.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert wg.enclose(np.argmax)(x) == 0
    assert wg.enclose(np.argmin)(x) == 3
    same(wg.enclose(np.median)(x), 1.5, 2.0)
    with pytest.raises(UndecidedError, match="overlap"):
        wg.enclose(np.argmax)(I(np.zeros(3), np.ones(3)))


def test_complex_numbers_beside_intervals_are_rectangles():
    for f in (lambda x: np.exp(1j * x), lambda x: x * 1j, lambda x: x + np.ones(2) * 1j, lambda x: np.fft.fft(x)):
        y = wg.enclose(f)(wg.interval(np.ones(2), np.full(2, 1.5)))
        assert y.dtype == complex
        assert f(np.array([1.25, 1.0])) in y


# ------------------------------------------------------------------------------------- programs, derivatives, compiled


def recurrence(x):
    s = x
    for i in range(8):
        s = np.sin(s) * 0.9 + 0.1 * x * i
    return s


def written(x):
    out = np.zeros(6)
    for i in range(6):
        out[i] = x * i + (out[i - 1] ** 2 if i > 0 else 0.0) * 0.1
    return np.sum(out * out) / 3


def mixed(x):
    v = np.stack([x, x * x, np.exp(-x)])
    w = np.linspace(0.5, 2.0, 9).reshape(3, 3) @ v
    return np.max(w) + np.mean(np.tanh(w)) + np.linalg.norm(v) + np.log(1 + np.abs(w[1])) + np.prod(v)


def extremes(x):
    v = np.stack([x, 1 - x, x * x])
    return np.max(v) * np.min(v) + np.clip(x, 0.2, 0.9) + np.hypot(x, 1.0) + np.arctan2(x, 2.0)


PROGRAMS = [recurrence, written, mixed, extremes]


@pytest.mark.parametrize("derivative", [False, True], ids=["value", "derivative"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_and_their_derivatives(f, derivative):
    g = wg.grad(f) if derivative else f
    ways = [wg.enclose(g), wg.enclose(wg.jit(g)), wg.jit(wg.enclose(g))]
    if derivative:
        ways.append(wg.enclose(wg.grad(wg.jit(f))))
    for bounds in [(0.3, 0.3), (0.3, 0.31), (0.1, 1.2)]:
        values = np.array([g(v) for v in np.linspace(*bounds, 30)])
        for way in ways:
            y = way(I(*bounds))
            contains_values(y, values, 1e-14)
            assert y.width < (1e-11 if bounds[0] == bounds[1] else 1e3)


def test_derivatives_of_every_kind():
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    f = lambda x: np.sum(np.exp(A @ x)) + x[0] * x[1] ** 3
    x, r = np.array([0.3, -0.4]), 0.05
    box = I(x - r, x + r)
    rng = np.random.default_rng(0)
    for operator in (wg.grad, wg.hessian, wg.jacobian, wg.jacfwd, wg.jacrev):
        y = wg.enclose(operator(f))(box)
        for _ in range(20):
            contains_values(y, operator(f)(x + rng.uniform(-r, r, 2)), 1e-13)
    y = wg.enclose(lambda x, v: wg.jvp(f, (x,), (v,))[1])(box, np.ones(2))
    contains_values(y, wg.jvp(f, (x,), (np.ones(2),))[1])
    batch = I(np.stack([x, x + 1]) - r, np.stack([x, x + 1]) + r)
    y = wg.enclose(wg.vmap(wg.grad(f)))(batch)
    contains_values(y, wg.vmap(wg.grad(f))(np.stack([x, x + 1])))


def test_containers_and_constants():
    y = wg.enclose(lambda p, n: {"sum": p["a"] + p["b"] * n, "n": n, "c": 1.5})({"a": I(1, 2), "b": I(0, 1)}, 3)
    same(y["sum"], 1, 5)
    same(y["c"], 1.5, 1.5)
    assert y["n"] == 3


def test_single_precision():
    x = I(np.float32(0.1), np.float32(0.2))
    for f in (np.exp, np.sin, np.sqrt, lambda x: x * x + 1, lambda x: 1 / x):
        y = f(x)
        assert y.dtype == np.float32
        for v in np.linspace(x.lo, x.hi, 50, dtype=np.float32):
            assert y.lo <= float(f(np.float64(v))) <= y.hi


def test_constants_of_rules_in_single_precision():
    """180/π and ln 2 are rounded to single precision, outward."""
    x = np.float32(0.7)
    for f, true in [
        (np.degrees, float(x) * 180 / math.pi),
        (np.radians, float(x) * math.pi / 180),
        (wg.grad(np.exp2), 2.0 ** float(x) * math.log(2.0)),
        (wg.grad(np.log10), 1 / (float(x) * math.log(10.0))),
    ]:
        y = wg.enclose(f)(I(x))
        assert float(y.lo) < true < float(y.hi)
        assert y.width < 20 * np.spacing(np.float32(true))


def test_exponents_that_are_known_when_the_program_runs():
    f = wg.jit(wg.enclose(lambda x, p: x**p))
    for p in (2.0, 3.0, 0.0, 4.0):
        contains_values(f(I(-2, -1), p), np.linspace(-2, -1, 9) ** p, 1e-13)
    contains_values(f(I(-2, -1), -2.0), np.linspace(-2, -1, 9) ** -2.0)
    contains_values(f(I(0.5, 2), 0.5), np.sqrt(np.linspace(0.5, 2, 9)))
    y = wg.enclose(lambda x: x ** np.array([2.0, 0.5, 3.0]))(I(np.array([-2.0, 1.0, -2.0]), np.array([-1.0, 4.0, 1.0])))
    contains_values(y, np.array([[4.0, 1.0, -8.0], [1.0, 2.0, 1.0]]))


@pytest.mark.parametrize("transform", [lambda f: f, wg.jit])
def test_zero_to_the_power_of_zero_is_one(transform):
    power = transform(wg.enclose(np.power))
    zero = wg.interval(0.0, 0.0)
    for exponents, bounds in [((0.0, 0.0), (1.0, 1.0)), ((0.0, 2.0), (0.0, 1.0)), ((-1.0, 0.0), (1.0, 1.0))]:
        y = power(zero, wg.interval(*exponents))
        assert (y.lo, y.hi) == bounds
    y = power(wg.interval(0.0, 0.25), wg.interval(0.0, 0.5))
    assert y.lo == 0.0
    assert 1.0 <= y.hi < 1.0 + 1e-15
    assert power(zero, wg.interval(-2.0, -1.0)).empty


@pytest.mark.parametrize(
    "f", [lambda q: 2.0**q, lambda q: q**2, lambda q: q**0.5, lambda q: 1 / q, wg.grad(lambda r: r**2.5)]
)
@pytest.mark.parametrize("p", [3.0, -2.0, 0.0])
def test_intervals_of_pythons_numbers_are_no_numbers_of_python(f, p):
    """In compiled code a bound that is an argument does not raise as a float of Python's own would."""

    def bounds(p):
        y = wg.enclose(f)(wg.interval(p, p + 1))
        return y.lo, y.hi

    np.testing.assert_allclose(wg.jit(bounds)(p), bounds(p), rtol=1e-14)


def test_infinite_constants():
    """No number is infinite: a constant that is stands for what is too large for a float."""
    y = np.where(I(np.zeros(2), np.ones(2)) > 0.5, 1.0, np.array([math.inf, 0.0]))
    assert y.hi.tolist() == [INF, 1.0]
    assert np.max(I(np.array([1.0, 2.0])) + np.array([-math.inf, 0.0])).hi == 2.0


def test_operators_of_intervals_outside():
    """Derivatives at intervals, without `enclose`."""
    f = lambda x: np.sum(np.sin(x) * x)
    box = I(np.array([0.1, 0.2]), np.array([0.2, 0.4]))
    for operator in (wg.grad, wg.jacobian, wg.hessian):
        y, z = operator(f)(box), wg.enclose(operator(f))(box)
        assert y.lo.tolist() == z.lo.tolist()
        assert y.hi.tolist() == z.hi.tolist()
    y = wg.vmap(lambda x: np.exp(x) * x)(box)
    contains_values(y, np.exp(box.mid) * box.mid)


def test_gradients_of_bounds():
    """Bounds are differentiable functions of the bounds they come from."""
    f = lambda r: wg.enclose(lambda x: np.exp(x) * x)(wg.interval(1 - r, 1 + r)).hi
    assert wg.grad(f)(0.25) == pytest.approx(np.exp(1.25) * 2.25, rel=1e-12)


def test_jit_of_a_function_of_intervals():
    f = lambda x, y: (x * y, np.sqrt(x) + y)
    a, b = wg.jit(f)(I(1, 2), I(-1, 1))
    close(a, -2, 2)
    contains_values(b, np.array([0.0, 1 + 1]))


def test_intervals_are_intervals_in_compiled_functions():
    x = np.array([0.1, 0.2])

    def parts(low, high):
        y = np.exp(I(low, high)) + 1
        return type(y) is type(I(0, 1)), hasattr(y, "lo"), y.lo, y.mid, y.width, y.empty, (y & I(2.5)).hi, 2.5 in y

    for transform in (lambda f: f, wg.jit):
        kind, has, low, mid, width, empty, meet, inside = transform(parts)(x, x + 1)
        assert kind is True
        assert has is True
        assert inside
        np.testing.assert_allclose(low, np.exp(x) + 1)
        np.testing.assert_allclose(mid - width / 2, low)
        assert not np.any(empty)
        np.testing.assert_array_equal(meet, 2.5)


def test_centred_forms_go_both_ways_compiled():
    def f(x):
        if x > 0.5:
            return x * x
        return 1 - x

    for method in ("mean-value", "taylor"):
        y = wg.jit(wg.enclose(f, method=method, order=2, branch="both"))(I(0.3, 0.9))
        assert y.lo <= 0.25
        assert y.hi >= 0.81


def test_an_interval_does_not_become_an_array():
    with pytest.raises(ConcretizationError, match="interval cannot become an ordinary NumPy array"):
        np.asarray(I(np.ones(2), np.ones(2)))


def test_compiled_bounds_agree_with_eager_ones():
    """Elementary functions are those of NumPy in compiled code too: bounds differ by roundings of products at most."""
    x = I(np.linspace(-2, 2, 200) - 0.01, np.linspace(-2, 2, 200) + 0.01)
    f = lambda x: np.sin(3 * x) * np.exp(-x) + np.cos(x) / (2 + np.tanh(x))
    eager, compiled = wg.enclose(f)(x), wg.jit(wg.enclose(f))(x)
    np.testing.assert_allclose(compiled.lo, eager.lo, rtol=0, atol=1e-14)
    np.testing.assert_allclose(compiled.hi, eager.hi, rtol=0, atol=1e-14)


# ------------------------------------------------------------------------------------------------------- centred forms

FORMS = [("mean-value", 1), ("taylor", 1), ("taylor", 2), ("taylor", 4)]


@pytest.mark.parametrize(("method", "order"), FORMS)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_centred_forms_contain_values(f, method, order):
    for bounds in [(0.3, 0.3), (0.3, 0.32), (0.1, 1.2)]:
        y = wg.enclose(f, method=method, order=order)(I(*bounds))
        contains_values(y, np.array([f(v) for v in np.linspace(*bounds, 30)]), 1e-14)
        assert y in wg.enclose(f)(I(*bounds))


def test_the_excess_of_a_taylor_form_has_its_order():
    """The excess over the range goes with the square of the width, and more so for higher orders."""
    f = lambda x: np.exp(x) * np.sin(3 * x) - x * x
    widths = np.array([0.1, 0.05, 0.025])
    for method, order, rate in [("natural", 1, 1), ("mean-value", 1, 2)]:
        excess = []
        for w in widths:
            values = f(np.linspace(0.62 - w, 0.62 + w, 4001))
            y = wg.enclose(f, method=method, order=order)(I(0.62 - w, 0.62 + w))
            excess.append(y.width - (values.max() - values.min()))
        assert np.all(np.log2(np.array(excess[:-1]) / excess[1:]) > rate - 0.3), (method, excess)


def test_monotone_functions_are_enclosed_by_their_values_at_the_ends():
    f = lambda x: x * np.exp(x) + x - np.sin(x) * 0.1
    y = wg.enclose(f, method="mean-value")(I(0.5, 1.5))
    close(y, f(0.5), f(1.5))
    g = lambda v: v[0] * v[1] - v[1] / v[0]
    y = wg.enclose(g, method="mean-value")(I(np.array([1.0, 2.0]), np.array([2.0, 3.0])))
    close(y, 0.0, 4.5)
    contains_values(y, np.array([g(np.array([a, b])) for a in (1, 1.5, 2) for b in (2, 2.5, 3)]))


def test_a_variable_of_which_nothing_depends_is_held_at_one_end():
    """A slope of exactly zero neither rises nor falls: its bounds are not swapped."""
    f = lambda x, y: np.trunc(np.log1p(y)) + np.sqrt(x) + np.floor(1 / y)
    for method in ("mean-value", "taylor"):
        y = wg.enclose(f, method=method)(I(1.0, 4.0), I(0.3, 0.32))
        close(y, 4.0, 5.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.where(x > 0.1, x + 1, x),
        lambda x: np.floor(x * 3) + 0 * x,
        lambda x: np.sign(x),
        lambda x: wg.stop_gradient(x) * 2,
        lambda x: 1 / (x - 0.2),
        lambda x: np.round(x) + x,
        lambda x: x % 0.5,
        lambda x: np.copysign(1.0, x),
    ],
)
def test_derivatives_prove_nothing_of_functions_that_jump(f):
    """Where a function is not continuous, or its derivative is not that of its value, no theorem holds."""
    points = np.linspace(-1, 1, 301)
    for method, order in FORMS:
        y = wg.enclose(f, method=method, order=order)(I(-1, 1))
        contains_values(y, np.array([f(v) for v in points]), 1e-14)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.minimum(x, 3 * x),
        lambda x: np.abs(x) * x - np.abs(x - 0.2),
        lambda x: np.min(np.stack([x, 3 * x, x + 1])),
        lambda x: np.sqrt(x * x),
        lambda x: np.clip(x, -0.3, 0.2) ** 3,
        lambda x: np.hypot(x, 0.0),
        lambda x: np.abs(x) ** 1.5,
    ],
)
def test_kinks_prove_nothing_of_higher_order(f):
    """The derivative jumps: the second one, zero on both sides, does not know."""
    for bounds in [(-1.0, 1.2), (-0.9, 1.0), (-0.1, 0.3)]:
        values = np.array([f(v) for v in np.linspace(*bounds, 200)])
        for method, order in FORMS:
            for g in (f, lambda v: f(v[0] + 0 * v[1])):  # of one variable, and of two
                box = I(*bounds) if g is f else I(np.full(2, bounds[0]), np.full(2, bounds[1]))
                contains_values(wg.enclose(g, method=method, order=min(order, 3))(box), values, 1e-14)


def test_derivatives_of_linear_functions_are_not_rounded():
    """Cotangents and tangents are intervals: products of constants in a derivative are enclosed."""
    from fractions import Fraction

    a, b = 0.1, 0.3
    f = lambda x: a * (b * x)
    third = lambda x: np.mean(np.stack([x, 2.0, 3.0])) if np.ndim(x) == 0 else np.mean(x)
    for g, exact in [
        (wg.grad(f), Fraction(a) * Fraction(b)),
        (wg.jacfwd(f), Fraction(a) * Fraction(b)),
        (wg.derivative(f), Fraction(a) * Fraction(b)),
        (wg.grad(wg.jit(f)), Fraction(a) * Fraction(b)),
        (wg.hessian(lambda x: 0.5 * (a * x) * (b * x)), Fraction(a) * Fraction(b)),
        (lambda x: wg.taylor(lambda t: (a * t) * (b * t), x, 2)[2], Fraction(a) * Fraction(b)),
        (wg.grad(lambda x: x / 3), Fraction(1, 3)),
        (wg.grad(lambda x: x / 7.0), Fraction(1, 7)),
        (wg.grad(third), Fraction(1, 3)),
    ]:
        for way in (wg.enclose(g), wg.jit(wg.enclose(g))):
            y = way(I(1, 2))
            assert Fraction(float(y.lo)) <= exact <= Fraction(float(y.hi)), y
            assert y.width < 1e-15


def test_exponents_of_derivatives_are_not_rounded():
    import mpmath

    for p in (0.1, -0.3, 0.3):
        y = wg.enclose(wg.grad(lambda x: x**p))(I(1e-250))  # noqa: B023
        with mpmath.workprec(200):
            true = mpmath.mpf(p) * mpmath.mpf(1e-250) ** (mpmath.mpf(p) - 1)
            assert mpmath.mpf(float(y.lo)) <= true <= mpmath.mpf(float(y.hi))


def test_rules_of_users_prove_nothing():
    @wg.custom_jvp
    def halved(x):
        return 2.0 * x

    halved.defjvp(lambda primals, tangents: (2.0 * primals[0], 0.0 * tangents[0]))
    y = wg.enclose(lambda x: halved(x), method="mean-value")(I(1, 2))
    same(y, 2, 4)


def test_centred_forms_of_containers_compiled():
    f = lambda p: p["a"] * np.sin(p["b"]) - np.sum(p["b"] ** 2) * p["a"]
    p = {"a": I(1, 1.01), "b": I(np.array([0.5, 0.6]), np.array([0.51, 0.61]))}
    eager = wg.enclose(f, method="mean-value")(p)
    for y in (wg.jit(wg.enclose(f, method="mean-value"))(p), wg.enclose(wg.jit(f), method="mean-value")(p)):
        np.testing.assert_allclose(y.lo, eager.lo, rtol=1e-13)
        np.testing.assert_allclose(y.hi, eager.hi, rtol=1e-13)
    assert np.all(eager.width < wg.enclose(f)(p).width)


@pytest.mark.parametrize("transform", [lambda f: f, wg.jit], ids=["eager", "compiled"])
def test_integers_that_an_interval_decides_are_indices(transform):
    """Enclosures compute with floats; what integers give is an integer again."""
    x = np.array([10.0, 20.0, 30.0])

    def times(a):
        return x[(a < 0.3) * 2]

    def remainder(a):
        return x[(a < 0.3) % 3]

    for f, value in ((times, 30.0), (remainder, 20.0)):
        y = wg.enclose(transform(f), branch="both")(wg.interval(0.1, 0.2))
        assert y.lo <= value <= y.hi
        with pytest.raises(UndecidedError, match="interval"):
            wg.enclose(transform(f), branch="both")(wg.interval(0.1, 0.5))


def test_remainders_stay_between_zero_and_the_divisor():
    """Also where the quotient is not decided; as narrow as a difference where it is."""
    X = wg.interval(5.0, 7.0)
    for found, (low, high) in (
        (X % 3, (0.0, 3.0)),
        (X % -3.0, (-3.0, 0.0)),
        (np.fmod(X, 3.0), (0.0, 3.0)),
        (np.fmod(-X, 3.0), (-3.0, 0.0)),
        (wg.interval(4.0, 5.0) % 3, (1.0, 2.0)),
        (np.fmod(wg.interval(-1.0, 2.0), 5.0), (-1.0, 2.0)),
    ):
        assert (found.lo, found.hi) == (low, high)


@pytest.mark.parametrize("transform", [lambda f: f, wg.jit])
@pytest.mark.parametrize("exponents", [(0.0, 1.0), (-1.5, -0.5), (1.5, 4.5), (1.5, 2.5), (2.0, 2.0), (-3.0, 3.0)])
@pytest.mark.parametrize("bases", [(-2.0, -0.3), (-2.0, 0.5), (-1.0, 0.0), (0.25, 2.0)])
def test_whole_numbers_among_exponents_have_powers_of_negative_numbers(transform, exponents, bases):
    """As NumPy computes them: a mask as the exponent, undecided, is zero or one."""
    y = transform(wg.enclose(np.power))(wg.interval(*bases), wg.interval(*exponents))
    whole = np.arange(math.ceil(exponents[0]), math.floor(exponents[1]) + 1.0)
    x, p = np.meshgrid(np.linspace(*bases, 7), np.concatenate([np.linspace(*exponents, 6), whole]))
    with np.errstate(all="ignore"):
        values = np.power(x, p)
    values = values[np.isfinite(values)]
    assert np.all((y.lo <= values) & (values <= y.hi))
    assert wg.enclose(lambda x: x ** (x > -1), branch="both")(wg.interval(-1.5, -0.5)).hi >= 1


def test_no_fraction_is_the_exponent_of_a_negative_number():
    assert wg.enclose(np.power)(wg.interval(-2.0, -1.0), wg.interval(0.25, 0.75)).empty


# ------------------------------------------------------------------------------------------------ Python's own numbers


def caught(x, compute):
    try:
        return compute(x)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return -5.0


def corner_of_factor(x):
    return np.linalg.cholesky(np.eye(2) + x * np.array([[0.0, 1.0], [1.0, 0.0]]))[1, 1]


NUMBERS = {
    "a root": (lambda x: math.sqrt(x) + math.exp(x), 0.25, 1.0),
    "partly outside of the domain": (lambda x: math.sqrt(x), -1.0, 4.0),
    "a quotient": (lambda x: 1 / float(x) + 2.0 // float(x), 0.5, 2.0),
    "an integer": (lambda x: float(int(x)) + math.floor(x), 1.25, 1.75),
    "builtins": (lambda x: min(x, 1.0) + max([x, 0.5, 1 - x]) + abs(x), 0.0, 2.0),
    "the least of an array": (lambda x: min(x * np.array([1.0, -1.0])) + max(np.sin(x * np.arange(3.0))), 0.5, 1.0),
    "isclose": (lambda x: 9.0 if math.isclose(x, 0.5) else x, 0.5, 1.0),
    "a text": (lambda x: float(format(x, ".2f")), 0.5, 1.0),
    "a root that is tried": (lambda x: caught(x, math.sqrt), -1.0, 1.0),
    "a quotient that is tried": (lambda x: caught(x, lambda x: 1 / float(x)), 0.0, 1.0),
    "a factor of no number, that is tried": (lambda x: caught(x, corner_of_factor), 1.5, 2.0),
    "a factor of some numbers, that is tried": (lambda x: caught(x, corner_of_factor), 0.5, 2.0),
    "a factor that is tried": (lambda x: caught(x, corner_of_factor), 0.25, 0.5),
    "an exponential that is tried": (lambda x: caught(x, math.exp), 700.0, 800.0),
    "a large power that is tried": (lambda x: caught(x, lambda x: float(x) ** 3), 1e100, 1e110),
    "a power that is tried": (lambda x: caught(x, lambda x: float(x) ** -1.0), 0.0, 1.0),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("around", [wg.enclose, lambda f: wg.jit(wg.enclose(f)), lambda f: wg.enclose(wg.jit(f))])
def test_numbers_of_python_are_enclosed_or_refused(name, around):
    f, low, high = NUMBERS[name]
    may_be_refused = name in ("isclose", "a text", "the least of an array") or "tried" in name
    try:
        found = around(f)(wg.interval(low, high))
    except (WengertError, ValueError):
        assert may_be_refused
        return
    for x in np.linspace(max(low, 0.0) if name.startswith("partly") else low, high, 33).tolist():
        assert found.lo <= f(x) <= found.hi


@pytest.mark.parametrize("around", [wg.enclose, lambda f: wg.jit(wg.enclose(f))])
def test_extremes_of_intervals_are_tight(around):
    found = around(lambda x: [min(x, 1.0), max(x, 1.0, 2 * x), max([x * 1.0, 0.5])])(wg.interval(0.0, 2.0))
    assert [(float(y.lo), float(y.hi)) for y in found] == [(0.0, 1.0), (1.0, 4.0), (0.5, 2.0)]
    slope = around(wg.grad(lambda x: max(x, 0.0) * 3.0))(wg.interval(-1.0, 1.0))
    assert slope.lo <= 0.0 <= 3.0 <= slope.hi
    assert slope.hi == pytest.approx(3.0)
