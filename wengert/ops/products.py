"""Rows for products, linear in each factor while the others are held; and the norm, the root of a product.

`matmul` is the work horse; `einsum` covers every other contraction. The expressions that reach the `einsum` row are
normalised: an explicit result, no Ellipsis, no letter twice in one operand.
"""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np

from wengert.ops import axes, interval_sums, library
from wengert.ops.derive import multilinear, unfit
from wengert.ops.elementwise import equal, where
from wengert.ops.enclosures import composed
from wengert.ops.links import convolution_links
from wengert.ops.matrices import column, row, swapped
from wengert.ops.op import TABLE, call
from wengert.ops.reduce import reduction
from wengert.ops.shape import broadcast_to, flip, reshape
from wengert.ops.traits import CHEAP, LENGTHS, MORE, NEVER
from wengert.types import broadcast_shapes, demand_same_length, ndim_of, shape_of

_BLAS_PAYS = 20_000
"""From this many multiplications on, searching a contraction order is cheaper than not doing so."""

# ------------------------------------------------------------------------------------------------------------ matmul


def _matmul_left(ct: Any, x: Any, y: Any) -> Any:
    """ct · yᵀ. The rules use operators, which cost nothing extra on plain arrays."""
    x_rank, y_rank = len(x.shape), y.ndim
    if x_rank == 2 and y_rank == 2:
        part = ct @ y.T
    elif y_rank == 1:
        part = ct * y if x_rank == 1 else ct[..., None] * y
    elif x_rank == 1:
        part = y @ ct if y_rank == 2 else matmul(y, column(ct))[..., 0]
    else:
        part = matmul(ct, swapped(y))
    return part if part.dtype == x.dtype and part.shape == x.shape else unfit(part, x.shape, x.dtype)


def _matmul_right(ct: Any, x: Any, y: Any) -> Any:
    """xᵀ · ct."""
    x_rank, y_rank = x.ndim, len(y.shape)
    if x_rank == 2 and y_rank == 2:
        part = x.T @ ct
    elif x_rank == 1:
        part = x * ct if y_rank == 1 else column(x) * row(ct)
    elif y_rank == 1:
        part = ct @ x if x_rank == 2 else matmul(row(ct), x)[..., 0, :]
    else:
        part = matmul(swapped(x), ct)
    return part if part.dtype == y.dtype and part.shape == y.shape else unfit(part, y.shape, y.dtype)


def _batch_matmul(args: Any, mapped: Any, params: dict) -> Any:
    x, y = args
    x_mapped, y_mapped = mapped
    x_rank, y_rank = ndim_of(x) - x_mapped, ndim_of(y) - y_mapped
    if x_mapped and not y_mapped and y_rank <= 2 and x_rank >= 1:
        # The hidden axis is one more row axis: a vector becomes the rows of a matrix.
        return matmul(x, y)
    if y_mapped and not x_mapped and x_rank == 2 and y_rank == 1:
        return matmul(y, swapped(x))
    # Vectors become matrices, batch axes are aligned behind the hidden axis, and what was added is taken away.
    if x_rank == 1:
        x = row(x)
    if y_rank == 1:
        y = column(y)
    rank = max(ndim_of(x) - x_mapped, ndim_of(y) - y_mapped)
    z = matmul(*[_pad_rank(a, m, rank) for a, m in ((x, x_mapped), (y, y_mapped))])
    shape = shape_of(z)
    if x_rank == 1:
        shape = (*shape[:-2], shape[-1])
    if y_rank == 1:
        shape = shape[:-1]
    return reshape(z, shape=shape)


def _pad_rank(a: Any, mapped: bool, rank: int) -> Any:
    shape = shape_of(a)
    missing = rank - (len(shape) - mapped)
    if not mapped or not missing:
        return a
    return reshape(a, shape=shape[:1] + (1,) * missing + shape[1:])


def _matmul_shape(x: Any, y: Any) -> tuple[int, ...]:
    if not x.shape or not y.shape:
        raise ValueError(
            f"matmul: Input operand {int(bool(x.shape))} does not have enough dimensions (has 0, gufunc core with "
            "signature (n?,k),(k,m?)->(n?,m?) requires 1)"
        )
    demand_same_length("matmul", "(n?,k),(k,m?)->(n?,m?)", x.shape[-1], y.shape[-2:][0])
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    return lead + x.shape[-2:-1] + (y.shape[-1:] if len(y.shape) > 1 else ())


matmul = multilinear(
    "matmul",
    lambda x, y: x @ y,
    (_matmul_left, _matmul_right),
    batch=_batch_matmul,
    shape=_matmul_shape,
    raises=LENGTHS,
    cost=MORE,
    flops=lambda shapes, result: 2.0 * math.prod(result) * shapes[0][-1],
    axes=axes.of_matmul,
    combine="add",
    bounds=interval_sums.MATMUL,
)

# ------------------------------------------------------------------------------------------------------------ einsum


def _einsum(*operands: Any, subscripts: str) -> Any:
    sizes: dict[str, int] = {}
    for letters, x in zip(subscripts.split("->")[0].split(","), operands, strict=True):
        sizes.update(zip(letters, shape_of(x), strict=True))
    work = 1
    for n in sizes.values():
        work *= n
    return np.einsum(subscripts, *operands, optimize=len(operands) > 1 and work > _BLAS_PAYS)


