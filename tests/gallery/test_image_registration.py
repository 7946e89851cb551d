"""The parameters that moved the picture are found again, through noise."""

import numpy as np

from examples.gallery.image_registration import image_registration as program


def test_the_parameters_are_found():
    found = program.main(small=True)
    np.testing.assert_allclose(found["parameters"][:3], found["truth"][:3], atol=0.005)
    np.testing.assert_allclose(found["parameters"][3:], found["truth"][3:], atol=0.05)
    assert found["history"][-1] < 0.011  # the noise has 0.01
