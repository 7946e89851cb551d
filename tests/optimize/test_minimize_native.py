"""Methods that run whole in one compiled loop: known minima, bounds, batches, derivatives, messages."""

import importlib
import math
import warnings

import numpy as np
import pytest

import wengert as wg
from wengert import optimize

SMOOTH = ("lbfgs", "trust-ncg-native", "cg-native", "gradient-descent")


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_residuals(x):
    return np.concatenate([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])


def beale(x):
    return (1.5 - x[0] * (1 - x[1])) ** 2 + (2.25 - x[0] * (1 - x[1] ** 2)) ** 2 + (2.625 - x[0] * (1 - x[1] ** 3)) ** 2


def brown_and_dennis(x):
    t = np.arange(1, 21) / 5
    return np.sum(((x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2) ** 2)


# Moré, Garbow and Hillstrom 1981, problems 1, 5, 16: standard start and published minimum.
PROBLEMS = [
    (rosenbrock, [-1.2, 1.0], 0.0),
    (beale, [1.0, 1.0], 0.0),
    (brown_and_dennis, [25.0, 5.0, -5.0, -1.0], 85822.2016),
]


@pytest.mark.parametrize("method", [*SMOOTH, "auto"])
@pytest.mark.parametrize(("f", "start", "minimum"), PROBLEMS)
def test_published_minima_from_near_and_far(f, start, minimum, method):
    for scale in (1, 10, 100):
        found = optimize.minimize(f, scale * np.array(start), method=method, jit=False, options={"maxiter": 400})
        if method != "gradient-descent" or scale == 1:  # plain descent may take longer than it is given
            assert found.success, (scale, found.message)
        if found.success:
            assert found.fun <= minimum * (1 + 1e-6) + 1e-12, (scale, found.fun)


def test_gauss_newton_takes_residuals():
    found = optimize.minimize(rosenbrock_residuals, np.array([-1.2, 1.0, -1.2]), method="gauss-newton")
    assert found.success
    np.testing.assert_allclose(found.x, 1.0, atol=1e-9)
    np.testing.assert_allclose(found.fun, 0.0, atol=1e-18)
    one = optimize.minimize(rosenbrock, np.array([-1.2, 1.0]), method="gauss-newton", jit=False)
    assert one.method == "trust-ncg-native"
    assert "needs residuals" in one.message
    np.testing.assert_allclose(one.x, 1.0, atol=1e-6)


def test_auto_says_what_it_chose():
    assert optimize.minimize(rosenbrock, np.zeros(3)).method == "trust-ncg-native"
    large = optimize.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(1000))
    assert large.method == "lbfgs"
    np.testing.assert_allclose(large.x, 1.0, atol=1e-7)
    line = {"type": "eq", "fun": lambda x: np.sum(x) - 1.5}
    constrained = optimize.minimize(rosenbrock, np.zeros(3), constraints=line, jit=False)
    assert constrained.method == "SLSQP"


@pytest.mark.parametrize("method", ["lbfgs", "gradient-descent"])
def test_bounds_hold_and_the_conditions_of_a_minimum_are_met(method):
    lower, upper = np.array([-2.0, 0.3, -2.0, -1.0]), np.array([0.5, 2.0, 0.1, 5.0])
    found = optimize.minimize(
        rosenbrock, np.array([-1.2, 1.0, -1.2, 1.0]), method=method, bounds=(lower, upper), jit=False
    )
    assert found.success
    x, g = found.x, wg.grad(rosenbrock)(found.x)
    assert np.all(x >= lower)
    assert np.all(x <= upper)
    np.testing.assert_allclose(x - np.clip(x - g, lower, upper), 0.0, atol=1e-7)


def test_a_saddle_is_left():
    found = optimize.minimize(lambda x: x[0] ** 2 - x[1] ** 2 + x[1] ** 4, np.array([1.0, 1e-3]), jit=False)
    np.testing.assert_allclose(np.abs(found.x), [0.0, np.sqrt(0.5)], atol=1e-7)


def test_jit_or_not_is_the_same():
    x0 = np.array([-1.2, 1.0])
    for method in ("lbfgs", "trust-ncg-native"):
        fast, slow = (optimize.minimize(rosenbrock, x0, method=method, jit=j) for j in (True, False))
        np.testing.assert_allclose(fast.x, slow.x, rtol=1e-7)
        assert abs(fast.nit - slow.nit) <= 2


