"""The tables and the graph of the survey (Baydin et al. 2018): tables 2 and 3 and figure 4, to the digit.

If the source of the survey is at hand (`SURVEY`, or `survey.tex` beside the project), its tables are read from there;
otherwise what they say is written down here.
"""

import os
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest

import wengert as wg


def f(x1, x2):
    a, b, c = np.log(x1), x1 * x2, np.sin(x2)
    return a + b - c


PRIMAL = [
    "v_{-1}|x_1|2", "v_0|x_2|5", r"v_1|\ln{v_{-1}}|\ln{2}", r"v_2|v_{-1}\times v_0|2\times5", r"v_3|\sin{v_0}|\sin{5}",
    "v_4|v_1+v_2|0.693+10", "v_5|v_4-v_3|10.693+0.959", "y|v_5|11.652",
]  # fmt: skip
TANGENT = [
    r"\dot{v}_{-1}|\dot{x}_1|1", r"\dot{v}_0|\dot{x}_2|0", r"\dot{v}_1|\dot{v}_{-1}/v_{-1}|1/2",
    r"\dot{v}_2|\dot{v}_{-1}\times v_0+\dot{v}_0\times v_{-1}|1\times5+0\times2",
    r"\dot{v}_3|\dot{v}_0\times\cos{v_0}|0\times\cos{5}", r"\dot{v}_4|\dot{v}_1+\dot{v}_2|0.5+5",
    r"\dot{v}_5|\dot{v}_4-\dot{v}_3|5.5-0", r"\dot{y}|\dot{v}_5|5.5",
]  # fmt: skip
ADJOINT = [
    r"\bar{x}_1|\bar{v}_{-1}|5.5", r"\bar{x}_2|\bar{v}_0|1.716",
    r"\bar{v}_{-1}|\bar{v}_{-1}+\bar{v}_1\frac{\partial v_1}{\partial v_{-1}}|\bar{v}_{-1}+\bar{v}_1/v_{-1}|5.5",
    r"\bar{v}_0|\bar{v}_0+\bar{v}_2\frac{\partial v_2}{\partial v_0}|\bar{v}_0+\bar{v}_2\times v_{-1}|1.716",
    r"\bar{v}_{-1}|\bar{v}_2\frac{\partial v_2}{\partial v_{-1}}|\bar{v}_2\times v_0|5",
    r"\bar{v}_0|\bar{v}_3\frac{\partial v_3}{\partial v_0}|\bar{v}_3\times\cos{v_0}|-0.284",
    r"\bar{v}_2|\bar{v}_4\frac{\partial v_4}{\partial v_2}|\bar{v}_4\times1|1",
    r"\bar{v}_1|\bar{v}_4\frac{\partial v_4}{\partial v_1}|\bar{v}_4\times1|1",
    r"\bar{v}_3|\bar{v}_5\frac{\partial v_5}{\partial v_3}|\bar{v}_5\times(-1)|-1",
    r"\bar{v}_4|\bar{v}_5\frac{\partial v_5}{\partial v_4}|\bar{v}_5\times1|1",
    r"\bar{v}_5|\bar{y}|1",
]  # fmt: skip


def lines_of(latex: str) -> list[str]:
    """The lines of a LaTeX table as cells without = and spaces, empty ones left out."""
    found = []
    for line in latex.split(r"\\"):
        cells = [re.sub(r"\s|^=|\\boldsymbol", "", cell).lstrip("=") for cell in re.findall(r"\$([^$]+)\$", line)]
        if cells:
            found.append("|".join(cells))
    return found


def normal(lines: list[str]) -> list[str]:
    return [re.sub(r"\s", "", line) for line in lines]


def parts_of(latex: str, columns: int) -> tuple[list[str], list[str]]:
    """The lines of the primal trace, and those of the trace beside it, of one of our tables."""
    left, right = [], []
    for line in re.findall(r"^(.*&.*) \\\\$", latex, re.MULTILINE):
        cells = line.replace(r"\boldsymbol{", "{").split("&")
        for into, own in ((left, cells[:columns]), (right, cells[columns:])):
            shown = [re.sub(r"\s", "", c).strip("$").lstrip("=") for c in own if c.strip()]
            shown = [c[1:-1] if c.startswith("{") else c for c in shown]
            if shown and "multicolumn" not in shown[0]:
                into.append("|".join(shown))
    return left, right


