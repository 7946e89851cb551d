"""Matrices whose sizes do not fit are refused by compiled functions as NumPy refuses them, also computed ones."""

import numpy as np
import pytest
import scipy.linalg

import wengert as wg

ONES, SQUARE = np.ones, np.eye(4) * 3 + 1
PAIRS = {
    "matrices": (np.matmul, ONES((3, 4)), ONES((5, 2))),
    "stacks": (lambda x, y: x @ y, ONES((2, 3, 4)), ONES((5, 2))),
    "matrix and vector": (lambda x, y: x @ y, ONES((3, 4)), ONES(5)),
    "vector and matrix": (lambda x, y: x @ y, ONES(4), ONES((5, 2))),
    "vectors": (lambda x, y: x @ y, ONES(4), ONES(5)),
    "number": (lambda x, y: x @ y, np.ones(()), ONES((5, 2))),
    "dot": (np.dot, ONES((3, 4)), ONES((5, 2))),
    "inner": (np.inner, ONES((3, 4)), ONES((2, 5))),
    "vdot": (np.vdot, ONES(4), ONES(5)),
    "tensordot": (lambda x, y: np.tensordot(x, y, 1), ONES((3, 4)), ONES((5, 2))),
    "einsum": (lambda x, y: np.einsum("ij,jk->ik", x, y), ONES((3, 4)), ONES((5, 2))),
    "solve": (np.linalg.solve, SQUARE, ONES(5)),
    "triangular": (scipy.linalg.solve_triangular, SQUARE, ONES((5, 2))),
    "Cholesky factors": (lambda a, b: scipy.linalg.cho_solve((a, True), b), SQUARE, ONES(5)),
    "LU factors": (lambda a, b: scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b), SQUARE, ONES(5)),
    "banded": (lambda a, b: scipy.linalg.solve_banded((1, 1), a, b), SQUARE[:3], ONES(5)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_sizes_that_are_known(name):
    f, a, b = PAIRS[name]
    for function in (f, wg.jit(f), lambda a, b: wg.jvp(f, (a, b), (a, b)), wg.jit(lambda a, b: wg.vjp(f, a, b)[0])):
        with pytest.raises(ValueError):
            function(a, b)


def test_sizes_that_are_computed():
    for f, x, y in [
        (lambda x, y, n: x[:n] @ y, ONES(6), ONES(3)),
        (lambda x, y, n: x[:, :n] @ y, ONES((3, 6)), ONES((3, 2))),
        (lambda x, y, n: x @ y[:n], ONES((3, 6)), ONES(7)),
    ]:
        compiled = wg.jit(f)
        with pytest.raises(ValueError, match="matmul"):
            compiled(x, y, 5)
        fits = 6 if len(y) == 7 else 3
        np.testing.assert_array_equal(compiled(x, y, fits), f(x, y, fits))


def _everywhere(c, v):
    c[...] = v


def _a_row(c, v):
    c[0] = v


def _at_places(c, v):
    c[np.array([0, 1])] = v


@pytest.mark.parametrize("write", [_everywhere, _a_row, _at_places, np.copyto])
@pytest.mark.parametrize("shape", [(2, 2, 3), (3, 1, 3), (1, 3, 3), (0, 2, 3), (2, 1), (1, 1, 3), (1, 2, 3), (4,)])
def test_values_that_are_written(write, shape):
    """Axes too many are no reason to take the first of them."""

    def f(c, v):
        c = c * 1.0
        write(c, v)
        return c

    c, v = np.ones((2, 3)), np.arange(float(np.prod(shape))).reshape(shape)
    try:
        right = f(c, v)
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            wg.jit(f)(c, v)
    else:
        np.testing.assert_array_equal(wg.jit(f)(c, v), right)


OTHERS = {
    "a mask that is too short": (lambda x, y: x[y > 0], ONES(4), ONES(2), IndexError),
    "a mask that is too long": (lambda x, y: x[y > 2], ONES(4), ONES(5), IndexError),
    "a mask of rows": (lambda x, y: x[:, y > 0], ONES((4, 3)), ONES(4), IndexError),
    "a mask of too many axes": (lambda x, y: x[y > 0], ONES(4), ONES((4, 1)), IndexError),
    "weights": (lambda x, y: np.bincount(x.astype(int), weights=y), ONES(3), ONES(2), ValueError),
    "broadcast to a number": (lambda x, y: np.broadcast_to(x, y.shape), ONES(3), ONES(()), ValueError),
    "indices": (lambda x, y: _put_along(x, y), ONES((3, 2)), ONES(3), ValueError),
}


def _put_along(x, y):
    x = x * 1.0
    np.put_along_axis(x, y.astype(int), 2.0, 0)
    return x


def _write_where(x, y):
    x = x * 1.0
    x[y > 0] = 7.0
    return x


@pytest.mark.parametrize("name", OTHERS)
def test_other_operands(name):
    f, a, b, error = OTHERS[name]
    for function in (f, wg.jit(f), lambda a, b: wg.jvp(f, (a, b), (a, b))):
        with pytest.raises(error):
            function(a, b)


def test_masks_of_written_places():
    for x, y in [(ONES(4), ONES(2)), (ONES((4, 3)), ONES(3)), (ONES((4, 3)), ONES((4, 2)))]:
        for function in (_write_where, wg.jit(_write_where), wg.jit(lambda x, y: wg.jvp(_write_where, (x, y), (x, y)))):
            with pytest.raises(IndexError):
                function(x, y)
    np.testing.assert_array_equal(wg.jit(_write_where)(ONES((4, 3)), ONES(4)), np.full((4, 3), 7.0))


def too_many_places(x):
    x[0, 1] = 1.0
    return x


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: x[0], np.array(1.5)), (lambda x: x[0], np.float64(1.5)), (lambda x: x[:, 0], ONES(3)),
        (lambda x: x[..., 1, 0], ONES(3)), (too_many_places, ONES(3)), (lambda x: x + ONES(4), ONES(3)),
        (lambda x: np.where(x > 0, x, ONES(4)), ONES(3)), (lambda x: x[x > 0, 0], ONES(3)),
        (lambda x: 1 if x > 0 else 2, 1j),
    ],
)  # fmt: skip
def test_what_numpy_says(f, x):
    with pytest.raises(Exception) as wanted:
        f(x)
    with pytest.raises(wanted.type) as found:
        wg.jit(f)(x)
    assert str(found.value) == str(wanted.value)
