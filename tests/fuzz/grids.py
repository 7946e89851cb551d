"""Sweeps over grids, as simulations have them: stencils, ghost cells, boundaries, arrays that change places, views of
views, masks; and functions that are given parts of arrays, also parts of one array, and write to them.

Nothing is a fixed pattern: a sweep is some random statements over slices of arrays of one shape, of one to three axes.
"""

from __future__ import annotations

import itertools

import numpy as np

from fuzz.arrays import fitting
from fuzz.expressions import atom, below, condition, integer, scalar
from fuzz.scope import Scope, Unusable, indented

Slice = tuple[str, ...]


def sweeps(s: Scope) -> list[str]:
    """A loop of such statements, over two or three arrays."""
    grids = [s.fresh("u") for _ in range(s.rng.randint(2, 3))]
    lines = _start(s, grids)
    s.run("\n".join(lines))
    body = list(itertools.chain.from_iterable(_statement(s, grids, "k") for _ in range(s.rng.randint(1, 4))))
    head = s.one_of(["for k in range({}):"] * 4 + ["for k in range({}, 0, -1):", "k = 0\nwhile k < {}:"])
    count = s.one_of(["2", "3", "n", "n + 1", "5"])
    if "while" in head:
        body = ["k += 1", *body]
    if s.chance(0.2):
        body += [f"if {condition(s, 0)}:", f"    {s.one_of(['break', 'continue'])}"]
    elif s.chance(0.3):
        body += _change_places(s, grids)
    lines += [*head.format(count).split("\n"), *indented(body)]
    if s.chance(0.3):
        lines += _statement(s, grids, "1")
    return [*lines, f"s = np.tanh(s + 0.1 * np.sum({' + '.join(grids[1:])}) - {grids[0]}.flat[0])"]


def _start(s: Scope, grids: list[str]) -> list[str]:
    """Arrays of one shape: given ones, parts of them, new ones."""
    ndim = s.one_of([1, 1, 2, 2, 2, 3])
    n = s.one_of([3, 4, 5])
    given = [f"x[: {n}]", "x", "x[::-1]"] if ndim == 1 else ["A", "A", "A[::-1]", "A[:, ::-1]"]
    if ndim == 3:
        given = ["np.stack([A, 0.5 * A, np.sin(A)])", "A * np.ones((3, 1, 1))"]
    first = s.one_of(given)
    if s.chance(0.4):  # ghost cells around what is given
        inside = ", ".join(["1:-1"] * ndim)
        size = ", ".join([f"{atom(first)}.shape[{axis}] + 2" for axis in range(ndim)])
        mode = s.one_of(["constant", "edge", "wrap"])
        zeros = [f"{grids[0]} = np.zeros(({size},))", f"{grids[0]}[{inside}] = {first}"]
        start = s.one_of([zeros, [f"{grids[0]} = np.pad({first}, 1, mode={mode!r})"]])
    else:
        start = [f"{grids[0]} = {s.one_of([first, f'{first} * 1.0', f'np.cos({first})', f'{first}.copy()'])}"]
    for g in grids[1:]:
        u = s.one_of(grids[: grids.index(g)])
        start.append(s.one_of([f"{g} = np.zeros_like({u})", f"{g} = {u} * 0.5", f"{g} = {u}.copy()", f"{g} = {u}",
                               f"{g} = {u}[::-1]", f"{g} = np.ones({u}.shape)", f"{g} = np.sin({u})[..., ::-1]",
                               f"{g} = np.full_like({u}, {scalar(s, 0)})"]))  # fmt: skip
    return start


