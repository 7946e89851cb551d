"""Searches by comparisons lose the derivative of what they find, and say so; other programs that compare do not."""

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.errors import ConstantResultWarning


def bisection(a):
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle * middle > a:
            high = middle
        else:
            low = middle
    return a + middle


def bisection_by_products(a):
    f = lambda x: x**3 - a * x - 1
    low, high = 0.0, 3.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return a * middle


def bisection_by_signs(a):
    f = lambda x: x**3 - a * x - 1
    low, high = 0.0, 3.0
    while abs(f((high + low) / 2)) > 1e-8:
        middle = (low + high) / 2
        if np.sign(f(low)) != np.sign(f(middle)):
            high = middle
        else:
            low = middle
    return a * middle


def bisection_of_arrays(a):
    low, high = np.zeros(4), np.full(4, 3.0)
    for _ in range(50):
        middle = (low + high) / 2
        above = middle**3 > a * np.arange(1, 5)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return a * np.sum(middle)


def bisection_between_traced_ends(a):
    low, high = 0.0 * a, 2.0 + 0.0 * a
    for _ in range(60):
        middle = (low + high) / 2
        if middle * middle > a:
            high = middle
        else:
            low = middle
    return a + middle


def bisection_by_recursion(a, low=0.0, high=2.0):
    middle = (low + high) / 2
    if high - low < 1e-10:
        return middle * a
    return bisection_by_recursion(a, *((low, middle) if middle * middle > a else (middle, high)))


def golden_section(a):
    f = lambda x: (x - np.sin(a)) ** 2 + x**4
    low, high, part = 0.0, 3.0, (np.sqrt(5) - 1) / 2
    while high - low > 1e-8:
        c, d = high - part * (high - low), low + part * (high - low)
        if f(c) < f(d):
            high = d
        else:
            low = c
    return a * (low + high) / 2


def shooting(a):
    low, high = 0.0, 3.0
    for _ in range(40):
        y, v = 0.0, (low + high) / 2
        for _ in range(10):
            y, v = y + 0.1 * v, v - 0.1 * a * y
        if y > 1:
            high = (low + high) / 2
        else:
            low = (low + high) / 2
    return a * low


AT = 1.1


def derivative_of(f, forward):
    return wg.jvp(f, (AT,), (1.0,))[1] if forward else wg.grad(f)(AT)


FORWARD = pytest.mark.parametrize("forward", [False, True], ids=["reverse", "forward"])
SEARCHES = [bisection, bisection_by_products, bisection_by_signs, bisection_of_arrays, bisection_between_traced_ends,
            bisection_by_recursion, golden_section, shooting]  # fmt: skip


@FORWARD
@pytest.mark.parametrize("f", SEARCHES)
def test_a_search_says_that_a_derivative_is_missing(f, forward):
    with pytest.warns(ConstantResultWarning, match="found by comparisons(.|\n)*at .*test_searches.py"):
        derivative_of(f, forward)


def test_a_step_of_newton_has_the_derivative():
    def root(a):
        middle = bisection(wg.stop_gradient(a)) - wg.stop_gradient(a)
        return middle - (middle**2 - a) / (2 * middle)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(wg.grad(root)(2.0), 0.5 / np.sqrt(2), rtol=1e-14)


# -------------------------------------------------------------------------------- what compares, and loses nothing


def newton(a):
    x = 2.0
    for _ in range(40):
        y = x**3 - a
        x = x - y / (3 * x * x) if y > 0 else x - y / (3 * x**2)
    return x


def secant(a):
    f = lambda x: x**3 - a * x - 1
    x, z = 1.0, 3.0
    while abs(f(z)) > 1e-13:
        x, z = z, z - f(z) * (z - x) / (f(z) - f(x))
    return z


def false_position(a):
    f = lambda x: x**3 - a * x - 1
    low, high = 0.5, 3.0
    for _ in range(80):
        middle = (low * f(high) - high * f(low)) / (f(high) - f(low))
        if abs(f(middle)) < 1e-13:
            break
        if f(middle) * f(low) < 0:
            high = middle
        else:
            low = middle
    return middle


def gradient_descent(a):
    f = lambda x: (x - a) ** 2 + 0.1 * x**4
    x, rate = 3.0 + 0.0 * a, 1.0
    for _ in range(60):
        slope = 2 * (x - a) + 0.4 * x**3
        while f(x - rate * slope) > f(x) - 0.5 * rate * slope**2 and rate > 1e-10:
            rate *= 0.5
        x, rate = x - rate * slope, rate * 1.5
    return x


def crossings(a):
    y, v, total = 1.0 + 0.0 * a, 0.0, 0.0
    for _ in range(1500):
        v = v - 0.02 * (9 * a * y + 0.7 * v)
        y = y + 0.02 * v
        if y > 0:
            total = total + y
    return total


def bouncing(a):
    y, v = 1.0 + 0.0 * a, 0.0
    for _ in range(1500):
        v = v - 0.003 * 9.8
        y = y + 0.003 * v
        if y < 0:
            y, v = -y, -0.5 * a * v
    return y


def sorting(a):
    xs = [np.sin(a * k) for k in range(40)]
    for i in range(1, 40):
        while i > 0 and xs[i - 1] > xs[i]:
            xs[i - 1], xs[i] = xs[i], xs[i - 1]
            i -= 1
    return sum(k * x for k, x in enumerate(xs))


def adaptive_steps(a):
    t, y, h = 0.0, 1.0 + 0.0 * a, 0.1
    while t < 2:
        h = min(h, 2 - t)
        slope = -a * y
        other = -a * (y + h * slope)
        if abs(h * (other - slope) / 2) < 1e-4:
            t, y, h = t + h, y + h * (slope + other) / 2, h * 1.5
        else:
            h = h / 2
    return y


def fading(a):
    total = 0.0
    for k in range(200):
        z = a * (k % 7 - 3) * np.exp(-k / 10)
        total = total + (z if z > 0 else -0.1 * z)
    return total


CONVERGING = [newton, secant, false_position, gradient_descent, crossings, bouncing, sorting, adaptive_steps, fading]


@FORWARD
@pytest.mark.parametrize("f", CONVERGING)
def test_programs_that_follow_what_converges_say_nothing(f, forward):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slope = derivative_of(f, forward)
    differences = (f(AT + 1e-6) - f(AT - 1e-6)) / 2e-6
    if f not in (adaptive_steps, crossings, bouncing):  # which jump a little
        np.testing.assert_allclose(slope, differences, rtol=1e-5)
