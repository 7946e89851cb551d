"""`jit(f, verify=True)`: the first call of every compiled program is compared with the function itself.

The function runs as plain Python on copies of the arguments, and then the compiled program on the arguments. Values,
dtypes, containers, what became of the arguments and of arrays outside, and exceptions must agree; otherwise
`VerificationError` has both. Where the call is differentiated from outside, as in `grad(jit(f))`, the derivative of the
program is compared with the eager one, by products with random vectors. `jit(grad(f))` is a function like any other.

A program that does something outside (prints, draws random numbers) would do it twice: a warning says that it was not
compared. The same goes for what is refused without `jit`, and for arrays on a device. What compiled code refuses is
raised as ever. Lists, dicts, attributes and variables that the function changes outside are put back after it ran as
plain Python.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from wengert import tree
from wengert.api.products import jvp, vjp
from wengert.box.box import plain
from wengert.capture.given import is_given_twice
from wengert.capture.instrument import instrument
from wengert.capture.program import Captured
from wengert.capture.reachable import noted
from wengert.capture.texts import TracedText
from wengert.errors import VerificationError, is_refusal
from wengert.ir.node import all_nodes
from wengert.modes.dual import Dual
from wengert.ops.library import is_foreign
from wengert.ops.op import Traced
from wengert.raised import class_named, name_of
from wengert.types import SCALARS, dtype_of, shape_of

_TOLERANCE = {"f": 1e-7, "c": 1e-7}
_ROUNDINGS = 64
"""By so many of the last digit results may differ that are small beside the arguments."""
_LESS = {np.dtype(np.float32): 1e-3, np.dtype(np.complex64): 1e-3, np.dtype(np.float16): 1e-2}


def verified(
    f: Callable, name: str, found: Captured, compiled: Callable, again: Callable, args: tuple, kwargs: dict,
    leaves: Sequence[Any],
) -> Any:  # fmt: skip
    """What `compiled()` gives, after a comparison with `f(*args, **kwargs)`. `leaves` are the arguments' arrays, and
    `again` is the compiled function without this comparison."""
    kind = _kind(leaves)
    if kind is None or kind in found.verified:
        return compiled()
    found.verified.add(kind)
    if any(node.op.name == "act" for node in all_nodes(found.block)):
        _say_unverified(name, "it does something outside, and would do it twice")
        return compiled()
    if any(is_foreign(plain(x)) for x in leaves):
        _say_unverified(name, "its arguments are arrays on a device, or of another library")
        return compiled()
    if found.later is not None:
        _say_unverified(name, "its first call leaves something outside that later ones find")
        return compiled()
    if found.left and is_given_twice((args, kwargs), found.containers_outside):
        return compiled()  # which runs as plain Python
    if kind != "value":
        _compare_derivatives(f, name, again, args, kwargs, kind)
        return compiled()
    return _compare_values(f, name, found, compiled, args, kwargs, leaves)


def _say_unverified(name: str, reason: str) -> None:
    warnings.warn(f"{name} was not verified: {reason}", RuntimeWarning, stacklevel=4)


def _kind(leaves: Sequence[Any]) -> str | None:
    """What is to be compared: values, or derivatives in one of the two directions; `None` for batches and symbols."""
    kind = "value"
    for x in leaves:
        if isinstance(x, Traced):
            value = plain(x)
            if isinstance(value, Traced) or shape_of(value) != shape_of(x):
                return None
            kind = "forward" if isinstance(x, Dual) else "reverse"
    return kind


def _copied(thing: Any) -> Any:
    """Copies that lie in memory as the arrays do, and overlap where they do: views and copies depend on that."""
    leaves, structure = tree.flatten(thing)
    arrays = [x for x in leaves if x.__class__ is np.ndarray and x.size and not x.dtype.hasobject]
    spans = sorted({byte_bounds(x) for x in arrays})
    buffers: list[tuple[int, int, np.ndarray]] = []
    while spans:
        low, high = spans.pop(0)
        while spans and spans[0][0] < high:
            high = max(high, spans.pop(0)[1])
        buffers.append((low, high, np.empty(high - low, np.uint8)))

    def copy(x: Any) -> Any:
        if not any(x is y for y in arrays):
            return x.copy() if isinstance(x, np.ndarray) else x
        first = x.__array_interface__["data"][0]
        low, buffer = next((low, buffer) for low, high, buffer in buffers if low <= first < high)
        y: np.ndarray = np.ndarray(x.shape, x.dtype, buffer, first - low, x.strides)
        y[...] = x
        y.flags.writeable = x.flags.writeable
        return y

    return tree.unflatten(structure, [copy(x) for x in leaves])


def _outcome(function: Callable, /, *args: Any, **kwargs: Any) -> tuple[Any, Exception | None]:
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def _compare_values(
    f: Callable, name: str, found: Captured, compiled: Callable, args: tuple, kwargs: dict, leaves: Sequence[Any]
) -> Any:
    copied_args, copied_kwargs = _copied(args), _copied(kwargs)
    outside = [x for x in (path() for path in found.inputs) if isinstance(x, np.ndarray)]
    before = [x.copy() for x in outside]
    changes = noted(f, (copied_args, copied_kwargs))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want, wanted_error = _outcome(f, *copied_args, **copied_kwargs)
    after = [x.copy() for x in outside]
    want, copied_args, copied_kwargs = _copied(want), _copied(copied_args), _copied(copied_kwargs)
    for x, old in zip(outside, before, strict=True):
        with contextlib.suppress(ValueError):  # cannot be written to: then nothing was
            x[...] = old
    for change in changes:
        change.undo()
    got, error = _outcome(compiled)
    if _cannot_be_compared(name, wanted_error, error):
        return got
    if error is not None or wanted_error is not None:
        if not _are_alike(error, wanted_error):
            raise _different(name, "", _said(want, wanted_error), _said(got, error)) from error
        raise error or AssertionError
    size = _size([x for x in leaves if not isinstance(x, Traced)])
    _compare(name, "the result", want, got, size)
    _compare(name, "what became of the arguments", (copied_args, copied_kwargs), (args, kwargs), size)
    for x, y in zip(after, outside, strict=True):
        _compare(name, "what became of an array outside", x, y, size)
    return got


def _cannot_be_compared(name: str, wanted: Exception | None, error: Exception | None) -> bool:
    """Whether there is nothing to compare, since one of the two is refused; if it is the compiled function, raises."""
    if error is not None and is_refusal(error):
        raise error
    if wanted is None or not is_refusal(wanted):
        return False
    _say_unverified(name, f"without jit it is refused ({str(wanted).partition(chr(10))[0]})")
    if error is not None:
        raise error
    return True


def _are_alike(error: Exception | None, wanted: Exception | None) -> bool:
    """Whether exceptions are of one class; one of a class that cannot be found by its name is raised as its base."""
    if error is None or wanted is None:
        return error is wanted
    return error.__class__ in (wanted.__class__, class_named(name_of(wanted.__class__)))


def _said(value: Any, error: Exception | None) -> str:
    return f"{type(error).__name__}: {error}" if error is not None else repr(value)


def _compare(name: str, what: str, want: Any, got: Any, size: float = 0.0) -> None:
    """`size` is that of the numbers that the results are made of: what cancels is no more exact than they are."""
    wanted, structure = tree.flatten(want)
    given, other = tree.flatten(got)
    if structure != other:
        raise _different(name, what, want, got)
    for a, b in zip(wanted, given, strict=True):
        if not _agree(a, b, size):
            raise _different(name, what, a, b)


def _agree(a: Any, b: Any, size: float) -> bool:
    """Whether two leaves are the same up to rounding. A Python number may have become NumPy's scalar of its kind, and
    an integer of Python's a float, as in `0 if done else x` (docs/python-and-jit.md)."""
    numbers = (np.ndarray, np.generic)
    if not (isinstance(a, numbers) or a.__class__ in SCALARS) or not (isinstance(b, numbers) or b.__class__ in SCALARS):
        return a is b or a.__class__ is b.__class__
    if isinstance(a, np.ndarray) and a.__class__ is not np.ndarray and not isinstance(b, np.ndarray):
        a = a.view(np.ndarray)[()]  # of a class of the user's, whose arrays come back as plain ones
    if a.__class__ is int and not shape_of(b) and dtype_of(b).kind == "f":
        a = float(a)
    if (
        shape_of(a) != shape_of(b)
        or dtype_of(a) != dtype_of(b)
        or isinstance(a, np.ndarray) != isinstance(b, np.ndarray)
    ):
        return False
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype.kind not in "fc":
        return bool(np.array_equal(x, y))
    tolerance = _LESS.get(x.dtype, _TOLERANCE[x.dtype.kind])
    finite = np.abs(x[np.isfinite(x)])
    within = max(tolerance * float(finite.max(initial=0.0)), _ROUNDINGS * float(np.finfo(x.dtype).eps) * size)
    return bool(np.allclose(y, x, rtol=tolerance, atol=within, equal_nan=True))


