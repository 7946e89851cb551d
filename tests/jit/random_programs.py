"""Random programs: nested loops, branches, writes, jumps, on floats and integers. Hypothesis draws their source text.

Every program is a function `f(x, A, k, n, m, a)` of arrays, integers and a number. Floats stay small (what is computed
goes through tanh or sin now and then), integers too, loops end, and every variable has a value from the start.
"""

from __future__ import annotations

import importlib.util
import itertools
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

FLOATS = ("s", "t", "a")
INTEGERS = ("c", "d", "n", "m")
VECTORS = {"x": 6, "w": 6}
ROWS, COLUMNS = 4, 5
FOLDER = tempfile.TemporaryDirectory()
_numbers = itertools.count()

HEAD = """import math

import numpy as np

import wengert as wg


def clipped(u, v):
    if u > v:
        return v
    for i in range(5):
        if u * i < -1.0:
            return -v * u
    return u


def picked(z, j):
    if j < 0:
        return 0.5
    return z[j % len(z)] * 2.0


def f(x, A, k, n, m, a):
    s, t = 0.25, 0.5 * a
    c, d = 1, n
    w = np.zeros(6)
    fuel = 9
"""


def imported(source: str) -> Any:
    """The module with this source."""
    name = f"program_{next(_numbers)}"
    path = Path(FOLDER.name) / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


class Names:
    """The variables that can be read, besides those that always can."""

    def __init__(self, floats: tuple = (), integers: tuple = (), vectors: tuple = (), in_loop: bool = False,
                 deep: int = 0):  # fmt: skip
        self.floats, self.integers, self.vectors, self.in_loop, self.deep = floats, integers, vectors, in_loop, deep

    def inside(self, floats: tuple = (), integers: tuple = (), vectors: tuple = ()) -> Names:
        return Names(self.floats + floats, self.integers + integers, self.vectors + vectors, True, self.deep + 1)


@st.composite
def integers(draw: Any, names: Names, depth: int = 1) -> str:
    kind = draw(st.integers(0, 7 if depth else 2))
    if kind == 0:
        return str(draw(st.integers(-2, 4)))
    if kind < 3:
        return draw(st.sampled_from(INTEGERS + names.integers))
    x, y = draw(integers(names, depth - 1)), draw(integers(names, 0))
    return {
        3: f"({x} + {y})",
        4: f"({x} - {y})",
        5: f"({x} * 2 - {y}) % 7",
        6: f"k[{x} % 5]",
        7: f"({x} // 2 if {y} > 1 else {y})",
    }[kind]


@st.composite
def floats(draw: Any, names: Names, depth: int = 2) -> str:
    kind = draw(st.integers(0, 14 if depth else 3))
    if kind == 0:
        return str(draw(st.sampled_from([0.5, -1.0, 2.0, 0.3])))
    if kind < 4:
        return draw(st.sampled_from(FLOATS + names.floats))
    x, y = draw(floats(names, depth - 1)), draw(floats(names, 0))
    i, j = draw(integers(names)), draw(integers(names, 0))
    v = draw(st.sampled_from((*VECTORS, *names.vectors)))
    n = VECTORS.get(v, COLUMNS)
    return {
        4: f"({x} + {y})",
        5: f"({x} - 0.5 * {y})",
        6: f"np.sin({x} * {y})",
        7: f"{v}[({i}) % {n}]",
        8: f"{v}[-1 - ({i}) % {n}]",
        9: f"A[({i}) % {ROWS}, ({j}) % {COLUMNS}]",
        10: f"np.tanh(np.sum({v}[({i}) % {n} :]))",
        11: f"np.tanh({v}[: ({i}) % {n}] @ {v}[: ({i}) % {n}])",
        12: f"({x} if {y} > 0.1 else -{x})",
        13: f"clipped({x}, {y})",
        14: f"picked({v}, {i})",
    }[kind]


