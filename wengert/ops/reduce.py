"""Rows for reductions and scans (`sum` stands with the structural ops, in `shape.py`).

A reduction that is not linear has one coefficient per element: y_dot = Σ c(y, x) · x_dot over the reduced axes, a
`weighted_sum`. A row states c. Ties in `max` and `min` share the derivative equally. `axis` is a tuple of non-negative
ints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from scipy.linalg import blas

from wengert.ops import axes, interval_sums, library
from wengert.ops.choice import choice
from wengert.ops.derive import General, align, general, linear, multilinear, unfit, zero
from wengert.ops.enclosures import ON_BOUNDS, composed, increasing_composed, ordered, stated
from wengert.ops.links import scan_links
from wengert.ops.op import call
from wengert.ops.rounding import Bounds, V
from wengert.ops.shape import concatenate, flip, for_all_examples, reshape, sum, transpose
from wengert.ops.traits import CHEAP, DEAR, LENGTHS, MORE, NEVER, Dtype
from wengert.types import dtype_of, shape_of


def _shift_axes(op_getter: Callable[[], Any]) -> Callable:
    """The batch rule of an op whose only axes are in `axis`: they move up by one. An operand that is the same for all
    examples is repeated, since axes are counted from the front, and its result is as the longest operand says."""

    def rule(args: Sequence[Any], mapped: Sequence[bool], params: dict) -> Any:
        full = for_all_examples(args, mapped)
        axis = tuple([a + 1 for a in params["axis"]])
        return op_getter()(*align(full, [True] * len(full)), **{**params, "axis": axis})

    return rule


def _kept(y: Any, shape: tuple[int, ...], axis: tuple[int, ...]) -> Any:
    """A result with its reduced axes back, of length one; as it is if it is one number."""
    return (
        y if len(axis) == len(shape) else reshape(y, shape=tuple([1 if k in axis else n for k, n in enumerate(shape)]))
    )


def _by_ufunc(ufunc: np.ufunc, function: Callable) -> Callable:
    """How to compute a reduction: without NumPy's detour through methods, which only other libraries' arrays need."""

    def impl(x: Any, axis: tuple[int, ...]) -> Any:
        return ufunc.reduce(x, axis=axis) if x.__class__ is np.ndarray else function(x, axis=axis)

    return impl


# ----------------------------------------------------------------------------------------------------- weighted sums


def _weighted_sum(c: Any, x: Any, axis: tuple[int, ...]) -> Any:
    if c.__class__ is x.__class__ is np.ndarray and len(axis) == c.ndim == x.ndim == 1:
        return c.dot(x)
    return np.sum(c * x, axis=axis)


def _weighted_sum_transpose(i: int, ct: Any, c: Any, x: Any, axis: tuple[int, ...]) -> Any:
    own, other = (c, x) if i == 0 else (x, c)
    return unfit(_kept(ct, own.shape, axis) * other, own.shape, own.dtype)


weighted_sum = multilinear(
    "weighted_sum",
    _weighted_sum,
    _weighted_sum_transpose,
    batch=_shift_axes(lambda: weighted_sum),
    shape=lambda c, x, axis: tuple([n for k, n in enumerate(x.shape) if k not in axis]),
    raises=NEVER,
    cost=CHEAP,
    combine="add",
    axes=axes.reduced,
    bounds=interval_sums.WEIGHTED_SUM,
)
"""Σ c · x over `axis`, of arrays of one shape: the derivative of every reduction."""


def reduction(name: str, impl: Callable, coefficient: Callable, **stated: Any) -> General:
    """A row for a reduction over `axis`; `coefficient(y, x, axis)`, with a y that broadcasts against x."""

    def rule(x_dot: Any, y: Any, x: Any, axis: tuple[int, ...]) -> Any:
        return call(weighted_sum, coefficient(_kept(y, shape_of(x), axis), x, axis), x_dot, axis=axis)

    op = general(name, impl, (rule,), batch=_shift_axes(lambda: op), shape=_reduced_shape, axes=axes.reduced, **stated)
    return op


def _reduced_shape(x: Any, axis: tuple[int, ...]) -> tuple:
    return tuple([n for k, n in enumerate(x.shape) if k not in axis])


# ---------------------------------------------------------------------------------------------------------- extremes


def _shares(y: Any, x: Any, axis: tuple[int, ...], least: int = 0) -> Any:
    chosen = np.equal(x, y)
    if choice.ties != "share":
        chosen = _only_one(chosen, axis, choice.ties)
    chosen = chosen.astype(dtype_of(x))
    count = sum.impl(chosen, axis=axis, keepdims=True)
    return chosen / (np.maximum(count, least) if least else count)


def _only_one(chosen: Any, axis: tuple[int, ...], which: str) -> Any:
    """Of the elements that are chosen together along `axis`, in C order, the first or the last."""
    order = [*[k for k in range(chosen.ndim) if k not in axis], *sorted(axis)]
    moved = np.transpose(chosen, order)
    lanes = moved.reshape((*moved.shape[: chosen.ndim - len(axis)], -1))
    if which == "last":
        lanes = lanes[..., ::-1]
    lanes = np.logical_and(lanes, np.cumsum(lanes, axis=-1) == 1)
    if which == "last":
        lanes = lanes[..., ::-1]
    return np.transpose(lanes.reshape(moved.shape), np.argsort(order))


shares = zero(
    "shares",
    _shares,
    batch=_shift_axes(lambda: shares),
    raises=NEVER,
    cost=CHEAP,
    pure=False,
    axes=axes.kept,
    bounds=stated(interval_sums.shares, breaks=interval_sums.shares_jump),
)
"""One over the number of elements that are equal to y, for these, and zero for the others.

