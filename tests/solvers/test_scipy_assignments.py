"""Assignments: the derivative of the smallest sum is one where a worker does a job, and zero elsewhere."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import wengert as wg

COST = np.random.default_rng(0).uniform(size=(4, 6))


@pytest.mark.parametrize("maximize", [False, True])
def test_the_smallest_sum(maximize):
    def total(c):
        rows, columns = linear_sum_assignment(c, maximize=maximize)
        return np.sum(c[rows, columns] ** 2)

    expected = np.zeros(COST.shape)
    places = linear_sum_assignment(COST, maximize)
    expected[places] = 2 * COST[places]
    for slope in (wg.grad(total), wg.jit(wg.grad(total)), wg.grad(wg.jit(total)), wg.jacfwd(total)):
        np.testing.assert_allclose(slope(COST), expected, rtol=1e-14)
    both = np.stack([COST, COST[::-1] ** 2])
    np.testing.assert_allclose(wg.vmap(total)(both), [total(c) for c in both], rtol=1e-14)
    np.testing.assert_allclose(wg.vmap(wg.grad(total))(both), [wg.grad(total)(c) for c in both], rtol=1e-14)
    matched = wg.jit(lambda c: linear_sum_assignment(c, maximize)[1])(COST)
    np.testing.assert_array_equal(matched, places[1])
