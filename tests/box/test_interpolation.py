"""Interpolation and polynomials: values of SciPy and NumPy, derivatives in points, data and knots."""

import functools

import harness
import numpy as np
import numpy.polynomial as npp
import pytest
import scipy.interpolate as si

import wengert as wg
from wengert.capture.hooks import instrument
from wengert.errors import UnsupportedFunctionError

agrees = functools.partial(harness.agrees, compiled=False, value=1e-9)
RNG = np.random.default_rng(0)
X = np.array([0.0, 0.7, 1.3, 2.2, 3.1, 3.9])
Y, YY, Y3 = RNG.normal(size=6), RNG.normal(size=(6, 2)), RNG.normal(size=(2, 6, 3))
T = np.array([0.31, 0.9, 2.5, 3.3, -0.4, 4.4, 1.02])
INSIDE = np.array([[0.31, 0.9, 2.5], [3.3, 0.1, 1.7]])


def follows(f, *args, rtol=1e-5, value=1e-5):
    """The same for what SciPy computes less accurately: its own values, and differences of ours, are the reference."""
    twin = instrument(f)
    vs = tuple(RNG.normal(size=np.shape(a)) for a in args)
    y, dot = wg.jvp(twin, args, vs)
    expected = f(*args)
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(y, expected, rtol=value, atol=value * scale)
    h = 2e-5
    sides = [wg.jvp(twin, tuple(a + k * h * v for a, v in zip(args, vs, strict=True)), vs)[0] for k in (-2, -1, 1, 2)]
    differences = (8 * (sides[2] - sides[1]) - (sides[3] - sides[0])) / (12 * h)
    np.testing.assert_allclose(dot, differences, rtol=rtol, atol=rtol * max(scale, np.max(np.abs(dot))))
    r = RNG.normal(size=np.shape(y))
    bars = wg.vjp(twin, *args)[1](r)
    bars = bars if isinstance(bars, tuple) else (bars,)
    forward, backward = np.sum(r * dot), sum(np.sum(b * v) for b, v in zip(bars, vs, strict=True))
    np.testing.assert_allclose(forward, backward, rtol=1e-8)


CONDITIONS = ["not-a-knot", "natural", "clamped", ((1, 0.3), (2, -0.4)), ("not-a-knot", (1, 0.5))]


@pytest.mark.parametrize("bc", CONDITIONS, ids=str)
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_cubic_spline(bc, n):
    agrees(lambda x, y, t: si.CubicSpline(x, y, bc_type=bc)(t), X[:n], Y[:n], T, rtol=1e-5, second=n == 6)


@pytest.mark.parametrize("n", [3, 4, 6])
def test_periodic_cubic_spline(n):
    y = np.append(Y[: n - 1], Y[0])
    agrees(lambda t: si.CubicSpline(X[:n], y, bc_type="periodic")(t), T)
    agrees(lambda z, t: si.CubicSpline(X[:n], np.concatenate([z, z[:1]]), bc_type="periodic")(t), y[:-1], T)
    agrees(lambda x: si.CubicSpline(x, y, bc_type="periodic")(INSIDE), X[:n])
    agrees(lambda a, b: si.CubicSpline(X[:n], y, bc_type="periodic").integrate(a, b), np.array(-0.4), np.array(9.7))


def test_axes_of_the_data():
    agrees(lambda y, t: si.CubicSpline(X, y)(t), YY, INSIDE)
    agrees(lambda y, t: si.CubicSpline(X, y, axis=1)(t, 1), Y3, INSIDE)


def test_derivatives_and_integrals_of_splines():
    agrees(lambda x, y, t: si.CubicSpline(x, y).derivative()(t), X, Y, T)
    agrees(lambda x, y, t: si.CubicSpline(x, y).antiderivative()(t), X, Y, T)
    agrees(lambda y, t: si.CubicSpline(X, y)(t, 4), Y, T)
    agrees(lambda x, y, a, b: si.CubicSpline(x, y).integrate(a, b), X, Y, np.array(0.2), np.array(4.5))


