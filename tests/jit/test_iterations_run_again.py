"""Loops that data leave early, in branches that are run again in another way: no iteration is lost on the first."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError


def over_a_range(x):
    steps = []
    for _ in range(5):
        x = x * 0.5
        steps.append(x)
        if x < 0.3:
            break
    return x + len(steps)


def until_the_last_item(x):
    steps = []
    for _ in range(5):
        x = x * 0.5
        steps.append(x)
        if steps[-1] < 0.3:
            return x * sum(steps)
    return x


def over_a_list(x):
    steps = []
    for factor in [0.5, 0.7, 0.2, 0.9]:
        x = x * factor
        steps.append(x * x)
        if x < 0.5:
            break
    return x + sum(steps)


def over_pairs(x):
    steps = {"a": []}
    for k, (a, b) in enumerate(zip([0.5, 0.7, 0.2], [1.0, 2.0, 3.0], strict=True)):
        x = x * a
        steps["a"].append(b * x + k)
        if x < 0.5:
            break
    return sum(steps["a"])


def over_a_generator(x):
    steps = []
    for v in (0.1 * k for k in range(6)):
        x = x - v
        steps.append(x)
        if x < 0.5:
            break
    return sum(steps) * len(steps)


def over_an_array(x):
    steps = []
    for v in np.array([0.5, 0.7, 0.2, 0.9]) * x:
        x = x - 0.1 * v
        steps.append(v)
        if x < 1.5:
            break
    return x * sum(steps)


def one_in_another(x):
    steps = []
    for k in range(3):
        for v in [0.9, 0.8]:
            x = x * v
            steps.append(x + k)
            if x < 1.0:
                break
        if x < 0.8:
            break
    return sum(steps)


def newton(a):
    x, steps = 2.0, []
    for _ in range(12):
        step = (x**3 - a * x - 1) / (3 * x**2 - a)
        x -= step
        steps.append(abs(step))
        if steps[-1] < 1e-12:
            break
    return x


PROGRAMS = [
    over_a_range, until_the_last_item, over_a_list, over_pairs, over_a_generator, over_an_array, one_in_another, newton,
]  # fmt: skip
XS = np.array([1.7, 1.05, 2.3])  # they leave at different iterations


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_iteration_is_lost(f):
    values = [f(x) for x in XS]
    slopes = [(f(x + 1e-6) - f(x - 1e-6)) / 2e-6 for x in XS]
    np.testing.assert_allclose(list(map(wg.jit(f), XS)), values, rtol=1e-12)
    np.testing.assert_allclose(list(map(wg.jit(wg.grad(f)), XS)), slopes, rtol=1e-6)
    for g in (wg.jit(wg.vmap(f)), wg.vmap(wg.jit(f)), wg.vmap(f)):
        np.testing.assert_allclose(g(XS), values, rtol=1e-12)
    for g in (wg.jit(wg.vmap(wg.grad(f))), wg.vmap(wg.grad(wg.jit(f)))):
        np.testing.assert_allclose(g(XS), slopes, rtol=1e-6)


def test_an_iterator_that_is_left_early_is_not_used_again():
    def f(x):
        items = iter([1.0, 2.0, 3.0])
        total = 0.0
        for v in items:
            total += v * x
            if total > 3:
                break
        return total + sum(items)

    assert f(1.5) == 7.5
    with pytest.raises(StagingError, match="an iterator or generator is used again"):
        wg.jit(f)(1.5)
    np.testing.assert_allclose(wg.grad(f)(1.5), 3.0)
