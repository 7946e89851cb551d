"""Containers that a compiled function is given and changes: the caller sees it, whatever other names they have."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

import wengert as wg

STATE: dict = {}


class Holder:
    """Holds a dict that may be an argument as well."""

    def __init__(self):
        self.held: dict = {}


HOLDER = Holder()


def changed_as_argument(state, x):
    state["v"] += x
    return STATE["v"] * 2


def changed_outside(state, x):
    STATE["v"] += x
    return state["v"] * 2


def read_in_an_object(state, x):
    state["v"] = state["v"] * x
    return HOLDER.held["v"] + x


def new_key(state, x):
    state[f"w{len(state)}"] = x
    return sum(STATE.values())


def with_a_closure(state):
    def read(given, x):
        given["v"] = given["v"] + x
        return state["v"] * x

    return read


@pytest.mark.parametrize("f", [changed_as_argument, changed_outside, read_in_an_object, new_key, with_a_closure])
def test_a_container_that_is_given_and_found_outside(f):
    """It is one container; and a call that is given another one is compiled as before."""
    found = []
    for transform in (lambda f: f, wg.jit):
        STATE.clear()
        STATE["v"] = 1.0
        HOLDER.held = STATE
        function = transform(f(STATE) if f is with_a_closure else f)
        other = {"v": 3.0}
        values = [function(d, 0.5) for d in (STATE, STATE, other, STATE)]
        found.append((values, copy.copy(STATE), other))
    assert found[0] == found[1]


def test_what_a_loop_of_known_numbers_raises_is_caught_where_it_was_raised(rng):
    """Nothing in the loop depends on the argument, and it is computed at once: iterations before count."""

    def by_for(x, n):
        s, w, seen = 0.0, np.full(n, 0.5), []
        try:
            for i in range(9):
                s = np.tanh(s + w[i])
                seen.append(s)
        except IndexError:
            s = s + 10
        return s * x[0] + len(seen)

    def by_while(x, n):
        s, i, w = 0.0, 0, np.full(n, 0.5)
        try:
            while i < 1000:
                s = s + w[i]
                i += 1
        except IndexError:
            pass
        return s * x[0] + i

    x = rng.normal(size=2)
    for f in (by_for, by_while):
        for n in (1, 3, 40):
            g = lambda x, f=f, n=n: f(x, n)
            assert wg.jit(g)(x) == pytest.approx(g(x))
            np.testing.assert_allclose(wg.jit(wg.grad(g))(x), wg.grad(g)(x))
        with pytest.raises(IndexError):
            wg.jit(lambda x: np.sum([np.zeros(2)[i] for i in range(3)]) * x[0])(x)


@dataclasses.dataclass
class Branch:
    weight: float
    parts: list = dataclasses.field(default_factory=list)


def step(state, x):
    state["v"] = state["v"] - x * state["m"]["rate"]
    return state


def in_several_places(state, x):
    state["m"]["rate"] *= x
    state["n"] = len(state)
    return state["m"], [state, state["m"]], x


def moved(state, x):
    state["rows"][1][0] = x
    state["rows"].pop(0)
    return state["rows"][0], state


def an_object(state, x):
    state["tree"].parts[0].weight = x
    state["tree"].parts.append(Branch(x * 2))
    return state["tree"]


def one_of_them(state, x):
    state["v"] = x
    state["none"] = None
    return state["m"]


@pytest.mark.parametrize("f", [step, in_several_places, moved, an_object, one_of_them])
def test_a_container_that_is_given_and_returned(f):
    """The caller's own is returned, with what it holds after the call."""
    found = []
    for function in (f, wg.jit(f)):
        state = {"v": 3.0, "m": {"rate": 0.5}, "rows": [[1.0], [2.0, 3.0]], "tree": Branch(1.0, [Branch(2.0)])}
        own = [state, state["m"], state["tree"], state["rows"][1]]
        for x in (0.5, 2.0):
            y = function(state, x)
            kept = [id(part) for part in (y if isinstance(y, tuple) else (y,))]
            places = [[k for k, part in enumerate(own) if id(part) == key] for key in kept]
            found.append((copy.deepcopy(y), copy.deepcopy(state), places))
            if f is moved:
                break
    half = len(found) // 2
    assert found[:half] == found[half:]


@pytest.mark.parametrize(
    "transform", [lambda f: wg.grad(wg.jit(f)), lambda f: wg.jit(wg.grad(f)), lambda f: wg.jit(wg.grad(wg.jit(f)))]
)
def test_derivatives_of_what_is_returned(transform):
    f = lambda x: step({"v": x, "m": {"rate": x}}, x * x)["v"] ** 2
    compiled = wg.jit(step)
    g = lambda x: compiled({"v": x, "m": {"rate": x}}, x * x)["v"] ** 2
    x = 1.5
    for h in (f, g):
        assert transform(h)(x) == pytest.approx(2 * (x - x**3) * (1 - 3 * x**2), rel=1e-14)
