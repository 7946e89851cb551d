"""Objects from which there is a way back to themselves: parents and children, made in compiled functions."""

import numpy as np
import pytest

import wengert as wg


class Node:
    def __init__(self, value, parent=None):
        self.value, self.parent, self.child = value, parent, None
        if parent is not None:
            parent.child = self


def made(kind, x):
    if kind == "pair":
        parent = Node(x)
        Node(x * 2, parent)
        return parent
    if kind == "one":
        return Node(x)
    raise ValueError(kind)


def returned_early(x):
    parent = made("pair", x)
    return parent.value * parent.child.value


def read_in_a_branch(x):
    parent = made("pair", x)
    y = 0.0
    if x > 1:
        y = parent.child.value * 2
    for k in range(3):
        y = y + parent.child.parent.value * k
    return y


def changed_in_a_branch(x):
    parent = made("pair", x)
    if x > 1:
        parent.value = parent.value * 2
        parent.child.value = parent.value + 1
    return parent.value * parent.child.value


def changed_in_a_loop(x):
    parent = made("pair", x)
    for _ in range(4):
        parent.child.value = parent.child.value * x
    return parent.child.value * parent.value


@pytest.mark.parametrize("f", [returned_early, read_in_a_branch, changed_in_a_branch, changed_in_a_loop])
@pytest.mark.parametrize("x", [0.7, 3.0])
def test_value_and_derivative(f, x):
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    for value, g in (wg.value_and_grad(f)(x), wg.jit(wg.value_and_grad(f))(x), wg.value_and_grad(wg.jit(f))(x)):
        np.testing.assert_allclose(value, f(x), rtol=1e-14)
        np.testing.assert_allclose(g, slope, rtol=1e-7)
