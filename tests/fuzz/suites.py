"""Statements: names, branches, loops, jumps, exceptions; and which of them may stand where."""

from __future__ import annotations

import numpy as np

from fuzz.algorithms import with_a_model, with_a_search, with_an_iteration, with_elimination
from fuzz.aliases import alias
from fuzz.arrays import array, fitting
from fuzz.buffers import with_a_history, with_buffers, with_helpers_on_views, with_state_in_containers
from fuzz.classes import with_inheritance, with_managers, with_matching, with_operators_of_classes
from fuzz.containers import with_a_closure, with_a_dict, with_a_list, with_a_tuple, with_an_object
from fuzz.expressions import atom, condition, integer, scalar
from fuzz.flow import with_dispatch, with_operators, with_ways_out
from fuzz.grids import sweeps, with_own_function
from fuzz.idioms import (
    with_a_class,
    with_a_flag,
    with_a_while,
    with_an_iterator,
    with_choices,
    with_floors,
    with_integers_in_arrays,
    with_slices_of_slices,
    with_small_arrays,
    with_unpacking,
)
from fuzz.methods import with_layers, with_optimisers, with_tables, with_time_steps
from fuzz.nests import nest
from fuzz.numerics import with_axes, with_layouts, with_mixed_dtypes, with_places
from fuzz.outside import with_outside
from fuzz.references import with_groups, with_references
from fuzz.science import with_cubes, with_scipy, with_transforms
from fuzz.scope import Scope, Unusable, indented, kind_of, same_type
from fuzz.structures import with_structures, with_the_library, with_truth
from fuzz.writing import write


def suite(s: Scope, most: int) -> list[str]:
    """The lines of a suite."""
    lines: list[str] = []
    for _ in range(s.rng.randint(1, most)):
        if s.budget <= 0 and lines:
            break
        lines += statement(s)
    return lines


def statement(s: Scope) -> list[str]:
    """One statement (or a few that belong together), which has been executed on the sample values."""
    s.budget -= 1
    for _ in range(10):
        names = dict(s.names)
        try:
            make = s.draw(_table(s))
            before = {name: s.names[name] for name in s.pinned}
            lines = make(s)
            if make in SIMPLE:
                s.run("\n".join(lines))
                s.names = {
                    name: v for name, v in s.names.items() if isinstance(v, (np.ndarray, np.generic, int, float))
                }
                if any(
                    not same_type(s.names[name], v) and _strict(name, v, s.names[name]) for name, v in before.items()
                ):
                    raise Unusable
                if any(_wild(v) for v in s.names.values()):
                    raise Unusable
            return lines
        except Unusable:
            s.names = names
    return ["s = s + 0.5"]


def _strict(name: str, old: object, new: object) -> bool:
    """Numbers may become floats, as `total = 0` does; arrays keep their shape and dtype."""
    return bool(np.ndim(old) or np.ndim(new) or kind_of(new) not in "fi" or name in ("n", "c"))


def _wild(v: object) -> bool:
    return isinstance(v, np.ndarray) and v.size > 64 * 8


def _table(s: Scope) -> list:
    table = [
        ("scalars", 2, bind_a_number), ("elementwise", 2, bind_an_array), ("integers", 0.8, bind_an_integer),
        ("writes", 3, write), ("aliases", 1, alias), ("dicts", 0.7, with_a_dict), ("lists", 0.7, with_a_list),
        ("lists", 0.3, with_a_tuple), ("objects", 0.7, with_an_object), ("closures", 0.7, with_a_closure),
        *[(feature, 0.7, make) for feature, make in IDIOMS],
    ]  # fmt: skip
    if s.loops:
        table += [("jumps", 1.5, jump), ("returns", 0.7, early_return)]
    if s.depth < 3 and s.budget > 2:
        table += [("branches", 1.5, branch), ("loops", 1.5, loop), ("whiles", 0.8, while_loop),
                  ("exceptions", 0.7, exception), ("returns", 0.3, early_return), ("branches", 0.3, match),
                  ("exceptions", 0.2, context)]  # fmt: skip
    if s.depth < 2 and s.budget > 5:
        table += [("nests", 0.6, nest)]
    return table


# ------------------------------------------------------------------------------------------------------------- names


def bind_a_number(s: Scope) -> list[str]:
    name = s.one_of(["s", "t", "s", "t", s.fresh("r")])
    value = scalar(s)
    if name[0] == "r":
        return [f"{name} = {value}"] if s.chance(0.8) else [f"{name} = {value}", f"s = s + {name}", f"del {name}"]
    return [s.one_of([f"{name} = {value}", f"{name} = np.tanh({name} + {value})", f"{name} += {value}",
        f"{name} *= 0.9",
                      f"{name} -= 0.5 * {atom(value)}", f"s, t = t, {value}",
                      f"{name} = {name} * 0.5 + {value}"])]  # fmt: skip


