"""Texts made of numbers in compiled functions: a loop that names things by its counter is unrolled, never misread."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import ConcretizationError


def network(p, x):
    for i in range(len(p) // 2):
        x = np.tanh(x @ p[f"w{i}"] + p["b" + str(i)])
    return np.sum(x**2)


def formatted(p, x):
    for i in range(len(p) // 2):
        x = np.tanh(x @ p["w{}".format(i)] + p["b" + format(i, "d")])  # noqa: UP032
    return np.sum(x**2)


class Layers:
    def __init__(self, p):
        for name, value in p.items():
            setattr(self, name, value)


def attributes(p, x):
    layers = Layers(p)
    for i in range(len(p) // 2):
        x = np.tanh(x @ getattr(layers, f"w{i}") + getattr(layers, f"b{i}"))
    return np.sum(x**2)


@pytest.mark.parametrize("f", [network, formatted, attributes])
def test_names_with_a_number(f, rng):
    p = {}
    for i in range(7):
        p[f"w{i}"], p[f"b{i}"] = rng.normal(size=(3, 3)), rng.normal(size=3)
    x = rng.normal(size=(2, 3))
    np.testing.assert_allclose(wg.jit(f)(p, x), f(p, x), rtol=1e-12)
    found, want = wg.jit(wg.grad(f))(p, x), wg.grad(f)(p, x)
    for name in p:
        np.testing.assert_allclose(found[name], want[name], rtol=1e-10, atol=1e-14)


def test_the_text_of_a_value_is_refused():
    with pytest.raises(ConcretizationError, match="text"):
        wg.jit(lambda x: {"1.0": x}.get(str(x), -x))(1.0)
