"""Arrays with labels or units, and other objects in which a traced value may hide: followed, or refused, never zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.box.foreign import hides_traced
from wengert.errors import ConcretizationError

X = np.array([1.0, 2.0, 3.0])


class Holder:
    def __init__(self, held: Any):
        self.held = held


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: Any):
        self.held = held


class Swallows:
    """Answers with an array in which nothing is left of the traced value."""

    def __init__(self, held: Any):
        self.data = held

    dtype = np.dtype(float)
    shape = ()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(1.0, dtype)


RESULTS = {
    "an object": Holder,
    "an object with slots": Slotted,
    "an object in an object": lambda v: Holder([Holder({"a": (v,)})]),
    "an object in a list": lambda v: [Holder(v)],
    "an object that is an array": Swallows,
    "an array of objects": lambda v: np.array([v, None], dtype=object),
    "an array of objects in an object": lambda v: Holder(np.array([v, None], dtype=object)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_in_which_a_traced_value_hides_are_refused(name: str) -> None:
    def f(x):
        return RESULTS[name](x[0] * 3.0)

    for differentiated in (wg.grad(f), wg.jacfwd(f), wg.jacrev(f), lambda x: wg.jvp(f, (x,), (x,)), wg.jit(f),
                           wg.jit(wg.grad(f)), wg.vmap(lambda v: RESULTS[name](v * 3.0))):  # fmt: skip
        with pytest.raises(wg.errors.WengertError, match=r"return"):
            differentiated(X)


def test_the_message_names_the_attribute() -> None:
    with pytest.raises(wg.errors.NotDifferentiableOutputError, match=r"y\.data"):
        wg.grad(lambda x: Swallows(x[0]))(X)


def test_results_in_which_nothing_hides() -> None:
    thing = Holder([1, {"a": X}])
    assert not hides_traced(thing)
    assert wg.jit(lambda x: (x * 2, thing))(X)[1] is thing
    assert wg.grad(lambda x: (np.sum(x), thing), has_aux=True)(X)[1] is thing


def _differences(f: Any) -> np.ndarray:
    return np.array([(float(f(X + d)) - float(f(X - d))) / 2e-6 for d in np.eye(3) * 1e-6])


def test_pint_holds_traced_values() -> None:
    units = pytest.importorskip("pint").UnitRegistry()
    lengths = X * units.m
    for f in (
        lambda x: np.sum((x * lengths).magnitude),
        lambda x: np.sum((lengths * x).to("cm").magnitude),
        lambda x: ((x * units.m).to("cm").magnitude).sum(),
        lambda x: (x[0] * units.m + 2 * units.cm).to("m").magnitude,
        lambda x: (units.Quantity(x, "m") ** 2).m_as("mm**2")[1],
    ):
        for g in (wg.grad(f), wg.jacfwd(f), wg.jit(wg.grad(f))):
            np.testing.assert_allclose(g(X), _differences(f), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(wg.jit(f)(X), f(X))
    with pytest.raises(wg.errors.WengertError, match=r"y\.magnitude"):
        wg.grad(lambda x: np.sum(x * units.m))(X)


def test_pandas_says_to_numpy() -> None:
    pd = pytest.importorskip("pandas")
    series = pd.Series(X, index=list("abc"))
    for f in (
        lambda x: np.sum(x * series),
        lambda x: np.sum(series * x),
        lambda x: series.dot(x),
        lambda x: pd.Series(x).sum(),
        lambda x: np.sum(pd.DataFrame({"a": X}) * x[0]),
    ):
        for g in (wg.grad(f), wg.jacfwd(f), wg.jit(f)):
            with pytest.raises(wg.errors.WengertError, match=r"to_numpy\(\)"):
                g(X)
    for f in (lambda x: np.sum(series.to_numpy() * x), lambda x: series["b"] * x[0], lambda x: series.values @ x):
        np.testing.assert_allclose(wg.grad(f)(X), _differences(f), rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(wg.jit(f)(X), f(X))


def test_xarray_is_refused_or_followed() -> None:
    xr = pytest.importorskip("xarray")
    data = xr.DataArray(X, dims="t")
    for f in (lambda x: np.sum(x * data), lambda x: (data * x).sum(), lambda x: xr.DataArray(x, dims="t").sum()):
        for g in (wg.grad(f), wg.jacfwd(f), wg.jit(f)):
            with pytest.raises(wg.errors.WengertError, match=r"to_numpy\(\)|y\.data"):
                g(X)
    f = lambda x: (data * x).sum().data
    np.testing.assert_allclose(wg.grad(f)(X), X)


def test_astropy_says_value() -> None:
    u = pytest.importorskip("astropy.units")
    lengths = X * u.m
    for f in (lambda x: np.sum((x * lengths).value), lambda x: (x * u.m).value.sum(), lambda x: u.Quantity(x, "m")):
        for g in (wg.grad(f), wg.jacfwd(f), wg.jit(f)):
            with pytest.raises(wg.errors.WengertError, match=r"q\.value"):
                g(X)
    f = lambda x: np.sum(lengths.to_value("cm") * x)
    np.testing.assert_allclose(wg.grad(f)(X), 100 * X)


def test_numexpr_is_refused_by_name() -> None:
    library = {"__name__": "numexpr.necompiler"}  # which need not be installed: it asks as this does
    exec("def evaluate(x):\n    return x.__array__()\n", library)
    with pytest.raises(ConcretizationError, match=r"numexpr asks for[^\n]*\n[^\n]*with NumPy's operators"):
        wg.grad(lambda x: library["evaluate"](x) * x)(2.0)


def test_numpys_functions_take_the_values_of_labelled_arrays() -> None:
    pd = pytest.importorskip("pandas")
    xs = pd.Series([1.0, 2.0, 4.0], index=[5, 6, 7])
    ys = pd.DataFrame({"y": [2.0, 1.0, 0.5]})["y"]

    def in_place(a):
        y = np.zeros(3)
        y[0] = a
        y += xs
        return np.sum(y) * a

    functions = {
        lambda a: np.interp(a, xs, ys): -1.0,
        lambda a: np.dot(xs, np.array([a, a * a, 1.0])): 1 + 4 * 1.3,
        lambda a: np.polyval(xs, a): 2 * 1.3 + 2,
        lambda a: np.sum(np.outer(xs, np.array([a, 1.0]))): 7.0,
        in_place: 2 * 1.3 + 7,
    }
    for f, slope in functions.items():
        for way in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
            np.testing.assert_allclose(way(1.3), slope)
