"""`wg.source`: what it writes runs without this package, computes the same, and has the user's names."""

from __future__ import annotations

import builtins
import re
import sys

import numpy as np
import pytest
from jit.programs import load_all
from jit.test_programs import chosen, reduced
from scenarios import SCENARIOS

import wengert as wg
from wengert import tree
from wengert.errors import WengertError

PROGRAMS = load_all()


def run(text: str, args):
    """Run generated source in a namespace in which this package cannot be had."""
    assert "wengert" not in text

    def guarded(name, *rest):
        assert not name.startswith("wengert")
        return __import__(name, *rest)

    names = {"__builtins__": {**vars(builtins), "__import__": guarded}}
    exec(compile(text, "<generated>", "exec"), names)
    name = re.findall(r"^def (\w+)", text, re.MULTILINE)[-1]
    return names[name](*tree.leaves(args))


def flat(results) -> np.ndarray:
    return np.concatenate([np.ravel(x) for x in tree.leaves(results)])


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_functions_and_gradients_of_natural_programs(scenario):
    try:
        text = wg.source(scenario.f, scenario.x)
        gradient = wg.source(wg.grad(scenario.f), scenario.x)
    except WengertError as error:
        pytest.skip(f"cannot be compiled: {str(error).splitlines()[0]}")
    np.testing.assert_allclose(run(text, scenario.x), scenario.f(scenario.x), rtol=1e-12)
    np.testing.assert_allclose(flat(run(gradient, scenario.x)), scenario.gradient, rtol=1e-10, atol=1e-10)


def f(x, A):
    y = np.sin(x) * x
    z = A @ y
    return np.sum(np.exp(z) * y)


ARGS = np.array([0.1, 0.2, 0.3]), np.arange(9.0).reshape(3, 3) / 9


@pytest.mark.parametrize(
    ("operator", "names"),
    [
        (wg.grad, ["y_bar", "z_bar"]),
        (wg.value_and_grad, ["y_bar"]),
        (lambda f: lambda x, A: wg.jvp(f, (x, A), (np.ones(3), np.eye(3)))[1], ["y_dot", "z_dot"]),
        (wg.hessian, ["y_bar", "y_dot"]),
        (wg.jacfwd, ["y_dot"]),
    ],
)
def test_derivatives_have_names_made_from_the_users(operator, names):
    text = wg.source(operator(f), *ARGS)
    np.testing.assert_allclose(flat(run(text, ARGS)), flat(operator(f)(*ARGS)), rtol=1e-12)
    for name in ["y", *names]:
        assert f"{name} = " in text or f"{name} +=" in text, text


def test_names_of_functions_and_arguments():
    assert "def f(x, A):" in wg.source(f, *ARGS)
    assert "def f_gradient(x, A):" in wg.source(wg.grad(f), *ARGS)
    g = lambda p, t: p["w"] * t[0] + p["b"]
    assert "def f(p_b, p_w, t_0):" in wg.source(g, {"w": 1.0, "b": 2.0}, [3.0])


def test_loops_and_branches_stay():
    def newton(a, tol):
        x = a
        while np.abs(x * x - a) > tol:
            x = 0.5 * (x + a / x)
        return x

    text = wg.source(newton, 2.0, 1e-12)
    assert "while " in text
    np.testing.assert_allclose(run(text, (2.0, 1e-12)), np.sqrt(2))

    def total(x):
        s = 0.0
        for i in range(100):
            if x[i] > 0:
                s = s + x[i] ** 2
        return s

    text = wg.source(wg.grad(total), np.ones(100))
    assert "for " in text
    x = np.linspace(-1, 1, 100)
    np.testing.assert_allclose(run(text, (x,)), np.where(x > 0, 2 * x, 0))


def test_a_loop_inside_a_loop_leaves_the_outer_counter_alone():
    def insertion_sort(x):
        x = x.copy()
        for i in range(1, len(x)):
            key, j = x[i], i - 1
            while j >= 0 and x[j] > key:
                x[j + 1] = x[j]
                j -= 1
            x[j + 1] = key
        return np.sum(x * np.arange(1.0, len(x) + 1))

    x = np.array([0.3, -0.2, 0.9, 0.1, 0.5])
    text = wg.source(wg.grad(insertion_sort), x)
    np.testing.assert_allclose(run(text, (x,)), np.argsort(np.argsort(x)) + 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROGRAMS)[::6])
def test_gradients_of_many_programs(name):
    p = PROGRAMS[name]
    if not p.wrt or not p.eager:
        pytest.skip("has no gradient")
    args = p.fresh()
    f, given = reduced(p, args), chosen(p, args)
    gradient = wg.grad(f, tuple(range(len(given))))
    expected = flat(gradient(*given))
    tolerance = 1e-4 if any(np.asarray(x).dtype == np.float32 for x in tree.leaves(given)) else 1e-9
    np.testing.assert_allclose(flat(run(wg.source(gradient, *given), given)), expected, rtol=tolerance, atol=tolerance)
    with wg.debug_nans():
        np.testing.assert_array_equal(flat(gradient(*given)), expected)


def test_source_leaves_no_trace_function_behind():
    before = sys.gettrace()
    wg.source(f, *ARGS)
    assert sys.gettrace() is before
    with pytest.raises(WengertError):
        wg.source(lambda x: "text" + str(x) if x > 0 else x, 1.0)
    assert sys.gettrace() is before


def test_the_gradient_of_a_generated_gradient():
    """Generated source is plain NumPy: it can be differentiated in turn."""
    g = lambda x: np.sum(np.exp(np.sin(x)) * x)
    text = wg.source(wg.grad(g), np.ones(3))
    names = {}
    exec(text, names)
    x = np.array([0.3, 0.5, 0.7])
    np.testing.assert_allclose(wg.jacrev(names["f_gradient"])(x), wg.hessian(g)(x), atol=1e-12)
