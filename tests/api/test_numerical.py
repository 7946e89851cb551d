"""Numerical differentiation against closed forms: values, orders of convergence, containers, precisions, errors."""

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from wengert import errors
from wengert.api import numerical

EVERY_METHOD = pytest.mark.parametrize("method", numerical.METHODS)

# Relative errors that each method keeps below, for functions and arguments of size about one.
FIRST = {
    "forward": 1e-7,
    "backward": 1e-7,
    "central": 1e-9,
    "five-point": 1e-11,
    "richardson": 1e-11,
    "complex-step": 1e-15,
}
SECOND = {
    "forward": 1e-4,
    "backward": 1e-4,
    "central": 1e-6,
    "five-point": 1e-8,
    "richardson": 1e-9,
    "complex-step": 1e-9,
}

POWER = {"forward": 1, "backward": 1, "central": 2, "five-point": 4}


def logistic(x):
    """The survey's truncated logistic map (Figures 2 and 3)."""
    return 64 * x * (1 - x) * (1 - 2 * x) ** 2 * (1 - 8 * x + 8 * x * x) ** 2


FUNCTIONS = [
    # function, the same for mpmath, where
    (np.sin, mpmath.sin, 1.0),
    (np.exp, mpmath.exp, -0.5),
    (np.log, mpmath.log, 2.0),
    (np.sqrt, mpmath.sqrt, 3.0),
    (np.tanh, mpmath.tanh, 0.7),
    (lambda x: x**3 - 2 * x, lambda x: x**3 - 2 * x, 1.5),
    (lambda x: 1 / (1 + x * x), lambda x: 1 / (1 + x * x), 0.9),
]


def exactly(function, x, order=1):
    with mpmath.workdps(50):
        return float(mpmath.diff(function, mpmath.mpf(x), order))


