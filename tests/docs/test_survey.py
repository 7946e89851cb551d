"""The survey, executable: its tables and figures are generated, and say what mathematics says they must."""

from __future__ import annotations

import importlib.util
import re
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import wengert as wg

FOLDER = Path(__file__).parent.parent.parent / "docs" / "survey"
GENERATORS = sorted(p.stem for p in FOLDER.glob("make_*.py"))
NEEDS_SYMPY = pytest.mark.skipif(importlib.util.find_spec("sympy") is None, reason="needs SymPy")
HAS_SYMPY = importlib.util.find_spec("sympy") is not None


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(FOLDER)):
            del sys.modules[name]


def load(name: str):
    return importlib.import_module(name)


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_runs(name, tmp_path):
    if name in ("make_ways", "make_swell") and not HAS_SYMPY:
        pytest.skip("needs SymPy")
    load(name).make(tmp_path, True)
    written = {p.name for p in tmp_path.iterdir()}
    assert written
    assert written <= {p.name for p in (FOLDER / "generated").iterdir()}, "run the generator, its files are missing"


@pytest.mark.parametrize("name", ["make_traces", "make_tools"])
def test_what_is_generated_is_up_to_date(name, tmp_path):
    """What does not depend on the machine or on SymPy's version is what the pages show."""
    load(name).make(tmp_path, False)
    for path in tmp_path.iterdir():
        assert path.read_text(encoding="utf-8") == (FOLDER / "generated" / path.name).read_text(encoding="utf-8"), (
            path.name
        )


def test_figures_are_pictures():
    for path in (FOLDER / "generated").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("<svg")
        assert "NaN" not in text
        assert "nan" not in re.sub(r"[A-Za-z]nan|nan[A-Za-z]", "", text)


# ---- figure 2


@NEEDS_SYMPY
def test_every_way_but_the_quotient_is_exact():
    ways = load("make_ways")
    truth = ways.exact()
    assert truth == Fraction(90660864, 10**7)
    for name, value in ways.values().items():
        error = abs(Fraction(value) - truth) / truth
        assert error < (Fraction(1, 10**14) if "h =" not in name else Fraction(1, 10**5)), name
    assert abs(ways.by_difference(ways.X0) - float(truth)) > 1e-6


def test_the_coefficients_are_those_of_the_iterated_map():
    p = [Fraction(0), Fraction(1)]
    for _ in range(3):
        squares = [Fraction(0)] * (2 * len(p) - 1)
        for i, a in enumerate(p):
            for j, b in enumerate(p):
                squares[i + j] += a * b
        p = [4 * (a - s) for a, s in zip(p + [Fraction(0)] * (len(squares) - len(p)), squares, strict=True)]
    derivative = [k * c for k, c in enumerate(p)][1:]
    assert [64 * c for c in load("make_ways").COEFFICIENTS] == derivative


# ---- table 1


@NEEDS_SYMPY
def test_expressions_swell_and_programs_do_not():
    import sympy

    rows = wg.expression_swell(6)
    x = sympy.Symbol("x")
    for row in rows:
        symbol = next(iter(row.expression.free_symbols))
        iterate = symbol
        for _ in range(row.n - 1):
            iterate = 4 * iterate * (1 - iterate)
        assert sympy.expand(row.expression - iterate) == 0
        for derivative in (row.derivative, row.simplified):
            assert sympy.expand(derivative - sympy.diff(sympy.expand(iterate), symbol)) == 0
        assert sympy.degree(sympy.expand(row.expression.subs(symbol, x)), x) == 2 ** (row.n - 1)
    swollen = [row.operations["dlₙ/dx"] for row in rows]
    assert all(b > 2 * a for a, b in pairwise(swollen[2:]))
    for way in ("program", "forward AD", "reverse AD"):
        counts = [row.operations[way] for row in rows]
        assert len(set(np.diff(counts)[1:])) == 1, "grows by the same number with each step"


# ---- figure 3


def slope(steps, errors, low, high):
    chosen = (steps > low) & (steps < high)
    return np.polyfit(np.log(steps[chosen]), np.log(errors[chosen]), 1)[0]


