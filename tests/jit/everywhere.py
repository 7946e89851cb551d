"""A function in every placement of `jit`, against what plain Python and NumPy compute.

The value is compared with the function itself, derivatives with central differences of it, and a batch with its
examples one by one. The functions are smooth where they are tried.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert import tree


def value(f: Callable, *args: Any) -> Any:
    return f(*copy.deepcopy(args))


def close(got: Any, expected: Any, rtol: float = 1e-9, atol: float = 1e-11) -> None:
    """Equal structures of nearly equal numbers."""
    got_leaves, got_structure = tree.flatten(got)
    leaves, structure = tree.flatten(expected)
    assert got_structure == structure, (got, expected)
    for a, b in zip(got_leaves, leaves, strict=True):
        if isinstance(b, (str, type)):
            assert a == b
        else:
            assert np.shape(a) == np.shape(b), (got, expected)
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=atol)


def total(y: Any) -> Any:
    """One number of all floating-point numbers in a result."""
    weights = iter(np.cos(np.arange(1.0, 200.0)))
    result = 0.0
    for leaf in tree.leaves(y):
        if np.shape(leaf) or isinstance(leaf, float) or (hasattr(leaf, "dtype") and leaf.dtype.kind == "f"):
            result = result + next(weights) * np.sum(leaf)
    return result


def differences(f: Callable, x: Any, *rest: Any, h: float = 1e-6) -> Any:
    """The gradient of `total(f(x, …))` in x, by central differences."""

    def of(x: Any) -> float:
        return float(total(value(f, x, *rest)))

    if not np.shape(x):
        return (of(x + h) - of(x - h)) / (2 * h)
    result = np.zeros(np.shape(x))
    for k in np.ndindex(*np.shape(x)):
        step = np.zeros(np.shape(x))
        step[k] = h
        result[k] = (of(x + step) - of(x - step)) / (2 * h)
    return result


def agrees(f: Callable, x: Any, *rest: Any, eager: bool = True, batch: bool = True, gradient: bool = True) -> None:
    """Try `f(x, *rest)` everywhere; x is a float or an array of floats."""
    expected = value(f, x, *rest)
    close(value(wg.jit(f), x, *rest), expected)
    if gradient:
        slope = differences(f, x, *rest)

        def g(x: Any, *rest: Any) -> Any:
            return total(f(x, *rest))

        placements = [wg.jit(wg.grad(g)), wg.grad(lambda x, *rest: total(wg.jit(f)(x, *rest)))]
        if eager:
            placements.append(wg.grad(g))
        for placement in placements:
            close(value(placement, x, *rest), slope, rtol=1e-5, atol=1e-6)
    if batch:
        xs = np.stack([np.asarray(x), np.asarray(x) * 1.1, np.asarray(x) * 0.7])
        one_by_one = [value(f, float(v) if not np.shape(v) else v, *rest) for v in xs]
        mapped = wg.jit(wg.vmap(lambda v: f(v, *copy.deepcopy(rest))))(xs)
        stacked = [np.stack(column) for column in zip(*map(tree.leaves, one_by_one), strict=True)]
        close(tree.leaves(mapped), stacked)
