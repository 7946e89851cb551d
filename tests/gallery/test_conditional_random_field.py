"""The sum over all tags is what enumerating them gives; the chain beats single words."""

import itertools

import numpy as np

from examples.gallery.conditional_random_field import conditional_random_field as program


def test_probabilities_sum_to_one():
    rng = np.random.default_rng(0)
    model = {"emit": rng.normal(size=(5, len(program.VOCABULARY))), "move": rng.normal(size=(5, 5))}
    words = np.array([0, 3, 5])
    each = [program.log_likelihood(model, words, np.array(tags)) for tags in itertools.product(range(5), repeat=3)]
    np.testing.assert_allclose(np.sum(np.exp(each)), 1, rtol=1e-12)
    best = max(itertools.product(range(5), repeat=3), key=lambda t: program.log_likelihood(model, words, np.array(t)))
    assert tuple(program.best_tags(model, words)) == best


def test_the_chain_helps():
    found = program.main(small=True)
    assert found["accuracy"] > 0.9
    assert found["accuracy_alone"] < 0.75
