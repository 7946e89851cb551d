"""Reductions and scans: every function in its several forms, edge shapes, NaN data, zeros in products, ties."""

import numpy as np
import pytest
from harness import by_numpy_alone, check
from programs import check_program

import wengert as wg
from wengert.errors import InPlaceError

X = np.array([[0.3, -1.2, 2.5], [1.7, 0.4, -0.6]])
Y = np.array([1.5, -0.7, 0.2, 2.2])
MASK = np.array([[True, False, True], [True, True, False]])
NAN = np.array([[0.3, np.nan, 2.5], [1.7, 0.4, np.nan]])
FORMS = [
    dict(),
    dict(axis=0),
    dict(axis=-1),
    dict(axis=(0, 1)),
    dict(axis=(1, 0), keepdims=True),
    dict(axis=1, keepdims=True),
    dict(axis=()),
]


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "ptp", "mean", "amax", "amin"])
def test_reductions(name, options):
    check(lambda x: getattr(np, name)(x, **options), X)


@pytest.mark.parametrize("options", FORMS[:-1], ids=str)
@pytest.mark.parametrize("name", ["var", "std"])
def test_moments(name, options):
    check(lambda x: getattr(np, name)(x, **options), X)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "nansum", "nanprod", "nanmean"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_where(name, axis):
    if name == "std" and axis == 0:
        axis = 1  # a lane of one element has no derivative of its standard deviation
    check(lambda x: getattr(np, name)(x, axis=axis, where=MASK), X)


@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
def test_where_and_initial_of_extremes(name):
    check(lambda x: getattr(np, name)(x, axis=1, where=MASK, initial=0.1), X)
    check(lambda x: getattr(np, name)(x, initial=1.0), X)
    with pytest.raises(ValueError, match="does not have an identity"):
        wg.grad(lambda x: getattr(np, name)(x, where=MASK))(X)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "nansum"])
def test_initial_may_be_traced(name):
    check(lambda x, i: getattr(np, name)(x, axis=0, initial=i), X, 1.1)


def test_mask_of_another_shape():
    check(lambda x: np.sum(x, where=[True, False, True]), X)
    check(lambda x: np.mean(x, axis=0, where=[[1], [0]]), X)
    check(lambda x: np.var(x, axis=0, where=[[True], [True]]), X)
    with pytest.raises(ValueError, match="broadcast"):
        wg.grad(lambda x: np.sum(x, where=np.ones((2, 3), bool)))(X[:1])


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "nanmean", "nanvar", "cumsum", "cumprod"])
def test_dtype(name):
    f = getattr(np, name)
    x = X.astype(np.float32)
    y, pullback = wg.vjp(lambda x: f(x, dtype=np.float64), x)
    assert y.dtype == np.float64
    # (np.nanvar subtracts the mean in the dtype of the data)
    np.testing.assert_allclose(y, f(x, dtype=np.float64), rtol=1e-7 if name == "nanvar" else 1e-15)
    (x_bar,) = pullback(np.ones_like(y))
    assert x_bar.dtype == np.float32
    np.testing.assert_allclose(x_bar, wg.vjp(f, X)[1](np.ones_like(f(X)))[0], rtol=1e-5, atol=1e-5)


def test_dtype_of_initial_and_half_precision():
    y, y_dot = wg.jvp(
        lambda x: np.sum(x, initial=np.float64(1)), (X.astype(np.float32),), (np.ones((2, 3), np.float32),)
    )
    assert y.dtype == y_dot.dtype == np.float32
    x = np.full(5000, 30.0, np.float16)  # the sum overflows half precision, the mean does not
    y, y_dot = wg.jvp(np.mean, (x,), (np.ones_like(x),))
    assert y == np.mean(x)
    assert y.dtype == y_dot.dtype == np.float16
    assert y_dot == 1


def test_a_sum_of_integers_is_rounding():
    y, x_bar = wg.value_and_grad(lambda x: np.sum(x, dtype=int) * x[0, 0])(X)
    assert y == np.sum(X, dtype=int) * X[0, 0]
    assert x_bar[0, 0] == np.sum(X, dtype=int)
    assert np.count_nonzero(x_bar) <= 1


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "ptp", "mean", "var", "cumsum", "cumprod", "nansum", "nanmax"]
)
def test_zero_dimensional(name):
    f = getattr(np, name)
    check(lambda x: f(x), 1.7)
    if name in ("sum", "prod", "max", "min", "ptp", "nansum", "cumsum"):
        check(lambda x: f(x, axis=0), 1.7)
    if name in ("mean", "var"):
        with pytest.raises(np.exceptions.AxisError):
            wg.grad(lambda x: f(x, axis=0))(1.7)


