"""Simulations with their state in arrays that they write to: made by copying, by random generators, by arithmetic, held
by objects, lists and several names. Every mode, eagerly and compiled, against differences of the plain program.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np
import pytest

import wengert as wg
from wengert.errors import InPlaceError

START = np.array([1.0, -0.5, 0.25, 2.0])


class Particles:
    """Charges in a box: positions and velocities from a generator, forces in a work array."""

    def __init__(self, k):
        rng = np.random.default_rng(0)
        self.k, self.pos, self.vel = k, rng.uniform(-1, 1, size=(4, 2)), rng.normal(size=(4, 2))
        self.force = np.empty_like(self.pos)

    def forces(self):
        self.force[:] = 0.0
        for i in range(4):
            for j in range(4):
                if i != j:
                    d = self.pos[i] - self.pos[j]
                    self.force[i] += self.k * d / (0.5 + d @ d)

    def run(self, n):
        for _ in range(n):
            self.forces()
            self.vel += 0.01 * self.force
            self.pos += 0.01 * self.vel
        return np.sum(self.pos**2) + np.sum(self.vel)


class Wave:
    """The wave equation in leapfrog form: three arrays that change places."""

    def __init__(self, c):
        x = np.linspace(0, 1, 12)
        self.c, self.old = c, np.sin(np.pi * x)
        self.now = self.old.copy()
        self.new = self.old * 0.0

    def run(self, n):
        for _ in range(n):
            self.new[1:-1] = 2 * self.now[1:-1] - self.old[1:-1] + 0.1 * self.c**2 * (
                self.now[2:] - 2 * self.now[1:-1] + self.now[:-2]
            )  # fmt: skip
            self.old, self.now, self.new = self.now, self.new, self.old
        return np.sum(self.now**2)


class RecurrentCell:
    """A network with a hidden state that is overwritten, and weights from a generator that are scaled."""

    def __init__(self, scale):
        rng = np.random.default_rng(1)
        self.w, self.u = rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
        self.w *= scale
        self.h = np.zeros(3)

    def __call__(self, x):
        self.h[:] = np.tanh(self.w @ self.h + self.u @ x)
        return self.h

    def run(self, n):
        total = 0.0
        for x in np.random.default_rng(2).normal(size=(n, 2)):
            total = total + self(x)[0] ** 2
        return total


class Kalman:
    """A filter whose mean and covariance are updated in place, in the arrays of a dict."""

    def __init__(self, q):
        self.state = {"mean": START[:2].copy(), "cov": np.eye(2) * 2.0}
        self.q, self.f = q, np.array([[1.0, 0.1], [0.0, 1.0]])

    def run(self, n):
        for z in np.random.default_rng(3).normal(size=n):
            self.state["mean"][:] = self.f @ self.state["mean"]
            self.state["cov"][:] = self.f @ self.state["cov"] @ self.f.T + self.q * np.eye(2)
            gain = self.state["cov"][:, 0] / (self.state["cov"][0, 0] + 0.5)
            self.state["mean"] += gain * (z - self.state["mean"][0])
            self.state["cov"] -= np.outer(gain, self.state["cov"][0])
        return np.sum(self.state["mean"] ** 2) + np.trace(self.state["cov"])


class Automaton:
    """A lattice of coupled maps: the next generation is written into the other of two buffers."""

    def __init__(self, r):
        self.r, self.buffers = r, [np.random.default_rng(4).random(8), np.ones(8).astype(float)]

    def run(self, n):
        for t in range(n):
            a, b = self.buffers[t % 2], self.buffers[1 - t % 2]
            b[:] = a
            for i in range(8):
                b[i] += 0.1 * self.r * a[i] * (1 - a[i]) + 0.2 * (a[i - 1] - a[i])
        return np.sum(self.buffers[n % 2] ** 2)


class Stepper:
    """Runge and Kutta's method with a buffer for the stages."""

    def __init__(self, k):
        self.k, self.y, self.stages = k, START[:2].copy(), np.zeros((4, 2))

    def slope(self, y, out):
        out[0] = y[1]
        out[1] = -self.k * y[0] - 0.1 * y[1]

    def run(self, n):
        h = 0.05
        for _ in range(n):
            for s, c in enumerate((0.0, 0.5, 0.5, 1.0)):
                self.slope(self.y + c * h * self.stages[s - 1], self.stages[s])
            self.y += h / 6 * (self.stages[0] + 2 * self.stages[1] + 2 * self.stages[2] + self.stages[3])
        return self.y @ self.y


