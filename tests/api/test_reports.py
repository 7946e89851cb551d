"""What users are told: libraries that do not take traced values are named, tracebacks and reprs speak of the user's
code, and a result that is constant because a derivative was cut is a warning with the line.
"""

import traceback
import types
import warnings

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import wengert as wg
from wengert.errors import (
    ConcretizationError,
    InPlaceError,
    MismatchError,
    NotAFunctionError,
    NotDifferentiableOutputError,
    UnsupportedFunctionError,
    WengertError,
)

SOLVERS = {
    "scipy.optimize.brentq": lambda a: scipy.optimize.brentq(lambda x: x**3 - a, 0, 5),
    "scipy.optimize.newton": lambda a: scipy.optimize.newton(lambda x: x**3 - a, 1.0),
    "scipy.optimize.minimize": lambda a: scipy.optimize.minimize(lambda x: (x[0] - a) ** 2, np.ones(1)).x[0],
    "scipy.optimize.least_squares": lambda a: scipy.optimize.least_squares(lambda x: x - a, np.ones(1)).x[0],
    "scipy.integrate.solve_ivp": lambda a: scipy.integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0]).y[0, -1],
    "scipy.integrate.odeint": lambda a: scipy.integrate.odeint(lambda y, t: -a * y, 1.0, [0.0, 1.0])[1, 0],
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_solvers_say_what_they_lack(name, mode):
    f = SOLVERS[name]
    refusal = None
    try:
        got = wg.grad(f)(8.0) if mode == "reverse" else wg.jacfwd(f)(8.0)
    except WengertError as error:
        refusal = error
    if refusal is None:  # it has a rule
        np.testing.assert_allclose(got, (f(8.0 + 1e-2) - f(8.0 - 1e-2)) / 2e-2, rtol=2e-2)
        return
    assert isinstance(refusal, UnsupportedFunctionError)
    for word in (name, "remedy", "test_reports.py"):
        assert word in str(refusal)


LIBRARY = {"__name__": "some_library"}
exec(
    compile(
        "def forgets(x):\n    try:\n        return float(x)\n    except TypeError:\n        return 1.0\n",
        "/somewhere/site-packages/numpy/some_library.py",  # a place that is left alone
        "exec",
    ),
    LIBRARY,
)


def test_a_conversion_that_a_library_forgets_is_no_zero():
    with pytest.raises(UnsupportedFunctionError, match="forgets"):
        wg.grad(lambda x: LIBRARY["forgets"](x) * x)(2.0)


def test_a_refusal_in_a_callback_is_its_own():
    outside = np.zeros(1)

    def objective(x):
        outside[0] = x[0]
        return np.sum((x - 1) ** 2)

    def f(a):
        return scipy.optimize.minimize(lambda x: objective(x * a), np.ones(1)).fun

    with pytest.raises(InPlaceError, match=r"outside\[0\] = x\[0\]"):
        wg.grad(f)(2.0)


def test_errors_of_the_user_are_the_users():
    def f(x):
        return np.sum(x @ np.ones((3, 2)) @ np.ones(3))

    with pytest.raises(ValueError, match="mismatch"):
        wg.grad(f)(np.ones(3))
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        wg.grad(lambda x, y: x)(1.0)


# ----------------------------------------------------------------------------------------------------------- tracebacks


def breaks(x):
    y = np.sin(x)
    return y["key"]


@pytest.mark.parametrize(
    "run",
    [
        lambda: wg.grad(breaks)(np.ones(2)),
        lambda: wg.hessian(breaks)(np.ones(2)),
        lambda: wg.jvp(breaks, (np.ones(2),), (np.ones(2),)),
        lambda: wg.vjp(breaks, np.ones(2)),
        lambda: wg.linearize(breaks, np.ones(2)),
        lambda: wg.hvp(breaks)(np.ones(2), np.ones(2)),
        lambda: wg.vmap(breaks)(np.ones((3, 2))),
        lambda: wg.jit(breaks)(np.ones(2)),
    ],
)
def test_no_frames_of_ours_above_the_users(run):
    with pytest.raises(Exception) as caught:
        run()
    files = [frame.filename for frame in traceback.extract_tb(caught.tb)]
    last = max(k for k, name in enumerate(files) if name == __file__)
    assert not [name for name in files[:last] if "/wengert/" in name]


def test_errors_have_pages():
    with pytest.raises(ConcretizationError, match="docs/errors/traced-values.md"):
        wg.grad(lambda x: len(range(x)) * 1.0)(2.0)


# ---------------------------------------------------------------------------------------------------------------- words


def test_what_operators_return_says_what_it_is():
    def energy(x):
        """The energy."""
        return x**2

    assert "grad of" in repr(wg.grad(energy))
    assert "energy" in repr(wg.grad(energy))
    assert "hessian" in repr(wg.hessian(energy))
    assert wg.grad(energy).__name__ == "energy"
    assert wg.grad(energy).__doc__ == "The energy."

    class Model:
        @wg.grad
        def slope(self):
            return self**2

    assert Model.__dict__["slope"](3.0) == 6.0


