"""The four ways to a derivative: errors as theory has them, costs as the survey has them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import wengert as wg
from wengert.explain.counting import count_operations

sympy = pytest.importorskip("sympy")


def truncated_logistic(x):
    for _ in range(3):
        x = 4 * x * (1 - x)
    return x


@pytest.fixture(scope="module")
def ways():
    return wg.compare_ways(truncated_logistic, 0.2, repeat=1)


def test_the_reference_is_exact(ways):
    x = sympy.Rational(*(0.2).as_integer_ratio())
    exact = 64 * (1 - 42 * x + 504 * x**2 - 2640 * x**3 + 7040 * x**4 - 9984 * x**5 + 7168 * x**6 - 2048 * x**7)
    assert abs(ways.reference[0] - exact) < 1e-40  # Table 1 of the survey, n = 4


def test_errors_are_those_of_theory(ways):
    for name in ("symbolic, SymPy", "AD, forward mode", "AD, reverse mode", "complex step"):
        assert ways[name].error < 1e-14
    assert 1e-10 < ways["differences, forward"].error < 1e-6
    assert 1e-12 < ways["differences, central"].error < ways["differences, forward"].error


def test_costs(ways):
    assert ways.operations == 9
    assert ways["differences, forward"].calls == 2
    assert ways["AD, reverse mode"].operations < 6 * ways.operations  # the survey's bound
    assert ways["symbolic, SymPy"].operations > ways["AD, reverse mode"].operations
    assert all(way.seconds > 0 for way in ways.rows)


def test_containers():
    x = {"a": np.array([0.3, 0.4]), "b": 0.5}
    found = wg.compare_ways(lambda p: np.sum(np.exp(p["a"]) * p["b"]) + p["b"] ** 3, x, repeat=1)
    assert not any(way.problem for way in found.rows)
    for way in found.rows:
        np.testing.assert_allclose(way.derivative["a"], 0.5 * np.exp([0.3, 0.4]), rtol=1e-6)


def test_programs_without_closed_form():
    def f(x):
        while np.sum(x**2) > 1:
            x = x * 0.7
        return np.sum(x)

    found = wg.compare_ways(f, np.arange(3.0), repeat=1)
    assert "decides" in found["symbolic, SymPy"].problem
    assert found.reference is not None
    assert found["AD, reverse mode"].error < 1e-15


def test_programs_beyond_the_reference():
    found = wg.compare_ways(
        lambda x: np.sum(np.linalg.eigvalsh(x @ x.T) ** 2), np.array([[1.0, 0.5], [0.2, 2.0]]), repeat=1
    )
    assert found.reference is None
    assert found["AD, forward mode"].error < 1e-13
    assert "difference from reverse mode" in str(found)


def test_error_against_step_size_is_the_valley_of_figure_3(ways):
    errors = ways.step_errors
    scale = abs(float(ways.reference[0]))
    best_forward, best_center = errors.best["forward"], errors.best["center"]
    assert 1e-10 < best_forward[0] < 1e-6  # ε^(1/2)
    assert 1e-7 < best_center[0] < 1e-3  # ε^(1/3)
    assert best_center[1] < best_forward[1]
    # where truncation rules, the errors are h |f''| / 2 and h² |f'''| / 6
    large = errors.steps > 1e-4
    second = abs(wg.derivative(truncated_logistic, order=2)(0.2))
    third = abs(wg.derivative(truncated_logistic, order=3)(0.2))
    k = np.flatnonzero(large)[0]
    np.testing.assert_allclose(errors.forward[k] * scale, errors.steps[k] * second / 2, rtol=0.05)
    np.testing.assert_allclose(errors.center[k] * scale, errors.steps[k] ** 2 * third / 6, rtol=0.05)
    # where rounding rules, smaller steps are worse
    assert errors.forward[errors.steps < 1e-16].min() > 0.5
    assert ET.fromstring(str(errors.svg)).tag.endswith("svg")


def test_shown(ways):
    assert "AD, reverse mode" in str(ways)
    assert "<table>" in ways._repr_html_()
    assert "<svg" in ways._repr_html_()


def test_expression_swell_is_table_1():
    swell = wg.expression_swell(6)
    x = sympy.Symbol("x", real=True)
    table = {
        1: sympy.Integer(1),
        2: 4 - 8 * x,
        3: 16 * (1 - 10 * x + 24 * x**2 - 16 * x**3),
        4: 64 * (1 - 42 * x + 504 * x**2 - 2640 * x**3 + 7040 * x**4 - 9984 * x**5 + 7168 * x**6 - 2048 * x**7),
    }
    for row in swell[:4]:
        assert sympy.expand(row.derivative - table[row.n]) == 0
        assert sympy.expand(row.simplified - table[row.n]) == 0
    sizes = np.array([list(row.operations.values()) for row in swell], float)
    assert (sizes[4:, :3] / sizes[3:-1, :3] > 1.9).all()  # expressions at least double from one row to the next
    growth = np.diff(sizes[:, 3:], axis=0)[1:]
    assert (growth == growth[0]).all()  # programs and their derivatives grow by the same every time
    assert (sizes[2:, 5] < 6 * sizes[2:, 3]).all()
    assert "reverse AD" in str(swell)
    assert "<table>" in swell._repr_html_()


@pytest.mark.parametrize(
    ("f", "args", "count"),
    [
        (lambda x: x + x * x, (2.0,), 2),
        (lambda x: np.sum(np.sin(x)), (np.ones(10),), 10 + 9),
        (lambda a, b: a @ b, (np.ones((3, 4)), np.ones(4)), 3 * (4 + 3)),
        (lambda x: x[::-1].reshape(2, 5).T, (np.ones(10),), 0),
        (wg.jit(lambda x: x * 2), (np.ones(10),), 10),
    ],
)
def test_operations_are_counted_on_scalars(f, args, count):
    assert count_operations(f, *args) == count


def test_a_gradient_costs_a_small_multiple():
    f = lambda x: np.sum(np.exp(x) * np.sin(x))
    x = np.linspace(0, 1, 100)
    ratio = count_operations(wg.grad(f), x) / count_operations(f, x)
    assert 1 < ratio < 4
