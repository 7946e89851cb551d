"""Conditions of `while` and `if` that bind names, or change something: compiled, they do what they do in Python."""

import numpy as np
import pytest

import wengert as wg


def bound_by_the_test(x):
    s = 1.0
    while (s := s * 1.5 + x * 0.01) < 8:
        pass
    return s


def read_after_the_loop(x):
    while (e := x * x) > 0.1:
        x = x * 0.7
    return x + 10 * e


def read_by_the_next_iteration(x):
    n, last = 0, 0.0
    while (e := x * x + last) > 0.3 and (n := n + 1) < 9:
        if n % 3 == 0:
            continue
        x, last = x * 0.7, e * 0.1
    return x * n + e


def with_else(x):
    c = 1.0
    for k in range(3):
        while (x := x * 0.7) > 0.2 + 0.05 * k:
            if x > 0.8:
                break
        else:
            c = c * 2 + x
    return x * c


def returned(x):
    while (x := x * 0.7) > 0.01:
        if x < 0.2:
            return 7 * x
    return x


def in_a_branch(x):
    if x > 0.1 and (y := 2 * x) > 0.5 and (z := y * y) < 100:
        return y * z
    if not (x < 0 or (y := 3 * x) > 1):
        return y
    return x


def bound_by_what_is_always_evaluated(x):
    s = 0.0
    for k in range(7):
        if (w := x - 0.31 * k) > 0 and w < 1.5:
            s += w
        t = (u := w * 2) > 0 and u * 3
        s += t * u if -0.5 < (v := u * 1.5) < 1.0 else v
    return s


def of_a_function_inside(x):
    n = 0

    def step():
        nonlocal n, x
        n, x = n + 1, x * 0.7
        return x

    while step() > 0.1:
        pass
    return x * n


class Simulation:
    def __init__(self, x):
        self.x, self.n, self.seen = x, 0, np.zeros(2)

    def step(self):
        self.x, self.n = self.x * 0.7, self.n + 1
        self.seen[self.n % 2] += self.x
        return self.x > 0.1


def of_an_object(x):
    simulation = Simulation(x)
    while simulation.step():
        simulation.x -= 0.001
    return simulation.x * simulation.n + simulation.seen[0] * 3 + simulation.seen[1]


def of_a_dictionary(x):
    state = {"x": x, "n": 0.0}

    def step():
        state["x"], state["n"] = state["x"] * 0.7, state["n"] + 1
        return state["x"]

    while step() > 0.1:
        state["n"] += state["x"]
    return state["x"] * state["n"]


PROGRAMS = [
    bound_by_the_test, read_after_the_loop, read_by_the_next_iteration, with_else, returned, in_a_branch,
    bound_by_what_is_always_evaluated, of_a_function_inside, of_an_object, of_a_dictionary,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_conditions_do_what_python_does(f):
    compiled, slope = wg.jit(f), wg.jit(wg.grad(f))
    for x in (0.9, 0.15, 2.3):
        assert compiled(x) == pytest.approx(f(x), rel=1e-12)
        difference = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert slope(x) == pytest.approx(difference, rel=1e-6, abs=1e-8)
    xs = np.array([0.9, 0.15, 2.3])
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(xs), [f(x) for x in xs], rtol=1e-12)
