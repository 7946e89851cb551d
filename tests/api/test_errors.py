"""Bad input: the right exception, a remedy, and the user's own line.

Each case is a function whose failing line is marked; the message must name this file and that line. What only works
because the function's source is rewritten (`float(x)`, `np.array([x, y])`, `out=`) is tested on functions whose source
cannot be found, which run as they are (`as_is`).
"""

from __future__ import annotations

import inspect
import json
import math
import os
import traceback
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
from scipy.cluster.vq import kmeans2

import wengert as wg
from wengert.capture.instrument import TWIN
from wengert.errors import (
    ConcretizationError,
    EscapedValueError,
    InPlaceError,
    MismatchError,
    NonScalarOutputError,
    NotDifferentiableInputError,
    NotDifferentiableOutputError,
    UnsupportedFunctionError,
    WengertError,
)

X = np.array([0.5, 1.5])


def as_is(function: Any) -> Any:
    """The same function, run as it is, as those of libraries are that are left alone."""
    same = types.FunctionType(
        function.__code__.replace(co_name="nowhere"), function.__globals__, closure=function.__closure__
    )
    same.__dict__[TWIN] = (same.__code__, same)
    return same


def line_of(function: Callable, mark: str = "HERE") -> int:
    lines, start = inspect.getsourcelines(function)
    return next(start + k for k, line in enumerate(lines) if mark in line)


def caught(kind: type[Exception], run: Callable, where: Callable) -> str:
    """The message of the error, after checking that it says where and has a remedy."""
    with pytest.raises(kind) as info:
        run()
    assert type(info.value) is kind
    message = str(info.value)
    assert f"{__file__}:{line_of(where)}" in message
    assert "remedy: " in message
    return message


def all_modes(f: Callable, x: Any = X) -> list[Callable]:
    """Every way of running a function on traced values."""
    return [
        lambda: wg.grad(f)(x),
        lambda: wg.value_and_grad(f)(x),
        lambda: wg.jvp(f, (x,), (np.ones_like(x),)),
        lambda: wg.vjp(f, x),
        lambda: wg.linearize(f, x),
        lambda: wg.jacfwd(f)(x),
        lambda: wg.jacrev(f)(x),
        lambda: wg.hessian(f)(x),
        lambda: wg.hvp(f)(x, np.ones_like(x)),
        lambda: wg.laplacian(f)(x),
    ]


# ------------------------------------------------------------------------------- what would cut the derivative

CUTS = {
    "float": lambda x: float(x[0]),  # HERE
    "int": lambda x: int(x[0]) * x[1],  # HERE
    "complex": lambda x: complex(x[0]).real,  # HERE
    "index": lambda x: X[x[0]],  # HERE
    "range": lambda x: sum(x[0] for _ in range(x[1])),  # HERE
    "asarray": lambda x: np.sum(np.asarray(x)),  # HERE
    "array": lambda x: np.sum(np.array(x)),  # HERE
    "array of list": lambda x: np.sum(np.array([x[0], x[1]])),  # HERE
    "array of objects": lambda x: np.sum(np.array([x[0], x[1]], dtype=object)),  # HERE
    "nested list": lambda x: np.sum(np.array([[x[0], 1.0], [0.0, x[1]]])),  # HERE
    "math.sin": lambda x: math.sin(x[0]),  # HERE
    "math.fsum": lambda x: math.fsum(x),  # HERE
    "math.hypot": lambda x: math.hypot(x[0], x[1]),  # HERE
}


@pytest.mark.parametrize("name", CUTS)
def test_conversions_would_cut_the_derivative(name):
    f = as_is(CUTS[name])
    for run in all_modes(f):
        assert "traced value" in caught(ConcretizationError, run, f)


def test_the_remedy_for_numbers_and_for_arrays():
    for name, remedy in [("math.sin", "np.sin"), ("array of list", "np.stack"), ("int", "stop_gradient")]:
        assert remedy in caught(ConcretizationError, lambda: wg.grad(as_is(CUTS[name]))(X), CUTS[name])  # noqa: B023


