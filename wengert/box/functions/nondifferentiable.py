"""NumPy's functions that have no derivative here, and why. The reason is what the error says.

Ufuncs without derivatives stand in `elementwise.py`, beside the others. `tests/box/test_coverage.py` demands that every
NumPy function that dispatches is implemented, or listed with a reason.
"""

from __future__ import annotations

import numpy as np

from wengert.box.dispatch import NONDIFFERENTIABLE

_CONSTANT = "apply it to wg.stop_gradient(x)"


def _state(module: object, names: str, reason: str) -> None:
    for name in names.split():
        # A newer NumPy may have lost a function.
        if hasattr(module, name):
            NONDIFFERENTIABLE[getattr(module, name)] = reason


_state(np, "busday_count busday_offset is_busday datetime_as_string", "works on dates and times")
_state(np, "packbits unpackbits", "works on the bits of integers, which have no derivatives")
_state(np, "ix_", f"makes indices, which are integers; {_CONSTANT}")
_state(
    np,
    "may_share_memory shares_memory",
    f"asks about memory, but a traced value is no array in memory; {_CONSTANT}",
)
_state(np, "save savetxt savez savez_compressed", f"writes numbers to a file, without their derivatives; {_CONSTANT}")
_state(
    np,
    "intersect1d",
    "values that coincide cease to when one of them changes, so its result has no derivative; if the elements are tied "
    f"to each other, {_CONSTANT} to find their positions, and index x with these",
)
