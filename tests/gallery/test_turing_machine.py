"""Heads move as they are told; and the copy task is solved, for sequences longer than those it was learned from."""

import numpy as np
import pytest

from examples.gallery.turing_machine import turing_machine as program


def head(shift, use=-50.0, key=None):
    """What the network says to a head: go by −1, 0 or 1, from where it is or from where the key is found."""
    shifts = np.full(3, -50.0)
    shifts[shift + 1] = 50.0
    key = np.zeros(program.WIDTH) if key is None else key
    return np.concatenate([key, [50.0, use], shifts, [5.0]])[None]


def test_heads_move_and_find():
    memory = np.eye(program.CELLS)[None, :, : program.WIDTH] + 0.0
    place = np.eye(program.CELLS)[None, 3]
    for shift in (-1, 0, 1):
        after = program.moved(place, memory, head(shift))[0]
        np.testing.assert_allclose(after, np.eye(program.CELLS)[3 + shift], atol=1e-9)
    found = program.moved(place, memory, head(1, 50.0, 20 * np.eye(program.WIDTH)[5]))
    np.testing.assert_allclose(found[0], np.eye(program.CELLS)[6], atol=1e-6)


@pytest.mark.slow
def test_the_copy_task_is_solved():
    results = program.main(small=True)
    assert max(results["errors"][length] for length in (2, 4, 6, 8)) == 0
    assert np.mean(results["losses"][-20:]) < 0.01
    assert "<svg" in program.picture(results).text()
