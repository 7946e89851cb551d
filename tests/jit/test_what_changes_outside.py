"""What a compiled function finds outside may be replaced, or changed in place: it goes on with what is there now."""

import array
import collections
import enum
import functools
import math
import types
from typing import Any, NamedTuple

import numpy as np
import pytest

import wengert as wg

G: Any = None
H: Any = None


class Thing:
    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v

    def __call__(self):
        return self.v * 2


class Pair(NamedTuple):
    w: Any
    b: Any


class Kind(enum.Enum):
    A = 1
    B = 2


class Row(list):
    pass


class Table(dict):
    pass


def unpacked():
    w, b = G
    return w + b


def returning(c):
    return lambda: c


REPLACED = {
    "an object with a number": (Thing(1.0), Thing(3.0), lambda: G.v),
    "an object with an array": (Thing(np.ones(2)), Thing(np.zeros(2)), lambda: G.v),
    "a named tuple, by name": (Pair(1.0, 2.0), Pair(3.0, 4.0), lambda: G.w),
    "a named tuple of arrays, by name": (Pair(np.ones(2), 2.0), Pair(np.zeros(2), 4.0), lambda: G.w),
    "a named tuple, by index": (Pair(1.0, 2.0), Pair(3.0, 4.0), lambda: G[0]),
    "a named tuple, unpacked": (Pair(1.0, 2.0), Pair(3.0, 4.0), unpacked),
    "a named tuple of arrays, unpacked": (Pair(np.ones(2), 2.0), Pair(np.zeros(2), 4.0), unpacked),
    "a member of an enumeration": (Kind.A, Kind.B, lambda: 1.0 if G is Kind.A else 2.0),
    "the value of a member": (Kind.A, Kind.B, lambda: G.value),
    "a range": (range(3), range(4), lambda: len(G)),
    "a slice": (slice(0, 1), slice(0, 3), lambda: np.arange(5.0)[G].sum() + 1),
    "a frozen set": (frozenset({1}), frozenset({1, 2}), lambda: len(G)),
    "a class": (Thing, Pair, lambda: 1.0 if G is Thing else 2.0),
    "a dtype": (np.dtype("f4"), np.dtype("f8"), lambda: np.zeros(2, G).itemsize),
    "a class of numbers": (np.float32, np.float64, lambda: np.zeros(2, G).itemsize),
    "a ufunc": (np.sin, np.cos, lambda: G(1.0)),
    "a builtin": (min, max, lambda: G(1.0, 2.0)),
    "a function": (lambda: 1.0, lambda: 2.0, lambda: G()),
    "defaults": (lambda a=1.0: a, lambda a=2.0: a, lambda: G()),
    "a closure": (returning(1.0), returning(2.0), lambda: G()),
    "a partial": (functools.partial(abs, -1.0), functools.partial(abs, -2.0), lambda: G()),
    "a callable object": (Thing(1.0), Thing(2.0), lambda: G()),
    "a bound method": (Thing(1.0).get, Thing(2.0).get, lambda: G()),
    "a compiled function": (wg.jit(lambda: 1.0), wg.jit(lambda: 2.0), lambda: G()),
    "a zero": (0.0, -0.0, lambda: np.copysign(1.0, G)),
    "an object in a list": ([Thing(1.0)], [Thing(2.0)], lambda: G[0].v),
    "a set in a dict": ({"s": {1}}, {"s": {1, 2}}, lambda: len(G["s"])),
}


def assert_follows(f, x, change):
    compiled = wg.jit(f)
    for _ in range(2):
        np.testing.assert_allclose(compiled(x), f(x))
    before = f(x)
    change()
    assert not np.array_equal(before, f(x)), "nothing has changed"
    for _ in range(2):
        np.testing.assert_allclose(compiled(x), f(x))


@pytest.mark.parametrize("name", REPLACED)
def test_a_global_that_is_replaced(name):
    first, second, use = REPLACED[name]
    globals()["G"] = first
    assert_follows(lambda x: x * use(), 2.0, lambda: globals().update(G=second))


@pytest.mark.parametrize("name", ["a ufunc", "a function", "a closure", "an object with a number", "a dtype"])
def test_an_attribute_that_is_replaced(name):
    first, second, _ = REPLACED[name]
    owner = Thing(first)
    uses = {
        "a ufunc": lambda v: v(1.0), "a function": lambda v: v(), "a closure": lambda v: v(),
        "an object with a number": lambda v: v.v, "a dtype": lambda v: np.zeros(2, v).itemsize,
    }  # fmt: skip
    assert_follows(lambda x: x * uses[name](owner.v), 2.0, lambda: setattr(owner, "v", second))


