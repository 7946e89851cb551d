"""The network oscillates with the period it was given, also after the time it was trained for."""

import numpy as np

from examples.gallery.ctrnn import ctrnn as program


def test_it_oscillates():
    found = program.main(small=True)
    assert found["losses"][-1] < 1e-3 < found["losses"][0]
    assert np.sqrt(np.mean((found["states"][:, :2] - found["wanted"]) ** 2)) < 0.1