@dataclass
class Controller:
    """A PID controller; its memory is made by a default factory."""

    gain: float
    memory: np.ndarray = field(default_factory=lambda: np.full(3, 0.1))

    def run(self, n):
        x = 0.0
        for _ in range(n):
            e = 1.0 - x
            self.memory[2] = e - self.memory[0]
            self.memory[1] += 0.1 * e
            self.memory[0] = e
            x = x + 0.1 * (self.gain * e + 0.5 * self.memory[1] + 0.05 * self.memory[2])
        return x**2 + np.sum(self.memory)


class Momentum:
    """An optimiser with momentum on a quadratic, parameters in a list of arrays."""

    def __init__(self, rate):
        self.rate = rate
        self.params = [START.copy(), START[:2] * 3.0]
        self.velocity = [p * 0.0 for p in self.params]

    def run(self, n):
        for _ in range(n):
            for p, v in zip(self.params, self.velocity, strict=True):
                v *= 0.9
                v -= self.rate * (2 * p + np.cos(p))
                p += v
        return sum(np.sum(p**2) for p in self.params)


class Heat:
    """Heat in two dimensions, with boundary conditions, in a function that writes to what it is given."""

    def __init__(self, alpha):
        self.alpha, self.u = alpha, np.outer(START, START)

    @staticmethod
    def step(u, alpha):
        old = u.copy()
        u[1:-1, 1:-1] += 0.1 * alpha * (
            old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2] - 4 * old[1:-1, 1:-1]
        )  # fmt: skip
        u[0, :] = 1.0
        u[:, 0] = 2.0 * alpha
        u[-1, :] = u[-2, :]

    def run(self, n):
        for _ in range(n):
            self.step(self.u, self.alpha)
        return np.sum(self.u**2)


class Body:
    def __init__(self, mass, position):
        self.mass, self.position, self.velocity, self.next = mass, position, position * 0.1, None


class Chain:
    """Bodies in a linked list; each holds arrays that were given to it."""

    def __init__(self, stiffness):
        self.stiffness, self.first = stiffness, None
        for k in range(3):
            body = Body(1.0 + k, START[k : k + 2].copy())
            body.next, self.first = self.first, body

    def bodies(self):
        body = self.first
        while body is not None:
            yield body
            body = body.next

    def run(self, n):
        for _ in range(n):
            for body in self.bodies():
                other = body.next if body.next is not None else self.first
                pull = self.stiffness * (other.position - body.position) / body.mass
                body.velocity += 0.05 * pull
                body.velocity[0] *= 0.99
            for body in self.bodies():
                body.position[:] = body.position + 0.05 * body.velocity
        return sum(np.sum(body.position**2) for body in self.bodies())


SIMULATIONS = [Particles, Wave, RecurrentCell, Kalman, Automaton, Stepper, Controller, Momentum, Heat, Chain]


def slope_of(f, x):
    h = 1e-5
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda cls: cls.__name__)
def test_simulation(simulation):
    def f(k):
        return simulation(k).run(3)

    value, slope = f(0.7), slope_of(f, 0.7)
    for g in (wg.value_and_grad(f), wg.jit(wg.value_and_grad(f))):
        np.testing.assert_allclose(g(0.7), (value, slope), rtol=1e-7)
    np.testing.assert_allclose(wg.jvp(f, (0.7,), (1.0,)), (value, slope), rtol=1e-7)
    np.testing.assert_allclose(wg.jit(f)(0.7), value, rtol=1e-12)
    np.testing.assert_allclose(wg.grad(wg.grad(f))(0.7), slope_of(wg.grad(f), 0.7), rtol=1e-6, atol=1e-6)


# --------------------------------------------------------------------------------------------------- who sees a write

WRITES = {
    "slice": lambda a, k: a.__setitem__(slice(1, 3), k * a[:2]),
    "element": lambda a, k: a.__setitem__(0, k),
}


def two_names(k):
    a = START.copy()
    b = a
    a[1] = k
    a *= 2.0
    return b.sum()


def a_name_and_an_item(k):
    a = START * 2.0
    held = [a, a]
    held[0][1] = k * a[0]
    held[1] += k
    return a @ a


def a_name_and_an_attribute(k):
    a = np.sqrt(START**2)
    body = Body(1.0, a)
    body.position[:2] = k * a[2:]
    a += k
    return np.sum(body.position**2)


def a_view(k):
    a = START.copy()
    part = a[1:3]
    part[0] = k
    a[2] = k**2
    return part @ part + a.sum()


