"""A write through what a function returns reaches its argument where it does in NumPy, and only there."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import wengert as wg

X = np.array([[0.5, 1.0, 2.0, 0.0], [3.0, 4.0, 5.0, 6.0]])
FUNCTIONS = {
    "trim_zeros": lambda x: np.trim_zeros(x[0]),
    "trim_zeros at the end": lambda x: np.trim_zeros(x[0], "b"),
    "trim_zeros of a matrix": np.trim_zeros,
    "meshgrid": lambda x: np.meshgrid(x[0], x[1], copy=False)[0],
    "meshgrid sparse": lambda x: np.meshgrid(x[0], x[1], copy=False, sparse=True)[1],
    "meshgrid of one": lambda x: np.meshgrid(x[0], copy=False)[0],
    "meshgrid copies": lambda x: np.meshgrid(x[0], x[1])[0],
    "atleast_1d": np.atleast_1d,
    "atleast_2d": lambda x: np.atleast_2d(x[0]),
    "atleast_3d": np.atleast_3d,
    "atleast_2d of two": lambda x: np.atleast_2d(x[0], x[1])[1],
    "broadcast_arrays": lambda x: np.broadcast_arrays(x, x)[0],
    "broadcast_arrays of a row": lambda x: np.broadcast_arrays(x[0], x)[0],
    "expand_dims": lambda x: np.expand_dims(x, 1),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "diagonal": np.diagonal,
    "linalg.diagonal": np.linalg.diagonal,
    "diag": np.diag,
    "diag above": lambda x: np.diag(x, 1),
    "split": lambda x: np.split(x, 2)[1],
    "array_split": lambda x: np.array_split(x, 3, axis=1)[1],
    "unstack": lambda x: np.unstack(x, axis=1)[1],
    "nan_to_num": np.nan_to_num,
    "nan_to_num in place": lambda x: np.nan_to_num(x, copy=False),
    "nan_to_num of a row": lambda x: np.nan_to_num(x[0], copy=False),
    "real_if_close": np.real_if_close,
    "squeeze": lambda x: np.squeeze(x[:1]),
    "rot90": np.rot90,
    "rot90 not at all": lambda x: np.rot90(x, 4),
    "flip": np.flip,
    "fliplr": np.fliplr,
    "flipud": np.flipud,
    "asarray": np.asarray,
    "ascontiguousarray": lambda x: np.ascontiguousarray(x.T),
    "asfortranarray": lambda x: np.asfortranarray(x.T),
    "astype": lambda x: x.astype(float, copy=False),
    "np.float64": lambda x: np.float64(x),
    "reshape": lambda x: np.reshape(x, (4, 2), order="F"),
    "reshape to a copy": lambda x: x.reshape((4, 2), copy=True),
    "matrix_transpose": np.matrix_transpose,
    "linalg.matrix_transpose": np.linalg.matrix_transpose,
    "einsum": lambda x: np.einsum("ij->ji", x),
    "einsum with lists": lambda x: np.einsum(x, [0, 1], [1, 0]),
    "einsum with options": lambda x: np.einsum("ij->ji", x, optimize=True),
    "einsum of a diagonal": lambda x: np.einsum(x, [0, 0], [0]) if len(x) == len(x[0]) else x[:, 0],
    "r_": lambda x: np.r_[x],
    "c_": lambda x: np.c_[x],
    "concatenate": lambda x: np.concatenate([x]),
    "positive": lambda x: +x,
    "clip": lambda x: np.clip(x, None, 1e9),
    "roll": lambda x: np.roll(x, 0),
    "sum over no axis": lambda x: np.sum(x, axis=()),
}


def written(function):
    def f(x):
        y = function(x)
        y[(0,) * y.ndim] = 7.0 * x[0, 0] + 3.0
        return x * 1.0

    return f


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_in_numpy(name: str) -> None:
    f = written(FUNCTIONS[name])
    modes = [
        lambda x: wg.jvp(f, (x,), (np.ones_like(x),))[0],
        lambda x: wg.vjp(f, x)[0],
        lambda x: wg.vmap(f)(np.stack([x, x]))[1],
        lambda x: wg.jit(f)(x),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            expected = f(X.copy())
        except ValueError as error:
            for mode in modes:
                with pytest.raises(ValueError, match=str(error)):
                    mode(X.copy())
            return
    for mode in modes:
        try:
            found = mode(X.copy())
        except wg.errors.ConcretizationError:
            assert "trim_zeros" in name
        else:
            np.testing.assert_array_equal(found, expected)
