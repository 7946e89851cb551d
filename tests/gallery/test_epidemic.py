"""Sensitivities of the epidemic against differences, with a solver that is asked for more digits."""

import numpy as np

from examples.gallery.epidemic import epidemic as program


def test_sensitivities():
    found = program.main(small=True)
    np.testing.assert_allclose(found["states"].sum(axis=1), 1, rtol=1e-12)  # nobody is lost
    for k, width in enumerate((1e-4, 1e-3, 1e-3, 1e-2, 1e-4)):
        h = width * np.eye(5)[k]
        up, down = (program.peak_and_total(program.PARAMETERS + s * h) for s in (1, -1))
        np.testing.assert_allclose(found["sensitivities"][:, k], (up - down) / (2 * width), rtol=2e-3)
    assert found["sensitivities"][0, 3] > 0  # measures that come later let the peak grow
