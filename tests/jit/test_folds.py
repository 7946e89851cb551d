"""`ufunc.reduce` and `ufunc.accumulate` in compiled programs: loops, whose length does not make the program longer."""

import numpy as np
import pytest

import wengert as wg

LINE, TABLE = np.random.default_rng(3).normal(size=(2, 30)), np.random.default_rng(4).normal(size=(12, 5))

FOLDS = {
    "running maxima": (lambda x: np.maximum.accumulate(x, axis=1), LINE),
    "single precision": (lambda x: np.fmin.accumulate(x), TABLE.astype(np.float32)),
    "running sums of exponentials": (lambda x: np.logaddexp.accumulate(x), TABLE),
    "one axis": (lambda x: np.hypot.reduce(x, axis=0, keepdims=True), TABLE),
    "all axes": (lambda x: np.hypot.reduce(x, axis=None), TABLE),
    "a start and a mask": (lambda x: np.subtract.reduce(x, initial=3.0, where=TABLE > 0), TABLE),
}


@pytest.mark.parametrize("name", FOLDS)
def test_every_placement_agrees(name):
    f, x = FOLDS[name]
    total = lambda x: np.sum(np.sin(f(x)))
    value, tolerance = wg.jit(f)(x), 1e-5 if x.dtype == np.float32 else 1e-12
    np.testing.assert_array_almost_equal_nulp(value, f(x), 4)
    assert np.asarray(value).dtype == np.asarray(f(x)).dtype
    wanted = wg.grad(total)(x)
    differences = wg.numerical.grad(total)(x.astype(float))
    assert np.allclose(differences, wanted, rtol=max(tolerance, 1e-6), atol=1e-6)
    for compiled in (wg.jit(wg.grad(total)), wg.grad(wg.jit(total))):
        assert np.allclose(compiled(x), wanted, rtol=tolerance)
    batch = np.stack([x, 2 * x])
    assert np.allclose(wg.jit(wg.vmap(wg.grad(total)))(batch), wg.vmap(wg.grad(total))(batch), rtol=tolerance)


def test_length_is_no_length_of_the_program():
    lines = [
        str(wg.jit(lambda x: np.maximum.accumulate(x)).lower(np.arange(float(n))).ir).count("\n") for n in (20, 2000)
    ]
    assert lines[0] == lines[1]
