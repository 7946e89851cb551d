"""Complex numbers and arrays that a compiled function makes of real ones."""

import numpy as np
import pytest

import wengert as wg

PROGRAMS = {
    "abs of a number": lambda x: abs(complex(x[0], 0.5)) * x[1],
    "abs of an element": lambda x: abs(x[0] + 0.5j) + x[1] ** 2,
    "abs of an array": lambda x: np.sum(abs(x * (1 + 2j) + 0.3)),
    "np.abs of an array": lambda x: np.sum(np.abs(np.exp(1j * x) + x)),
    "abs of a real number": lambda x: abs(x[0]) * abs(-x[1]),
    "parts": lambda x: (complex(x[0], x[1]) ** 3).real * (x[0] * 1j + 2).imag,
    "conjugate": lambda x: (complex(x[0], x[1]) * complex(x[1], 2.0).conjugate()).imag,
}
X = np.array([0.9, -0.4])
PLACES = {
    "outside": lambda operator, f: wg.jit(operator(f)),
    "inside": lambda operator, f: operator(wg.jit(f)),
    "both": lambda operator, f: wg.jit(operator(wg.jit(f))),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=list(PROGRAMS))
def test_first_and_second_derivatives(f, place):
    put, v = PLACES[place], np.array([0.3, 1.1])
    np.testing.assert_allclose(wg.jit(f)(X), f(X), rtol=1e-14)
    gradient = wg.numerical.grad(f, method="richardson")(X)
    np.testing.assert_allclose(put(wg.grad, f)(X), gradient, rtol=1e-7)
    np.testing.assert_allclose(put(wg.jacfwd, f)(X), gradient, rtol=1e-7)
    hessian = wg.numerical.jacobian(wg.grad(f), method="richardson")(X)
    np.testing.assert_allclose(put(wg.hessian, f)(X), hessian, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(put(wg.hvp, f)(X, v), hessian @ v, rtol=1e-6, atol=1e-8)
