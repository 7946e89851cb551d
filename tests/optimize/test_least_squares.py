"""`optimize.least_squares` on plain numbers: certified fits, losses, bounds, containers, covariance, reports."""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

from wengert import errors, optimize

DATA = Path(__file__).parents[3] / "shared" / "testdata"
T = np.linspace(0, 4, 60)
CLEAN = 2.5 * np.exp(-1.3 * T) + 0.5
NOISY = CLEAN + 0.05 * np.random.default_rng(1).normal(size=60)
SPOILT = NOISY + np.where(np.arange(60) % 7 == 3, 2.0, 0.0)


def decay(p, t, y):
    return p[0] * np.exp(-p[1] * t) + p[2] - y


def read(name):
    path = DATA / name
    if not path.exists():
        pytest.skip("the test data are not here")
    return json.loads(path.read_text())


def residuals_of_nist(problem):
    names = {k: np.array(v) for k, v in problem["data"].items()}
    y = names.pop("y")
    y = y if problem["response"] == "y" else np.log(y)
    names.update({"exp": np.exp, "log": np.log, "cos": np.cos, "sin": np.sin, "arctan": np.arctan, "pi": np.pi})
    code = compile(problem["formula"], problem["name"], "eval")
    return lambda b: eval(code, {**names, **{f"b{i + 1}": b[i] for i in range(len(problem["certified"]))}}) - y


@pytest.mark.parametrize("start", [0, 1])
def test_certified_values_of_nist_from_both_starts(start):
    for name, problem in read("nist_nlls/nist.json").items():
        r = residuals_of_nist(problem)
        found = optimize.least_squares(r, np.array(problem["starts"][start]), jit=False)
        assert found.success, name
        np.testing.assert_allclose(found.x, problem["certified"], rtol=1e-8, err_msg=name)
        np.testing.assert_allclose(found.standard_error, problem["certified_sd"], rtol=1e-8, err_msg=name)
        np.testing.assert_allclose(2 * found.cost, problem["rss"], rtol=1e-8, err_msg=name)
        np.testing.assert_allclose(found.residual_variance**0.5, problem["residual_sd"], rtol=1e-8, err_msg=name)


def tukey(z):
    rest = np.maximum(1 - z, 0)
    return np.stack([(1 - rest**3) / 3, rest**2, -2 * rest])


@pytest.mark.parametrize("loss", ["linear", "huber", "soft_l1", "cauchy", "arctan", "tukey"])
def test_losses_agree_with_scipy(loss):
    start = [2.0, 1.0, 0.3]
    found = optimize.least_squares(decay, np.array(start), args=(T, SPOILT), loss=loss, f_scale=0.2, jit=False)
    theirs = scipy.optimize.least_squares(
        decay, start, args=(T, SPOILT), loss=tukey if loss == "tukey" else loss, f_scale=0.2, xtol=1e-14, ftol=1e-15
    )
    assert found.success
    np.testing.assert_allclose(found.x, theirs.x, rtol=1e-6)
    np.testing.assert_allclose(found.cost, theirs.cost, rtol=1e-12)
    np.testing.assert_allclose(found.fun, decay(found.x, T, SPOILT), rtol=1e-12)
    np.testing.assert_allclose(found.grad, 0, atol=1e-8)


@pytest.mark.parametrize("own", [np.log1p, lambda z: np.stack([np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2])])
def test_a_loss_of_the_users_own_needs_no_derivatives(own):
    fits = [
        optimize.least_squares(decay, np.array([2.0, 1, 0]), args=(T, SPOILT), loss=loss, f_scale=0.3, jit=False)
        for loss in (own, "cauchy")
    ]
    np.testing.assert_allclose(fits[0].x, fits[1].x, rtol=1e-9)
    np.testing.assert_allclose(fits[0].cost, fits[1].cost, rtol=1e-12)


