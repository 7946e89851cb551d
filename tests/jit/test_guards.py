"""What a compiled function found outside is compared at every call: what it read, and nothing else."""

import time

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
            start = time.perf_counter()
            f(X)
            best = min(best, time.perf_counter() - start)
        return best

    small = {"rate": 2.0, "sub": {"a": 1.0}}
    of_small = seconds(wg.jit(lambda x: x * small["rate"] * small["sub"]["a"]))
    assert seconds(wg.jit(lambda x: x * PARAMS["rate"] * PARAMS["sub"]["a"])) < 5 * of_small + 2e-6
