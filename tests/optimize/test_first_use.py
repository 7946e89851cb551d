"""What people write the first time: forms of starts, bounds and constraints, and what mistakes are answered with."""

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