class TestValues:
    @EVERY_METHOD
    @pytest.mark.parametrize(("f", "reference", "x"), FUNCTIONS)
    def test_first_derivative(self, f, reference, x, method):
        assert_allclose(numerical.derivative(f, method=method)(x), exactly(reference, x), rtol=FIRST[method])

    @EVERY_METHOD
    @pytest.mark.parametrize(("f", "reference", "x"), FUNCTIONS)
    def test_second_derivative(self, f, reference, x, method):
        assert_allclose(numerical.derivative(f, 2, method=method)(x), exactly(reference, x, 2), rtol=SECOND[method])

    @pytest.mark.parametrize("order", [3, 4, 5])
    @EVERY_METHOD
    def test_higher_derivatives_of_exp(self, method, order):
        # The error at the best step is ε^(p/(k+p)), with p as in the table; extrapolation is no worse than p = 4.
        power = {**POWER, "richardson": 4, "complex-step": 2}[method]
        expected_error = np.finfo(float).eps ** (power / (order + power))
        assert_allclose(numerical.derivative(np.exp, order, method=method)(0.3), np.exp(0.3), rtol=100 * expected_error)

    @EVERY_METHOD
    def test_gradient(self, method, rng):
        A, x = rng.normal(size=(4, 4)), rng.normal(size=4)
        gradient = numerical.grad(lambda x: x @ A @ x, method=method)(x)
        assert_allclose(gradient, (A + A.T) @ x, rtol=100 * FIRST[method], atol=10 * FIRST[method])

    @EVERY_METHOD
    def test_jacobian_of_a_matrix_function(self, method, rng):
        A, X = rng.normal(size=(2, 3)), rng.normal(size=(3, 2))
        jacobian = numerical.jacobian(lambda X: A @ X, method=method)(X)
        assert jacobian.shape == (2, 2, 3, 2)
        assert_allclose(jacobian, np.einsum("ik,jl->ijkl", A, np.eye(2)), atol=10 * FIRST[method])

    @EVERY_METHOD
    def test_hessian(self, method, rng):
        A, x = rng.normal(size=(3, 3)), rng.normal(size=3)
        f = lambda x: np.exp(x @ A @ x / 10)
        g = (A + A.T) @ x / 10
        expected = f(x) * (np.outer(g, g) + (A + A.T) / 10)
        hessian = numerical.hessian(f, method=method)(x)
        assert_allclose(hessian, expected, rtol=100 * SECOND[method], atol=10 * SECOND[method])
        assert_allclose(hessian, hessian.T, rtol=0, atol=0)

    @EVERY_METHOD
    def test_jvp_is_jacobian_times_tangent(self, method, rng):
        x, v = rng.normal(size=3), rng.normal(size=3)
        f = lambda x: np.stack([np.prod(x), np.sin(x[0] * x[1]), x[2] ** 3])
        jacobian = numerical.jacobian(f, method="complex-step")(x)
        y_dot = numerical.jvp(f, (x,), (v,), method=method)
        assert_allclose(y_dot, jacobian @ v, rtol=100 * FIRST[method], atol=10 * FIRST[method])

    @EVERY_METHOD
    def test_long_and_short_tangents_are_as_good(self, method):
        for length in (1e-12, 1e12):
            y_dot = numerical.jvp(np.sin, (0.5,), (length,), method=method)
            assert_allclose(y_dot, length * np.cos(0.5), rtol=FIRST[method])

    @EVERY_METHOD
    def test_a_zero_tangent_and_a_constant_give_exact_zeros(self, method):
        assert numerical.jvp(np.sin, (0.5,), (0.0,), method=method) == 0
        assert_allclose(numerical.grad(lambda x: 0 * x[0] + 1 / 3, method=method)(np.ones(2)), np.zeros(2), atol=0)

    @given(st.lists(st.floats(-10, 10), min_size=5, max_size=5), st.floats(-3, 3))
    def test_five_points_are_exact_for_quartics(self, coefficients, x):
        p = np.polynomial.Polynomial(coefficients)
        rounding = 1e-15 * np.polynomial.Polynomial(np.abs(coefficients))(abs(x) + 1)
        for order in (1, 2):
            computed = numerical.derivative(p, order, method="five-point", step=0.25)(x)
            assert_allclose(computed, p.deriv(order)(x), atol=1e3 * rounding)

    def test_large_and_small_arguments(self):
        assert_allclose(numerical.derivative(lambda x: x**2)(1e8), 2e8, rtol=1e-9)
        assert_allclose(numerical.derivative(np.cos)(1e-9), -1e-9, atol=1e-10)
        assert_allclose(numerical.derivative(np.log, step=1e-11)(1e-6), 1e6, rtol=1e-4)


