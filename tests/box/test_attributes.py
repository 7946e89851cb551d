"""The attributes of traced arrays: NumPy's, and no others that a library could take for its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from everywhere import check_everywhere

import wengert as wg
from wengert.box.box import Box
from wengert.modes.batch import Batch
from wengert.modes.dual import Dual
from wengert.modes.tape import Tape


@pytest.mark.parametrize("kind", [Box, Tape, Dual, Batch])
def test_public_attributes_are_those_of_numpy(kind: type) -> None:
    """`is_integer` is one of NumPy's numbers, for which a traced value may stand; of arrays it is an AttributeError."""
    public = {name for name in dir(kind) if not name.startswith("_")}
    assert public <= {*dir(np.ndarray), "is_integer"} - {"value", "state", "units"}


class Quantity:
    """As packages of units do it: what has a value is asked for it."""

    def __init__(self, a: Any):
        self.held = getattr(a, "value", a)


@pytest.mark.parametrize("how", [lambda f: f, wg.jit])
def test_an_object_that_asks_for_a_value_keeps_the_derivative(how: Any) -> None:
    assert how(wg.grad(lambda k: Quantity(k * 3.0).held))(2.0) == 3.0
    assert wg.jvp(lambda k: Quantity(k * 3.0).held, (2.0,), (1.0,))[1] == 3.0


X = np.array([0.5, -1.5, 2.0, 0.25, 1.0, -0.75])


def reshaped(x):
    y = x * 2
    y.shape = (3, 2)
    y[1, 0] = x[0] ** 2
    y.shape = (2, -1)
    return y[:, 1] * y[0, 2]


def reshaped_with_views(x):
    y = x * 2
    first, stale = y[:3], y[2:4]
    y[2] = 1.0
    y.shape = (2, 3)
    first[1] = x[0] * x[1]
    y[1, 0] = 7.0 * x[2]
    stale[0] += 1.0
    return y * 2 + np.sum(first) + np.sum(stale**2)


def reshaped_view(x):
    y = x * 2
    v = y[1:5]
    v.shape = (2, 2)
    v[1, 0] = 9.0
    y[1] = x[0] ** 2
    return np.sum(y**2) + np.sum(v[0] * v[1])


def reshaped_cell(x):
    y = np.zeros(6)
    y.shape = 3, 2
    y[:, 0] = x[:3]
    y.shape = 6
    return y * x


def flat_reads_and_writes(x):
    y = x.reshape(2, 3) * 2
    y.flat[1] = 5.0
    y.flat[4] = x[0] ** 2
    y.flat[[0, 2]] = x[1], x[2]
    copied = y.flat[1:3]
    copied[0] = 100.0
    return y.flat[1] * y.flat[-1] + np.sum(y**2) + np.sum(y.flat[::2]) + len(y.flat)


def flat_repeats(x):
    y = x.reshape(3, 2) * 2
    y.flat[1:5] = [x[0], 3.0]
    y.T.flat[1] = x[5]
    return np.sum(y * np.arange(6.0).reshape(3, 2))


def flat_assigned(x):
    y = x.reshape(3, 2) * x[0]
    y.flat = x * x
    z = y * 1.0
    z.flat = 2.0
    return np.sum(y * z * x[0])


def flat_iterated(x):
    y = x.reshape(2, 3) ** 2
    total = 0.0
    for v in y.flat:
        total = total * 0.5 + v
    for k, v in enumerate(y.T.flat):
        total = total + k * v
    return total + np.sum(y.flat) + np.dot(y.flat, x) + np.sin(y.flat)[2]


def filled(x):
    y = x * 2
    y[1:3].fill(x[0])
    y.put([0, 4], [x[1] ** 2, 3.0])
    return np.sum(y**2)


def sorted_in_place(x):
    y = x * 2
    y.sort()
    z = x.reshape(2, 3) * 3
    z.sort(axis=0)
    w = x * x
    w.partition(2)
    return np.sum(y * np.arange(6.0)) + np.sum(z * z[0]) + w[2]


def transposed(x):
    y = x.reshape(2, 3) * 2
    y.T[2, 0] = x[0] ** 2
    y.swapaxes(0, 1)[0] = x[1]
    y.squeeze()[1] = 4.0 * x[:3]
    return np.sum(y**2)


def viewed(x):
    y = x * 2
    v = y.view()
    v[0] = x[1] ** 2
    v.shape = (3, 2)
    v[2] = 1.0
    w = y.view(np.float64)
    w[3] *= x[3]
    return np.sum(y**2)


def asked(x):
    y = x.reshape(2, 3) * 2
    sizes = y.nbytes + y.itemsize + y.strides[0] + y.T.strides[0] + y.ndim + y.size
    kinds = [y.flags.c_contiguous, y.T.flags.f_contiguous, y.T.flags["C_CONTIGUOUS"], y.flags.writeable]
    bases = (y.base is None) + 2 * (y[0].base is y) + 4 * y.flags.owndata + 8 * y[1:].flags.owndata
    return np.sum(y) * sizes + sum(2.0**k * bool(found) for k, found in enumerate(kinds)) + bases


