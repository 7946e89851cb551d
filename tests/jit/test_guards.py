"""What a compiled function found outside is compared at every call: what it read, and nothing else."""

import time
import timeit

import numpy as np
import pytest

import wengert as wg

X = np.arange(1.0, 4.0)
LONG = [float(k) for k in range(5000)]
PARAMS: dict = {}


def changes(f, change):
    """Whether a compiled function follows a change outside."""
    compiled = wg.jit(f)
    np.testing.assert_allclose(compiled(X), f(X))
    before = f(X)
    change()
    assert not np.array_equal(before, f(X)), "nothing has changed"
    np.testing.assert_allclose(compiled(X), f(X))


@pytest.fixture(autouse=True)
def params():
    PARAMS.clear()
    PARAMS.update(rate=2.0, table=list(LONG), sub={"a": 1.0, "list": list(range(3000))}, pair=(1.0, 2.0))


def lengths(x, p):
    return x * len(p)


def through_an_alias(x):
    p = PARAMS
    return x * p["rate"] + len(p)


def unpacked(x):
    a, b = PARAMS["pair"]
    return x * a + b


def items(x):
    for value in PARAMS["sub"].values():
        x = x * (value if value.__class__ is float else sum(value))
    return x


READS = {
    "an item": (lambda x: x * PARAMS["rate"], lambda: PARAMS.update(rate=3.0)),
    "an item of an item": (lambda x: x * PARAMS["sub"]["a"], lambda: PARAMS["sub"].update(a=5.0)),
    "another dict": (lambda x: x * PARAMS["sub"]["a"], lambda: PARAMS.update(sub={"a": 7.0})),
    "an item of a long list": (lambda x: x * PARAMS["table"][3], lambda: PARAMS["table"].__setitem__(3, 9.0)),
    "a slice": (lambda x: x * sum(PARAMS["table"][2:5]), lambda: PARAMS["table"].__setitem__(3, 9.0)),
    "a sum": (lambda x: x * sum(PARAMS["table"]), lambda: PARAMS["table"].__setitem__(3, 9.0)),
    "an array of a list": (lambda x: x * np.array(PARAMS["table"])[3], lambda: PARAMS["table"].__setitem__(3, 9.0)),
    "a length": (lambda x: lengths(x, PARAMS["table"]), lambda: PARAMS["table"].append(1.0)),
    "an alias": (through_an_alias, lambda: PARAMS.update(more=1.0)),
    "unpacking": (unpacked, lambda: PARAMS.update(pair=(3.0, 4.0))),
    "membership": (lambda x: x * (2.0 if "new" in PARAMS else 1.0), lambda: PARAMS.update(new=1)),
    "get": (lambda x: x * PARAMS.get("rate", 0.0), lambda: PARAMS.update(rate=8.0)),
    "values": (items, lambda: PARAMS["sub"]["list"].append(9)),
    "a star": (lambda x: x * max(*PARAMS["pair"]), lambda: PARAMS.update(pair=(3.0, 4.0))),
    "equality": (lambda x: x * (2.0 if PARAMS["pair"] == (1.0, 2.0) else 1.0), lambda: PARAMS.update(pair=(3.0, 4.0))),
    "a type": (lambda x: x * len(PARAMS["table"]) / PARAMS["sub"]["list"][1], lambda: PARAMS.update(table=[1])),
}


@pytest.mark.parametrize("name", READS)
def test_what_was_read_is_compared(name):
    changes(*READS[name])


def scaled(x, factor=2.0, *, more=1.0):
    return x * factor + more


def test_changed_defaults_are_noticed():
    for f in (scaled, lambda x: scaled(x), wg.grad(lambda x: np.sum(scaled(x)))):
        scaled.__defaults__, scaled.__kwdefaults__ = (2.0,), {"more": 1.0}
        changes(f, lambda: setattr(scaled, "__defaults__", (5.0,)))
    scaled.__defaults__ = (2.0,)
    changes(scaled, lambda: setattr(scaled, "__kwdefaults__", {"more": 3.0}))
    scaled.__kwdefaults__ = {"more": 1.0}


def test_arrays_in_containers_may_be_replaced_without_compiling_again():
    weights = {"w": np.ones(3), "rate": 0.1}
    compiled = wg.jit(lambda x: x * weights["w"] * weights["rate"])
    for k in range(4):
        weights["w"] = np.full(3, float(k))
        np.testing.assert_allclose(compiled(X), X * k * 0.1)
    assert [len(kept) for kept in compiled._versions.values()] == [1]


