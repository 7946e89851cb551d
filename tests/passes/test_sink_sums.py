"""Sums that a loop adds to an array, added after it: the same gradients, in programs that do less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fuzz.nests import SIZE, nest_alone
from fuzz.program import imported

import wengert as wg
from wengert.backend.execute import optimised
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import Block, Program, all_nodes
from wengert.passes import sink_sums


def gradient_block(f: Any, *args: Any) -> Block:
    """The optimised program of a gradient."""
    compiled = wg.jit(wg.grad(f))
    found = compiled._version(compiled._form(args, {}))
    return optimised(found.block, found.name).block


def innermost_sums(block: Block) -> list[Any]:
    """What is added to single elements of arrays, anywhere."""
    return [n for n in all_nodes(block) if n.op.name == "add_at" and not n.args[1].type.shape]


def stencil(u):
    old, new = u.copy(), u.copy()
    for _ in range(5):
        for i in range(1, len(u) - 1):
            new[i] = 0.3 * old[i - 1] + 0.5 * old[i] + 0.1 * np.sin(old[i + 1])
        old[:] = new
    return np.sum(old**2)


def linear_stencil(u):
    old, new = u.copy(), u.copy()
    for _ in range(5):
        for i in range(1, len(u) - 1):
            new[i] = 0.3 * old[i - 1] + 0.5 * old[i] + 0.1 * old[i + 1]
        old[:] = new
    return np.sum(old**2)


def one_element(x):
    """The gradient adds to one element all the time, and has to compute sines in between."""
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = np.sin(y[0] * x[i]) * y[0]
    return np.sum(y**2)


def triangle(x):
    """Loops without iterations, at the beginning, and rows that end where the array does."""
    n = len(x)
    A = np.outer(x, x)
    s = 0.0
    for i in range(n):
        for j in range(i):
            s += A[i, j] * x[n - 1 - j] * A[i, i]
    return s


def prefix(x):
    """Later iterations read what earlier ones have written: this one stays a loop."""
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i] * y[i - 1] + x[i] * y[0]
    return np.sum(np.sin(y))


@pytest.mark.parametrize("f", [stencil, linear_stencil, one_element, triangle, prefix])
@pytest.mark.parametrize("n", [13])
def test_gradients(f, n):
    x = np.linspace(0.3, 1.4, n)
    expected = wg.grad(f)(x)
    block = gradient_block(f, x)
    check(Program("gradient", block))
    np.testing.assert_allclose(run(block, [x])[0], expected, 1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), expected, 1e-12)


def test_a_linear_stencil_works_on_slices():
    assert not innermost_sums(gradient_block(linear_stencil, np.ones(12)))


def test_one_element_is_added_up_in_a_variable():
    sums = innermost_sums(gradient_block(one_element, np.ones(12)))
    block = gradient_block(one_element, np.ones(12))
    inside = [n for node in block.nodes for b in node.blocks for n in all_nodes(b)]
    assert all(n not in inside or len(n.args) == 3 for n in sums)


@pytest.mark.parametrize("seed", range(12))
def test_random_nests(seed):
    f = imported(nest_alone(seed)).f
    X = np.random.default_rng(0).normal(size=(SIZE, SIZE))
    try:
        f(X)
    except IndexError:
        return
    before, sink_sums.FEWEST = sink_sums.FEWEST, 2
    try:
        block = gradient_block(f, X)
    finally:
        sink_sums.FEWEST = before
    np.testing.assert_allclose(run(block, [X])[0], wg.grad(f)(X), 1e-9, 1e-9)
