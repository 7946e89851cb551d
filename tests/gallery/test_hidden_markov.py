"""Expected counts by the gradient are those of the forward–backward algorithm, and both ways of learning agree."""

import numpy as np

import wengert as wg
from examples.gallery.hidden_markov import hidden_markov as program


def test_the_gradient_is_the_expected_counts():
    rng = np.random.default_rng(0)
    start, move, emit = (program.log_softmax(rng.normal(size=s)) for s in ((3,), (3, 3), (3, 6)))
    symbols = rng.integers(0, 6, 40)
    counts = wg.grad(program.log_likelihood, argnums=(0, 1, 2))(start, move, emit, symbols)

    forward, backward = np.zeros((40, 3)), np.ones((40, 3))  # with probabilities, as in textbooks
    forward[0] = np.exp(start + emit[:, symbols[0]])
    for t in range(1, 40):
        forward[t] = forward[t - 1] @ np.exp(move) * np.exp(emit[:, symbols[t]])
        backward[-t - 1] = np.exp(move) @ (np.exp(emit[:, symbols[-t]]) * backward[-t])
    states = forward * backward / forward[-1].sum()
    expected = np.stack([states[symbols == s].sum(axis=0) for s in range(6)], axis=1)
    np.testing.assert_allclose(counts[2], expected, rtol=1e-10)
    np.testing.assert_allclose(counts[0], states[0], rtol=1e-10)


def test_both_ways_agree():
    found = program.main(small=True)
    assert np.all(np.diff(found["em"]) > -1e-9)  # EM never goes down
    np.testing.assert_allclose(found["em"][-1], found["gradient"], atol=0.05)