def test_messages_are_true():
    short = optimize.minimize(rosenbrock, np.array([-1.2, 1.0]), method="lbfgs", options={"maxiter": 3})
    assert not short.success
    assert short.nit == 3
    assert "maxiter" in short.message
    kink = optimize.minimize(lambda x: np.sum(np.abs(x - 0.3)) + 0.1 * x[0], np.ones(2), method="lbfgs", jit=False)
    assert not kink.success
    assert "kink" in kink.message
    with np.errstate(all="ignore"):
        wrong = optimize.minimize(lambda x: np.sum(np.sqrt(x)), np.array([-1.0, 4.0]), jit=False)  # the culprit
    assert not wrong.success
    assert "the culprit" in wrong.message
    with np.errstate(all="ignore"):
        wrong = optimize.minimize(lambda x: np.sqrt(x - 1), np.zeros(2), method="gauss-newton", jit=False)  # residuals
    assert "# residuals" in wrong.message
    with pytest.raises(ValueError, match="no option 'steps'"):
        optimize.minimize(rosenbrock, np.zeros(2), method="lbfgs", options={"steps": 3})
    with pytest.raises(ValueError, match="method is"):
        optimize.minimize(rosenbrock, np.zeros(2), method="newton's")


def test_functions_without_a_minimum():
    for f in (lambda x: -np.sum(x**2), np.sum):
        found = optimize.minimize(f, np.ones(2), method="lbfgs", jit=False, options={"maxiter": 30})
        assert not found.success
        assert "no lower bound" in found.message


def test_a_list_of_numbers_is_a_vector():
    found = optimize.minimize(lambda x: np.sum((x - 2) ** 2), [0, 1], jit=False)
    np.testing.assert_allclose(found.x, [2.0, 2.0])
    with pytest.raises(wg.errors.MismatchError, match="no unknowns"):
        optimize.minimize(lambda x: np.sum(x), [])


def test_a_rounded_minimum_counts_as_found():
    f = lambda x: 1e8 + np.sum((x - 0.1) ** 2 * (1 + x**2))
    found = optimize.minimize(f, np.ones(4), method="lbfgs", jit=False)
    assert found.success
    np.testing.assert_allclose(found.x, 0.1, atol=1e-3)


def test_ctrl_c_and_callbacks_between_iterations():
    seen = []

    def on(intermediate_result):
        seen.append(intermediate_result.fun)
        if len(seen) == 5:
            raise KeyboardInterrupt

    found = optimize.minimize(rosenbrock, np.array([-1.2, 1.0]), method="lbfgs", callback=on)
    assert not found.success
    assert "interrupted" in found.message
    assert found.fun == seen[-1] < seen[0]
    np.testing.assert_allclose(rosenbrock(found.x), found.fun)
    stopped = optimize.minimize(rosenbrock, np.array([-1.2, 1.0]), method="lbfgs", callback=lambda x: True)
    assert stopped.nit == 1
    assert "callback" in stopped.message


def test_functions_that_cannot_be_compiled():
    def f(x):
        return np.sum((x - 1) ** {"True": 2, "False": 4}[str(bool(x[0] > 0.5))])

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = optimize.minimize(f, np.zeros(2), method="lbfgs")
    assert any("runs as ordinary Python" in str(w.message) for w in said)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)


# ------------------------------------------------------------------------------------------- batches and derivatives


def quartic(x, a):
    return np.sum((x - a) ** 2) + np.sum(x**4)


@pytest.mark.parametrize("method", SMOOTH)
def test_many_problems_at_once(method, rng):
    a = rng.normal(size=(50, 2))
    x = wg.vmap(lambda a: optimize.minimize(quartic, np.zeros(2), args=(a,), method=method).x)(a)
    np.testing.assert_allclose(2 * (x - a) + 4 * x**3, 0.0, atol=1e-6)


def test_vmap_of_minimize_itself(rng):
    starts = rng.normal(size=(40, 3))
    found = wg.vmap(optimize.minimize, (None, 0))(lambda x: np.sum((x - 2.0) ** 2), starts)
    np.testing.assert_allclose(found.x, 2.0, atol=1e-7)
    assert found.success.shape == (40,)
    assert found.success.all()


