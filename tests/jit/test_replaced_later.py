"""What is replaced after a function was compiled counts at its next call: methods that Python calls by itself, classes
of objects, attributes that instances share with their class, and whatever code reads that is not lowered."""

import collections
import contextlib
import functools
import operator
import types

import numpy as np
import pytest

import wengert as wg

X = 2.0


def check(f, change, *derivatives):
    """A function compiled before a change is what it is after it, and so are derivatives that were compiled then."""
    compiled = wg.jit(f)

    def compare():
        value = f(X)
        np.testing.assert_allclose(compiled(X), value, rtol=1e-12)
        for derivative in derivatives:  # of polynomials of degree two
            np.testing.assert_allclose(derivative(X), f(X + 0.5) - f(X - 0.5), rtol=1e-12)
        return value

    before = compare()
    change()
    assert compare() != before


class Descriptor:
    def __get__(self, thing, owner=None):
        return 2.0


def make():
    class Thing:
        rate = 2.0
        weights = np.array([1.0, 2.0])
        descriptor = Descriptor()

        def __init__(self, v=1.5):
            self.v = v

        def __add__(self, x):
            return self.v + x

        def __call__(self, x):
            return self.v * x

        def __getitem__(self, k):
            return self.v * k

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return 5.0

        def __len__(self):
            return 3

        def __iter__(self):
            return iter((1.0, 2.0))

        def __contains__(self, item):
            return True

        def __lt__(self, other):
            return True

        def __bool__(self):
            return True

        def __enter__(self):
            return 2.0

        def __exit__(self, *error):
            return False

        def __float__(self):
            return 2.0

        @property
        def energy(self):
            return 3 * self.v

        @classmethod
        def of_class(cls, x):
            return cls.rate * x

        def method(self, x, k=2.0):
            return self.v * x * k

    return Thing


def in_with(a, x):
    with a as w:
        return x * w


REPLACED = {
    "__add__": (lambda a, x: a + x, lambda self, x: self.v - x),
    "__call__": (lambda a, x: a(x), lambda self, x: self.v - x),
    "__getitem__": (lambda a, x: a[x], lambda self, k: self.v - k),
    "__getattr__": (lambda a, x: a.other * x, lambda self, name: 6.0),
    "__len__": (lambda a, x: len(a) * x, lambda self: 7),
    "__iter__": (lambda a, x: sum(a) * x, lambda self: iter((9.0,))),
    "__contains__": (lambda a, x: x * 2 if 3 in a else x, lambda self, item: False),
    "__lt__": (lambda a, x: x * 2 if a < 3 else x, lambda self, other: False),
    "__bool__": (lambda a, x: x * 2 if a else x, lambda self: False),
    "__enter__": (in_with, lambda self: 7.0),
    "__float__": (lambda a, x: float(a) * x, lambda self: 9.0),
    "__radd__": (lambda a, x: x + a if hasattr(type(a), "__radd__") else x, lambda self, x: 9 * x),
    "energy": (lambda a, x: a.energy * x, property(lambda self: 7 * self.v)),
    "descriptor": (lambda a, x: a.descriptor * x, 9.0),
    "rate": (lambda a, x: a.rate * x, 9.0),
    "weights": (lambda a, x: np.sum(a.weights) * x, np.array([5.0, 6.0])),
    "of_class": (lambda a, x: a.of_class(x), classmethod(lambda cls, x: 9 * x)),
    "method": (lambda a, x: a.method(x), lambda self, x: x - self.v),
}


@pytest.mark.parametrize("name", REPLACED)
def test_attributes_of_classes(name):
    f, new = REPLACED[name]

    outside = make()
    thing = outside()
    check(lambda x: f(thing, x), lambda: setattr(outside, name, new))

    inside = make()
    check(lambda x: f(inside(), x), lambda: setattr(inside, name, new))

    if name not in ("__add__", "__getattr__", "energy", "weights"):
        return
    base = make()
    derived = type("Derived", (base,), {"__module__": __name__})
    held = types.SimpleNamespace(things=[derived()])
    check(lambda x: f(held.things[0], x), lambda: setattr(derived, name, new))

    moved = make()
    other = type("Other", (moved,), {name: new, "__module__": __name__})
    which = moved()
    check(lambda x: f(which, x), lambda: setattr(which, "__class__", other))


def test_data_shared_with_the_class():
    one, two = make(), make()
    check(lambda x: np.sum(one().weights) * x, lambda: one.weights.__setitem__(0, 9.0))
    check(lambda x: two().of_class(x), lambda: setattr(two, "rate", 9.0))


def test_state_of_a_descriptor():
    class Scaled:
        def __init__(self):
            self.k = 2.0

        def __get__(self, thing, owner=None):
            return self.k * thing.v

    class Holder:
        scaled = Scaled()
        v = 3.0

    check(lambda x: Holder().scaled * x, lambda: setattr(vars(Holder)["scaled"], "k", 5.0))


def test_code_defaults_and_bases():
    def new(self, x, k=2.0):
        return x - self.v

    coded, defaulted, thing = make(), make(), make()
    check(lambda x: coded().method(x), lambda: setattr(coded.method, "__code__", new.__code__))
    check(lambda x: defaulted().method(x), lambda: setattr(defaulted.method, "__defaults__", (7.0,)))
    first = type("First", (), {"k": lambda self: 3.0, "__module__": __name__})
    second = type("Second", (), {"k": lambda self: 4.0, "__module__": __name__})
    derived = type("Derived", (first,), {"__module__": __name__})
    check(lambda x: derived().k() * x, lambda: setattr(derived, "__bases__", (second,)))
    check(lambda x: thing().v * x, lambda: setattr(thing, "__init__", lambda self: setattr(self, "v", 8.0)))


