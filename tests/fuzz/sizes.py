"""What large arrays and long loops meet, for small ones: strips, BLAS, threads, loops that are staged at once.

Programs of the generator have a few elements in each array, as their derivatives are known by running them dozens of
times. What compilers do for large arrays only is tried on them by lowering what counts as large.
"""

from __future__ import annotations

from types import ModuleType

from wengert.backend.llvm.linalg import blas, contraction, small, zero_rows
from wengert.backend.llvm.threads import sharing
from wengert.backend.plan import memory
from wengert.capture import staged_loops
from wengert.control import at_once, remat
from wengert.passes import cut_at_seams, diagonal, fuse_adds, join_writes, sink_sums, strip_mine

SIZES: list[tuple[ModuleType, dict[str, int]]] = [
    (strip_mine, {"LARGE": 48, "READ_OFTEN": 48, "STRIP": 48, "NARROWEST": 1, "SHORTEST": 3, "GROUPS": 3}),
    (join_writes, {"_MEMORY_TO_SAVE": 1}),
    (cut_at_seams, {"_MEMORY_TO_SAVE": 1}),
    (sink_sums, {"FEWEST": 2, "ROWS": 1}),
    (fuse_adds, {"FEWEST": 2}),
    (diagonal, {"SMALLEST": 2}),
    (memory, {"LARGE": 16}),
    (blas, {"SMALL": 1, "SMALL_BY_VECTOR": 1, "SMALL_IN_VECTORS": 1, "FEW_ROWS": 2, "MANY_ROWS": 2, "MANY_COLUMNS": 1}),
    (contraction, {"SMALL": 1}),
    (zero_rows, {"FEWEST_ROWS": 2, "FEWEST_PRODUCTS": 1, "FEWEST_MATRICES": 1}),
    (small, {"LARGEST": 0}),
    (sharing, {"LARGE": 8, "SHORTEST": 2}),
    (at_once, {"FEWEST": 2}),
    (remat, {"_MOST": 1}),
    (staged_loops, {"UNROLLED": 0, "_IN_PYTHON": 0}),
]
"""What counts as large, or as many, in each module, and what does here."""

_ORDINARY = [(module, {name: getattr(module, name) for name in sizes}) for module, sizes in SIZES]


def count_as_large(yes: bool) -> None:
    """Whether small arrays are treated as large ones."""
    for module, sizes in SIZES if yes else _ORDINARY:
        vars(module).update(sizes)


def is_lowered() -> bool:
    """Whether they are."""
    return SIZES[0][1]["LARGE"] == strip_mine.LARGE