def test_empty():
    nothing = np.zeros((0, 3))
    for f in (
        np.sum,
        np.prod,
        np.nansum,
        lambda x: np.max(x, initial=2.0),
        lambda x: np.cumsum(x),
        lambda x: np.cumprod(x),
    ):
        check(f, nothing)
        check(lambda x, f=f: f(x.T), nothing)
    for f in (lambda x: np.sum(x, axis=0), lambda x: np.prod(x, axis=0), lambda x: np.min(x, axis=0, initial=3.0)):
        check(f, nothing)
    check(lambda x: np.mean(x, axis=1), nothing)
    check(lambda x, i: np.max(x, axis=0, keepdims=True, initial=i), nothing, 1.3)
    with pytest.raises(ValueError, match="zero-size"):
        wg.jvp(np.max, (nothing,), (nothing,))
    with pytest.warns(RuntimeWarning, match="Mean of empty"):
        assert np.isnan(wg.jvp(np.mean, (nothing,), (nothing,))[0])


def test_bad_axes():
    for f in (np.sum, np.prod, np.max, np.mean, np.std, np.cumsum, np.any, np.nanmax):
        with pytest.raises(np.exceptions.AxisError):
            wg.jvp(lambda x, f=f: f(x, axis=2), (X,), (X,))
    with pytest.raises(ValueError, match="repeated"):
        wg.jvp(lambda x: np.sum(x, axis=(0, 0)), (X,), (X,))


def test_out():
    for f in (np.sum, np.mean, np.std, np.max, np.cumsum, np.nansum, np.median):
        plain = np.zeros(np.shape(f(X, axis=0)))
        check_program(lambda x, f=f, plain=plain: f(x, axis=0, out=np.zeros_like(plain)), X)
        with pytest.raises(InPlaceError, match="out="):
            wg.jvp(lambda x, f=f, plain=plain: f(x, axis=0, out=plain), (X,), (X,))
        assert not np.any(plain)
    answer = np.zeros(3, bool)
    wg.jvp(lambda x: [np.any(x, axis=0, out=answer), x][1], (X,), (X,))
    np.testing.assert_array_equal(answer, np.any(X, axis=0))


def test_methods():
    for name in ["sum", "prod", "max", "min", "mean", "var", "std", "cumsum", "cumprod"]:
        check(lambda x, name=name: getattr(x, name)(axis=0), X)
        check(lambda x, name=name: getattr(x, name)(), X)
    check(lambda x: x.sum(0, keepdims=True) + x.max(-1, keepdims=True) + x.std(axis=0, ddof=1), X)
    check(lambda x: x * x.any() + x.all(axis=0), X)


# ----------------------------------------------------------------------------------------------------- prod, extremes


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_products_with_zeros(zeros):
    x = np.array([1.5, -2.0, 0.7, 3.0])
    x[:zeros] = 0
    check(np.prod, x)
    check(lambda x: np.prod(x, axis=0), np.stack([x, x[::-1], np.arange(4.0)], axis=1))
    check(np.cumprod, x)
    others = [np.prod(np.delete(x, k)) for k in range(4)]
    np.testing.assert_allclose(wg.grad(np.prod)(x), others, rtol=1e-14)
    pairs = [[0 if i == j else np.prod(np.delete(x, [i, j])) for j in range(4)] for i in range(4)]
    for i in range(4):
        row = wg.grad(lambda x, i=i: wg.grad(np.prod)(x)[i])(x)
        np.testing.assert_allclose(row, pairs[i], rtol=1e-14)


def test_ties_share_equally():
    x = np.array([3.0, 1.0, 3.0, 1.0, 3.0])
    third = np.array([1, 0, 1, 0, 1]) / 3
    for f in (np.max, np.nanmax, np.maximum.reduce, np.fmax.reduce):
        np.testing.assert_allclose(wg.grad(f)(x), third)
    for f in (np.min, np.nanmin, np.minimum.reduce, np.fmin.reduce):
        np.testing.assert_allclose(wg.grad(f)(-x), third)
    np.testing.assert_allclose(wg.grad(np.ptp)(x), third - np.array([0, 1, 0, 1, 0]) / 2)


