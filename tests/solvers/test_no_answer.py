"""What has no answer, or an answer without a derivative, raises: in Python, in compiled functions and in batches."""

import numpy as np
import pytest
from scipy import optimize

import wengert as wg
from wengert.errors import ConvergenceError

WRONG = wg.implicit(lambda y, a: y**3 - a)(lambda a: a)
DOUBLE = lambda a: wg.root(lambda x: (x - a) ** 2, 1.0)
TOUCHED = lambda a: wg.qp(np.eye(1), np.stack([-a]), np.eye(1), np.ones(1))[0]


@pytest.mark.parametrize(
    "run",
    [
        lambda: WRONG(1.3),
        lambda: wg.jit(WRONG)(1.3),
        lambda: wg.vmap(WRONG)(np.array([1.0, 1.3])),
        lambda: wg.grad(WRONG)(1.3),
        lambda: wg.jit(wg.grad(WRONG))(1.3),
        lambda: wg.vmap(wg.grad(WRONG))(np.array([1.0, 1.3])),
    ],
)
def test_wrong_answers(run):
    with pytest.raises(ConvergenceError, match="does not satisfy its equation"):
        run()


@pytest.mark.parametrize("derive", [wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f)), wg.hessian])
@pytest.mark.parametrize("f", [DOUBLE, lambda a: wg.root(lambda x: x * x - 2 * a * x + a * a, 1.0)])
def test_double_roots(f, derive):
    with pytest.raises(ConvergenceError, match="singular there"):
        derive(f)(1.3)


def test_simple_roots_are_not_taken_for_double_ones():
    """Also where they are close to each other, and badly scaled."""
    for gap in (1e-2, 1e-4):
        f = lambda a, gap=gap: wg.root(lambda x: 1e6 * (x - a) * (x - a - gap), 2.0)
        assert wg.grad(f)(1.3) == pytest.approx(1, rel=1e-6)


NO_ROOT = lambda a: wg.root(lambda x: x**2 + a, 1.0)


@pytest.mark.parametrize("f", [NO_ROOT, wg.jit(NO_ROOT)])
def test_no_root(f):
    for run in (lambda: f(1.0), lambda: wg.vmap(f)(np.ones(2))):
        with pytest.raises(ConvergenceError, match="singular"):
            run()


@pytest.mark.parametrize("wrap", [lambda f: f, wg.jit])
def test_singular_systems(wrap):
    for A in (lambda a: a * np.ones((2, 2)), lambda a: lambda v: a * np.sum(v) * np.ones(2)):
        with pytest.raises(ConvergenceError, match="singular"):
            wrap(lambda a, A=A: wg.linear_solve(A(a), np.array([1.0, 2.0])))(1.3)


@pytest.mark.parametrize("derive", [wg.grad, lambda f: wg.jit(wg.grad(f))])
def test_a_constraint_that_is_just_touched(derive):
    with pytest.raises(ConvergenceError, match="just touched"):
        derive(TOUCHED)(1.0)
    assert derive(TOUCHED)(0.9) == pytest.approx(1)
    assert derive(TOUCHED)(1.1) == pytest.approx(0)


@pytest.mark.parametrize("wrap", [lambda f: f, wg.jit])
def test_programs_without_a_minimum(wrap):
    one, both = np.array([[-1.0]]), np.array([[1.0], [-1.0]])
    unbounded = lambda h: wg.lp(-np.ones(1), one, h)
    concave = lambda h: wg.qp(-h[0] * np.eye(1), np.ones(1), both, np.ones(2))
    for f in (unbounded, concave):
        with pytest.raises(ConvergenceError):
            wrap(f)(np.ones(1))


def test_saddles_are_left():
    saddle = lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2
    for find in (wg.argmin, wg.jit(lambda x: wg.argmin(saddle, x))):
        x = find(saddle, np.zeros(2)) if find is wg.argmin else find(np.zeros(2))
        np.testing.assert_allclose(np.abs(x), [1, 0], atol=1e-7)
    with pytest.raises(ConvergenceError), np.errstate(all="ignore"):
        wg.argmin(lambda x: x[0] ** 2 - x[1] ** 2, np.zeros(2))


