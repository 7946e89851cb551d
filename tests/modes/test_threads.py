"""Several threads differentiating at once do not disturb each other.

There is no global state but the counter of tags, and drawing a tag is atomic. The interpreter is told to switch threads
as often as it can, so that differentiations really interleave.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.errors import EscapedValueError

THREADS = 8


@pytest.fixture(autouse=True)
def _eager_switching() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def together(jobs: list[Callable]) -> list:
    """The results of all jobs, started at the same moment in threads of their own."""
    barrier = threading.Barrier(len(jobs))

    def run(job: Callable) -> Any:
        barrier.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


def shared(x: Any) -> Any:
    for k in range(1, 30):
        x = np.sin(x) * x + np.sum(x) / k
    return np.sum(x * x)


OPERATORS = {
    "reverse": lambda f, x: wg.grad(f)(x),
    "forward": lambda f, x: wg.jvp(f, (x,), (np.ones_like(x),))[1],
    "forward on reverse": lambda f, x: wg.hvp(f)(x, np.ones_like(x)),
    "reverse on forward": lambda f, x: wg.hvp(f, mode="reverse-forward")(x, np.ones_like(x)),
    "reverse on reverse": lambda f, x: wg.hvp(f, mode="reverse-reverse")(x, np.ones_like(x)),
    "jacobian": lambda f, x: wg.jacobian(lambda x: np.stack([f(x), f(2 * x)]))(x),
    "hessian": lambda f, x: wg.hessian(f)(x),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_shared_function(name):
    operator = OPERATORS[name]
    points = [np.linspace(0.1, 0.5, 4) + 0.01 * k for k in range(THREADS)]
    serial = [operator(shared, x) for x in points]
    parallel = together([lambda x=x: operator(shared, x) for x in points])
    for a, b in zip(serial, parallel, strict=True):
        np.testing.assert_array_equal(a, b)


def test_different_operators_at_once():
    x = np.linspace(0.1, 0.5, 4)
    serial = [operator(shared, x) for operator in OPERATORS.values()]
    for _ in range(5):
        parallel = together([lambda operator=operator: operator(shared, x) for operator in OPERATORS.values()])
        for a, b in zip(serial, parallel, strict=True):
            np.testing.assert_array_equal(a, b)


def test_perturbations_of_different_threads():
    """The case of Siskind and Pearlmutter in every thread, many times: d/dx [x · d/dy (x + y)] = 1."""

    def confused() -> set:
        one = lambda D, E: D(lambda x: x * E(lambda y: x + y)(1.0))(1.0)
        forward = lambda f: lambda x: wg.jvp(f, (x,), (1.0,))[1]
        return {one(D, E) for _ in range(50) for D in (forward, wg.grad) for E in (forward, wg.grad)}

    assert together([confused] * THREADS) == [{1.0}] * THREADS


def test_one_pullback_used_by_all_threads():
    x = np.linspace(0.1, 1.0, 50)
    _, pullback = wg.vjp(lambda x: np.sin(x)[::2] * x[1::2], x)
    _, J = wg.linearize(lambda x: np.sin(x)[::2] * x[1::2], x)
    cts = [np.full(25, k + 1.0) for k in range(THREADS)]
    for k, (pulled, product) in enumerate(together([lambda ct=ct: (pullback(ct)[0], J.T @ ct) for ct in cts])):
        np.testing.assert_allclose(pulled, (k + 1) * pullback(np.ones(25))[0])
        np.testing.assert_allclose(product, pulled)


def test_a_differentiated_function_that_uses_threads():
    """The outer value is used in worker threads, each with an inner differentiation of its own: Σ d/dx [x·(k·x)]."""

    def outer(x: Any) -> Any:
        inner = lambda k: wg.grad(lambda y: k * x * y)(1.0)  # k·x
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(inner, range(20)))
        total = 0.0
        for part in parts:
            total = total + x * part
        return total

    assert wg.grad(outer)(3.0) == pytest.approx(2 * 3 * sum(range(20)))
    assert wg.jvp(outer, (3.0,), (1.0,))[1] == pytest.approx(2 * 3 * sum(range(20)))


def test_values_of_another_thread_are_caught_when_they_are_stale():
    kept: list = []
    wg.grad(lambda x: kept.append(x) or x * 1.0)(1.0)

    def use() -> str:
        with pytest.raises(EscapedValueError):
            kept[0] * 2
        return "refused"

    assert together([use] * THREADS) == ["refused"] * THREADS


def test_dataclasses_met_for_the_first_time_by_all_threads_at_once():
    for _ in range(20):

        @dataclass
        class Point:
            x: Any
            y: Any

        results = together([lambda: wg.grad(lambda p: p.x * p.y)(Point(2.0, 3.0))] * THREADS)
        assert results == [Point(3.0, 2.0)] * THREADS


def test_rules_of_the_users_own():
    sine = wg.custom_vjp(lambda x: np.sin(x))
    sine.defvjp(lambda x: (np.sin(x), x), lambda x, bar: (np.cos(x) * bar,))
    jobs = [lambda x=x: (wg.grad(sine)(x), wg.jvp(sine, (x,), (1.0,))[1]) for x in np.linspace(0, 1, THREADS)]
    for x, pair in zip(np.linspace(0, 1, THREADS), together(jobs), strict=True):
        assert pair == pytest.approx((math.cos(x), math.cos(x)))
