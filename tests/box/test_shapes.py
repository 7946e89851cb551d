"""Functions that rearrange, and questions about shapes and types, on traced values.

Each case is a plain NumPy function of arrays of the given shapes.
"""

import warnings

import numpy as np
import pytest
from cases import check_case, check_error, check_hidden_axis, traced
from harness import check

import wengert as wg
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Traced

CASES = {
    "reshape": (lambda x: np.reshape(x, (3, 2)), (2, 3)),
    "reshape -1": (lambda x: np.reshape(x, (-1, 4)), (2, 3, 4)),
    "reshape int": (lambda x: np.reshape(x, -1), (2, 3)),
    "reshape F": (lambda x: np.reshape(x, (3, 4), order="F"), (2, 6)),
    "reshape F -1": (lambda x: np.reshape(x, (2, -1, 2), order="F"), (4, 3)),
    "reshape A of C": (lambda x: np.reshape(x, (3, 4), order="A"), (2, 6)),
    "reshape A of F": (lambda x: np.reshape(x.T, (3, 4), order="A"), (2, 6)),
    "reshape keyword": (lambda x: np.reshape(x, shape=(6,), copy=True), (2, 3)),
    "reshape to 0-d": (lambda x: np.reshape(x, ()), (1, 1)),
    "reshape 0-d": (lambda x: np.reshape(x, (1, 1)), ()),
    "reshape empty": (lambda x: np.reshape(x, (3, 0)), (0, 2)),
    "reshape method": (lambda x: x.reshape(2, -1), (4, 3)),
    "reshape method tuple": (lambda x: x.reshape((3, 4)), (4, 3)),
    "reshape method F": (lambda x: x.reshape(2, 6, order="F"), (4, 3)),
    "ravel": (lambda x: np.ravel(x), (2, 3)),
    "ravel F": (lambda x: np.ravel(x, "F"), (2, 3)),
    "ravel A": (lambda x: np.ravel(x.T, order="A"), (2, 3)),
    "ravel K": (lambda x: np.ravel(np.transpose(x, (1, 2, 0)), order="K"), (2, 3, 4)),
    "ravel 0-d": (lambda x: np.ravel(x), ()),
    "ravel method F": (lambda x: x.ravel("F"), (2, 3)),
    "flatten": (lambda x: x.flatten(), (2, 3)),
    "flatten F": (lambda x: x.flatten("F"), (2, 3)),
    "transpose": (lambda x: np.transpose(x), (2, 3, 4)),
    "transpose axes": (lambda x: np.transpose(x, (1, 2, 0)), (2, 3, 4)),
    "transpose negative axes": (lambda x: np.transpose(x, (-1, 0, 1)), (2, 3, 4)),
    "transpose 1-d": (lambda x: np.transpose(x), (3,)),
    "transpose 0-d": (lambda x: np.transpose(x), ()),
    "transpose method": (lambda x: x.transpose(2, 0, 1), (2, 3, 4)),
    "transpose method none": (lambda x: x.transpose(), (2, 3)),
    "transpose method tuple": (lambda x: x.transpose((1, 0)), (2, 3)),
    "T": (lambda x: x.T, (2, 3)),
    "mT": (lambda x: x.mT, (2, 3, 4)),
    "permute_dims": (lambda x: np.permute_dims(x, (2, 1, 0)), (2, 3, 4)),
    "matrix_transpose": (lambda x: np.matrix_transpose(x), (2, 3, 4)),
    "linalg.matrix_transpose": (lambda x: np.linalg.matrix_transpose(x), (2, 3)),
    "moveaxis": (lambda x: np.moveaxis(x, 0, -1), (2, 3, 4)),
    "moveaxis several": (lambda x: np.moveaxis(x, [0, 2], [-1, 0]), (2, 3, 4)),
    "rollaxis": (lambda x: np.rollaxis(x, 2), (2, 3, 4)),
    "rollaxis start": (lambda x: np.rollaxis(x, 0, 3), (2, 3, 4)),
    "rollaxis negative": (lambda x: np.rollaxis(x, -1, -2), (2, 3, 4)),
    "swapaxes": (lambda x: np.swapaxes(x, 0, -1), (2, 3, 4)),
    "swapaxes method": (lambda x: x.swapaxes(0, 1), (2, 3)),
    "broadcast_to": (lambda x: np.broadcast_to(x, (2, 3, 4)), (3, 1)),
    "broadcast_to int": (lambda x: np.broadcast_to(x, 3), ()),
    "broadcast_to empty": (lambda x: np.broadcast_to(x, (0, 2)), (1, 2)),
    "broadcast_arrays": (lambda x, y: np.broadcast_arrays(x, y, 1.0)[:2], (3, 1), (2,)),
    "squeeze": (lambda x: np.squeeze(x), (1, 3, 1)),
    "squeeze axis": (lambda x: np.squeeze(x, axis=-1), (1, 3, 1)),
    "squeeze axes": (lambda x: np.squeeze(x, axis=(0, 2)), (1, 3, 1)),
    "squeeze method": (lambda x: x.squeeze(0), (1, 3)),
    "expand_dims": (lambda x: np.expand_dims(x, 1), (2, 3)),
    "expand_dims several": (lambda x: np.expand_dims(x, (0, -1)), (2, 3)),
    "expand_dims 0-d": (lambda x: np.expand_dims(x, 0), ()),
    "atleast_1d": (lambda x: np.atleast_1d(x), ()),
    "atleast_1d several": (lambda x, y: np.atleast_1d(x, y), (), (2, 2)),
    "atleast_2d": (lambda x: np.atleast_2d(x), (3,)),
    "atleast_2d 0-d": (lambda x: np.atleast_2d(x), ()),
    "atleast_3d 0-d": (lambda x: np.atleast_3d(x), ()),
    "atleast_3d 1-d": (lambda x: np.atleast_3d(x), (3,)),
    "atleast_3d 2-d": (lambda x: np.atleast_3d(x), (2, 3)),
    "atleast_3d 4-d": (lambda x: np.atleast_3d(x), (2, 1, 2, 1)),
    "roll": (lambda x: np.roll(x, 2), (5,)),
    "roll 2-d flat": (lambda x: np.roll(x, -4), (2, 3)),
    "roll axis": (lambda x: np.roll(x, 1, axis=-1), (2, 3)),
    "roll several axes": (lambda x: np.roll(x, (1, -2), axis=(0, 1)), (2, 3)),
    "roll one shift several axes": (lambda x: np.roll(x, 1, axis=(0, 1)), (2, 3)),
    "roll same axis twice": (lambda x: np.roll(x, (1, 1), axis=(1, 1)), (2, 3)),
    "roll far": (lambda x: np.roll(x, 17, axis=0), (5, 2)),
    "roll 0-d": (lambda x: np.roll(x, 1), ()),
    "roll empty": (lambda x: np.roll(x, 1), (0,)),
    "rot90": (lambda x: np.rot90(x), (2, 3)),
    "rot90 twice": (lambda x: np.rot90(x, 2), (2, 3)),
    "rot90 back": (lambda x: np.rot90(x, -1), (2, 3)),
    "rot90 never": (lambda x: np.rot90(x, 4), (2, 3)),
    "rot90 axes": (lambda x: np.rot90(x, 1, axes=(2, 1)), (2, 3, 2)),
    "flip": (lambda x: np.flip(x), (2, 3)),
    "flip axis": (lambda x: np.flip(x, -1), (2, 3)),
    "flip axes": (lambda x: np.flip(x, (0, 2)), (2, 3, 2)),
    "flip 0-d": (lambda x: np.flip(x), ()),
    "fliplr": (lambda x: np.fliplr(x), (2, 3)),
    "flipud": (lambda x: np.flipud(x), (3,)),
    "copy": (lambda x: np.copy(x), (2, 3)),
    "copy method": (lambda x: x.copy(), (2, 3)),
    "resize larger": (lambda x: np.resize(x, (3, 4)), (2, 3)),
    "resize smaller": (lambda x: np.resize(x, 4), (2, 3)),
    "real_if_close": (lambda x: np.real_if_close(x), (2,)),
    "full_like": (lambda x, y: np.full_like(x, y), (2, 3), ()),
    "full_like row": (lambda x, y: np.full_like(x, y), (2, 3), (3,)),
    "full_like shape": (lambda x, y: np.full_like(x, y, shape=(2, 2)), (3,), ()),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    check_case(*CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_hidden_axis(name):
    check_hidden_axis(*CASES[name])


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3)], ids=str)
@pytest.mark.parametrize(
    "f", [np.ravel, np.transpose, np.flip, np.copy, np.squeeze, np.atleast_3d, lambda x: np.roll(x, 2, 0)]
)
def test_empty(f, shape):
    check(f, np.zeros(shape), second=False)


