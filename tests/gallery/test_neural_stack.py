"""With strengths of 0 and 1 the structures are Python's own; and it is learned how to use them."""

from collections import deque

import numpy as np
import pytest

from examples.gallery.neural_stack import neural_stack as program


@pytest.mark.parametrize("structure", ["stack", "queue"])
def test_hard_operations(structure):
    rng = np.random.default_rng(0)
    step, read = program.STRUCTURES[structure]
    values, strengths, model = rng.normal(size=(20, 3)), np.zeros(20), deque()
    for t in range(20):
        pop, push = float(rng.random() < 0.4), float(rng.random() < 0.7)
        strengths = step(strengths, t, pop, push)
        if pop and model:
            model.pop() if structure == "stack" else model.popleft()
        if push:
            model.append(values[t])
        wanted = np.zeros(3) if not model else model[-1] if structure == "stack" else model[0]
        np.testing.assert_allclose(read(values, strengths), wanted)


def test_longer_sequences():
    for found in program.main(small=True).values():
        assert found["accuracy"] > 0.95
