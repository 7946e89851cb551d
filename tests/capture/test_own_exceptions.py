"""Exceptions of the user's own classes, raised and caught in compiled code."""

import numpy as np
import pytest

import wengert as wg


class TooLarge(ValueError):
    """One with a constructor of its own."""

    def __init__(self, value, limit):
        super().__init__(f"{limit} is the limit")


def limited(x):
    if x > 2:
        raise TooLarge(x, 2)
    return x * x


def test_the_class_is_kept():
    assert wg.jit(limited)(1.0) == 1.0
    for f in (limited, wg.jit(limited), wg.jit(wg.grad(limited)), wg.grad(wg.jit(limited))):
        with pytest.raises(TooLarge, match="2 is the limit"):
            f(3.0)


def test_it_is_caught_by_its_class_and_by_its_base():
    def f(x, kind):
        try:
            if x > 2:
                raise TooLarge(x, 2)
            y = x * x
        except kind:
            y = 2 * x
        return y

    for kind in (TooLarge, ValueError):
        compiled = wg.jit(lambda x, kind=kind: f(x, kind))
        assert compiled(1.0) == 1.0
        assert compiled(3.0) == 6.0
        assert wg.jit(wg.grad(lambda x, kind=kind: f(x, kind)))(3.0) == 2.0


def test_a_local_class_is_raised_as_its_base():
    class Local(KeyError):
        pass

    def f(x):
        if x > 2:
            raise Local("too large")
        return np.sin(x)

    with pytest.raises(KeyError, match="Local"):
        wg.jit(f)(3.0)
