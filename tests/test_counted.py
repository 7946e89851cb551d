"""Who else holds an array is known in every Python, also in those that lend what variables hold."""

import dis
import os
from sys import getrefcount

import numpy as np
import pytest
import scipy

import wengert as wg
from wengert.counted import all_count, counts, with_references
from wengert.errors import InPlaceError


@counts
def of_a_variable_and_of_none():
    def count(v):
        return getrefcount(v)

    a = np.zeros(1)
    return count(a), count(np.zeros(1))


def test_what_a_variable_holds_is_told_apart_from_what_was_just_made():
    held, made = of_a_variable_and_of_none()
    assert held == made + 1


def test_code_does_the_same():
    def f(x, *more, y=2):
        def inner(k):
            return [k * n + x for n in more if n != y]

        return sum(inner(3)) + (lambda: x)()

    g = counts(f)
    assert g is f
    assert f(1, 2, 3, 4) == 3 * 3 + 1 + 3 * 4 + 1 + 1
    again = with_references(f.__code__)
    assert again.co_code == f.__code__.co_code
    assert not any("BORROW" in name for name in _instructions(again))


def _instructions(code):
    return [i.opname for i in dis.get_instructions(code)]


def test_all_functions_of_a_module():
    names = {"__name__": "some_module"}
    source = (
        "def f(x):\n    return x\n"
        "class A:\n"
        "    def g(self): return self\n"
        "    @staticmethod\n    def h(x): return x\n"
        "    @property\n    def p(self): return self\n"
    )
    exec(source, names)
    all_count(names)
    A = names["A"]
    for function in (names["f"], A.g, A.h, A.p.fget):
        assert not any("BORROW" in name for name in _instructions(function.__code__))
    assert names["f"](3) == A.h(3) == 3


def library(source):
    """A function of code that is not followed."""
    names = {"np": np}
    exec(compile(source, os.path.join(os.path.dirname(scipy.__file__), "made_up.py"), "exec"), names)
    return names["apply"]


def first(k):
    def f(a):
        a[0] = k

    return f


def rest(k):
    def f(a):
        a[1:] += k

    return f


def whole(k):
    def f(a):
        a += k

    return f


@pytest.mark.parametrize("writer", [first, rest, whole])
def test_an_array_that_a_library_holds_is_not_taken_over(writer):
    """It would not see what is written."""
    apply = library("def apply(f):\n    a = np.zeros(3)\n    f(a)\n    return np.sum(a)\n")
    with pytest.raises(InPlaceError):
        wg.grad(lambda k: apply(writer(k)))(2.0)
    with pytest.raises(InPlaceError):
        wg.jvp(lambda k: apply(writer(k)), (2.0,), (1.0,))


def test_what_is_kept_for_the_reverse_sweep_is_not_overwritten():
    table = np.array([1.0, 2.0, 3.0])

    def f(x):
        a = table * 2.0
        view = a[1:]
        y = view * x
        a[0] = 100.0
        view[:] = 100.0
        return np.sum(y)

    assert wg.grad(f)(1.0) == 10.0
    assert wg.jit(wg.grad(f))(1.0) == 10.0
    np.testing.assert_array_equal(table, [1.0, 2.0, 3.0])