def read_only(x):
    y = x * 2
    above = y[1:]
    y.setflags(write=False)
    above[0] = x[1] ** 3  # a view made before
    asked = 1.0 + y.flags.writeable + 2 * y[1:].flags["W"] + 4 * above.flags.writeable
    z = np.zeros(3)
    z[0] = x[0] ** 2
    z.flags.writeable = False
    for name in (y, y[2:], y.reshape(2, 3), z):
        try:
            name[0] = 1.0
        except ValueError:
            asked += 10.0
    z.flags.writeable = True
    z += x[3:]
    return asked * np.sum(y**2) + np.sum(z)


@pytest.mark.parametrize(
    "f",
    [read_only, reshaped, reshaped_with_views, reshaped_view, reshaped_cell, flat_reads_and_writes, flat_repeats,
     flat_assigned, flat_iterated, filled, sorted_in_place, transposed, viewed, asked],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_programs(f: Any) -> None:
    check_everywhere(f, X)


def test_the_shape_of_an_array_from_elsewhere() -> None:
    def f(x):
        x.shape = (3, 2)
        return x[0]

    np.testing.assert_array_equal(wg.jacfwd(f)(np.arange(6.0)), np.eye(6)[:2])
    with pytest.raises(wg.errors.WengertError, match=r"y = x\.reshape"):
        wg.jit(f)(np.arange(6.0))


def _incompatible(x):
    y = x.reshape(2, 3)[:, 1:] * 1.0
    y.T.shape = (4,)
    return y


def _wrong_size(x):
    y = x * 1.0
    y.shape = (4, 2)
    return y


@pytest.mark.parametrize(("f", "kind"), [(_incompatible, AttributeError), (_wrong_size, ValueError)])
@pytest.mark.parametrize("how", [lambda f: f, wg.jacrev, wg.jacfwd, wg.jit])
def test_shapes_that_numpy_refuses(f: Any, kind: Any, how: Any) -> None:
    with pytest.raises(kind):
        how(f)(np.arange(6.0))


def test_an_array_from_elsewhere_is_not_made_read_only():
    for f in (lambda x: (x.setflags(write=False), x[0])[1], frozen_in_a_branch):
        with pytest.raises(wg.errors.InPlaceError, match=r"x = x\.copy"):
            wg.jit(f)(np.arange(3.0))


def frozen_in_a_branch(x):
    y = x * 2
    if x[0] > 1:
        y.flags.writeable = False
    y[0] = 1.0
    return np.sum(y)


REFUSED = {
    "dtype =": lambda x: setattr(x, "dtype", np.float32),
    "resize": lambda x: x.resize(3),
    "view": lambda x: x.view(np.int64),
    "setflags": lambda x: x.setflags(align=False),
    "flags": lambda x: setattr(x.flags, "aligned", False),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("how", [wg.grad, wg.jit, lambda f: lambda x: wg.jvp(f, (x,), (x,))])
def test_what_is_refused_is_named(name: str, how: Any) -> None:
    def f(x):
        y = x * 2
        REFUSED[name](y)
        return np.sum(y)

    with pytest.raises(wg.errors.WengertError, match=name.split()[0]):
        how(f)(X)


def test_attributes_of_arrays_are_set_in_branches_and_loops():
    def shaped(A, t):
        s = 0.0
        if t > 0:
            u = A.copy()
            u.shape = (-1,)
            u[1] = t
            s = np.sum(u * np.arange(6))
        return s

    def parts(A, t):
        z = np.zeros(3, complex)
        for i in range(4):
            if t > 0.1 * i:
                z.real = A[0] * i
                z.imag[0] += t
            else:
                z.real[1] = 2.0
        return np.sum(np.abs(z))

    def of_a_part(A, t):
        u = A[0]
        if t > 0:
            u.shape = (3, 1)
        return np.sum(u)

    A = np.arange(6.0).reshape(2, 3)
    for f in (shaped, parts):
        for t in (0.25, -0.5):
            assert wg.jit(f)(A, t) == f(A, t)
            assert wg.jit(wg.grad(f, 1))(A, t) == wg.grad(f, 1)(A, t)
    with pytest.raises(wg.errors.InPlaceError, match="shape of a part"):
        wg.jit(of_a_part)(A, 0.25)


def test_what_only_bytes_can_give_is_refused_with_the_line():
    x = np.arange(3.0)
    for derivative in (wg.grad, lambda f: wg.jit(wg.grad(f)), wg.jit):
        for read in (lambda x: x[0] * len(x.tobytes()), lambda x: x[0] * x.view(np.int64)[1]):
            with pytest.raises(wg.errors.UnsupportedFunctionError, match=r"remedy[\s\S]*test_attributes"):
                derivative(read)(x)
    np.testing.assert_array_equal(wg.grad(lambda x: x[0] * (getattr(x, "tobytes", None) is None))(x), [1.0, 0.0, 0.0])
