"""Places, sizes and light are found from the picture; depth only up to a common shift."""

import numpy as np

from examples.gallery.inverse_graphics import inverse_graphics as program


def test_the_scene_is_found():
    found = program.main(small=True)
    scene, truth = found["scene"], found["truth"]
    assert found["last"] < found["first"] / 1000
    np.testing.assert_allclose(scene["centres"][:, :2], truth["centres"][:, :2], atol=0.01)
    np.testing.assert_allclose(scene["radii"], truth["radii"], atol=0.01)
    np.testing.assert_allclose(np.diff(scene["centres"][:, 2]), np.diff(truth["centres"][:, 2]), atol=0.05)
    towards = lambda light: light / np.linalg.norm(light)
    np.testing.assert_allclose(towards(scene["light"]), towards(truth["light"]), atol=0.05)
