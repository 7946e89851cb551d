"""A new picture is cleaner afterwards; the gradient through the descent agrees with differences."""

import numpy as np

import wengert as wg
from examples.gallery.denoising import denoising as program


def test_a_new_picture_is_cleaner():
    found = program.main(small=True)
    assert found["after"] > found["before"] + 2


def test_the_gradient():
    rng = np.random.default_rng(0)
    clean = rng.random((1, 6, 6))
    noisy = clean + 0.1 * rng.normal(size=clean.shape)
    model = {"filters": rng.normal(size=(3, 3, 3)), "log_weights": np.full(3, -2.0)}
    gradient = wg.grad(program.loss)(model, noisy, clean)
    direction = {name: rng.normal(size=value.shape) for name, value in model.items()}
    at = lambda h: program.loss({n: v + h * direction[n] for n, v in model.items()}, noisy, clean)
    slope = sum(np.sum(gradient[n] * direction[n]) for n in model)
    np.testing.assert_allclose(slope, (at(1e-6) - at(-1e-6)) / 2e-6, rtol=1e-5)
