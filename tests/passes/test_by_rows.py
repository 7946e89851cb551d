"""Sums into parts of large arrays, row by row: the same gradients."""

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
    leaves, key, rebuild, names = compiled._taken_apart(args, {})
    found, _ = compiled._version(leaves, key, rebuild, names)
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


def test_there_is_a_loop_over_rows():
    def added(n: int) -> list[Any]:
        block = gradient_block(reaction, np.zeros((n, n)))
        return [node for node in all_nodes(block) if node.op.name == "add_at" and node.args[1].type.ndim == 2]

    assert not added(80)
    assert added(20), "small arrays stay as they are"
