"""Objects that data choose: whether one is a certain object is answered as Python does, or refused."""

import enum

import numpy as np
import pytest
from jit.everywhere import agrees

import wengert as wg


class Phase:
    def __init__(self, rate):
        self.rate = rate


SLOW, FAST = Phase(1.0), Phase(2.0)


class Colour(enum.Enum):
    RED = 1.5
    BLUE = 2.5


def chosen(x):
    phase = SLOW if x > 1.2 else FAST
    other = SLOW
    if x < 1.0:
        other = FAST
    y = x * phase.rate if phase is SLOW else -x
    y += 10.0 if phase is other else 20.0
    y += 0.5 * x if phase in (FAST,) else 0.25 * x
    return y + (x * x if phase == FAST else 0.0) + (1.0 if other is not FAST and phase != other else 3.0)


def pair(x):
    first, second = (x, 1.0), (x, 2.0)
    which = first if x > 1.2 else second
    return which[1] * x + (1.0 if which is first else 2.0)


@pytest.mark.parametrize("f", [chosen, pair])
def test_identity_of_what_data_choose(f):
    agrees(f, 1.3)


def phases(x):
    phase, y = SLOW, 0.0
    for _ in range(6):
        if phase is SLOW:
            y += x
            if y > 3.0:
                phase = FAST
        else:
            y *= x
    return y


def colours(x):
    colour, y = Colour.RED, 0.0
    while y < 9.0:
        if colour is Colour.RED:
            y += x
            if y > 3.0:
                colour = Colour.BLUE
        else:
            y *= 1.5
    return y


def key(x):
    return {SLOW: x, FAST: 2.0}[SLOW if x > 1.2 else FAST]


@pytest.mark.parametrize("f", [phases, key])
@pytest.mark.parametrize("x", [1.3, 1.1])
def test_where_references_are_needed(f, x):
    assert wg.jit(f)(x) == f(x)
    assert wg.jit(wg.grad(f))(x) == pytest.approx(wg.grad(f)(x))


def member(x):
    colour = Colour.RED if x > 1.0 else Colour.BLUE
    return x * colour.value if colour is Colour.RED else -x


def test_members_of_enumerations_are_the_objects_that_they_are():
    f = wg.jit(member)
    for x in (1.3, 0.5, 1.3):
        assert f(x) == member(x)
        np.testing.assert_allclose(wg.grad(f)(x), 1.5 if x > 1.0 else -1.0)
