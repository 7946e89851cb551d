"""Reverse mode through loops over rows of a sparse matrix: what is read again is not kept with room for the longest."""

import numpy as np
import pytest

import wengert as wg


def rows(n, per_row, rng):
    """Pointers, columns and entries; some rows are empty."""
    pointers = np.concatenate([[0], np.cumsum(rng.integers(0, 2 * per_row, n))])
    nonzeros = pointers[-1]
    return pointers, rng.integers(0, n, nonzeros), rng.normal(size=nonzeros), rng.normal(size=n)


def product(v, x, pointers, columns):
    y = np.zeros(len(pointers) - 1)
    for i in range(len(y)):
        y[i] = v[pointers[i] : pointers[i + 1]] @ x[columns[pointers[i] : pointers[i + 1]]]
    return np.sum(y**2)


def of_functions(v, x, pointers, columns):
    y = np.zeros(len(pointers) - 1)
    s = 1.0
    for i in range(len(y)):
        a, b = pointers[i], pointers[i + 1]
        y[i] = np.sum(np.exp(-s * np.sin(v[a:b])) * x[columns[a:b]])
        s = np.tanh(s + y[i])
    return np.sum(y**2)


def repeated(v, x, pointers, columns):
    """The product is written to what the next one reads."""
    for _ in range(5):
        y = np.zeros(len(pointers) - 1)
        for i in range(len(y)):
            a, b = pointers[i], pointers[i + 1]
            y[i] = np.tanh(v[a:b] @ x[columns[a:b]])
        x = y + 0.1 * x
    return np.sum(x**2)


def in_place(v, x, pointers, columns):
    """Rows read what rows before have written."""
    x = x.copy()
    for i in range(len(x)):
        a, b = pointers[i], pointers[i + 1]
        x[i] = np.sin(np.sum(v[a:b] * x[columns[a:b]]))
    return np.sum(x**2)


FUNCTIONS = [product, of_functions, repeated, in_place]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(f, rng):
    pointers, columns, v, x = rows(9, 3, rng)
    want = wg.grad(f, argnums=(0, 1))(v, x, pointers, columns)
    found = wg.jit(wg.grad(f, argnums=(0, 1)))(v, x, pointers, columns)
    direction = rng.normal(size=len(v)), rng.normal(size=len(x))
    slope = wg.jit(lambda t: f(v + t * direction[0], x + t * direction[1], pointers, columns))
    h = 1e-5
    difference = (8 * (slope(h) - slope(-h)) - (slope(2 * h) - slope(-2 * h))) / (12 * h)
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found[0] @ direction[0] + found[1] @ direction[1], difference, rtol=1e-7)


def largest(block):
    """The elements of the largest array of a program, where lengths that vary count as the largest."""
    types = [out.type for node in block.nodes for out in node.outs]
    sizes = [np.prod([n if isinstance(n, int) else n.bound for n in t.shape]) for t in types]
    return max([*sizes, *[largest(inner) for node in block.nodes for inner in node.blocks]], default=0)


@pytest.mark.parametrize("f", [product, of_functions, repeated], ids=lambda f: f.__name__)
def test_memory_is_that_of_the_nonzeros(f, rng):
    """Room for the longest row in every row would be 500 million numbers."""
    pointers, columns, v, x = rows(5000, 20, rng)
    program = wg.jit(wg.grad(f)).lower(v, x, pointers, columns).program
    assert largest(program.block) <= max(len(v), 5 * len(x))