def bind_an_array(s: Scope) -> list[str]:
    if s.depth and s.chance(0.5):
        same = s.arrays(kinds="f")
        name = s.one_of([v for v in same if v not in ("x", "A")] or ["w"])
        value = fitting(s, np.shape(s.names[name]), 2)
        return [f"{name} = {value}" if np.ndim(s.value(value)) else f"{name} = {name} * {atom(value)}"]
    kinds = "fc" if s.weights.get("complex") else "f"
    name = s.one_of([s.fresh("u"), s.fresh("u"), "w"])
    value = array(s, 2, kinds)
    if name == "w":
        value = fitting(s, np.shape(s.names["w"]), 2)
        value = value if np.ndim(s.value(value)) else f"w + {atom(value)}"
    return [f"{name} = {value}"]


def bind_an_integer(s: Scope) -> list[str]:
    name = s.one_of(["c", "c", s.fresh("k")])
    value = integer(s, 2)
    return (
        [f"{name} = int({value})" if name == "c" and s.chance(0.5) else f"{name} = {atom(value)} % 7"]
        if s.chance(0.6)
        else [s.one_of(["c += 1", "c = c * 2 % 9", "c, n = n, c", f"c = {atom(value)} % 5"])]
    )


# ---------------------------------------------------------------------------------------------------------- branches


def inner_suite(
    s: Scope, most: int, *, loop: bool = False, names: dict | None = None, can_jump: bool = True
) -> list[str]:
    inner = s.copy()
    inner.depth += 1
    inner.loops += loop
    inner.names.update(names or {})
    lines = suite(inner, most)
    s.after(inner)
    return lines


def branch(s: Scope) -> list[str]:
    lines = [f"if {condition(s)}:", *indented(inner_suite(s, 3))]
    if s.chance(0.3):
        lines += [f"elif {condition(s)}:", *indented(inner_suite(s, 2))]
    if s.chance(0.5):
        lines += ["else:", *indented(inner_suite(s, 3))]
    return lines


def match(s: Scope) -> list[str]:
    suites = [indented(indented(inner_suite(s, 2))) for _ in range(3)]
    first, second = s.one_of([("0", "1 | 2"), ("1", f"0 if {condition(s, 0)}"), ("-1 | 2", "0 | 1")])
    return [f"match {atom(integer(s))} % 4:", f"    case {first}:", *suites[0], f"    case {second}:", *suites[1],
            "    case _:", *suites[2]]  # fmt: skip


def context(s: Scope) -> list[str]:
    managers = ["contextlib.nullcontext()", 'np.errstate(all="ignore")', "contextlib.suppress(KeyError)"]
    return [f"with {s.one_of(managers)}:", *indented(inner_suite(s, 3))]


def exception(s: Scope) -> list[str]:
    body = inner_suite(s, 2)
    handler = inner_suite(s, 2)
    kind, trigger = s.one_of([
        ("ValueError", [f"if {condition(s)}:", '    raise ValueError("no")']),
        ("ZeroDivisionError", [f"c = 7 // (n - {s.rng.randint(0, 4)})"]),
        ("IndexError", ["c = TABLE[n]"]),
        ("(ValueError, KeyError)", [f"if {condition(s)}:", '    raise KeyError("no")']),
        ("Exception", ['c = {"a": 1}["b"]'] if s.chance(0.3) else []),
        ("Exception", []),
    ])  # fmt: skip
    inside = [*body, *trigger] if s.chance(0.5) else [*trigger, *body]
    lines = ["try:", *indented(inside), f"except {kind}:", *indented(handler)]
    if s.chance(0.2):
        lines += ["else:", *indented(inner_suite(s, 1))]
    if s.chance(0.2):
        lines += ["finally:", "    t = t + 0.25"]
    return lines


# ------------------------------------------------------------------------------------------------------------- loops


