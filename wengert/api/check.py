"""`check_gradients`: a test for users' own functions and rules, against differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.api import numerical
from wengert.api.operators import operation
from wengert.api.products import jvp, vjp
from wengert.capture.hooks import resolve
from wengert.errors import WengertError
from wengert.types import dtype_of, is_inexact

MODES = ("forward", "reverse")


class GradientCheckError(WengertError, AssertionError):
    """A derivative that disagrees with differences."""

    page = "checks"


@operation
def check_gradients(
    f: Callable,
    *args: Any,
    modes: Sequence[str] = MODES,
    order: int = 2,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> None:
    """Check the derivatives of a function at a point against extrapolated differences.

    Each floating-point leaf of the arguments is checked along a random direction, each mode against the differences;
    up to `order`, the derivatives found are checked again in the same way, so that every nesting of the modes is.

    Args:
        f: the function; its result may be any container of arrays.
        args: the point. Arguments that are not floating-point are held.
        modes: which of "forward" and "reverse".
        order: up to which order of differentiation.
        rtol, atol: how close the derivatives must be; by default what differences can tell in this precision.
        seed: of the random directions.

    Raises:
        GradientCheckError: an AssertionError that names the mode, the leaf and the numbers.

    >>> import numpy as np
    >>> check_gradients(lambda x: np.sin(x) * x[0], np.array([1.0, 2.0]))
    """
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown or not modes:
        raise ValueError(f"modes are among {MODES}, not {tuple(modes)}")
    f = resolve(f)
    leaves, structure = tree.flatten(args)
    names = [f"args{path}" for path in tree.paths(args)]
    places = [k for k, leaf in enumerate(leaves) if is_inexact(dtype_of(leaf))]

    def of_leaves(*chosen: Any) -> tuple:
        filled = list(leaves)
        for k, x in zip(places, chosen, strict=True):
            filled[k] = x
        return tuple(tree.leaves(f(*tree.unflatten(structure, filled))))

    rng = np.random.default_rng(seed)
    point = tuple(leaves[k] for k in places)
    _check(of_leaves, point, [names[k] for k in places], tuple(modes), order, rtol, atol, rng, "")


def _check(
    f: Callable, xs: tuple, names: list[str], modes: tuple, order: int, rtol: Any, atol: Any, rng: Any, of: str
) -> None:
    single = any(dtype_of(x).itemsize == 4 for x in xs)
    rtol = rtol if rtol is not None else (1e-2 if single else 1e-5)
    atol = atol if atol is not None else rtol
    vs = tuple(_random_like(x, rng) for x in xs)
    ys, pullback = vjp(f, *xs)
    rs = tuple(_random_like(y, rng) for y in ys)
    bars = pullback(rs)
    for k, name in enumerate(names):
        only = tuple(v if j == k else np.zeros_like(v) for j, v in enumerate(vs))
        expected = numerical.jvp(f, xs, only, method="richardson")
        if "forward" in modes:
            for j, (got, e) in enumerate(zip(jvp(f, xs, only)[1], expected, strict=True)):
                _compare(got, e, rtol, atol, f"forward mode{of}: result {j} in the direction of {name}")
        if "reverse" in modes:
            got = np.sum(bars[k] * vs[k])
            e = np.sum([np.sum(r * d) for r, d in zip(rs, expected, strict=True)])
            _compare(got, e, rtol, atol, f"reverse mode{of}: along {name}")
    if order > 1:
        if "forward" in modes:
            _check(lambda *xs: jvp(f, xs, vs)[1], xs, names, modes, order - 1, rtol, atol, rng, f" of forward mode{of}")
        if "reverse" in modes:
            _check(
                lambda *xs: vjp(f, *xs)[1](rs), xs, names, modes, order - 1, rtol, atol, rng, f" of reverse mode{of}"
            )


def _random_like(x: Any, rng: Any) -> Any:
    return np.asarray(rng.normal(size=np.shape(x)), dtype_of(x))[()]


def _compare(got: Any, expected: Any, rtol: float, atol: float, what: str) -> None:
    scale = float(np.max(np.abs(expected), initial=0.0))
    if not np.allclose(got, expected, rtol=rtol, atol=atol * max(scale, 1.0), equal_nan=True):
        raise GradientCheckError(
            f"{what} is {np.array2string(np.asarray(got), threshold=6)}, "
            f"differences give {np.array2string(np.asarray(expected), threshold=6)}",
            remedy="check the rule (custom_jvp, custom_vjp) or whether the function is smooth at this point",
        )