def set_first(c, v):
    c[0] = v


CHANGED = {
    "a set": (lambda: {1, 2}, len, lambda c: c.add(3)),
    "membership in a set": (lambda: {1, 2}, lambda c: 5.0 if 3 in c else 1.0, lambda c: c.add(3)),
    "a kind of list": (lambda: Row([1.0]), lambda c: c[0], lambda c: set_first(c, 4.0)),
    "a kind of list, of arrays": (lambda: Row([np.ones(2)]), lambda c: sum(c[0]), lambda c: set_first(c, [0.0, 1.0])),
    "an array in a kind of list": (lambda: Row([np.ones(2)]), lambda c: np.sum(c[0]), lambda c: set_first(c[0], 5.0)),
    "a kind of dict": (lambda: Table(a=1.0), lambda c: c["a"], lambda c: c.update(a=4.0)),
    "an ordered dict": (lambda: collections.OrderedDict(a=1.0), lambda c: c["a"], lambda c: c.update(a=4.0)),
    "a default dict": (lambda: collections.defaultdict(float, a=1.0), lambda c: c["a"], lambda c: c.update(a=4.0)),
    "a deque": (lambda: collections.deque([1.0]), lambda c: c[0], lambda c: set_first(c, 9.0)),
    "bytes that can change": (lambda: bytearray(b"ab"), lambda c: float(c[0]), lambda c: set_first(c, 3)),
    "an array of Python's": (lambda: array.array("d", [1.0]), lambda c: c[0], lambda c: set_first(c, 3.0)),
    "a view of memory": (lambda: memoryview(bytearray(b"ab")), lambda c: float(c[0]), lambda c: set_first(c, 3)),
    "a namespace": (lambda: types.SimpleNamespace(v=1.0), lambda c: c.v, lambda c: setattr(c, "v", 3.0)),
    "a counter": (lambda: collections.Counter("aab"), lambda c: c["a"], lambda c: c.update("a")),
    "a set in a dict": (lambda: {"s": {1, 2}}, lambda c: len(c["s"]), lambda c: c["s"].add(9)),
    "a chain of dicts": (lambda: collections.ChainMap({"a": 1.0}), lambda c: c["a"], lambda c: c.update(a=4.0)),
    "a list in Python": (lambda: collections.UserList([1.0]), lambda c: c[0], lambda c: set_first(c, 4.0)),
    "an array of objects": (lambda: np.array([1.0, None], object), lambda c: c[0], lambda c: set_first(c, 4.0)),
    "an array of records": (lambda: np.ones(2, [("a", float)]), lambda c: c["a"][0], lambda c: set_first(c["a"], 4.0)),
}  # fmt: skip


@pytest.mark.parametrize("where", ["closure", "attribute", "argument"])
@pytest.mark.parametrize("name", CHANGED)
def test_a_container_that_is_changed(name, where):
    make, use, change = CHANGED[name]
    c = make()
    if where == "argument":
        inner = wg.jit(lambda x, c: x * use(c))
        for _ in range(2):
            assert inner(2.0, c) == 2.0 * use(c)
        before = use(c)
        change(c)
        assert use(c) != before
        for _ in range(2):
            assert inner(2.0, c) == 2.0 * use(c)
        return
    owner = Thing(c)
    f = (lambda x: x * use(c)) if where == "closure" else (lambda x: x * use(owner.v))
    assert_follows(f, 2.0, lambda: change(c))


@pytest.mark.parametrize("things", [(np.ones(2), np.zeros(2)), ([1.0], [2.0]), ({0: 1.0}, {0: 2.0})])
def test_one_thing_under_two_names(things):
    first, second = things

    def f(x):
        return x * G[0] + 10 * x * H[0]

    for name in ("G", "H"):
        globals().update(G=first, H=first)
        assert_follows(f, 2.0, functools.partial(globals().update, {name: second}))


def test_arrays_in_named_tuples_may_be_replaced_without_compiling_again():
    global G
    compiled = wg.jit(lambda x: x * G.w)
    for k in range(4):
        G = Pair(np.full(3, float(k)), 1.0)
        np.testing.assert_array_equal(compiled(np.ones(3)), np.full(3, float(k)))
    assert [len(kept) for kept in compiled._versions.values()] == [1]


