"""What is computed of plain arrays while a function is differentiated is NumPy's to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

X = np.array([1.0, 2.0, 3.0])
R = np.cos(np.arange(12.0)).reshape(3, 4)


def repeated():
    return np.outer(X, X) + np.eye(3)


def wide():
    return R + np.zeros((3, 4))


FUNCTIONS = {
    "svd": lambda: np.linalg.svd(repeated()),
    "eigh": lambda: np.linalg.eigh(repeated()),
    "svd of a wide matrix": lambda: np.linalg.svd(wide()),
    "qr": lambda: np.linalg.qr(wide()),
    "lstsq": lambda: np.linalg.lstsq(wide(), X + np.zeros(3), rcond=None),
    "linspace": lambda: np.linspace(0, X + np.zeros(3), 7),
    "polyfit": lambda: np.polyfit(X + np.zeros(3), X**2 + np.zeros(3), 1),
    "var": lambda: np.var(wide(), axis=1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_numpy(name: str) -> None:
    found = []

    def f(k):
        found.append(FUNCTIONS[name]())
        return k * 2.0

    wg.grad(f)(1.0)
    wg.jvp(f, (1.0,), (1.0,))
    expected = FUNCTIONS[name]()
    for got in found:
        assert got.__class__ is expected.__class__ or not isinstance(expected, tuple)
        pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
        for a, b in pairs:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
            assert np.asarray(a).dtype == np.asarray(b).dtype


def test_results_may_be_written_to() -> None:
    def f(k):
        u, s, vt = np.linalg.svd(repeated())
        s[0] = k
        return (u * s).sum() + vt.sum()

    value, slope = wg.jvp(f, (2.0,), (1.0,))
    assert value == pytest.approx(f(2.0), rel=1e-14)
    assert slope == pytest.approx(f(3.0) - f(2.0), rel=1e-12)


def test_what_calls_back_is_traced() -> None:
    def f(k):
        return np.apply_along_axis(lambda row: row * k, 1, wide()).sum()

    assert wg.grad(f)(2.0) == pytest.approx(R.sum(), rel=1e-14)
