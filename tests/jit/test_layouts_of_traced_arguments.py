"""How an argument lies in memory decides whether `ravel` is a view, also if it is traced by somebody else.

The reference is plain NumPy on an array that lies in the same way. What is not known is refused.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

A = np.arange(12.0).reshape(3, 4)
LAYOUTS = {
    "C": lambda: A.copy(),
    "Fortran": lambda: np.array(A, order="F"),
    "reversed": lambda: A[::-1].copy()[::-1],
    "gaps": lambda: np.repeat(A, 2, axis=1)[:, ::2],
}


def f(A):
    v = np.ravel(A)
    v[1] /= 2.0
    return np.sum(A)


OPERATORS = {
    "jit": lambda a: wg.jit(f)(a),
    "jvp(jit)": lambda a: wg.jvp(wg.jit(f), (a,), (np.ones((3, 4)),))[0],
    "jit(jvp)": lambda a: wg.jit(lambda a: wg.jvp(f, (a,), (np.ones((3, 4)),))[0])(a),
    "grad(jit)": lambda a: wg.value_and_grad(wg.jit(f))(a)[0],
    "vmap(jit)": lambda a: wg.vmap(wg.jit(f))(a[None])[0],
    "jvp": lambda a: wg.jvp(f, (a,), (np.ones((3, 4)),))[0],
    "vmap": lambda a: wg.vmap(f)(a[None])[0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_views_are_views_where_they_are_for_numpy(layout, operator):
    if layout in ("reversed", "gaps") and "jit" in operator:
        with pytest.raises(wg.errors.InPlaceError, match="ravel"):
            OPERATORS[operator](LAYOUTS[layout]())
    else:
        assert OPERATORS[operator](LAYOUTS[layout]()) == f(LAYOUTS[layout]())


def test_an_argument_that_is_overwritten_with_constants():
    def f(x):
        w = np.zeros(len(x))
        np.cos(w, out=x)
        return w

    x = np.arange(3.0)
    np.testing.assert_array_equal(wg.jit(f)(x), np.zeros(3))
    np.testing.assert_array_equal(x, np.ones(3))