def test_batches_of_containers_by_closure(rng):
    targets = rng.normal(size=20)

    def fit(t):
        return optimize.minimize(lambda p: (p["u"] - t) ** 2 + (p["v"] - p["u"]) ** 2, {"u": 0.0, "v": 1.0}).x

    found = wg.vmap(fit)(targets)
    np.testing.assert_allclose(found["u"], targets, atol=1e-6)
    np.testing.assert_allclose(found["v"], targets, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [lambda f: f, wg.jit], ids=["eager", "jit"])
def test_the_derivative_of_a_minimum(wrap):
    a = np.array([0.7, -1.3])
    best = lambda a: optimize.minimize(quartic, np.zeros(2), args=(a,)).x
    x = best(a)
    np.testing.assert_allclose(wrap(wg.jacobian(best))(a), np.diag(1 / (1 + 6 * x**2)), atol=1e-7)
    second = wrap(wg.hessian(lambda a: np.sum(best(a))))(a)
    np.testing.assert_allclose(second, np.diag(-12 * x / (1 + 6 * x**2) ** 3), atol=1e-6)
    value = wrap(wg.grad(lambda a: optimize.minimize(lambda x: quartic(x, a), np.zeros(2)).fun))(a)
    np.testing.assert_allclose(value, -2 * (x - a), atol=1e-7)


def test_an_unknown_at_its_bound_does_not_move():
    best = lambda a: optimize.minimize(quartic, np.zeros(2), args=(a,), bounds=[(-0.1, 0.1)] * 2).x
    found = wg.jacobian(best)(np.array([3.0, 0.05]))
    x = best(np.array([3.0, 0.05]))
    np.testing.assert_allclose(found, np.diag([0.0, 1 / (1 + 6 * x[1] ** 2)]), atol=1e-7)


def test_without_an_answer_there_is_no_derivative():
    best = lambda a: optimize.minimize(quartic, np.zeros(2), args=(a,), method="lbfgs", options={"maxiter": 1}).x
    assert np.all(np.isnan(wg.jacobian(best)(np.array([0.7, -1.3]))))


def test_what_cannot_be_traced_is_refused():
    best = lambda a: optimize.minimize(quartic, np.zeros(2), args=(a,), method="BFGS").x
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="native"):
        wg.jacobian(best)(np.ones(2))


@pytest.mark.parametrize("method", ["trust-ncg-native", "lbfgs"])
def test_methods_turn_back_from_points_where_a_function_raises(method):
    """As from those where it is NaN: `math.log` of a negative number is an error."""

    def f(x):
        return math.log(x[0]) ** 2 + (x[1] - 1) ** 2

    found = optimize.minimize(f, np.array([5.0, 2.0]), method=method)
    assert found.success
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)
    with pytest.raises(ValueError, match="math domain error"):
        optimize.minimize(f, np.array([-5.0, 2.0]), method=method)


@pytest.mark.parametrize(
    ("lower", "upper"), [(np.array([0.0, 2.0]), np.array([1.0, 3.0])), (np.array([0.0, 2.0]), None)]
)
def test_bounds_of_a_leaf_may_be_two_arrays(lower, upper):
    found = optimize.minimize(
        lambda p: np.sum((p["a"] - 1.5) ** 2) + p["b"] ** 2,
        {"a": np.ones(2), "b": 1.0},
        bounds={"a": (lower, upper), "b": (0.5, None)},
        jit=False,
    )
    assert np.allclose(found.x["a"], np.clip(1.5, lower, np.inf if upper is None else upper))
    assert found.x["b"] == 0.5


@pytest.mark.parametrize("method", ["auto", "lbfgs", "cg-native", "gradient-descent"])
def test_the_loop_is_compiled_once(method, monkeypatch):
    """What the loop is given first has the types of what it gives back, so one program takes both."""
    compiling = importlib.import_module("wengert.api.jit")
    from_jit, seen = compiling.captured, []

    def noted(f, *rest, **options):
        seen.append(f.__qualname__)
        return from_jit(f, *rest, **options)

    monkeypatch.setattr(compiling, "captured", noted)
    found = optimize.minimize(lambda x: np.sum((x - 1) ** 4 + (x - 1) ** 2), np.array([3.0, -2.0]), method=method)
    assert found.success
    assert len(seen) == len(set(seen))
    assert any("proceed" in name for name in seen)