def test_an_infinite_extreme_is_not_shared_with_what_is_left_out():
    x = np.array([-np.inf, np.nan, -np.inf, np.nan])
    half = [0.5, 0.0, 0.5, 0.0]
    for f in (np.nanmax, np.fmax.reduce):
        np.testing.assert_array_equal(wg.grad(f)(x), half)
        np.testing.assert_array_equal(wg.jvp(f, (x,), (np.array([1.0, 7.0, 3.0, 7.0]),)), [-np.inf, 2.0])
    for f in (np.nanmin, np.fmin.reduce):
        np.testing.assert_array_equal(wg.grad(f)(-x), half)
    np.testing.assert_array_equal(wg.grad(lambda x: np.nanmax(x, initial=-1.0))(x), np.zeros(4))
    # initial takes part as one more element; what `where` leaves out does not
    mask = np.array([True, True, False, False])
    np.testing.assert_array_equal(wg.grad(lambda x: np.nanmax(x, initial=-np.inf, where=mask))(x), [0.5, 0, 0, 0])


# ------------------------------------------------------------------------------------------------------------ moments


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_degrees_of_freedom(name):
    f = getattr(np, name)
    check(lambda x: f(x, ddof=1), X)
    check(lambda x: f(x, axis=1, ddof=0.5), X)
    check(lambda x: f(x, axis=0, correction=1, keepdims=True), X)
    check(lambda x, m: f(x, axis=0, mean=m), X, np.array([[0.1, 0.2, 0.3]]))
    check(lambda x: f(x, axis=1, keepdims=True, mean=np.mean(x, axis=1, keepdims=True)), X)
    with pytest.raises(ValueError, match="simultaneously"):
        wg.grad(lambda x: f(x, ddof=1, correction=1))(X)


def test_variance_in_closed_form():
    np.testing.assert_allclose(wg.grad(np.var)(X), 2 * (X - X.mean()) / X.size, rtol=1e-14)
    np.testing.assert_allclose(wg.grad(np.std)(X), (X - X.mean()) / X.size / X.std(), rtol=1e-14)


def test_variance_of_complex_numbers():
    z = X + 1j * X[::-1]
    check(lambda x, y: np.var(x + 1j * y, axis=0), X, Y[:3])
    np.testing.assert_allclose(wg.jvp(np.var, (z,), (z,))[0], np.var(z))


@pytest.mark.parametrize("c", [1.0, 0.0, 0.1, -3.3])
@pytest.mark.parametrize(
    "f",
    [
        np.std,
        lambda x: np.std(x, ddof=1),
        lambda x: np.nanstd(x),
        lambda x: np.nanstd(np.append(x, np.nan)),
        lambda x: np.sum(np.std(np.stack([x, 2 * x, -x]), axis=1, keepdims=True)),
        lambda x: np.std(x, where=np.arange(len(x)) > 1),
        lambda x: np.std(x + 1j * x),
        lambda x: np.std(x[None] * np.ones((4, 1)), axis=0).sum(),
    ],
)
def test_std_of_equal_values(f, c):
    """The subgradient of least norm, in both modes, eagerly and compiled; the mean of 0.1, 0.1, 0.1 is not 0.1."""
    x, v = np.full(5, c), np.arange(5.0)
    assert np.all(wg.grad(f)(x) == 0)
    assert wg.jvp(f, (x,), (v,))[1] == 0
    assert wg.jvp(f, (x,), (0 * v,))[1] == 0
    assert np.all(wg.hessian(f)(x) == 0)
    assert wg.jvp(f, (x,), (v,))[0] == pytest.approx(f(x), abs=1e-15)
    if f is np.std:
        assert np.all(wg.jit(wg.grad(f))(x) == 0)
        assert wg.jvp(wg.jit(f), (x,), (v,))[1] == 0


def test_std_of_values_that_differ_by_rounding():
    eps = np.finfo(float).eps
    np.testing.assert_allclose(wg.grad(np.std)(np.array([1.0, 1.0 + 2 * eps])), [-0.5, 0.5])


def test_std_of_one_element():
    check(lambda x: np.std(x, axis=0), Y[:1])  # one element alone: constantly zero


def test_no_degrees_of_freedom():
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        y, y_dot = wg.jvp(lambda x: np.var(x, ddof=3), (Y[:2],), (Y[:2],))
    assert y == np.inf
    assert not np.isfinite(y_dot)
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        assert np.isnan(wg.jvp(lambda x: np.nanvar(x, ddof=3), (Y[:2],), (Y[:2],))[0])


