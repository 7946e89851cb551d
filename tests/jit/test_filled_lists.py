"""Lists that are made and filled inside a compiled function, in `__init__` too; tables of numbers; Python's numbers."""

import numpy as np
import pytest

import wengert as wg


def fill(c, x):
    d = x
    for i in range(1, 5):
        c[i] = d * i
        d = d * x


class Series:
    def __init__(self, x, make):
        self.c = make()
        fill(self.c, x)

    def value(self):
        return self.c[1] + self.c[4]


MAKERS = {
    "list of a range": lambda: list(range(6)),
    "product": lambda: [0] * 6,
    "comprehension": lambda: [0 for _ in range(6)],
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_list_that_is_an_attribute(kind):
    def f(x):
        return Series(x, MAKERS[kind]).value()

    assert wg.jit(f)(0.5) == f(0.5)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(0.5), 1 + 16 * 0.5**3, rtol=1e-14)


MIXED = [101325, 22632.06, 5474.889, 868]


def test_a_table_of_integers_and_floats():
    def f(x):
        k = 0
        while k < 3 and MIXED[k + 1] > x:
            k = k + 1
        return MIXED[k] * x

    for x in (50000.0, 10000.0, 900.0, 1.0):
        assert wg.jit(f)(x) == f(x)
        np.testing.assert_allclose(wg.jit(wg.grad(f))(x), f(x) / x, rtol=1e-14)


NUMBERS = {
    "asarray": lambda x, a: np.asarray(x) * a,
    "asarray with a dtype": lambda x, a: np.asarray(x, float) * a,
    "copy": lambda x, a: np.asarray(x).copy() * a,
    "plus": lambda x, a: (+x) * a,
    "minus": lambda x, a: (-x) * a,
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_dtypes_of_pythons_numbers(kind):
    a = np.ones(2, np.float32)
    f = lambda x: NUMBERS[kind](x, a)
    want = f(1.5)
    for g in (wg.jit(f), lambda x: wg.jvp(f, (x,), (1.0,))[0], wg.jit(lambda x: wg.jvp(f, (x,), (1.0,))[0])):
        assert g(1.5).dtype == want.dtype
