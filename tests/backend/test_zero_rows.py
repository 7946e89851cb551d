"""Products of one matrix with many that have rows of zeros: what is left out must not be seen, nor missed."""

import numpy as np
import pytest

import wengert as wg


def matrices(dtype, rows, columns, seed=0):
    """A matrix, and matrices with no, some and only rows of zeros, of either sign."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, 11)).astype(dtype)
    y = random.normal(size=(6, 11, columns)).astype(dtype)
    y[0] = 0.0
    y[1, [0, 3, 10]] = -0.0
    y[2, 1:] = 0.0
    y[3, :10] = 0.0
    y[4, 5, 1:] = 0.0
    return x, y


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(("rows", "columns"), [(32, 2), (45, 16), (101, 33)])
def test_products(dtype, rows, columns):
    x, y = matrices(dtype, rows, columns)
    wanted = x.astype("f8") @ y.astype("f8")
    product = wg.jit(np.matmul)
    tolerance = 1e-13 if dtype == "f8" else 1e-5
    np.testing.assert_allclose(product(x, y), wanted, rtol=0, atol=20 * tolerance)
    assert not np.signbit(product(x, y)[0]).any()
    # What is infinite, or no number, times zero is no number, on either side.
    for bad in (np.inf, np.nan):
        spoilt = x.copy()
        spoilt[7, 3] = bad
        with np.errstate(invalid="ignore"):
            wanted = spoilt @ y
        np.testing.assert_array_equal(np.isnan(product(spoilt, y)), np.isnan(wanted))
        marred = y.copy()
        marred[2, 4, -1] = bad
        np.testing.assert_array_equal(np.isfinite(product(x, marred)), np.isfinite(x @ marred))


def test_forms():
    """Where letters of a contraction stand elsewhere in memory, and where the matrices are made in the program."""
    x, y = matrices("f8", 40, 8)
    for form in ("ik,dkj->dij", "ki,dkj->dij", "ik,dkj->idj", "ik,kdj->dij"):
        a = np.ascontiguousarray(x.T) if form.startswith("ki") else x
        b = np.ascontiguousarray(np.swapaxes(y, 0, 1)) if ",kd" in form else y
        wanted = np.einsum(form, a, b)
        np.testing.assert_allclose(wg.jit(lambda a, b: np.einsum(form, a, b))(a, b), wanted, rtol=1e-13, atol=1e-13)  # noqa: B023


def test_jacobian_of_a_chain():
    """Each of the matrices depends on few of the parameters, so that most tangents are zero; against complex steps."""
    weights = np.random.default_rng(3).normal(size=(50, 9))

    def placed(angles):
        moves = np.zeros((9, 4), angles.dtype)
        for k in range(9):
            before = moves[k - 3] if k >= 3 else np.ones(4)
            moves[k] = before * np.cos(angles[k]) + np.sin(angles[k] * np.arange(4.0))
        return weights @ moves

    x = np.linspace(0.1, 1.0, 9)
    steps = [placed(x + 1e-30j * e).imag / 1e-30 for e in np.eye(9)]
    found = wg.jit(wg.jacobian(placed, mode="forward"))(x)
    np.testing.assert_allclose(found, np.stack(steps, axis=-1), rtol=1e-12, atol=1e-12)
