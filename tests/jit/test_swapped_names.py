"""Arrays that change their names in a loop, while a name that the loop does not carry stands for one of them."""

import numpy as np
import pytest

import wengert as wg


def read_under_a_third_name(x, n):
    a, b = x, np.zeros(4)
    c = a
    for _ in range(n):
        b[2] = c[2] + 1.0
        a, b = b, a
    return a + 10 * b + 100 * c


def in_a_branch(x, n):
    a, b = x * 1.0, np.zeros(4)
    c = a
    if a[3] > 0.5:
        for _ in range(n):
            b[2] = c[2] + 1.0
            a, b = b, a
    return a + 10 * b + 100 * c


def three_rotate(x, n):
    a, b, c = x * 2.0, x * 3.0, np.zeros(4)
    d = b
    for _ in range(n):
        c[0] = d[0] * 0.5 + a[1]
        a, b, c = b, c, a
    return a + 10 * b + 100 * c + 1000 * d


def a_view_of_one(x, n):
    a, b = x * 1.0, np.zeros(4)
    c = a[1:3]
    for _ in range(n):
        b[2] = c[1] + 1.0
        a, b = b, a
    return np.sum(a + 10 * b) + 100 * np.sum(c)


MAY_BE_REFUSED = (three_rotate, a_view_of_one)
PROGRAMS = [read_under_a_third_name, in_a_branch, three_rotate, a_view_of_one]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
def test_what_is_written_is_seen(f, n):
    x = np.linspace(0.1, 1.4, 4)
    try:
        found = wg.jit(f)(x.copy(), n)
        slope = wg.jit(wg.jacobian(lambda x: f(x.copy(), n)))(x)
    except wg.errors.StagingError:
        assert f in MAY_BE_REFUSED  # values alone would not tell
        return
    np.testing.assert_allclose(found, f(x.copy(), n), rtol=1e-14)
    np.testing.assert_allclose(slope, wg.jacobian(lambda x: f(x.copy(), n))(x), rtol=1e-13)