def _statement(s: Scope, grids: list[str], k: str) -> list[str]:
    """One of what is done in a sweep."""
    g = s.one_of(grids)
    shape = np.shape(s.names[g])
    c = s.one_of(["0.5", "0.25", "-0.3", "a", scalar(s, 0), f"(0.1 * {k})"])
    edge, beside = _edge(s, len(shape)), _edge(s, len(shape))
    where = f"{s.one_of(grids)} > {atom(scalar(s, 0))}"
    makes = ["stencil"] * 4 + ["edge"] * 3 + ["element"] * 2
    make = s.one_of([*makes, "places", "anew", "view", "mask", "ufunc", "if", "rows", "copy"])
    if make == "stencil":
        return _stencil(s, grids, c)
    if make == "edge":
        return s.one_of([
            [f"{g}[{edge}] = {s.one_of(grids)}[{beside}]" if _same(shape, edge, beside) and len(shape) != 2
             else f"{g}[{edge}] = 1.0 * {s.one_of(grids)}[{edge}]"],
            [f"{g}[{edge}] {s.one_of(['=', '*=', '+='])} {c}"], [f"{g}[{edge}] = -1.0 * {g}[{_beside(edge)}]"],
            [f"{g}[{edge}] = 2 * {g}[{_beside(edge)}] - {c}"],
        ])  # fmt: skip
    if make == "if":
        return [f"if {s.one_of([f'{k} % 2 == 0', condition(s, 0)])}:", *indented(_statement(s, grids, k))]
    if make == "view":
        other = s.one_of(grids)
        cut = s.one_of(["::-1", "1:", ":-1", "...", "::-1, ..."]) if len(shape) > 1 else s.one_of(["::-1", "1:", ":-1"])
        again = s.one_of(["[::-1]", "[...]", "[1:]", ".T", "[None][0]"])
        return [f"part = {g}[{cut}]{again}", f"part {s.one_of(['+=', '*=', '-='])} {c}",
                f"{other}[...] = {other} + 0.1 * np.sum(part)"]  # fmt: skip
    if make == "rows" and len(shape) > 1:
        return s.one_of([
            [f"for row, q in zip({g}, {s.one_of(grids)}[::-1]):", f"    row {s.one_of(['+=', '-='])} {c} * q"],
            [f"for row in {g}.T:", f"    row *= {c}", "    row[0] = row[-1] * 0.5"],
            [f"for i in range(len({g})):", f"    {g}[i] -= {c} * {g}[(i - 1) % len({g})]"],
            [f"for i in range(len({g}) // 2):", f"    {g}[i], {g}[-1 - i] = {g}[-1 - i] * 1.0, {g}[i] * {c}"],
        ])  # fmt: skip
    u = s.one_of(grids)
    return s.one_of({
        "places": [_change_places(s, grids)], "element": [_element(s, g, u, k, c)],
        "copy": [[f"{g}[...] = {u}"], [f"np.copyto({g}, {u})"], [f"{g} = {u}.copy()"]],
        "anew": [[f"{g} = {g} * {c} + {u}"], [f"{g} = np.tanh({u})"], [f"{g} = {u}"],
                 [f"{g} = np.where({where}, {g}, {u})"]],
        "mask": [[f"{g}[{where}] = {c}"], [f"{g}[{where}] *= 0.5"], [f"{g}[...] = np.where({where}, {u}, {c})"],
                 [f"np.copyto({g}, {u} * 0.5, where={where})"]],
        "ufunc": [[f"np.add({g}, {u}, out={s.one_of(grids)})"], [f"np.multiply({g}, {c}, out={g}, where={where})"],
                  [f"np.tanh({u}, out={g})"], [f"np.subtract({g}[1:], {u}[:-1], out={g}[1:])"],
                  [f"np.maximum({g}, {u}, {s.one_of(grids)})"], [f"np.add.at({g}, [0, 1, 0], {c})"],
                  [f"np.cumsum({g}, axis={s.rng.randrange(-len(shape), len(shape))}, out={g})", f"{g} *= 0.3"],
                  [f"np.negative({u}[::-1], out={g})"]],
        "rows": [[f"for i in range(1, len({g})):", f"    {g}[i] = 0.5 * {g}[i - 1] + {u}[-i]"]],
    }[make])  # fmt: skip


def _stencil(s: Scope, grids: list[str], c: str) -> list[str]:
    """What is inside is made of what is around it."""
    target, ndim = s.one_of(grids), np.ndim(s.names[grids[0]])
    centre = ["1:-1"] * ndim
    terms = []
    for _ in range(s.rng.randint(1, 3)):
        at = list(centre)
        axis = s.rng.randrange(ndim)
        at[axis] = s.one_of([":-2", "2:", "1:-1", "-2:0:-1"])
        terms.append(f"{s.one_of([c, '0.2'])} * {s.one_of(grids)}[{', '.join(at)}]")
    rest = s.one_of(["", f" * {s.one_of(grids)}[{', '.join(centre)}]", f" + {atom(c)}"])
    return [f"{target}[{', '.join(centre)}] {s.one_of(['=', '=', '+=', '-=', '*='])} {' + '.join(terms)}{rest}"]


def _edge(s: Scope, ndim: int) -> str:
    """The first or last place along an axis, and all or some along the others."""
    at = [s.one_of([":", ":", "1:-1", "::-1", "..."]) for _ in range(ndim)]
    if at.count("...") > 1:
        at = [":" if q == "..." else q for q in at]
    at[s.rng.randrange(ndim)] = s.one_of(["0", "-1", "-1", ":1", "-1:"])
    return ", ".join(at)


def _beside(edge: str) -> str:
    """The place beside it, towards the inside."""
    inner = {"0": "1", "-1": "-2", ":1": "1:2", "-1:": "-2:-1"}
    return ", ".join([inner.get(q, q) for q in edge.split(", ")])


def _same(shape: tuple, edge: str, other: str) -> bool:
    a = np.zeros(shape)
    return bool(eval(f"a[{edge}].shape == a[{other}].shape", {"a": a}))


