"""`wg.profile(f, x).memory`: what is predicted for a budget is what happens within it."""

import itertools
from xml.etree import ElementTree

import numpy as np
import pytest

import wengert as wg


def _pendulum(calls):
    def f(u):
        v = 0.1 * u
        for _ in range(60):
            next(calls)
            u, v = u + 0.1 * v, v - 0.1 * np.sin(u)
        return np.sum(u)

    return f


def _growth(calls):
    def f(x):
        while np.sum(x) < 500.0:
            next(calls)
            x = x * 1.05 + 0.01 * np.sin(x)
        return np.sum(x)

    return f


def test_what_is_predicted_happens():
    calls = itertools.count()
    f, u = _pendulum(calls), np.linspace(0.1, 1, 50)
    curve = wg.profile(f, u, repeat=1).memory
    assert curve.iterations == 60
    assert curve.points[-1].repeated == 0
    assert [p.memory for p in curve.points] == sorted(p.memory for p in curve.points)
    assert [p.repeated for p in curve.points] == sorted((p.repeated for p in curve.points), reverse=True)
    expected = wg.grad(f)(u)
    for point in curve.points[:: len(curve.points) // 3]:
        before = next(calls)
        np.testing.assert_allclose(wg.grad(f, memory=point.budget)(u), expected, rtol=1e-12)
        again = next(calls) - before - 1 - 60
        assert 0.8 * point.repeated <= again <= point.repeated
    with pytest.raises(wg.errors.BudgetError):
        wg.grad(f, memory=curve.points[0].budget // 2)(u)


def test_a_loop_of_unknown_length():
    calls = itertools.count()
    f = _growth(calls)
    f(np.ones(50))
    iterations = next(calls)
    curve = wg.profile(f, np.ones(50), repeat=1).memory
    assert curve.iterations == iterations
    assert curve.points[0].repeated > curve.points[-1].repeated == 0


def test_shown():
    curve = wg.profile(_pendulum(itertools.count()), np.ones(50), repeat=1).memory
    assert "60 iterations" in curve.text()
    assert len(ElementTree.fromstring(curve.svg).findall(".//{*}polyline")) == 1
    assert "<table" in curve.html()
    assert "no loops" in wg.profile(lambda x: np.sum(x * x), np.ones(3), repeat=1).memory.text()
