"""Where the entries of a matrix stand in its compressed form, or how they are solved for.

A *cell* is one number of the compressed matrices: a sum of entries. An entry that is alone in a cell is read there. If
none of its cells has it alone, one of the others in a cell must be known first, and is subtracted: substitution. The
order comes from taking away, again and again, an entry that is the only one left in a cell; in the trees of an acyclic
colouring these are the leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wengert.graphs.kernels.decompression import peel, substitute
from wengert.graphs.pattern import INDEX
from wengert.graphs.running import Run


class Cells(NamedTuple):
    """The two cells that each unknown is in; `size` is the number of cells, and means that there is none."""

    one: np.ndarray
    two: np.ndarray
    size: int

    def crowds(self) -> np.ndarray:
        """How many unknowns are in each cell, with a last one that stands for none."""
        both = np.concatenate([self.one, self.two[self.two != self.one]])
        crowds = np.bincount(both, minlength=self.size + 1)
        crowds[self.size] = 0
        return crowds


class Steps(NamedTuple):
    """A substitution: in each step an unknown is read from a cell, and subtracted in its other one."""

    unknown: np.ndarray
    source: np.ndarray
    target: np.ndarray


def read_from(cells: Cells) -> np.ndarray:
    """A cell for each unknown in which it is alone."""
    crowds = cells.crowds()
    source = np.where(crowds[cells.one] == 1, cells.one, cells.two)
    if not np.all(crowds[source] == 1):
        raise AssertionError("a colouring mixes entries that cannot be told apart")
    return source


def substitution(cells: Cells, run: Run) -> Steps:
    """The steps in which all unknowns are found."""
    count = len(cells.one)
    crowds = cells.crowds()
    sums = np.zeros(cells.size + 1, INDEX)
    numbers = np.arange(count, dtype=INDEX)
    np.add.at(sums, cells.one, numbers)
    apart = cells.two != cells.one
    np.add.at(sums, cells.two[apart], numbers[apart])
    alone = np.flatnonzero(crowds == 1)
    queue = np.empty(2 * count + 1, INDEX)
    queue[: len(alone)] = alone
    steps = Steps(*[np.full(count, -1, INDEX) for _ in range(3)])
    run(peel, 4 * count, (len(alone), cells.size, cells.one, cells.two), (crowds, sums, queue, *steps))
    if count and steps.unknown[-1] < 0:
        raise AssertionError("a colouring mixes entries that cannot be told apart")
    return steps


def substituted(steps: Steps, compressed: np.ndarray, run: Run) -> np.ndarray:
    """The unknowns, in the order of the steps, from the cells."""
    values = np.empty(len(steps.source), compressed.dtype)
    left = np.append(compressed, np.zeros(1, compressed.dtype))
    run(substitute, 2 * len(values), (len(values), steps.source, steps.target), (left, values))
    return values
