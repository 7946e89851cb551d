"""`len(x)` and `if x:` of objects of users' classes, which data fill."""

import numpy as np
import pytest
from everywhere import check_everywhere

import wengert as wg


class Stack:
    def __init__(self):
        self.held = []

    def push(self, value):
        self.held.append(value)

    def pop(self):
        return self.held.pop()

    def __len__(self):
        return len(self.held)


def by_length(x):
    stack = Stack()
    for v in x:
        while len(stack) and stack.held[-1] < v:
            stack.pop()
        stack.push(v)
    return sum(stack.held) * len(stack)


def by_truth(x):
    stack = Stack()
    for v in x:
        while stack and stack.held[-1] < v:
            stack.pop()
        stack.push(v)
    return sum(stack.held) * (2.0 if stack else 1.0)


def of_known_length(x):
    stack = Stack()
    for v in x:
        stack.push(v * v)
    return stack.pop() * len(stack) + (3.0 if not Stack() else 5.0)


@pytest.mark.parametrize("f", [by_length, by_truth, of_known_length])
@pytest.mark.parametrize("x", [[0.3, 1.2, -0.7, 2.1], [1.4, -0.2, 0.9, -1.3], [3.0, 2.0, 1.0, 0.5]])
def test_everywhere(f, x):
    check_everywhere(f, x, vmap=False)


def test_in_a_batch():
    xs = np.array([[0.3, 1.2, -0.7, 2.1], [1.4, -0.2, 0.9, -1.3]])
    np.testing.assert_allclose(wg.vmap(wg.jit(by_length))(xs), [by_length(x) for x in xs])
