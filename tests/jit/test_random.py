"""Random programs: Python, the interpreter and native code agree, and derivatives are those of the eager modes.

The long variants are for hunting: WENGERT_RANDOM_PROGRAMS sets how many programs they draw.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jit.random_programs import imported, programs

import wengert as wg
from wengert.backend.execute import optimised
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import Program

MANY = int(os.environ.get("WENGERT_RANDOM_PROGRAMS", "25"))
some = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))
inputs = st.tuples(st.integers(0, 4), st.integers(-1, 5), st.sampled_from([0.7, -0.4, 1.3]), st.integers(0, 3))


def arguments(drawn: tuple) -> list[Any]:
    n, m, a, seed = drawn
    rng = np.random.default_rng(seed)
    return [rng.normal(size=6), rng.normal(size=(4, 5)), rng.integers(0, 4, size=5), n, m, a]


def copied(args: Any) -> list[Any]:
    return [x.copy() if isinstance(x, np.ndarray) else x for x in args]


def same(got: Any, expected: Any, rtol: float = 1e-9) -> None:
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def check_values(source: str, drawn: tuple) -> None:
    f = imported(source).f
    args = arguments(drawn)
    before = copied(args)
    expected = f(*args)
    compiled = wg.jit(f)
    native = copied(before)
    same(compiled(*native), expected)
    same(native, args)
    form = compiled._form(tuple(copied(before)), {})
    found, leaves = compiled._version(form), form.leaves
    program = optimised(found.block, found.name)
    check(Program(found.name, found.block))
    check(program)
    for block in (found.block, program.block):
        given = copied(leaves)
        results = run(block, [*given, *[path() for path in found.inputs]])
        n = len(results) - len(found.writes)
        written = dict(zip(found.writes, results[n:], strict=True))
        same(found.output(leaves, results[:n]), expected)
        same([written.get(k, x) for k, x in enumerate(leaves)], args)


def check_derivatives(source: str, drawn: tuple) -> None:
    f = imported(source).f
    x, A, k, n, m, a = arguments(drawn)

    def number(x: Any, A: Any, a: Any) -> Any:
        s, t, _, w = f(x, A, k, n, m, a)
        parts = [np.sum(y * np.cos(np.arange(1.0, y.size + 1).reshape(y.shape))) for y in (w, x, A)]
        return s + 2 * t + parts[0] + parts[1] + parts[2]

    expected = wg.grad(number, (0, 1, 2))(x.copy(), A.copy(), a)
    same(wg.jit(wg.grad(number, (0, 1, 2)))(x.copy(), A.copy(), a), expected, 1e-8)
    same(wg.grad(wg.jit(number), (0, 1, 2))(x.copy(), A.copy(), a), expected, 1e-8)
    dots = (np.cos(x), np.sin(A), 0.5)
    _, dot = wg.jit(lambda x, A, a: wg.jvp(number, (x, A, a), dots))(x.copy(), A.copy(), a)
    np.testing.assert_allclose(dot, sum(np.vdot(g, d) for g, d in zip(expected, dots, strict=True)), 1e-8, 1e-8)


@contextlib.contextmanager
def or_refused() -> Iterator[None]:
    """Values do not tell everything about arrays with several names; then an error says what to copy."""
    try:
        yield
    except wg.errors.StagingError as error:
        if ".copy()" not in str(error):
            raise


@some
@given(programs(depth=2), inputs)
def test_values(source, drawn):
    with or_refused():
        check_values(source, drawn)


@some
@given(programs(depth=2), inputs)
def test_derivatives(source, drawn):
    with or_refused():
        check_derivatives(source, drawn)


@pytest.mark.slow
@many
@given(programs(), inputs)
def test_values_of_many(source, drawn):
    with or_refused():
        check_values(source, drawn)


@pytest.mark.slow
@many
@given(programs(), inputs)
def test_derivatives_of_many(source, drawn):
    with or_refused():
        check_derivatives(source, drawn)
