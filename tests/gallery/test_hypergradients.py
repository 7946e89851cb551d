"""Wrong labels are found by both ways, and both gradients agree with differences."""

import numpy as np
import pytest

import wengert as wg
from examples.gallery.hypergradients import hypergradients as program


def test_wrong_labels_are_found():
    found = program.main(small=True)
    assert found["last"] < found["first"] / 4
    assert found["found"] > 0.8
    assert found["found_implicitly"] > 0.8


@pytest.mark.parametrize("loss", [program.validation_loss, program.through_the_optimum])
def test_gradients(loss):
    rng = np.random.default_rng(0)
    data, _ = program.make_data(rng, 30)
    hyper = {"log_rates": np.full(5, -2.0), "log_penalties": np.full(program.FEATURES, -3.0), "examples": np.zeros(30)}
    gradient = wg.grad(loss)(hyper, data)
    direction = {name: rng.normal(size=value.shape) for name, value in hyper.items()}
    at = lambda h: loss({n: v + h * direction[n] for n, v in hyper.items()}, data)
    slope = sum(np.sum(gradient[n] * direction[n]) for n in hyper)
    np.testing.assert_allclose(slope, (at(1e-4) - at(-1e-4)) / 2e-4, rtol=1e-5)
