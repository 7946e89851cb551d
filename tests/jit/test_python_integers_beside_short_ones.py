"""Python's integers beside arrays of short or unsigned integers, given or constant: NumPy says what comes out.

They take over the type of the array, and raise where they do not fit into it. But comparisons are exact, quotients and
functions of floats convert them at once, `np.dot` and its like give them a type of their own, and bounds of `np.clip`
that lie beyond all that the type can hold are none.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import wengert as wg


def written(u, n):
    u[1] = n
    return u


def written_to_slice(u, n):
    u[1:] = n
    return u


def written_by_mask(u, n):
    u[u > 1] = n
    return u


def written_as_list(u, n):
    u[:2] = [n, 1]
    return u


def filled(u, n):
    u.fill(n)
    return u


def put(u, n):
    np.put(u, [0], n)
    return u


def placed(u, n):
    np.place(u, u > 1, n)
    return u


def put_by_mask(u, n):
    np.putmask(u, u > 1, n)
    return u


def copied(u, n):
    np.copyto(u, n)
    return u


PROGRAMS = {
    "less": lambda u, n: (u < n, n < u, u[0] < n, n <= u[1]),
    "equal": lambda u, n: (u == n, np.not_equal(n, u), u[0] == n),
    "greatest": lambda u, n: max(u[0], n) > 1,
    "quotient": lambda u, n: (u / n, n / u, u[0] / n),
    "functions": lambda u, n: (np.hypot(u, n), np.copysign(u, n), np.arctan2(n, u)),
    "both": lambda u, n: (np.logical_and(u, n), np.logical_or(n, u), np.logical_xor(u, n)),
    "close": lambda u, n: np.isclose(u, n),
    "sum": lambda u, n: u + n,
    "clip from": lambda u, n: np.clip(u, n, 3),
    "clip to": lambda u, n: u.clip(None, n),
    "select": lambda u, n: np.select([u > 2], [u], n),
    "dot": lambda u, n: (np.dot(u, n), np.inner(n, u), u.dot(n)),
    "outer": lambda u, n: np.multiply.outer(u, n),
    "scalar type": lambda u, n: u.dtype.type(n),
    "array": lambda u, n: np.array([n, u[0]], u.dtype),
    "insert": lambda u, n: np.insert(u, 1, n),
    "range": lambda u, n: np.arange(n, n + 3, dtype=u.dtype),
    "range of floats": lambda u, n: np.arange(start=n, stop=n + 3, dtype=np.float32),
    "written": written,
    "slice": written_to_slice,
    "mask": written_by_mask,
    "list": written_as_list,
    "filled": filled,
    "put": put,
    "placed": placed,
    "padded": lambda u, n: np.pad(u, 1, constant_values=n),
    "putmask": put_by_mask,
    "copied": copied,
}


def outcome(f: Any, *args: Any) -> Any:
    """What a function gives, with types; or what it raises. (A compiled one does not know which number it is.)"""
    try:
        found = f(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])
    except (OverflowError, ValueError, TypeError) as error:
        return type(error), re.sub(r"integer -?\d+ ", "integer ", str(error)).partition(" (at")[0]
    found = found if isinstance(found, tuple) else (found,)
    return [(np.asarray(y).dtype, np.shape(y), np.asarray(y).tolist()) for y in found]


@pytest.mark.parametrize("dtype", [np.int8, np.uint64])
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_as_numpy(f, dtype):
    u = np.array([1, 2, 3], dtype)
    compiled = wg.jit(f)
    for n in (-1, 2, 300, -129):
        assert outcome(compiled, u, n) == outcome(f, u, n), n


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_constants(f):
    for dtype, n in ((np.int8, 300), (np.uint64, -1)):
        u = np.array([1, 2, 3], dtype)

        def of_constant(u, n=n):
            return f(u, n)

        assert outcome(wg.jit(of_constant), u) == outcome(of_constant, u)


def test_what_does_not_fit_raises_only_where_it_is_written():
    def f(u, x):
        if x > 0:
            u[0] = 300
        return u

    u = np.array([1, 2], np.int8)
    np.testing.assert_array_equal(wg.jit(f)(u, -1.0), u)
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        wg.jit(f)(u, 1.0)


def test_spaces_between_single_precision_and_pythons_integers():
    f = wg.jit(lambda u, n: np.linspace(u[0], n, 3))
    assert f(np.ones(2, np.float32), 3).dtype == np.linspace(np.float32(1), 3, 3).dtype == np.float32


def test_products_with_one_number_give_it_a_type():
    """Eagerly too: `np.dot` of a float32 array and a float is of float64, unlike `*`."""

    def f(x, c):
        return np.dot(x.astype(np.float32), c)

    x = np.array([1.0, 2.0])
    assert f(x, 2.0).dtype == wg.jit(f)(x, 2.0).dtype == wg.vmap(f, (None, 0))(x, np.ones(3)).dtype == np.float64
