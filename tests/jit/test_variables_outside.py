"""Variables from outside (`global`, `nonlocal`) that a compiled function binds anew at each call."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

X = np.array([0.3, -0.8, 1.4, 2.5])
CALLS = 0
LAST = None


def of_calls(f, calls=4):
    return [f(X * (1.0 + 0.1 * k)) for k in range(calls)]


def counted():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return np.sum(x) * n

    return f


def summed():
    s, n = 0, 0

    def note(v):
        nonlocal n, s
        n += 1
        s = s + v

    def f(x):
        for v in x:
            note(v)
        return s / n

    return f


def in_a_branch():
    n = 0

    def f(x):
        nonlocal n
        if x[0] > 0.32:
            n += 2
        return n * x[1]

    return f


def in_a_loop():
    n, least = 0, np.inf

    def f(x):
        nonlocal n, least
        v = x[2]
        while v > 0.1:
            v = v * 0.5
            n += 1
        least = min(least, v)
        return n * x[0] + least

    return f


def best():
    found = None

    def f(x):
        nonlocal found
        v = np.sum((x - 0.4) ** 2)
        if found is None or v < found:
            found = v
        return found

    return f


def array_before():
    global LAST
    LAST = None

    def f(x):
        global LAST
        change = 0.0 if LAST is None else np.sum((x - LAST) ** 2)
        LAST = x * 2.0
        return change

    return f


def arrays_in_a_loop():
    a, b = np.zeros(4), np.ones(4)

    def f(x):
        nonlocal a, b
        for k in range(20):
            a, b = b, 0.5 * a + x * k
        return np.sum(a * b)

    return f


def an_array_in_a_loop_of_a_helper():
    a = np.zeros(4)

    def note(v):
        nonlocal a
        a = 0.5 * a + v

    def f(x):
        for v in np.outer(x, x):
            note(v)
        return np.sum(a)

    return f


def first_none():
    a = None

    def f(x):
        nonlocal a
        for k in range(9):
            a = x * k if a is None else 0.5 * a + x
        if x[0] > 0.35:
            a = a + 1.0
        return np.sum(a)

    return f


def written_and_bound():
    a = np.zeros(4)

    def f(x):
        nonlocal a
        a[0] += x[0]
        a = a * 1.5
        a[1] += x[1]
        return np.sum(a)

    return f


def through_a_compiled_helper():
    n = 0

    @wg.jit
    def scaled(x):
        nonlocal n
        n += 1
        return x * n

    def f(x):
        return np.sum(scaled(x)) + scaled(x)[0]

    return f


@pytest.mark.parametrize(
    "make",
    [
        counted,
        summed,
        in_a_branch,
        in_a_loop,
        best,
        array_before,
        arrays_in_a_loop,
        an_array_in_a_loop_of_a_helper,
        first_none,
        written_and_bound,
        through_a_compiled_helper,
    ],
    ids=lambda f: f.__name__,
)
def test_values(make):
    plain = make()
    expected = of_calls(plain)
    f = make()
    np.testing.assert_allclose(of_calls(wg.jit(f)), expected)
    for cell, before in zip(f.__closure__ or (), plain.__closure__ or (), strict=True):
        if isinstance(before.cell_contents, (int, float)):
            np.testing.assert_allclose(cell.cell_contents, before.cell_contents)


WAYS = {
    "value": lambda f: f,
    "grad": wg.grad,
    "jvp": lambda f: lambda x: wg.jvp(f, (x,), (np.ones_like(x),)),
    "hessian": wg.hessian,
    "vmap": lambda f: lambda x: wg.vmap(f)(np.stack([x, x])),
    "vmap(grad)": lambda f: lambda x: wg.vmap(wg.grad(f))(np.stack([x, x])),
}


def square(x):
    global CALLS
    CALLS += 1
    return np.sum(x * x) * CALLS


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", ["outside", "inside"])
def test_calls_are_counted_as_eagerly(way, place):
    global CALLS
    CALLS = 0
    eager = of_calls(WAYS[way](square))
    count, CALLS = CALLS, 0
    compiled = wg.jit(WAYS[way](square)) if place == "outside" else WAYS[way](wg.jit(square))
    for got, expected in zip(of_calls(compiled), eager, strict=True):
        for a, b in zip(np.atleast_1d(got), np.atleast_1d(expected), strict=True):
            np.testing.assert_allclose(a, b)
    assert count == CALLS == 4


def test_it_is_a_plain_number_afterwards():
    global CALLS
    CALLS = 5
    f = wg.jit(square)
    f(X)
    assert CALLS == 6
    assert isinstance(CALLS, (int, np.integer))
    CALLS = 10
    assert f(X) == np.sum(X * X) * 11


def test_what_raises_leaves_it_as_it_was():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        if x[0] > 1.0:
            raise ValueError("too large")
        return x[0] * n

    g = wg.jit(f)
    assert g(X) == X[0]
    with pytest.raises(ValueError, match="too large"):
        g(X + 1.0)
    assert n == 1


def test_texts_flags_and_what_does_not_fit_are_refused():
    state, flag, large, places = "idle", False, 2**70, np.arange(3)

    def f(x):
        nonlocal state
        state = state + "!"
        return x[0]

    def g(x):
        nonlocal flag
        flag = not flag
        return x[0]

    def h(x):
        nonlocal large
        large += 1
        return x[0] * (large % 1000)

    def integers(x):
        nonlocal places
        for _ in range(9):
            places = places + 1
        return x[0] * places[0]

    for one in (f, g, h, integers):
        with pytest.raises(StagingError, match=r"changes the variable (state|flag|large|places) from outside"):
            wg.jit(one)(X)
    assert (state, flag, large, places.tolist()) == ("idle", False, 2**70, [0, 1, 2])
