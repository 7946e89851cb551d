"""Rows for a basis of a null space, which is not determined by the matrix.

Of a n = 0 it follows that a_dot n + a n_dot = 0. The part of n_dot in the row space is −a⁺ a_dot n; the rest rotates n
within the null space, and is nobody's business: a function of n that is a function of the matrix does not see it. In
reverse mode that is checked; forwards, the basis is continued without rotating.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.errors import RepeatedValuesError
from wengert.ops import library
from wengert.ops.derive import general, multilinear, unfit
from wengert.ops.linalg import pinv
from wengert.ops.matrices import batch_of_stacks, constant_of_matrices, swapped
from wengert.ops.products import matmul
from wengert.ops.repeated import refusal
from wengert.ops.traits import MORE, NEVER, VALUES
from wengert.types import dtype_of, shape_of


def _null_basis(a: Any, like: Any, rcond: float) -> Any:
    """The basis closest to one that is given: the polar factor of its projection onto the null space."""
    vh = np.linalg.svd(a)[2]
    k = shape_of(like)[-1]
    space = np.conj(np.swapaxes(vh[..., shape_of(vh)[-1] - k :, :], -1, -2))
    u, _, turn = np.linalg.svd(np.conj(np.swapaxes(space, -1, -2)) @ like)
    return space @ (u @ turn)


def _rotate_in_null_space_back(ct: Any, v: Any) -> Any:
    seen = np.swapaxes(v, -1, -2) @ ct
    turned = np.abs(seen - np.conj(np.swapaxes(seen, -1, -2)))
    precision = float(np.finfo(dtype_of(ct)).eps) ** (2 / 3)
    if np.any(turned > precision * library.largest(np.abs(ct), (-2, -1))):
        raise refusal("the function depends on which of many possible bases is chosen, so it has no derivative", "null")
    return library.zeros(shape_of(seen), dtype_of(seen), seen)


rotate_in_null_space_back = general(
    "rotate_in_null_space_back",
    _rotate_in_null_space_back,
    (
        lambda ct_dot, y, ct, v: matmul(swapped(v), ct_dot) * 0,
        lambda v_dot, y, ct, v: matmul(swapped(v_dot), ct) * 0,
    ),
    batch=batch_of_stacks(lambda: rotate_in_null_space_back),
    shape=lambda ct, v: (*np.broadcast_shapes(v.shape[:-2], ct.shape[:-2]), v.shape[-1], ct.shape[-1]),
    raises=VALUES,
    cost=MORE,
)
"""Zero, and an error if vᵀ ct is not symmetric."""

rotate_in_null_space = multilinear(
    "rotate_in_null_space",
    lambda v, z: v @ z,
    (
        lambda ct, v, z: unfit(matmul(ct, swapped(z)), v.shape, v.dtype),
        lambda ct, v, z: unfit(rotate_in_null_space_back(ct, v), z.shape, z.dtype),
    ),
    batch=batch_of_stacks(lambda: rotate_in_null_space),
    shape=lambda v, z: (*np.broadcast_shapes(v.shape[:-2], z.shape[:-2]), v.shape[-2], z.shape[-1]),
    raises=NEVER,
    cost=MORE,
)
"""v z with a z that is zero, standing for what rotates v within its space; a cotangent must not see that."""


def _null_basis_rule(a_dot: Any, y: Any, a: Any, like: Any, rcond: float) -> Any:
    k = shape_of(y)[-1]
    changed = matmul(a_dot, y)
    nothing = matmul(library.zeros((k, shape_of(a)[-2]), dtype_of(y), a), changed)
    return rotate_in_null_space(y, nothing) - matmul(pinv(a, rcond=rcond, hermitian=False), changed)


null_basis = general(
    "null_basis",
    _null_basis,
    (_null_basis_rule, None),
    batch=batch_of_stacks(lambda: null_basis),
    shape=lambda a, like, rcond: (*np.broadcast_shapes(a.shape[:-2], like.shape[:-2]), *like.shape[-2:]),
    raises=VALUES,
    cost=MORE,
)
"""An orthonormal basis of the null space, the one closest to one that is given; the rank does not change."""


def _reflecting(w: Any) -> Any:
    if np.any(np.linalg.svd(w, compute_uv=False)[..., -1:] <= 1e-10):
        raise RepeatedValuesError(
            "a complete q of a matrix with a column of only zeros below the diagonal: there LAPACK's factor jumps",
            remedy="use mode='reduced' (in SciPy 'economic')",
        )
    return library.ones(shape_of(w), bool, w)


reflecting = constant_of_matrices("reflecting", _reflecting, raises=VALUES, cost=MORE)
"""True for each element of q₁ − e₁, if the columns of q come from as many reflections; or an error."""
