"""Rectangles of complex numbers contain what ops compute at points in them, eagerly and compiled."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.special

import wengert as wg
from wengert.errors import UnsupportedFunctionError
from wengert.ops import rectangles
from wengert.ops.op import TABLE

UNARY = {
    "exp": (np.exp, mpmath.exp),
    "expm1": (np.expm1, mpmath.expm1),
    "exp2": (np.exp2, lambda z: mpmath.mpf(2) ** z),
    "log": (np.log, mpmath.log),
    "log2": (np.log2, lambda z: mpmath.log(z) / mpmath.log(2)),
    "log10": (np.log10, lambda z: mpmath.log(z) / mpmath.log(10)),
    "log1p": (np.log1p, lambda z: mpmath.log(1 + z)),
    "sqrt": (np.sqrt, mpmath.sqrt),
    "square": (np.square, lambda z: z * z),
    "cube": (lambda z: z**3, lambda z: z**3),
    "inverse cube": (lambda z: z**-3, lambda z: z**-3),
    "power 2.5": (lambda z: z**2.5, lambda z: z ** mpmath.mpf(2.5)),
    "power of 2": (lambda z: 2.0**z, lambda z: mpmath.mpf(2) ** z),
    "z to the z": (lambda z: z**z, lambda z: z**z),
    "reciprocal": (lambda z: 1 / z, lambda z: 1 / z),
    "conjugate": (np.conj, mpmath.conj),
    "negative": (lambda z: -z, lambda z: -z),
    "absolute": (np.abs, abs),
    "angle": (np.angle, mpmath.arg),
    "real": (np.real, mpmath.re),
    "imag": (np.imag, mpmath.im),
    "sin": (np.sin, mpmath.sin),
    "cos": (np.cos, mpmath.cos),
    "tan": (np.tan, mpmath.tan),
    "sinh": (np.sinh, mpmath.sinh),
    "cosh": (np.cosh, mpmath.cosh),
    "tanh": (np.tanh, mpmath.tanh),
    "rational": (lambda z: (z + 1j) / (z * z - 2.0), lambda z: (z + 1j) / (z * z - 2)),
}


def boxes(rng, n):
    """Around zero, across the cuts, narrow, wide, points, with sides on the axes."""
    corners = []
    for _ in range(2):
        centre = rng.normal(size=n) * 10.0 ** rng.choice([-9, -1, 0, 0, 0, 1], size=n)
        radius = np.abs(rng.normal(size=n)) * 10.0 ** rng.choice([-12, -3, -1, 0], size=n)
        radius = np.where(rng.random(n) < 0.15, 0.0, radius)
        low, high = centre - radius, centre + radius
        low = np.where(rng.random(n) < 0.1, 0.0, low)
        high = np.where((rng.random(n) < 0.1) & (low <= 0), 0.0, high)
        corners.append((np.minimum(low, high), np.maximum(low, high)))
    (a, b), (c, d) = corners
    return a + 1j * c, b + 1j * d


def points_in(rng, low, high, count):
    parts = []
    for part in (np.real, np.imag):
        t = rng.random((count, *low.shape))
        t[0], t[1], t[2] = 0.0, 1.0, rng.integers(0, 2, low.shape)
        a, b = part(low), part(high)
        parts.append(np.clip(a + t * (b - a), a, b) + 0.0)
    return parts[0] + 1j * parts[1]


def is_inside(y, value, slack=0.0):
    """Where values are defined and not too large for a float."""
    found = np.ones(np.shape(value), bool)
    for part in (np.real, np.imag):
        v = part(value)
        found &= ~np.isfinite(value) | ((part(y.lo) - slack <= v) & (v <= part(y.hi) + slack))
    return found


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", UNARY)
def test_points_are_contained(name, compiled, rng):
    """NumPy's complex functions err by more than bounds are apart; mpmath's values are the judges where they differ."""
    f, exact = UNARY[name]
    low, high = boxes(rng, 200)
    box = wg.interval(low, high)
    with np.errstate(all="ignore"):
        y = (wg.jit(f) if compiled else wg.enclose(f))(box)
        for z in points_in(rng, low, high, 12):
            value = f(z)
            for k in np.flatnonzero(~is_inside(y, value)):
                if z[k] == 0 and name in ("log", "log2", "log10", "reciprocal", "inverse cube", "z to the z", "log1p"):
                    continue  # not defined
                if name == "angle" and z[k] == 0:
                    continue
                with mpmath.workdps(40):
                    true = mpmath.mpmathify(exact(mpmath.mpc(complex(z[k]))))
                    for part, own in ((mpmath.re, np.real), (mpmath.im, np.imag)):
                        a, b = float(own(y.lo[k])), float(own(y.hi[k]))
                        assert a <= part(true) <= b, (name, z[k], low[k], high[k], complex(true), y.lo[k], y.hi[k])


@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_a_million_points_are_contained(name, rng):
    f, _ = UNARY[name]
    with np.errstate(all="ignore"):
        for _ in range(10):
            low, high = boxes(rng, 1000)
            y = wg.enclose(f)(wg.interval(low, high))
            z = points_in(rng, low, high, 100)
            value = f(z)
            sizes = np.maximum(np.abs(y.lo), np.abs(y.hi))
            slack = 1e-12 * np.where(np.isfinite(sizes), np.maximum(sizes, np.abs(value)), 0.0)
            undefined = (z == 0) | (z == -1) | ~np.isfinite(value)
            assert np.all(is_inside(y, value, slack) | undefined), name


@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("angle",)])
def test_numbers_are_enclosed_tightly(name, rng):
    f, exact = UNARY[name]
    z = rng.normal(size=40) + 1j * rng.normal(size=40)
    y = wg.enclose(f)(wg.interval(z))
    with mpmath.workdps(40):
        for k, point in enumerate(z):
            true = mpmath.mpmathify(exact(mpmath.mpc(complex(point))))
            for part, own in ((mpmath.re, np.real), (mpmath.im, np.imag)):
                assert float(own(y.lo[k])) <= part(true) <= float(own(y.hi[k])), (name, point)
                assert own(y.hi[k]) - own(y.lo[k]) <= 4e-14 * max(1.0, float(abs(true))), (name, point)


def test_reciprocals_are_as_narrow_as_can_be(rng):
    """The extremes over the border of a rectangle are the bounds."""
    for _ in range(300):
        a = complex(*rng.normal(size=2))
        b = a + complex(*rng.exponential(size=2))
        if abs(complex(max(a.real, -b.real, 0), max(a.imag, -b.imag, 0))) < 0.1:
            continue  # close to zero
        y = 1 / wg.interval(a, b)
        t = np.linspace(0.0, 1.0, 4001)
        xs, ys = a.real + t * (b.real - a.real), a.imag + t * (b.imag - a.imag)
        border = np.concatenate([xs + 1j * a.imag, xs + 1j * b.imag, a.real + 1j * ys, b.real + 1j * ys])
        w = 1 / border
        size = np.max(np.abs(w))
        assert abs(y.lo.real - w.real.min()) < 1e-3 * size
        assert abs(y.hi.real - w.real.max()) < 1e-3 * size
        assert abs(y.lo.imag - w.imag.min()) < 1e-3 * size
        assert abs(y.hi.imag - w.imag.max()) < 1e-3 * size


# --------------------------------------------------------------------------------------------------- arrays, transforms

T = {
    "fft": lambda z: np.fft.fft(z),
    "ifft": lambda z: np.fft.ifft(z, norm="ortho"),
    "fft of an axis": lambda z: np.fft.fft(z, axis=0, norm="forward"),
    "fft2": lambda z: np.fft.fft2(z),
    "padded": lambda z: np.fft.fft(z, n=9),
    "rfft": lambda z: np.fft.rfft(z.real),
    "irfft": lambda z: np.fft.irfft(z, n=7),
    "there and back": lambda z: np.fft.irfft(np.fft.rfft(z.real) * 2.0, n=6),
    "spectrum": lambda z: np.abs(np.fft.fft(z.real)) ** 2,
    "matmul": lambda z: z @ (z.T + 1j),
    "einsum": lambda z: np.einsum("ij,ij->i", z, z.conj()),
    "vdot": lambda z: np.vdot(z[0], z[1]),
    "convolve": lambda z: np.convolve(z[0], z[1]),
    "sum": lambda z: np.sum(z, axis=0) + np.mean(z),
    "prod": lambda z: np.prod(z, axis=1),
    "cumsum": lambda z: np.cumsum(z, axis=1),
    "norm": lambda z: np.linalg.norm(z),
    "where": lambda z: np.where(z.real > 0, z * z, 1j * z),
    "concatenate": lambda z: np.concatenate([z, z.real, 1j * z.imag], axis=1).T,
    "solve": lambda z: np.linalg.solve(z[:, :4] + 9.0 * np.eye(4), z[:, 4]),
    "inv": lambda z: np.linalg.inv(z[:, :4] + 9.0 * np.eye(4)),
    "expm": lambda z: scipy.linalg.expm(z[:, :4] * 0.3),
    "written": lambda z: written(z),
    "loop": lambda z: julia(z),
}


def written(z):
    out = np.zeros((4, 6), complex)
    out[1:] = z[:-1] * 1j
    out[0, ::2] += z[0, 3:]
    out[:, 1] *= z[:, 0]
    return out


def julia(z):
    w = z * 0.3
    for _ in range(4):
        w = w * w + (0.1 - 0.2j)
    return w


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", T)
def test_results_of_arrays_are_contained(name, compiled, rng):
    f = T[name]
    centre = rng.normal(size=(4, 6)) + 1j * rng.normal(size=(4, 6))
    for radius in (0.0, 1e-6, 0.05):
        low, high = centre - radius * (1 + 1j), centre + radius * (1 + 1j)
        y = (wg.jit(wg.enclose(f)) if compiled else wg.enclose(f))(wg.interval(low, high))
        assert y.shape == f(centre).shape
        for z in points_in(rng, low, high, 20):
            assert np.all(is_inside(y, f(z), 1e-13)), name
        if radius == 0.0:
            assert np.max(np.abs(y.hi - y.lo)) < 1e-11


def test_transforms_of_whole_numbers_at_quarters_are_exact():
    y = np.fft.fft(wg.interval(np.array([1.0, 2.0, 3.0, 4.0])))
    np.testing.assert_array_equal(y.lo, [10, -2 + 2j, -2, -2 - 2j])
    np.testing.assert_array_equal(y.hi, y.lo)


def test_derivatives_through_a_transform_are_enclosed(rng):
    x = rng.normal(size=8)

    def power_above(x):
        return np.sum(np.abs(np.fft.fft(x))[2:] ** 2) + np.sum(np.fft.rfft(x)[1].imag * x)

    g = wg.grad(power_above)
    y = wg.enclose(g)(wg.interval(x - 1e-3, x + 1e-3))
    fast = wg.jit(wg.enclose(g))(wg.interval(x - 1e-3, x + 1e-3))
    for _ in range(50):
        value = g(x + rng.uniform(-1e-3, 1e-3, 8))
        for found in (y, fast):
            assert np.all((found.lo <= value) & (value <= found.hi))
    assert np.max(y.width) < 0.5


def test_single_precision(rng):
    z = (rng.normal(size=8) + 1j * rng.normal(size=8)).astype(np.complex64)
    f = lambda z: np.fft.fft(z * z) / (1 + z)
    y = wg.enclose(f)(wg.interval(z))
    assert y.dtype == np.complex64
    assert np.all(is_inside(y, f(z.astype(complex))))


def test_hankel_functions_of_real_numbers():
    x = wg.interval(2.0, 2.5)
    scaled = (scipy.special.hankel1e, scipy.special.hankel2e)
    for f in (scipy.special.hankel1, scipy.special.hankel2, *scaled):
        y = f(1.0, x)
        for t in np.linspace(2.0, 2.5, 20):
            assert f(1.0, t) in y
    with pytest.raises(UnsupportedFunctionError, match="Hankel"):
        scipy.special.hankel1(1.0, x * 1j)


# ---------------------------------------------------------------------------------------------------------- as a value


def test_a_rectangle_as_a_value():
    z = wg.interval(1 + 2j, 2 + 4j)
    assert (z.mid, z.width) == (1.5 + 3j, 2.0)
    assert abs(z.rad - np.hypot(0.5, 1.0)) < 1e-15
    assert 1.5 + 3j in z
    assert 1.5 not in z
    assert wg.interval(1 + 3j, 1 + 3.5j) in z
    assert str(z & wg.interval(1.5, 9 + 9j)) == "interval((1.5+2j), (2+4j))"
    assert str(z | 3) == "interval((1+0j), (3+4j))"
    assert (z & wg.interval(9 + 9j, 10 + 10j)).empty
    assert 2.0 in wg.interval(0.0, 2.0) | 1j
    with pytest.raises(wg.errors.MismatchError, match="no interval"):
        wg.interval(1 + 2j, 2 + 1j)
    assert str(np.log(wg.interval(0j))) == "interval(empty)"
    assert 0j in np.sqrt(wg.interval(0j))
    assert (1 / wg.interval(-1 - 1j, 1 + 1j)).lo == complex(-np.inf, -np.inf)


def test_branches_that_a_rectangle_leaves_open():
    def f(z):
        return z * z if abs(z) < 1 else 1 / z

    box = wg.interval(0.5 + 0.5j, 1 + 1j)
    with pytest.raises(wg.errors.UndecidedError):
        wg.enclose(f)(box)
    y = wg.enclose(f, branch="both")(box)
    for z in points_in(np.random.default_rng(0), np.array(0.5 + 0.5j), np.array(1 + 1j), 50):
        assert f(z) in y


def test_a_root_of_unity_is_proved_to_be_one():
    """|z³ − 1| over a box around a root encloses zero, and over one beside it does not."""
    f = lambda z: abs(z**3 - 1)
    root = np.exp(2j * np.pi / 3)
    assert 0 in wg.enclose(f)(wg.interval(root - 1e-3 * (1 + 1j), root + 1e-3 * (1 + 1j)))
    assert 0 not in wg.enclose(f)(wg.interval(root + 0.1, root + 0.2 + 0.1j))


def test_rules_are_of_ops_that_there_are():
    assert {*rectangles.RULES, *rectangles.COMPLEX_OF_REAL} <= set(TABLE)


def test_what_has_no_enclosure_of_complex_numbers_says_so():
    with pytest.raises(UnsupportedFunctionError, match="no enclosure is known of arcsin of complex numbers"):
        np.arcsin(wg.interval(1 + 1j, 2 + 2j))
    with pytest.raises(UnsupportedFunctionError, match="Fourier transform of 5000 elements"):
        np.fft.fft(wg.interval(np.ones(5000)))


@pytest.mark.parametrize("method", ["mean-value", "taylor"])
def test_centred_forms_of_complex_results(method, rng):
    f = lambda x: np.exp(1j * x) / (2 + x * 1j)
    box = wg.interval(0.4, 0.5)
    y = wg.enclose(f, method=method, order=2)(box)
    assert y.width <= wg.enclose(f)(box).width
    for x in rng.uniform(0.4, 0.5, 50):
        assert f(x) in y