X = np.arange(6.0).reshape(2, 3) + 1
ANSWERS = {
    "shape": lambda x: np.shape(x),
    "ndim": lambda x: np.ndim(x),
    "size": lambda x: np.size(x),
    "size axis": lambda x: np.size(x, 1),
    "zeros_like": lambda x: np.zeros_like(x),
    "zeros_like int": lambda x: np.zeros_like(x, dtype=int),
    "zeros_like shape": lambda x: np.zeros_like(x, shape=(4,)),
    "ones_like": lambda x: np.ones_like(x),
    "empty_like": lambda x: np.empty_like(x).shape,
    "full_like": lambda x: np.full_like(x, 3),
    "full_like dtype": lambda x: np.full_like(x, 3, dtype=np.float32),
    "iscomplexobj": lambda x: np.iscomplexobj(x),
    "isrealobj": lambda x: np.isrealobj(x),
    "result_type": lambda x: np.result_type(x, np.float32),
    "can_cast": lambda x: np.can_cast(x, np.float32),
    "common_type": lambda x: np.common_type(x, np.float32(1)),
    "min_scalar_type": lambda x: np.min_scalar_type(x),
    "array_equal": lambda x: np.array_equal(x, X),
    "array_equal not": lambda x: np.array_equal(x, X + 1),
    "array_equiv": lambda x: np.array_equiv(x, x[None]),
    "allclose": lambda x: np.allclose(x, X + 1e-12, rtol=1e-5),
    "allclose keyword": lambda x: np.allclose(b=x, a=X),
    "array_repr": lambda x: np.array_repr(x),
    "array_str": lambda x: np.array_str(x, precision=2),
    "array2string": lambda x: np.array2string(x, separator=","),
    "astype int": lambda x: x.astype(int),
    "astype bool": lambda x: np.astype(x, bool),
    "tril_indices_from": lambda x: np.tril_indices_from(x),
    "resize empty": lambda x: np.resize(x[:0], (2, 2)),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_not_traced(name):
    f = ANSWERS[name]
    found, expected = traced(f, X), f(X)
    if isinstance(found, Traced):  # a new array that may be written to
        assert found._is_cell
        found = np.asarray(found)
    assert type(found) is type(expected)
    np.testing.assert_equal(found, expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype


def test_astype():
    check(lambda x: np.astype(x * x, np.float64), X)
    check(lambda x: (x * x).astype(np.complex128).real, X, single=False)
    y, y_dot = wg.jvp(lambda x: np.sin(x).astype(np.float32), (X,), (X,))
    assert y.dtype == y_dot.dtype == np.float32
    np.testing.assert_allclose(y_dot, X * np.cos(X), rtol=1e-6)
    assert wg.grad(lambda x: np.sum(x.astype(np.float32)))(X).dtype == np.float64
    with pytest.raises(UnsupportedFunctionError, match="object"):
        wg.grad(lambda x: np.sum(x.astype(object)))(X)


def test_casting_complex_to_real_warns_as_numpy_does():
    with pytest.warns(np.exceptions.ComplexWarning):
        g = wg.grad(lambda x: np.sum(np.astype(x * (2 + 1j), float)))(X)
    np.testing.assert_allclose(g, np.full_like(X, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wg.grad(lambda x: np.sum(np.astype(x, float)))(X)


def test_real_if_close():
    """As in NumPy, values decide of which type it is."""
    g = wg.grad(lambda x: np.sum(np.real_if_close(x * (2 + 0j))))(X)
    np.testing.assert_allclose(g, np.full_like(X, 2))
    with pytest.raises(wg.errors.NonScalarOutputError, match="complex"):
        wg.grad(lambda x: np.sum(np.real_if_close(x * 1j)))(X)


ERRORS = {
    "reshape size": (lambda x: np.reshape(x, (4, 2)), ValueError),
    "reshape two unknown": (lambda x: np.reshape(x, (-1, -1)), ValueError),
    "reshape unknown of empty": (lambda x: np.reshape(x[:0], (0, -1)), ValueError),
    "reshape order": (lambda x: np.reshape(x, 6, order="Q"), ValueError),
    "reshape float": (lambda x: np.reshape(x, 6.0), TypeError),
    "transpose count": (lambda x: np.transpose(x, (0,)), ValueError),
    "transpose repeated": (lambda x: np.transpose(x, (0, 0)), ValueError),
    "moveaxis range": (lambda x: np.moveaxis(x, 2, 0), np.exceptions.AxisError),
    "moveaxis count": (lambda x: np.moveaxis(x, (0, 1), 0), ValueError),
    "rollaxis start": (lambda x: np.rollaxis(x, 0, 4), np.exceptions.AxisError),
    "swapaxes range": (lambda x: np.swapaxes(x, 0, 2), np.exceptions.AxisError),
    "broadcast_to": (lambda x: np.broadcast_to(x, (3, 2)), ValueError),
    "broadcast_arrays": (lambda x: np.broadcast_arrays(x, np.ones(2)), ValueError),
    "squeeze": (lambda x: np.squeeze(x, 0), ValueError),
    "squeeze range": (lambda x: np.squeeze(x, 2), np.exceptions.AxisError),
    "expand_dims": (lambda x: np.expand_dims(x, 4), np.exceptions.AxisError),
    "expand_dims repeated": (lambda x: np.expand_dims(x, (0, 0)), ValueError),
    "flip": (lambda x: np.flip(x, 2), np.exceptions.AxisError),
    "fliplr": (lambda x: np.fliplr(x[0]), ValueError),
    "flipud": (lambda x: np.flipud(x[0, 0]), ValueError),
    "roll range": (lambda x: np.roll(x, 1, 2), np.exceptions.AxisError),
    "rot90 axes": (lambda x: np.rot90(x, axes=(0, 0)), ValueError),
    "rot90 range": (lambda x: np.rot90(x, axes=(0, 2)), ValueError),
    "rot90 count": (lambda x: np.rot90(x, axes=(0,)), ValueError),
    "matrix_transpose": (lambda x: np.matrix_transpose(x[0]), ValueError),
    "resize": (lambda x: np.resize(x, (-1,)), ValueError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_numpy(name):
    check_error(*ERRORS[name], X)


def test_a_python_number_behaves_as_a_0d_array():
    def f(x):
        pieces = [np.ravel(x), x[None], np.atleast_1d(x[...]), np.tile(x, 2), np.sort(x, axis=None), x.reshape(1)]
        return np.sum(np.concatenate(pieces) ** 2) + np.sum(x.astype(int)) + x.T + x.squeeze()

    assert wg.grad(f)(1.5) == 2 * 1.5 * 7 + 2
    assert wg.jvp(f, (1.5,), (1.0,))[1] == 2 * 1.5 * 7 + 2


LENGTHS = {
    "reshape": lambda x, n: x.reshape(n),
    "np.reshape": lambda x, n: np.reshape(x, n),
    "broadcast_to": lambda x, n: np.broadcast_to(x, n),
    "resize": lambda x, n: np.resize(x, n),
    "zeros": lambda x, n: np.zeros(n) + x,
    "transpose": lambda x, n: x.reshape(n).transpose(n // 6),
}


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("way", [wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
def test_lengths_in_an_array_that_was_written_to(name, way):
    def f(a):
        x = np.exp(-a * np.linspace(0, 1, 6))
        n = np.ones(2, dtype=int)
        n[-1] = 6
        y = LENGTHS[name](x, n)
        return np.sum(y * y) + y.shape[0]

    x = np.linspace(0, 1, 6)
    np.testing.assert_allclose(way(f)(1.3), np.sum(-2 * x * np.exp(-2.6 * x)), rtol=1e-12)