def _change_places(s: Scope, grids: list[str]) -> list[str]:
    if len(grids) == 2 or s.chance(0.5):
        u, v = s.rng.sample(grids, 2)
        return s.one_of([[f"{u}, {v} = {v}, {u}"], [f"{u}, {v} = {v}, {u}"], [f"{u}, {v} = {v} * 0.5, {u}"],
                         [f"{u}[...], {v}[...] = {v}.copy(), {u} * 0.9"]])  # fmt: skip
    return [f"{', '.join(grids)} = {', '.join([*grids[1:], grids[0]])}"]


def _element(s: Scope, g: str, u: str, k: str, c: str) -> list[str]:
    """Elements at places that are computed: around a ring, by halves, from the end."""

    def at(n: int) -> str:
        return s.one_of([f"{k} % {n}", f"({k} - 1) % {n}", f"({k} + 1) % {n}", f"({k} // 2) % {n}", f"-1 - {k} % {n}",
                         f"({atom(integer(s))} + {k}) % {n}", f"{n - 1} - {k} % {n}", "0", "-1"])  # fmt: skip

    shape = np.shape(s.names[g])
    one, other = ", ".join(map(at, shape)), ", ".join(map(at, shape))
    return s.one_of([
        [f"{g}[{one}] {s.one_of(['=', '+=', '*=', '-='])} {atom(c)} * {u}[{other}]"],
        [f"{g}[{one}], {u}[{other}] = {u}[{other}], {c}"],
        [f"for i in range({shape[0]}):", f"    if {g}[i].flat[0] > {atom(scalar(s, 0))}:" if len(shape) > 1
         else f"    if {g}[i] > {atom(scalar(s, 0))}:", "        continue", f"    {g}[i] -= 0.3 * {u}[i - 1]"],
    ])  # fmt: skip


# ----------------------------------------------------------------------------------------------- functions of arrays


def with_own_function(s: Scope) -> list[str]:
    """A function of two arrays, which may be one, or overlap; it writes to them, and gives one of them back, or a view,
    or their sum. What it does is written for the arrays that it is called with first."""
    g, p, q, k = s.fresh("g"), s.fresh("u"), s.fresh("u"), s.fresh("u")
    w = s.one_of(s.arrays(1, "f") or ["x"])
    n = len(s.names.get(w, [0, 0]))
    if n < 2:
        raise Unusable
    first, second = s.one_of([(w, w), (f"{w}[1:]", f"{w}[:-1]"), (w, f"{w}[::-1]"), (w, f"{w}.copy()"),
                              (f"{w}[::-1]", w), ("A[0]", "A[1]"), ("A[0]", "A[0]"), ("A[:, 0]", "A[:, -1]"),
                              (f"{w} * 1.0", w),
                              (f"{w}[: {n // 2}]", f"{w}[{n - n // 2} :]")])  # fmt: skip
    lines = [f"{p}, {q} = {first}, {second}"]
    s.run(lines[0])
    m = len(s.names[p])
    body: list[str] = []
    for _ in range(s.rng.randint(1, 3)):
        u, v = s.rng.sample([p, q], 2)
        one = s.one_of([
            [f"{u}[{below(s, m)}] {s.one_of(['=', '+=', '*='])} {scalar(s, 0)}"], [f"{u} += 0.5 * {v}"],
            [f"{u}[:] = 1.0 * {v}[::-1]"], [f"{u} = {u} * 0.5 + {v}"], [f"{u}, {v} = {v}, {u}"], [f"{u} = {v}"],
            [f"{u}[1:] -= 0.3 * {v}[:-1]"], [f"for i in range({m}):", f"    {u}[i] = 0.5 * {v}[i - 1] + {u}[i]"],
            [f"{u} = {u}[::-1]"], [f"if np.sum({u}) > {atom(scalar(s, 0))}:", f"    return {v}"], [f"{u} *= {v}[0]"],
            [f"{u}[:] = {fitting(s, (m,))} * 1.0"],
            ["for i in range(n):", f"    {u}[i % {m}], {v}[0] = {v}[i // 2 % {m}], 0.5"],
        ])  # fmt: skip
        body += one
    back = s.one_of([p, q, p, f"{p} + {q}", f"{p}[::-1]"])
    lines = [f"def {g}({p}, {q}, n):", *indented([*body, f"return {back}"]), ""]
    calls = s.one_of([
        [f"{k} = {g}({first}, {second}, n)", f"{k}[0] = {scalar(s, 0)}"],
        [f"{k} = {g}({first}, {second}, 2)", f"{k} = {g}({k}, {second}, n)"],
        [f"for i in range({s.one_of(['2', 'n', '3'])}):", f"    {g}({first}, {second}, i)"],
        [f"{k} = {first}", f"for i in range({s.one_of(['2', 'n'])}):", f"    {k} = {g}({k}, {second}, i)",
         f"{k}[-1] += 0.5"],
        [f"if {condition(s, 0)}:", f"    {g}({first}, {second}, n)"],
    ])  # fmt: skip
    del s.names[p], s.names[q]
    return [*lines, *calls, f"s = np.tanh(s + np.sum({w}))"]
