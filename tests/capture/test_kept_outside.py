"""What functions keep outside for later: tables made at the first call, dicts of what was computed before."""

import functools
import sys

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

# Each program comes with a function that forgets what it has kept. `f(x)` is c * x**2, with c from what is kept.


def with_a_dict():
    kept = {}

    def weights(n):
        if n not in kept:
            kept[n] = np.cos(np.arange(n) * 0.3)
        return kept[n]

    return lambda x: np.sum(weights(3) * x) * x + weights(2)[1] * x**2, kept.clear


TABLE = None


def table():
    global TABLE
    if TABLE is None:
        TABLE = np.linspace(1.0, 2.0, 4)
    return TABLE


def with_a_global():
    def forget():
        global TABLE
        TABLE = None

    return lambda x: table()[2] * x**2 + np.sum(table()) * x * x, forget


class Model:
    scale = None

    def __init__(self):
        self._rates = None

    @property
    def rates(self):
        if self._rates is None:
            self._rates = {"a": np.array([1.0, 2.0]), "b": [0.5, np.ones(2)]}
        return self._rates

    @functools.cached_property
    def offset(self):
        return np.full(2, 0.25)

    @classmethod
    def factor(cls):
        if cls.scale is None:
            cls.scale = 3.0
        return cls.scale

    def __call__(self, x):
        return np.sum(self.rates["a"] * self.rates["b"][1] + self.offset) * x**2 * self.factor() + self.rates["b"][0]


def with_an_object():
    model = Model()

    def forget():
        model._rates = None
        model.__dict__.pop("offset", None)
        Model.scale = None

    return model, forget


def with_a_memo():
    def memo(f):
        seen = {}

        @functools.wraps(f)
        def remembering(n):
            if n not in seen:
                seen[n] = f(n)
            return seen[n]

        remembering.seen = seen
        return remembering

    @memo
    def factorial(n):
        return 1.0 if n < 2 else n * factorial(n - 1)

    return lambda x: factorial(5) * x**2, factorial.seen.clear


def with_lru_cache():
    @functools.lru_cache(maxsize=16)
    def harmonic(n):
        w = np.zeros(n)
        for k in range(n):
            w[k] = 1.0 / (k + 1)
        return w

    return lambda x: np.sum(harmonic(6)) * x**2, harmonic.cache_clear


def with_an_attribute_of_a_module():
    module = type(sys)("kept_for_later")

    def f(x):
        if not hasattr(module, "rate"):
            module.rate = 4.0
        return module.rate * x**2

    return f, lambda: vars(module).pop("rate", None)


def with_a_lazy_import():
    def f(x):
        import colorsys

        f.module = colorsys
        return colorsys.ONE_THIRD * x**2

    return f, lambda: f.__dict__.pop("module", None)


PROGRAMS = [with_a_dict, with_a_global, with_an_object, with_a_memo, with_lru_cache, with_an_attribute_of_a_module,
            with_a_lazy_import]  # fmt: skip

WAYS = {
    "jit": wg.jit,
    "jit(grad)": lambda f: wg.jit(wg.grad(f)),
    "grad(jit)": lambda f: wg.grad(wg.jit(f)),
    "jvp(jit)": lambda f: lambda x: wg.jvp(wg.jit(f), (x,), (1.0,))[1],
    "jit(jit)": lambda f: wg.jit(lambda x: wg.jit(f)(x)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs_that_fill_tables(program, way):
    f, forget = program()
    forget()
    values = [f(1.5), f(2.5)]
    slopes = [(f(x + 1e-6) - f(x - 1e-6)) / 2e-6 for x in (1.5, 2.5)]
    forget()
    g = WAYS[way](f)
    for _ in range(2):
        for x, value, slope in zip((1.5, 2.5), values, slopes, strict=True):
            np.testing.assert_allclose(g(x), value if way in ("jit", "jit(jit)") else slope, rtol=1e-8)
        forget()  # it is filled again


def test_what_stays_is_plain():
    f, forget = with_a_global()
    forget()
    wg.jit(f)(1.0)
    assert type(TABLE) is np.ndarray
    np.testing.assert_array_equal(TABLE, np.linspace(1.0, 2.0, 4))
    model = Model()
    wg.jit(wg.grad(model))(1.0)
    assert type(model._rates["a"]) is type(model._rates["b"][1]) is type(model.offset) is np.ndarray


def test_a_table_that_changes_is_read_again():
    f, forget = with_a_dict()
    g = wg.jit(f)
    kept = f.__closure__[0].cell_contents.__closure__[0].cell_contents
    before = g(1.0)
    kept[3][:] = 0.0
    assert g(1.0) == f(1.0) != before


@pytest.mark.parametrize("way", WAYS)
def test_the_first_call_may_differ(way):
    def build():
        state = {"first": True}

        def f(x):
            if state["first"]:
                state["first"] = False
                return 2 * x
            return 3 * x * x / 2

        return f

    f, g = build(), WAYS[way](build())
    if way in ("jit", "jit(jit)"):
        assert [g(1.0), g(1.0), g(2.0)] == [f(1.0), f(1.0), f(2.0)]
    else:
        assert [g(1.0), g(1.0), g(2.0)] == [2.0, 3.0, 6.0]


@pytest.mark.parametrize("way", [w for w in WAYS if w != "jit(jit)"])
def test_what_is_always_written_is_guarded(way):
    class Switch:
        on = False

    switch = Switch()
    switch.on = True

    def f(x):
        switch.on = True
        return x * x

    g = WAYS[way](f)
    for _ in range(2):
        g(1.0)
        assert switch.on
        switch.on = False


STATE = "idle"
LOG: list = []


def names(x):
    global STATE
    STATE += "!"
    return x * x


def logs(x):
    LOG.append(1.0)
    return x * x


class Counter:
    total = 0


def counts_in_a_class(x):
    Counter.total += 1
    return x * x


@pytest.mark.parametrize("way", [w for w in WAYS if w != "jit(jit)"])
@pytest.mark.parametrize("f", [names, counts_in_a_class], ids=lambda f: f.__name__)
def test_what_changes_at_each_call_is_refused_and_undone(f, way):
    for _ in range(2):
        with pytest.raises(StagingError, match="from outside"):
            WAYS[way](f)(2.0)
        assert (STATE, Counter.total) == ("idle", 0)


@pytest.mark.parametrize("way", WAYS)
def test_a_log_becomes_longer_at_each_call(way):
    LOG.clear()
    g = WAYS[way](logs)
    assert [g(x) for x in (2.0, 3.0, 4.0)] == ([4.0, 9.0, 16.0] if way in ("jit", "jit(jit)") else [4.0, 6.0, 8.0])
    assert LOG == [1.0] * 3


def test_a_function_made_inside_must_not_stay():
    kept = {}

    def f(x):
        if "square" not in kept:
            kept["square"] = lambda y: y * y
        return kept["square"](x)

    with pytest.raises(StagingError, match="from outside"):
        wg.jit(f)(2.0)
    assert not kept
    assert f(2.0) == wg.jit(f)(2.0) == 4.0
