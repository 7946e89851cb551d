"""What compiled functions leave outside at each call: attributes, counters, items of lists and dicts."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import EscapedValueError, StagingError


class Meter:
    def __init__(self):
        self.calls, self.total, self.blocks, self.cache = 0, 0.0, None, None
        self.weights, self.limit = np.ones(4), 1.0
        self.powers, self.history = [1.0, 0.0, 0.0], {}

    def level(self, x):
        self.blocks = x.reshape(-1, 2) * 2
        self.calls += 1
        self.total += np.sum(x)
        return np.mean(self.blocks**2)

    def lazy(self, x):
        if self.cache is None:
            self.cache = x * 2
        return np.sum(self.cache * x)

    def recursion(self, x):
        for k in range(1, 3):
            self.powers[k] = self.powers[k - 1] * x[1]
        return self.powers[2]

    def branches(self, x):
        if x[1] > 2:
            self.calls += 2
            self.blocks = x * 3
        else:
            self.blocks = x + 1
        return x[1] * self.calls

    def sometimes(self, x):
        if x[1] > 2:
            self.weights = x * 0.5
        for k in range(5):
            self.limit = self.limit + x[0]
            if self.limit > 12:
                self.calls = self.calls + k
                break
        return np.sum(self.weights) + self.limit

    def keeps(self, x):
        self.argument, self.part = x, x[1:]
        self.history["pair"] = [x[0], {"text": "a", "number": 3}]
        return x[1] * 2

    def read_again(self, x):
        if x[1] > 2:
            self.calls = 7
            x = x * self.calls
        return np.sum(x) + self.calls

    def counted_anew(self, x):
        self.calls = 0
        for self.calls in range(4):
            self.limit = 3.0 * self.calls
            if x[3] < self.limit:
                break
        return x[1] * self.calls + self.limit

    def writes(self, x):
        self.level(x)
        self.level(2 * x)
        return self.calls + self.total


def state(meter):
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(meter).items()}


METHODS = ["level", "lazy", "recursion", "branches", "sometimes", "keeps", "read_again", "counted_anew", "writes"]


@pytest.mark.parametrize("name", METHODS)
def test_what_is_left_is_what_python_leaves_at_each_call(name):
    ours, theirs = Meter(), Meter()
    f, g = wg.jit(getattr(ours, name)), getattr(theirs, name)
    for k in range(4):
        x = np.arange(4.0) + k
        np.testing.assert_allclose(f(x), g(x))
        assert state(ours) == state(theirs)
        assert type(ours.calls) is int
        if name == "keeps":
            assert ours.argument is x
            assert ours.part.base is x
    assert sum(map(len, f._versions.values())) <= 2  # not one for each call


def test_a_program_around_leaves_it_too():
    meter = Meter()
    inner = wg.jit(meter.level)
    outer = wg.jit(lambda x: inner(x) + inner(2 * x))
    for k in (1, 2):
        assert outer(np.arange(4.0)) == 70.0
        assert (meter.calls, meter.total) == (2 * k, 18.0 * k)


def test_derivatives_and_batches():
    x = np.arange(4.0)
    for way in (lambda f: wg.grad(wg.jit(f)), lambda f: wg.jit(wg.grad(f)), wg.grad):
        meter = Meter()
        for k in (1, 2):
            np.testing.assert_allclose(way(meter.level)(x), 2 * x)
            assert meter.calls == k
            with pytest.raises(EscapedValueError):
                np.sum(meter.blocks)
            meter.total = 0.0  # which is of the differentiation, too
    meter = Meter()
    np.testing.assert_allclose(wg.jit(wg.vmap(meter.level))(np.arange(8.0).reshape(2, 4)), [14.0, 126.0])
    assert meter.calls == 1


def test_what_has_two_names_or_holds_code_is_refused():
    meter = Meter()

    def shared(x):
        meter.history["a"] = meter.cache = [x]
        return x

    def code(x):
        meter.cache = lambda: x
        return x

    for f in (shared, code):
        with pytest.raises(StagingError, match="from outside"):
            wg.jit(f)(2.0)
        assert meter.cache is None


class Vector:
    """With slots, and a method that Python asks for attributes that are not there."""

    __slots__ = ("length", "x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __getattr__(self, name):
        return tuple([(self.x, self.y)["xy".index(c)] for c in name])


def test_classes_with_slots_and_getattr():
    def f(a, b):
        v = Vector(a, b)
        if a > 1:
            v = Vector(b, a * a)
        return v.yx[0] * 3 + v.x

    for a in (0.5, 2.0):
        assert wg.jit(f)(a, 4.0) == f(a, 4.0)
        assert wg.jit(wg.grad(f))(a, 4.0) == wg.grad(f)(a, 4.0)


def items(state, x):
    state["t"] += x
    state["n"] += 1
    state["last"] = x - (state["last"] if state["last"] is not None else 0.0)
    state["seen"] = state.get("seen", 1.0) * 2
    if x > 1:
        state["best"][1] = max(state["best"][1], x)
        state["mode"] = "fast"
    for _ in range(6):
        state["best"][0] = state["best"][0] + x * state["n"]
    return state["t"] * (2 if state["mode"] == "fast" else 3)


def fresh():
    return {"t": 0.0, "n": 0, "last": None, "best": [0.0, 0.0], "mode": "slow"}


def test_items_of_dicts_and_lists_at_each_call():
    ours, theirs = fresh(), fresh()
    f = wg.jit(lambda x: items(ours, x))
    for x in (0.5, 2.0, 0.25, 3.0, 0.5):
        assert f(x) == items(theirs, x)
        assert ours == theirs
        assert [type(v) for v in ours.values()] == [type(v) for v in theirs.values()]
    assert sum(map(len, f._versions.values())) <= 3  # at first, with what is new, and fast


def test_another_dict_under_the_same_name():
    state = {"t": 0.0}

    def f(x):
        state["t"] += x
        return state["t"]

    g, first = wg.jit(f), state
    assert (g(1.0), g(2.0)) == (1.0, 3.0)
    state = {"t": 10}
    assert (g(1.0), g(2.0)) == (11.0, 13.0)
    assert first == {"t": 3.0}
    assert state == {"t": 13.0}
    del state["t"]
    with pytest.raises(KeyError):
        g(1.0)
