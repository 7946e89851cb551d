"""`np.ma`: NumPy's own code is followed, so masked arrays of traced values leave out what NumPy's leave out."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import WengertError

MASK = np.array([False, True, False, False])


def vector(a):
    return np.ma.masked_where(np.array([1.0, 5.0, 2.0, 0.0]) > 3, a * np.arange(1.0, 5.0))


def matrix(a):
    return np.ma.array(np.array([[1.0, a, 3.0], [a * a, 5.0, 6.0]]), mask=[[0, 1, 0], [0, 0, 1]])


def written(x, key, value):
    x[key] = value
    return x.sum()


def written_copy(x):
    y = x.copy()
    y[0] = 0.0
    return x.sum() + 2 * y.sum()


def in_place(x, a):
    x += a
    x *= 2
    x -= np.ma.array(np.ones((2, 3)), mask=[[1, 0, 0], [0, 0, 0]])
    return x.sum()


def with_mask(x):
    x.mask = [1, 0, 0, 0]
    return x.sum()


def filter_of_state(a):
    observed = np.ma.masked_greater(np.arange(8.0).reshape(4, 2), 5.5)
    gain, state, states = np.array([[a, 0.1], [0.1, a]]), np.zeros(2), np.zeros((4, 2))
    for k in range(4):
        if np.any(np.ma.getmask(observed[k])):
            continue
        state = state + np.dot(gain, observed[k] - state)
        states[k] = state
    return states.sum()


OUTSIDE = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])

PROGRAMS = {
    "a mask": lambda a: np.sum(np.ma.array(a * np.arange(4.0), mask=MASK)),
    "no mask": lambda a: np.ma.sum(a * np.arange(4.0)) + np.ma.mean(a * np.arange(4.0), axis=0),
    "filled": lambda a: vector(a).filled(0.5).sum(),
    "compressed": lambda a: (vector(a).compressed() ** 2).sum(),
    "data": lambda a: vector(a).data.sum() + np.ma.getdata(vector(a)).sum(),
    "np.ma.log": lambda a: np.ma.log(vector(a)).sum(),
    "np.log": lambda a: np.log(vector(a)).sum() + np.sum(np.exp(vector(a))),
    "out of the domain": lambda a: np.ma.sqrt(matrix(a) - 2).sum() + np.sqrt(matrix(a) - 2).sum(),
    "divided by zero": lambda a: (1.0 / np.ma.array([0.0, a])).sum(),
    "std": lambda a: vector(a).std() + vector(a).var(ddof=1),
    "np.mean": lambda a: np.mean(vector(a)) + np.ma.mean(matrix(a), axis=0).sum(),
    "average": lambda a: np.ma.average(matrix(a), weights=np.arange(6.0).reshape(2, 3)),
    "extremes": lambda a: matrix(a).max() + matrix(a).min() + np.ma.minimum(vector(a), 2.0).sum(),
    "np.minimum": lambda a: np.minimum(vector(a), 2.0).sum() + np.clip(matrix(a), 0, 3).sum(),
    "arithmetic": lambda a: (matrix(a) / (matrix(a) - 1) - matrix(a) ** 1.5).sum(),
    "abs": lambda a: abs(-vector(a)).sum(),
    "in place": lambda a: in_place(matrix(a), a),
    "items": lambda a: matrix(a)[0].sum() + matrix(a)[:, 0].sum() * a + matrix(a)[1, 0],
    "an item is masked": lambda a: written(vector(a), 0, np.ma.masked),
    "an item is set": lambda a: written(vector(a), 1, 3 * a),
    "a view is written to": lambda a: (lambda x: written(x[2:], 0, 5 * a) + x.sum())(vector(a)),
    "a copy is written to": lambda a: written_copy(vector(a)),
    "the mask is set": lambda a: with_mask(vector(a)),
    "the mask is read": lambda a: (vector(a)[~vector(a).mask] ** 2).sum(),
    "joined": lambda a: np.ma.concatenate([vector(a), vector(a) ** 2]).sum(),
    "stacked": lambda a: np.ma.vstack([vector(a), vector(a)]).sum(axis=0).sum(),
    "dot": lambda a: np.ma.dot(matrix(a), matrix(a).T).sum(),
    "where": lambda a: np.ma.where(matrix(a) > 2, matrix(a), 2 * a).sum(),
    "invalid": lambda a: np.ma.masked_invalid(np.array([a, np.nan, 2.0])).mean(),
    "less": lambda a: np.ma.masked_less(np.array([a, 0.5, 2.0]), 1.0).sum(),
    "equal": lambda a: np.ma.masked_equal(np.array([a, -999.0, 2.0]), -999.0).sum(),
    "outside": lambda a: np.ma.masked_outside(np.array([a, -999.0, 2.0]), 0, 10).sum(),
    "fixed": lambda a: np.ma.filled(np.ma.fix_invalid(np.array([a, np.nan])), 0).sum(),
    "anomalies": lambda a: (vector(a).anom() ** 2).sum(),
    "covariance": lambda a: np.ma.cov(matrix(a)).sum(),
    "differences": lambda a: np.ma.ediff1d(vector(a) ** 2).sum(),
    "sums so far": lambda a: matrix(a).cumsum(axis=0).sum() + matrix(a).prod(),
    "one after the other": lambda a: sum(v for v in vector(a) if v is not np.ma.masked),
    "from zeros": lambda a: written(np.ma.zeros(3), 0, a) + written(np.ma.masked_all(3), 1, a),
    "from outside": lambda a: (OUTSIDE * a).sum() + (a / OUTSIDE).mean() + (np.array([a, a, 1.0]) - OUTSIDE).sum(),
    "a filter": filter_of_state,
}

WAYS = {
    "grad": wg.grad,
    "jvp": lambda f: lambda x: wg.jvp(f, (x,), (1.0,))[1],
    "jit(grad)": lambda f: wg.jit(wg.grad(f)),
    "grad(jit)": lambda f: wg.grad(wg.jit(f)),
    "vmap(grad)": lambda f: lambda x: wg.vmap(wg.grad(f))(np.array([x, x]))[0],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("way", WAYS)
def test_derivatives_leave_out_what_is_masked(name, way):
    f = PROGRAMS[name]
    slope = (float(f(1.3 + 1e-6)) - float(f(1.3 - 1e-6))) / 2e-6
    np.testing.assert_allclose(WAYS[way](f)(1.3), slope, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_functions_leave_it_out_too(name):
    np.testing.assert_allclose(float(wg.jit(PROGRAMS[name])(1.3)), float(PROGRAMS[name](1.3)), rtol=1e-12)


def test_which_item_is_masked_is_known_when_the_program_runs():
    def f(a, mask):
        x = np.ma.array([a, 2 * a], mask=mask)
        return 5 * a if x[0] is np.ma.masked else 3 * x[0]

    mask, compiled = np.array([True, False]), wg.jit(wg.grad(f))
    for _ in range(2):
        assert compiled(1.3, mask) == wg.grad(f)(1.3, mask) == 5.0
        assert compiled(1.3, ~mask) == wg.grad(f)(1.3, ~mask) == 3.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", [wg.grad, wg.jit])
def test_what_is_not_followed_is_refused(way):
    with pytest.raises(WengertError):
        way(lambda a: np.ma.median(matrix(a)))(1.3)
    with pytest.raises(WengertError):
        way(lambda a: np.ma.apply_along_axis(np.sum, 1, matrix(a)).sum())(1.3)


def test_masked_arrays_of_traced_values_can_be_printed():
    def f(a):
        assert "MaskedArray" in repr(vector(a))
        return vector(a).sum()

    assert wg.grad(f)(1.3) == 8.0