def _einsum_transpose(i: int, ct: Any, *operands: Any, subscripts: str) -> Any:
    inputs, output = subscripts.split("->")
    letters = inputs.split(",")
    own = letters[i]
    others = [x for k, x in enumerate(operands) if k != i]
    other_letters = [x for k, x in enumerate(letters) if k != i]
    known = set(output).union(*other_letters)
    # A letter that stands nowhere else was summed over in this operand alone: its cotangent is constant along it.
    reached = "".join(x for x in own if x in known)
    part = einsum(ct, *others, subscripts=",".join([output, *other_letters]) + "->" + reached)
    x = operands[i]
    if reached != own:
        part = reshape(part, shape=tuple(n if c in known else 1 for c, n in zip(own, x.shape, strict=True)))
        part = broadcast_to(part, shape=x.shape)
    return unfit(part, x.shape, x.dtype)


def _batch_einsum(args: Any, mapped: Any, params: dict) -> Any:
    subscripts = params["subscripts"]
    inputs, output = subscripts.split("->")
    hidden = next(c for c in string.ascii_letters if c not in subscripts)
    batched = [hidden + x if m else x for x, m in zip(inputs.split(","), mapped, strict=True)]
    return einsum(*args, subscripts=",".join(batched) + "->" + hidden + output)


def _einsum_shape(*operands: Any, subscripts: str) -> tuple[int, ...]:
    inputs, output = subscripts.split("->")
    sizes: dict[str, int] = {}
    for letters, x in zip(inputs.split(","), operands, strict=True):
        for c, n in zip(letters, x.shape, strict=True):
            (sizes[c],) = broadcast_shapes([(sizes.get(c, 1),), (n,)])
    return tuple(sizes[c] for c in output)


einsum = multilinear(
    "einsum",
    _einsum,
    _einsum_transpose,
    batch=_batch_einsum,
    shape=_einsum_shape,
    raises=NEVER,
    cost=MORE,
    axes=axes.of_einsum,
    combine="add",
    view=True,
    bounds=composed(interval_sums.einsum),
)

# ------------------------------------------------------------------------------------------------------- convolution


def _convolve_left(ct: Any, a: Any, v: Any, mode: str) -> Any:
    part = convolve(ct, flip(v, axis=(0,)), mode="valid" if mode == "full" else "full")
    return unfit(part, a.shape, a.dtype)


def _convolve_right(ct: Any, a: Any, v: Any, mode: str) -> Any:
    if mode == "full":
        part = convolve(ct, flip(a, axis=(0,)), mode="valid")
    else:
        part = flip(convolve(a, flip(ct, axis=(0,)), mode="valid"), axis=(0,))
    return unfit(part, v.shape, v.dtype)


def _convolve_shape(a: Any, v: Any, mode: str) -> tuple[int, ...]:
    n, m = a.shape[0], v.shape[0]
    return (n + m - 1 if mode == "full" else n - m + 1,)


convolve = multilinear(
    "convolve",
    lambda a, v, mode: np.convolve(a, v, mode),
    (_convolve_left, _convolve_right),
    # The op for any number of axes (in `filters.py`) has leading axes that broadcast.
    batch=lambda args, mapped, params: call(TABLE["convolve_nd"], *args, rank=1, mode=params["mode"]),
    shape=_convolve_shape,
    raises=LENGTHS,
    cost=MORE,
    links=convolution_links,
    bounds=composed(interval_sums.convolve),
)
"""One-dimensional; mode "full", or "valid" with `a` at least as long as `v`."""

# -------------------------------------------------------------------------------------------------------------- norm


SAFE = {np.dtype(t): np.sqrt(np.finfo(t).tiny) / np.finfo(t).eps for t in (np.float32, np.float64)}
"""Norms above this have lost no digit to squares that are too small to be represented."""


def _norm(x: Any, axis: tuple[int, ...]) -> Any:
    """√Σx² of real numbers. Where squares may have left the range of numbers, they are computed again, scaled."""
    if x.__class__ is np.ndarray and len(axis) == x.ndim:
        v = x.reshape(-1)
        y = np.sqrt(v.dot(v))  # BLAS does not warn of overflow
        if SAFE.get(y.dtype, 0) < y < math.inf:
            return y
    with np.errstate(over="ignore"):
        y = np.sqrt(np.sum(np.square(x), axis=axis))
    safe = SAFE.get(y.dtype) if isinstance(y, (np.ndarray, np.generic)) else None
    if safe is None or np.all((y > safe) & (y < math.inf)):
        return y
    top = library.largest(np.abs(x), axis)
    top = np.where((top > 0) & np.isfinite(top), top, 1)
    lanes = tuple([n for k, n in enumerate(shape_of(x)) if k not in axis])
    return np.sqrt(np.sum(np.square(x / top), axis=axis)) * np.reshape(top, lanes)


norm = reduction(
    "norm",
    _norm,
    lambda y, x, axis: x / where(equal(y, 0), math.inf, y),
    raises=NEVER,
    cost=CHEAP,
    one_pass=True,  # (another one is rare)
    bounds=composed(interval_sums.norm),
)
"""The 2-norm over the axes `axis`; at zero its derivative is zero, the subgradient of least norm."""
