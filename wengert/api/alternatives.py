"""Values that stand for several at once, each kind on an axis of its own that nobody sees.

A value made by `alternatives` looks like one of the values it stands for, and whatever is computed from it has the
axis, too. `laid_out` makes the axes visible. With `vmap` it is the same, but a function is not needed: what is computed
between the two may depend on some of many axes, and has only these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.writing import settled
from wengert.capture.hooks import instrument
from wengert.modes.batch import Batch, BatchTrace


def alternatives(values: np.ndarray) -> tuple[Any, Any]:
    """One value for all of those along the first axis, and the axis they are on from now on.

    >>> import numpy as np
    >>> z, axis = alternatives(np.array([1.0, 2.0, 3.0]))
    >>> y = 10 * z
    >>> y.shape, laid_out(y, [axis])[0]
    ((), array([10., 20., 30.]))
    """
    trace = BatchTrace(len(values))
    return trace.wrap(values), trace


def followed(f: Callable) -> Callable:
    """A function that can take such values: plain arrays can be indexed by them in it, and so on."""
    return instrument(f)


def laid_out(x: Any, axes: Sequence[Any]) -> tuple[Any, list[Any]]:
    """A value with an axis in front for each of these axes that it depends on, and which they are."""
    found = []
    x = settled(x)
    while x.__class__ is Batch and any(x._owner is axis for axis in axes):
        found.insert(0, x._owner)  # the axis of what is inside stands in front
        x = settled(x._value)
    return x, found
