"""Tangents are the derivatives of turned images, and make turned digits known."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn has the data: pip install 'wengert[gallery]'")

import wengert as wg
from examples.gallery.tangent_propagation import tangent_propagation as program


def test_tangents():
    image = np.random.default_rng(0).random(64)
    tangent = wg.jvp(lambda a: program.rotated(image, a), (0.0,), (1.0,))[1]
    differences = (program.rotated(image, 1e-5) - program.rotated(image, -1e-5)) / 2e-5
    np.testing.assert_allclose(tangent, differences, atol=1e-6)


def test_turned_digits_are_recognised():
    found = program.main(small=True)
    assert found["tangents"][3] > found["plain"][3] + 0.15  # at 30 degrees
