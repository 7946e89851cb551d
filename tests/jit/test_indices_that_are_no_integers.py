"""An index that is no integer raises what NumPy and Python raise, also if it is known only when the program runs."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

X = np.arange(4.0)


def stored(x, t):
    x[t] = 1.0
    return x


def counted(x, t):
    s = 0.0
    for i in range(t):
        s = s + x[i]
    return s


FUNCTIONS = {
    "item": lambda x, t: x[t], "start": lambda x, t: x[t:], "stop": lambda x, t: x[:t],
    "row": lambda x, t: x[None][0, t],
    "array": lambda x, t: x[np.array([t, t])], "list": lambda x, t: x[[t, 0]], "store": stored, "range": counted,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("t", [1.0, np.float64(1.0)], ids=["Python", "NumPy"])
def test_as_in_numpy(name, t):
    f = FUNCTIONS[name]
    with pytest.raises((IndexError, TypeError)) as wanted:
        f(X.copy(), t)
    for g in (wg.jit(f), wg.jit(wg.grad(lambda x, t: np.sum(f(x, t))))):
        with pytest.raises(wanted.type) as got:
            g(X.copy(), t)
        assert not isinstance(got.value, wg.errors.WengertError)


def test_only_where_it_is_reached():
    f = wg.jit(lambda x, t: x[t] if t > 9 else t)
    assert f(X, 1.0) == 1.0
    with pytest.raises(IndexError):
        f(X, 10.0)


def test_an_integer_in_one_branch_and_a_float_in_the_other_is_refused():
    """In Python it is an index in one case, and raises in the other."""

    def after_a_loop(x, a):
        s = 0
        for e in x:
            if e > 100 * a:
                s = 0.5
        return x[(s + 1) % 2]

    for f in (
        lambda x, a: x[min(-1, a)],
        lambda x, a: x[0 if a > 1 else a],
        lambda x, a: x[-(0 if a > 1 else a)],
        after_a_loop,
    ):
        assert np.ndim(f(X, 1.5)) == 0
        with pytest.raises(wg.errors.UnsupportedFunctionError, match="an integer in some cases"):
            wg.jit(f)(X, 1.5)
        with pytest.raises(wg.errors.UnsupportedFunctionError, match="an integer in some cases"):
            wg.jit(wg.grad(f, (0, 1)))(X, 1.5)


def test_a_length_that_is_never_taken_for_one_says_so():
    def f(x, v):
        x[:3] = x[int(v) :] * 2
        return x

    np.testing.assert_array_equal(wg.jit(f)(X.copy(), 1.0), f(X.copy(), 1.0))
    with pytest.raises(ValueError, match="never taken for one"):
        wg.jit(f)(X.copy(), 3.0)