def test_truncation_and_rounding():
    steps = np.logspace(-17, -1, 193)
    found = load("make_steps").errors(steps)
    assert slope(steps, found["forward"], 1e-6, 1e-3) == pytest.approx(1, abs=0.05)
    assert slope(steps, found["center"], 1e-5, 1e-2) == pytest.approx(2, abs=0.1)
    assert slope(steps, found["complex step"], 1e-6, 1e-2) == pytest.approx(2, abs=0.1)
    assert slope(steps, found["forward"], 1e-15, 1e-10) == pytest.approx(-1, abs=0.25)
    assert slope(steps, found["center"], 1e-15, 1e-9) == pytest.approx(-1, abs=0.25)
    epsilon = np.finfo(float).eps
    smallest = {name: steps[np.argmin(e)] for name, e in found.items()}
    assert epsilon**0.5 / 20 < smallest["forward"] < epsilon**0.5 * 20
    assert epsilon ** (1 / 3) / 30 < smallest["center"] < epsilon ** (1 / 3) * 30
    assert np.max(found["complex step"][steps < 1e-9]) < 1e-13
    assert np.max(found["AD, reverse"]) < 1e-13


# ---- tables 2 and 3, figure 4


def test_traces_and_graph():
    traces, functions = load("make_traces"), load("functions")
    x1, x2 = traces.POINT
    found = wg.trace(functions.f, x1, x2, tangent=(1.0, 0.0), cotangent=1.0)
    assert found.value == pytest.approx(np.log(x1) + x1 * x2 - np.sin(x2))
    assert found.tangent == pytest.approx(1 / x1 + x2)
    assert found.gradient == pytest.approx((1 / x1 + x2, x1 - np.cos(x2)))
    adjoints = {row.name: row.adjoint for row in found.rows}
    assert adjoints == pytest.approx({"v-1": 5.5, "v0": x1 - np.cos(x2), "v1": 1, "v2": 1, "v3": -1, "v4": 1, "v5": 1})
    folded = found.graph().folded
    assert (len(folded.nodes), len(folded.edges)) == (7, 8)


# ---- table 4, figure 5


@pytest.mark.parametrize("n", [1, 5, 20])
def test_all_ways_give_the_helmholtz_gradient(n):
    timings, functions = load("make_timings"), load("functions")
    arguments = functions.helmholtz_inputs(n)
    expected = functions.helmholtz_gradient(*arguments)
    for way, f in timings.gradients().items():
        if way != "f":
            rtol = 1e-6 if way == "numerical" else 1e-12
            np.testing.assert_allclose(f(*arguments), expected, rtol=rtol, err_msg=way)
            np.testing.assert_allclose(wg.jit(f)(*arguments), expected, rtol=rtol, err_msg=f"jit {way}")


def test_reverse_mode_costs_a_constant_factor_and_forward_mode_n_times_as_much():
    timings = load("make_timings")
    counts = {n: timings.operations(n) for n in timings.SIZES}
    factors = [c["reverse"] / c["f"] for c in counts.values()]
    assert max(factors) < 6  # the bound that the survey quotes
    assert factors[-1] < 3
    for n, c in counts.items():
        assert n < c["forward"] / c["f"] < 3 * n + 3
        assert c["numerical"] == 2 * n * c["f"]


def test_the_measured_times_are_complete():
    import json

    timings = load("make_timings")
    found = json.loads(timings.TIMINGS.read_text(encoding="utf-8"))
    for kind in ("plain", "native"):
        for way in timings.WAYS:
            assert [int(n) for n in found[kind][way]] == list(timings.SIZES)
            assert min(found[kind][way].values()) > 0


# ---- table 5


def test_the_column_of_tools_speaks_of_what_there_is():
    tools = load("make_tools")
    assert len(tools.TOOLS) == 30
    assert {len(row) for row in tools.TOOLS} == {len(tools.HEAD)}
    assert tools.names_used() <= set(wg.__all__)
