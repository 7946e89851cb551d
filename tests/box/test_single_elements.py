"""Numbers seen as arrays of one element: written to through the array, taken out with `item`; numbers that are real."""

import numpy as np
import pytest

import wengert as wg

X = np.array([1.5, -2.0, 3.0])


def through_a_view(x):
    seen = (x[0] * 1.0).reshape(-1)
    seen *= np.ones(()) * x[1]
    return seen[0] ** 2


def through_a_complex_view(x):
    seen = np.asarray(x[0]).astype(complex).reshape(1, 1)
    seen *= 2j
    seen[0, 0] *= x[1]
    seen[:, seen[0].real > 5] = 3
    return np.abs(seen[0, 0]) ** 2


def seen_by_the_base(x):
    base = np.asarray(x[0] * 2)
    base.reshape(-1)[0] = x[1] * 5
    base[None, None][:, 0] *= x[2]
    return base * base


def the_only_one(x):
    found = x[x > 2]
    return found.item() ** 2 if found.size == 1 else x[x < 0].item()


@pytest.mark.parametrize("f", [through_a_view, through_a_complex_view, seen_by_the_base, the_only_one])
def test_derivatives(f):
    want = [(f(X + h) - f(X - h)) / 2e-6 for h in np.eye(3) * 1e-6]
    for gradient in (wg.grad(f), wg.jacfwd(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(gradient(X), want, rtol=1e-6, atol=1e-6)


def test_item_of_several():
    for f in (the_only_one, wg.jit(the_only_one), wg.grad(the_only_one)):
        with pytest.raises(ValueError, match="array of size 1"):
            f(-X - 10)


def test_real_if_close():
    f = lambda x: np.abs(np.real_if_close(np.exp(1j * x)) * np.real_if_close(x * (1 + 1e-20j)))
    assert np.isclose(wg.grad(f)(2.0), 1.0)
    is_real = []
    wg.grad(lambda x: is_real.append(np.isrealobj(np.real_if_close(x + 0j, tol=1e-3))) or x)(2.0)
    assert is_real == [True]