def test_what_was_not_read_costs_nothing():
    """The time of a call does not grow with what the function never looks at."""

    def seconds(f):
        f(X)
        best = 1.0
        for _ in range(200):
            start = time.process_time()
            f(X)
            best = min(best, time.process_time() - start)
        return best

    small = {"rate": 2.0, "sub": {"a": 1.0}}
    of_small = seconds(wg.jit(lambda x: x * small["rate"] * small["sub"]["a"]))
    assert seconds(wg.jit(lambda x: x * PARAMS["rate"] * PARAMS["sub"]["a"])) < 5 * of_small + 2e-6


# ----------------------------------------------------------------------------- containers that are passed to functions


def rate_of(x, p):
    return x * p["rate"]


def further(x, p, q=None):
    return rate_of(x, p=p) + rate_of(x, p)


def with_length(x, p):
    return x * p["rate"] + len(p)


def with_alias(x, p):
    q = p
    return x * p["rate"] + len(q)


def in_lambda(x, p):
    return x * p["rate"] + (lambda: len(p))()


def in_lambda_by_item(x, p):
    return x * (lambda: p["rate"])()


def in_comprehension(x, p):
    return x * sum([p["rate"] + len(k) for k in p])


def returned(x, p):
    return p


def starred(x, p):
    return further(*(x, p)) + len(p)


def rebound(x, p):
    p = dict(p)
    return x * p["rate"]


def gotten(x, p):
    return x * p.get("rate", 7.0) + p.get("more", 0.0)


def passed_twice(x, p):
    both = [p] * 3
    return sum([rate_of(x, each) for each in both]) + len(both[0])


def generated(x, p):
    def numbers():
        yield p["rate"]
        yield len(p)

    return x * sum(numbers())


def mixed(x, p):
    return rate_of(x, p) + rate_of(x, p) + x * len(p)


def out_of_finally(x, p):
    for _ in range(2):
        try:
            x = x * len(p)
        finally:
            continue  # noqa: B012
    return x * p["rate"]


class Model:
    def __init__(self, p):
        self.p = p

    def scaled(self, x):
        return rate_of(x, self.p) + self.further(x, self.p)

    def further(self, x, p):
        return x * p["rate"]

    def counted(self, x):
        return rate_of(x, self.p) + self.count(x, self.p)

    def count(self, x, p):
        return x * len(p)


PASSING = [
    rate_of, further, with_length, with_alias, in_lambda, in_lambda_by_item, in_comprehension, starred, rebound, gotten,
    passed_twice, generated, mixed, lambda x, p: Model(p).scaled(x), lambda x, p: Model(p).counted(x),
    lambda x, p: returned(x, p)["rate"] * x, lambda x, p: len(returned(x, p)) * x,
    lambda x, p: sum(map(len, [p, p])) * rate_of(x, p), lambda x, p: x * max(rate_of(1.0, p), len(p)), out_of_finally,
]  # fmt: skip


PASSED: dict = {}
HOLDER = Model({})


@pytest.mark.parametrize("number", range(len(PASSING)))
def test_containers_that_are_passed_on(number):
    f, x = PASSING[number], 3.0
    numbers: dict = {}

    def with_local(x):
        p = numbers
        return f(x, p)

    HOLDER.p = numbers
    for p, of_x in (
        (PASSED, lambda x: f(x, PASSED)),
        (numbers, lambda x: f(p=HOLDER.p, x=x)),
        (numbers, with_local),
    ):
        p.clear()
        p.update(rate=2.0, other=1.0)
        compiled = wg.jit(of_x)
        for new in ({}, {"new": 1.0}, {"rate": 5.0}, {"more": 3.0}):
            p.update(new)
            assert compiled(x) == of_x(x)
        del p["other"]
        assert compiled(x) == of_x(x)
        del p["rate"]
        try:
            expected = of_x(x)
        except KeyError:
            with pytest.raises(KeyError):
                compiled(x)
        else:
            assert compiled(x) == expected


@pytest.mark.parametrize("f", [rate_of, further, in_lambda_by_item, gotten, Model.scaled])
def test_what_is_read_where_it_was_passed_is_all_that_is_compared(f):
    p = {"rate": 2.0, "long": list(LONG), "array": np.zeros(100_000)}
    model = Model(p)
    compiled = wg.jit(lambda x: model.scaled(x) if f is Model.scaled else f(x, p))
    compiled(X)
    ((found,),) = compiled._versions.values()
    p["long"].append(1.0)
    p["array"] += 1.0
    p["unknown"] = 1.0
    assert found.holds()
    p["rate"] = 3.0
    assert not found.holds()


