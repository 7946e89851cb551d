"""Iterators that were made outside of a compiled function, and ones that a compiled function in another one makes."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest

import wengert as wg

OVER_IT = (2.0 * v for v in (1.0, 2.0))


class Stream:
    def __init__(self) -> None:
        self.items = iter([1.0, 2.0, 3.0])

    def following(self, x: float) -> float:
        return next(self.items) * x

    def first(self, x: float) -> Any:
        for item in self.items:
            return item * x

    def together(self, x: float) -> float:
        return sum(a * b for a, b in zip(self.items, [x, x], strict=False))

    def unpacked(self, x: float) -> float:
        a, *_ = self.items
        return a * x

    def as_an_array(self, x: float) -> Any:
        return np.array([*self.items]).sum() * x


def of_the_module(x: float) -> float:
    return sum(OVER_IT) * x


@pytest.mark.parametrize(
    "f",
    [Stream().following, Stream().first, Stream().together, Stream().unpacked, Stream().as_an_array,
     of_the_module],
)  # fmt: skip
@pytest.mark.parametrize("mode", [wg.jit, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
def test_an_iterator_from_outside_is_refused(f, mode):
    """Each call would go on where the one before has stopped; the compiled one would always give the same."""
    with pytest.raises(wg.errors.StagingError, match="from outside"):
        mode(f)(2.0)


def test_as_an_argument_and_in_a_variable_of_a_function_around_it():
    with pytest.raises(wg.errors.StagingError, match="from outside"):
        wg.jit(lambda x, items: next(items) * x)(2.0, iter([1.0, 2.0]))

    def around(x):
        items = iter([1.0, 2.0, 3.0])
        inner = wg.jit(lambda x: sum(v * x for v in items))
        return inner(x) + 2 * inner(x)

    for f in (around, wg.grad(around)):
        with pytest.raises(wg.errors.StagingError, match="from outside"):
            f(2.0)
    # Where the function around it is compiled, the iterator is one of its own: the second loop finds it used up.
    assert (wg.jit(around)(2.0), wg.jit(wg.grad(around))(2.0)) == (12.0, 6.0)


def test_iterators_of_objects_that_keep_none():
    """What is made inside, or made anew for each loop, is no iterator from outside."""

    class Series:
        def __init__(self, items: list) -> None:
            self.items = items

        def __iter__(self) -> Any:
            return iter(self.items)

    series, doubled = Series([1.0, 2.0]), [3.0, 4.0]

    def f(x):
        kept = iter(doubled)
        return sum(v * x for v in series) + next(kept) * x**2 + next(kept)

    for _ in range(2):
        assert wg.jit(f)(2.0) == f(2.0)
        assert wg.jit(wg.grad(f))(2.0) == wg.grad(wg.jit(f))(2.0) == 3 + 6 * 2.0


def grouped(x):
    s = 0.0
    for k, group in itertools.groupby(range(4), key=lambda i: i // 2):
        s += (k + 1) * sum(x[i] for i in group)
    return s


def grouped_in_a_branch(x):
    t = x[0]
    if x[2] > 1:
        for i, group in itertools.groupby(enumerate(x), key=lambda p: p[0] % 3 == 0):
            for k, e in group:
                t = np.tanh(t + 0.3 * e * k - i)
    return t


def caught(x):
    try:
        return refusing(x)[0]
    except ValueError:
        return x[0] * 2


@wg.jit
def refusing(x):
    if len(x) > 2:
        raise ValueError("too long")
    return x


@pytest.mark.parametrize("f", [grouped, grouped_in_a_branch, caught])
def test_a_compiled_function_in_another_one_is_no_branch_of_it(f):
    """What stands in the body of the inner function itself runs whenever that function does."""
    x = np.array([0.3, -0.7, 1.2, 0.4])
    want, slope = f(x), wg.jacfwd(f)(x)
    inner = wg.jit(f)
    for jitted in (inner, wg.jit(lambda x: inner(x)), wg.jit(lambda x: inner(x) if x[2] > 0 else x[0])):
        np.testing.assert_allclose(jitted(x), want)
        np.testing.assert_allclose(wg.jit(wg.grad(jitted))(x), slope)
        np.testing.assert_allclose(wg.jit(wg.vmap(jitted))(np.array([x, x])), [want, want])


def test_a_file_that_was_opened_outside(tmp_path):
    (tmp_path / "numbers").write_text("1\n2\n3\n")
    with (tmp_path / "numbers").open() as file:
        for f in (lambda x: x * float(next(file)), lambda x: sum(float(line) for line in file) * x):
            with pytest.raises(wg.errors.StagingError, match="opened outside"):
                wg.jit(f)(2.0)
        assert file.readline() == "1\n"


@pytest.mark.parametrize("read", [lambda: os.environ["SCALE_OF_A_TEST"], lambda: os.getenv("SCALE_OF_A_TEST", "1")])
def test_the_environment_is_read_at_each_call(read, monkeypatch):
    f = wg.jit(lambda x: x * float(read()))
    for scale in (2.0, 3.0):
        monkeypatch.setenv("SCALE_OF_A_TEST", str(scale))
        assert f(5.0) == 5.0 * scale
