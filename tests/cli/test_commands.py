"""The other commands: trace, explain, check, source, bench, doctor."""

import importlib.util
import json
import math
import re

import numpy as np
import pytest


def test_trace_lists_every_operation(run):
    found = run("trace", "model.py:f", "--at", "2.0", "--at", "5.0", "--adjoint", "--json").json
    assert [row["operation"] for row in found["rows"]] == [
        "input", "input", "log", "multiply", "sin", "add", "subtract"
    ]  # fmt: skip
    assert found["gradient"] == pytest.approx([5.5, 2 - math.cos(5)])
    assert found["rows"][0]["adjoint"] == 5.5


def test_trace_as_the_survey_prints_it(run):
    found = run("trace", "model.py:f", "--at", "2.0", "--at", "5.0", "--tangent", "1.0", "--tangent", "0.0")
    assert found.code == 0
    assert "v₁  = ln v₋₁" in found.out
    assert found.out.splitlines()[-1].endswith("= 5.5")


def test_trace_writes_files(run, folder):
    found = run(
        "trace",
        "model.py:f",
        "--at",
        "2.0",
        "--at",
        "5.0",
        "--graph",
        "f.svg",
        "--format",
        "latex",
        "--output",
        "f.tex",
    )
    assert found.code == 0
    assert not found.out
    assert (folder / "f.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "tabular" in (folder / "f.tex").read_text(encoding="utf-8")


def test_explain_writes_one_page(run, folder):
    found = run("explain", "model.py:f", "--at", "2.0", "--at", "5.0")
    assert found.code == 0
    assert found.out == "f.html\n"
    page = (folder / "f.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert not re.search(r"""(src|href)=["']https?:""", page)
    assert (
        run("explain", "model.py:f", "--at", "2.", "--at", "5.", "--output", "p.html", "--json").json["page"]
        == "p.html"
    )
    assert run("explain", "model.py:f", "--at", "2.", "--at", "5.", "--output", "no/such/p.html").code == 2


def test_check_reports_each_function(run):
    found = run("check", "model.py", "--json")
    status = {entry["function"]: entry["status"] for entry in found.json["functions"]}
    assert status == {
        "energy": "skipped", "f": "passed", "affine": "skipped", "both": "passed", "filled": "passed",
        "word": "skipped",
        "picky": "skipped", "untyped": "skipped", "keyword": "passed", "many": "skipped",
    }  # fmt: skip
    assert found.code == 0
    assert all(entry["reason"] for entry in found.json["functions"] if entry["status"] == "skipped")


def test_check_at_given_points(run):
    found = run(
        "check", "model.py", "--at", "x=[1.0, 2.0, 3.0]", "--at", "energy.scale=0.5", "--at", "q=1.0", "--json"
    ).json
    status = {entry["function"]: entry["status"] for entry in found["functions"]}
    assert status["energy"] == status["untyped"] == status["filled"] == "passed"
    assert status["picky"] == "failed"  # it raises at a point that was given


def test_check_finds_a_wrong_rule(run):
    found = run("check", "wrong.py", "--json")
    status = {entry["function"]: entry["status"] for entry in found.json["functions"]}
    assert status == {"twice": "failed", "thrice": "passed"}
    assert found.code == 1
    text = run("check", "wrong.py")
    assert "✗ twice" in text.out
    assert "differences give" in text.out
    assert "1 passed, 1 failed" in text.out


def test_check_one_function_at_a_point(run):
    assert run("check", "model.py:energy", "--at", "[0.3, 0.4]", "--order", "3").code == 0
    assert run("check", "model.py:energy").code == 2


def test_source_runs_on_its_own(run):
    found = run("source", "model.py:energy", "--at", "[1.0, 2.0]")
    names: dict = {}
    exec(found.out, names)
    np.testing.assert_allclose(names["energy_gradient"](np.array([1.0, 2.0]), 2.0), [2.0, 1.6])


@pytest.mark.parametrize("language", ["ir", "llvm", "assembly"])
def test_source_in_other_languages(run, language, folder):
    found = run(
        "source", "model.py:energy", "--at", "[1.0, 2.0]", "--of", "function", "--language", language, "--output", "x"
    )
    assert found.code == 0
    assert (folder / "x").stat().st_size > 50


def test_bench_measures_four_ways(run):
    found = run("bench", "model.py:energy", "--at", "[1.0, 2.0]", "--rounds", "1", "--seconds", "0.001", "--json").json
    assert list(found["times"]) == ["function", "gradient", "jit function", "jit gradient"]
    assert found["times"]["function"]["ratio"] == 1
    assert all(row["seconds"] > 0 for row in found["times"].values())
    text = run("bench", "model.py:both", "--at", "[1.0, 2.0]", "--rounds", "1", "--seconds", "0.001")
    assert "jacobian" in text.out
    assert not text.err  # no progress bar where nobody looks


def test_doctor(run):
    found = run("doctor", "--json")
    assert found.code == 0
    assert found.json["versions"]["numpy"] == np.__version__
    assert set(found.json["trials"].values()) == {"ok"}
    assert "processor" in run("doctor").out


def test_profile_charges_lines(run, folder):
    found = run("profile", "model.py:f", "--at", "2.0", "--at", "5.0", "--json").json
    assert {row["line"]: row["operations"] for row in found["lines"]} == {11: 3, 12: 2}
    text = run("profile", "model.py:f", "--at", "2.0", "--at", "5.0", "--svg", "p.svg")
    assert "return a + b - c" in text.out
    assert (folder / "p.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.skipif(importlib.util.find_spec("sympy") is None, reason="needs SymPy")
def test_compare_measures_errors(run):
    found = run("compare", "model.py:energy", "--at", "[1.0, 2.0]", "--json").json
    errors = {row["name"]: row["error"] for row in found["ways"]}
    assert errors["AD, reverse mode"] < 1e-15 < errors["differences, forward"]
    assert "differences, central" in run("compare", "model.py:energy", "--at", "[1.0, 2.0]").out
    assert run("compare", "model.py:f", "--at", "2.0", "--at", "5.0").code == 2


@pytest.mark.parametrize(
    "command", ["grad", "trace", "explain", "check", "source", "compare", "profile", "bench", "doctor"]
)
def test_help_has_examples(run, command):
    found = run(command, "--help")
    assert found.code == 0
    assert "examples:" in found.out
    assert f"wengert {command}" in found.out
    assert "--json" in found.out


def test_every_example_of_the_help_is_understood(run, folder):
    """The examples parse; they name files that are not here."""
    import shlex

    from wengert.cli.main import COMMANDS, parser

    for module in COMMANDS.values():
        for line in module.EXAMPLES.splitlines():
            command = shlex.split(re.split(r"\s{3,}| > ", line.strip())[0])
            assert command[0] == "wengert"
            parser().parse_args(command[1:])


def test_json_is_strict(run):
    for command in (["grad", "model.py:f", "--at", "nan", "--at", "inf"], ["doctor"]):
        json.loads(run(*command, "--json").out, parse_constant=lambda word: pytest.fail(word))
