"""`wg.debug_nans` names the operation, the line and the operands of what went wrong first, and only of what matters."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NonFiniteError


def found(call, *args) -> NonFiniteError:
    with pytest.raises(NonFiniteError) as info, wg.debug_nans(), np.errstate(all="ignore"):
        call(*args)
    return info.value


def line_of(f, offset: int) -> int:
    return f.__code__.co_firstlineno + offset


def distance(x):
    squares = x**2
    total = np.sum(squares)
    return np.sqrt(total)


def logs(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = np.log(x[i])
    return np.sum(out)


ZEROS = np.zeros(3)


@pytest.mark.parametrize(
    "derivative",
    [wg.grad, wg.jacrev, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f)), wg.hessian],
    ids=["grad", "jacrev", "jit of grad", "grad of jit", "hessian"],
)
def test_an_infinite_slope_in_the_reverse_sweep(derivative):
    error = found(derivative(distance), ZEROS)
    assert (error.name, error.sweep, error.line) == ("sqrt", "reverse", line_of(distance, 3))
    assert error.operands == (0.0,)
    assert error.file == __file__
    assert "np.linalg.norm" in str(error)
    assert "return np.sqrt(total)" in str(error)


@pytest.mark.parametrize("derivative", [wg.jacfwd, lambda f: lambda x: wg.jvp(f, (x,), (x + 1,)),
                                        lambda f: lambda x: wg.linearize(f, x)[1] @ (x + 1)])  # fmt: skip
def test_an_infinite_slope_in_tangents(derivative):
    error = found(derivative(distance), ZEROS)
    assert (error.name, error.sweep, error.line) == ("sqrt", "forward", line_of(distance, 3))


@pytest.mark.parametrize("operator", [wg.grad, wg.jacfwd, wg.jit, lambda f: wg.jit(wg.grad(f)), wg.hessian])
def test_a_value_written_in_place(operator):
    error = found(operator(logs), np.array([1.0, 0.0, -1.0]))
    assert (error.name, error.sweep, error.line) == ("log", "function", line_of(logs, 3))
    assert error.operands == (0.0,)
    assert "log(0)" in str(error)


@pytest.mark.parametrize(
    ("f", "x", "name", "advice"),
    [
        (lambda x: x / x, 0.0, "divide", "0 / 0"),
        (lambda x: 1 / x, 0.0, "divide", "division by zero"),
        (lambda x: np.exp(x), 1000.0, "exp", "logsumexp"),
        (lambda x: x**-1.5, 0.0, "power", "negative power"),
        (lambda x: x**0.5, -1.0, "power", "not an integer"),
        (lambda x: np.log(x), -1.0, "log", "negative number"),
        (lambda x: np.arcsin(x), 1.5, "arcsin", "np.clip"),
        (lambda x: np.sqrt(x), -1.0, "sqrt", "np.maximum"),
        (lambda x: np.exp(x) - np.exp(x), 1000.0, "exp", "overflows"),
        (lambda x: x**0.5, 0.0, "power", "infinite slope"),
        (lambda x: np.cbrt(x), 0.0, "cbrt", "infinite"),
        (lambda x: np.arccos(x), 1.0, "arccos", "np.arctan2"),
    ],
)
def test_advice_where_the_cause_is_known(f, x, name, advice):
    for derivative in (wg.grad, wg.jacfwd):
        error = found(derivative(f), np.float64(x))  # of Python's own numbers, some of these raise
        assert error.name == name
        assert advice in str(error)


def test_what_is_not_selected_is_no_error():
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x) + np.log(x) + 1 / x, x))

    x = np.array([0.0, 1.0, 4.0])
    with wg.debug_nans(), np.errstate(all="ignore"):
        for derivative in (wg.grad, wg.jacfwd, lambda f: wg.jit(wg.grad(f))):
            np.testing.assert_allclose(derivative(f)(x), [1.0, 0.5 + 1 - 1, 0.25 + 0.25 - 1 / 16])


def test_infinities_on_the_way_are_no_error():
    def smallest(x):
        best = np.inf
        for v in x:
            best = np.minimum(best, v)
        return best

    with wg.debug_nans():
        np.testing.assert_array_equal(wg.grad(smallest)(np.array([2.0, 1.0])), [0.0, 1.0])


def test_a_nan_from_outside_is_told_as_such():
    error = found(wg.grad(lambda x: np.sum(x * np.array([1.0, np.nan]))), np.ones(2))
    assert "no operation that was differentiated" in str(error)


def test_a_decision_by_nan():
    def f(x):
        y = np.log(x)
        return y if y > 0 else x * 0

    error = found(wg.grad(f), -1.0)
    assert (error.name, error.line) == ("log", line_of(f, 1))
    assert "compares" in str(error)


def test_an_error_that_nan_led_to():
    def f(x):
        a = np.eye(2) * np.log(x)
        return np.sum(np.linalg.eigvalsh(a @ a.T))

    error = found(wg.grad(f), -1.0)
    assert (error.name, error.line) == ("log", line_of(f, 1))


def test_second_derivatives():
    def f(x):
        return np.sum(x**1.5)

    with wg.debug_nans():
        wg.grad(f)(ZEROS)  # the first derivative is finite
    error = found(wg.hessian(f), ZEROS)
    assert error.line == line_of(f, 1)


def test_results_and_written_arguments_are_those_of_the_compiled_function():
    @wg.jit
    def f(x, n):
        x[0] = x[1] * n
        return {"sum": np.sum(x), "n": n + 1}

    x, y = np.arange(3.0), np.arange(3.0)
    expected = f(x, 4)
    with wg.debug_nans():
        assert f(y, 4) == expected
    np.testing.assert_array_equal(x, y)


def test_a_compiled_function_may_make_integers_of_its_values():
    @wg.jit
    def histogram(x):
        counts = np.zeros(4)
        for v in x:
            counts[int(4 * v)] += 1
        return counts

    x = np.array([0.1, 0.3, 0.35, 0.9])
    with wg.debug_nans():
        np.testing.assert_array_equal(histogram(x), [1, 2, 0, 1])


def test_the_error_is_one_that_numpy_users_catch():
    assert issubclass(NonFiniteError, FloatingPointError)
    error = found(wg.grad(distance), ZEROS)
    assert {"name", "operands", "file", "line", "sweep"} <= vars(error).keys()


def test_other_threads_are_not_concerned():
    results = []

    def work():
        with np.errstate(all="ignore"):
            results.append(wg.grad(np.sqrt)(0.0))

    with wg.debug_nans():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert results == [np.inf]


def test_nothing_remains_afterwards():
    found(wg.grad(distance), ZEROS)
    with np.errstate(all="ignore"):
        assert wg.grad(np.sqrt)(0.0) == np.inf


def test_own_rules_are_seen():
    @wg.custom_jvp
    def root(x):
        return np.sqrt(x)

    @root.defjvp
    def rule(primals, tangents):
        return root(primals[0]), tangents[0] * (0.5 / np.sqrt(primals[0]))

    def f(x):
        return 2 * root(x)

    assert found(wg.grad(f), 0.0).line in (line_of(f, 1), rule.__code__.co_firstlineno + 2)
