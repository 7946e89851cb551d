"""Every op of the table in pattern mode: the pattern holds every nonzero of its Jacobian, whether its operands are
known or not; and what is accumulated in slots is the Jacobian."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
from op_calls import CALLS, Call, floats

import wengert as wg
from wengert import tree
from wengert.errors import WengertError
from wengert.ops.derive import Control
from wengert.ops.op import TABLE

CROSS = np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])

DIFFERENTIABLE = [p for p in CALLS if floats(p.values[1]) and not isinstance(TABLE[p.values[0]], Control)]


def as_function(name: str, c: Call, places):
    def function(*xs):
        args = [c.before(a) if c.before and k in floats(c) else a for k, a in enumerate(c.args)]
        for k, x in zip(places, xs, strict=True):
            args[k] = c.before(x) if c.before else x
        y = TABLE[name](*args, **c.params)
        return c.after(y) if c.after else y

    return function


@pytest.mark.parametrize(("name", "c"), DIFFERENTIABLE)
def test_every_nonzero_of_the_jacobian_is_in_the_pattern(name, c):
    """With all operands differentiated together, and each alone, so that the others are known."""
    for places in {tuple(floats(c)), *[(k,) for k in floats(c)]}:
        f = as_function(name, c, places)
        xs = [np.asarray(c.args[k]) for k in places]
        argnums = tuple(range(len(xs)))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                dense = tree.leaves(wg.jacfwd(f, argnums)(*xs))
            except WengertError:
                continue
            for local in (True, False):
                try:
                    found = tree.leaves(wg.sparsity(f, argnums=argnums, local=local)(*xs))
                except WengertError:
                    assert not local
                    continue
                for pattern, block in zip(found, dense, strict=True):
                    nonzero = (np.nan_to_num(block) != 0).reshape(pattern.shape)
                    assert not (nonzero & ~pattern.toarray()).any(), local


@pytest.mark.parametrize(("name", "c"), DIFFERENTIABLE)
def test_what_is_accumulated_is_the_jacobian(name, c):
    f = as_function(name, c, floats(c))
    xs = [np.asarray(c.args[k]) for k in floats(c)]
    argnums = tuple(range(len(xs)))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            dense = tree.leaves(wg.jacfwd(f, argnums)(*xs))
            found = tree.leaves(wg.jacobian(f, argnums, "accumulate", sparse=True)(*xs))
        except WengertError:
            return  # it cannot be differentiated, or not be staged, or not be accumulated
        for sparse, block in zip(found, dense, strict=True):
            np.testing.assert_allclose(sparse.toarray(), np.reshape(block, sparse.shape), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["index", "store", "scatter", "add_at", "add_parts", "sum", "multiply", "where"])
def test_these_are_accumulated(name):
    """Not all of the above may give up."""
    calls = [p.values[1] for p in DIFFERENTIABLE if p.values[0] == name]
    done = 0
    for c in calls:
        f = as_function(name, c, floats(c))
        xs = [np.asarray(c.args[k]) for k in floats(c)]
        try:
            wg.jacobian(f, tuple(range(len(xs))), "accumulate", sparse=True)(*xs)
            done += 1
        except WengertError:
            pass
    assert done >= len(calls) / 2


@pytest.mark.parametrize(
    "f",
    [
        lambda x: scipy.ndimage.convolve(x, CROSS),
        lambda x: scipy.signal.convolve2d(x, CROSS, mode="same"),
        lambda x: scipy.signal.fftconvolve(x, np.ones((1, 2)), mode="valid", axes=1),
        lambda x: scipy.signal.lfilter([1.0, 0.5], [1.0, -0.3], x),
    ],
)
def test_filters_link_neighbours_only(f):
    """A Laplacian written as a convolution has five entries in a row, not all of them."""
    x = np.random.default_rng(0).normal(size=(4, 6))
    nonzero = wg.jacobian(f)(x).reshape(-1, x.size) != 0
    np.testing.assert_array_equal(wg.sparsity(f)(x).toarray(), nonzero)
    np.testing.assert_allclose(wg.jit(wg.jacobian(f, sparse=True))(x).toarray(), wg.jacobian(f)(x).reshape(-1, x.size))