@pytest.mark.parametrize("thing", [3.0, np.ones(3), None, "f"])
def test_operators_take_functions(thing):
    for operator in (wg.grad, wg.value_and_grad, wg.jacobian, wg.hessian, wg.hvp, wg.vmap, wg.derivative):
        with pytest.raises(NotAFunctionError, match="wants a function"):
            operator(thing)


def test_a_missing_return():
    def f(x):
        x**2

    for run in (lambda: wg.grad(f)(1.0), lambda: wg.jacfwd(f)(1.0), lambda: wg.jvp(f, (1.0,), (1.0,))):
        with pytest.raises(NotDifferentiableOutputError, match=r"(?s)None.*`return` missing"):
            run()


def test_the_vector_is_missing():
    with pytest.raises(MismatchError, match="vector"):
        wg.hvp(lambda x: x**2)(1.0)


def test_attributes_that_arrays_do_not_have():
    with pytest.raises(AttributeError, match=r"array has no attribute 'meen'; did you mean 'mean'"):
        wg.grad(lambda x: x.meen())(np.ones(3))
    with pytest.raises(AttributeError, match="number has no attribute 'lenght'"):
        wg.grad(lambda x: x.lenght)(1.0)


def test_python_speaks_of_arrays():
    with pytest.raises(TypeError) as caught:
        wg.grad(lambda x: x + object())(1.0)
    assert "Tape" not in str(caught.value)
    with pytest.raises(TypeError) as caught:
        wg.grad(lambda x: {x: 1.0}[x])(1.0)
    assert "Tape" not in str(caught.value)
    assert "stop_gradient" in str(caught.value)


def test_numbers_are_shown():
    shown = []

    def f(x):
        shown.append("%.3f and %s" % (x, "text"))  # noqa: UP031
        shown.append("%d%%" % x)  # noqa: UP031
        shown.append("%(a).1f" % {"a": x})  # noqa: UP031
        shown.append(f"{x:.2f}")
        shown.append("{:.1e}".format(x))  # noqa: UP032
        return x * 7 % 4

    assert wg.grad(f)(1.5) == 7.0
    assert shown == ["1.500 and text", "1%", "1.5", "1.50", "1.5e+00"]


# ----------------------------------------------------------------------------------------------------- constant results


def rounded(x):
    y = np.sin(x)
    return round(float(y), 6) * 1.0


def bisected(a):
    low, high = 0.0, 5.0
    for _ in range(40):
        middle = (low + high) / 2
        if middle**3 < a:
            low = middle
        else:
            high = middle
    return middle


DERIVATIVES = {
    "grad": wg.grad,
    "jvp": lambda f: lambda x: wg.jvp(f, (x,), (1.0,))[1],
    "jacobian": wg.jacobian,
    "jit(grad)": lambda f: wg.jit(wg.grad(f)),
    "grad(jit)": lambda f: wg.grad(wg.jit(f)),
    "jvp(jit)": lambda f: lambda x: wg.jvp(wg.jit(f), (x,), (1.0,))[1],
}


@pytest.mark.parametrize(("f", "line"), [(rounded, "return round"), (bisected, "if middle")])
@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
def test_a_derivative_that_was_cut_is_a_warning(f, line, derivative):
    with pytest.warns(wg.errors.ConstantResultWarning, match=line):
        assert derivative(f)(2.0) == 0.0


def test_compiled_code_that_does_not_take_traced_values():
    """Cython's words say nothing of them; its frames have the names of its files."""
    source = "def evaluate(x): raise TypeError('No matching signature found')"
    names = {"__name__": "library.fast"}
    exec(compile(source, "library/fast.pyx", "exec"), names)
    holder = types.SimpleNamespace(evaluate=names["evaluate"])
    with pytest.raises(UnsupportedFunctionError, match=r"library.fast.evaluate does not take traced values"):
        wg.grad(lambda x: holder.evaluate(x) * 2)(2.0)


def of_as_many_turns(z, y):
    """One branch, which is not taken, is constant; the lists differ in length, so that it is a program of its own."""
    turns = []
    if z:
        turns.append(np.cos(z))
    if y:
        turns.append(np.sin(y))
    return np.prod(turns) if turns else 3.0


def test_programs_that_are_given_up_are_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = wg.jit(wg.grad(of_as_many_turns, argnums=(0, 1)))(0.3, 0.7)
    np.testing.assert_allclose(found, (-np.sin(0.3) * np.sin(0.7), np.cos(0.3) * np.cos(0.7)))


def test_constants_and_derivatives_that_are_zero_are_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wg.grad(lambda x: 3.0)(2.0) == 0.0
        assert wg.grad(lambda x: x if x > 0 else -x)(2.0) == 1.0
        assert wg.grad(lambda x: np.round(x) + x)(2.0) == 1.0
        x = np.array([1.0, -2.0])
        kinks = lambda x: np.sum(np.maximum(x, 0)) + np.max(np.abs(x))
        for second in (wg.hessian(kinks), wg.jacobian(wg.grad(kinks)), wg.jit(wg.jacobian(wg.grad(kinks)))):
            assert np.all(second(x) == 0)
