"""A mode is a file: modes made up here run through loops, branches and calls without rules of their own for them.

`Pair` carries two tangents beside the value, `Interval` a lower and an upper bound and no value at all. Nothing in
`control/` knows them.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.box.box import Box, outside
from wengert.modes.mode import Mode
from wengert.ops.derive import Control
from wengert.ops.op import call, fresh_tag
from wengert.running import entered
from wengert.types import aval_of


class Pair(Box):
    __slots__ = ()
    _state = ("_owner", "_value", "_tangent")

    def __init__(self, trace, value, tangents):
        self._owner, self._value, self._tangent = trace, value, tangents


class PairMode(Mode):
    """A value and its tangents along two directions."""

    name = "pair"
    companions = 2

    def __init__(self):
        self.tag, self.alive = fresh_tag(), True

    def fresh(self):
        return PairMode()

    def owns(self, x):
        return x.__class__ is Pair and x._owner is self

    def split(self, box):
        return [box._value, *box._tangent]

    def join(self, parts):
        return Pair(self, parts[0], tuple(parts[1:]))

    def constant(self, x):
        return [x, *[np.zeros(*aval_of(x))] * 2]

    def process(self, op, args, params):
        if not self.alive:
            return outside(self, op, args, params)
        if op.__class__ is Control:
            return op.lift(self, args, params)
        values = tuple([a._value if self.owns(a) else a for a in args])
        y = call(op, *values, **params)
        dots = [op.tangent(y, values, [a._tangent[k] if self.owns(a) else None for a in args], params) for k in (0, 1)]
        return y if dots[0] is None else Pair(self, y, tuple(dots))


class Interval(Box):
    __slots__ = ()
    _state = ("_owner", "_value", "_tangent")

    def __init__(self, trace, low, high):
        self._owner, self._value, self._tangent = trace, low, high


class IntervalMode(Mode):
    """Lower and upper bounds, for sums, differences and products."""

    name = "interval"
    companions = 1

    def __init__(self):
        self.tag, self.alive = fresh_tag(), True

    def fresh(self):
        return IntervalMode()

    def owns(self, x):
        return x.__class__ is Interval and x._owner is self

    def split(self, box):
        return [box._value, box._tangent]

    def join(self, parts):
        return Interval(self, *parts)

    def constant(self, x):
        return [x, x]

    def process(self, op, args, params):
        if not self.alive:
            return outside(self, op, args, params)
        if op.__class__ is Control:
            return op.lift(self, args, params)
        ends = [(a._value, a._tangent) if self.owns(a) else (a, a) for a in args]
        if op.name == "where":
            mask, (a, b), (c, d) = ends[0][0], *ends[1:]
            return Interval(self, call(op, mask, a, c), call(op, mask, b, d))
        if len(ends) == 1:
            found = [call(op, e, **params) for e in ends[0]]
        else:
            found = [call(op, x, y, **params) for x in ends[0] for y in ends[1]]
        assert op.name in ("add", "subtract", "multiply", "negative"), op.name
        low, high = found[0], found[0]
        for x in found[1:]:
            low, high = np.minimum(low, x), np.maximum(high, x)
        return Interval(self, low, high)


def recurrence(x):
    s = x
    for i in range(20):
        s = np.sin(s) * 0.9 + 0.1 * x * i
    return s


def late_activity(x):
    """Tangents reach the last of the carried values after several iterations only."""
    a, b, c, d = x, 1.0, 2.0, 3.0
    for _ in range(20):
        a, b, c, d = a * 1.01, a * 0.5, b * 2.0, c + d * 0.1
    return d * c + b


def arrays(x):
    out = np.zeros(15)
    for i in range(15):
        out[i] = x * i + (out[i - 1] ** 2 if i > 0 else 0.0) * 0.01
    return np.sum(out * out)


def search(x):
    while x < 10:
        x = x * 1.3 + np.sin(x)
    return x


def branches(x):
    s = 0.0
    for i in range(15):
        if s * x > 4:
            s = s * 0.5
        elif i % 3 == 0:
            s = s + 1.0
        else:
            s = s + x * x
    return s


def constant_in_one_branch(x):
    if x > 1:
        return 2.0
    return x * x


inner = wg.jit(lambda x: np.sin(x) * x)


def calls(x):
    return inner(x) + inner(2.0) * x


PROGRAMS = [recurrence, late_activity, arrays, search, branches, constant_in_one_branch, calls]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.7, 1.3])
def test_two_companions(f, x):
    directions = 1.0, -2.5
    want = [wg.jvp(f, (x,), (d,)) for d in directions]
    mode = PairMode()
    with entered(mode):
        y = wg.jit(f)(mode.join([np.float64(x), *map(np.float64, directions)]))
        value, *dots = mode.split(y) if mode.owns(y) else mode.constant(y)
    assert value == pytest.approx(want[0][0], rel=1e-13)
    for dot, (_, expected) in zip(dots, want, strict=True):
        assert dot == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_bounds():
    def polynomial(x):
        s = 0.5
        for i in range(12):
            if i % 2 == 0:
                s = s * x - 0.3
            else:
                s = s - x * 0.1
        return s * s + x

    mode = IntervalMode()
    with entered(mode):
        low, high = mode.split(wg.jit(polynomial)(mode.join([np.float64(0.2), np.float64(0.4)])))
    values = [polynomial(x) for x in np.linspace(0.2, 0.4, 101)]
    assert low <= min(values) <= max(values) <= high
    assert high - low < 3.0


def test_modes_nest():
    """A mode over forward mode, and in a batch."""

    def second(x):
        mode = PairMode()
        with entered(mode):
            y = wg.jit(recurrence)(mode.join([x, np.float64(1.0), np.float64(2.0)]))
            return mode.split(y)[2]

    _, got = wg.jvp(second, (0.4,), (1.0,))
    assert got == pytest.approx(2 * wg.grad(wg.grad(recurrence))(0.4), rel=1e-10)
    x = np.array([0.2, 0.5])
    np.testing.assert_allclose(wg.vmap(second)(x), [2 * wg.grad(recurrence)(v) for v in x], rtol=1e-12)
