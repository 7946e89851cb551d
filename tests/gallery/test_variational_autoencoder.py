"""The bound rises, on digits that were not trained with."""

import pytest

pytest.importorskip("sklearn", reason="scikit-learn has the data: pip install 'wengert[gallery]'")

from examples.gallery.variational_autoencoder import variational_autoencoder as program


def test_the_bound_rises():
    found = program.main(small=True)
    assert found["after"] < 0.6 * found["before"]
