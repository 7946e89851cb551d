"""Gradients within few states are the plain ones, and cost what revolve promises."""

import numpy as np

from examples.gallery.long_memory import long_memory as program


def test_gradients_agree():
    found = program.main(small=True)
    assert np.all(found["rows"][:, 3] <= 1e-12 * found["size"])
    assert np.all(np.diff(found["rows"][:, 2]) < 0)  # more states, less work
