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


def test_hard_operations_of_a_deque():
    rng = np.random.default_rng(1)
    symbols, strengths, model = rng.normal(size=(12, 3)), np.zeros(24), deque()
    values = np.concatenate([symbols[::-1], symbols])
    for t in range(12):
        pop_top, push_top, pop_bottom, push_bottom = gates = (rng.random(4) < [0.3, 0.6, 0.3, 0.6]).astype(float)
        strengths = program.deque_step(strengths, t, gates)
        if pop_top and model:
            model.pop()
        if pop_bottom and model:
            model.popleft()
        if push_top:
            model.append(symbols[t])
        if push_bottom:
            model.appendleft(symbols[t])
        wanted = (model[-1], model[0]) if model else (np.zeros(3), np.zeros(3))
        np.testing.assert_allclose(program.read_top(values, strengths), wanted[0])
        np.testing.assert_allclose(program.read_front(values, strengths), wanted[1])


def test_longer_sequences():
    for found in program.main(small=True).values():
        assert found["accuracy"] > 0.95
