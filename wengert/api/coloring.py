"""`wg.coloring`: groups of columns or rows of a sparse matrix that share one product.

The colourings themselves are in `graphs/`, written in plain Python. Here their kernels are compiled where that pays,
which is from about a hundred thousand entries on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from wengert.api.jit import Jitted, jit
from wengert.api.operators import operation
from wengert.errors import NotDifferentiableInputError
from wengert.graphs import coloring as graphs
from wengert.graphs.running import interpreted

_WORTH_COMPILING = 500_000
"""How many steps take Python about as long as it takes to compile a kernel."""


@operation
def coloring(
    pattern: Any, partition: str = "column", order: str = "largest-first", decompression: str = "direct", seed: int = 0
) -> graphs.Coloring:
    """Colour the columns, the rows, or both, of a sparse matrix, such that a few products determine all entries.

    Columns of the same colour have no row in common, so the sum of them, one product with a vector of zeros and ones,
    has all their entries. A tridiagonal Jacobian of any size takes three products:

    >>> import numpy as np, scipy.sparse as sp
    >>> M = sp.diags_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0]], offsets=[-1, 0, 1])
    >>> found = coloring(M)
    >>> found.count, found.colors
    (3, array([2, 0, 1, 2]))
    >>> B = found.compress(M)
    >>> B
    array([[ 8.,  0.,  4.],
           [ 5.,  9.,  1.],
           [ 2.,  6., 10.],
           [ 0.,  3.,  7.]])
    >>> (found.decompress(B) != M).nnz
    0

    Args:
        pattern: A SciPy sparse matrix, of which all stored entries count, or an array, of which those count that are
            not zero.
        partition: `"column"`: B = M @ S. `"row"`: B = Sᵀ @ M. `"both"`: some entries are read from rows, the others
            from columns, which takes few products also where a few rows and a few columns are dense. `"symmetric"`:
            B = M @ S for a matrix that is its own transpose, of which each pair of entries need be read only once.
        order: In which order vertices are coloured, each with the least colour that is possible: `"natural"`,
            `"largest-first"`, `"smallest-last"`, `"incidence"` (of those whose neighbours have colours the one with the
            most) or `"random"`. Columns and rows are then coloured again if that may take fewer colours; those of
            stencils on grids get a periodic colouring, which often has the fewest that are possible.
        decompression: `"direct"`: each entry stands somewhere in B. `"substitution"`: some are found by subtracting
            others, which takes fewer colours for `"symmetric"` (an acyclic colouring instead of a star colouring), and
            makes rounding errors add up. For `"column"` and `"row"` both are the same.
        seed: Of the random order.

    Returns:
        An object with `colors`, an array of integers from 0 on (for `"both"` a pair of them, rows and columns, with −1
        for those that have no colour), `count`, the number of colours, `compress(M)` and `decompress(B)`, which gives
        a `csr_array` with exactly the entries of the pattern.

    The time is proportional to the number of pairs of entries in the same row (columns), in the same column (rows), or
    to the number of entries times that of colours (symmetric, both). The numbers of colours are not the least that are
    possible, which is a hard problem, but seldom much more.
    """
    if callable(pattern):
        raise NotDifferentiableInputError(
            "wg.coloring wants a matrix, and was given a function",
            remedy="colour the pattern of its Jacobian: wg.coloring(wg.sparsity(f)(x))",
        )
    return graphs.coloring(pattern, partition, order, decompression, seed, run_quickly)


def run_quickly(kernel: Callable[..., None], work: int, read: tuple[Any, ...], written: tuple[np.ndarray, ...]) -> None:
    """Run a kernel, compiled if it has much to do.

    Compiled functions are made for arrays of certain lengths. Arrays are put into longer ones, whose lengths are powers
    of two, so that few versions are made, and are found on disk by the next program.
    """
    if work < _WORTH_COMPILING:
        return interpreted(kernel, work, read, written)
    copies = [_padded(a) if isinstance(a, np.ndarray) else a for a in read + written]
    _compiled(kernel)(*copies)
    for array, copy in zip(written, copies[len(read) :], strict=True):
        array[:] = copy[: len(array)]


@cache
def _compiled(kernel: Callable[..., None]) -> Jitted:
    return jit(kernel)


def _padded(array: np.ndarray) -> np.ndarray:
    longer = np.empty(1 << len(array).bit_length(), array.dtype)
    longer[: len(array)] = array
    return longer