def survey() -> str | None:
    places = [Path(os.environ.get("SURVEY", "survey.tex"))]
    places += [
        folder / name for folder in Path(__file__).resolve().parents for name in ("survey.tex", "shared/survey.tex")
    ]
    found = next((p for p in places if p.is_file()), None)
    return None if found is None else found.read_text(encoding="utf-8")


def test_what_is_written_here_is_what_the_survey_says():
    text = survey()
    if text is None:
        pytest.skip("the source of the survey is not at hand")
    tables = []
    for label in ("TableForwardADExample", "TableReverseADExample"):
        inside = text[text.index(rf"\label{{{label}}}") :]
        inside = inside[: inside.index(r"\end{table}")]
        tables += [
            lines_of(re.sub(r"\\multirow.*?\\end\{tikzpicture\}\}", "", part))
            for part in inside.split(r"\begin{tabularx}")[1:]
        ]
    assert tables == [normal(PRIMAL), normal(TANGENT), normal(PRIMAL), normal(ADJOINT)]


def test_table_2():
    t = wg.trace(f, 2.0, 5.0, tangent=(1.0, 0.0))
    assert parts_of(t.latex(), 3) == (normal(PRIMAL), normal(TANGENT))


def test_table_3():
    t = wg.trace(f, 2.0, 5.0, cotangent=1.0)
    assert parts_of(t.latex(), 3) == (normal(PRIMAL), normal(ADJOINT))


TABLE_3 = """
Forward primal trace                         Reverse adjoint trace
v₋₁ = x₁        = 2                          x̄₁  = v̄₋₁                                  = 5.5
v₀  = x₂        = 5                          x̄₂  = v̄₀                                   = 1.716
───────────────────────────────────────────────────────────────────────────────────────────────
v₁  = ln v₋₁    = ln 2            = 0.693    v̄₋₁ = v̄₋₁ + v̄₁ ∂v₁/∂v₋₁  = v̄₋₁ + v̄₁ / v₋₁  = 5.5
v₂  = v₋₁ × v₀  = 2 × 5           = 10       v̄₀  = v̄₀ + v̄₂ ∂v₂/∂v₀    = v̄₀ + v̄₂ × v₋₁   = 1.716
                                             v̄₋₁ = v̄₂ ∂v₂/∂v₋₁        = v̄₂ × v₀         = 5
v₃  = sin v₀    = sin 5           = −0.959   v̄₀  = v̄₃ ∂v₃/∂v₀         = v̄₃ × cos v₀     = −0.284
v₄  = v₁ + v₂   = 0.693 + 10      = 10.693   v̄₂  = v̄₄ ∂v₄/∂v₂         = v̄₄ × 1          = 1
                                             v̄₁  = v̄₄ ∂v₄/∂v₁         = v̄₄ × 1          = 1
v₅  = v₄ − v₃   = 10.693 + 0.959  = 11.652   v̄₃  = v̄₅ ∂v₅/∂v₃         = v̄₅ × (−1)       = −1
                                             v̄₄  = v̄₅ ∂v₅/∂v₄         = v̄₅ × 1          = 1
───────────────────────────────────────────────────────────────────────────────────────────────
y   = v₅        = 11.652                     v̄₅  = ȳ                  = 1
"""


def test_table_3_as_text():
    def without_rules(text):
        lines = unicodedata.normalize("NFD", text).strip("\n").splitlines()
        return [line for line in lines if not line.startswith("─")]

    assert without_rules(wg.trace(f, 2.0, 5.0, cotangent=1.0).text(source=False)) == without_rules(TABLE_3)


def test_figure_4():
    """The edges of the figure, its layers, and what stands at its ends."""
    graph = wg.trace(f, 2.0, 5.0).graph()
    names = [node.variables[0].index for node in graph.folded.nodes]
    edges = {(names[e.source], names[e.target]) for e in graph.folded.edges}
    assert edges == {(-1, 1), (-1, 2), (0, 2), (0, 3), (1, 4), (2, 4), (3, 5), (4, 5)}
    columns = {name: graph.drawing.placed.centres[2 + k][0] for k, name in enumerate(names)}
    layers = sorted(set(columns.values()))
    assert [layers.index(columns[name]) for name in (-1, 0, 1, 2, 3, 4, 5)] == [0, 0, 1, 1, 2, 2, 3]
    assert [t.text for t in graph.drawing.terminals] == ["x₁", "x₂", "f(x₁, x₂)"]
