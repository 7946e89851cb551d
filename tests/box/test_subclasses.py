"""Subclasses of NumPy's arrays: what libraries compute otherwise is refused everywhere, the rest is an array."""

import operator

import numpy as np
import pytest

import wengert as wg

M = np.matrix([[1.0, 2.0], [3.0, 4.0]])


class Labelled(np.ndarray):
    """An array with a label, which computes as any other."""

    label = "volts"


class Wrapping(np.ndarray):
    """An array whose functions are others."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*[np.asarray(x) for x in inputs], **kwargs) * 2


class Slotted(np.ndarray):
    """An array of a class whose objects have no place for what is traced."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*[np.asarray(x) for x in inputs], **kwargs) * 2


OTHERS = {"slotted": np.array([1.0, 3.0, 6.0]).view(Slotted)}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("operate", [operator.add, operator.mul, operator.truediv, operator.pow, operator.matmul])
def test_operators_with_traced_values_refuse(name, operate):
    other = OTHERS[name]
    for f in (lambda x: np.sum(operate(x, other)), lambda x: np.sum(operate(other, x))):
        for derivative in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.jit(f)):
            # (a matrix asks for the exponent, and the last class for arrays, before they ask us)
            with pytest.raises((wg.errors.WengertError, TypeError), match="asarray|filled|exponent must be an integer"):
                derivative(np.ones((2, 2)) if name == "matrix" else np.ones(3))


@pytest.mark.parametrize("name", OTHERS)
def test_a_batch_is_run_example_by_example(name):
    other, xs = OTHERS[name], np.arange(6.0).reshape(3, 2, 1) if name == "matrix" else np.arange(6.0).reshape(2, 3)
    f = lambda x: np.sum(x + other)
    np.testing.assert_array_equal(wg.vmap(f)(xs), [f(x) for x in xs])


@pytest.mark.parametrize("name", [*OTHERS, "matrix", "own functions"])
def test_as_arguments_they_are_refused(name):
    other = {**OTHERS, "matrix": M, "own functions": np.arange(3.0).view(Wrapping)}[name]
    compiled = wg.jit(lambda a: np.sum(a * a))
    for function in (wg.grad(lambda a: np.sum(a * a)), compiled, wg.jit(wg.grad(lambda a: np.sum(a)))):
        with pytest.raises(wg.errors.UnsupportedFunctionError, match="asarray|filled"):
            function(other)
    plain = np.asarray(other)
    assert compiled(plain) == np.sum(plain * plain)
    for _ in range(2):  # now that there is code for a plain array of this shape
        with pytest.raises(wg.errors.UnsupportedFunctionError):
            compiled(other)


@pytest.mark.parametrize("name", OTHERS)
def test_functions_of_numpy_and_what_a_compiled_function_finds_outside(name):
    other = OTHERS[name]
    held = {"array": other}
    for f in (
        lambda x: np.sum(np.multiply(x, other)),
        lambda x: np.sum(np.concatenate([np.ravel(x), other])),
        lambda x: np.sum(np.where(x > 0, x, other)),
        lambda x: np.sum(np.dot(other, x)),
    ):
        with pytest.raises((wg.errors.WengertError, ValueError)):
            wg.grad(f)(np.ones(3) if other.ndim == 1 else np.ones((2, 2)))
    for f in (lambda x: x * other[0].sum(), lambda x: x * held["array"].sum()):
        with pytest.raises(wg.errors.UnsupportedFunctionError):  # its elements would be frozen
            wg.jit(f)(1.0)


def test_subclasses_that_compute_as_arrays_do(tmp_path):
    mapped = np.memmap(tmp_path / "numbers", np.float64, "w+", shape=(3,))
    mapped[:] = [1.0, 2.0, 3.0]
    record = np.array([1.0, 2.0, 3.0]).view(np.recarray)
    f = lambda a: np.sum(a**3)
    compiled = wg.jit(f)
    for a in (mapped, record, np.arange(3.0).view(Labelled)):
        x = np.asarray(a)
        assert compiled(a) == f(x)
        np.testing.assert_array_equal(wg.grad(f)(a), 3 * x**2)
        np.testing.assert_array_equal(wg.grad(lambda y, a=a: np.sum(y * a))(x), x)
        np.testing.assert_array_equal(wg.jit(lambda y, a=a: y * a)(x), x * x)
    longer = np.memmap(tmp_path / "more", np.float32, "w+", shape=(5,))
    assert compiled(longer).dtype == np.float32
    outside = wg.jit(lambda y: y * np.sum(mapped))
    assert outside(1.0) == 6.0
    mapped[0] = 5.0
    assert outside(1.0) == 10.0


def test_a_file_is_written_through(tmp_path):
    mapped = np.memmap(tmp_path / "numbers", np.float64, "w+", shape=(3,))

    @wg.jit
    def fill(a, x):
        a[:] = x

    fill(mapped, 2.0)
    np.testing.assert_array_equal(mapped, [2.0, 2.0, 2.0])