def test_the_remedies_work():
    assert wg.grad(lambda x: float(wg.stop_gradient(x)) * x)(2.0) == 2
    assert wg.grad(lambda x: int(wg.stop_gradient(x)) * x)(2.5) == 2
    np.testing.assert_array_equal(wg.grad(lambda x: np.sum(np.stack([x[0], 3 * x[1]])))(X), [1, 3])
    np.testing.assert_array_equal(wg.grad(lambda x: x[int(wg.stop_gradient(x[1]))])(X), [0, 1])


def test_pickling_would_cut_the_derivative():
    import pickle

    def f(x):
        return pickle.loads(pickle.dumps(x))  # HERE

    caught(ConcretizationError, lambda: wg.grad(f)(1.0), f)


def test_storing_in_an_ordinary_array():
    """NumPy reports this itself; the cause says what to do."""

    def f(x):
        out = np.zeros(2)
        out[0] = x[0]  # HERE
        return np.sum(out)

    with pytest.raises((ValueError, TypeError)) as info:
        wg.grad(as_is(f))(X)
    error: Any = info.value
    if not isinstance(error, WengertError):
        error = error.__cause__
    assert isinstance(error, WengertError)
    assert f"{__file__}:{line_of(f)}" in str(error)


def test_storing_a_part_in_an_ordinary_array():
    def f(x):
        out = np.zeros(4)
        out[:2] = x  # HERE
        return np.sum(out)

    caught(ConcretizationError, lambda: wg.grad(as_is(f))(X), f)


# ------------------------------------------------------------------------------------------------------- mutation


def test_a_traced_value_written_into_an_integer_array():
    def f(x):
        y = np.zeros(2, int)
        y[0] = x[0]
        return np.sum(x)

    for function in (f, as_is(f)):
        with pytest.raises((WengertError, ValueError)):
            wg.grad(function)(X)


OUT = {
    "ufunc": lambda x: np.sum(np.sin(x, out=np.zeros(2))),  # HERE
    "reduction": lambda x: np.sum(x, out=np.zeros(())),  # HERE
    "two operands": lambda x: np.sum(np.add(np.ones(2), x, out=np.ones(2))),  # HERE
    "ufunc method": lambda x: np.sum(np.add.accumulate(x, out=np.zeros(2))),  # HERE
}


@pytest.mark.parametrize("name", OUT)
def test_ordinary_arrays_cannot_hold_traced_results(name):
    f = as_is(OUT[name])
    for run in all_modes(f):
        with pytest.raises((UnsupportedFunctionError, InPlaceError)) as info:
            run()
        assert f"{__file__}:{line_of(f)}" in str(info.value)
        assert "remedy" in str(info.value)


def test_in_place_addition_to_an_ordinary_array():
    def f(x):
        total = np.zeros(2)
        total += x  # HERE
        return np.sum(total)

    with pytest.raises((UnsupportedFunctionError, InPlaceError)) as info:
        wg.grad(as_is(f))(X)
    assert f"{__file__}:{line_of(f)}" in str(info.value)


def test_writing_to_traced_arrays():
    """The derivative is right, and the caller's array stays: d/dx Σ x² with x₀ overwritten is (0, 2x₁)."""

    def assigned(x):
        x[0] = 1.0
        return np.sum(x * x)

    def added(x):
        y = 1.0 * x
        y += x
        return np.sum(y * y)

    def filled(x):
        y = x * 2
        y.fill(3.0)
        return np.sum(y * x)

    for f, expected in [(assigned, [0, 2 * X[1]]), (added, 8 * X), (filled, [3, 3])]:
        for gradient in (wg.grad, wg.jacfwd, wg.jacrev):
            for function in (f, as_is(f)):
                x = X.copy()
                np.testing.assert_allclose(gradient(function)(x), expected)
                np.testing.assert_array_equal(x, X)


# ------------------------------------------------------------------------------------------------- outlived values


def test_a_value_that_outlived_its_differentiation():
    kept = []
    wg.grad(lambda x: kept.append(x) or x * 2.0)(1.0)

    def use():
        return kept[0] + 1.0  # HERE

    assert "has_aux" in caught(EscapedValueError, use, use)


# --------------------------------------------------------------------------------------------------------- inputs