def used_before_it_is_written(k):
    a = START + 1.0
    y = k * a
    a[:] = y * k
    z = k * a
    a[0] = 100.0
    return np.sum(y * z)


def in_a_function(k):
    def fill(out, v):
        out[1:] += v * out[:-1]
        return out

    a = 1.0 + 0.5 * START
    b = fill(a, k)
    b[0] = k
    return a @ b


def of_lists_from_a_library(k):
    parts = np.split(START * 1.0, 2)
    q, r = np.linalg.qr(np.outer(START, START) + np.eye(4))
    parts[0][:] = k * parts[1]
    r[0] *= k
    q[:, 0] = k
    return np.sum(parts[0]) + np.sum(q @ r)


def of_a_deep_copy(k):
    state = copy.deepcopy({"a": START, "body": Body(1.0, START[:2])})
    other = state["a"]
    state["a"][0] = k
    state["body"].position += k
    return other @ other + np.sum(state["body"].position ** 2)


def in_a_container_that_is_filled_later(k):
    table, rows = {}, [None, None]
    table["a"] = START.copy()
    rows[1] = table["a"]
    rows[0] = START[[0, 1, 1]]
    table["a"][0] = k
    rows[1][1] += k
    rows[0][2] = k**2
    return np.sum(table["a"]) * np.sum(rows[0])


def with_setdefault_and_append(k):
    history, table = [], {}
    for _ in range(3):
        history.append(START.copy())
        table.setdefault("x", history[-1])
    table["x"][0] = k
    history[-1] *= k
    return sum(h @ h for h in history)


def of_iterators(k):
    total = 0.0
    for a in map(np.copy, [START, START]):
        b = a
        a[0] = k
        total = total + b.sum()
    for row in map(copy.copy, [START, START]):
        other = row
        row *= k
        total = total + other @ other
    return total


SEEN = [
    of_iterators,
    two_names, a_name_and_an_item, a_name_and_an_attribute, a_view, used_before_it_is_written, in_a_function,
    of_lists_from_a_library, of_a_deep_copy, in_a_container_that_is_filled_later, with_setdefault_and_append,
]  # fmt: skip


@pytest.mark.parametrize("f", SEEN, ids=lambda f: f.__name__)
def test_everyone_who_holds_an_array_sees_what_is_written(f):
    before = START.copy()
    value, slope = f(0.7), slope_of(f, 0.7)
    np.testing.assert_allclose(wg.value_and_grad(f)(0.7), (value, slope), rtol=1e-7)
    np.testing.assert_allclose(wg.jvp(f, (0.7,), (1.0,)), (value, slope), rtol=1e-7)
    np.testing.assert_allclose(wg.jit(f)(0.7), value, rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(0.7), slope, rtol=1e-7)
    np.testing.assert_array_equal(START, before)


COUNTS = np.array([1, 2, 3])


def test_names_of_arrays_of_integers_in_compiled_code():
    def f(k):
        total = 0
        for a in map(np.copy, [COUNTS, COUNTS]):
            b = a
            a[0] = k
            total = total + b.sum()
        return total

    assert wg.jit(f)(5) == f(5) == 20


# -------------------------------------------------------------------------------------------------------- from outside

OUTSIDE = Body(1.0, START.copy())
LIST = [START.copy()]


def an_attribute_of_an_object_outside(k):
    OUTSIDE.position[0] = k
    return k


def all_of_an_attribute_outside(k):
    OUTSIDE.position *= k
    return k


def an_item_of_a_list_outside(k):
    LIST[0][1:] = k
    return k


def all_of_an_item_outside(k):
    LIST[0] += k
    return k


def an_argument_that_is_handed_on(k):
    def inner(a):
        a[0] = k

    inner(LIST[0])
    return k


@pytest.mark.parametrize("f", [
    an_attribute_of_an_object_outside, all_of_an_attribute_outside, an_item_of_a_list_outside, all_of_an_item_outside,
    an_argument_that_is_handed_on,
], ids=lambda f: f.__name__)  # fmt: skip
def test_arrays_of_the_caller_are_refused_and_stay_as_they_are(f):
    before = LIST[0], LIST[0].copy(), OUTSIDE.position, OUTSIDE.position.copy()
    for g in (wg.grad(f), lambda k: wg.jvp(f, (k,), (1.0,))):
        with pytest.raises(InPlaceError, match="copy"):
            g(0.7)
    assert LIST[0] is before[0]
    assert OUTSIDE.position is before[2]
    np.testing.assert_array_equal(LIST[0], before[1])
    np.testing.assert_array_equal(OUTSIDE.position, before[3])
