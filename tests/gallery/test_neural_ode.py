"""The law behind the measurements is found: the solution is closer to the truth than the measurements are."""

from examples.gallery.neural_ode import neural_ode as program


def test_the_law_is_found():
    found = program.main(small=True)
    assert found["first"] > 1
    assert found["error"] < 0.025  # the noise has 0.02
