"""Structured arrays hold constants; where a traced value is written into one, the error says what to keep instead."""

import numpy as np
import pytest

import wengert as wg

PARTICLE = [("x", float), ("v", float)]


def constants(k):
    p = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=PARTICLE)
    p["v"] += 1.0
    return np.sum(p["x"] * k) + p[1]["v"] * k**2 + p[["x", "v"]][0][1]


def field(k):
    p = np.zeros(3, PARTICLE)
    p["x"] = k
    return np.sum(p["x"])


def field_of_a_record(k):
    p = np.zeros(3, PARTICLE)
    p[0]["x"] = k
    return np.sum(p["x"])


def record(k):
    p = np.zeros(3, PARTICLE)
    p[0] = (k, 1.0)
    return np.sum(p["x"])


def made(k):
    return np.array([(k, 1.0)], dtype=PARTICLE)["x"][0]


def test_constants():
    assert wg.grad(constants)(0.7) == pytest.approx(4 + 10 * 0.7)
    assert wg.jit(constants)(0.7) == constants(0.7)
    assert wg.jit(wg.grad(constants))(0.7) == pytest.approx(4 + 10 * 0.7)


@pytest.mark.parametrize("f", [field, field_of_a_record, record, made])
@pytest.mark.parametrize("operator", [wg.grad, wg.jit, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
def test_traced_values(f, operator):
    with pytest.raises(wg.errors.WengertError, match="structured array, with the fields x, v") as found:
        operator(f)(0.7)
    assert "one array for each field" in str(found.value)
