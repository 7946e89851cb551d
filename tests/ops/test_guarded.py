"""The product in which a zero cotangent wins is of the type of the product that it stands for."""

import itertools

import numpy as np
import pytest

import wengert as wg
from wengert.ops.guarded import guarded_product

FACTORS = {
    "int": 2,
    "float": 2.5,
    "complex": 1.5j,
    "f32": np.float32(2),
    "f32 array": np.array([0, 2], np.float32),
    "f64 array": np.array([0.0, 2.0]),
    "c64 array": np.array([0, 2], np.complex64),
}


@pytest.mark.parametrize(("c", "t"), list(itertools.product(FACTORS, FACTORS)))
@pytest.mark.parametrize("how", [lambda f: f, wg.jit])
def test_the_type_is_that_of_the_product(how, c, t):
    c, t = FACTORS[c], FACTORS[t]
    found = how(guarded_product)(c, t)
    np.testing.assert_array_equal(found, c * t)
    assert np.asarray(found).dtype == np.asarray(c * t).dtype


def test_zero_wins():
    c, t = np.array([np.inf, np.nan, np.inf]), np.array([0.0, 0.0, 1.0])
    np.testing.assert_array_equal(guarded_product(c, t), [0, 0, np.inf])
