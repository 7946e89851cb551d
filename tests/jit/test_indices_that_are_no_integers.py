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