def test_metaclasses_and_builtin_bases():
    class Meta(type):
        def __call__(cls, *args):
            made = super().__call__(*args)
            made.v *= 2
            return made

    class Made(metaclass=Meta):
        def __init__(self, v):
            self.v = v

    check(lambda x: Made(2.0).v * x, lambda: setattr(Meta, "__call__", lambda cls, *args: type.__call__(cls, *args)))

    class Items(list):
        def __getitem__(self, k):
            return 2.0

    class Pair(collections.namedtuple("Pair", "a b")):
        def __add__(self, x):
            return self.a + x

    items, pair = Items([1.0]), Pair(1.0, 2.0)
    check(lambda x: items[0] * x, lambda: setattr(Items, "__getitem__", lambda self, k: 9.0))
    check(lambda x: pair + x, lambda: setattr(Pair, "__add__", lambda self, x: 9 * x))


def test_attributes_by_name():
    thing = types.SimpleNamespace(v=1.5)
    check(lambda x: getattr(thing, "v") * x, lambda: setattr(thing, "v", 4.0))  # noqa: B009
    check(lambda x: getattr(thing, "bias", 0.5) * x, lambda: setattr(thing, "bias", 4.0))
    check(lambda x: x * 3 if hasattr(thing, "extra") else x, lambda: setattr(thing, "extra", 4.0))
    check(lambda x: vars(thing)["v"] * x, lambda: setattr(thing, "v", 5.0))
    check(lambda x: operator.attrgetter("v")(thing) * x, lambda: setattr(thing, "v", 6.0))
    kind = make()
    caller = kind()
    check(lambda x: operator.methodcaller("method", x, k=3.0)(caller), lambda: setattr(caller, "v", 6.0))
    check(lambda x: x * 3 if hasattr(kind(), "__neg__") else x, lambda: setattr(kind, "__neg__", lambda self: self))


def test_functions_chosen_by_type_and_modules_made_by_hand():
    class Kind:
        pass

    @functools.singledispatch
    def weight(thing):
        return 2.0

    kind, module = Kind(), types.ModuleType("module")
    check(lambda x: weight(kind) * x, lambda: weight.register(Kind, lambda thing: 5.0))
    module.f = lambda x: 2 * x
    check(lambda x: module.f(x), lambda: setattr(module, "f", lambda x: 5 * x))


class Source:
    """Things that generators read."""

    def __init__(self):
        self.k, self.weights, self.items = 2.0, np.array([1.0, 2.0]), [1.0, 2.0]

    def __iter__(self):
        for k in range(int(self.k)):
            yield float(k + 1)

    def weighted(self, x):
        for k in range(2):
            yield self.weights[k] * x

    def listed(self, x):
        yield from (v * x for v in self.items)


def test_what_generators_read():
    s = Source()
    check(lambda x: sum(v * x for v in s), lambda: setattr(s, "k", 4))
    check(lambda x: sum(s.weighted(x)), lambda: s.weights.__setitem__(0, 7.0))
    check(lambda x: sum(s.weighted(x)), lambda: setattr(s, "weights", np.array([3.0, 4.0])))
    check(lambda x: sum(s.listed(x)), lambda: s.items.append(7.0))

    @contextlib.contextmanager
    def managed(x):
        yield s.k * x

    def f(x):
        with managed(x) as y:
            return y

    check(f, lambda: setattr(s, "k", 5))

    def nested(x):
        def pieces():
            for v in s.weights:
                yield v * x * s.k

        return sum(pieces())

    check(nested, lambda: s.weights.__setitem__(1, 8.0))


def test_what_generators_decide_by():
    s = Source()

    def chosen(x):
        for v in s.weights:
            if v < 1.5:
                yield v * x

    check(lambda x: sum(chosen(x)), lambda: s.weights.__setitem__(1, 1.25))


def test_what_code_reads_that_is_not_rewritten():
    s = Source()
    names = {"s": s}
    exec("def f(x): return x * s.k * s.weights[0]", names)
    check(names["f"], lambda: setattr(s, "k", 5.0))
    check(names["f"], lambda: s.weights.__setitem__(0, 7.0))
    check(lambda x: eval("x * SHARED.k"), lambda: setattr(SHARED, "k", 7.0))

    def looks_around(x):
        locals()
        return x * s.k

    check(looks_around, lambda: setattr(s, "k", 6.0))


SHARED = Source()


def test_every_placement_of_jit():
    kind = make()
    thing = kind()

    def f(x):
        return thing + x * x

    compiled, of_jit = wg.jit(f), wg.grad(wg.jit(f))
    batched, of_batch = wg.jit(wg.vmap(wg.grad(f))), wg.vmap(wg.grad(wg.jit(f)))
    ways = [
        of_jit,
        wg.jit(wg.grad(f)),
        lambda x: wg.jvp(compiled, (x,), (1.0,))[1],
        lambda x: batched(np.array([x]))[0],
        lambda x: of_batch(np.array([x]))[0],
    ]
    check(f, lambda: setattr(kind, "__add__", lambda self, x: self.v - x), *ways)


def test_data_of_a_class_that_nobody_reads_are_no_reason_to_compile_again():
    class Counted:
        count = 0

        def __mul__(self, x):
            return 2.0 * x

    thing = Counted()
    compiled = wg.jit(lambda x: thing * x)
    compiled(X)
    Counted.count = 1
    Counted.later = 2
    assert compiled(X) == 4.0
    assert [len(kept) for kept in compiled._versions.values()] == [1]
    Counted.__mul__ = lambda self, x: 3.0 * x
    assert compiled(X) == 6.0