def loop(s: Scope) -> list[str]:
    i, e, o = s.fresh("i"), s.fresh("e"), s.fresh("e")
    k, j = atom(integer(s)), atom(integer(s, 0))
    vectors = s.arrays(1, "f") or ["x"]
    v, v2 = s.one_of(vectors), s.one_of(vectors)
    m = s.one_of(s.arrays(2, "f") or ["A"])
    number, row = np.float64(0.4), np.array(s.names[m][0]) if m in s.names else np.zeros(2)
    head, names = s.one_of([
        (f"for {i} in range({k} % 6):", {i: 1}), (f"for {i} in range({j}, 6):", {i: 1}),
        (f"for {i} in range(5, {k} % 4, -1):", {i: 1}), (f"for {i} in range(6):", {i: 1}),
        (f"for {i} in range(3):", {i: 1}), (f"for {i} in range(n):", {i: 1}), (f"for {i} in range(0, 9, 2):", {i: 1}),
        (f"for {i} in range(len({v})):", {i: 1}), (f"for {i} in range(20):", {i: 1}),
        (f"for {e} in {v}:", {e: number}), (f"for {e} in {v}[{k} % {len(s.names.get(v, [0]))} :]:", {e: number}),
        (f"for {i} in K:", {i: np.int64(1)}), (f"for {e} in {m}:", {e: row}), (f"for {i} in TABLE:", {i: 1}),
        (f"for {i}, {e} in enumerate({v}):", {i: 1, e: number}), (f"for {e}, {o} in zip({v}, {v2}):",
        {e: number, o: number}),
        (f"for {i} in reversed(range({k} % 7)):", {i: 1}), (f"for {i}, {e} in enumerate({m}):", {i: 1, e: row}),
        (f"for {e} in ({scalar(s, 0)}, {scalar(s, 0)}, 0.5):", {e: number}),
        (f"for {e} in {v}[::-1]:", {e: number}), (f"for {e} in LIST:", {e: 0.5}),
    ])  # fmt: skip
    lines = [head, *indented(inner_suite(s, 4, loop=True, names=names))]
    if s.chance(0.1):
        lines += ["else:", *indented(inner_suite(s, 1))]
    return lines


def while_loop(s: Scope) -> list[str]:
    fuel = s.fresh("fuel")
    most = s.one_of([3, 5, 9, 15])
    if s.chance(0.25):
        r = s.fresh("r")
        lines = [f"{r} = 0.3 + np.abs({scalar(s, 1)})", f"while {r} < {s.one_of(['3.0', '10', '1.1'])}:",
                 f"    {r} = {r} * 1.5"]  # fmt: skip
        s.names[r] = np.float64(1.0)
        return [*lines, *indented(inner_suite(s, 2, loop=False))]
    test = s.one_of([f"{fuel} > 0 and {condition(s)}", f"{fuel} > 0", f"{fuel} > 0 and s < 2.0", "True"])
    s.names[fuel] = most
    s.pinned.add(fuel)
    body = inner_suite(s, 3, loop=True)
    stop = [f"    if {fuel} < 1:", "        break"] if test == "True" else []
    return [f"{fuel} = {most}", f"while {test}:", f"    {fuel} -= 1", *stop, *indented(body)]


def jump(s: Scope) -> list[str]:
    if not s.loops:
        raise Unusable
    return [f"if {condition(s)}:", "    " + s.one_of(["break", "continue"])]


def early_return(s: Scope) -> list[str]:
    assert s.returns is not None
    return [f"if {condition(s)}:", f"    return {s.returns(s)}"]


IDIOMS = [
    ("flags", with_a_flag), ("iterators", with_an_iterator), ("unpacking", with_unpacking), ("floors", with_floors),
    ("choices", with_choices), ("small", with_small_arrays), ("slices", with_slices_of_slices),
    ("places", with_integers_in_arrays), ("classes", with_a_class), ("whiles", with_a_while),
    ("buffers", with_buffers), ("buffers", with_a_history), ("state", with_state_in_containers),
    ("state", with_helpers_on_views), ("algorithms", with_elimination), ("algorithms", with_an_iteration),
    ("algorithms", with_a_search), ("algorithms", with_a_model), ("mixes", with_mixed_dtypes), ("axes", with_axes),
    ("indices", with_places), ("layouts", with_layouts), ("exits", with_ways_out), ("dispatch", with_dispatch),
    ("operators", with_operators), ("inheritance", with_inheritance), ("own", with_operators_of_classes),
    ("managers", with_managers), ("patterns", with_matching), ("structures", with_structures),
    ("standard", with_the_library), ("truth", with_truth), ("transforms", with_transforms), ("cubes", with_cubes),
    ("scipy", with_scipy), ("methods", with_time_steps), ("methods", with_optimisers), ("methods", with_tables),
    ("methods", with_layers), ("outside", with_outside), ("grids", sweeps), ("grids", with_own_function),
    ("references", with_references), ("references", with_groups),
]  # fmt: skip
SIMPLE = (bind_a_number, bind_an_array, bind_an_integer, write, alias, with_a_dict, with_a_list, with_a_tuple,
          with_an_object, with_a_closure, *[make for _, make in IDIOMS])  # fmt: skip
"""Those that can be executed as they are, to see what they do; the others execute their suites."""
