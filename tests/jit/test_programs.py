"""Programs that authors write in plain NumPy: compiled they do the same, and so do their derivatives.

Each program (`jit/programs.py`) is compared with what Python and NumPy do: values, types, and the arrays it was given.
The reference interpreter runs the captured and the optimised program on the way.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from jit.programs import Program, load_all

import wengert as wg
from wengert import tree
from wengert.backend.execute import optimised
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import Program as IR

PROGRAMS = load_all()
every = pytest.mark.parametrize("name", list(PROGRAMS))
differentiable = pytest.mark.parametrize("name", [name for name, p in PROGRAMS.items() if p.wrt])
twice = pytest.mark.parametrize("name", [name for name, p in PROGRAMS.items() if p.second])
batched = pytest.mark.parametrize("name", [name for name, p in PROGRAMS.items() if p.batch])


def assert_same(got: Any, expected: Any, rtol: float = 1e-11, dtypes: bool = True) -> None:
    """Equal containers of equal values of equal types."""
    got_leaves, got_structure = tree.flatten(got)
    leaves, structure = tree.flatten(expected)
    assert got_structure == structure
    for a, b in zip(got_leaves, leaves, strict=True):
        if b is None or isinstance(b, str):
            assert a == b
            continue
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape
        if dtypes:
            assert a.dtype == b.dtype
        tolerance = 1e-4 if b.dtype in (np.float32, np.complex64) else rtol
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, np.max(np.abs(b), initial=0.0)))


def reduced(p: Program, args: tuple) -> Any:
    """The program as a function of what it is differentiated in, to one number: of its results and what it writes."""

    def f(*chosen: Any) -> Any:
        whole = list(args)
        for k, x in zip(p.wrt, chosen, strict=True):
            whole[k] = x
        result = p.f(*whole)
        total = 0.0
        for y in tree.leaves((result, [whole[k] for k in p.wrt])):
            if np.shape(y) and y.dtype.kind == "f":
                total = total + np.sum(y * np.cos(np.arange(1.0, np.size(y) + 1)).reshape(np.shape(y)))
            elif isinstance(y, float) or (hasattr(y, "dtype") and y.dtype.kind == "f"):
                total = total + y
        return total

    return f


def chosen(p: Program, args: tuple) -> tuple:
    return tuple(args[k] for k in p.wrt)


def copied(x: Any) -> Any:
    return tree.map(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, x)


def tangents(x: Any) -> Any:
    rng = np.random.default_rng(3)

    def one(leaf: Any) -> Any:
        y = rng.uniform(-1, 1, np.shape(leaf))
        return y.astype(leaf.dtype) if isinstance(leaf, (np.ndarray, np.generic)) else float(y)

    return tree.map(one, x)


@every
def test_values(name):
    """Values, types and effects, of the first call and of a second with other data."""
    p = PROGRAMS[name]
    compiled = wg.jit(p.f)
    for scale in (1.0, 0.9):
        args, compiled_args = p.fresh(scale), p.fresh(scale)
        expected = p.f(*args)
        assert_same(compiled(*compiled_args), expected)
        assert_same(compiled_args, args)
    assert sum(len(versions) for versions in compiled._versions.values()) == 1


@every
def test_interpreter(name):
    """The reference interpreter, on the program as captured and as optimised, which are well-formed."""
    p = PROGRAMS[name]
    args = p.fresh()
    expected = p.f(*args)
    compiled = wg.jit(p.f)
    fresh = p.fresh()
    form = compiled._form(fresh, {})
    found, leaves = compiled._version(form), form.leaves
    inputs = [*leaves, *[path() for path in found.inputs]]
    program = optimised(found.block, found.name)
    check(IR(found.name, found.block))
    check(program)
    for block in (found.block, program.block):
        results = run(block, copied(inputs))
        n = len(results) - len(found.writes)
        written = dict(zip(found.writes, results[n:], strict=True))
        after = [written.get(k, x) for k, x in enumerate(leaves)]
        assert_same(found.output(after, results[:n]), expected, dtypes=False)
        assert_same(tree.leaves(form.rebuild(after)[0]), tree.leaves(args), dtypes=False)


@functools.cache
def gradient(name: str) -> Any:
    """By ordinary reverse mode."""
    p = PROGRAMS[name]
    args = p.fresh()
    every = tuple(range(len(p.wrt)))
    return wg.value_and_grad(reduced(p, args), every)(*chosen(p, args))


@differentiable
def test_compiled_gradient(name):
    p = PROGRAMS[name]
    args = p.fresh()
    every = tuple(range(len(p.wrt)))
    got = wg.jit(wg.value_and_grad(reduced(p, args), every))(*copied(chosen(p, args)))
    assert_same(got, gradient(name), rtol=1e-9)


@pytest.mark.light
@differentiable
def test_gradient_of_compiled(name):
    p = PROGRAMS[name]
    args = p.fresh()
    every = tuple(range(len(p.wrt)))
    got = wg.value_and_grad(wg.jit(reduced(p, args)), every)(*copied(chosen(p, args)))
    assert_same(got, gradient(name), rtol=1e-9)


@pytest.mark.light
@differentiable
def test_forward_mode(name):
    """The directional derivative, compiled from the outside and from the inside, against the gradient."""
    p = PROGRAMS[name]
    args = p.fresh()
    f, xs = reduced(p, args), chosen(p, args)
    dots = tangents(xs)
    expected = sum(np.vdot(g, d) for g, d in zip(tree.leaves(gradient(name)[1]), tree.leaves(dots), strict=True))
    rtol = 1e-4 if any(np.asarray(x).dtype == np.float32 for x in tree.leaves(xs)) else 1e-9
    for g in (wg.jit(lambda xs, dots: wg.jvp(f, xs, dots)), lambda xs, dots: wg.jvp(wg.jit(f), xs, dots)):
        _, y_dot = g(copied(xs), dots)
        np.testing.assert_allclose(y_dot, expected, rtol=rtol, atol=rtol)


@pytest.mark.light
@twice
def test_second_order(name):
    """Hessian-vector products, compiled from the outside and from the inside."""
    p = PROGRAMS[name]
    args = p.fresh()
    f, xs = reduced(p, args), chosen(p, args)
    dots = tangents(xs)
    every = tuple(range(len(p.wrt)))
    expected = wg.jvp(wg.grad(f, every), copied(xs), dots)[1]
    for g in (
        wg.jit(lambda xs, dots: wg.jvp(wg.grad(f, every), xs, dots)[1]),
        lambda xs, dots: wg.jvp(wg.grad(wg.jit(f), every), xs, dots)[1],
        wg.jit(lambda xs, dots: wg.grad(lambda *xs: wg.jvp(f, xs, dots)[1], every)(*xs)),
    ):
        assert_same(g(copied(xs), dots), expected, rtol=1e-8)


@pytest.mark.light
@batched
def test_batches(name):
    """vmap of the compiled program, and the compiled vmap, with examples that take the same way through it."""
    p = PROGRAMS[name]
    args = p.fresh()
    f, xs = reduced(p, args), chosen(p, args)
    examples = [tree.map(lambda x, s=s: np.asarray(x) * s, xs) for s in (1.0, 0.97, 1.02)]
    expected = [f(*copied(example)) for example in examples]
    stacked = tree.map(lambda *parts: np.stack(parts), *examples)
    for g in (wg.vmap(wg.jit(f)), wg.jit(wg.vmap(f))):
        np.testing.assert_allclose(g(*copied(stacked)), expected, rtol=1e-5 if "single" in name else 1e-10)