class TestConvergence:
    @pytest.mark.parametrize("order", [1, 2, 3])
    @pytest.mark.parametrize("method", POWER)
    def test_error_shrinks_as_a_power_of_the_step(self, method, order):
        def error(h):
            return abs(numerical.derivative(np.exp, order, method=method, step=h)(0.25) - np.exp(0.25))

        observed = math.log2(error(0.0625) / error(0.03125))
        assert observed == pytest.approx(POWER[method], abs=0.1)

    @pytest.mark.parametrize("method", POWER)
    def test_mixed_derivatives_too(self, method):
        def error(h):
            mixed = numerical.hessian(lambda x: np.exp(x[0] + 2 * x[1]), method=method, step=h)(np.zeros(2))
            return abs(mixed - [[1, 2], [2, 4]]).max()

        assert math.log2(error(0.0625) / error(0.03125)) == pytest.approx(POWER[method], abs=0.25)

    def test_the_valley_of_figure_3(self):
        exact = exactly(logistic, 0.2)

        def error(method, h):
            return abs(numerical.derivative(logistic, method=method, step=h)(0.2) - exact)

        for method, best in [("forward", 1e-8), ("central", 1e-6)]:
            assert error(method, best) < error(method, 1e3 * best) / 30  # truncation
            assert error(method, best) < error(method, 1e-4 * best) / 30  # rounding
            default = abs(numerical.derivative(logistic, method=method)(0.2) - exact)
            assert default < 100 * error(method, best)
        for h in (1e-10, 1e-100):
            assert error("complex-step", h) < 1e-13

    def test_complex_step_has_second_order(self):
        error = lambda h: abs(numerical.derivative(np.exp, method="complex-step", step=h)(0.0) - 1)
        assert math.log2(error(0.0625) / error(0.03125)) == pytest.approx(2, abs=0.01)

    def test_richardson_converges_from_steps_that_are_much_too_long(self):
        assert_allclose(numerical.derivative(np.sin, method="richardson")(1000.0), np.cos(1000), rtol=1e-9)
        wave = lambda x: np.sin(2 * np.pi * x)
        assert_allclose(numerical.derivative(wave, method="richardson", step=8.0)(0.0), 2 * np.pi, rtol=1e-9)

    def test_richardson_ignores_points_outside_the_domain(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_allclose(numerical.derivative(np.log, method="richardson", step=0.5)(0.1), 10, rtol=1e-9)

    def test_richardson_chooses_for_each_output_by_itself(self):
        f = lambda x: np.array([np.exp(x), np.sin(50 * x), x, 7.0])
        computed = numerical.derivative(f, method="richardson")(0.5)
        assert_allclose(computed, [np.exp(0.5), 50 * np.cos(25), 1, 0], rtol=1e-11)


@dataclass
class Model:
    weights: np.ndarray
    bias: float


class Pair(NamedTuple):
    left: object
    right: object


class TestContainers:
    @EVERY_METHOD
    def test_gradient_has_the_structure_of_the_input(self, method):
        def f(p):
            return np.sum(p["model"].weights ** 2) * p["model"].bias + p["pair"].left * p["pair"].right[0]

        p = {"model": Model(np.array([1.0, 2.0]), 3.0), "pair": Pair(4.0, [5.0]), "nothing": None}
        gradient = numerical.grad(f, method=method)(p)
        assert isinstance(gradient["model"], Model)
        assert isinstance(gradient["pair"], Pair)
        assert gradient["nothing"] is None
        assert_allclose(gradient["model"].weights, [6, 12], rtol=FIRST[method])
        assert_allclose(gradient["model"].bias, 5, rtol=FIRST[method])
        assert_allclose(gradient["pair"].left, 5, rtol=FIRST[method])
        assert_allclose(gradient["pair"].right, [4], rtol=FIRST[method])

    def test_jacobian_is_output_of_input(self):
        def f(p):
            return {"outer": np.outer(p[0], p[1]), "sum": [np.sum(p[0])]}

        x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])
        jacobian = numerical.jacobian(f)((x, y))
        assert_allclose(jacobian["outer"][0], np.einsum("ik,j->ijk", np.eye(2), y), atol=1e-9)
        assert_allclose(jacobian["outer"][1], np.einsum("i,jk->ijk", x, np.eye(3)), atol=1e-9)
        assert_allclose(jacobian["sum"][0][0], [1, 1], atol=1e-9)
        assert_allclose(jacobian["sum"][0][1], [0, 0, 0], atol=1e-9)

    def test_hessian_is_input_of_input(self):
        f = lambda p: p["a"] ** 2 * np.sum(p["x"] ** 3)
        a, x = 2.0, np.array([1.0, 3.0])
        hessian = numerical.hessian(f, method="complex-step")({"a": a, "x": x})
        assert_allclose(hessian["a"]["a"], 2 * np.sum(x**3), rtol=1e-8)
        assert_allclose(hessian["a"]["x"], 6 * a * x**2, rtol=1e-8)
        assert_allclose(hessian["x"]["a"], 6 * a * x**2, rtol=1e-8)
        assert_allclose(hessian["x"]["x"], np.diag(6 * a**2 * x), rtol=1e-8, atol=1e-7)

    def test_hessian_of_several_outputs(self):
        x = np.array([2.0, 3.0])
        hessian = numerical.hessian(lambda x: {"both": np.stack([x[0] * x[1], x[0] ** 2])}, method="five-point")(x)
        assert hessian["both"].shape == (2, 2, 2)
        assert_allclose(hessian["both"], [[[0, 1], [1, 0]], [[2, 0], [0, 0]]], atol=1e-7)

    def test_argnums(self):
        f = lambda x, y, z: x * y**2 + z
        assert_allclose(numerical.grad(f, 1)(2.0, 3.0, 1.0), 12)
        assert_allclose(numerical.grad(f, -2)(2.0, 3.0, 1.0), 12)
        assert_allclose(numerical.grad(f, (1, 0))(2.0, 3.0, 1.0), (12, 9))
        only = numerical.grad(f, (1,))(2.0, 3.0, 1.0)
        assert isinstance(only, tuple)
        assert len(only) == 1
        ((xx, xy), (yx, yy)) = numerical.hessian(f, [0, 1])(2.0, 3.0, 1.0)
        assert_allclose([xx, xy, yx, yy], [0, 6, 6, 4], atol=1e-6)

    def test_other_arguments_pass_through(self):
        def f(x, name, *, factor, table):
            assert name == "name"
            return factor * x * table[0]

        assert_allclose(numerical.derivative(f)(2.0, "name", factor=3, table=np.array([5, 6])), 15)

    def test_jvp_of_containers(self):
        primals = ({"a": 2.0}, [np.array([1.0, 3.0])])
        tangents = ({"a": 1.0}, [np.array([0, 10])])  # integers will do for a direction
        y_dot = numerical.jvp(lambda p, q: (p["a"] * q[0], p["a"]), primals, tangents)
        assert_allclose(y_dot[0], [1, 23])
        assert_allclose(y_dot[1], 1)

    def test_empty_arrays(self):
        x = np.empty((0, 2))
        assert numerical.grad(np.sum)(x).shape == (0, 2)
        assert numerical.jacobian(lambda x: x.ravel())(x).shape == (0, 0, 2)
        assert numerical.hessian(np.sum)(x).shape == (0, 2, 0, 2)
        assert numerical.jvp(np.sum, (x,), (x,)) == 0
        assert numerical.jacobian(lambda x: x[:0])(np.ones(3)).shape == (0, 3)


