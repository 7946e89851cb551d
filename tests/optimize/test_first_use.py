"""What people write the first time: forms of starts, bounds and constraints, and what mistakes are answered with."""

import time

import numpy as np
import pytest
import scipy.optimize

from wengert import errors, optimize


def bowl(x):
    return np.sum((x - 1) ** 2)


@pytest.mark.parametrize("x0", [np.array([3, 4]), [3, 4], np.array([3, 4], np.float32)])
def test_starts_may_be_integers_and_lists(x0):
    for found in (optimize.minimize(bowl, x0, jit=False), optimize.nlp(bowl, x0, jit=False),
                  optimize.least_squares(lambda x: x - 1, x0, jit=False)):  # fmt: skip
        assert found.x.dtype.kind == "f"
        np.testing.assert_allclose(found.x, 1, atol=1e-6)


@pytest.mark.parametrize("method", ["auto", "lbfgs", "BFGS", "Nelder-Mead", None])
def test_an_array_of_one_element_is_a_number(method):
    found = optimize.minimize(lambda x: (x - 2) ** 2, np.zeros(1), method=method, jit=False)
    np.testing.assert_allclose(found.x, 2, atol=1e-4)
    assert np.ndim(found.fun) == 0


@pytest.mark.parametrize(
    "constraint",
    [
        {"type": "ineq", "fun": lambda x, most: most - np.sum(x), "args": (1,)},
        [{"type": "eq", "fun": lambda x: np.sum(x) - 1}],
        scipy.optimize.NonlinearConstraint(np.sum, -np.inf, 1),
        scipy.optimize.LinearConstraint(np.ones((1, 3)), -np.inf, 1),
    ],
)
def test_constraints_in_forms_of_scipy(constraint):
    found = optimize.minimize(bowl, np.zeros(3), constraints=constraint, jit=False)
    np.testing.assert_allclose(found.x, 1 / 3, atol=1e-7)


