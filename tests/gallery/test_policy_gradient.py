"""The pole stands; the gradient of the surrogate is that of weighted log-probabilities."""

import numpy as np

import wengert as wg
from examples.gallery.policy_gradient import policy_gradient as program


def test_the_pole_stands():
    found = program.main(small=True)
    assert found["lengths"][0] < 40
    assert found["final"] > 150


def test_the_surrogate():
    """Of a policy that is a matrix: (1 if chosen − probability) · state · advantage, by hand."""
    rng = np.random.default_rng(0)
    w, states, advantages = rng.normal(size=(4, 2)), rng.normal(size=(3, 5, 4)), rng.normal(size=(3, 5))
    pushes = rng.integers(0, 2, (3, 5))
    found = wg.grad(lambda w: program.surrogate(lambda x: x @ w, states, pushes, advantages))(w)
    flat = states.reshape(-1, 4)
    p = np.exp(flat @ w) / np.exp(flat @ w).sum(axis=1, keepdims=True)
    weight = (np.eye(2)[pushes.ravel()] - p) * advantages.reshape(-1, 1)
    np.testing.assert_allclose(found, -flat.T @ weight / 15, rtol=1e-10)