def test_derivative_of_a_spline_is_its_derivative():
    spline = si.CubicSpline(X, Y)
    np.testing.assert_allclose(wg.vmap(wg.grad(lambda t: spline(t)))(T), spline(T, 1), rtol=1e-12)
    np.testing.assert_allclose(wg.vmap(wg.grad(wg.grad(lambda t: spline(t))))(T), spline(T, 2), rtol=1e-12)
    np.testing.assert_allclose(wg.grad(lambda b: spline.integrate(0.1, b))(1.3), spline(1.3), rtol=1e-12)


def test_values_are_linear_in_the_data():
    J = wg.jacobian(lambda y: si.CubicSpline(X, y)(T))(Y)
    np.testing.assert_allclose(J, si.CubicSpline(X, np.eye(6))(T), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cls", [si.PchipInterpolator, si.Akima1DInterpolator])
def test_local_interpolators(cls):
    agrees(lambda x, y, t: cls(x, y)(t), X, Y, INSIDE, second=True)
    agrees(lambda y, t: cls(X, y, axis=1, extrapolate=True)(t), Y3, T)
    agrees(lambda y: cls(X[:2], y)(INSIDE / 6), Y[:2])
    agrees(lambda y: cls(X[:3], y, extrapolate=True)(INSIDE), Y[:3])
    agrees(lambda y: cls(X, y, extrapolate=False)(T), Y)  # with NaN outside


def test_other_cubic_interpolators():
    agrees(lambda x, y, t: si.Akima1DInterpolator(x, y, method="makima")(t), X, Y, INSIDE)
    agrees(lambda y, d, t: si.CubicHermiteSpline(X, y, d)(t), Y, Y[::-1].copy(), T)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_interpolating_bsplines(k):
    agrees(lambda y, t: si.make_interp_spline(X, y, k=k, axis=1)(t), Y3, T)
    agrees(lambda x, y, t: si.make_interp_spline(x, y, k=k)(t), X, Y, INSIDE, rtol=1e-5)


@pytest.mark.parametrize("bc", ["natural", "clamped", ([(1, 0.2)], [(2, 0.3)])], ids=str)
def test_bsplines_with_conditions(bc):
    agrees(lambda y, t: si.make_interp_spline(X, y, k=3, bc_type=bc)(t), Y, T)
    agrees(lambda x, t: si.make_interp_spline(x, Y, k=3, bc_type=bc)(t), X, INSIDE, rtol=1e-5)


def test_bsplines_of_every_degree_with_conditions():
    quintic = ([(1, 0.2), (2, -0.1)], [(3, 0.3), (1, 0.5)])
    agrees(lambda y, t: si.make_interp_spline(X, y, k=5, bc_type=quintic)(t), Y, T)
    agrees(lambda y, t: si.make_interp_spline(X, y, k=2, bc_type=([(1, 0.2)], None))(t), Y, T)
    a, b = np.array(0.2), np.array(-1.0)
    agrees(lambda a, b, t: si.make_interp_spline(X, Y, bc_type=([(1, a)], [(2, b)]))(t), a, b, T)
    agrees(lambda a: si.make_interp_spline(X, YY, bc_type=([(1, a)], [(2, a)]))(T), np.array([0.2, 0.6]))
    agrees(lambda y: si.make_interp_spline(X, y, k=0)(INSIDE), Y)
    closed = np.append(Y[:-1], Y[0])
    for k in (1, 2, 3, 5):
        if k > 1:
            agrees(
                lambda z, t: si.make_interp_spline(X, np.concatenate([z, z[:1]]), k=k, bc_type="periodic")(t),  # noqa: B023
                closed[:-1],
                T,
            )


def test_splrep():
    for k in (1, 2, 3, 4, 5):
        agrees(lambda x, y, t: si.splev(t, si.splrep(x, y, k=k)), X, Y, INSIDE, rtol=1e-5)  # noqa: B023
    with pytest.raises(UnsupportedFunctionError, match="make_interp_spline"):
        wg.grad(lambda y: np.sum(si.splev(T, si.splrep(X, y, s=0.5))))(Y)


def test_bsplines():
    knots = np.array([-3.0, -2, -1, 0.0, 1.3, 2.2, 3.9, 5.0, 6, 7])
    agrees(lambda t, c, x: si.BSpline(t, c, 3)(x), knots, Y, INSIDE, second=True)
    agrees(lambda c, x: si.BSpline(knots, c, 3).derivative()(x), Y, INSIDE)
    b = si.make_interp_spline(X, Y)
    agrees(lambda x: b(x) + b(x, 2) + b.derivative()(x), T)
    agrees(lambda a, z: b.integrate(a, z), np.array(0.1), np.array(1.4))
    agrees(lambda a, z: b.integrate(a, z, extrapolate=False), np.array(-1.1), np.array(1.4))


def test_fitpack_objects_at_traced_points():
    u, tck = si.UnivariateSpline(X, Y, s=0.1), si.splrep(X, Y)
    agrees(lambda t: u(t) + si.splev(t, tck) + si.splev(t, tck, der=1), T)
    agrees(lambda a, b: u.integral(a, b), np.array(-1.1), np.array(1.4))


@pytest.mark.parametrize(
    "kind", ["linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic", "cubic", 2]
)
def test_interp1d(kind):
    agrees(lambda y, t: si.interp1d(X, y, kind=kind, axis=1)(t), Y3, INSIDE)
    agrees(lambda y, t: si.interp1d(X, y, kind=kind, bounds_error=False, fill_value=(0.1, 0.7))(t), Y, T)
    if kind != "zero":
        agrees(lambda y, t: si.interp1d(X, y, kind=kind, fill_value="extrapolate")(t), Y, T)
    f = si.interp1d(X, YY.T, kind=kind)
    agrees(lambda t: f(t), INSIDE)
    with pytest.raises(ValueError, match="outside|below|above"):
        wg.grad(lambda t: np.sum(f(t)))(T)


G, H = np.array([0.0, 1, 2.5]), np.array([0, 0.4, 1.0, 2.0])
V = RNG.normal(size=(3, 4))
POINTS = np.column_stack([RNG.uniform(0.1, 2.4, 6), RNG.uniform(0.1, 1.9, 6)])


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_grids(method):
    agrees(lambda v, p: si.RegularGridInterpolator((G, H), v, method=method)(p), V, POINTS, second=True)
    outside = {"method": method, "bounds_error": False}
    agrees(lambda v, p: si.RegularGridInterpolator((G, H), v, fill_value=0.3, **outside)(p), V, POINTS + 0.5)
    agrees(lambda v, p: si.RegularGridInterpolator((G, H), v, fill_value=None, **outside)(p), V, POINTS + 0.5)
    several = RNG.normal(size=(3, 4, 2))
    agrees(lambda v, p: si.RegularGridInterpolator((G, H), v, method=method)(p), several, POINTS.reshape(2, 3, 2))
    plain = si.RegularGridInterpolator((G, H), V, method=method)
    agrees(lambda a, b: plain((a, b)), POINTS[:, 0].copy(), POINTS[:, 1].copy())


def test_grid_details():
    agrees(lambda g, v, p: si.RegularGridInterpolator((g, H), v)(p), G, V, POINTS)
    descending = si.RegularGridInterpolator((G[::-1], H), V)
    agrees(lambda p: descending(p), POINTS)
    agrees(lambda v, p: si.interpn((G, H), v, p), V, POINTS)
    with pytest.raises(UnsupportedFunctionError, match="splinef2d"):
        wg.grad(lambda v: np.sum(si.interpn((G, H), v, POINTS, method="splinef2d")))(V)
    with pytest.raises(ValueError, match="out of bounds"):
        wg.grad(lambda p: np.sum(descending(p)))(POINTS + 5)


FINE, ALSO = np.array([0.0, 0.5, 1.1, 1.4, 2.0, 2.2, 2.5]), np.array([0, 0.3, 0.4, 1.0, 1.5, 1.7, 2.0])
LARGE = RNG.normal(size=(7, 7))


@pytest.mark.parametrize("method", ["slinear", "cubic", "quintic", "pchip", "cubic_legacy"])
def test_splines_on_grids(method):
    """SciPy finds the coefficients by iteration, to a tolerance: values agree to that."""
    made, value = {"method": method}, 1e-9 if method in ("pchip", "cubic_legacy") else 1e-3
    follows(lambda v, p: si.RegularGridInterpolator((FINE, ALSO), v, **made)(p), LARGE, POINTS, value=value)
    follows(lambda v: si.interpn((FINE, ALSO), v, POINTS, **made), LARGE, value=value)
    plain = si.RegularGridInterpolator((FINE, ALSO), LARGE, **made)
    follows(lambda p: plain(p), POINTS.reshape(2, 3, 2), value=value)
    several = RNG.normal(size=(7, 7, 2))
    follows(lambda v: si.RegularGridInterpolator((FINE, ALSO), v, **made)(POINTS), several, value=value)
    follows(lambda x: si.RegularGridInterpolator((x, ALSO), LARGE, **made)(POINTS), FINE, value=value)
    cube = RNG.normal(size=(7, 7, 7))
    points = np.column_stack([POINTS, POINTS[:, 0] / 2])
    follows(lambda v, p: si.RegularGridInterpolator((FINE, ALSO, FINE), v, **made)(p), cube, points, value=value)


def test_splines_on_grids_are_products():
    """Through values f(x)·g(y) goes the product of the splines through f and g."""
    f, g = RNG.normal(size=7), RNG.normal(size=7)
    got = wg.jvp(lambda f: si.RegularGridInterpolator((FINE, ALSO), np.outer(f, g), method="cubic")(POINTS), (f,), (f,))
    expected = si.make_interp_spline(FINE, f)(POINTS[:, 0]) * si.make_interp_spline(ALSO, g)(POINTS[:, 1])
    for y in got:
        np.testing.assert_allclose(y, expected, rtol=1e-11)


def test_derivatives_on_grids():
    plain = si.RegularGridInterpolator((FINE, ALSO), LARGE, method="cubic")
    gradient = wg.grad(lambda p: np.sum(plain(p)))(POINTS)
    np.testing.assert_allclose(gradient[:, 0], plain(POINTS, nu=(1, 0)), rtol=1e-4, atol=1e-4)
    again = wg.jvp(lambda p: plain(p, nu=(0, 1)), (POINTS,), (np.zeros_like(POINTS),))[0]
    np.testing.assert_allclose(again, gradient[:, 1], rtol=1e-10)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_bivariate_splines(k):
    made = {"kx": k, "ky": max(k - 1, 1)}
    x, y = POINTS[:, 0].copy(), POINTS[:, 1].copy()
    agrees(lambda z, a, b: si.RectBivariateSpline(FINE, ALSO, z, **made).ev(a, b), LARGE, x, y, rtol=1e-5)
    agrees(lambda z, a, b: si.RectBivariateSpline(FINE, ALSO, z, **made)(a, b), LARGE, np.sort(x), np.sort(y))
    spline = si.RectBivariateSpline(FINE, ALSO, LARGE, **made)
    agrees(lambda a, b: spline(a, b, grid=False) + spline.ev(a, b, dx=min(k - 1, 1)), x, y, rtol=1e-5)
    far = np.array([-1.0, 0.3, 9.0])
    agrees(lambda z: si.RectBivariateSpline(FINE, ALSO, z, **made).ev(far, far), LARGE)


# ------------------------------------------------------------------------------------------- polynomials through data


@pytest.mark.parametrize("cls", [si.BarycentricInterpolator, si.KroghInterpolator])
def test_polynomials_through_data(cls):
    agrees(lambda x, y, t: cls(x, y)(t), X, Y, T, second=True, rtol=1e-5)
    agrees(lambda y, t: cls(X, y)(t), YY, X)  # at the nodes
    agrees(lambda y, t: cls(X, y, axis=1)(t), Y3, INSIDE)
    plain, several = cls(X, Y), cls(X, YY)
    agrees(lambda t: plain(t), T)
    agrees(lambda t: several(t), INSIDE)
    np.testing.assert_allclose(wg.vmap(wg.grad(lambda t: plain(t)))(T), plain.derivative(T), rtol=1e-9)
    agrees(lambda y, t: cls(X, y).derivative(t) + cls(X, y).derivatives(t)[2], Y, T)
    with pytest.raises(UnsupportedFunctionError, match="repeated"):
        wg.grad(lambda y: si.KroghInterpolator(np.array([0.0, 0.0, 1.0]), y)(0.3))(Y[:3])


def test_interpolating_functions():
    agrees(lambda x, y, t: si.barycentric_interpolate(x, y, t), X, Y, T)
    agrees(lambda y, t: si.krogh_interpolate(X, y, t, der=1), Y, T)
    agrees(lambda y, t: si.pchip_interpolate(X, y, t, der=1), Y, INSIDE)


def test_many_nodes():
    """At Chebyshev points the polynomial reproduces a smooth function, and its derivatives too."""
    nodes = np.cos(np.pi * np.arange(41) / 40)
    got = wg.vmap(wg.grad(lambda t: si.BarycentricInterpolator(nodes, np.exp(nodes))(t)))(T / 5)
    np.testing.assert_allclose(got, np.exp(T / 5), rtol=1e-10)


# ------------------------------------------------------------------------------------------------------ scattered data

PLACES, HEIGHTS = RNG.uniform(0, 2, size=(12, 2)), RNG.normal(size=12)
KERNELS = ["linear", "thin_plate_spline", "cubic", "quintic", "multiquadric", "inverse_multiquadric",
           "inverse_quadratic", "gaussian"]  # fmt: skip
WITHIN = RNG.uniform(0.6, 1.3, size=(5, 2))


@pytest.mark.parametrize("kernel", KERNELS)
def test_radial_basis_functions(kernel):
    made = {"kernel": kernel, "epsilon": 1.3}
    follows(lambda y, d, x: si.RBFInterpolator(y, d, **made)(x), PLACES, HEIGHTS, WITHIN, value=1e-8)
    plain = si.RBFInterpolator(PLACES, np.stack([HEIGHTS, HEIGHTS**2], 1), smoothing=0.1, **made)
    follows(lambda x: plain(x), WITHIN, value=1e-8)
    follows(lambda d: si.RBFInterpolator(PLACES, d, degree=2, **made)(WITHIN), HEIGHTS, value=1e-8)


def test_settings_of_radial_basis_functions():
    def f(smoothing, d):
        return si.RBFInterpolator(PLACES, d, smoothing=smoothing)(WITHIN)

    agrees(f, np.full(12, 0.2), HEIGHTS, second=True)
    width = wg.grad(lambda w: np.sum(si.RBFInterpolator(PLACES, HEIGHTS, epsilon=w, kernel="gaussian")(WITHIN)))(2.0)
    made = {"kernel": "gaussian"}
    plain = [np.sum(si.RBFInterpolator(PLACES, HEIGHTS, epsilon=2 + h, **made)(WITHIN)) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(width, (plain[0] - plain[1]) / 2e-5, rtol=1e-4)
    with pytest.raises(UnsupportedFunctionError, match="neighbors"):
        wg.grad(lambda d: np.sum(si.RBFInterpolator(PLACES, d, neighbors=5)(WITHIN)))(HEIGHTS)


def test_linear_interpolation_on_triangles():
    agrees(lambda p, v, x: si.LinearNDInterpolator(p, v)(x), PLACES, HEIGHTS, WITHIN, second=True)
    agrees(lambda v, x: si.griddata(PLACES, v, x), np.stack([HEIGHTS, HEIGHTS**2], 1), WITHIN)
    agrees(lambda v: si.griddata(PLACES, v, (WITHIN[:, 0], WITHIN[:, 1]), rescale=True), HEIGHTS)
    agrees(lambda v: si.griddata(PLACES, v, WITHIN, method="nearest"), HEIGHTS)
    agrees(lambda v: si.griddata(PLACES, v, WITHIN + 5), HEIGHTS)  # NaN outside
    agrees(lambda v: si.griddata(X, v, T, method="nearest"), Y)  # on a line the nearest one outside, too
    agrees(lambda v: si.griddata(PLACES, v, WITHIN + 5, fill_value=0.5), HEIGHTS)
    agrees(lambda y, t: si.griddata(X, y, t, method="cubic"), Y, INSIDE)
    plain = si.LinearNDInterpolator(PLACES, HEIGHTS)
    agrees(lambda x: plain(x), WITHIN)
    agrees(lambda x, y: plain(x, y), WITHIN[:, 0].copy(), WITHIN[:, 1].copy())
    with pytest.raises(UnsupportedFunctionError, match="linear"):
        wg.grad(lambda v: np.sum(si.griddata(PLACES, v, WITHIN, method="cubic")))(HEIGHTS)


def test_batches():
    np.testing.assert_allclose(wg.vmap(lambda y: si.CubicSpline(X, y)(T))(YY.T), si.CubicSpline(X, YY)(T).T)
    hessian = wg.hessian(lambda y: np.sum(si.CubicSpline(X, y)(T) ** 2))(Y)
    J = si.CubicSpline(X, np.eye(6))(T)
    np.testing.assert_allclose(hessian, 2 * J.T @ J, rtol=1e-10, atol=1e-10)


# --------------------------------------------------------------------------------------------------------- polynomials

S, R, WEIGHTS = RNG.uniform(-1, 1, size=8), RNG.normal(size=8), RNG.uniform(0.5, 2, size=8)
C, D, P = RNG.normal(size=4), RNG.normal(size=3), RNG.normal(size=(2, 3))


def test_polyfit():
    agrees(lambda x, y, w: np.polyfit(x, y, 2, w=w), S, R, WEIGHTS, second=True)
    agrees(lambda x, y: np.polyfit(x, y, 2), S, np.stack([R, R**2], 1))
    agrees(lambda x, y: np.polyfit(x, y, 2, cov=True)[1], S, R, rtol=1e-5)
    J = wg.jacobian(lambda y: np.polyfit(S, y, 2))(R)
    np.testing.assert_allclose(J, np.linalg.pinv(np.vander(S, 3)), rtol=1e-10, atol=1e-12)


def test_poly1d():
    agrees(lambda x, y, t: np.poly1d(np.polyfit(x, y, 2))(t) + np.poly1d(y).deriv()(t), S, R, P)
    agrees(lambda c, d, t: (np.poly1d(c) * np.poly1d(d) - 2 * np.poly1d(c)).integ()(t), C, D, P)
    agrees(lambda r: np.poly(r), D)
    agrees(lambda c, t: np.polyder(np.poly1d(c))(t) + np.polyadd(np.poly1d([1.0, 2.0]), c)[0] + sum(np.poly1d(c)), C, P)
    agrees(lambda c, d, t: (np.poly1d(c) ** 2)(np.poly1d(d))(t) + np.poly1d([0, c[0], d[0]]).order, C, D, P)
    roots = lambda c: np.poly1d([0.0, 1.0, -5.0, c[0]]).r
    agrees(lambda c, t: (np.poly1d(c) / np.poly1d([1.0, 2.0]))[0](t) + roots(c).real.max(), C, P)


def test_a_poly1d_is_not_gone_through_forever():
    """An object whose items never end the sequence protocol was."""
    p = wg.jacobian(lambda c: np.stack(list(np.poly1d(c))))(C)
    np.testing.assert_array_equal(p, np.eye(len(C)))


FAMILIES = [
    (npp.polynomial, "poly", npp.Polynomial),
    (npp.chebyshev, "cheb", npp.Chebyshev),
    (npp.legendre, "leg", npp.Legendre),
    (npp.hermite, "herm", npp.Hermite),
    (npp.hermite_e, "herme", npp.HermiteE),
    (npp.laguerre, "lag", npp.Laguerre),
]


@pytest.mark.parametrize(("module", "prefix", "cls"), FAMILIES, ids=[f[1] for f in FAMILIES])
def test_families_of_polynomials(module, prefix, cls):
    def function(name):
        return getattr(module, prefix + name)

    value, fit, der, integral = (function(name) for name in ("val", "fit", "der", "int"))
    grid, pairs, mul, add, vander = (function(name) for name in ("grid2d", "val2d", "mul", "add", "vander"))
    for n in (1, 2, 4):
        agrees(lambda t, c: value(t, c), P, C[:n], second=n == 4)
    agrees(lambda t, c: value(t, c), P, RNG.normal(size=(4, 2)))
    agrees(lambda a, b, c: pairs(a, b, c), P, P + 1, RNG.normal(size=(3, 2)))
    agrees(lambda a, b, c: grid(a, b, c), S, S[:3], RNG.normal(size=(3, 2)))
    agrees(lambda t: vander(t, 3), P)
    agrees(lambda c: der(c, 2), C)
    agrees(lambda c, k: integral(c, 2, k, lbnd=0.3), C, D[:2])
    agrees(lambda c, d: add(mul(c, d), c), C, D)
    agrees(lambda x, y, w: fit(x, y, 2, w=w), S, R, WEIGHTS)
    agrees(lambda c, t: cls(c, domain=[-2, 3])(t), C, P, second=True)
    agrees(lambda c: cls(c, domain=[-2, 3]).deriv()(0.3) + cls(c, domain=[-2, 3]).integ(lbnd=0.1)(0.3), C)
    agrees(lambda c, d: (cls(c) * cls(d) + cls(d) ** 2 - 2 * cls(c)).deriv()(0.3), C, D)
    agrees(lambda c: cls(c, domain=[-2, 3]).convert(domain=[0, 1], kind=npp.Legendre).coef * sum(cls(c).cutdeg(1)), C)
    agrees(lambda x, y, t: cls.fit(x, y, 2)(t), S, R, P)
    plain = cls(C, domain=[-1, 4])
    agrees(lambda t: plain(t), P)


def test_compiled_splines_through_data():
    """Where the basis of each place lies is known beforehand, or when the program runs."""

    def fixed(y):
        return si.make_interp_spline(np.arange(6.0), y, k=3)(np.array([0.3, 2.7]))

    def free(x, y):
        return si.make_interp_spline(x, y, k=3)(np.array([0.3, 2.7]))

    x, y = np.array([0.0, 0.9, 2.1, 3.0, 4.2, 5.0]), np.sin(np.arange(6.0))
    np.testing.assert_allclose(wg.jit(fixed)(y), fixed(y), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(free)(x, y), free(x, y), rtol=1e-12)
    for k in (0, 1):
        np.testing.assert_allclose(wg.jit(wg.jacrev(free, k))(x, y), wg.jacfwd(free, k)(x, y), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("fit", ["interp1d", "make_interp_spline"])
def test_batches_of_splines_with_places_of_their_own(fit):
    """Each example has its own abscissae, and so other basis functions at them."""
    x, at = np.linspace(0, 1, 9), np.array([0.3, 0.55])
    options = {"kind": "cubic"} if fit == "interp1d" else {"k": 3}
    f = lambda p: getattr(si, fit)(x ** p[0], p[1] * np.sin(x), **options)(at)
    ps = np.array([[1.0, 0.7], [1.1, 2.0], [0.8, 1.0]])
    np.testing.assert_allclose(wg.vmap(f)(ps), [f(p) for p in ps], rtol=1e-12)
    slope = wg.grad(lambda p: np.sum(f(p) ** 2))
    np.testing.assert_allclose(wg.vmap(slope)(ps), [slope(p) for p in ps], rtol=1e-10, atol=1e-14)


def test_splines_fitted_to_data_at_points_that_the_function_makes():
    def f(p):
        t = np.linspace(0.0, 1.0, 12)
        return si.make_lsq_spline(t, np.sin(p * t), np.r_[[0.0] * 4, 0.5, [1.0] * 4], k=3)(np.array([0.2, 0.7]))

    np.testing.assert_allclose(wg.jacobian(f)(1.3), (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rtol=1e-6)


def test_least_squares_splines_depend_on_everything():
    at, knots = np.array([0.31, 1.9]), np.r_[[-0.1] * 4, 1.5, [4.0] * 4]
    agrees(lambda x, y, w: si.make_lsq_spline(x, y, knots, w=w)(at), X, YY, 1 + X, second=True)
    agrees(lambda y: si.make_lsq_spline(X, y, knots, axis=1)(at), Y3)
    ends = [np.full(4, -0.1), np.full(4, 4.0)]
    agrees(lambda t: si.make_lsq_spline(X, Y, np.concatenate([ends[0], t, ends[1]]))(at), np.array([1.4]))
    agrees(lambda y, w, t: si.LSQUnivariateSpline(X, y, [1.5], w, k=2)(t), Y, 1 + X, at)


@pytest.mark.parametrize("data", [np.zeros(5), np.array([0.0, 1.0, 0.0, 2.0, 0.0])], ids=str)
def test_data_of_zero_have_derivatives(data):
    """NumPy leaves out coefficients that are zero; the derivative of a polynomial in its data is one of Lagrange's."""
    x = np.arange(5.0)
    units = [np.prod([(1.3 - x[k]) / (x[j] - x[k]) for k in range(5) if k != j]) for j in range(5)]
    f = lambda y: si.lagrange(x, y)(1.3)
    np.testing.assert_allclose(wg.grad(f)(data), units, rtol=1e-10)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(data), units, rtol=1e-10)
    assert f(data) == pytest.approx(wg.jit(f)(data))
