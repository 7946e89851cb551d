"""The motor is too weak to lift the pendulum, and does; the gradient agrees with differences."""

import numpy as np

import wengert as wg
from examples.gallery.pendulum import pendulum as program


def test_it_stands_upright():
    found = program.main(small=True)
    assert np.all(np.abs(found["torques"]) <= program.LIMIT)
    assert program.LIMIT < 9.81
    assert np.all(np.cos(found["path"][-20:, 0]) < -0.95)
    assert found["cost"] < found["first"] / 20


def test_gradient():
    torques = np.random.default_rng(0).normal(size=60)
    expected = wg.numerical.grad(program.cost, method="five-point")(torques)
    np.testing.assert_allclose(wg.jit(wg.grad(program.cost))(torques), expected, rtol=1e-7, atol=1e-8)
