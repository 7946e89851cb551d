"""The row for the roots of a polynomial: p(z) = 0, so z_dot = −p_dot(z) / p'(z), as long as roots are simple.

That is better than derivatives of eigenvalues of a companion matrix, whose eigenvectors are badly conditioned, and it
costs no decomposition.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.errors import RepeatedValuesError
from wengert.ops import library
from wengert.ops.derive import general, zero
from wengert.ops.elementwise import power, where
from wengert.ops.index import index
from wengert.ops.matrices import column
from wengert.ops.products import matmul
from wengert.ops.spectra import widened
from wengert.ops.traits import MORE, VALUES
from wengert.types import dtype_of, shape_of


def _are_simple(z: Any, p: Any) -> Any:
    """A root is known to eps Σ |pₖ zᵏ| / |p'|; p' vanishes |p'| / |p''| away. If that is no farther, it is multiple."""
    first = np.polyder(p)
    error = float(np.finfo(dtype_of(p)).eps) * np.polyval(np.abs(p), np.abs(z))
    slope = np.abs(np.polyval(first, z))
    bend = np.abs(np.polyval(np.polyder(first), z))
    if np.any((slope == 0) | (error * bend > 1e-3 * slope**2)):
        raise RepeatedValuesError(
            "derivatives of roots that coincide are infinite",
            remedy="use functions of the coefficients instead of such roots, or roots of a polynomial without them",
        )
    return library.ones(shape_of(z), bool, z)


are_simple = zero("are_simple", _are_simple, raises=VALUES, cost=MORE)
"""True for each root; or an error."""


def _powers(z: Any, n: int) -> Any:
    return power(column(z), library.arange(n - 1, -1, z, step=-1).astype(dtype_of(z)))


def _roots_rule(p_dot: Any, z: Any, p: Any, is_complex: bool) -> Any:
    n = shape_of(p)[0]
    slopes = index(p, pattern=(slice(0, n - 1),)) * library.arange(n - 1, 0, p, step=-1).astype(dtype_of(p))
    slope = where(are_simple(z, p), matmul(_powers(z, n - 1), slopes), 1)
    return -matmul(_powers(z, n), p_dot) / slope


roots = general(
    "roots", lambda p, is_complex: widened(np.roots(p), is_complex), (_roots_rule,), raises=VALUES, cost=MORE
)
"""Of a polynomial whose coefficients, highest power first, start with one that is not zero. They are real if all are,
as NumPy has it, unless they are to be complex."""
