"""What a program in ordinary Python must satisfy: it may write to its arrays, branch and loop, and is still a function.

`check_program(f, *args)` takes a function of float64 arrays (with one result, or a tuple of results) and demands:

    value       f of traced values is f of the values, by plain NumPy
    forward     the Jacobian by forward mode agrees with an independent reference
    reverse     the Jacobian by reverse mode is the same, to rounding
    linearised  so is the recorded linear program, forwards and backwards
    second      H v of Σ w y² + r y by the three nestings agrees, and with differences of the gradient
    caller      the caller's arrays are as they were
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import as_list, random_like

import wengert as wg


def check_program(
    f: Callable,
    *args: Any,
    reference: str | Callable = "richardson",
    second: bool = True,
    rtol: float = 1e-7,
    seed: int = 0,
) -> None:
    """Check everything about `f` at `args`.

    `reference` is a method of `wg.numerical`, or a function that computes the same without writing: then its
    derivatives, by forward mode, are what those of f are compared with.
    """
    rng = np.random.default_rng(seed)
    args = tuple(np.array(a, dtype=float) if np.ndim(a) else float(a) for a in args)
    before = [np.copy(a) for a in args]
    every = tuple(range(len(args)))

    def flat(*xs: Any) -> tuple:
        return tuple(as_list(f(*xs)))

    def on_copies(*xs: Any) -> tuple:
        return tuple([np.asarray(y) for y in as_list(f(*[np.copy(x) if np.ndim(x) else x for x in xs]))])

    plain = on_copies(*args)
    vs = tuple(random_like(a, rng) for a in args)
    values, dots = wg.jvp(flat, args, vs)
    for y, value in zip(plain, values, strict=True):
        assert np.shape(value) == np.shape(y), "shape of the value"
        np.testing.assert_allclose(value, y, rtol=1e-13, atol=1e-13, err_msg="value")

    if callable(reference):
        for y, other in zip(plain, as_list(reference(*args)), strict=True):
            np.testing.assert_allclose(y, other, rtol=1e-9, atol=1e-9, err_msg="value of the reference")
        expected = wg.jacfwd(lambda *xs: tuple(as_list(reference(*xs))), argnums=every)(*args)
    else:
        expected = wg.numerical.jacobian(on_copies, argnums=every, method=reference)(*args)
    forward = wg.jacfwd(flat, argnums=every)(*args)
    reverse = wg.jacrev(flat, argnums=every)(*args)
    for k in range(len(plain)):
        for i in every:
            exact, e = np.asarray(forward[k][i]), np.asarray(expected[k][i])
            scale = max(1.0, float(np.max(np.abs(e), initial=0.0)))
            np.testing.assert_allclose(exact, e, rtol=rtol, atol=rtol * scale, err_msg="forward against the reference")
            np.testing.assert_allclose(reverse[k][i], exact, rtol=1e-10, atol=1e-11 * scale, err_msg="reverse")

    _check_linearised(flat, args, vs, plain, dots, rng)
    if second:
        _check_second(f, on_copies, args, vs, plain, rng, max(100 * rtol, 1e-5))
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b, err_msg="the caller's array was written to")


def _check_linearised(flat: Callable, args: tuple, vs: tuple, plain: tuple, dots: Any, rng: Any) -> None:
    _, jacobian = wg.linearize(flat, *args)
    for again, dot in zip(jacobian.push(*vs), dots, strict=True):
        np.testing.assert_allclose(again, dot, rtol=1e-10, atol=1e-11, err_msg="the linear program, forwards")
    rs = tuple(random_like(y, rng) for y in plain)
    for _ in range(2):  # a program that is kept is not used up
        pulled = sum(np.sum(bar * v) for bar, v in zip(jacobian.pull(rs), vs, strict=True))
        pushed = sum(np.sum(r * dot) for r, dot in zip(rs, dots, strict=True))
        np.testing.assert_allclose(pulled, pushed, rtol=1e-10, atol=1e-10, err_msg="<Jᵀr, v> = <r, Jv>")


def _check_second(
    f: Callable, on_copies: Callable, args: tuple, vs: tuple, plain: tuple, rng: Any, rtol: float
) -> None:
    ws, rs = ([random_like(y, rng) for y in plain] for _ in range(2))

    def scalar(xs: Any) -> Any:
        return sum(np.sum(w * y * y + r * y) for w, r, y in zip(ws, rs, as_list(f(*xs)), strict=True))

    modes = ("forward-reverse", "reverse-forward", "reverse-reverse")
    products = {mode: wg.hvp(scalar, mode=mode)(args, vs) for mode in modes}
    first = products["forward-reverse"]
    scale = max([1.0, *[float(np.max(np.abs(p), initial=0.0)) for p in first]])
    for mode, product in products.items():
        for got, e in zip(product, first, strict=True):
            np.testing.assert_allclose(got, e, rtol=1e-9, atol=1e-9 * scale, err_msg=mode)

    def gradient(*xs: Any) -> tuple:
        return tuple(wg.grad(scalar)(xs))

    expected = wg.numerical.jvp(gradient, args, vs, method="richardson")
    for got, e in zip(first, expected, strict=True):
        np.testing.assert_allclose(got, e, rtol=rtol, atol=rtol * scale, err_msg="second order, reference")
