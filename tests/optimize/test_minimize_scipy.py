"""SciPy's methods behind `optimize.minimize`: exact derivatives, containers, bounds, constraints, NaN."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from scipy.optimize import LinearConstraint, NonlinearConstraint

import wengert as wg
from wengert import optimize
from wengert.optimize.scipy_methods import METHODS

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
B = np.array([1.0, -2.0, 0.5])


def bowl(x, a=A, b=B):
    return 0.5 * x @ a @ x - b @ x + 0.05 * np.sum((x - np.linalg.solve(a, b)) ** 4)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_of_scipy_finds_the_minimum(method):
    found = optimize.minimize(bowl, np.ones(3), method=method)
    assert found.success, found.message
    assert found.method == method
    np.testing.assert_allclose(found.x, np.linalg.solve(A, B), atol=5e-4)


def test_gradients_are_exact_not_differences():
    seen = []

    def f(x):
        seen.append(type(x))
        return np.sum((x - 3.0) ** 4)

    found = optimize.minimize(f, np.zeros(20), method="L-BFGS-B", jit=False, tol=1e-14)
    assert found.nfev < 60  # differences would take twenty evaluations for each gradient
    assert len(seen) == found.nfev
    np.testing.assert_allclose(found.jac, 4 * (found.x - 3.0) ** 3)


def test_containers_and_their_types_come_back():
    def f(p):
        return (p["rate"] - 2) ** 2 + np.sum((p["w"][0] - 1) ** 2) + p["w"][1] ** 2

    found = optimize.minimize(f, {"rate": 0, "w": (np.zeros((2, 2), np.float32), 5.0)}, method="BFGS")
    assert found.x["w"][0].dtype == np.float32
    assert found.x["w"][0].shape == (2, 2)
    assert isinstance(found.x["rate"], np.float64)
    np.testing.assert_allclose(found.x["rate"], 2, rtol=1e-6)
    assert found.jac["w"][0].shape == (2, 2)


@pytest.mark.parametrize(
    "bounds",
    [
        {"a": (None, 0.5), "b": (0.1, None)},
        ({"a": -np.inf, "b": 0.1}, {"a": 0.5, "b": np.full(2, np.inf)}),
        [(None, 0.5), (0.1, None), (0.1, None)],
        scipy.optimize.Bounds([-np.inf, 0.1, 0.1], [0.5, np.inf, np.inf]),
    ],
)
def test_bounds_in_every_form(bounds):
    found = optimize.minimize(
        lambda p: (p["a"] - 1) ** 2 + np.sum(p["b"] ** 2), {"a": 0.0, "b": np.ones(2)}, bounds=bounds, jit=False
    )
    np.testing.assert_allclose(found.x["a"], 0.5)
    np.testing.assert_allclose(found.x["b"], 0.1)


def test_bounds_that_fit_nothing_are_refused():
    with pytest.raises(wg.errors.MismatchError, match="above the upper bound"):
        optimize.minimize(bowl, np.ones(3), bounds=[(1, 0)] * 3)
    with pytest.raises(wg.errors.MismatchError, match="do not fit 3"):
        optimize.minimize(bowl, np.ones(3), bounds=[(1, 0)] * 4)
    with pytest.raises(wg.errors.MismatchError, match="takes no bounds"):
        optimize.minimize(bowl, np.ones(3), bounds=[(0, 1)] * 3, method="BFGS")


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "COBYQA"])
@pytest.mark.parametrize("form", ["dict", "nonlinear", "linear", "sparse"])
def test_constraints_in_every_form(form, method):
    """The point of a line, x + 2y = 3, that is nearest to the origin: (0.6, 1.2)."""
    line = {
        "dict": [{"type": "eq", "fun": lambda p, c: p["x"] + 2 * p["y"] - c, "args": (3.0,)}],
        "nonlinear": NonlinearConstraint(lambda p: p["x"] + 2 * p["y"], 3.0, 3.0),
        "linear": LinearConstraint([[1.0, 2.0]], 3.0, 3.0),
        "sparse": LinearConstraint(scipy.sparse.csr_array([[1.0, 2.0]]), 3.0, 3.0),
    }[form]
    found = optimize.minimize(
        lambda p: p["x"] ** 2 + p["y"] ** 2, {"x": 3.0, "y": 3.0}, method=method, constraints=line
    )
    np.testing.assert_allclose([found.x["x"], found.x["y"]], [0.6, 1.2], atol=1e-5)


def test_a_large_sparse_problem_uses_sparse_second_derivatives():
    n = 400
    found = optimize.minimize(
        lambda x: np.sum((x[1:] - x[:-1]) ** 2) + np.sum(x**4),
        np.ones(n),
        method="trust-constr",
        constraints=NonlinearConstraint(lambda x: x[::100] ** 2, 1.0, 1.0),
        options={"maxiter": 200},
    )
    np.testing.assert_allclose(found.x[::100] ** 2, 1.0, atol=1e-6)


def test_ctrl_c_returns_the_best_point():
    count = 0

    def f(x):
        nonlocal count
        count += 1
        if count == 15:
            raise KeyboardInterrupt
        return np.sum((x - 1) ** 4)

    found = optimize.minimize(f, np.full(3, 9.0), method="BFGS", jit=False)
    assert not found.success
    assert "interrupted" in found.message
    assert f(found.x) < f(np.full(3, 9.0))
    assert found.fun == f(found.x)


def test_callbacks_of_both_forms_and_how_they_stop():
    points, states = [], []
    optimize.minimize(bowl, np.ones(3), method="BFGS", callback=points.append)
    assert len(points) > 3
    assert points[0].shape == (3,)

    def on(intermediate_result):
        states.append(intermediate_result.fun)
        return len(states) == 2

    found = optimize.minimize(bowl, np.ones(3), method="BFGS", callback=on)
    assert len(states) == 2
    assert not found.success
    assert "callback" in found.message


def test_nan_is_reported_with_its_line():
    def f(x):
        return np.log(x[0] - 5) + x[1] ** 2  # this line

    found = optimize.minimize(f, np.zeros(2), method="BFGS")
    assert not found.success
    assert "this line" in found.message
    assert "test_minimize_scipy.py" in found.message


def test_a_method_that_raises_at_a_point_it_tried_tells_the_line():
    def f(x):
        return np.sqrt(x[0]) + (x[0] + 0.5) ** 2  # this line

    found = optimize.minimize(f, np.ones(1), method="trust-exact")  # whose factorisation refuses a Hessian of NaNs
    assert not found.success
    assert "this line" in found.message
    assert found.x[0] > 0


def test_what_cannot_be_compiled_runs_as_python_with_a_warning():
    def f(x):
        powers = {"True": 2, "False": 4}
        return np.sum((x - 1) ** powers[str(bool(x[0] > 0.5))])

    with pytest.warns(RuntimeWarning, match="runs as ordinary Python"):
        found = optimize.minimize(f, np.zeros(2), method="BFGS")
    np.testing.assert_allclose(found.x, 1.0)


def test_residuals_and_complex_unknowns_are_refused():
    with pytest.raises(TypeError, match="gauss-newton"):
        optimize.minimize(lambda x: x - 1, np.zeros(2), method="BFGS")
    with pytest.raises(wg.errors.MismatchError, match="complex"):
        optimize.minimize(lambda x: abs(x), 1j)


def test_progress_goes_to_stderr(capsys):
    optimize.minimize(bowl, np.ones(3), method="BFGS", progress=True)
    error = capsys.readouterr().err
    assert "value" in error
    assert "|gradient|" in error


def test_trust_constr_takes_several_constraints_of_different_sizes():
    f = lambda x: (x[0] - 1) ** 2 + (x[1] - 2.5) ** 2
    pair = {"type": "ineq", "fun": lambda x: np.array([x[0] - 2 * x[1] + 2, -x[0] - 2 * x[1] + 6])}
    stated = [pair, {"type": "ineq", "fun": lambda x: -x[0] + 2 * x[1] + 2}]
    found = optimize.minimize(f, [2.0, 0.0], constraints=stated, bounds=[(0, None)] * 2, method="trust-constr")
    np.testing.assert_allclose(found.x, [1.4, 1.7], atol=1e-4)
    np.testing.assert_allclose(found.jac, [0.8, -1.6], atol=1e-3)


def test_slsqp_knows_that_it_has_found_a_minimum_which_it_cannot_improve():
    """Hock and Schittkowski's problems 7 and 10, where its line search ends on rounding errors."""
    circle = {"type": "eq", "fun": lambda x: (1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4}
    ellipse = {"type": "ineq", "fun": lambda x: -3 * x[0] ** 2 + 2 * x[0] * x[1] - x[1] ** 2 + 1}
    seven = optimize.minimize(lambda x: np.log(1 + x[0] ** 2) - x[1], [2.0, 2.0], constraints=circle)
    ten = optimize.minimize(lambda x: x[0] - x[1], [-10.0, 10.0], constraints=ellipse)
    assert seven.success
    assert ten.success
    np.testing.assert_allclose([seven.fun, ten.fun], [-np.sqrt(3), -1.0], rtol=1e-8)
    never = optimize.minimize(lambda x: x @ x, [1.0, 1.0], constraints={"type": "eq", "fun": lambda x: x[0] ** 2 + 1})
    assert not never.success


def test_bounds_of_a_leaf_are_one_pair_or_a_pair_for_each_number():
    f = lambda p: (p["a"] - 3) ** 2 + np.sum((p["b"] + 1) ** 2)
    found = optimize.minimize(f, {"a": 0.5, "b": np.ones(2)}, bounds={"a": (0, 1), "b": [(0, 1), (0.25, None)]})
    np.testing.assert_allclose(found.x["b"], [0.0, 0.25], atol=1e-9)
    with pytest.raises(wg.errors.MismatchError, match="do not fit"):
        optimize.minimize(f, {"a": 0.5, "b": np.ones(2)}, bounds={"a": (0, 1), "b": [(0, 1)] * 3})


def test_many_unknowns_with_constraints_in_all_forms():
    n = 400
    step = scipy.sparse.eye_array(n - 1, n, k=1) - scipy.sparse.eye_array(n - 1, n)
    f = lambda x: np.sum((x - np.sin(np.arange(n) / 50)) ** 2)
    forms = (
        scipy.optimize.LinearConstraint(step, -0.01, 0.01),
        scipy.optimize.NonlinearConstraint(lambda x: x[1:] - x[:-1], -0.01, 0.01),
        [
            {"type": "ineq", "fun": lambda x, most, sign: most + sign * (x[1:] - x[:-1]), "args": (0.01, s)}
            for s in (1, -1)
        ],
    )
    found = [optimize.minimize(f, np.zeros(n), constraints=c) for c in forms]
    for one in found:
        assert one.success
        assert one.method == "interior-point"
        assert np.max(np.abs(np.diff(one.x))) <= 0.01 + 1e-8
        np.testing.assert_allclose(one.x, found[0].x, atol=1e-6)


def test_where_slsqp_cannot_start_auto_goes_over_to_the_interior_point_method():
    """Hock and Schittkowski's problem 61: at the start both equalities have a gradient along the first unknown."""
    f = lambda x: 4 * x[0] ** 2 + 2 * x[1] ** 2 + 2 * x[2] ** 2 - 33 * x[0] + 16 * x[1] - 24 * x[2]
    both = {"type": "eq", "fun": lambda x: np.array([3 * x[0] - 2 * x[1] ** 2 - 7, 4 * x[0] - x[2] ** 2 - 11])}
    found = optimize.minimize(f, np.zeros(3), constraints=both)
    assert found.success
    assert "after SLSQP" in found.message
    assert found.fun == pytest.approx(-143.6461422)
    assert not optimize.minimize(f, np.zeros(3), constraints=both, method="SLSQP").success


@pytest.mark.parametrize("method", ["BFGS", "CG", "Newton-CG", "L-BFGS-B"])
def test_methods_that_end_where_nothing_is_finite_give_the_best_point(method):
    """SciPy's line searches go beyond the logarithm's domain, and some do not come back."""

    def f(x):
        with np.errstate(invalid="ignore"):
            return -np.log(x[0]) - np.log(1 - x[0] - x[1]) - np.log(x[1])

    x0 = np.array([0.9, 0.05])
    found = optimize.minimize(f, x0, method=method)
    assert np.isfinite(found.fun)
    assert found.fun <= f(x0)
    assert found.fun == pytest.approx(f(found.x), rel=1e-12)
    assert found.success == (abs(found.fun - 3 * np.log(3)) < 1e-5)
