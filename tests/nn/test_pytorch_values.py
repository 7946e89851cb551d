"""Layers, activations and losses, with all derivatives, against numbers that PyTorch gave (`pytorch_networks.py`)."""

import json

import numpy as np
import pytest
from pytorch_networks import CASES, VALUES, numbers, weights_of

import wengert as wg

WANTED = json.loads(VALUES.read_text())


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    f, (at, along) = CASES[name][0], numbers(name)

    def product(*at):
        y = f(*at)
        return np.sum(y * weights_of(np.shape(y)))

    value, slopes = wg.value_and_grad(product, argnums=tuple(range(len(at))))(*at)
    found = [value, *[np.sum(g * v) for g, v in zip(slopes, along, strict=True)]]
    # PyTorch has no derivatives of running averages.
    np.testing.assert_allclose(found[: len(WANTED[name])], WANTED[name], rtol=1e-10, atol=1e-12)
