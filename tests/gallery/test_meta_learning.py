"""One step of training is enough afterwards; the gradient through a step agrees with differences."""

import numpy as np

import wengert as wg
from examples.gallery.meta_learning import meta_learning as program


def test_one_step_is_enough():
    found = program.main(small=True)
    assert found["after"] < found["before"] / 4


def test_the_gradient_through_a_step():
    rng = np.random.default_rng(0)
    weights, task = program.start(rng), tuple(part[0] for part in program.tasks(rng, 1))
    gradient = wg.grad(program.error_after_a_step)(weights, task)
    direction = {name: rng.normal(size=w.shape) for name, w in weights.items()}
    at = lambda h: program.error_after_a_step({n: w + h * direction[n] for n, w in weights.items()}, task)
    slope = sum(np.sum(gradient[n] * direction[n]) for n in weights)
    np.testing.assert_allclose(slope, (at(1e-5) - at(-1e-5)) / 2e-5, rtol=1e-6)
