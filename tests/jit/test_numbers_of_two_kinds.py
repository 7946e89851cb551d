"""A variable that is a number of Python's in one branch and of NumPy's in the other: where the difference can be seen,
in the dtype of what it meets or in its digits, compiled functions show what Python shows, or refuse."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

X = np.array([1.107, -0.126, 0.19])


def chosen(x, a):
    t = a
    if a < 0.3:
        t = x[0]
    return t


def meets_single(x, a):
    return (chosen(x, a) * 2 + 1) * np.float32(0.5)


def meets_an_array(x, a):
    return np.ones(3, np.float32) * chosen(x, a)


def meets_double(x, a):
    return np.ones(3) * chosen(x, a) + x


def largest(x, a):
    m = 0.0
    for v in x:
        if v > m:
            m = v
    return m + np.sqrt(m)


def expression(x, a):
    return (a if a > 0.3 else x[0]) / np.float32(3.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", [chosen, meets_single, meets_an_array, meets_double, largest, expression])
def test_as_in_python(f, dtype):
    x, compiled = X.astype(dtype), wg.jit(f)
    for a in (0.1, 1.489, 0.1, 1.489):
        expected, y = f(x, a), compiled(x, a)
        assert np.asarray(y).dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(y, expected)


def test_both_in_one_call_are_refused():
    def f(x, y):
        t, found = 0.1, []
        for v in x:
            if v > 0.5:
                t = v
            found.append(t * y)
        return found

    for verify in (False, True):
        with pytest.raises(StagingError, match=r"Python's.*NumPy's"):
            wg.jit(f, verify=verify)(np.linspace(0.0, 1.0, 20), np.float32(3.0))


def test_the_class_of_an_integer_or_a_float():
    def f(x):
        y = 7 if x < 0 else 2.5
        return y * x if isinstance(y, int) else type(y)(3) + x

    def both(x):
        total = 0.0
        for k in range(10):
            y = 0 if x * k < 3 else x
            total += 1 if isinstance(y, float) else x
        return total

    g = wg.jit(f)
    assert [g(x) for x in (-1.0, 2.0, -2.0)] == [f(x) for x in (-1.0, 2.0, -2.0)]
    with pytest.raises(StagingError, match="an integer in one branch"):
        wg.jit(both)(2.0)


def _chosen(x):
    return 2 if x > 0.5 else 1.0


def _before_a_branch(x):
    n = 0
    if x > 0.5:
        n = x
    return n


def _before_a_loop(x):
    n = 0
    while x > 0.5:
        n, x = n + x, x / 2
    return n


def _computed(x):
    return _chosen(x) * 3 + 1


def _greatest(x):
    return max(1, x)


@pytest.mark.parametrize("number", [_chosen, _before_a_branch, _before_a_loop, _computed, _greatest],
                         ids=lambda f: f.__name__)  # fmt: skip
@pytest.mark.parametrize("of", [lambda f: wg.jit(wg.vmap(f)), lambda f: wg.jit(wg.vmap(wg.value_and_grad(f)))],
                         ids=["values", "gradients"])  # fmt: skip
def test_whether_it_is_an_integer_is_known_in_batches_or_refused(number, of):
    """`isinstance` said of all examples that they had a float."""

    def f(x):
        return x if isinstance(number(x), int) else -x

    examples = np.array([1.7, 0.3, 1.3])
    with pytest.raises(wg.errors.StagingError, match=r"an? integer in (some cases|one branch)"):
        of(f)(examples)


def test_an_item_that_is_an_integer_of_pythons_or_a_float_of_numpys():
    def f(x):
        items = [1]
        while x > 1:
            items.append(x)
            x = x / 2
        return x if isinstance(items[-1], int) else -x

    with pytest.raises(wg.errors.StagingError, match="an integer in some cases"):
        wg.jit(f)(np.float64(0.3))


def _smaller(x, a):
    return x * min(np.square(a), a)


def _smallest(x, a):
    return x + min(a, 2.5, np.float64(a) * 2)


def _at_a_place(x, a):
    return x * [a, np.float64(a)][int(a > 0.5)]


@pytest.mark.parametrize("f", [_smaller, _smallest, _at_a_place], ids=lambda f: f.__name__)
def test_the_one_that_is_chosen_decides_what_single_precision_becomes(f):
    x, compiled = np.array([1.0, 2.0, 3.0], np.float32), wg.jit(f)
    for a in (-0.7, 0.3, 0.7, 1.5, 3.5):
        got, expected = compiled(x, a), f(x, a)
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def _matched(s, a):
    match a > s:
        case True:
            return 1.0
        case False:
            return 2.0
        case _:
            return 3.0


_ASKED = {
    "is True": lambda s, a: (a > s) is True, "is not False": lambda s, a: (a > s) is not False,
    "type": lambda s, a: type(s) in (int, float), "class of a comparison": lambda s, a: type(a > s) is bool,
    "isinstance": lambda s, a: isinstance(s, (np.floating, np.integer)), "int": lambda s, a: isinstance(s, int),
    "bool": lambda s, a: isinstance(a > s, bool), "attribute": lambda s, a: hasattr(s, "dtype"),
    "sum": lambda s, a: float((a > s) + (a > 0)), "invert": lambda s, a: float(~(a > s)), "match": _matched,
    "number": lambda s, a: isinstance(s, (int, float, np.number)), "truth": lambda s, a: (not a > s) is False,
}  # fmt: skip


@pytest.mark.parametrize("other", [lambda x: x[1] + 0.3, np.argmax], ids=["float", "integer"])
@pytest.mark.parametrize("asked", _ASKED.values(), ids=_ASKED)
def test_questions_about_the_class(asked, other):
    def f(x, a):
        s = 0.25 if other is not np.argmax else 1
        if x[0] > 5:
            s = other(x)
        return asked(s, a)

    compiled = wg.jit(f)
    for x in (np.array([0.3, 0.2]), np.array([6.0, 0.2])):
        for a in (0.5, 2.5, -0.5):
            assert compiled(x, a) == f(x, a)