@st.composite
def conditions(draw: Any, names: Names) -> str:
    i, j = draw(integers(names)), draw(integers(names, 0))
    x, y = draw(floats(names, 1)), draw(floats(names, 0))
    return draw(
        st.sampled_from(
            [
                f"{x} > {y}",
                f"{i} < {j}",
                f"({i}) % 2 == 0",
                f"{x} > 0.1 and {i} != {j}",
                f"{x} < {y} or ({i}) % 3 == 1",
                f"not {x} > {y}",
                f"0 <= {i} < {j} + 3",
            ]
        )
    )


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def suites(draw: Any, names: Names, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(statements(names, depth))
    return lines


@st.composite
def loops(draw: Any, names: Names, depth: int) -> list[str]:
    i, j = draw(integers(names)), draw(integers(names, 0))
    at = names.deep
    counter, item, other = f"i{at}", f"v{at}", f"u{at}"
    head, inner = draw(
        st.sampled_from(
            [
                (f"for {counter} in range(({i}) % 6):", names.inside(integers=(counter,))),
                (f"for {counter} in range({j}, 6):", names.inside(integers=(counter,))),
                (f"for {counter} in range(5, ({i}) % 4, -1):", names.inside(integers=(counter,))),
                (f"for {counter} in range(6):", names.inside(integers=(counter,))),
                (f"for {counter} in range(0, 9, 2):", names.inside(integers=(counter,))),
                (f"for {item} in x:", names.inside(floats=(item,))),
                (f"for {item} in w[({i}) % 4 :]:", names.inside(floats=(item,))),
                (f"for {counter} in k:", names.inside(integers=(counter,))),
                (f"for {item} in A:", names.inside(vectors=(item,))),
                (f"for {counter}, {item} in enumerate(x):", names.inside((item,), (counter,))),
                (f"for {item}, {other} in zip(x, w):", names.inside(floats=(item, other))),
                (f"for {counter} in reversed(range(({i}) % 7)):", names.inside(integers=(counter,))),
                (f"while fuel > 0 and ({draw(conditions(names))}):", names.inside()),
                ("while fuel > 0:", names.inside()),
            ]
        )
    )
    body = draw(suites(inner, depth - 1))
    return [head, *(["    fuel -= 1"] if head.startswith("while") else []), *indented(body)]


@st.composite
def statements(draw: Any, names: Names, depth: int) -> list[str]:
    kinds = ["float", "float", "integer", "write", "write", "slice"]
    kinds += ["jump"] * (2 if names.in_loop else 0) + ["return"] * (1 if names.in_loop else 0)
    kinds += ["if", "if", "loop", "loop"] if depth else []
    kind = draw(st.sampled_from(kinds))
    x = draw(floats(names))
    i, j = draw(integers(names)), draw(integers(names, 0))
    s, c = draw(st.sampled_from(["s", "t"])), draw(st.sampled_from(["c", "d"]))
    v = draw(st.sampled_from(list(VECTORS)))
    if kind == "float":
        return [draw(st.sampled_from([f"{s} = {x}", f"{s} = np.tanh({s} + {x})", f"{s} *= 0.9", f"s, t = t, {x}"]))]
    if kind == "integer":
        rounded = f"{c} = int(wg.stop_gradient(3 * np.sin({x})))"
        return [draw(st.sampled_from([f"{c} = ({i}) % 9", f"{c} += 1", rounded, "c, d = d, c"]))]
    if kind == "write":
        return [
            draw(
                st.sampled_from(
                    [
                        f"{v}[({i}) % 6] = {x}",
                        f"{v}[-1 - ({i}) % 6] += np.sin({x})",
                        f"A[({i}) % {ROWS}, ({j}) % {COLUMNS}] = {x}",
                        f"A[({i}) % {ROWS}][({j}) % {COLUMNS}] *= 0.5",
                        f"{v}[({i}) % 6], {v}[({j}) % 6] = {v}[({j}) % 6], {v}[({i}) % 6]",
                    ]
                )
            )
        ]
    if kind == "slice":
        return [
            draw(
                st.sampled_from(
                    [
                        f"{v}[({i}) % 6 :] = np.tanh({x})",
                        f"{v}[({i}) % 6 :] *= 0.8",
                        f"{v}[: ({i}) % 7] = {v}[: ({i}) % 7] * np.sin({x})",
                        f"{v}[({j}) % 3 : ({j}) % 3 + 2] += x[2:4]",
                        f"A[({i}) % {ROWS}] = np.tanh(A[({j}) % {ROWS}] + {x})",
                        f"A[({i}) % {ROWS}, 1:] += 0.1 * {x}",
                        f"A[:, ({i}) % {COLUMNS}] *= 0.7",
                        f"w = np.sin(w + {x})",
                        f"x[x > {x}] = 0.3",
                        "x[1:] = 0.5 * x[:-1]",
                        "w = np.where(w > x, w, 0.5 * x)",
                    ]
                )
            )
        ]
    if kind == "jump":
        return [f"if {draw(conditions(names))}:", "    " + draw(st.sampled_from(["break", "continue"]))]
    if kind == "return":
        return [f"if {draw(conditions(names))}:", f"    return {x}, t, c, w"]
    if kind == "if":
        lines = [f"if {draw(conditions(names))}:", *indented(draw(suites(names, depth - 1)))]
        if draw(st.booleans()):
            lines += [f"elif {draw(conditions(names))}:", *indented(draw(suites(names, depth - 1)))]
        if draw(st.booleans()):
            lines += ["else:", *indented(draw(suites(names, depth - 1)))]
        return lines
    return draw(loops(names, depth))


@st.composite
def programs(draw: Any, depth: int = 3) -> str:
    lines = draw(suites(Names(), depth)) + draw(loops(Names(), depth))
    return HEAD + "\n".join([*indented(lines), "    return s, t, c, w", ""])
