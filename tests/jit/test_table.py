"""Every op of the table through `jit`: value, forward and reverse mode are those of the eager modes.

The calls are the `EXAMPLES` of `tests/ops/test_table.py`, so a new op is tried here as soon as it has an example there.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from ops.test_table import CALLS, SMOOTH, as_function

import wengert as wg
from wengert.ops.op import TABLE

WITHOUT_VALUE: dict[str, str] = {}
"""Ops that cannot be part of a compiled program, and why."""

WITHOUT_DERIVATIVE: dict[str, str] = {
    "integral": "adaptive quadrature asks for the integrand where it likes, one point after the other",
    "logm": "how often the square root is taken depends on the matrix",
}
"""Ops whose derivatives cannot, and why."""

COMPLEX = {
    "roots": "NumPy gives real numbers if all roots are real; a program has one type, whatever the values",
}
"""Ops whose results are complex in a compiled program although NumPy's may be real, and why."""


DIFFERENTIABLE = [p for p in SMOOTH if p.values[0] not in {*WITHOUT_VALUE, *WITHOUT_DERIVATIVE}]
FIRST_OPTIMISED = [
    p if str(p.id).endswith("-0") else pytest.param(*p.values, id=p.id, marks=pytest.mark.light) for p in DIFFERENTIABLE
]
"""The same, where LLVM optimises the programs of one example of each op."""


MEANING = {"padded": lambda y, x: y[tuple([slice(n) for n in np.shape(x)])]}
"""Of ops that leave a part of their result as it happens to be: the rest of it."""


def test_exceptions_are_ops():
    assert {*WITHOUT_VALUE, *WITHOUT_DERIVATIVE, *COMPLEX, *MEANING} <= set(TABLE)


def with_meaning(name: str, f: Any) -> Any:
    part = MEANING.get(name)
    return f if part is None else lambda *xs: part(f(*xs), *xs)


def same(got: Any, expected: Any, dtypes: bool = True) -> None:
    got, expected = wg.tree.leaves(got), wg.tree.leaves(expected)
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape
        assert a.dtype == b.dtype or not dtypes
        if b.dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11)
        else:
            np.testing.assert_array_equal(a, b)


def tangents(xs: Any) -> tuple:
    rng = np.random.default_rng(5)
    return tuple([rng.uniform(-1, 1, np.shape(x))[()] for x in xs])


def cotangent(y: Any) -> Any:
    return np.cos(np.arange(1.0, np.size(y) + 1)).reshape(np.shape(y))[()].astype(np.asarray(y).dtype)


def quietly(f: Any, *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(*args)


@pytest.mark.parametrize(("name", "c"), CALLS)
def test_values(name, c):
    f, args = as_function(name, c)
    f = with_meaning(name, f)
    if name in WITHOUT_VALUE:
        with pytest.raises(wg.errors.WengertError):
            wg.jit(f)(*args)
        return
    same(quietly(wg.jit(f), *args), quietly(f, *args), dtypes=name not in COMPLEX)


@pytest.mark.light
@pytest.mark.parametrize(("name", "c"), DIFFERENTIABLE)
def test_forward_mode(name, c):
    f, args = as_function(name, c)
    f = with_meaning(name, f)
    dots = tangents(args)

    def pushed(*xs: Any) -> Any:
        return wg.jvp(f, xs, dots)

    expected = quietly(pushed, *args)
    same(quietly(wg.jit(pushed), *args), expected, dtypes=name not in COMPLEX)
    same(quietly(lambda *xs: wg.jvp(wg.jit(f), xs, dots), *args), expected, dtypes=name not in COMPLEX)


@pytest.mark.parametrize(("name", "c"), FIRST_OPTIMISED)
def test_reverse_mode(name, c):
    f, args = as_function(name, c)

    def pulled(*xs: Any) -> Any:
        y, pull = wg.vjp(f, *xs)
        return pull(wg.tree.map(cotangent, y))

    expected = quietly(pulled, *args)
    same(quietly(wg.jit(pulled), *args), expected, dtypes=name not in COMPLEX)
    y, pull = quietly(wg.vjp, wg.jit(f), *args)
    same(quietly(pull, wg.tree.map(cotangent, y)), expected, dtypes=name not in COMPLEX)