@pytest.mark.parametrize("method", ["auto", "lm", "dogleg", "gauss-newton", "trf", "dogbox"])
def test_methods_agree(method):
    found = optimize.least_squares(decay, np.array([2.0, 1, 0]), args=(T, NOISY), method=method, jit=False)
    theirs = scipy.optimize.least_squares(decay, [2.0, 1, 0], args=(T, NOISY), xtol=1e-14, ftol=1e-15)
    assert found.success
    np.testing.assert_allclose(found.x, theirs.x, rtol=1e-6)


@pytest.mark.parametrize("method", ["lm", "dogleg", "dogbox"])
def test_bounds_hold_and_the_rest_is_stationary(method):
    lower, upper = np.array([0.0, 0.0, 0.0]), np.array([2.3, 9.0, 0.48])
    found = optimize.least_squares(
        decay, np.array([2.0, 1, 0]), args=(T, NOISY), bounds=(lower, upper), method=method, jit=False
    )
    theirs = scipy.optimize.least_squares(
        decay, [2.0, 1, 0], args=(T, NOISY), bounds=(lower, upper), xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    assert found.success
    assert np.all((found.x >= lower) & (found.x <= upper))
    np.testing.assert_allclose(found.cost, theirs.cost, rtol=1e-7)
    assert found.active_mask.tolist() == [1, 0, 1]
    assert found.optimality < 1e-8


def test_two_unknowns_have_bounds_in_scipys_order():
    """((0, 0), (1, 5)) is (lower, upper), not a pair for each unknown."""
    found = optimize.least_squares(lambda x: x - np.array([2.0, 3.0]), np.zeros(2), bounds=((0, 0), (1, 5)), jit=False)
    np.testing.assert_allclose(found.x, [1, 3])


@dataclass
class Decay:
    height: float
    rate: float


def test_containers_of_parameters_and_of_residuals():
    def r(p):
        fit = p["decay"].height * np.exp(-p["decay"].rate * T) + p["offset"][0]
        return {"late": (fit - NOISY)[30:], "early": [(fit - NOISY)[:30]]}

    found = optimize.least_squares(r, {"decay": Decay(2.0, 1.0), "offset": np.zeros(1)}, jit=False)
    reference = optimize.least_squares(decay, np.array([2.0, 1, 0]), args=(T, NOISY), jit=False)
    x, se = found.x, found.standard_error
    np.testing.assert_allclose([x["decay"].height, x["decay"].rate, x["offset"][0]], reference.x, rtol=1e-9)
    np.testing.assert_allclose([se["decay"].height, se["decay"].rate, se["offset"][0]], reference.standard_error)
    assert all(name in found.report() for name in ("decay.height", "decay.rate", "offset[0]"))


@pytest.mark.parametrize("constant", [{"c"}, ["c"], {"c": True}, "c"])
def test_parameters_held_constant(constant):
    def r(p):
        return p["a"] * np.exp(-p["k"] * T) + p["c"] - NOISY

    found = optimize.least_squares(r, {"a": 2.0, "k": 1.0, "c": 0.4}, constant=constant, jit=False)
    reference = optimize.least_squares(lambda p: decay([*p, 0.4], T, NOISY), np.array([2.0, 1.0]), jit=False)
    assert found.x["c"] == 0.4
    assert found.standard_error["c"] == 0
    np.testing.assert_allclose([found.x["a"], found.x["k"]], reference.x, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, reference.covariance, rtol=1e-6)


def test_elements_held_constant_by_index_and_by_mask():
    for constant in ([1], np.array([False, True, False])):
        found = optimize.least_squares(
            decay, np.array([2.0, 1.1, 0]), args=(T, NOISY), constant=constant, bounds=(0.3, 9), jit=False
        )
        assert found.x[1] == 1.1
        assert found.jac.shape == (60, 2)
        assert found.success


def test_complex_residuals_count_with_both_parts():
    t = np.linspace(0, 3, 30)
    data = 2 * np.exp((-0.3 + 2j) * t)
    found = optimize.least_squares(lambda p: p[0] * np.exp((-p[1] + 1j * p[2]) * t) - data, np.array([1.0, 0.1, 1.8]))
    np.testing.assert_allclose(found.x, [2, 0.3, 2], rtol=1e-9)
    assert found.fun.shape == (60,)


def test_covariance_is_that_of_linear_regression(rng):
    design = rng.normal(size=(30, 4)) * np.array([1, 1e4, 1e-5, 1])
    y = design @ np.array([1.0, 2, 3, 4]) + rng.normal(size=30)
    found = optimize.least_squares(lambda p: design @ p - y, np.zeros(4), jit=False)
    rss = np.sum((design @ np.linalg.lstsq(design, y)[0] - y) ** 2)
    np.testing.assert_allclose(found.covariance, rss / 26 * np.linalg.inv(design.T @ design), rtol=1e-7)
    g = lambda p: np.array([p[0] + p[3], p[1] * p[1]])
    slope = np.array([[1, 0, 0, 1], [0, 2 * found.x[1], 0, 0]])
    np.testing.assert_allclose(found.covariance_of(g), slope @ found.covariance @ slope.T, rtol=1e-9)
    np.testing.assert_allclose(found.standard_error_of(g) ** 2, np.diag(found.covariance_of(g)), rtol=1e-9)
    by_name = lambda p: {"first": g(p)[0], "others": g(p)[1:]}
    np.testing.assert_allclose(found.covariance_of(by_name), found.covariance_of(g), rtol=1e-12)
    np.testing.assert_allclose(found.standard_error_of(by_name)["first"], found.standard_error_of(g)[0], rtol=1e-12)


def test_what_is_not_determined_has_infinite_variance():
    found = optimize.least_squares(lambda p: (p[0] + p[1]) * T + p[2] - NOISY, np.zeros(3), jit=False)
    assert np.isinf(found.standard_error[:2]).all()
    straight = optimize.least_squares(lambda p: p[0] * T + p[1] - NOISY, np.zeros(2), jit=False)
    np.testing.assert_allclose(found.standard_error[2], straight.standard_error[1] * (58 / 57) ** 0.5, rtol=1e-9)
    assert "not determined" in found.report()


def test_trial_points_where_the_residuals_cannot_be_computed():
    def by_raising(p):
        if p[0] > 3:
            raise ValueError("no")
        return decay(p, T, NOISY)

    def by_overflow(p):
        return np.where(p[0] > 3, np.inf, 1.0) * decay(p, T, NOISY)

    for r in (by_raising, by_overflow):
        found = optimize.least_squares(r, np.array([0.5, 8.0, -1.0]), jit=False)
        assert found.success
        np.testing.assert_allclose(found.x, [2.5, 1.3, 0.5], atol=0.1)


def test_a_start_that_is_not_finite_is_refused():
    with pytest.raises(errors.NonFiniteError, match=r"residual 0 is nan"):
        optimize.least_squares(lambda p: np.sqrt(p[:1]) * T[:3], np.array([-1.0]), jit=False)
    for sparse in (False, True):
        with pytest.raises(
            errors.NonFiniteError, match=r"residual 1 is nan(.|\n)*log gave nan\n  at .*np\.log\(p - T\[:3\]\)"
        ):
            optimize.least_squares(lambda p: np.log(p - T[:3]), np.array([1.0, T[1] - 1.0, T[2] + 1]), sparse=sparse)


def test_iterations_run_out_truthfully():
    found = optimize.least_squares(decay, np.array([2.0, 5, 0]), args=(T, NOISY), maxiter=2, jit=False)
    assert not found.success
    assert found.status == 0
    assert "NOT converged" in str(found)


def test_callbacks_stop_it():
    seen = []

    def stop(x):
        seen.append(x)
        return len(seen) == 3

    found = optimize.least_squares(decay, np.array([2.0, 5, 0]), args=(T, NOISY), callback=stop, jit=False)
    assert not found.success
    np.testing.assert_array_equal(found.x, seen[-1])


def test_fewer_residuals_than_unknowns():
    found = optimize.least_squares(lambda x: np.array([x[0] + x[1] - 3]), np.zeros(2), jit=False)
    assert found.success
    np.testing.assert_allclose(found.x.sum(), 3)
    assert np.isinf(found.standard_error).all()


@pytest.mark.slow
def test_sums_of_squares_of_more_garbow_hillstrom():
    helpers = {"exp": np.exp, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "prod": np.prod, "pi": np.pi}
    tried = 0
    for name, problem in read("mgh/mgh.json").items():
        try:
            code = compile(problem["residuals"], name, "eval")
            data = {k: np.array(v) for k, v in problem.get("data", {}).items()}
            r = lambda x, code=code, data=data: np.array(eval(code, {**helpers, **data, "x": x}))
            r(np.array(problem["start"], float))
        except NameError:
            continue  # it needs functions that its note describes
        if problem["n"] > 10 or name == "Brown and Dennis":  # which take long without compilation
            continue
        tried += 1
        found = optimize.least_squares(r, np.array(problem["start"], float), jit=False)
        lowest = max(problem["f_min"], problem["f_computed"], problem["f_lm_from_start"])
        assert 2 * found.cost <= lowest * (1 + 1e-4) + 1e-12, name
    assert tried >= 10


def test_pictures_and_reports(tmp_path):
    weighted = lambda p, t, y: (y - decay(p, t, 0 * y)) / 0.05
    found = optimize.least_squares(weighted, np.array([2.0, 1, 0]), args=(T, NOISY), jit=False)
    picture = found.plot(path=tmp_path / "fit.svg")
    assert (tmp_path / "fit.svg").read_text() == picture.svg
    assert picture.svg.count("<circle") == 60
    smooth = found.plot(x=T, y=NOISY, model=lambda p, t: decay(p, t, 0 * t))
    assert "polyline" in smooth.svg
    closed = optimize.least_squares(lambda p: decay(p, T, NOISY), np.array([2.0, 1, 0]), jit=False)
    assert "residual" in closed.plot().svg
    with pytest.raises(errors.MismatchError, match="model"):
        closed.plot(x=T, y=NOISY)


def test_wrong_names_are_told():
    for wrong in ({"loss": "l1"}, {"method": "newton"}, {"manifold": "torus"}, {"constant": {"q"}}):
        with pytest.raises(ValueError, match=r"huber|dogleg|torus|q"):
            optimize.least_squares(decay, np.ones(3), args=(T, NOISY), jit=False, **wrong)


def test_without_residuals_to_spare_all_variances_are_infinite():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = optimize.least_squares(lambda x: np.array([x[0] - 1, x[1] - 1]), np.zeros(2))
        assert np.all(found.covariance == np.inf)
        assert np.all(found.standard_error == np.inf)


def test_residuals_may_have_scales_of_their_own():
    t = np.linspace(0, 1, 30)
    y, scale = np.sin(5 * t), 0.1 + t
    cost = lambda p, z: np.sum(scale**2 * 2 * (np.sqrt(1 + z) - 1)) / 2
    found = optimize.least_squares(lambda p: p[0] * t + p[1] - y, np.zeros(2), loss="soft_l1", f_scale=scale)
    direct = optimize.minimize(lambda p: cost(p, ((p[0] * t + p[1] - y) / scale) ** 2), np.zeros(2))
    np.testing.assert_allclose(found.x, direct.x, rtol=1e-6)
    np.testing.assert_allclose(found.cost, direct.fun, rtol=1e-12)


@pytest.mark.parametrize("start", [(2, 4e5, 25e3), (0.02, 4e3, 250)])
def test_a_long_bent_valley_is_followed_to_its_end(start):
    """NIST's MGH10, whose first start is 2000 iterations of Levenberg and Marquardt's method away, and more."""
    x = np.arange(50.0, 126.0, 5.0)
    y = [34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872]
    found = optimize.least_squares(
        lambda b: b[0] * np.exp(b[1] / (x + b[2])) - np.array(y, float), np.array(start, float)
    )
    assert found.success
    np.testing.assert_allclose(found.x, [5.6096364710e-03, 6.1813463463e03, 3.4522363462e02], rtol=1e-7)
    np.testing.assert_allclose(found.standard_error, [1.5687892471e-04, 2.3309021107e01, 7.8486103508e-01], rtol=1e-6)
    np.testing.assert_allclose(2 * found.cost, 8.7945855171e01, rtol=1e-9)
