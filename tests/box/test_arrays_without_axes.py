"""Numbers and arrays without axes: which of NumPy's functions give which, and who sees what is written to them.

The reference is the function itself, on a Python float, one of NumPy's numbers, and an array without axes.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.interpolate
import scipy.stats

import wengert as wg

X = {"float": 0.7, "number": np.float64(0.7), "array": np.array(0.7)}
MADE = {
    "where": lambda x: np.where(x > 0, x, 1.0), "select": lambda x: np.select([x > 0], [x], 0.0),
    "piecewise": lambda x: np.piecewise(x, [x > 0], [np.sin]), "array": np.array, "asarray": np.asarray,
    "zeros_like": np.zeros_like, "ones_like": lambda x: np.ones_like(x), "filled": lambda x: np.full_like(x, 2.0),
    "spline": lambda x: scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], [1.0, x, 3.0])(0.3),
    "polynomial": lambda x: scipy.interpolate.KroghInterpolator([0.0, 1.0, 2.0], [1.0, x, 3.0])(0.3),
    "skew": lambda x: scipy.stats.skew(np.array([x, 2.0, 5.0])),
    "copy": np.copy, "full": lambda x: np.full((), x), "full_like": lambda x: np.full_like(x, x),
    "reshape": lambda x: np.reshape(x, ()), "squeeze": np.squeeze, "transpose": np.transpose, "flip": np.flip,
    "roll": lambda x: np.roll(x, 1), "real_if_close": np.real_if_close, "nan_to_num": np.nan_to_num,
    "tensordot": lambda x: np.tensordot(x, x, 0), "dot": lambda x: np.dot(x, x), "i0": np.i0,
    "cov": lambda x: np.cov([x, 2.0]), "cross": lambda x: np.cross([x, 1.0], [2.0, 3.0]),
    "clip": lambda x: np.clip(x, 0, 1),
    "interp": lambda x: np.interp(x, [0.0, 1.0], [1.0, 3.0]), "std": lambda x: np.std([x, 2.0]),
    "choose": lambda x: np.choose(1, [x, 2 * x]), "sum": np.sum, "broadcast_to": lambda x: np.broadcast_to(x, ()),
    "ravel": np.ravel, "expand_dims": lambda x: np.expand_dims(x, 0), "atleast_1d": np.atleast_1d,
    "ascontiguousarray": np.ascontiguousarray, "ndmin": lambda x: np.array(x, ndmin=1, copy=None),
    "x[None]": lambda x: np.asarray(x)[None], "x[...]": lambda x: np.asarray(x)[...],
    "x[()]": lambda x: np.asarray(x)[()],
    "one of one": lambda x: np.array([x])[..., 0], "astype": lambda x: np.asarray(x).astype(float),
    "x.copy()": lambda x: np.asarray(x).copy(), "x.T": lambda x: np.asarray(x).T,
    "doubled": lambda x: np.asarray(x) * 2,
    "own reshape": lambda x: x.reshape(()), "own None": lambda x: x[None], "own squeeze": lambda x: x.squeeze(),
    "own view": lambda x: x.view(), "own copy": lambda x: x.copy(), "own astype": lambda x: x.astype(float),
}  # fmt: skip


def other_name(make):
    def f(x):
        y = make(x)
        z = y
        y += 1.0
        return np.sum(z) * 2.0

    return f


def argument(make):
    def f(x):
        y = make(x)
        y += 1.0
        return x * np.sum(y)

    return f


def ways(f):
    return {
        "jit": wg.jit(f),
        "jvp": lambda x: wg.jvp(f, (x,), (1.0,))[0],
        "vjp": lambda x: wg.vjp(f, x)[0],
        "jit of jvp": wg.jit(lambda x: wg.jvp(f, (x,), (1.0,))[0]),
    }


@pytest.mark.parametrize("kind", X)
@pytest.mark.parametrize("name", MADE)
def test_the_same_is_made_and_seen_by_the_same(name, kind):
    make = MADE[name]
    try:
        want = make(X[kind])
    except (AttributeError, TypeError):  # what numbers of Python's do not have
        return
    for way, got in ways(make).items():
        y = got(X[kind])
        assert (isinstance(y, np.ndarray), np.shape(y)) == (isinstance(want, np.ndarray), np.shape(want)), way
    if name == "broadcast_to":  # which is not to be written to
        return
    for f in (other_name(make), argument(make)):
        want = f(copy.copy(X[kind]))
        for way, got in ways(f).items():
            assert got(copy.copy(X[kind])) == pytest.approx(want, rel=1e-12), way


def chosen(x, make):
    p, r = make(x[1]), make(x[2])
    q = p if x[0] > 0 else r
    q += 1.0
    return p + q + r * 3.0


def chosen_in_a_branch(x, make):
    p, r = make(x[1]), make(x[2])
    if x[0] > 0:
        q = p
    else:
        q = r
    q += 1.0
    return p + q + r * 3.0


def chosen_in_a_loop(x, make):
    p, r = make(x[1]), make(x[2])
    q = r
    for v in x:
        if v > 1:
            q = p
        p, r = r, p
    q += 1.0
    return p + q + r * 3.0


def a_number_in_one_branch(x, make):
    p = make(x[1])
    z = p
    if x[0] > 0:
        p = p * 2.0
    p += 1.0
    return z + p


@pytest.mark.parametrize(
    "make", [np.array, np.asarray, lambda v: np.where(v > 1, v, 0.5)], ids=["array", "as", "where"]
)
@pytest.mark.parametrize("f", [chosen, chosen_in_a_branch, chosen_in_a_loop, a_number_in_one_branch])
def test_names_that_data_choose(f, make):
    compiled, gradient = wg.jit(lambda x: f(x, make)), wg.jit(wg.grad(lambda x: f(x, make)))
    for x in (np.array([0.5, 1.5, 2.5]), np.array([-0.5, 1.5, 2.5])):
        assert compiled(x) == f(x, make)
        np.testing.assert_allclose(gradient(x), wg.grad(lambda x: f(x, make))(x), rtol=1e-14)
