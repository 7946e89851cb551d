"""Real and imaginary parts are views: what is written to them is written to the complex array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from everywhere import check_everywhere

import wengert as wg

X = np.array([0.3, 1.7, -0.8])


def _sum(z: Any) -> Any:
    return np.sum(z.real * np.array([1.0, 2.0, 3.0])) + 10 * np.sum(z.imag**2)


def element(x):
    z = x * (1 + 2j)
    z.real[0] = x[1] ** 2
    z.imag[-1] = 3.0
    return _sum(z)


def augmented(x):
    z = x * (1 + 2j)
    z.imag += x
    z.real *= 2.0
    z.real -= z.imag
    return _sum(z)


def assigned(x):
    z = x * (1 + 2j)
    z.imag = x * x
    z.real = 4.0
    z.real[:2] = z.imag[1:]
    return _sum(z)


def named(x):
    z = x * (1 + 2j)
    u = z.imag
    u[1] *= 3
    part = u[1:]
    part[0] += x[0]
    z[2] = 1j * x[1]
    return _sum(z) + np.sum(u * part[0])


def functions(x):
    z = x * (1 + 2j)
    np.real(z)[0] = 5.0
    np.imag(z)[1:] = x[:2]
    np.add(z.real, x, out=z.real)
    return _sum(z)


def of_a_view(x):
    z = np.outer(x, x) * (1 - 1j)
    z[1].real[:] = x
    z.T[0].imag[1] = x[2]
    z.reshape(-1).real[4] = 7.0
    return np.sum(z.real * np.arange(9.0).reshape(3, 3)) + np.sum(z.imag**2)


def in_an_array_made_here(x):
    z = np.zeros(3, complex)
    z.real = x
    z.imag[1] = x[0] * x[1]
    return _sum(z)


def in_a_loop(x):
    z = np.zeros(3, complex)
    for i in range(3):
        z.real[i] = x[i] ** 2
        z.imag[2 - i] += x[i]
    return _sum(z)


def of_a_loop_that_is_kept(x):
    z = np.ones(30, complex)
    for i in range(1, 30):
        z.imag[i] = z.imag[i - 1] * 0.9 + x[i % 3]
        z.real[i] = z.imag[i] * z.real[i - 1]
    return np.sum(z.real) + np.sum(z.imag**2)


def of_real_arrays(x):
    y = x * 2
    y.real[0] = 5.0
    y.real = y.real * x
    return np.sum(y**2) + np.sum(y.imag)


def stale(x):
    z = x * (1 + 2j)
    u, v = z.real, z.imag
    z[0] = x[2] * (3 - 1j)
    z *= 2j
    return u[0] * 3 + v[0] + np.sum(u * v)


def exchanged(x):
    z = x * (1 + 2j)
    z[...] = z.real
    z.imag[...] = z.real[::-1]
    return _sum(z)


PROGRAMS = [element, augmented, assigned, named, functions, of_a_view, in_an_array_made_here, in_a_loop,
            of_a_loop_that_is_kept, of_real_arrays, stale, exchanged]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_writes_to_parts(f: Any) -> None:
    check_everywhere(f, X)


def test_what_numpy_refuses() -> None:
    def imaginary(x):
        x = x * 1.0
        x.imag = 3.0
        return x

    def number(x):
        z = x[0] * (1 + 2j)
        z.real = 3.0
        return z.real

    for f, kind in ((imaginary, TypeError), (number, AttributeError)):
        with pytest.raises(kind):
            f(X)
        for wrapped in (wg.jacrev(f), wg.jacfwd(f), wg.jit(f)):
            with pytest.raises(kind):
                wrapped(X)
