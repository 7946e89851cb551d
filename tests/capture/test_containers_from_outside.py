"""Containers and records from outside that are neither plain lists and dicts nor objects of the user's classes."""

from __future__ import annotations

import argparse
import collections
import contextvars
import threading
import types
from typing import Any

import numpy as np
import pytest

import wengert as wg


def appended():
    history = collections.deque([1.0], maxlen=2)

    def f(x):
        history.append(x[0] * 2)
        return x * len(history)

    return f, history


def rotated():
    items = collections.deque([1.0, 2.0, 3.0])

    def f(x):
        items.rotate(1)
        return x * items[0]

    return f, items


def emptied():
    items = collections.deque([1.0, 2.0, 3.0, 4.0])

    def f(x):
        return x * items.popleft() + items[0]

    return f, items


def accumulated():
    totals = collections.defaultdict(float)

    def f(x):
        totals["a"] += x[0]
        totals["calls"] += 1
        return x * totals["a"]

    return f, totals


def listed():
    history = collections.defaultdict(list)

    def f(x):
        history["loss"].append(x @ x)
        return x * len(history["loss"])

    return f, history


def in_order():
    table = collections.OrderedDict(a=1.0, b=2.0)

    def f(x):
        table["a"] = x[1]
        table.move_to_end("a")
        table["c"] = table.pop("b", 0.5) + x[0]
        return x * table["c"]

    return f, table


def counted():
    counts: collections.Counter = collections.Counter()

    def f(x):
        counts["a"] += 1
        counts.update("ab")
        return x * counts["a"]

    return f, counts


def a_set():
    seen = {0}

    def f(x):
        seen.add(len(seen))
        return x * len(seen)

    return f, seen


def recorded(kind):
    def case():
        record = kind(total=1.0, last=None)

        def f(x):
            record.total = record.total + x[0]
            record.last = x * 2
            return x * record.total

        return f, record

    return case


def of_a_function():
    def helper(x):
        helper.calls += 1
        helper.last = x[0]
        return x * helper.calls

    helper.calls = 0  # type: ignore[attr-defined]
    return lambda x: helper(x), helper


def by_a_method():
    history: list = []
    remember = history.append

    def f(x):
        remember(x[0])
        return x * 2

    return f, history


def by_an_argument():
    history: list = []

    def f(x, callback=history.append):
        callback(np.sum(x))
        return x * 2

    return f, history


CASES = [appended, rotated, emptied, accumulated, listed, in_order, counted, a_set, recorded(types.SimpleNamespace),
         recorded(argparse.Namespace), of_a_function, by_a_method, by_an_argument]  # fmt: skip


def what_is_in(state: Any) -> Any:
    held = state if isinstance(state, (dict, list, set, collections.deque)) else dict(vars(state))
    return repr({k: v for k, v in held.items() if k[0] != "_"} if isinstance(held, dict) else list(held))


@pytest.mark.parametrize("case", CASES)
def test_what_a_compiled_function_changes_in_them_it_changes_at_each_call(case):
    (f, plain), (g, compiled) = case(), case()
    g = wg.jit(g)
    for k in range(3):
        x = np.array([0.5, 1.5]) + k
        np.testing.assert_allclose(g(x), f(x))
        assert what_is_in(compiled) == what_is_in(plain)


@pytest.mark.parametrize("case", CASES)
def test_derivatives_of_functions_that_change_them(case):
    x = np.array([0.5, 1.5])
    want = wg.jacfwd(case()[0])(x)
    for jacobian in (wg.jit(wg.jacfwd(case()[0])), wg.jit(wg.jacrev(case()[0])), wg.jacrev(wg.jit(case()[0]))):
        np.testing.assert_allclose(jacobian(x), want)
    np.testing.assert_allclose(wg.jit(wg.vmap(case()[0]))(np.array([x]))[0], case()[0](x))


def test_a_state_that_comes_back():
    """A program that was compiled for a state changes it each time."""
    f, items = rotated()
    g = wg.jit(f)
    x = np.ones(1)
    assert [g(x)[0] for _ in range(7)] == [3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0]
    assert list(items) == [3.0, 1.0, 2.0]