def test_values_need_no_derivative():
    """A double root, and a constraint that is just touched, are answers."""
    assert TOUCHED(1.0) == pytest.approx(1)
    assert wg.jit(TOUCHED)(1.0) == pytest.approx(1)
    assert DOUBLE(1.3) == pytest.approx(1.3, abs=1e-6)
    double = lambda a: optimize.newton(lambda x: (x - a) ** 2, 1.0, fprime=lambda x: 2 * (x - a), maxiter=100)
    touched = lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2, [2.0], bounds=[(1.3, None)]).x[0]
    for f in (double, touched):
        assert wg.jit(f)(1.3) == f(1.3)
        np.testing.assert_array_equal(wg.vmap(f)(np.array([1.3, 1.3])), [f(1.3)] * 2)
        with pytest.raises(ConvergenceError, match="no derivative"):
            wg.jit(wg.grad(f))(1.3)
    assert wg.implicit(lambda y, a: (y - a) ** 2)(lambda a: a)(1.3) == 1.3


@wg.implicit(lambda y, a: np.stack([y[0] - a, y[0] - a]))
def twice_the_same(a):
    return np.stack([a, a])


SINGULAR_FOR_ALL_VALUES = {
    "argmin": lambda a: np.sum(wg.argmin(lambda x, a: (x[0] - a) ** 2, np.ones(2), a)),
    "of a parameter": lambda a: np.sum(wg.argmin(lambda x, a: a * (x[0] - a) ** 2, np.ones(2), a)),
    "fixed point": lambda a: np.sum(wg.fixed_point(lambda y, a: y + 0 * a, np.ones(2), a)),
    "implicit": lambda a: np.sum(twice_the_same(a)),
}


@pytest.mark.parametrize("name", SINGULAR_FOR_ALL_VALUES)
@pytest.mark.parametrize(
    "run",
    [lambda f: wg.grad(f)(1.0), lambda f: wg.jit(wg.grad(f))(1.0), lambda f: wg.jit(wg.vmap(wg.grad(f)))(np.ones(2))],
    ids=["eager", "compiled", "batch"],
)
def test_jacobians_that_are_singular_whatever_the_values(name, run):
    with pytest.raises(ConvergenceError, match="singular there"):
        run(SINGULAR_FOR_ALL_VALUES[name])


def test_programs_that_look_at_success_go_on():
    """A start that leads nowhere is left out; whoever uses what was found there gets the error."""

    def smallest(a):
        found = [optimize.root(lambda x: x**3 - 3 * x + a, start) for start in (-4.0, 1.02, 4.0)]
        assert any(not r.success for r in found)
        return min(r.x[0] for r in found if r.success)

    x = smallest(2.5)
    np.testing.assert_allclose(wg.grad(smallest)(2.5), -1 / (3 * x**2 - 3), rtol=1e-9)
    for use in (lambda r: r.x[0], lambda r: r.x, lambda r: np.sum(r.fun)):
        with pytest.raises(ConvergenceError, match="has not converged"):
            wg.jacobian(lambda a, use=use: use(optimize.root(lambda x: x**2 + a, 1.0)))(1.0)
    limit = lambda a: optimize.minimize(lambda x: (x[0] - a) ** 4, [9.0], method="Nelder-Mead", options={"maxiter": 2})
    assert wg.grad(lambda a: a**2 if not limit(a).success else limit(a).x[0])(1.5) == 3.0
    with pytest.raises(ConvergenceError, match="has not converged"):
        wg.grad(lambda a: limit(a).x[0])(1.5)


def test_an_answer_that_was_not_found_says_so_as_the_result():
    """Also where only the start depends on what is differentiated, and the result is handed out unused."""
    few = lambda p: optimize.minimize(optimize.rosen, p, options={"maxiter": 2}).x
    for differentiated in (wg.jacobian(few), lambda p: wg.jvp(few, (p,), (p,))):
        with pytest.raises(ConvergenceError, match="has not converged"):
            differentiated(np.zeros(2))
