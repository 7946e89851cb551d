"""`check_gradients` accepts what is right and finds what is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.api.check import GradientCheckError
from wengert.errors import WengertError

X = np.array([0.3, -1.2, 2.0])


def with_slope(factor: float) -> Any:
    """sin with a derivative that is wrong by a factor."""
    sine = wg.custom_jvp(lambda x: np.sin(x))
    sine.defjvp(lambda p, d: (np.sin(p[0]), factor * np.cos(p[0]) * d[0]))
    return sine


def with_cotangent(factor: float) -> Any:
    sine = wg.custom_vjp(lambda x: np.sin(x))
    sine.defvjp(lambda x: (np.sin(x), x), lambda x, bar: (factor * np.cos(x) * bar,))
    return sine


def wrong_second_derivative() -> Any:
    """The first derivative is right; its own derivative, by a rule of its own, is not."""
    sine, cosine = wg.custom_jvp(lambda x: np.sin(x)), wg.custom_jvp(lambda x: np.cos(x))
    sine.defjvp(lambda p, d: (sine(p[0]), cosine(p[0]) * d[0]))
    cosine.defjvp(lambda p, d: (cosine(p[0]), sine(p[0]) * d[0]))
    return sine


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("modes", [("forward",), ("reverse",), ("forward", "reverse")])
def test_right_derivatives_pass(order, modes):
    wg.check_gradients(lambda x: np.sin(x) * x[0], X, order=order, modes=modes)
    wg.check_gradients(with_slope(1.0), X, order=order, modes=modes)
    wg.check_gradients(with_cotangent(1.0), X, order=order, modes=modes)


@pytest.mark.parametrize("wrong", [with_slope(1.01), with_cotangent(1.01), with_slope(-1.0), with_slope(0.0)])
@pytest.mark.parametrize("modes", [("forward",), ("reverse",), ("forward", "reverse")])
def test_wrong_derivatives_are_found(wrong, modes):
    with pytest.raises(GradientCheckError, match=f"{modes[0]} mode"):
        wg.check_gradients(wrong, X, modes=modes, order=1)


def test_wrong_second_derivatives_are_found_from_order_two():
    wg.check_gradients(wrong_second_derivative(), X, order=1)
    with pytest.raises(GradientCheckError, match="of forward mode"):
        wg.check_gradients(wrong_second_derivative(), X)
    with pytest.raises(GradientCheckError, match="of reverse mode"):
        wg.check_gradients(wrong_second_derivative(), X, modes=["reverse"])


def test_the_error_names_the_leaf_and_the_numbers():
    wrong = with_slope(2.0)
    with pytest.raises(GradientCheckError) as info:
        wg.check_gradients(lambda p: p["a"] * wrong(p["b"]), {"a": 2.0, "b": 0.5}, order=1)
    message = str(info.value)
    assert "args[0]['b']" in message
    assert "remedy" in message
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", message)]
    assert any(a == pytest.approx(2 * b) for a in numbers for b in numbers if b)
    assert isinstance(info.value, AssertionError)
    assert isinstance(info.value, WengertError)


def test_derivatives_cut_off_are_found():
    with pytest.raises(GradientCheckError):
        wg.check_gradients(lambda x: x * wg.stop_gradient(x), X)


def test_jumps_are_found():
    """The derivative of a staircase is zero wherever it has one, and differences across a step are not."""
    wg.check_gradients(lambda x: np.floor(x) + x, np.array([0.5]))
    with pytest.raises(GradientCheckError):
        wg.check_gradients(lambda x: np.floor(x) + x, np.array([1.0]), order=1)


@dataclass
class Pair:
    a: Any
    b: Any


def test_containers_and_arguments_that_are_not_floating():
    wg.check_gradients(lambda p, n, s: {"y": p.a**n, "z": [p.b * p.a]}, Pair(2.0, X), 3, "text")
    wg.check_gradients(lambda x, mask: np.where(mask, x**2, -x), X, np.array([True, False, True]))
    wg.check_gradients(lambda x, n: x * n, 2.0, np.arange(3))


def test_single_precision_is_checked_as_closely_as_it_can_be():
    wg.check_gradients(lambda x: np.sin(x) * x, X.astype(np.float32))
    with pytest.raises(GradientCheckError):
        wg.check_gradients(with_slope(1.2), X.astype(np.float32), order=1)


def test_tolerances():
    wrong = with_slope(1.001)
    with pytest.raises(GradientCheckError):
        wg.check_gradients(wrong, X, order=1)
    wg.check_gradients(wrong, X, order=1, rtol=0.01)
    wg.check_gradients(wrong, X, order=1, rtol=0, atol=0.01)


def test_shapes_of_all_kinds():
    wg.check_gradients(lambda x: x**3, 2.0)
    wg.check_gradients(lambda x: x**3, np.float64(2))
    wg.check_gradients(lambda x: np.sum(x**3, axis=0), np.ones((2, 3)))
    wg.check_gradients(lambda x: x**3, np.zeros((0, 2)))
    wg.check_gradients(lambda x, y: (x @ y, y), np.ones((2, 3)), np.ones(3))


def test_arguments_are_not_changed():
    x = X.copy()
    wg.check_gradients(lambda x: np.sin(x), x)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("modes", [(), ("backward",), ("forward", "sideways")])
def test_unknown_modes(modes):
    with pytest.raises(ValueError, match="modes"):
        wg.check_gradients(np.sin, X, modes=modes)
