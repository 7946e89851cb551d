"""`optimize.least_squares` in functions that are compiled, batched and differentiated."""

import numpy as np
import pytest

import wengert as wg
from wengert import errors, optimize

T = np.linspace(0, 4, 25)


def decay(p, t, y):
    return p[0] * np.exp(-p[1] * t) + p[2] - y


@pytest.fixture(scope="module")
def curves():
    rng = np.random.default_rng(2)
    truth = np.array([2.5, 1.3, 0.5]) * (1 + 0.1 * rng.normal(size=(6, 3)))
    return np.stack([decay(p, T, 0 * T) for p in truth]) + 0.03 * rng.normal(size=(6, 25))


def fit(y):
    return optimize.least_squares(decay, np.array([2.0, 1.0, 0.0]), args=(T, y)).x


def closed(y):
    return optimize.least_squares(lambda p: decay(p, T, y), np.array([2.0, 1.0, 0.0]), loss="soft_l1", f_scale=0.1).x


@pytest.mark.slow
@pytest.mark.parametrize("f", [fit, closed])
def test_every_placement_is_the_same_fit(f, curves):
    alone = np.stack([f(y) for y in curves])
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(curves), alone, rtol=1e-7)
    np.testing.assert_allclose(wg.vmap(f)(curves), alone, rtol=1e-7)


@pytest.mark.slow
def test_the_derivative_of_the_answer(curves):
    y, v = curves[0], np.cos(np.arange(25.0))
    expected = (fit(y + 1e-5 * v) - fit(y - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(wg.jvp(fit, (y,), (v,))[1], expected, rtol=1e-5)
    jacobian = wg.jacobian(fit)(y)
    np.testing.assert_allclose(jacobian @ v, expected, rtol=1e-5)
    np.testing.assert_allclose(wg.jit(wg.jacobian(fit))(y), jacobian, rtol=1e-9)


def test_an_unknown_at_its_bound_does_not_move(curves):
    def bounded(y):
        found = optimize.least_squares(decay, np.array([2.0, 1.0, 0.0]), args=(T, y), bounds=(0.0, [9, 9, 0.1]))
        return found.x

    jacobian = wg.jacobian(bounded)(curves[0])
    np.testing.assert_allclose(jacobian[2], 0.0, atol=1e-15)
    free = lambda y: optimize.least_squares(lambda p: decay([p[0], p[1], 0.1], T, y), np.array([2.0, 1.0])).x
    np.testing.assert_allclose(jacobian[:2], wg.jacobian(free)(curves[0]), rtol=1e-6)


def test_an_answer_that_was_not_found_has_no_derivative(curves):
    f = lambda y: optimize.least_squares(decay, np.array([2.0, 8.0, 0.0]), args=(T, y), maxiter=1).x
    with pytest.raises(errors.ConvergenceError):
        wg.jacobian(f)(curves[0])


def test_manifolds_have_no_derivative_of_their_answer():
    f = lambda a: optimize.least_squares(lambda x: x - a, np.array([1.0, 0.0]), manifold="sphere").x
    with pytest.raises(errors.MismatchError, match="manifold"):
        wg.jacobian(f)(np.array([3.0, 4.0]))


@pytest.mark.slow
def test_a_function_that_is_fitted_often_is_compiled_whole(curves):
    r = lambda p, y: decay(p, T, y)
    fits = [optimize.least_squares(r, np.array([2.0, 1, 0]), args=(y,)) for y in curves]
    for y, found in zip(curves, fits, strict=True):
        np.testing.assert_allclose(found.x, fit(y), rtol=1e-7)
        assert found.success
