"""Sums into overlapping parts of an array, put together: the same gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.backend.execute import optimised
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import Block, Program, all_nodes


def gradient_block(f: Any, *args: Any) -> Block:
    """The optimised program of a gradient."""
    compiled = wg.jit(wg.grad(f))
    found = compiled._version(compiled._form(args, {}))
    program = optimised(found.block, found.name)
    check(Program(found.name, program.block))
    return program.block


def reaction(u):
    u = u.copy()
    for _ in range(6):
        inner = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = inner + 0.1 * (around - 4 * inner + inner * (1 - inner))
    return np.sum(u**3)


def of_different_heights(u):
    return np.sum(np.sin(u[2:] * u[:-2])) + np.sum(u[1:] * u[:-1]) + np.sum(u[:, 1:] * np.cos(u[:, :-1]))


def seen_between(u):
    """A part is read that others were added to."""
    v = u.copy()
    for _ in range(5):
        v[1:-1] = v[:-2] * v[2:] + np.sin(v[1:-1])
        v[:-1, 1:] = v[1:, :-1] + 0.5 * v[:-1, :-1]
    return np.sum(v)


def in_a_cube(u):
    v = u.copy()
    for _ in range(5):
        v[1:-1, 1:-1, 1:-1] = np.sin(v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1] * v[1:-1, :-2, 2:])
    return np.sum(v * v)


@pytest.mark.parametrize("f", [reaction, of_different_heights, seen_between])
@pytest.mark.parametrize("shape", [(66, 75)])
def test_gradients(f, shape):
    u = 0.3 * np.random.default_rng(0).normal(size=shape)
    expected = wg.grad(f)(u)
    np.testing.assert_allclose(run(gradient_block(f, u), [u])[0], expected, 1e-11, 1e-13)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(u), expected, 1e-11, 1e-13)


def test_more_axes():
    u = 0.3 * np.random.default_rng(0).normal(size=(17, 18, 19))
    np.testing.assert_allclose(run(gradient_block(in_a_cube, u), [u])[0], wg.grad(in_a_cube)(u), 1e-11, 1e-13)


def in_a_line(u):
    v = u.copy()
    for _ in range(4):
        v[2:-3] = np.sin(v[:-5]) * v[5:] + v[2:-3] + v[1:-4] ** 2
    return np.sum(v**2)


def swept(u):
    """The same in loops: rows, and planes of rows, become slices."""
    old, new = u.copy(), u.copy()
    for _ in range(3):
        for i in range(1, u.shape[0] - 1):
            for j in range(2, u.shape[1] - 1):
                new[i, j] = 0.3 * old[i, j] + old[i - 1, j - 1] * 0.2 + old[i + 1, j] - 0.7 * old[i, j - 2]
        old[:] = new
    return np.sum(old**3)


def swept_down(u):
    old, new = u.copy(), u.copy()
    for _ in range(2):
        for k in range(u.shape[0] - 2, 0, -1):
            for i in range(1, u.shape[1] - 1):
                for j in range(1, u.shape[2] - 1):
                    around = old[k - 1, i, j] + old[k + 1, i, j] + old[k, i - 1, j] + old[k, i + 1, j]
                    new[k, i, j] = 0.1 * around - 0.2 * old[k, i, j + 1] + 0.4 * old[k, i, j]
        old[:] = new
    return np.sum(old**3)


@pytest.mark.parametrize(
    ("f", "shape"), [(in_a_line, (40,)), (swept, (12, 15)), (swept, (13, 70)), (swept_down, (10, 11, 12))]
)
def test_other_shapes(f, shape):
    u = 0.5 * np.random.default_rng(1).normal(size=shape)
    block = gradient_block(f, u)
    assert any(node.op.name == "add_parts" for node in all_nodes(block))
    expected = wg.grad(f)(u)
    np.testing.assert_allclose(run(block, [u])[0], expected, 1e-11, 1e-13)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(u), expected, 1e-11, 1e-13)


def test_sums_are_put_together():
    def added(f: Any, *shape: int) -> list[Any]:
        return [node for node in all_nodes(gradient_block(f, np.zeros(shape))) if node.op.name == "add_at"]

    assert not added(reaction, 80, 80)
    assert not added(in_a_cube, 10, 10, 10)
    assert added(seen_between, 20, 20)


def test_parts_that_have_little_in_common_stay_apart():
    def f(u):
        v = u.copy()
        v[:10] = np.sin(u[:10]) * u[10:20] + u[20:]
        return np.sum(v**2)

    u = np.random.default_rng(0).normal(size=30)
    assert not any(node.op.name == "add_parts" for node in all_nodes(gradient_block(f, u)))
    np.testing.assert_allclose(wg.jit(wg.grad(f))(u), wg.grad(f)(u), 1e-12)