def test_in_a_branch_that_depends_on_data_it_is_refused():
    history: collections.deque = collections.deque()

    def f(x):
        if x > 0:
            history.append(x)
        return x

    with pytest.raises(wg.errors.StagingError, match="deque"):
        wg.jit(f)(1.0)
    assert not history


def refused(thing, change):
    def f(x):
        change(thing, x)
        return x * 2

    with pytest.raises(wg.errors.StagingError, match="changes"):
        wg.jit(f)(np.ones(2))


def test_what_cannot_be_left_is_refused_and_put_back():
    table, items = collections.UserDict(a=1.0), collections.UserList([1.0])
    objects, variable = np.array([1.0, None]), contextvars.ContextVar("variable", default=0.5)
    refused(table, lambda t, x: t.update(a=x[0]))
    refused(items, lambda t, x: t.append(x[0]))
    refused(objects, lambda t, x: t.__setitem__(0, x[0]))
    refused(variable, lambda t, x: t.set(x[0]))
    own = threading.local()
    refused(own, lambda t, x: setattr(t, "last", x[0]))
    assert not vars(own)
    assert (table["a"], list(items), list(objects), variable.get()) == (1.0, [1.0], [1.0, None], 0.5)


def test_a_context_variable_is_read_at_each_call():
    variable = contextvars.ContextVar("scale", default=2.0)
    f = wg.jit(lambda x: x * variable.get())
    assert f(3.0) == 6.0
    variable.set(5.0)
    assert f(3.0) == 15.0


class Meter:
    def __init__(self) -> None:
        self.level = np.array(1.0)
        self.same = self.level
        self.items = [np.array(2.0)]


def in_place(meter, x):
    meter.level += x[0]
    return x * meter.same


def by_another_name(meter, x):
    level = meter.level
    level *= x[0]
    return x * meter.level + meter.same


def in_a_list(meter, x):
    meter.items[0] -= x[1]
    return x * meter.items[0]


def written_anew(meter, x):
    meter.level[...] = x[0]
    meter.level = meter.same.copy()
    return x * meter.level * meter.same


@pytest.mark.parametrize("f", [in_place, by_another_name, in_a_list, written_anew])
def test_arrays_without_axes_are_written_in_place(f):
    """`self.level += x` changes the array that is there, under all its names, though it has no axes."""
    plain, compiled = Meter(), Meter()
    jitted = wg.jit(lambda x: f(compiled, x))
    for k in range(3):
        x = np.array([0.5, 1.5]) + k
        np.testing.assert_allclose(jitted(x), f(plain, x))
        assert repr(vars(compiled)) == repr(vars(plain))
        assert (compiled.level is compiled.same) == (plain.level is plain.same)
    np.testing.assert_allclose(wg.jit(wg.jacrev(lambda x: f(Meter(), x)))(x), wg.jacfwd(lambda x: f(Meter(), x))(x))


def test_arrays_that_are_no_longer_the_same():
    """Two attributes hold one array at the first call, as in `self.old = self.new = np.zeros(n)`, and two later."""

    class Pair:
        def __init__(self) -> None:
            self.old = self.new = np.array([1.0])

    class Fixed:
        __slots__ = ("new", "old")

    pair, fixed, other = Pair(), Fixed(), Pair()
    fixed.old = fixed.new = pair.old
    other.new = pair.old
    functions = [
        lambda x: x * pair.old * pair.new,
        lambda x: x * fixed.old * fixed.new,
        lambda x: x * pair.old * other.new,
    ]
    compiled = [wg.jit(f) for f in functions] + [wg.jit(wg.jacfwd(f)) for f in functions]
    assert [f(2.0)[0] for f in compiled] == [2.0] * 3 + [1.0] * 3
    pair.new = fixed.new = other.new = np.array([3.0])
    assert [f(2.0)[0] for f in compiled] == [6.0] * 3 + [3.0] * 3
    pair.new = fixed.new = other.new = pair.old
    assert [f(2.0)[0] for f in compiled] == [2.0] * 3 + [1.0] * 3