def test_classes_are_the_same_after_other_programs_have_met_them():
    """Among them are named tuples, whose `__new__` is a static method that Python calls by itself."""

    class Steps:
        def __new__(cls, k):
            return object.__new__(cls)

    def made(x):
        return Pair(x, 1.0).w + (Steps(2) is not None)

    compiled, other = wg.jit(made), wg.jit(lambda x: 2 * made(x))
    for k in range(3):
        assert compiled(1.0) == 2.0
        assert wg.jit(lambda x: 3 * made(x))(1.0) == 6.0
        assert other(np.full(k + 1, 1.0)).tolist() == [4.0] * (k + 1)
    assert [len(kept) for kept in compiled._versions.values()] == [1]


def test_names_of_attributes_are_no_globals():
    """A global of the name of an attribute is none of the function's business."""
    global G
    owner = Thing(1.0)
    owner.G = 2.0
    compiled = wg.jit(lambda x: x * owner.G)
    for k in range(4):
        G = Thing(k)
        assert compiled(3.0) == 6.0
    assert [len(kept) for kept in compiled._versions.values()] == [1]


def test_methods_and_lambdas_that_are_made_anew_are_the_same():
    class Model:
        def __init__(self):
            self.k = 2.0

        def scale(self, x):
            return x * self.k

        @property
        def shift(self):
            return lambda x: x + 1.0

    model = Model()
    compiled = wg.jit(lambda x: model.shift(model.scale(x)))
    for _ in range(3):
        assert compiled(3.0) == 7.0
    assert [len(kept) for kept in compiled._versions.values()] == [1]


class Meter:
    def __init__(self):
        self.last = 0.0

    def read(self, x):
        y = x * 2
        self.last = y
        return y


def test_what_a_method_keeps_is_kept_at_each_call():
    meter = Meter()
    read = wg.jit(meter.read)
    for x in (2.0, 3.0):
        assert read(x) == meter.last == 2 * x


class Second:
    pi = 5.0


class Holder:
    library: Any = math


def test_a_library_under_another_name_is_replaced():
    global G
    holder = Holder()
    table = {"library": math, 0: [math]}
    functions = [
        lambda x: x * G.pi,
        lambda x: x * Holder.library.pi,
        lambda x: x * holder.library.pi,
        lambda x: x * table["library"].pi,
        lambda x: x * table[0][0].pi,
    ]
    G = math
    compiled = [wg.jit(f) for f in functions]
    assert [g(2.0) for g in compiled] == [2.0 * math.pi] * 5
    G, Holder.library, table["library"], table[0][0] = Second, Second, Second, Second
    try:
        assert [g(2.0) for g in compiled] == [10.0] * 5
    finally:
        Holder.library = math


def test_a_global_that_is_read_by_its_name():
    global G
    G = 3.0
    f = wg.jit(lambda x: x * globals()["G"])
    assert f(2.0) == 6.0
    G = 4.0
    assert f(2.0) == 8.0


def test_a_record_that_is_changed():
    records = np.array([(1.0, 2)], dtype=[("a", float), ("b", int)])
    record = records[0]
    f = wg.jit(lambda x: x * record["a"])
    assert f(2.0) == 2.0
    records["a"] = 4.0
    assert f(2.0) == 8.0


def logged(f):
    calls = []

    @functools.wraps(f)
    def called(*args):
        calls.append(f.__name__)
        return f(*args)

    called.calls = calls
    return called


class Agent:
    def __init__(self):
        self.log = []

    def act(self, x):
        self.log.append(("step", len(self.log)))
        self.log.append(("gain", x))
        return 2 * x


def test_a_log_of_texts_grows_at_each_call():
    square = logged(lambda x: x**2)
    gradient = wg.jit(wg.grad(square))
    assert [gradient(x) for x in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert square.calls == ["<lambda>"] * 3
    agent = Agent()
    act = wg.jit(agent.act)
    assert [act(1.0), act(3.0)] == [2.0, 6.0]
    assert agent.log == [("step", 0), ("gain", 1.0), ("step", 2), ("gain", 3.0)]


def test_what_is_appended_at_the_first_call_only_is_kept():
    table = []

    def scaled(x):
        if not table:
            table.append(("weight", 3.0))
        return x * table[0][1]

    compiled = wg.jit(scaled)
    assert [compiled(1.0), compiled(2.0)] == [3.0, 6.0]
    assert table == [("weight", 3.0)]