def shortest(f):
    """Seconds of the quickest of several calls."""
    return min(timeit.repeat(f, number=1, repeat=50))


def test_long_lists_and_large_arrays_are_compared_quickly():
    numbers, array = [float(k) for k in range(20_000)], np.arange(20_000)
    compiled = wg.jit(lambda x: x * sum(numbers) + array[:2].sum() + np.sum([len(numbers), len(array)]))
    np.testing.assert_allclose(compiled(X), X * sum(numbers) + 40_001)
    ((found,),) = compiled._versions.values()
    assert found.holds()
    same = list(numbers)
    one_by_one = lambda: all(a is b for a, b in zip(numbers, same, strict=True))  # takes three times as long
    assert shortest(found.holds) < shortest(one_by_one)
    numbers[-1] = 7.0
    assert not found.holds()


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def scaled(self, x):
        return x * self.factor

    @classmethod
    def twice(cls, x):
        return 2 * x

    def __call__(self, x):
        return x - self.factor


class ScaledToo(Scaled):
    pass


@pytest.mark.parametrize(
    ("owner", "name", "f", "new"),
    [
        (Scaled, "scaled", lambda thing, x: thing.scaled(x), lambda self, x: x - 7),
        (ScaledToo, "scaled", lambda thing, x: thing.scaled(x), lambda self, x: x - 7),
        (ScaledToo, "twice", lambda thing, x: ScaledToo.twice(x), classmethod(lambda cls, x: x - 7)),
        (Scaled, "__call__", lambda thing, x: thing(x), lambda self, x: x * 7),
        (None, "scaled", lambda thing, x: thing.scaled(x), lambda x: x - 7),
    ],
)
def test_methods_that_are_replaced(owner, name, f, new, monkeypatch):
    thing, x = ScaledToo(3.0), np.array([1.0, 2.0])
    compiled = wg.jit(lambda x: f(thing, x))
    np.testing.assert_array_equal(compiled(x), f(thing, x))
    monkeypatch.setattr(thing if owner is None else owner, name, new, raising=False)
    np.testing.assert_array_equal(compiled(x), f(thing, x))
    monkeypatch.undo()
    np.testing.assert_array_equal(compiled(x), f(thing, x))


def test_functions_that_are_given_other_code():
    """As notebooks do that reload modules."""

    def other(x):
        return x * 100

    compiled, x = wg.jit(lambda x: _helper_that_changes(x)), np.array([1.0, 2.0])
    np.testing.assert_array_equal(compiled(x), x * 2)
    before = _helper_that_changes.__code__
    _helper_that_changes.__code__ = other.__code__
    np.testing.assert_array_equal(compiled(x), x * 100)
    _helper_that_changes.__code__ = before
    np.testing.assert_array_equal(compiled(x), x * 2)


def _helper_that_changes(x):
    return x * 2


DAYS = np.array([3.0, 11.0, 29.0])


@pytest.mark.parametrize("f", [
    lambda x: x * np.sum(DAYS.astype("datetime64[D]").astype("datetime64[M]").astype(float)),
    lambda x: x * len(DAYS.tobytes()),
    lambda x: x * float(DAYS.view(np.int64)[1] % 1000),
    lambda x: x * {"3.0": 2.0, "11.0": 5.0, "29.0": 7.0}[str(DAYS[1])],
    lambda x: x * len(set(DAYS.astype(str))),
], ids=["dates", "bytes", "bits", "keys", "texts"])  # fmt: skip
def test_arrays_that_only_python_computes_with_are_part_of_the_program(f, monkeypatch):
    for _ in range(2):
        for compiled in (wg.jit(f), wg.jit(wg.grad(lambda x: f(x) * x / 2))):
            np.testing.assert_allclose(compiled(3.0), f(3.0), rtol=1e-15)
        monkeypatch.setitem(f.__globals__, "DAYS", np.array([11.0, 29.0, 62.0])[[1, 0, 2]])


def test_they_are_guarded():
    days = np.array([3.0, 11.0])
    compiled = wg.jit(lambda x: x * days.astype("datetime64[D]").astype("datetime64[M]").astype(float)[1])
    assert compiled(2.0) == 0.0
    days[1] = 70.0
    assert compiled(2.0) == 4.0
