"""The network learns to spell the rhyme."""

import numpy as np

from examples.gallery.language_model import language_model as program


def test_it_spells():
    found = program.main(small=True)
    assert abs(found["losses"][0] - found["chance"]) < 0.2
    assert np.mean(found["losses"][-10:]) < 0.6
    assert found["text"].endswith("ried ")
