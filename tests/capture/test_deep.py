"""Long expressions, deeply nested ones, long chains of branches, and functions that call themselves."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

import wengert as wg

SOURCE = "\n".join([
    "import numpy as np",
    "def terms(x):",
    "    return " + " + ".join(f"x*{k}.5" for k in range(400)),
    "def nested(x):",
    "    return " + "np.sin(" * 90 + "x" + ")" * 90,
    "def parentheses(x):",
    "    return " + "(" * 80 + "x" + "*1.01+1.0)" * 80,
    "def chosen(x):",
    "    if x < 0: y = x",
    *[f"    elif x < {k}.5: y = x*{k}" for k in range(60)],
    "    else: y = x*x",
    "    return y",
    "def returned(x):",
    *[f"    if x < {k}.5: return x*{k}" for k in range(30)],
    "    return x",
    "def many(x):",
    *[f"    y{k} = x * {k}" for k in range(600)],
    "    return " + " + ".join(f"y{k}" for k in range(600)),
])  # fmt: skip


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    path = tmp_path_factory.mktemp("deep") / "deep_expressions.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("deep_expressions", path)
    found = importlib.util.module_from_spec(spec)
    sys.modules["deep_expressions"] = found
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("name", ["terms", "nested", "parentheses", "chosen", "returned", "many"])
def test_values_and_derivatives(module, name):
    f = getattr(module, name)
    limit = sys.getrecursionlimit()
    slope = (f(3.2 + 1e-6) - f(3.2 - 1e-6)) / 2e-6
    np.testing.assert_allclose(wg.jit(f)(3.2), f(3.2), rtol=1e-12)
    np.testing.assert_allclose(wg.grad(f)(3.2), slope, rtol=1e-6, atol=1e-7)
    if name not in ("chosen", "returned"):
        np.testing.assert_allclose(wg.jit(wg.grad(f))(3.2), slope, rtol=1e-6, atol=1e-7)
    assert sys.getrecursionlimit() == limit


def test_recursion_on_what_is_known():
    def power(x, n=200):
        return x if n == 0 else x * 0.999 * power(x, n - 1)

    np.testing.assert_allclose(wg.jit(power)(1.01), power(1.01), rtol=1e-12)


def test_recursion_on_data_with_several_calls():
    def many(x):
        return x if x > 100 else many(x * 2) + many(x * 3) + many(x * 5) + many(x * 7)

    fast = wg.jit(many)
    assert fast(60.0) == many(60.0)
    assert fast(2.0) == many(2.0)
