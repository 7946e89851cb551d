"""Examples of a batch may be numbers of Python's own: they have Python's classes, count where they are truth values,
and take over the precision of arrays that they meet, whichever way a batch and `jit` are put together."""

import math

import numpy as np
import pytest

import wengert as wg

X = np.array([[0.3, -0.7, 1.2], [0.5, 0.9, 2.2]])


def sums_of_truth_values(x):
    z = float(x[1])
    return ((z > -1) + (z < 1) + (z < 5)) * x[0], True + (z > -1), sum(v > -1 for v in x.tolist())


def differences_of_truth_values(x):
    z = x[1].item()
    return ((z > -1) - (z < 5)) * x[0], -(z > -1), +(z > -1), (z > -1) * (z < 5) / 2, abs(z > -1) + abs(z < 5)


def masks_stay_masks(x):
    return np.sum((x[0] > -1) + (x[0] < 1)), (x > 0) & (x < 1), ~(x[0] > 5), ((x[0] > -1) | (x[1] > 5)) * x


def counts(x):
    n = 0
    for v in x.tolist():
        n += v > -1
    return n * x[0]


def integers(x):
    k = int(x[2])
    return 2.0 ** (-k) * x[0] + k / 2 + k // 2, x[0] * k**2 + (k + 1) ** -1.0 + 7 % k, isinstance(k, int) * x


def single_precision(x):
    z = float(x[0])
    return z * np.ones(2, np.float32), (z + 1) / np.float32(3), np.maximum(z, np.zeros(2, np.float32)) - z**2


def shortened(x):
    z = float(np.float32(x[0]))
    return z + x, np.float32(z) * np.float32(2)


PROGRAMS = [
    sums_of_truth_values, differences_of_truth_values, masks_stay_masks, counts, integers, single_precision, shortened,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_batch_computes_with_numbers_as_its_examples_do(f):
    leaves = [f(x) if isinstance(f(x), tuple) else (f(x),) for x in X]
    expected = [np.stack(parts) for parts in zip(*leaves, strict=True)]
    for mapped in (wg.vmap(f), wg.jit(wg.vmap(f)), wg.vmap(wg.jit(f))):
        found = mapped(X)
        for got, want in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6 if want.dtype == np.float32 else 1e-14)
            assert got.dtype == want.dtype


CLASSES = {
    "tolist": lambda x: type(x.tolist()[0]), "item": lambda x: type(x.item(0)), "float": lambda x: type(float(x[1])),
    "sum": lambda x: type(sum(x.tolist())), "comparison": lambda x: type(float(x[1]) > 0),
    "product": lambda x: type(float(x[1]) * 2), "power": lambda x: type(2 ** float(x[1])),
    "quotient": lambda x: type(1 / float(x[1])), "remainder": lambda x: type(divmod(float(x[1]), 2)[1]),
    "negative": lambda x: type(-float(x[1])), "magnitude": lambda x: type(abs(float(x[1]))),
    "with an element": lambda x: type(float(x[1]) * x[0]), "math": lambda x: type(math.sin(x[0])),
    "fsum": lambda x: type(math.fsum(x)), "of NumPy": lambda x: type(np.sin(float(x[1]))),
    "added by NumPy": lambda x: type(np.add(float(x[1]), 1)), "complex": lambda x: type(complex(x[0], x[1])),
    "conjugate": lambda x: type(complex(x[0]).conjugate()), "part": lambda x: type(complex(x[0]).imag),
    "int": lambda x: type(int(x[0])), "round": lambda x: type(round(x[0])), "floor": lambda x: type(math.floor(x[0])),
    "digits": lambda x: type(round(float(x[0]), 1)), "array's class": lambda x: x.__class__,
    "element's class": lambda x: x[0].__class__, "number's class": lambda x: float(x[1]).__class__,
    "class of a class": lambda x: float(x[1]).__class__.__class__,
    "minimum": lambda x: type(min(float(x[1]), 1.0)), "largest": lambda x: type(max(x)),
}  # fmt: skip
KINDS = [bool, int, float, complex, np.float64, np.int64, np.bool_, np.complex128, np.ndarray, type]


@pytest.mark.parametrize("name", CLASSES)
def test_traced_values_have_the_classes_of_what_they_stand_for(name):
    """The result says which class it was."""

    def f(x):
        return x * (1 + KINDS.index(kind(x)))

    kind = CLASSES[name]
    code = 1 + KINDS.index(kind(X[0]))
    np.testing.assert_array_equal(wg.jacfwd(f)(X[0]), code * np.eye(3))
    np.testing.assert_array_equal(wg.jacrev(f)(X[0]), code * np.eye(3))
    np.testing.assert_array_equal(wg.jit(f)(X[0]), code * X[0])
    for g in (wg.vmap(f), wg.jit(wg.vmap(f)), wg.vmap(wg.jit(f))):
        np.testing.assert_array_equal(g(X), code * X)
    np.testing.assert_array_equal(wg.vmap(wg.jacfwd(f))(X), [code * np.eye(3)] * 2)
