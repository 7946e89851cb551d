"""Nests of loops that read and write where they like: also behind themselves, and from the end."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

SIZE = 17
"""Of the matrix they work on, along each axis."""


@st.composite
def nests(draw: Any) -> str:
    def number(names: tuple) -> str:
        terms = [str(draw(st.integers(-2, 3)))]
        for name in names:
            c = draw(st.sampled_from([0, 0, 1, 1, -1, 2]))
            if c:
                terms.append(f"{c} * {name}")
        return " + ".join(terms)

    def place(names: tuple) -> str:
        kinds = st.sampled_from(["element", "element", "element", "row"])
        items = [number(names)] if draw(kinds) == "row" else [number(names), number(names)]
        return ", ".join(items)

    def statements(names: tuple, indent: str, depth: int) -> list[str]:
        lines = []
        for _ in range(draw(st.integers(1, 3))):
            kind = draw(st.sampled_from(["write", "write", "loop", "branch", "add"] if depth < 3 else ["write", "add"]))
            if kind == "loop":
                name = "ijkl"[len(names)]
                low, high = number(names), draw(st.sampled_from(["6", "5", *names]))
                lines.append(f"{indent}for {name} in range({low}, {high}):")
                lines += statements((*names, name), indent + "    ", depth + 1)
            elif kind == "branch":
                lines.append(f"{indent}if ({number(names)}) > 1:")
                lines += statements(names, indent + "    ", depth + 1)
                if draw(st.booleans()):
                    lines.append(f"{indent}else:")
                    lines += statements(names, indent + "    ", depth + 1)
            elif kind == "add":
                lines.append(f"{indent}s = np.sin(s + np.mean(A[{place(names)}] * np.cos(A[{place(names)}])))")
            else:
                value = f"np.mean(np.sin(A[{place(names)}]) * np.cos(A[{place(names)}]) + s)"
                lines.append(f"{indent}A[{place(names)}] {draw(st.sampled_from(['=', '*=', '-=']))} {value}")
        return lines

    body = statements(("i",), "        ", 1)
    counts = draw(st.sampled_from(["range(5)", "range(1, 7)", "range(5, -1, -1)"]))
    return "\n".join(["import numpy as np", "def f(X):", "    A = X.copy()", "    s = 0.5", f"    for i in {counts}:",
                      *body, "    return s + np.sum(np.cos(A))", ""])  # fmt: skip


@st.composite
def sweeps(draw: Any) -> str:
    """Two loops whose inner one goes through rows and columns, forwards or backwards, and stays inside the matrix."""

    def at(name: str) -> str:
        return draw(st.sampled_from([name, f"{name} - 1", f"{name} + 1", f"{name} + 2", f"13 - {name}"]))

    def place() -> str:
        row = draw(st.sampled_from(["i", "i", "j", "3"]))
        column = draw(st.sampled_from(["j", "j", "i", "2"]))
        return ", ".join([at(x) if x in "ij" else x for x in (row, column)])

    sources, targets = draw(st.sampled_from(["B", "B", "AB"])), draw(st.sampled_from(["A", "A", "AB"]))

    def term() -> str:
        factor = draw(st.sampled_from(["0.3", "0.2", f"X[{place()}]", f"{draw(st.sampled_from(sources))}[{place()}]"]))
        return f"{factor} * {draw(st.sampled_from(sources))}[{place()}]"

    lines = [
        f"            {draw(st.sampled_from(targets))}[{place()}] {draw(st.sampled_from(['=', '=', '+=', '*=']))} "
        + " + ".join([term() for _ in range(draw(st.integers(1, 3)))])
        for _ in range(draw(st.integers(1, 2)))
    ]
    outer, inner = (
        draw(st.sampled_from(["2, 8", "6, 1, -1"])),
        draw(st.sampled_from(["2, 9", "2, i", "i, 9", "8, 1, -1"])),
    )
    return "\n".join(["import numpy as np", "def f(X):", "    A, B = 0.3 * np.sin(X), 0.3 * np.cos(X)",
                      f"    for i in range({outer}):", f"        for j in range({inner}):", *lines,
                      "    return np.sum(np.sin(A) * np.cos(B))", ""])  # fmt: skip