@pytest.mark.parametrize(
    ("x", "remedy"),
    [
        (3, "pass 3.0"),
        (True, "pass 1.0"),
        (np.int64(3), "pass 3.0"),
        (np.array([1, 2]), "astype(float)"),
        (np.array([True]), "astype(float)"),
        ("text", "floating-point"),
        (object(), "floating-point"),
        (np.array(["a"]), "floating-point"),
        (np.array([None]), "x.astype(float)"),
        ([1.0, 2], "pass 2.0"),
        ({"a": 1.0, "b": "s"}, "floating-point"),
    ],
)
def test_inputs_without_derivatives(x, remedy):
    def f(x):
        return x

    def run():
        return differentiate(x)  # HERE

    for differentiate in [  # noqa: B007
        wg.grad(f),
        wg.value_and_grad(f),
        wg.jacobian(f),
        wg.jacfwd(f),
        wg.hessian(f),
        wg.laplacian(f),
        lambda x: wg.vjp(f, x),
        lambda x: wg.linearize(f, x),
        lambda x: wg.jvp(f, (x,), (x,)),
        lambda x: wg.hvp(f)(x, x),
        lambda x: wg.directional(f)(x, x),
    ]:
        with pytest.raises(NotDifferentiableInputError) as info:
            run()
        assert __file__ in str(info.value)
        assert remedy in str(info.value)


def test_the_leaf_is_named():
    with pytest.raises(NotDifferentiableInputError, match=r"argument 0\['b'\]\[1\] is of integer type int64"):
        wg.grad(lambda p: p["a"])({"a": 1.0, "b": [2.0, 3]})
    with pytest.raises(NotDifferentiableInputError, match=r"argument 1 is of integer type"):
        wg.grad(lambda x, n: x * n, 1)(1.0, 2)


def test_integers_may_be_passed_along():
    assert wg.grad(lambda x, n, s: x**n)(2.0, 3, "text") == 12


@pytest.mark.parametrize("argnums", [1, -2, 5, (0, 3), (0, 0), (0, -1), "x", 1.5, None])
def test_wrong_argnums(argnums):
    def f(x):
        return x

    for operator in (wg.grad, wg.value_and_grad, wg.jacobian, wg.hessian, wg.laplacian):

        def run():
            return operator(f, argnums)(1.0)  # noqa: B023 HERE

        assert "argnums" in caught(NotDifferentiableInputError, run, run)


def test_arguments_passed_by_keyword_cannot_be_counted():
    def run():
        return wg.grad(lambda x: x)(x=1.0)  # HERE

    assert "position" in caught(NotDifferentiableInputError, run, run)


# --------------------------------------------------------------------------------------------------------- outputs


@pytest.mark.parametrize(
    "f",
    [lambda x: x, lambda x: x[None, 0], lambda x: (x[0], x[1]), lambda x: {"a": x[0], "b": x[1]}, lambda x: ()],
    ids=["vector", "one element", "pair", "dict", "nothing"],
)
@pytest.mark.parametrize("operator", [wg.grad, wg.value_and_grad, wg.hessian, wg.value_grad_and_hessian])
def test_grad_needs_one_number(f, operator):
    def run():
        return operator(f)(X)  # HERE

    message = caught(NonScalarOutputError, run, run)
    assert "np.sum" in message
    assert "wg.jacobian" in message


def test_grad_needs_a_real_number():
    def run():
        return wg.grad(lambda x: 1j * x[0])(X)  # HERE

    assert "np.abs" in caught(NonScalarOutputError, run, run)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.argmax(x),
        lambda x: 3,
        lambda x: x[0] > 0,
        lambda x: "text",
        lambda x: lambda y: x,
        lambda x: object(),
        lambda x: len,
        lambda x: (x[0], "text"),
    ],
    ids=["index", "int", "bool", "str", "closure", "object", "builtin", "in a tuple"],
)
def test_outputs_without_derivatives(f):
    runs = all_modes(f)
    for run in runs:
        with pytest.raises((NotDifferentiableOutputError, NonScalarOutputError)) as info:
            run()
        assert __file__ in str(info.value)
        assert "remedy" in str(info.value)
    with pytest.raises(NotDifferentiableOutputError):
        wg.vjp(f, X)


