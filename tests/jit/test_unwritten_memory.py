"""`np.empty` in compiled programs: what happens to lie in memory is no part of them."""

import numpy as np

import wengert as wg


def halves(x):
    y = np.empty(500)
    z = np.empty_like(y)
    for i in range(500):
        y[i] = x / (1 + i)
        z[i] = y[i] / 2
    return y + z


def test_the_program_does_not_depend_on_old_memory():
    texts = []
    for left in (7.5, -1.0):
        old = [np.full(500, left) for _ in range(20)]
        del old
        texts.append(str(wg.jit(halves).lower(1.0).ir))
    assert texts[0] == texts[1]
    assert "constants" not in texts[0]
    assert np.array_equal(wg.jit(halves)(1.0), halves(1.0))