def _size(leaves: Sequence[Any]) -> float:
    """The largest of some numbers."""
    found = [np.abs(x).max(initial=0.0) for x in map(np.asarray, leaves) if x.dtype.kind in "fc"]
    return float(max([size for size in found if np.isfinite(size)], default=0.0))


def _different(name: str, what: str, want: Any, got: Any) -> VerificationError:
    return VerificationError(
        f"the compiled function {name} does not do what the function does"
        + (f": {what} is different" if what else "")
        + f"\n  plain Python: {_shown(want)}\n  compiled: {_shown(got)}",
        remedy="this is a fault of wengert, unless the function depends on something that changes between two calls; "
        "please report it; without jit the function is right",
        expected=want,
        got=got,
    )


def _shown(x: Any) -> str:
    text = x if isinstance(x, str) else repr(x)
    if isinstance(x, np.ndarray):
        text += f" of type {x.dtype}"
    return text if len(text) < 600 else text[:600] + "…"


def _compare_derivatives(f: Callable, name: str, compiled: Callable, args: tuple, kwargs: dict, kind: str) -> None:
    """Compare derivatives in the leaves that are traced, at the values that they have."""
    leaves, structure = tree.flatten((args, kwargs))
    places = [k for k, x in enumerate(leaves) if isinstance(x, Traced)]
    at = [np.copy(plain(leaves[k])) if shape_of(leaves[k]) else plain(leaves[k]) for k in places]

    def restricted(function: Callable) -> Callable:
        def of_leaves(*xs: Any) -> list[Any]:
            filled = [x.copy() if isinstance(x, np.ndarray) else x for x in leaves]
            for k, x in zip(places, xs, strict=True):
                filled[k] = x
            a, kw = tree.unflatten(structure, filled)
            results, _ = tree.flatten_until(function(*a, **kw), lambda y: isinstance(y, TracedText))
            return [y for y in results if not isinstance(y, str) and dtype_of(y).kind in "fc"]

        return of_leaves

    def derivative(function: Callable) -> Any:
        if kind == "forward":
            dots = [_random(np.random.default_rng(k), x) for k, x in enumerate(at)]
            return jvp(restricted(function), at, dots)
        y, pullback = vjp(restricted(function), *at)
        return y, pullback([_random(np.random.default_rng(k), v) for k, v in enumerate(y)])

    changes = noted(f, (args, kwargs))
    want, wanted_error = _outcome(derivative, instrument(f))
    for change in changes:
        change.undo()
    got, error = _outcome(derivative, compiled)
    for change in changes:
        change.undo()
    if _cannot_be_compared(name, wanted_error, error):
        return
    if error is not None or wanted_error is not None:
        if not _are_alike(error, wanted_error):
            raise _different(name, "its derivative", _said(want, wanted_error), _said(got, error)) from error
        return
    _compare(name, "its derivative", want, got, _size(at))


def _random(rng: np.random.Generator, like: Any) -> Any:
    shape, dtype = shape_of(like), dtype_of(like)
    v = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype.kind == "c" else 0)
    return np.asarray(v).astype(dtype) if shape else dtype.type(v)
