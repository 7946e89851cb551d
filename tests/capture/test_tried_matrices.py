"""Linear algebra and solvers in a `try`: what they raise for some values is caught, eagerly and compiled alike, and for
those examples of a batch for which it is raised.
"""

import numpy as np
import pytest
import scipy.linalg
from scipy import optimize

import wengert as wg
from wengert.errors import StagingError, UnsupportedFunctionError


def factor(a, b):
    try:
        return np.sum(np.linalg.cholesky(np.array([[1.0, a], [a, 1.0]])) * b)
    except np.linalg.LinAlgError:
        return a * b


def regularised(a, b):
    A = np.array([[1.0, a], [a, 1.0]])
    for _ in range(3):
        try:
            x = np.linalg.solve(A, np.array([b, 2.0]))
            break
        except np.linalg.LinAlgError as error:
            A = A + np.eye(2) * (0.1 if str(error) == "Singular matrix" else 9.0)
    return x @ x


def inverse_or_pseudo(a, b):
    A = np.array([[1.0, a], [2.0, b]])
    try:
        M = np.linalg.inv(A)
    except ValueError:  # a base of LinAlgError
        M = np.linalg.pinv(A)
    return np.sum(M * np.array([[1.0, 2.0], [3.0, 5.0]]))


def _solved(A, b):
    return np.linalg.solve(A, b)


def in_a_function_called(a, b):
    found, tries = None, 0
    try:
        found = _solved(np.array([[a, 1.0], [1.0, 1.0]]), np.array([b, 1.0]))
        tries = 1
    except (ZeroDivisionError, np.linalg.LinAlgError):
        tries = 2
    return tries * (a * b if found is None else found @ found)


def bracketed(a, b):
    try:
        return optimize.brentq(lambda x: x**3 - a, 0, b)
    except ValueError:
        return 2 * a + b * b


def refined(a, b):
    total = a
    try:
        L = np.linalg.cholesky(np.array([[b, a], [a, 1.0]]))
    except np.linalg.LinAlgError:
        total = total * 3
    else:
        total = total + L[1, 1] ** 2
    finally:
        total = total + b
    return total


CASES = [
    (factor, (0.5, 2.0), (1.5, 2.0)),
    (regularised, (0.5, 2.0), (1.0, 2.0)),
    (inverse_or_pseudo, (0.5, 3.0), (2.0, 4.0)),
    (in_a_function_called, (0.5, 2.0), (1.0, 2.0)),
    (bracketed, (2.0, 3.0), (2.0, 1.0)),
    (refined, (0.5, 2.0), (3.0, 2.0)),
]
FAIL_AT_POINTS = (regularised, inverse_or_pseudo, in_a_function_called)
"""Beside a singular matrix there are none, and differences see these."""


def both(f):
    return wg.grad(f, argnums=(0, 1))


@pytest.mark.parametrize(("f", "fine", "failing"), CASES, ids=lambda c: getattr(c, "__name__", None))
def test_what_fails_is_caught(f, fine, failing):
    value, gradient, outside = wg.jit(f), wg.jit(both(f)), both(wg.jit(f))
    for point in (fine, failing):
        np.testing.assert_allclose(value(*point), f(*point), rtol=1e-12)
        want = both(f)(*point)
        if point is fine or f not in FAIL_AT_POINTS:
            np.testing.assert_allclose(want, wg.numerical.grad(lambda p: f(*p))(np.array(point)), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(gradient(*point), want, rtol=1e-10)
        np.testing.assert_allclose(outside(*point), want, rtol=1e-10)


@pytest.mark.parametrize(("f", "fine", "failing"), CASES, ids=lambda c: getattr(c, "__name__", None))
def test_each_example_goes_its_own_way(f, fine, failing):
    columns = [np.array(column) for column in zip(fine, failing, fine, strict=True)]
    want = [f(*fine), f(*failing), f(*fine)]
    np.testing.assert_allclose(wg.vmap(f)(*columns), want, rtol=1e-12)
    np.testing.assert_allclose(wg.vmap(wg.jit(f))(*columns), want, rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(*columns), want, rtol=1e-12)


def test_places_that_some_examples_do_not_have():
    table = np.array([1.0, 2.0, 4.0])

    def f(k, x):
        try:
            return table[k] * x
        except IndexError:
            return -x

    np.testing.assert_array_equal(wg.vmap(f)(np.array([0, 7, 2]), np.ones(3)), [1.0, -1.0, 4.0])


def test_what_nobody_catches_is_raised():
    def f(a):
        try:
            return np.linalg.inv(np.array([[a, 1.0], [1.0, 1.0]]))[0, 0]
        except ZeroDivisionError:
            return a

    np.testing.assert_allclose(wg.jit(f)(3.0), f(3.0))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        wg.jit(f)(1.0)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        wg.vmap(f)(np.array([3.0, 1.0]))


def test_texts_that_only_the_program_knows_are_refused():
    def f(a):
        try:
            return optimize.brentq(lambda x: x**3 - a, 0, 1)
        except ValueError as error:
            return a * len(str(error))

    with pytest.raises(StagingError, match=r"text of a ValueError[\s\S]*catch it without a name"):
        wg.jit(f)(2.0)


@pytest.mark.parametrize("lstsq", [scipy.linalg.lstsq, np.linalg.lstsq])
def test_least_squares_in_a_try(lstsq):
    design = np.vander(np.linspace(0.0, 1.0, 5), 2)

    def f(y):
        try:
            found, squared, rank, _ = lstsq(design * y[0], y)
        except np.linalg.LinAlgError:
            return np.inf
        return found @ found + np.sum(squared) * rank

    y = np.array([1.0, 2.0, 3.5, 2.0, 1.0])
    np.testing.assert_allclose(wg.jit(f)(y), f(y), rtol=1e-13)
    expected = wg.numerical.grad(f, method="five-point")(y)
    for gradient in (wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), lambda y: wg.jit(wg.vmap(wg.grad(f)))(y[None])[0]):
        np.testing.assert_allclose(gradient(y), expected, rtol=1e-7, atol=1e-8)


def test_a_rank_that_a_compiled_program_cannot_return_is_no_error_of_the_users():
    def f(x):
        try:
            return np.sum(scipy.linalg.lstsq(np.full((3, 2), x), np.ones(3))[0])
        except np.linalg.LinAlgError:
            return -1.0

    with pytest.raises(UnsupportedFunctionError, match="deficient rank"):
        wg.jit(f)(2.0)
