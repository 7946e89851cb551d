"""Digits are recognised."""

import pytest

pytest.importorskip("sklearn", reason="scikit-learn has the data: pip install 'wengert[gallery]'")

from examples.gallery.digits import digits as program


def test_digits_are_recognised():
    assert program.main(small=True)["accuracy"] > 0.85  # one in ten by chance