Where there are none it is 0/0: NaN. With `least=1` it is zero.
"""


def _extreme(name: str, ufunc: np.ufunc, function: Callable, **least: int) -> General:
    return reduction(
        name,
        _by_ufunc(ufunc, function),
        lambda y, x, axis: shares(y, x, axis=axis, **least),
        raises=LENGTHS,
        cost=CHEAP,
        combine=ufunc.__name__,
        bounds=ON_BOUNDS,
    )


max = _extreme("max", np.maximum, np.max)
min = _extreme("min", np.minimum, np.min)
nanmax = _extreme("nanmax", np.fmax, np.nanmax, least=1)
nanmin = _extreme("nanmin", np.fmin, np.nanmin, least=1)
"""NaN are left out. Where there is nothing else the value is NaN, and nobody has a share of it."""

# --------------------------------------------------------------------------------------------------------- logsumexp


def _exponentials(x: Any, axis: tuple[int, ...]) -> tuple[Any, Any]:
    """The largest element, and exp(x − largest), where equal infinities differ by zero."""
    if x.__class__ is np.ndarray:
        top = np.maximum.reduce(x, axis=axis, keepdims=True)
        if np.logical_and.reduce(np.isfinite(top), axis=None):
            return top, np.exp(x - top)
    top = np.max(x, axis=axis, keepdims=True)
    tied = np.equal(x, top)
    return top, np.exp(np.where(tied, 0, x) - np.where(tied, 0, top))


def _logsumexp(x: Any, axis: tuple[int, ...]) -> Any:
    top, weights = _exponentials(x, axis)
    return np.log(sum.impl(weights, axis=axis)) + sum.impl(top, axis=axis)  # of one element each: the axes go


def _softmax(x: Any, axis: tuple[int, ...]) -> Any:
    _, weights = _exponentials(x, axis)
    return weights / sum.impl(weights, axis=axis, keepdims=True)


logsumexp = reduction(
    "logsumexp",
    _logsumexp,
    lambda y, x, axis: softmax(x, axis=axis),
    raises=LENGTHS,
    cost=DEAR,
    bounds=increasing_composed(interval_sums.logsumexp),
)

softmax = general(
    "softmax",
    _softmax,
    (lambda x_dot, s, x, axis: s * (x_dot - sum(s * x_dot, axis=axis, keepdims=True)),),
    batch=_shift_axes(lambda: softmax),
    raises=LENGTHS,
    cost=DEAR,
    axes=axes.kept,
    bounds=composed(interval_sums.softmax),
)

# ------------------------------------------------------------------------------------------------------------- scans
#
# Scans run along axis `axis` (one int); the rows below are stated for all other axes at once.

cumsum = linear(
    "cumsum",
    lambda x, axis: np.cumsum(x, axis=axis),
    lambda ct, x, axis: flip(cumsum(flip(ct, axis=(axis,)), axis=axis), axis=(axis,)),
    batch=lambda args, mapped, params: cumsum(args[0], axis=params["axis"] + 1),
    shape=lambda x, axis: x.shape,
    raises=NEVER,
    cost=CHEAP,
    one_pass=True,
    adds=True,
    axes=axes.kept,
    links=scan_links,
    bounds=interval_sums.CUMSUM,
)


def _linear_recurrence(a: Any, b: Any) -> Any:
    """h₀ = b₀, hₖ = aₖ·hₖ₋₁ + bₖ, along the first axis."""
    if library.is_foreign(a) or library.is_foreign(b):
        return _recurrence_by_doubling(a, b)
    a, b = np.asarray(a), np.asarray(b)
    h = np.array(np.broadcast_to(b, np.broadcast_shapes(a.shape, b.shape)), dtype=np.result_type(a, b))
    n, lanes = h.shape[0], h.size // len(h) if len(h) else 0
    if h.dtype.char in "fd" and lanes < n:
        # Forward substitution with a bidiagonal matrix, natively. One triangular solve per lane.
        solve = blas.dtbsv if h.dtype.char == "d" else blas.stbsv
        a_lanes = np.broadcast_to(a, h.shape).reshape(n, lanes)
        h_lanes = h.reshape(n, lanes)
        band = np.zeros((2, n), h.dtype, order="F")
        for lane in range(lanes):
            band[1, :-1] = -a_lanes[1:, lane]
            h_lanes[:, lane] = solve(1, band, h_lanes[:, lane], lower=1, diag=1)
        return h_lanes.reshape(h.shape)
    for k in range(1, n):
        h[k] += a[k] * h[k - 1]
    return h


def _recurrence_by_doubling(a: Any, b: Any) -> Any:
    """The same in log₂ n steps, each of all elements at once, for arrays that are computed so (Hillis and Steele 1986):
    after a step of size s, hₖ is right but for what lies 2·s and more before it."""
    n, s = b.shape[0], 1
    while s < n:
        b = np.concatenate([b[:s], b[s:] + a[s:] * b[:-s]])
        a = np.concatenate([a[:s], a[s:] * a[:-s]])
        s *= 2
    return b


def exchange_first_axes(x: Any) -> Any:
    """The first two axes exchanged: a hidden axis in front gives way to the axis of a scan."""
    return transpose(x, axes=(1, 0, *range(2, len(shape_of(x)))))


def _before(h: Any) -> Any:
    """h moved one place along the first axis, zero first."""
    return concatenate(h[:1] * 0, h[:-1], axis=0)


def _recurrence_transpose(ct: Any, a: Any, b: Any) -> Any:
    """b_barₖ = ctₖ + aₖ₊₁·b_barₖ₊₁: the same recurrence, backwards."""
    return flip(linear_recurrence(_before(flip(a, axis=(0,))), flip(ct, axis=(0,))), axis=(0,))


def _batch_recurrence(args: Any, mapped: Any, params: dict) -> Any:
    return exchange_first_axes(linear_recurrence(*map(exchange_first_axes, for_all_examples(args, mapped))))


linear_recurrence = general(
    "linear_recurrence",
    _linear_recurrence,
    (
        lambda a_dot, h, a, b: linear_recurrence(a, a_dot * _before(h)),
        lambda b_dot, h, a, b: linear_recurrence(a, b_dot),
    ),
    transposes={1: _recurrence_transpose},
    batch=_batch_recurrence,
    shape=lambda a, b: b.shape,
    raises=NEVER,
    cost=CHEAP,
    solves=True,
    axes=axes.kept_but_first,
    links=scan_links,
    bounds=composed(interval_sums.linear_recurrence),
)
"""Closed under differentiation, and exact where elements are zero: what `cumprod` and `prod` are derived from."""


def _one_before(h: Any) -> Any:
    """h moved one place along the first axis, one first: the products of all earlier elements."""
    return concatenate(h[:1] * 0 + 1, h[:-1], axis=0)


cumprod = general(
    "cumprod",
    lambda x: np.cumprod(x, axis=0),
    (lambda x_dot, y, x: linear_recurrence(x, _one_before(y) * x_dot),),
    batch=lambda args, mapped, params: exchange_first_axes(cumprod(exchange_first_axes(args[0]))),
    shape=lambda x: x.shape,
    raises=NEVER,
    cost=CHEAP,
    one_pass=True,
    axes=axes.kept_but_first,
    bounds=composed(interval_sums.cumprod),
)
"""Along the first axis."""


def _products_of_others(y: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """For each element the product of all others that are reduced with it, without division."""
    shape = shape_of(x)
    rest = [k for k in range(len(shape)) if k not in axis]
    order = [*axis, *rest]
    count = math.prod(shape[k] for k in axis)
    if count.__class__ is int and count == 0:
        return x
    lanes = reshape(transpose(x, axes=tuple(order)), shape=(count, *[shape[k] for k in rest]))
    before = _one_before(cumprod(lanes))
    after = flip(_one_before(cumprod(flip(lanes, axis=(0,)))), axis=(0,))
    others = reshape(before * after, shape=tuple(shape[k] for k in order))
    return transpose(others, axes=tuple(np.argsort(order).tolist()))


prod = reduction(
    "prod",
    _by_ufunc(np.multiply, np.prod),
    _products_of_others,
    raises=NEVER,
    cost=CHEAP,
    combine="multiply",
    bounds=composed(interval_sums.prod),
)

# -------------------------------------------------------------------------------------------------- locally constant


def _count(name: str, function: Callable, combine: str) -> Any:
    op = zero(
        name,
        lambda x, axis: function(x, axis=axis),
        batch=_shift_axes(lambda: op),
        raises=NEVER,
        cost=CHEAP,
        combine=combine,
        axes=axes.reduced,
        bounds=ON_BOUNDS,
    )
    return op


any = _count("any", np.any, "logical_or")
all = _count("all", np.all, "logical_and")
count_nonzero = _count("count_nonzero", np.count_nonzero, "add")


def _one_axis(name: str, impl: Callable, **stated: Any) -> Any:
    """A locally constant op along one axis, -1 meaning the last."""

    def batch(args: Any, mapped: Any, params: dict) -> Any:
        axis = params["axis"]
        return op(args[0], **{**params, "axis": axis + 1 if axis >= 0 else axis})

    op = zero(name, impl, batch=batch, bounds=ordered, **stated)
    return op


argmax = _one_axis(
    "argmax", lambda x, axis: np.argmax(x, axis=axis), raises=LENGTHS, axes=axes.reduced_axis, cost=CHEAP, one_pass=True
)
argmin = _one_axis(
    "argmin", lambda x, axis: np.argmin(x, axis=axis), raises=LENGTHS, axes=axes.reduced_axis, cost=CHEAP, one_pass=True
)


def _searchsorted(a: Any, v: Any, side: Literal["left", "right"]) -> Any:
    lead = shape_of(a)[:-1]
    if not lead:
        return np.searchsorted(a, v, side=side)
    found = library.zeros(shape_of(v), np.int64, a)
    for k in np.ndindex(*lead):
        found[k] = np.searchsorted(a[k], v[k], side=side)
    return found


def _batch_searchsorted(args: tuple, mapped: Sequence[bool], params: dict) -> Any:
    a, v = args
    if mapped[0] or len(shape_of(a)) > 1:
        a, v = for_all_examples(args, mapped)
    return searchsorted(a, v, **params)


def _enclosed_places(a: Bounds, v: Bounds, side: Literal["left", "right"]) -> Bounds:
    """The larger an element is, and the smaller those of the array are, the later its place."""
    return Bounds(searchsorted(a.hi, v.lo, side=side), searchsorted(a.lo, v.hi, side=side))


searchsorted = zero(
    "searchsorted",
    _searchsorted,
    batch=_batch_searchsorted,
    raises=NEVER,
    cost=MORE,
    dtype=Dtype.POSITION,
    bounds=stated(_enclosed_places, breaks=lambda a, v, side: V.not_equal(*_enclosed_places(a, v, side))),
)
"""Where in the order of a sorted array, along its last axis, elements would stand. The axes before are also the first
of the elements, which are of the same dtype."""


def _argsort(x: Any, axis: int, kind: Any = None) -> Any:
    """NumPy's; of the kind "python" as `sorted` does it, for which NaN is neither smaller nor larger than anything."""
    if kind != "python":
        return np.argsort(x, axis=axis, kind=kind)
    if dtype_of(x).kind == "f" and np.any(np.isnan(x)):
        return np.apply_along_axis(lambda row: sorted(range(len(row)), key=row.tolist().__getitem__), axis, x)
    return np.argsort(x, axis=axis, kind="stable")


argsort = _one_axis("argsort", _argsort, raises=NEVER, axes=axes.kept, cost=MORE)
argpartition = _one_axis(
    "argpartition", lambda x, axis, kth: np.argpartition(x, kth, axis=axis), raises=LENGTHS, axes=axes.kept, cost=MORE
)
