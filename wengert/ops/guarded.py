"""The row for products in which a zero cotangent wins, whatever it is multiplied by.

What `where` or a mask did not select gets the cotangent zero, and may have infinite or undefined derivatives:
`where(x > 0, sqrt(x), 0)` at zero. Behind a selection zero times anything is zero. The product is linear in both its
factors, and so is each of its derivatives: where a cotangent merely happens to be zero, its own derivative is
multiplied by the coefficient as everywhere else, and where the cotangent is identically zero nothing of the coefficient
is seen, to any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops import interval_arithmetic
from wengert.ops.derive import align, multilinear, unfit
from wengert.ops.elementwise import equal, greater_equal, isnan, less_equal, logical_and, logical_or
from wengert.ops.enclosures import stated
from wengert.ops.op import call
from wengert.ops.rounding import Bounds, choose
from wengert.ops.traits import CHEAP, NEVER
from wengert.types import dtype_of, shape_of


def _product(c: Any, t: Any) -> Any:
    return np.where(np.equal(t, 0), t, c) * t  # t, not 0: the type is that of c * t, also where c is Python's number


def _enclosed(c: Bounds, t: Bounds) -> Bounds:
    """Where the coefficient is not defined at all, only a zero cotangent has arrived."""
    y = interval_arithmetic.multiply(c, t)
    zero = logical_and(less_equal(t.lo, 0), greater_equal(t.hi, 0))
    never = logical_or(logical_and(equal(t.lo, 0), equal(t.hi, 0)), logical_and(isnan(c.lo), zero))
    return Bounds(choose(never, 0.0, y.lo), choose(never, 0.0, y.hi))


guarded_product: Any = multilinear(
    "guarded_product",
    _product,
    (
        lambda ct, c, t: unfit(guarded_product(ct, t), shape_of(c), dtype_of(c)),
        lambda ct, c, t: unfit(guarded_product(c, ct), shape_of(t), dtype_of(t)),
    ),
    elementwise=True,
    batch=lambda args, mapped, params: call(guarded_product, *align(args, mapped)),
    raises=NEVER,
    cost=CHEAP,
    bounds=stated(_enclosed),
)
"""c · t, for a coefficient c and a tangent or cotangent t."""
