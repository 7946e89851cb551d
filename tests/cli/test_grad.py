"""`wengert grad` gives derivatives that are known in closed form."""

import math

import numpy as np
import pytest

EXACT = (5.5, 2.0 - math.cos(5.0))  # of ln x₁ + x₁ x₂ − sin x₂ at (2, 5)


def test_the_survey_s_example(run):
    found = run("grad", "model.py:f", "--at", "2.0", "--at", "5.0", "--json")
    assert found.code == 0
    assert found.json["value"] == pytest.approx(math.log(2) + 10 - math.sin(5))
    assert list(found.json["gradient"].values()) == pytest.approx(EXACT)


@pytest.mark.parametrize("mode", ["auto", "reverse", "forward", "numerical", "complex-step"])
def test_every_mode_agrees(run, mode):
    found = run("grad", "model.py:f", "--at", "x2=5", "--at", "x1=2", "--mode", mode, "--json").json
    assert found["gradient"] == pytest.approx({"x1": EXACT[0], "x2": EXACT[1]}, rel=1e-10)


def test_text_names_what_it_shows(run):
    found = run("grad", "model.py:energy", "--at", "[1.0, 2.0]")
    assert found.out.splitlines() == ["energy = 4.605170185988091", "∂energy/∂x = [2.  1.6]"]


def test_only_what_is_given_is_differentiated_unless_named(run):
    assert list(run("grad", "model.py:energy", "--at", "[1.0]", "--json").json["gradient"]) == ["x"]
    both = run("grad", "model.py:energy", "--at", "[1.0]", "--wrt", "scale,x", "--json").json["gradient"]
    assert both == {"scale": pytest.approx(math.log(2)), "x": [2.0]}


def test_containers(run):
    found = run(
        "grad", "model.py:affine", "--at", "{'w': [1, 2], 'b': 0.5}", "--at", "[3.0, 4.0]", "--wrt", "p", "--json"
    )
    assert found.json["gradient"] == {"p": {"b": 1.0, "w": [3.0, 4.0]}}


def test_a_jacobian_where_there_is_no_gradient(run):
    found = run("grad", "model.py:both", "--at", "[0.0, 1.0]", "--json").json
    assert found["jacobian"]["x"]["sine"] == [[1.0, 0.0], [0.0, pytest.approx(math.cos(1))]]
    assert found["jacobian"]["x"]["first"] == [1.0, 0.0]


def test_arguments_from_files(run, folder):
    np.savez(folder / "data.npz", x=np.array([1.0, 2.0]), scale=1.0)
    np.save(folder / "x.npy", np.array([1.0, 2.0]))
    by_archive = run("grad", "model.py:energy", "--arg", "data.npz", "--wrt", "x", "--json").json["gradient"]
    by_array = run("grad", "model.py:energy", "--arg", "x=x.npy", "--at", "scale=1.0", "--wrt", "x", "--json").json[
        "gradient"
    ]
    assert by_archive == by_array == {"x": pytest.approx([1.0, 0.8])}


def test_keyword_only_and_variadic_parameters(run):
    assert run("grad", "model.py:keyword", "--at", "2.0", "--at", "power=2", "--json").json["gradient"] == {"x": 4.0}
    found = run("grad", "model.py:many", "--at", "2.0", "--at", "3.0", "--json").json["gradient"]
    assert found == {"xs[0]": 9.0, "xs[1]": 12.0}


def test_expressions_and_modules(run):
    found = run("grad", "numpy:sum", "--at", "np.linspace(0, 1, 3)", "--json").json
    assert found["gradient"] == {"a": [1.0, 1.0, 1.0]}
    assert run("grad", "math:sin", "--at", "pi", "--json").code in (0, 1)


def test_what_is_not_finite_is_a_word(run):
    found = run("grad", "model.py:f", "--at", "x1=nan", "--at", "x2=1.0", "--json").json
    assert found["value"] == "nan"
    assert found["gradient"]["x1"] == "nan"
