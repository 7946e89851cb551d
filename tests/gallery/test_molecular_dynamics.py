"""Learned forces are those of the true potential, and keep the energy of moving atoms."""

from examples.gallery.molecular_dynamics import molecular_dynamics as program


def test_forces_are_learned():
    found = program.main(small=True)
    assert found["force_error"] < 0.05
    assert found["drift"] < 0.02
    assert found["away"] < 0.05