class TestPrecision:
    @EVERY_METHOD
    def test_float32_stays_float32_and_takes_longer_steps(self, method):
        seen = set()

        def f(x):
            seen.add(x.dtype)
            return np.sum(np.sin(x))

        x = np.array([0.5, 1.5, 100.0], np.float32)
        gradient = numerical.grad(f, method=method)(x)
        assert gradient.dtype == np.float32
        assert seen <= {np.dtype(np.float32), np.dtype(np.complex64)}
        tolerance = {"forward": 1e-3, "backward": 1e-3, "central": 1e-4}.get(method, 3e-5)
        assert_allclose(gradient[:2], np.cos(x[:2]), rtol=0, atol=tolerance)
        hessian = numerical.hessian(f, method=method)(x[:2])
        assert hessian.dtype == np.float32
        assert_allclose(np.diag(hessian), -np.sin(x[:2]), rtol=0.1)

    def test_a_float32_result_of_a_float64_argument_counts_too(self):
        computed = numerical.derivative(lambda x: np.sin(np.float32(x)))(1.0)
        assert_allclose(computed, np.cos(1), rtol=1e-3)

    @pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
    def test_other_precisions(self, dtype):
        computed = numerical.derivative(np.sin)(dtype(0.5))
        assert computed.dtype == dtype
        assert_allclose(float(computed), np.cos(0.5), rtol=np.finfo(dtype).eps ** 0.5)

    def test_complex_results_of_real_arguments(self):
        t = 0.7
        computed = numerical.derivative(lambda t: np.exp(2j * t), method="five-point")(t)
        assert_allclose(computed, 2j * np.exp(2j * t), rtol=1e-11)
        one, both = numerical.derivative(lambda t: (t**2, 1j * t), method="richardson")(t)
        assert one.dtype == np.float64
        assert_allclose([one, both], [2 * t, 1j], rtol=1e-11)

    def test_integer_results_are_numbers(self):
        assert numerical.derivative(lambda x: x if x > 0 else 0)(-1.0) == 0

    @pytest.mark.parametrize("x", [1.5, np.float64(1.5), np.float32(1.5), np.array(1.5), np.array([1.5])])
    def test_the_function_sees_the_types_that_were_given(self, x):
        def f(y):
            assert type(y) is type(x)
            assert np.shape(y) == np.shape(x)
            assert np.asarray(y).dtype == np.asarray(x).dtype
            return np.sum(y**2)

        for method in ("forward", "central", "richardson"):
            assert_allclose(numerical.grad(f, method=method)(x), np.asarray(3.0).reshape(np.shape(x)), rtol=1e-3)

    def test_steps_are_exactly_representable(self):
        # For the identity, only the error of the step itself could be seen.
        for x in (1 / 3, np.float32(1 / 3), 12345.678):
            for step in (1e-2, 1e-3, None):
                assert numerical.derivative(lambda x: x, method="forward", step=step)(x) == 1