def test_has_aux_needs_a_pair():
    for f in (lambda x: x[0], lambda x: (x[0], 1, 2), lambda x: {"a": x[0], "b": 1}):

        def run():
            return wg.grad(f, has_aux=True)(X)  # noqa: B023 HERE

        assert "pair" in caught(NotDifferentiableOutputError, run, run)


# ------------------------------------------------------------------------------------- tangents and cotangents


@pytest.mark.parametrize(
    ("primals", "tangents"),
    [
        ((X,), (np.ones(3),)),
        ((X,), (1.0,)),
        ((1.0,), (X,)),
        ((X,), (X[None],)),
        ((X,), (1j * X,)),
        ((X,), ((X,),)),
        ((X,), (X, X)),
        ((X, X), (X,)),
        (({"a": X},), ({"b": X},)),
        (([X],), ((X,),)),
        (X, X),
        ((X,), X),
        ((X,), (np.array(["a", "b"]),)),
        ((X,), (None,)),
    ],
)
def test_mismatched_tangents(primals, tangents):
    def run():
        return wg.jvp(lambda *xs: 1.0, primals, tangents)  # HERE

    caught(MismatchError, run, run)


@pytest.mark.parametrize("ct", [1.0, np.ones(3), np.ones((1, 2)), 1j * X, (X,), [X], {"a": X}, None])
def test_mismatched_cotangents(ct):
    _, pullback = wg.vjp(lambda x: 2 * x, X)

    def run():
        return pullback(ct)  # HERE

    caught(MismatchError, run, run)


def test_mismatched_vectors_for_operators():
    f = lambda x: np.sum(x**2)
    for operator in (wg.hvp(f), wg.directional(f), wg.grad_and_hvp(f)):

        def run():
            return operator(X, np.ones(3))  # noqa: B023 HERE

        caught(MismatchError, run, run)
    _, J = wg.linearize(lambda x: x**2, X)
    for product in (lambda: J @ np.ones(3), lambda: J.T @ np.ones(3), lambda: J.push(np.ones(3)), lambda: J.pull(1.0)):
        with pytest.raises(MismatchError):
            product()
    with pytest.raises(MismatchError):
        J @ np.ones((3, 2))


# ------------------------------------------------------------------------------------------- functions without rules

UNSUPPORTED = {
    "struve": lambda x: np.sum(scipy.special.struve(0, x)),  # HERE
    "ber": lambda x: np.sum(scipy.special.ber(x)),  # HERE
    "bitwise": lambda x: np.bitwise_and(x, 1),  # HERE
    "save": lambda x: np.save("/nonexistent/file", x),  # HERE
}


@pytest.mark.parametrize("name", ["struve", "ber"])
def test_unsupported_functions(name):
    f = UNSUPPORTED[name]
    for run in all_modes(f):
        with pytest.raises(UnsupportedFunctionError) as info:
            run()
        message = str(info.value)
        assert f"np.{name}" in message or f"scipy.special.{name}" in message
        assert f"{__file__}:{line_of(f)}" in message
        assert "wg.custom_jvp" in message


@pytest.mark.parametrize("name", ["bitwise", "save"])
def test_functions_that_make_no_sense(name):
    f = UNSUPPORTED[name]
    with pytest.raises(WengertError) as info:
        wg.grad(f)(X)
    assert f"{__file__}:{line_of(f)}" in str(info.value)


def test_every_error_is_also_what_a_numpy_user_would_catch():
    for kind, builtin in [
        (ConcretizationError, TypeError),
        (EscapedValueError, RuntimeError),
        (InPlaceError, TypeError),
        (MismatchError, ValueError),
        (NonScalarOutputError, TypeError),
        (NotDifferentiableInputError, TypeError),
        (NotDifferentiableOutputError, TypeError),
        (UnsupportedFunctionError, NotImplementedError),
    ]:
        assert issubclass(kind, builtin)
        assert issubclass(kind, WengertError)


def test_wrong_modes_and_orders():
    for run in (
        lambda: wg.jacobian(np.sin, mode="backward"),
        lambda: wg.hvp(np.sin, mode="reverse"),
        lambda: wg.derivative(np.sin, order=-1),
        lambda: wg.derivative(np.sin, order=1.5),
    ):
        with pytest.raises(ValueError):
            run()


