"""`while` loops whose test is known before the first iteration only: `error = np.inf` before `while error > tol`.

The first iteration is one like the others then, and is not in the program once more, unless it is short. It is tried
out while the program is captured, which nobody must notice: here short ones are tried out and staged as well.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.capture import staged_loops


@pytest.fixture(params=[0, staged_loops._SHORT], ids=["all", "long"])
def shortest(request, monkeypatch):
    monkeypatch.setattr(staged_loops, "_SHORT", request.param)


def newton(x):
    size = np.inf
    count = 0
    z = 1.0
    while size > 1e-12 and count < 50:
        step = (np.cosh(z) - x) / np.sinh(z)
        z = z - step
        size = abs(step)
        count = count + 1
    return z


def with_break(x):
    z = 1.0
    while True:
        new = np.cosh(z) * 0.3 + x / 10
        if abs(new - z) < 1e-14:
            break
        z = new
    return z


def nested(x):
    size = np.inf
    z = 1.0
    while size > 1e-12:
        step = (np.cosh(z) - x) / np.sinh(z)
        worse = True
        damping = 2.0
        while worse:
            damping = damping / 2
            worse = abs(np.expm1(z - damping * step) - 5) > 10
        z = z - damping * step
        size = abs(damping * step)
    return z


def bound_in_the_loop(x):
    size = np.inf
    z = x
    while size > 1e-9:
        before = z
        z = 0.5 * (z + x / z)
        size = abs(z - before)
        last = z * 2
    return last + before


def special_in_the_first(x):
    k = 0
    total = x
    while total < 100:
        if k == 0:
            factor = np.tanh(x)
        total = total * 2 + factor
        k += 1
    return total * k


def of_another_kind_at_first(x):
    z = 0
    size = 1
    while size > 1e-6:
        new = np.stack([np.cos(x), np.sin(x)]) + 0.25 * z
        size = np.max(np.abs(new - z))
        z = new
    return np.sum(z)


def written_in_place(x):
    z = np.zeros(3)
    size = np.inf
    while size > 1e-10:
        before = z[0]
        z[1:] = z[:-1] * 0.3
        z[0] = np.cos(x) * 0.5 + 0.2 * z[1]
        size = abs(z[0] - before)
    return np.sum(z)


PROGRAMS = [
    newton, with_break, nested, bound_in_the_loop, special_in_the_first, of_another_kind_at_first, written_in_place,
]  # fmt: skip


@pytest.mark.usefixtures("shortest")
@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_derivatives(f):
    x = 1.7
    assert wg.jit(f)(x) == pytest.approx(f(x), rel=1e-14)
    assert wg.jit(f)(x).__class__ is f(np.float64(x)).__class__
    expected = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    for found in (wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.jit(wg.derivative(f)), wg.grad(f)):
        assert found(x) == pytest.approx(expected, rel=1e-6)
    examples = np.array([1.5, 1.7, 2.2])
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(examples), [f(e) for e in examples], rtol=1e-13)
    twice = wg.jit(wg.grad(wg.grad(f)))(x)
    assert twice == pytest.approx((wg.grad(f)(x + 1e-5) - wg.grad(f)(x - 1e-5)) / 2e-5, rel=1e-4, abs=1e-6)


def test_a_long_suite_is_in_the_program_once():
    def f(x):
        size = np.inf
        z = 1.0
        while size > 1e-12:
            step = (np.cosh(z) - x) / np.sinh(z)
            before = np.expm1(z - x) ** 2
            damping = 1.0
            after = np.inf
            while not after <= before and damping > 1e-6:
                damping = damping / 2
                there = z - damping * step
                after = np.expm1(there - x) ** 2 + 0.1 * np.tanh(there) + 0.01 * np.sin(there * x) ** 2 - 0.3
            z = z - damping * step
            size = abs(damping * step)
        return z

    text = str(wg.jit(f).lower(1.7).ir)
    assert text.count(" cosh(") == 1
    assert text.count(" tanh(") == 1
    assert wg.jit(f)(1.7) == pytest.approx(f(1.7), rel=1e-14)
    expected = (f(1.7 + 1e-6) - f(1.7 - 1e-6)) / 2e-6
    assert wg.jit(wg.grad(f))(1.7) == pytest.approx(expected, rel=1e-6)


def test_what_stays_known_is_known():
    """Integers that decide shapes: the loop is run while the program is captured."""

    def f(x):
        n = x.size
        while n > 1:
            n //= 2
            x = x[:n] + x[n : 2 * n]
        return x[0]

    assert wg.jit(f)(np.arange(32.0)) == np.sum(np.arange(32.0))


@pytest.mark.usefixtures("shortest")
def test_effects_of_the_first_iteration_happen_once(capsys):
    def f(x, rng):
        seen = []
        size = np.inf
        while size > 1:
            print("again")
            seen.append(size)
            size = x * rng.random()
        return size

    rng = np.random.default_rng(3)
    expected = f(4.0, rng)
    times = capsys.readouterr().out.count("again")
    found = wg.jit(lambda x: f(x, np.random.default_rng(3)))(4.0)
    assert found == expected
    assert capsys.readouterr().out.count("again") == times


@pytest.mark.usefixtures("shortest")
def test_what_is_raised_in_the_first_iteration():
    def f(x):
        size = np.inf
        while size > 1e-3:
            if np.isinf(size):
                raise ValueError("there is no start")
            size = x
        return size

    with pytest.raises(ValueError, match="no start"):
        wg.jit(f)(1.0)
