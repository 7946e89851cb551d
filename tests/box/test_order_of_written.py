"""What is written into an array does not change how it lies in memory; an iteration, which makes a new one, may."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

A = np.arange(9.0).reshape(3, 3) + 0.5
LAYOUTS = {
    "C": lambda: A.copy(),
    "F": lambda: np.asfortranarray(A),
    "every other column": lambda: np.repeat(A, 2, axis=1)[:, ::2],
    "a part": lambda: np.pad(A, 1)[1:-1, 1:-1],
    "backwards": lambda: A.copy()[::-1],
}


def out(x):
    y = np.zeros((3, 3))
    np.multiply(x.T, 2, out=y)
    return y


def mask(x):
    y = x.T * 1
    y[x > 3] = 0.0
    return y


def augmented(x):
    y = x.T * 1
    y += x
    return y


def augmented_plain(x):
    y = np.ones((3, 3), order="F")
    y *= x
    return y


def all_elements(x):
    y = x * 1
    y[:] = x.T
    return y


def copyto(x):
    y = np.zeros((3, 3))
    np.copyto(y, x.T)
    return y


def cumsum(x):
    y = x.T * 1
    np.cumsum(x, axis=0, out=y)
    return y


def argument_element(x):
    x[0, 0] = 1.0
    return x


def argument(x):
    x *= 2.0
    return x


PROGRAMS = (
    out,
    mask,
    augmented,
    augmented_plain,
    all_elements,
    copyto,
    cumsum,
    argument_element,
    argument,
    lambda x: x,
)
T = np.cos(A)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_written(layout: str) -> None:
    make = LAYOUTS[layout]
    for program in PROGRAMS:

        def f(x, program=program):
            y = program(x)
            y.ravel()[1] = 50.0
            return y

        def forward(x, f=f):
            return wg.jvp(f, (x,), (T,))[0]

        expected = f(make())
        np.testing.assert_array_equal(forward(make()), expected, program.__name__)
        np.testing.assert_array_equal(wg.vjp(f, make())[0], expected, program.__name__)
        many = wg.vmap(f)(np.stack([make(), make()]))
        np.testing.assert_array_equal(many[1], f(np.stack([make(), make()])[1]), program.__name__)
        for g in (f, forward):
            try:
                found = wg.jit(g)(make())
            except wg.errors.InPlaceError as error:
                assert layout not in ("C", "F")
                assert "lies in memory" in str(error)  # noqa: PT017
            else:
                np.testing.assert_array_equal(found, expected, program.__name__)


@pytest.mark.parametrize("make", [lambda: np.arange(5.0)[::-1], lambda: np.arange(9.0)[::2], lambda: np.arange(5.0)])
def test_rows_with_gaps(make) -> None:
    def f(x):
        w = x
        x.ravel()[...] += w
        x.reshape(-1)[1] = 7.0
        return w

    expected = f(make())
    np.testing.assert_array_equal(wg.jvp(f, (make(),), (np.ones(5),))[0], expected)
    np.testing.assert_array_equal(wg.vjp(f, make())[0], expected)
    try:
        found = wg.jit(f)(make())
    except wg.errors.InPlaceError as error:
        assert make().strides != (8,)
        assert "lies in memory" in str(error)  # noqa: PT017
    else:
        np.testing.assert_array_equal(found, expected)


def in_the_body(y, n):
    for _ in range(n):
        y = y.T * 2
        y.ravel()[1] = 100.0
    return y


def behind_the_loop(y, n):
    for _ in range(n):
        y = y.T * 2
    y.ravel()[1] = 100.0
    return y


def in_a_while(y, n):
    while n > 0:
        y = y.T * 2
        y.ravel()[1] = 100.0
        n = n - 1
    return y


def exchanged(y, n):
    z = y.T * 1
    for _ in range(n):
        y, z = z, y
        y.ravel()[1] = 7.0
    return y + z


def in_a_list(y, n):
    kept = [y]
    for _ in range(n):
        kept[0] = kept[0].T * 2
        kept[0].ravel()[1] = 7.0
    return kept[0]


def branch(y, n):
    z = y.copy()
    if n > 2:
        z = y.T * 3
    z.ravel()[1] = 5.0
    return z


@pytest.mark.parametrize("f", [in_the_body, behind_the_loop, in_a_while, exchanged, in_a_list, branch])
def test_an_order_that_changes_is_refused(f) -> None:
    for n in (2, 3):
        with pytest.raises(wg.errors.InPlaceError, match="lies in memory"):
            wg.jit(f)(A.copy(), n)


def test_an_order_that_does_not_change() -> None:
    def f(y, n):
        y = y.T * 1
        for _ in range(n):
            y = y * 2
            y.ravel()[1] = 100.0
        return y

    for n in (5, 6):
        np.testing.assert_array_equal(wg.jit(f)(A.copy(), n), f(A.copy(), n))
