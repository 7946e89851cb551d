"""What compiled code is told about the class of a value: that of what it is in plain Python."""

from __future__ import annotations

import collections
import numbers
from typing import NamedTuple

import numpy as np
import pytest

import wengert as wg

ARGUMENTS = [2.0, 2, True, 1j, np.float64(2.0), np.float32(2.0), np.int32(2), np.ones(3), np.ones((2, 2), int)]
S = (1, 2)
L = [1.0, 2.0]


class Point(NamedTuple):
    x: float
    y: float


P = Point(1.0, 2.0)
QUESTIONS = [
    lambda x: isinstance(x, float),
    lambda x: isinstance(x, (int, np.integer)),
    lambda x: isinstance(x, np.ndarray),
    lambda x: isinstance(x, (float, np.ndarray)),
    lambda x: isinstance(x, int | float),
    lambda x: isinstance(x, np.generic),
    lambda x: isinstance(x, numbers.Number),
    lambda x: isinstance(x, numbers.Real),
    lambda x: isinstance(x, numbers.Integral),
    lambda x: isinstance(x, collections.abc.Iterable),
    lambda x: isinstance(x * np.float64(2), np.float64),
    lambda x: isinstance(x * 2.0, float),
    lambda x: isinstance(np.sum(x), np.ndarray),
    lambda x: isinstance(np.sin(x), np.floating),
    lambda x: type(x) is float,
    lambda x: type(x) == np.ndarray,  # noqa: E721
    lambda x: x.__class__ is np.float32,
    lambda x: np.isscalar(x),
    lambda x: callable(x),
    lambda x: hasattr(x, "shape"),
    lambda x: hasattr(x, "__len__"),
    lambda x: hasattr(x, "is_integer"),
    lambda x: getattr(x, "shape", None) is None,
    lambda x: getattr(x, "nothing", 5) == 5,
    lambda x: isinstance(S, tuple),
    lambda x: isinstance(L, list),
    lambda x: isinstance(P, Point) and isinstance(P, tuple),
    lambda x: type(S) is tuple and type(L) is list,
]


@pytest.mark.parametrize("k", range(len(QUESTIONS)))
def test_answers(k):
    question = QUESTIONS[k]

    def f(x):
        return x * 2 if question(x) else x * 3

    for x in ARGUMENTS:
        np.testing.assert_array_equal(wg.jit(f)(x), f(x), err_msg=f"{type(x)}")
    for x in (2.0, np.float64(2.0), np.ones(3)):
        expected = 2.0 if question(x) else 3.0
        got = wg.jit(wg.grad(lambda x: np.sum(f(x))))(x)
        np.testing.assert_array_equal(got, np.full(np.shape(x), expected))


def test_the_class_is_called():
    def f(x, n):
        return type(x)(n) * x

    for x in (2.0, np.float32(3.0)):
        got = wg.jit(f)(x, 3)
        assert got == f(x, 3)
        assert np.asarray(got).dtype == np.asarray(f(x, 3)).dtype


def test_what_a_number_does_not_have():
    def f(x):
        try:
            return x * len(x.shape)
        except AttributeError:
            return x * 7

    assert wg.jit(f)(2.0) == 14.0
    np.testing.assert_array_equal(wg.jit(f)(np.ones((2, 2))), np.full((2, 2), 2.0))


def test_default_arguments():
    def f(x, args=(), more=[1.0]):  # noqa: B006
        return x if args == () and isinstance(args, tuple) and isinstance(more, list) else -x

    assert wg.jit(f)(2.0) == 2.0