class TestTheCallersData:
    @EVERY_METHOD
    def test_nothing_is_changed(self, method):
        def f(x, a, *, b):
            result = np.sum(x * a * b["b"])
            for array in (x, a, b["b"]):
                array[:] = 7
            return result

        x, a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])
        gradient = numerical.grad(f, method=method)(x, a, b={"b": b})
        assert_allclose(gradient, [15, 24], rtol=FIRST[method])
        assert_allclose([x, a, b], [[1, 2], [3, 4], [5, 6]], rtol=0)

    def test_a_result_in_a_buffer_that_is_used_again(self):
        buffer = np.empty(2)
        f = lambda x: np.multiply(x, x, out=buffer)
        assert_allclose(numerical.jacobian(f)(np.array([1.0, 3.0])), [[2, 0], [0, 6]], atol=1e-8)


class TestErrors:
    def test_unknown_method(self):
        for operator in (numerical.derivative, numerical.grad, numerical.jacobian, numerical.hessian):
            with pytest.raises(ValueError, match="'forward', 'backward', 'central', 'five-point', 'richardson'"):
                operator(np.sin, method="centered")
        with pytest.raises(ValueError, match="unknown method 'sideways'"):
            numerical.jvp(np.sin, (1.0,), (1.0,), method="sideways")

    @pytest.mark.parametrize("step", [0.0, -1e-3, np.inf, np.nan])
    def test_bad_step(self, step):
        with pytest.raises(ValueError, match="step must be a positive number"):
            numerical.grad(np.sin, step=step)

    def test_step_below_rounding(self):
        with pytest.raises(ValueError, match="too small to change"):
            numerical.derivative(np.sin, step=1e-17)(1.0)
        with pytest.raises(ValueError, match="too small to change"):
            numerical.jvp(np.sum, (np.ones(2, np.float32),), (np.ones(2),), step=1e-9)

    @pytest.mark.parametrize("order", [0, -1, 1.5])
    def test_bad_order(self, order):
        with pytest.raises(ValueError, match="positive integer"):
            numerical.derivative(np.sin, order)

    @pytest.mark.parametrize("x", [3, True, np.int64(3), np.array([1, 2]), np.array([True])])
    def test_integers_and_booleans(self, x):
        with pytest.raises(errors.NotDifferentiableInputError, match="remedy: make it floating"):
            numerical.grad(np.sum)(x)

    @pytest.mark.parametrize("z", [1j, np.complex64(1j), np.array([1j])])
    def test_complex_arguments(self, z):
        with pytest.raises(errors.NotDifferentiableInputError, match="real and the imaginary part as two arguments"):
            numerical.grad(lambda z: np.sum(abs(z)))(z)
        parts = numerical.grad(lambda re, im: np.sum(abs(re + 1j * im)), (0, 1))(np.real(z), np.imag(z))
        assert_allclose(np.ravel(parts), [0, 1], atol=1e-5)

    def test_the_message_names_the_leaf_and_the_line(self):
        with pytest.raises(TypeError) as info:
            numerical.grad(lambda x, p: x, argnums=1)(1.0, {"a": [1.0, "text"]})
        assert "argument 1['a'][1] (str)" in str(info.value)
        assert "leave it out of argnums" in str(info.value)
        assert "test_numerical.py" in str(info.value)

    @pytest.mark.parametrize("f", [lambda x: x, lambda x: (np.sum(x),), lambda x: None, lambda x: 1j * np.sum(x)])
    def test_gradient_of_anything_but_one_real_number(self, f):
        with pytest.raises(errors.NonScalarOutputError, match="use numerical.jacobian"):
            numerical.grad(f)(np.ones(2))

    @pytest.mark.parametrize("x", [np.ones(1), (1.0,), {"a": 1.0}])
    def test_derivative_by_anything_but_one_number(self, x):
        with pytest.raises(errors.NotDifferentiableInputError, match="numerical.jacobian"):
            numerical.derivative(lambda x: 1.0)(x)

    @pytest.mark.parametrize("result", ["text", True, print])
    def test_results_without_derivative(self, result):
        with pytest.raises(errors.NotDifferentiableOutputError, match=type(result).__name__):
            numerical.jacobian(lambda x: result)(1.0)

    @pytest.mark.parametrize("argnums", [2, -3, (0, 2), (0, 0), (1, -1)])
    def test_bad_argnums(self, argnums):
        with pytest.raises(ValueError, match="must name different ones of 2 positional arguments"):
            numerical.grad(lambda x, y: x * y, argnums)(1.0, 2.0)

    def test_structure_that_changes(self):
        with pytest.raises(errors.MismatchError, match="one step apart"):
            numerical.jacobian(lambda x: (x,) if x > 1 else [x])(1.0)

    @pytest.mark.parametrize(
        ("primals", "tangents"),
        [
            ((1.0,), (1.0, 2.0)),
            ((np.ones(2),), (np.ones(3),)),
            ((1.0,), ([1.0],)),
            ((1.0,), (1j,)),
            (np.ones(1), np.ones(1)),
        ],
    )
    def test_tangents_that_do_not_fit(self, primals, tangents):
        with pytest.raises(errors.MismatchError, match="remedy"):
            numerical.jvp(lambda *args: args[0], primals, tangents)


def into_a_real_array(x):
    out = np.zeros(2)
    out[:] = x
    return x[0] * out  # complex, but part of the derivative is gone


class TestComplexStepErrors:
    @pytest.mark.parametrize(
        ("f", "message"),
        [
            (lambda x: math.sin(x[0]), "complex"),
            (lambda x: np.abs(x), "real numbers came out"),
            (lambda x: (x, x.real), "real numbers came out"),
            (lambda x: 1j * x, "complex numbers came out"),
            (into_a_real_array, "discards the imaginary part"),
        ],
    )
    def test_functions_that_do_not_compute_with_complex_numbers(self, f, message):
        for operator in (numerical.jacobian, numerical.hessian):
            with pytest.raises(errors.UnsupportedFunctionError, match=message) as info:
                operator(f, method="complex-step")(np.ones(2))
            assert "remedy: write np.* for math.*" in str(info.value)
            assert 'method="richardson"' in str(info.value)

    def test_errors_of_the_function_itself_come_through(self):
        def f(x):
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            numerical.derivative(f, method="complex-step")(1.0)
