"""The network solves the equation: compared with the solution that the equation was made from."""

from examples.gallery.physics_informed import physics_informed as program


def test_the_solution_is_found():
    found = program.main(small=True)
    assert found["error"] < 1e-3
    assert found["loss"] < 1e-4
