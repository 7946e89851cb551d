"""Branches whose results cannot be put together: compiled for the branch that is taken, and anew for the other."""

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError


def text_or_none(x):
    message = None
    if x > 2:
        message = "too large"
    return x * x if message is None else x + len(message)


class Solver:
    def __init__(self, x):
        self.x = x
        if x > 2:
            self.root = np.sqrt(x)
            self.note = "root"

    def value(self):
        return self.root * 3 if hasattr(self, "note") else self.x**3


def other_attributes(x):
    return Solver(x).value()


def other_axes(x):
    y = np.array([x, 2 * x])
    if x > 2:
        y = 5.0
    return np.sum(y * x)


def other_lengths(x):
    points = [x, x * x]
    if x > 2:
        points = [x, 1.0, x**3]
    return sum(points) * len(points)


def in_a_loop(x):
    y, state = x, "running"
    for k in range(20):
        y = 0.9 * y + 0.1 * k
        if y > 100 * x:
            state = None
    return y * (2.0 if state is None else 3.0)


def nested(x):
    kind = None
    if x > 0:
        kind = "positive"
        if x > 2:
            kind = ("large", x)
    return x * x if kind is None else x**3 if kind == "positive" else kind[1] * 5


PROGRAMS = [text_or_none, other_attributes, other_axes, other_lengths, in_a_loop, nested]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_each_call_is_right(f):
    value, slope, of_value = wg.jit(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))
    for x in (1.5, 3.0, 1.2, 1.1, 4.0, -1.0 if f is nested else 1.0):
        want = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(value(x), f(x), rtol=1e-14)
        np.testing.assert_allclose(slope(x), want, rtol=1e-7)
        np.testing.assert_allclose(of_value(x), want, rtol=1e-7)
        np.testing.assert_allclose(wg.jvp(wg.jit(f), (x,), (1.0,))[1], want, rtol=1e-7)


def test_examples_that_differ():
    np.testing.assert_allclose(wg.vmap(wg.jit(text_or_none))(np.array([1.0, 1.5])), [1.0, 2.25])
    try:
        found = wg.vmap(wg.jit(text_or_none))(np.array([1.0, 3.0]))
    except StagingError:
        return
    np.testing.assert_allclose(found, [1.0, 12.0])


def test_both_ways_in_one_call_are_refused():
    def f(x):
        total = 0.0
        for k in range(600):
            kind = [] if x * k > 3 else [x]
            total = total + (1.0 if not kind else x)
        return total

    with pytest.raises(StagingError, match="in one branch"):
        wg.jit(f)(0.1)


def told(x):
    print("begin", x)
    for k in range(2):
        print("before", k * x)
    known = {"large": x} if x > 2 else {}
    warnings.warn(f"{len(known)} known", UserWarning, stacklevel=2)
    message = None if x > 3 else "small"
    print("end", message)
    return x * x if not known else 2 * x


def test_what_a_program_tells_it_tells_once(capsys):
    def heard(f, x):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            y = f(x)
        return y, capsys.readouterr().out, [str(w.message) for w in warned]

    places = [wg.jit(told), wg.jit(wg.value_and_grad(told)), wg.value_and_grad(wg.jit(told))]
    for x in (1.0, 2.5, 4.0, 1.0):
        value, *want = heard(told, x)
        for f in places:
            found, *said = heard(f, x)
            assert said == want
            if isinstance(found, tuple):
                found, slope = found
                assert slope == (2 * x if x < 2 else 2.0)
            assert found == value


def test_what_a_program_has_asked_cannot_be_asked_again():
    rng = np.random.default_rng(0)

    def f(x):
        x = x + rng.normal()
        known = {"large": x} if x > 2 else {}
        return x if not known else 2 * x

    with pytest.raises(StagingError, match="in one branch"):
        wg.jit(f)(1.0)


def test_arguments_are_written_to_once():
    def f(x):
        x += 1.0
        kind = None
        if x[0] > 2:
            kind = "large"
        return x.sum() if kind is None else x.prod()

    g = wg.jit(f)
    for start in (0.5, 3.0, 0.5):
        mine, plain = np.full(3, start), np.full(3, start)
        assert g(mine) == f(plain)
        np.testing.assert_array_equal(mine, plain)


def test_what_goes_wrong_under_an_assumption_that_does_not_hold():
    def f(x):
        volatility = None
        if x > 2:
            volatility = {"value": x}
        if volatility is None:
            if x > 2:
                raise ValueError("no volatility")
            return x**2
        return volatility["value"] * 3

    def needs_it(x):
        found = None
        if x > 0:
            found = "root"
        if found is None:
            raise ValueError("there is no root")
        return x**2

    for x in (3.0, 1.0, 4.0):
        assert wg.jit(f)(x) == f(x)
    assert wg.jit(needs_it)(3.0) == 9.0
    assert wg.jit(wg.grad(needs_it))(3.0) == 6.0
    with pytest.raises((ValueError, StagingError)):
        wg.jit(needs_it)(-3.0)