@pytest.mark.parametrize("keepdims", [False, True])
def test_average(keepdims):
    w = np.array([[0.2, 0.9, 0.4], [1.1, 0.3, 0.6]])
    check(lambda x: np.average(x, keepdims=keepdims), X)
    check(lambda x: np.average(x, axis=0, returned=True, keepdims=keepdims)[0], X)
    for axis in (None, 0, (0, 1), (1, 0), -1):
        weights = w.T if axis == (1, 0) else w
        check(lambda x, w, axis=axis: np.average(x, axis=axis, weights=w, keepdims=keepdims), X, weights)
    check(lambda x, w: np.average(x, axis=1, weights=w, keepdims=keepdims), X, w[0])
    check(lambda x, w: np.average(x, axis=1, weights=w, returned=True, keepdims=keepdims), X, w[0])
    check(lambda w: np.average([1, 2, 3], weights=w), w[0])
    check(lambda x: np.average(x, weights=[1, 2, 3], axis=1), X)


def test_bad_weights():
    with pytest.raises(TypeError, match="Axis must be specified"):
        wg.grad(lambda w: np.average(X, weights=w))(Y)
    with pytest.raises(ValueError, match="consistent"):
        wg.grad(lambda w: np.average(X, weights=w, axis=0))(Y)
    with pytest.raises(ZeroDivisionError):
        wg.grad(lambda w: np.average(Y, weights=w))(np.array([1.0, -1.0, 1.0, -1.0]))


# ----------------------------------------------------------------------------------------------------- any, all, nan


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}, {"axis": 1, "where": MASK}])
@pytest.mark.parametrize("f", [np.any, np.all])
def test_truth(f, options):
    x = np.array([[0.0, 1.0, 0.0], [0.0, 2.0, np.nan]])
    y, _ = wg.vjp(lambda x: f(x, **options) + 0 * np.sum(np.nan_to_num(x)), x)
    np.testing.assert_array_equal(y, f(x, **options))
    assert wg.grad(lambda x: np.sum(x) if f(x > 0) else 2 * np.sum(x))(Y)[0] in (1, 2)


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}], ids=str)
@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"])
def test_nan_versions(name, options):
    """With numbers in some places and NaN in the others, of a function of the numbers."""
    f = getattr(np, name)
    if name == "nanstd" and options.get("axis") == 0:
        options = {**options, "where": [[True, True, True]], "axis": 1}
    places = np.isfinite(NAN)

    def of_numbers(numbers):
        x = np.where(places, np.array([[0, -1, 1], [2, 3, -1]]), 0)
        return f(np.where(places, numbers[x], np.nan), **options)

    check(of_numbers, NAN[places], second=name != "nanstd")
    x_bar = wg.grad(lambda x: np.sum(f(x, **options)))(NAN)
    assert np.all(x_bar[~places] == 0)
    assert np.all(np.isfinite(x_bar))


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
def test_nan_scans(name):
    f = getattr(np, name)
    for axis in (None, 0, 1):
        x_bar = wg.grad(lambda x, axis=axis: np.sum(f(x, axis=axis) ** 2))(NAN)
        neutral = np.nan_to_num(NAN, nan=0.0 if name == "nancumsum" else 1.0)
        plain = getattr(np, name[3:])
        expected = wg.grad(lambda x, axis=axis, plain=plain: np.sum(plain(x, axis=axis) ** 2))(neutral)
        np.testing.assert_allclose(x_bar, np.where(np.isnan(NAN), 0, expected))


def test_nothing_but_nan():
    x = np.array([[np.nan, np.nan], [1.0, np.nan]])
    for f in (np.nanmax, np.nanmin, np.nanmedian):
        with pytest.warns(RuntimeWarning, match="All-NaN"):
            y, y_dot = wg.jvp(lambda x, f=f: f(x, axis=1), (x,), (np.ones((2, 2)),))
        np.testing.assert_array_equal(y, [np.nan, 1])
        np.testing.assert_array_equal(y_dot, [np.nan, 1])
    assert wg.jvp(lambda x: np.nanmax(x, initial=3.0), (x,), (x,))[0] == 3
    with pytest.warns(RuntimeWarning, match="Mean of empty"), np.errstate(all="ignore"):
        np.testing.assert_array_equal(wg.jvp(lambda x: np.nanmean(x, axis=1), (x,), (x,))[0], [np.nan, 1])


# -------------------------------------------------------------------------------------------------------------- scans


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans(name, axis):
    check(lambda x: getattr(np, name)(x, axis=axis), X)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_array_api_scans(name):
    f = by_numpy_alone(getattr, np, name)
    check(lambda x: f(x, axis=1, include_initial=True), X)
    check(lambda x: f(x, axis=0), X)
    check(lambda x: f(x, include_initial=True), Y)
    check(lambda x: f(x), 2.0)
    with pytest.raises(ValueError, match="axis"):
        wg.grad(lambda x: f(x))(X)
