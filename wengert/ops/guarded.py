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

from wengert.ops.derive import align, multilinear, unfit
from wengert.ops.op import call
from wengert.ops.traits import CHEAP, NEVER


def _product(c: Any, t: Any) -> Any:
    return np.where(np.equal(t, 0), 0, c) * t


guarded_product: Any = multilinear(
    "guarded_product",
    _product,
    (
        lambda ct, c, t: unfit(guarded_product(ct, t), c.shape, c.dtype),
        lambda ct, c, t: unfit(guarded_product(c, ct), t.shape, t.dtype),
    ),
    elementwise=True,
    batch=lambda args, mapped, params: call(guarded_product, *align(args, mapped)),
    raises=NEVER,
    cost=CHEAP,
)
"""c · t, for a coefficient c and a tangent or cotangent t."""
