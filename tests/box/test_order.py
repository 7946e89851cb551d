"""Whether `ravel` and `reshape` return views depends on how arrays lie in memory: as in NumPy, or refused."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

A = np.arange(6.0).reshape(2, 3) + 0.5
LAYOUTS = {"C": A, "F": np.asfortranarray(A), "strided": np.repeat(A, 2, axis=1)[:, ::2],
           "small part": np.concatenate([np.ravel(A), np.zeros(60)])[:6].reshape(2, 3)}  # fmt: skip


def first(y, v=100.0):
    y.ravel()[0] = v
    return y


def reshaped(x):
    y = x.T * 2
    y.reshape(-1)[1] = 7.0
    return y


def flattened(x):
    y = x.T * 2
    y.flatten()[0] = 5.0
    y.flat[1] = 6.0
    return y


def fortran(x):
    y = x.T * 2
    y.reshape(-1, order="F")[1] = 7.0
    y.ravel("F")[2] = 3.0
    return y


def parts(x):
    y = x * 2
    y[:, 1:].ravel()[0] = 9.0
    y[1:].ravel()[1] = 8.0
    return y


def nobody_else_holds_it(x):
    y = (np.stack([x.T, x.T]) * 1.0).reshape(-1)
    y[0] = 9.0
    return y


def in_a_loop(x):
    y = x.T * 1.0
    for i in range(30):
        y.ravel()[0] = float(i)
        y = y * 1.01
    return y


def alike(x):
    y = np.zeros_like(x.T)
    y.ravel()[0] = 1.0
    z = np.ones_like(x.T, order="C")
    z.ravel()[0] = x[0, 0]
    return y + z


def flags(x):
    kinds = [y.flags.c_contiguous for y in (x * 2, x.T * 2, x.T.copy(), np.asfortranarray(x * 2))]
    return x[0] * sum(2.0**k * bool(kind) for k, kind in enumerate(kinds))


PROGRAMS = {
    "transposed": lambda x: first(x.T * 2),
    "not transposed": lambda x: first(x * 2),
    "twice transposed": lambda x: first((x.T * 2).T),
    "with another order": lambda x: first(x.T + np.ones((3, 2))),
    "after another order": lambda x: first(np.ones((3, 2)) + x.T),
    "with the same order": lambda x: first(x.T * np.asfortranarray(np.ones((3, 2)))),
    "ufunc": lambda x: first(np.sin(x.T)),
    "where": lambda x: first(np.where(x.T > 1, x.T, 0.0)),
    "copy": lambda x: first(x.T.copy()),
    "copy F": lambda x: first(x.copy(order="F")),
    "copy K": lambda x: first(x.T.copy("K")),
    "np.copy": lambda x: first(np.copy(x.T)),
    "np.array": lambda x: first(np.array(x.T)),
    "np.array F": lambda x: first(np.array(x, order="F")),
    "astype": lambda x: first(x.T.astype(float)),
    "asfortranarray": lambda x: first(np.asfortranarray(x * 2)),
    "ascontiguousarray": lambda x: first(np.ascontiguousarray(x.T * 2)),
    "swapaxes": lambda x: first(np.swapaxes(x, 0, 1) * 2),
    "matmul": lambda x: first(x.T @ x),
    "outer": lambda x: first(np.outer(x[0], x[1])),
    "slice": lambda x: first(x[:, 1:] * 2),
    "reshape": reshaped,
    "flat and flatten": flattened,
    "fortran": fortran,
    "parts": parts,
    "nobody else holds it": nobody_else_holds_it,
    "loop": in_a_loop,
    "alike": alike,
    "flags": flags,
}
OTHERS = {
    "moveaxis": lambda x: first(np.moveaxis(np.stack([x, x]), 0, -1) * 2),
    "gathered columns": lambda x: first(x[:, [0, 2]]),
    "gathered rows": lambda x: first(x[[1, 0]]),
    "sum": lambda x: first(np.sum(np.stack([x, x * 2]), axis=0)),
    "stack": lambda x: first(np.stack([x.T, x.T])),
}
"""Whose order is not always known in compiled functions."""


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [*PROGRAMS, *OTHERS])
def test_eagerly(name: str, layout: str) -> None:
    f, x = {**PROGRAMS, **OTHERS}[name], LAYOUTS[layout]
    expected = f(x)
    np.testing.assert_array_equal(wg.jvp(f, (x,), (x,))[0], expected)
    np.testing.assert_array_equal(wg.vjp(f, x)[0], expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_compiled(layout: str) -> None:
    x = LAYOUTS[layout]
    for name, f in {**PROGRAMS, **OTHERS}.items():
        try:
            found = wg.jit(f)(x)
        except (wg.errors.InPlaceError, wg.errors.UnsupportedFunctionError) as error:
            assert layout == "strided" or name in OTHERS
            assert "copy" in str(error)  # noqa: PT017
        else:
            np.testing.assert_allclose(found, f(x), rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("name", ["transposed", "reshape", "matmul", "loop"])
def test_derivatives_compiled(name: str) -> None:
    f = PROGRAMS[name]
    for x in (LAYOUTS["C"], LAYOUTS["F"]):
        np.testing.assert_allclose(wg.jit(wg.jacrev(f))(x), wg.jacfwd(f)(x), rtol=1e-12)


def test_one_compiled_function_for_arrays_in_any_order() -> None:
    def f(x):
        x.reshape(-1)[0] = 5.0
        return x

    def g(x):
        y = x * 2
        y.ravel()[1] = 3.0
        return y

    for function in (f, g):
        compiled = wg.jit(function)
        for layout in ("C", "F", "C", "F", "F", "C"):
            x = LAYOUTS[layout]
            np.testing.assert_array_equal(compiled(x.copy(order="K")), function(x.copy(order="K")))


TABLE = np.asfortranarray(A)


def test_arrays_from_outside() -> None:
    def f(k):
        y = TABLE * k
        y.ravel()[1] = 3.0
        return y

    np.testing.assert_array_equal(wg.jit(f)(2.0), f(2.0))


def test_what_depends_on_an_order_that_is_not_known_is_refused() -> None:
    def f(x):
        y = np.stack([x.T, x.T])
        z = y.ravel()
        y[0, 0, 0] = 5.0
        return z

    with pytest.raises(wg.errors.InPlaceError, match="lies in memory"):
        wg.jit(f)(A)

    def reads_only(x):
        return np.sum(np.stack([x.T, x.T]).ravel() * np.arange(12.0))

    assert wg.jit(reads_only)(A) == reads_only(A)
