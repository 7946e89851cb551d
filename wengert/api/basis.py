"""Many directions at once: unit vectors for all leaves, as one batch.

Jacobians are products with unit vectors. The unit vectors of all leaves together form the rows of an identity matrix;
each leaf gets its columns of it, with a hidden axis that runs over the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.modes.batch import BatchTrace
from wengert.ops.library import eye_like
from wengert.types import Aval


def unit_vectors(avals: Sequence[Aval], start: int, stop: int, like: Any = None) -> tuple[BatchTrace, list[Any]]:
    """Unit vectors number `start` to `stop` of the space these leaves span: the batch, and one value per leaf, in the
    library of the array `like`."""
    batch = BatchTrace(stop - start)
    vectors = []
    offset = 0
    for aval in avals:
        made = (stop - start, aval.size, start - offset, aval.dtype)
        block = np.eye(*made) if like is None else eye_like(like, *made)
        vectors.append(batch.wrap(block.reshape(stop - start, *aval.shape)))
        offset += aval.size
    return batch, vectors


def total_size(avals: Sequence[Aval]) -> int:
    """The dimension of the space that these leaves span."""
    return sum(aval.size for aval in avals)


def split_rows(stacked: Any, avals: Sequence[Aval]) -> list[Any]:
    """Rows that run over all leaves, cut into one piece per leaf, in that leaf's shape."""
    pieces = []
    offset = 0
    for aval in avals:
        rows = stacked[offset : offset + aval.size]
        pieces.append(rows.reshape((*aval.shape, *stacked.shape[1:])))
        offset += aval.size
    return pieces
