"""`except TypeError` catches what a plain number would raise too."""

import numpy as np
import pytest

import wengert as wg

FAILING = {
    "None - x": lambda x: None - x,
    "x * None": lambda x: x * None,
    "x < None": lambda x: x < None,
    "x // None": lambda x: x // None,
    "text + x": lambda x: "a" + x,
    "x - text": lambda x: x - "a",
    "dict + x": lambda x: {} + x,
    "max": lambda x: max(x, None),
    "sum": lambda x: sum([x, None]),
    "call": lambda x: x(),
    "array": lambda x: np.array([x, 1.0]) - None,
}


class Soil:
    """Weights that are not known yet are None, and what follows from them is none either."""

    def __init__(self, wet, dry):
        self.wet, self.dry = wet, dry

    def moisture(self):
        try:
            return (self.wet - self.dry) / self.dry
        except TypeError:
            return None


@pytest.mark.parametrize("name", FAILING)
def test_what_fails_for_numbers_too(name):
    def f(x):
        try:
            return FAILING[name](x)
        except TypeError:
            return x * x

    for way in (wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: lambda x: wg.jvp(f, (x,), (1.0,))[1]):
        assert way(f)(1.5) == 3.0
    np.testing.assert_array_equal(wg.vmap(f)(np.array([1.5, 2.0])), [2.25, 4.0])


def test_what_is_not_known_yet():
    def f(dry):
        moistures = [Soil(wet, dry).moisture() for wet in (None, 3.0)]
        return sum(m for m in moistures if m is not None)

    for way in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(way(1.5), -3 / 1.5**2)


def raises(*args):
    raise ValueError(*args)


@pytest.mark.parametrize(
    "say",
    [lambda x: raises(x), lambda x: raises("bad", x), lambda x: raises("bad %r" % x), lambda x: raises(f"{x!r}")],  # noqa: UP031
)
def test_errors_of_users_name_values(say):
    def f(x):
        try:
            return say(x)
        except ValueError as error:
            return x * x + (error.args[-1] if not isinstance(error.args[-1], str) else x)

    for way in (wg.grad(f), wg.jit(wg.grad(f)), lambda x: wg.jvp(f, (x,), (1.0,))[1]):
        assert way(1.5) == 4.0
