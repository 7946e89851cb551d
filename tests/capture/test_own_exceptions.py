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


def checked(x):
    if not np.isfinite(np.sum(x)):
        if np.any(np.isnan(x)):
            kind = "NaN"
        else:
            kind = f"infinity for {x.dtype!r}"
        message = f"Input contains {kind}."
        if np.any(np.isnan(x)):
            message += " Leave it out."
        raise ValueError(message)
    return np.sum(x**2)


def chosen_of_three(x):
    if x < 0:
        message = "low"
        if x < -1:
            message = "lower"
        if x < -2:
            message = "lowest"
        raise ValueError(message)
    return x**2


def test_messages_that_several_branches_have_made():
    for f in (checked, wg.jit(checked), wg.jit(wg.grad(checked))):
        f(np.array([1.0, 2.0]))
        with pytest.raises(ValueError, match="NaN. Leave it out."):
            f(np.array([1.0, np.nan]))
        with pytest.raises(ValueError, match=r"infinity for dtype\('float64'\)."):
            f(np.array([1.0, np.inf]))
    for f in (chosen_of_three, wg.jit(chosen_of_three)):
        assert f(np.float64(3.0)) == 9.0
        for at, text in ((-0.5, "low"), (-1.5, "lower"), (-2.5, "lowest")):
            with pytest.raises(ValueError, match=f"^{text}( |$)"):
                f(np.float64(at))