def test_derivative_is_for_single_numbers_or_elements():
    with pytest.raises(NotDifferentiableInputError, match="jacobian"):
        wg.derivative(np.cumsum)(X)
    with pytest.raises(NotDifferentiableInputError, match="jacobian"):
        wg.derivative(lambda p: p[0])([1.0, 2.0])


def test_vector_fields_must_be_square():
    for operator in (wg.divergence, wg.curl, wg.curl_and_divergence):
        with pytest.raises(MismatchError):
            operator(lambda x: x[:2])(np.ones(3))
        with pytest.raises(MismatchError):
            operator(lambda x: np.sum(x))(np.ones(3))
        with pytest.raises(MismatchError):
            operator(lambda x: (x, x))(np.ones(3))
    with pytest.raises(MismatchError, match="three dimensions"):
        wg.curl(lambda x: x)(np.ones(2))


@pytest.mark.parametrize(
    "operator",
    [wg.grad, wg.value_and_grad, wg.jacobian, wg.jacfwd, wg.jacrev, wg.hessian, wg.hvp, wg.grad_and_hvp],
    ids=lambda operator: operator.__name__,
)
@pytest.mark.parametrize("given", [np.ones(3), [1.0, 2.0], 2.0, {"a": 1.0}], ids=repr)
def test_an_argument_of_the_function_is_given_to_the_operator(operator, given):
    def run():
        return operator(np.sum, given)  # HERE

    message = caught(NotDifferentiableInputError, run, run)
    assert f"wg.{operator.__name__}(f)(x" in message
    assert ("(f)(x, v)" in message) == operator.__name__.endswith("hvp")


def frames_of_ours(error: BaseException | None) -> list[str]:
    """The files of this package in the traceback of an error, and of those that it came of."""
    found = []
    while error is not None:
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        found += [name for name in files if f"{os.sep}wengert{os.sep}" in name and "tests" not in name]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def clustered(x):
    return kmeans2(x.reshape(-1, 1), 2)[0].sum()


def kept_as_json(x):
    return json.loads(json.dumps({"x": x[0]}))["x"]


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (lambda: wg.grad(3.0), "wg.grad"),
        (lambda: wg.hvp(np.sum, X, X), "wg.hvp"),
        (lambda: wg.grad(clustered)(X), "scipy.cluster.vq.kmeans2"),
        (lambda: wg.jit(clustered)(X), "scipy.cluster.vq.kmeans2"),
        (lambda: wg.grad(kept_as_json)(X), "json.dumps"),
        (lambda: wg.jit(wg.grad(kept_as_json))(X), "json.dumps"),
    ],
)
def test_messages_name_what_was_called_and_show_no_frames_of_ours(run, name):
    with pytest.raises(WengertError, match=name) as info:
        run()
    assert not frames_of_ours(info.value)


@pytest.mark.parametrize(
    "f",
    [
        lambda n: np.zeros(n),
        lambda n: np.ones((n, 2)),
        lambda n: np.full(n, 1.0),
        lambda n: np.arange(4.0).reshape(n, 2),
        lambda n: np.linspace(0, 1, n),
        lambda n: [0.0] * n,
        lambda n: [0.0] + n,
        lambda n: n - (1.0,),
    ],
)
def test_a_float_is_no_length_and_no_sequence(f):
    with pytest.raises(TypeError) as plain:
        f(2.0)
    with pytest.raises(TypeError) as info:
        wg.jit(f)(2.0)
    assert str(info.value) == str(plain.value) or "expected a sequence of integers" in str(plain.value)
    for derivative in (wg.grad, lambda g: wg.jit(wg.grad(g))):
        with pytest.raises(TypeError, match="interpreted as an integer|index made|sequence|unsupported|concatenate"):
            derivative(lambda n: np.sum(f(n)))(2.0)


def test_operators_of_python_speak_of_no_class_of_ours():
    with pytest.raises(TypeError, match="'traced array' and 'str'"):
        wg.jit(lambda x: x + "1")(2.0)
