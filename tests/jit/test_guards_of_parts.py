"""Of a container from outside only what a program reads counts, by whatever name: it follows every change of that, and
does not look at the rest."""

import copy
from typing import Any, NamedTuple

import numpy as np
import pytest

import wengert as wg


class Pair(NamedTuple):
    scale: Any
    rest: Any

    def scaled(self, x):
        return x * self.scale["w"][0]

    @property
    def first(self):
        return self.scale["w"]


class Shifted(Pair):
    @property
    def rest(self):
        return self[1]


def fresh():
    """Something with parts of every kind."""
    part = {"w": [2.0, 3.0], "v": np.array([1.0, 4.0]), "n": 2}
    return {
        "part": part,
        "pair": Pair(part, (5.0, [6.0])),
        "shifted": Shifted(part, [7.0]),
        "two": [part, {"w": [8.0]}],
    }


data: dict[str, Any] = fresh()


def by_another_name(x):
    p = data["part"]
    return x * p["w"][1] + p["v"][0] * p["n"]


def by_two_names(x):
    p = data["part"]
    w = p["w"]
    return x * w[0] + w[1]


def taken_apart(x):
    a, b = data["two"]
    return x * a["w"][0] + b["w"][0]


def taken_apart_twice(x):
    a, _ = data["two"]
    u, v = a["w"]
    return x * u + v


def taken_apart_array(x):
    a, _ = data["two"]
    u, v = a["v"]
    return x * u + v


def one_is_left(x):
    _, b = data["two"]
    return x * b["w"][0]


def with_get(x):
    p = data["part"]
    return x * p.get("n", 1) + p.get("missing", 3.0)


def length_of_it(x):
    p = data["part"]
    w = p["w"]
    return x * len(w) + p["w"][0]


def goes_through(x):
    p = data["part"]
    w = p["w"]
    total = x
    for k in w:
        total = total * k
    return total


def compared(x):
    w = data["part"]["w"]
    return x * 2 if w == [2.0, 3.0] else x * 5


def passed_on(x):
    p = data["part"]
    return helper(x, p) + x


def helper(x, p):
    q = p["w"]
    return x * q[0] * p["n"]


def passed_on_inside(x):
    p = data["part"]

    def inside(y):
        return helper(y, p)

    return inside(x)


def in_a_closure(x):
    p = data["part"]
    return (lambda y: y * p["w"][0])(x)


def in_a_comprehension(x):
    p = data["part"]
    return sum([x * p["w"][k] for k in range(p["n"])])


def fields(x):
    p = data["pair"]
    return x * p.scale["w"][0] + p.rest[0]


def fields_at_once(x):
    return x * data["pair"].scale["w"][0] + data["pair"].rest[1][0]


def fields_apart(x):
    scale, rest = data["pair"]
    return x * scale["w"][1] + rest[1][0]


def fields_by_index(x):
    p = data["pair"]
    return x * p[0]["w"][1] + p[1][0]


def field_in_a_function(x):
    return of_fields(x, data["pair"])


def of_fields(x, pair):
    return x * pair.scale["w"][0] + pair.rest[0]


def method(x):
    p = data["pair"]
    return p.scaled(x)


def property_of_it(x):
    p = data["pair"]
    return x * p.first[0]


def field_replaced_by_a_property(x):
    p = data["shifted"]
    return x * p.scale["w"][0] + p.rest[0]


def as_dict(x):
    p = data["pair"]
    return x * p._asdict()["scale"]["w"][0]


def in_a_branch(x):
    if x > 0:
        p = data["part"]
    else:
        p = data["two"][1]
    return x * p["w"][0]


def after_a_return(x):
    if x < 0:
        return x
    p = data["part"]
    return x * p["w"][0]


def before_a_branch(x):
    p = data["part"]
    if x > 0:
        return x * p["w"][0]
    return x * p["w"][1]


def before_a_loop(x):
    p = data["part"]
    while x < 50:
        x = x * p["w"][0]
    return x


def bound_again(x):
    p = data["part"]
    y = x * p["w"][0]
    p = data["two"][1]
    return y + p["w"][0]


def bound_by_a_definition(x):
    p = data["part"]
    y = x * p["w"][0]

    def p():
        return 3.0

    return y + p()


def bound_by_a_loop(x):
    p = data["part"]
    y = x * p["n"]
    for p in data["two"]:
        y = y + p["w"][0]
    return y


def given_away(x):
    p = data["part"]
    return x, p["w"]


PROGRAMS = [
    by_another_name, by_two_names, taken_apart, taken_apart_twice, taken_apart_array, one_is_left, with_get,
    length_of_it, goes_through, compared, passed_on, passed_on_inside, in_a_closure, in_a_comprehension, fields,
    fields_at_once, fields_apart, fields_by_index, field_in_a_function, method, property_of_it,
    field_replaced_by_a_property, as_dict, in_a_branch, after_a_return, before_a_branch, before_a_loop, bound_again,
    bound_by_a_definition, bound_by_a_loop, given_away,
]  # fmt: skip


def change_items(d):
    d["part"]["w"][0] = 2.5
    d["part"]["v"][0] = -1.0


def change_others(d):
    d["part"]["w"][1] = 3.5
    d["two"][1]["w"][0] = 8.5


def change_number(d):
    d["part"]["n"] = 1
    d["pair"].rest[1][0] = -6.0


def add_something(d):
    d["part"]["missing"] = 11.0
    d["part"]["w"].append(1.5)


def replace_parts(d):
    d["two"][0] = {"w": [9.0, 10.0], "v": np.array([2.0, 3.0])}
    d["two"][1] = {"w": [-1.0]}
    d["pair"] = Pair({"w": [1.25, 2.25]}, (3.25, [4.25]))
    d["shifted"] = Shifted({"w": [1.75]}, [2.75])


def replace_all(d):
    d["part"] = {"w": [12.0, 13.0], "v": np.array([14.0, 15.0]), "n": 2}


CHANGES = [change_items, change_others, change_number, add_something, replace_parts, replace_all]


def outcome(f):
    try:
        return f(1.5)
    except ValueError as error:  # too many values to unpack
        return str(error)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_every_change_is_followed(program, monkeypatch):
    compiled = wg.jit(program)
    found = fresh()
    for change in [lambda d: None, *CHANGES]:
        change(found)
        monkeypatch.setitem(globals(), "data", copy.deepcopy(found))
        expected, after = outcome(program), repr(data)
        monkeypatch.setitem(globals(), "data", found)
        assert outcome(compiled) == expected, change.__name__
        assert repr(data) == after, change.__name__


@pytest.mark.parametrize(
    "program", [by_another_name, taken_apart, taken_apart_twice, passed_on, fields, fields_apart, field_in_a_function],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_is_not_read_is_not_looked_at(program, monkeypatch):
    monkeypatch.setitem(globals(), "data", fresh())
    data["part"]["other"] = np.zeros(100)
    compiled = wg.jit(program)
    expected = compiled(1.5)
    [[version]] = compiled._versions.values()
    data["part"]["other"][3] = 1.0
    assert compiled(1.5) == expected
    data["part"]["other"] = "something else"
    assert compiled(1.5) == expected
    assert [[version]] == list(compiled._versions.values())
