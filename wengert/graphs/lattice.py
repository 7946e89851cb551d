"""Periodic colourings, for patterns that come from stencils on grids (Goldfarb and Toint 1984).

The five-point stencil on a grid can be coloured with five colours, x + 2y mod 5; greedy colourings take seven or so.
Of a pattern the grid is not known. But columns are numbers, x + N·y + …, and the distances between columns that share
a row are few, however large the grid; the strides of the grid, N, are among them. So the numbers are written with
digits for some of those distances, and weights w and a number of colours k are sought such that Σ wᵢ·digitᵢ mod k
differs for any two columns that share a row. That depends only on the differences of their digits, of which there are
few as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wengert.graphs.kernels.lattice import carries, distances
from wengert.graphs.pattern import INDEX, Neighbours
from wengert.graphs.running import Run

_MOST_CHAINS = 8
_MOST_DIGITS = 5
_MOST_STEPS = 1000
"""Bounds of the search."""


def periodic_coloring(rows: Neighbours, n: int, fewest: int, most: int, run: Run) -> np.ndarray | None:
    """Colours of n columns, from `fewest` to `most` of them, or None if there is no such colouring of this kind."""
    near = np.zeros(n, INDEX)
    work = int((rows.degrees**2).sum()) // 2
    run(distances, work, (rows.size, *rows), (near,))
    apart = np.flatnonzero(near)
    if 3 * len(apart) > n:  # no grid, or one so small that it does not matter
        return None
    best = None
    for strides in _chains(apart, n):
        differences = _differences(rows, n, apart, strides, run)
        for k in range(fewest, most + 1):
            weights = _weights(differences, k)
            if weights is not None:
                best, most = (strides, weights, k), k - 1
                break
        if most < fewest:
            break
    if best is None:
        return None
    strides, weights, k = best
    return _used((_digits(np.arange(n), strides) @ weights) % k)


def _chains(apart: np.ndarray, n: int) -> Iterator[list[int]]:
    """Lists of strides, each of which divides the next, that cannot be made longer."""
    candidates = [int(s) for s in apart if s > 1 and n % s == 0]
    found = 0
    stack = [([1], candidates)]
    while stack and found < _MOST_CHAINS:
        chain, left = stack.pop()
        left = [s for s in left if s % chain[-1] == 0]
        # The next one is a stride that no other one comes before
        nexts = [s for s in left if not any(s % t == 0 for t in left if t < s)]
        if not nexts or len(chain) == _MOST_DIGITS:
            found += 1
            yield chain
            continue
        stack.extend(([*chain, s], [t for t in left if t > s]) for s in nexts)


def _digits(numbers: np.ndarray, strides: list[int]) -> np.ndarray:
    """Digits, the last one first, of numbers in the mixed radix that the strides give."""
    digits = [numbers // s for s in strides]
    for k in range(len(strides) - 1):
        digits[k] = digits[k] % (strides[k + 1] // strides[k])
    return np.stack(digits, axis=-1)


def _differences(rows: Neighbours, n: int, apart: np.ndarray, strides: list[int], run: Run) -> np.ndarray:
    """The differences of digits that occur between columns of a row."""
    upper = strides[1:]
    number = np.zeros(n, INDEX)
    number[apart] = np.arange(len(apart))
    residues = np.concatenate([np.arange(n, dtype=INDEX) % s for s in upper] or [np.zeros(0, INDEX)])
    codes = 1 << len(upper)
    met = np.zeros(len(apart) * codes, INDEX)
    work = int((rows.degrees**2).sum()) * len(strides) // 2
    run(carries, work, (rows.size, n, len(upper), *rows, number, residues), (met,))
    which, code = np.divmod(np.flatnonzero(met), codes)
    # Of the two columns' residues by each stride the difference is known, and thereby that of each digit
    below = np.zeros(len(which), INDEX)
    differences = []
    for k, s in enumerate(upper):
        residue = apart[which] % s - s * (code >> k & 1)
        differences.append((residue - below) // strides[k])
        below = residue
    differences.append((apart[which] - below) // strides[-1])
    return np.stack(differences, axis=-1)


def _weights(differences: np.ndarray, k: int) -> np.ndarray | None:
    """Weights modulo k of the digits that make none of the differences zero.

    They are sought digit by digit, going back where none fits, and given up after a while.
    """
    digits = differences.shape[1]
    highest = digits - 1 - np.argmax(differences[:, ::-1] != 0, axis=1)
    groups = [np.unique(differences[highest == level, : level + 1] % k, axis=0) for level in range(digits)]
    weights = np.zeros(digits, INDEX)
    level, candidates = 0, np.arange(k)
    left: list[np.ndarray] = []
    for _ in range(_MOST_STEPS):
        others = groups[level][:, :level] @ weights[:level]
        sums = others[:, None] + groups[level][:, level:] * candidates
        left.append(candidates[np.all(sums % k, axis=0)])
        while left and not len(left[-1]):
            left.pop()
        if not left:
            return None
        level = len(left) - 1
        weights[level], left[level] = left[level][0], left[level][1:]
        level += 1
        if level == digits:
            return weights
    return None


def _used(colors: np.ndarray) -> np.ndarray:
    """Colours without gaps: on a small grid not all of them need occur."""
    return np.unique(colors, return_inverse=True)[1].astype(INDEX)
