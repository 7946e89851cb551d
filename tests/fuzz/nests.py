"""Nests of loops that read and write elements where they like: also behind themselves, and from the end."""

from __future__ import annotations

import random

from fuzz.scope import FEATURES, Scope, indented

SIZE = 17
"""Of the matrix that they work on, along each axis."""


def nest_alone(seed: int) -> str:
    """A module with a function `f(X)` that is one nest, for tests of what is done about loops."""
    s = Scope(random.Random(f"nest {seed}"), FEATURES, {})
    lines = ["A = 0.3 * np.sin(X)", "s = 0.5", *(_sweep(s, "A") if s.chance(0.6) else _nest(s, "A"))]
    body = "\n".join(indented([*lines, "return s + np.sum(np.cos(A))"]))
    return f"import numpy as np\n\n\ndef f(X, n=3):\n{body}\n"


def nest(s: Scope) -> list[str]:
    """Loops over a matrix of their own; every index is in its range, negative ones too."""
    name = s.fresh("N")
    lines = [f"{name} = 0.3 * np.sin(np.arange({SIZE * SIZE}.0).reshape({SIZE}, {SIZE}) * a + x[0])"]
    make = _sweep if s.chance(0.5) else _nest
    return [*lines, *make(s, name), f"s = np.tanh(s + np.sum(np.cos({name})) * 0.1)"]


def _number(s: Scope, names: tuple) -> str:
    terms = [str(s.rng.randint(-2, 3))]
    for name in names:
        c = s.one_of([0, 0, 1, 1, -1, 2])
        if c:
            terms.append(f"{c} * {name}")
    return " + ".join(terms)


def _place(s: Scope, names: tuple) -> str:
    one = s.chance(0.25)
    return ", ".join([_number(s, names) for _ in range(1 if one else 2)])


def _nest(s: Scope, A: str) -> list[str]:
    def statements(names: tuple, depth: int) -> list[str]:
        lines = []
        for _ in range(s.rng.randint(1, 3)):
            kind = s.one_of(["write", "write", "loop", "branch", "add"] if depth < 3 else ["write", "add"])
            if kind == "loop":
                name = "ijkl"[len(names)]
                lines.append(f"for {name} in range({_number(s, names)}, {s.one_of(['6', '5', *names])}):")
                lines += indented(statements((*names, name), depth + 1))
            elif kind == "branch":
                lines += [f"if ({_number(s, names)}) > 1:", *indented(statements(names, depth + 1))]
                if s.chance(0.5):
                    lines += ["else:", *indented(statements(names, depth + 1))]
            elif kind == "add":
                lines.append(f"s = np.sin(s + np.mean({A}[{_place(s, names)}] * np.cos({A}[{_place(s, names)}])))")
            else:
                value = f"np.mean(np.sin({A}[{_place(s, names)}]) * np.cos({A}[{_place(s, names)}]) + s)"
                lines.append(f"{A}[{_place(s, names)}] {s.one_of(['=', '*=', '-='])} {value}")
        return lines

    iterations = s.one_of(["range(5)", "range(1, 7)", "range(5, -1, -1)", "range(n + 2)"])
    return [f"for i in {iterations}:", *indented(statements(("i",), 1))]


def _sweep(s: Scope, A: str) -> list[str]:
    """Two loops whose inner one goes through rows and columns, forwards or backwards."""
    B = s.fresh("N")

    def at(name: str) -> str:
        return s.one_of([name, f"{name} - 1", f"{name} + 1", f"{name} + 2", f"13 - {name}"])

    def place() -> str:
        row, column = s.one_of(["i", "i", "j", "3"]), s.one_of(["j", "j", "i", "2"])
        return ", ".join([at(q) if q in "ij" else q for q in (row, column)])

    sources, targets = s.one_of([[B], [B], [A, B]]), s.one_of([[A], [A], [A, B]])

    def term() -> str:
        factor = s.one_of(["0.3", "0.2", f"{s.one_of(sources)}[{place()}]"])
        return f"{factor} * {s.one_of(sources)}[{place()}]"

    lines = [
        f"{s.one_of(targets)}[{place()}] {s.one_of(['=', '=', '+=', '*='])} "
        + " + ".join([term() for _ in range(s.rng.randint(1, 3))])
        for _ in range(s.rng.randint(1, 2))
    ]
    outer, inner = s.one_of(["2, 8", "6, 1, -1"]), s.one_of(["2, 9", "2, i", "i, 9", "8, 1, -1"])
    return [f"{B} = np.cos({A}) * 0.5", f"for i in range({outer}):", f"    for j in range({inner}):",
            *indented(indented(lines))]  # fmt: skip