MISTAKES = {
    "no function": (lambda: optimize.minimize(3, np.zeros(2)), "to be a function, not int"),
    "exchanged": (lambda: optimize.minimize(np.zeros(2), bowl), "to be a function, not ndarray"),
    "an array": (lambda: optimize.minimize(lambda x: x, np.zeros(2)), "more than one number"),
    "a list": (lambda: optimize.minimize(lambda x: [x[0], x[1]], np.zeros(2)), "more than one number"),
    "an array, in nlp": (lambda: optimize.nlp(lambda x: x, np.zeros(2)), "more than one number"),
    "nothing": (lambda: optimize.minimize(lambda x: None, np.zeros(2)), "return` missing"),
    "no residuals": (lambda: optimize.least_squares(lambda x: None, np.zeros(2)), "return` missing"),
    "no equations": (lambda: optimize.solve(lambda x: None, np.zeros(2)), "return` missing"),
    "no constraint": (lambda: optimize.nlp(bowl, np.zeros(2), equalities=lambda x: None), "return` missing"),
    "a comparison": (lambda: optimize.least_squares(lambda x: x > 1, np.zeros(2)), "truth values"),
    "words": (lambda: optimize.minimize(bowl, "start"), "not numbers"),
    "jac": (lambda: optimize.minimize(bowl, np.zeros(2), jac=lambda x: 2 * x), "takes no jac="),
    "jac of a fit": (lambda: optimize.least_squares(bowl, np.zeros(2), jac="2-point"), "takes no jac="),
    "a constraint alone": (lambda: optimize.minimize(bowl, np.zeros(2), constraints=np.sum), "'eq' or 'ineq'"),
    "a constraint of no type": (
        lambda: optimize.minimize(bowl, np.zeros(2), constraints={"fun": np.sum}),
        "'type': 'ineq'",
    ),
    "too few bounds": (lambda: optimize.minimize(bowl, np.zeros(3), bounds=[(0, 1)] * 2), "do not fit 3 unknowns"),
    "too many bounds": (lambda: optimize.least_squares(lambda x: x, np.zeros(2), bounds=(0, [1, 2, 3])), "3 bounds"),
    "two vectors of bounds": (
        lambda: optimize.minimize(bowl, np.zeros(2), bounds=([-np.inf, -1.5], [np.inf, np.inf])),
        "two vectors are",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_explained(name):
    wrong, message = MISTAKES[name]
    with pytest.raises(errors.WengertError, match=message.replace("(", r"\(")):
        wrong()


def test_unknown_arguments_are_refused_by_name():
    with pytest.raises(TypeError, match="itermax"):
        optimize.minimize(bowl, np.zeros(2), itermax=3)


def equations(x, a):
    return np.array([x[0] ** 2 + x[1] - 3, x[0] - x[1] ** 2 + a])


@pytest.mark.parametrize(
    "run",
    [
        lambda a: optimize.solve(equations, np.ones(2), args=(a,)),
        lambda a: optimize.solve(equations, np.ones(2), args=(a,), method="hybr"),
        lambda a: optimize.solve(equations, np.ones(2), args=(a,), method="halley"),
        lambda a: optimize.minimize(lambda x: 0.0 * x[0], np.ones(2), constraints={"type": "eq", "fun": equations,
                                                                                  "args": (a,)}),
    ],
    ids=["newton", "hybr", "halley", "constraints"],
)  # fmt: skip
def test_what_was_compiled_serves_other_arguments(run):
    for a in (1.0, 2.0, np.float64(0.5)):
        np.testing.assert_allclose(equations(run(a).x, a), 0, atol=1e-6)


@pytest.mark.parametrize("method", ["BFGS", "SLSQP", "Newton-CG", "lbfgs"])
def test_what_was_compiled_follows_what_a_function_closes_over(method):
    target = np.array([1.0, 2.0])

    def f(x):
        return np.sum((x - target) ** 2)

    for start in (np.zeros(2), np.ones((2, 1, 2))):
        for target in (np.array([1.0, 2.0]), np.array([3.0, -1.0])):
            found = optimize.minimize(f, start, method=method)
            np.testing.assert_allclose(found.x, np.broadcast_to(target, found.x.shape), atol=1e-5)
            target[0] = 5.0
            found = optimize.minimize(f, start, method=method)
            np.testing.assert_allclose(found.x, np.broadcast_to(target, found.x.shape), atol=1e-5)


@pytest.mark.parametrize("method", ["newton", "hybr"])
def test_a_second_call_compiles_nothing(method):
    F = lambda x: np.array([np.exp(x[0]) - x[1], x[1] ** 3 + x[0] - 2])
    seconds = []
    for _ in range(3):
        began = time.process_time()
        optimize.solve(F, np.ones(2), method=method)
        seconds.append(time.process_time() - began)
    assert min(seconds[1:]) < seconds[0] / 3


def test_a_method_that_takes_over_compiles_nothing_the_second_time():
    f = lambda x: 4 * x[0] ** 2 + 2 * x[1] ** 2 + 2 * x[2] ** 2 - 33 * x[0] + 16 * x[1] - 24 * x[2]  # HS61
    rows = lambda x: np.array([3 * x[0] - 2 * x[1] ** 2 - 7, 4 * x[0] - x[2] ** 2 - 11])
    seconds = []
    for _ in range(3):
        began = time.process_time()
        found = optimize.minimize(f, np.zeros(3), constraints={"type": "eq", "fun": rows})
        seconds.append(time.process_time() - began)
        assert found.method == "interior-point"
        np.testing.assert_allclose(found.fun, -143.6461422, rtol=1e-8)
    assert min(seconds[1:]) < seconds[0] / 3
    for low in (0.0, -1.0, 0.0):
        limited = scipy.optimize.NonlinearConstraint(rows, [0.0, low], [0.0, np.inf])
        found = optimize.minimize(f, np.zeros(3), constraints=limited, method="interior-point")
        assert np.min(rows(found.x) - [0, low]) > -1e-7
