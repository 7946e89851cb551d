"""Functions of NumPy and SciPy whose first arguments are given by the names that they have there."""

import numpy as np
import pytest
from scipy import ndimage

import wengert as wg

X = np.array([1.0, 2.0, 3.0])


def written(function, **options):
    def f(x):
        a = np.zeros(3)
        function(a, x, **options)
        return np.sum(a * X)

    return f


FUNCTIONS = {
    "stack": lambda x: np.sum(np.stack(arrays=[x, x**2])),
    "vstack": lambda x: np.sum(np.vstack(tup=(x, x**2))),
    "column_stack": lambda x: np.sum(np.column_stack(tup=(x, x**2))),
    "array": lambda x: np.sum(np.array(object=[x[0], x[1] ** 2])),
    "asarray": lambda x: np.sum(np.asarray(a=[x[0], x[1] ** 2])),
    "select": lambda x: np.sum(np.select(condlist=[x > 1.5], choicelist=[x**2])),
    "roots": lambda x: np.sum(np.roots(p=np.array([1.0, -x[2], x[0]])).real),
    "round": lambda x: round(number=x[0]) * x[1],
    "copyto": written(lambda a, x: np.copyto(dst=a, src=x)),
    "place": written(lambda a, x: np.place(arr=a, mask=np.array([True, False, True]), vals=[x[0], x[1]])),
    "put_along_axis": written(
        lambda a, x: np.put_along_axis(arr=a, indices=np.array([0, 2]), values=x[:2] ** 2, axis=0)
    ),
    "fill_diagonal": lambda x: np.sum(filled(x)),
    "fourier_gaussian": lambda x: np.sum(np.real(ndimage.fourier_gaussian(x, sigma=1.0))),
    "generic_laplace": lambda x: np.sum(ndimage.generic_laplace(x, derivative2=ndimage.sobel) * X),
}


def filled(x):
    a = np.ones((3, 3))
    np.fill_diagonal(a=a, val=x**2)
    return a


@pytest.mark.parametrize("name", FUNCTIONS)
def test_value_and_derivative(name):
    f = FUNCTIONS[name]
    h = 1e-6
    slopes = [(f(X + h * step) - f(X - h * step)) / (2 * h) for step in np.eye(3)]
    for value, g in (wg.value_and_grad(f)(X), wg.jit(wg.value_and_grad(f))(X)):
        np.testing.assert_allclose(value, f(X), rtol=1e-12)
        np.testing.assert_allclose(g, slopes, rtol=1e-7, atol=1e-8)
