"""Three components are found: their means, weights and members."""

import numpy as np

from examples.gallery.mixture_model import mixture_model as program


def test_the_components_are_found():
    found = program.main(small=True)
    np.testing.assert_allclose(found["means"], found["true_means"], atol=0.25)
    np.testing.assert_allclose(found["weights"], [0.5, 0.3, 0.2], atol=0.06)
    assert np.mean(np.array(found["order"])[found["label"]] == found["guessed"]) > 0.95


def test_the_density_is_one():
    rng = np.random.default_rng(0)
    parameters = {"logits": rng.normal(size=3), "means": rng.normal(size=(3, 2)), "below": rng.normal(size=(3, 2, 2)),
                  "log_diagonals": 0.3 * rng.normal(size=(3, 2))}  # fmt: skip
    axis = np.linspace(-12, 12, 400)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    density = np.exp(program.log_densities(parameters, points)).sum(axis=0)
    np.testing.assert_allclose(density.sum() * (axis[1] - axis[0]) ** 2, 1, rtol=1e-4)
