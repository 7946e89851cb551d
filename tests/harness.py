"""What every differentiable function must satisfy, checked on one example.

`check(f, *args)` takes a plain NumPy function of float64 arrays (with one result, or a tuple of results) and demands:

    value       f of traced values is f of the values
    forward     the directional derivative agrees with an independent reference (see `reference`)
    reverse     <J v, r> = <v, Jᵀ r> for random v and r
    linearised  pushing through the recorded linear program gives the same J v
    batched     many tangents, or cotangents, at once give what they give one by one
    second      vᵀ (∂² <r, f>) v by all four nestings of forward and reverse, and by an independent reference
    float32     the same in single precision stays in single precision
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.api import numerical
from wengert.capture.hooks import instrument
from wengert.modes import batch, dual, tape

OLD_NUMPY = np.lib.NumpyVersion(np.__version__) < "2.4.0"
"""Whether NumPy may lack a function or an option that the tests use."""


def by_numpy_alone(f: Callable, *args: Any) -> Any:
    """f of plain arrays. What an older NumPy cannot do is skipped: there is nothing to agree with."""
    try:
        return f(*args)
    except (AttributeError, TypeError, ValueError) as error:
        if OLD_NUMPY:
            pytest.skip(f"NumPy {np.__version__}: {error}")
        raise


def inner(a: Any, b: Any) -> Any:
    return sum(np.sum(x * y) for x, y in zip(a, b, strict=True))


def as_list(y: Any) -> list:
    return list(y) if isinstance(y, (tuple, list)) else [y]


def random_like(x: Any, rng: np.random.Generator) -> Any:
    return np.asarray(rng.normal(size=np.shape(x)), dtype=np.result_type(x))[()]


def check(
    f: Callable,
    *args: Any,
    reference: str | Callable = "richardson",
    second: bool = True,
    single: bool = True,
    rtol: float = 1e-7,
    seed: int = 0,
) -> None:
    """Check everything about `f` at `args`.

    `reference` is "complex-step" (exact to rounding, for analytic functions made of ufuncs that take complex numbers),
    "richardson" (extrapolated differences, accurate to about 1e-9), or a function `(args, tangents) -> y_dot` in
    closed form. `rtol` is for the comparison with the reference only; identities must hold to rounding.
    """
    rng = np.random.default_rng(seed)
    args = tuple(np.asarray(a, dtype=float)[()] for a in args)

    def flat(*xs: Any) -> list:
        return as_list(f(*xs))

    plain = by_numpy_alone(flat, *args)
    vs = [random_like(a, rng) for a in args]
    values, dots = dual.push(flat, args, vs)
    dots = [np.zeros_like(y) if d is None else d for y, d in zip(values, dots, strict=True)]
    for y, value, dot in zip(plain, values, dots, strict=True):
        np.testing.assert_allclose(value, y, rtol=1e-13, atol=1e-13, err_msg="value")
        assert np.shape(dot) == np.shape(y), f"tangent of shape {np.shape(dot)} for a value of shape {np.shape(y)}"
        assert np.result_type(dot) == np.result_type(y), "dtype of the tangent"

    expected = _reference(flat, args, vs, reference)
    for dot, e in zip(dots, expected, strict=True):
        scale = max(1.0, float(np.max(np.abs(e), initial=0.0)))
        np.testing.assert_allclose(dot, e, rtol=rtol, atol=rtol * scale, err_msg="forward against the reference")

    rs = [random_like(y, rng) for y in plain]
    tape_values, program = tape.record(flat, args)
    bars = _zeros_for_none(program.pull(rs), args)
    for bar, a in zip(bars, args, strict=True):
        assert np.shape(bar) == np.shape(a), f"cotangent of shape {np.shape(bar)} for {np.shape(a)}"
        assert np.result_type(bar) == np.result_type(a), "dtype of the cotangent"
    np.testing.assert_allclose(inner(bars, vs), inner(rs, dots), rtol=1e-10, atol=1e-10, err_msg="<Jᵀr, v> = <r, Jv>")
    for again, dot in zip(_zeros_for_none(program.push(vs), plain), dots, strict=True):
        np.testing.assert_allclose(again, dot, rtol=1e-10, atol=1e-11, err_msg="the linear program, forwards")

    _check_batched(flat, args, plain, program, rng)
    if second:
        _check_second(flat, args, vs, rs, max(rtol * 100, 1e-5))
    if single:
        _check_single(flat, args, vs, rs, dots, bars)


def _zeros_for_none(cts: list, like: Any) -> list:
    return [np.zeros_like(x) if ct is None else ct for ct, x in zip(cts, like, strict=True)]


def _reference(flat: Callable, args: tuple, vs: list, reference: str | Callable) -> list:
    if callable(reference):
        return as_list(reference(args, vs))
    if reference == "complex-step":
        h = 1e-150
        return [np.imag(y) / h for y in flat(*[a + 1j * h * v for a, v in zip(args, vs, strict=True)])]
    found = numerical.jvp(lambda *xs: tuple(flat(*xs)), args, tuple(vs), method="richardson")
    return list(found)


def _check_batched(flat: Callable, args: tuple, plain: list, program: Any, rng: np.random.Generator) -> None:
    k = 3
    many = batch.BatchTrace(k)
    tangents = [np.stack([random_like(a, rng) for _ in range(k)]) for a in args]
    _, dots = dual.push(flat, args, [many.wrap(t) for t in tangents])
    for which, y in enumerate(plain):
        got = many.unwrap(np.zeros_like(y) if dots[which] is None else dots[which])
        one_by_one = [dual.push(flat, args, [t[j] for t in tangents])[1][which] for j in range(k)]
        expected = np.stack(_zeros_for_none(one_by_one, [y] * k))
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11, err_msg="many tangents at once")
    cts = [np.stack([random_like(y, rng) for _ in range(k)]) for y in plain]
    bars = program.pull([many.wrap(ct) for ct in cts])
    singles = [_zeros_for_none(program.pull([ct[j] for ct in cts]), args) for j in range(k)]
    for which, a in enumerate(args):
        got = many.unwrap(np.zeros_like(a) if bars[which] is None else bars[which])
        expected = np.stack([single[which] for single in singles])
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11, err_msg="many cotangents at once")


def _check_second(flat: Callable, args: tuple, vs: list, rs: list, rtol: float) -> None:
    def scalar(*xs: Any) -> Any:
        return inner(rs, flat(*xs)) + 0 * sum(np.sum(x) for x in xs)

    def forward(g: Callable) -> Callable:
        return lambda *xs: wg.jvp(g, xs, tuple(vs))[1]

    def reverse(g: Callable) -> Callable:
        return lambda *xs: inner(wg.grad(g, argnums=tuple(range(len(xs))))(*xs), vs)

    results = {
        "forward on forward": forward(forward(scalar))(*args),
        "forward on reverse": forward(reverse(scalar))(*args),
        "reverse on forward": reverse(forward(scalar))(*args),
        "reverse on reverse": reverse(reverse(scalar))(*args),
    }
    first = results["forward on forward"]
    scale = max(1.0, float(np.abs(first)))
    for name, result in results.items():
        np.testing.assert_allclose(result, first, rtol=1e-9, atol=1e-9 * scale, err_msg=name)
    expected = numerical.jvp(forward(scalar), args, tuple(vs), method="richardson")
    np.testing.assert_allclose(first, expected, rtol=rtol, atol=rtol * scale, err_msg="second order, reference")


def _check_single(flat: Callable, args: tuple, vs: list, rs: list, dots: list, bars: list) -> None:
    def single(xs: Any) -> list:
        return [np.asarray(x, np.float32)[()] for x in xs]

    values, single_dots = dual.push(flat, single(args), single(vs))
    _, program = tape.record(flat, single(args))
    for y, got, expected in zip(values, _zeros_for_none(single_dots, values), dots, strict=True):
        if np.result_type(y) == np.float32:
            assert np.result_type(got) == np.float32, "float32 must stay float32, forwards"
            scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
            np.testing.assert_allclose(got, expected, rtol=2e-3, atol=2e-3 * scale, err_msg="float32, forwards")
    cts = [np.asarray(r, np.result_type(y))[()] for r, y in zip(rs, values, strict=True)]
    bars32 = _zeros_for_none(program.pull(cts), single(args))
    for got, expected in zip(bars32, bars, strict=True):
        assert np.result_type(got) == np.float32, "float32 must stay float32, backwards"
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        np.testing.assert_allclose(got, expected, rtol=2e-3, atol=2e-3 * scale, err_msg="float32, backwards")


def agrees(
    f: Callable,
    *args: Any,
    compiled: bool = True,
    rtol: float = 1e-6,
    second: bool = False,
    value: float = 1e-10,
) -> None:
    """A function of a library's that does not dispatch: its own values, eagerly and compiled, and right derivatives."""
    args = tuple([a if isinstance(a, np.ndarray) else np.asarray(a, float)[()] for a in args])
    twin, expected = instrument(f), f(*args)
    close = {"rtol": value, "atol": 0.01 * value * np.nanmax(np.abs(expected), initial=1.0)}
    got, _ = wg.jvp(twin, args, tuple(np.zeros_like(a) for a in args))
    assert np.shape(got) == np.shape(expected)
    assert np.asarray(got).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(got, expected, **close)
    if compiled:
        np.testing.assert_allclose(wg.jit(f)(*args), expected, **close)
    if not np.any(np.isnan(expected)):
        check(lambda *xs: twin(*xs), *args, second=second, single=False, rtol=rtol)


def slope_by_differences(f: Callable, x: Any, h: float = 1e-5) -> Any:
    """Central differences of fourth order, of a function of one number or of each element alone."""
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def jacobian_by_differences(f: Callable, x: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """Central differences of a function of a vector."""
    return np.stack([(np.asarray(f(x + e)) - np.asarray(f(x - e))) / (2 * h) for e in np.eye(len(x)) * h], -1)


def has_derivatives_of_differences(
    f: Callable, x: np.ndarray, value: float = 1e-9, rtol: float = 1e-5, atol: float = 1e-7
) -> None:
    """A function of a vector has its own values, and in both modes the derivatives that differences give."""
    got, _ = wg.jvp(f, (x,), (x,))
    np.testing.assert_allclose(got, f(x), rtol=value, atol=1e-12)
    expected = jacobian_by_differences(f, x)
    np.testing.assert_allclose(wg.jacfwd(f)(x), expected, rtol=rtol, atol=atol)
    np.testing.assert_allclose(wg.jacrev(f)(x), expected, rtol=rtol, atol=atol)
