"""Texts of traced numbers that are read as numbers: an error or a rounding, never a silent zero."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import wengert as wg
from wengert.errors import ConcretizationError, ConstantResultWarning, UnsupportedFunctionError


def run(x):
    space = {}
    exec(f"y = {x} * 2", space)
    return space["y"]


READ = {
    "%s": lambda x: float("%s" % x) * 2,  # noqa: UP031
    "%r": lambda x: float("%r" % x) * 2,  # noqa: UP031
    "tuple": lambda x: float("%s%s" % (x, "0")) * 2,  # noqa: UP031
    "dict": lambda x: float("%(x)s" % {"x": x}) * 2,  # noqa: UP031
    "f-string": lambda x: float(f"{x}") * 2,
    "str": lambda x: complex(str(x)).real * 2,
    "join": lambda x: float("".join(map(str, [x]))) * 2,
    "eval": lambda x: eval("%s * 2" % x),  # noqa: UP031
    "exec": run,
}


@pytest.mark.parametrize("name", READ)
def test_a_number_read_from_a_text_is_no_constant(name):
    f = READ[name]
    for g in (wg.grad(f), wg.jit(f), wg.jit(wg.grad(f)), lambda x: wg.jvp(f, (x,), (1.0,))):
        with pytest.raises(ConcretizationError, match="text"):
            g(1.5)
    if name != "%r":  # np.float64(1.5)
        np.testing.assert_array_equal(wg.vmap(f)(np.array([1.5, 2.25])), [3.0, 4.5])


def test_a_text_that_rounds_is_a_rounding():
    with pytest.warns(ConstantResultWarning, match="only became a text"):
        assert wg.grad(lambda x: float("%.3f" % x))(1.5) == 0.0  # noqa: UP031
    with pytest.warns(ConstantResultWarning, match="only became a text"):
        assert wg.jvp(lambda x: float(f"{x:.3f}"), (1.5,), (1.0,))[1] == 0.0
    assert wg.grad(lambda x: x * float("%.1f" % x))(1.5) == 1.5  # noqa: UP031


def test_eval_of_the_variables_around():
    def f(x):
        k = 3.0  # noqa: F841
        return eval("x * k + x**2")

    for g in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        assert g(1.5) == 6.0


def test_numbers_as_percent_shows_them(capsys):
    def f(x):
        print("%s %r %.2f %d %5.1f|%3s" % (x, 2, x, x, x, "a"))  # noqa: UP031
        return x * x

    wg.grad(f)(1.5)
    assert capsys.readouterr().out == "Traced(1.5) 2 1.50 1   1.5|  a\n"


def test_arrays_without_axes_as_percent_shows_them(capsys):
    def f(x):
        cost = np.squeeze(np.array([[x]]) * 2)
        print("%i: %f %s" % (3, cost, cost), "%.1f" % cost)  # noqa: UP031
        return cost

    for g in (f, wg.grad(f), wg.jit(wg.grad(f))):
        g(1.5)
        assert capsys.readouterr().out.replace("Traced(3.0)", "3.0") == "3: 3.000000 3.0 3.0\n"


TAKE_NUMBERS_ONLY = {
    "Decimal": lambda x: float(Decimal(x)),
    "json": lambda x: json.loads(json.dumps({"x": x}))["x"],
}


@pytest.mark.parametrize("name", TAKE_NUMBERS_ONLY)
def test_what_takes_numbers_only_says_so(name):
    f = TAKE_NUMBERS_ONLY[name]
    for g in (wg.grad(f), wg.jit(f)):
        with pytest.raises(UnsupportedFunctionError, match=r"does not take traced values[\s\S]*test_read_texts.py"):
            g(1.5)
    with pytest.raises(TypeError):  # fractions has said what it takes
        wg.grad(lambda x: float(Fraction(x)))(1.5)
