"""How a sparse Jacobian is compressed, and read back.

Columns that have no row in common are found by one product together (Curtis, Powell, Reid 1974). So a sparse Jacobian
is a pattern (`sparsity.py`), a colouring of it (`graphs/`), as many products as there are colours, all at once with a
hidden axis, and a gather that takes each entry from where it stands among them. A `Plan` is all of this but the
products. Matrices that come from one plan share their index arrays.

Which products: forward, with sums of columns; reverse, with sums of rows; or both, where a few rows and a few columns
are dense. Hessians are products with the gradient's Jacobian, in which either of two symmetric entries may be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from wengert.api.basis import total_size
from wengert.api.coloring import coloring
from wengert.api.entries import taken_entries
from wengert.box.functions.sparse_matrix import SparseMatrix, is_plain
from wengert.modes.batch import BatchTrace
from wengert.ops.elementwise import equal
from wengert.ops.shape import astype, reshape
from wengert.ops.sizes import iota
from wengert.running import running
from wengert.types import Aval, aval_of, dtype_of

REVERSE_COSTS = 1.5
"""A product of reverse mode, in products of forward mode."""
_FEW = 12
"""With so few colours it is not worth looking for something better than columns or rows."""
_FULL = (
    "; the pattern is full. If the function reads at places that are among its arguments, these may be any places: let "
    "it find its index arrays outside, as a closure does, and the pattern is theirs"
)


# -------------------------------------------------------------------------------------------------------- the matrices


class Template:
    """A sparse matrix without its entries: the index arrays that all matrices of a plan share."""

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, shape: tuple[int, int]):
        self.indptr, self.indices, self.shape = indptr, indices, shape
        for array in (indptr, indices):
            array.flags.writeable = False  # `eliminate_zeros` of one matrix would damage all others

    def filled(self, data: Any) -> Any:
        """The matrix with these entries: of SciPy, or one whose entries are traced."""
        if not is_plain(data):
            rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
            return SparseMatrix(data, rows, self.indices, self.shape, False, "csr", True, self)
        made = csr_array.__new__(csr_array)
        made.__dict__.update(self._empty.__dict__)
        made.data = data
        return made

    @cached_property
    def _empty(self) -> csr_array:
        """A matrix to make others of: SciPy's constructor takes longer than many a derivative."""
        made = csr_array(self.shape)
        made.indices, made.indptr = self.indices, self.indptr
        made.has_sorted_indices = made.has_canonical_format = True
        return made


# ------------------------------------------------------------------------------------------------------------ the plan


class SparseBlock(NamedTuple):
    """The derivatives of one leaf of the result with respect to one leaf of the arguments."""

    template: Template
    entries: np.ndarray
    """Which entries of the whole pattern are its own."""
    dtype: np.dtype


class Coloured(NamedTuple):
    """The products of a plan: colours of columns and of rows, or None, and why it is these; and for each block where
    its entries stand among all products, flat."""

    columns: np.ndarray | None
    rows: np.ndarray | None
    reason: str
    places: list[list[np.ndarray]]


class Plan:
    """A pattern, as blocks for leaves; and which products make up a Jacobian, and where its entries stand in them.

    Products of reverse mode stand before those of forward mode; each leaf has its own, of shape (colours, *shape).
    """

    def __init__(self, pattern: csr_array, ins: Sequence[Aval], outs: Sequence[Aval], mode: str):
        """`mode` is "auto", "forward", "reverse" or "symmetric"."""
        self.ins, self.outs = list(ins), list(outs)
        self.runs_once = False
        """Whether the function does something outside, such as printing, so that no way may be tried and given up."""
        self._pattern, self._mode = pattern, mode
        self.blocks = self._blocks()

    @cached_property
    def coloured(self) -> Coloured:
        """The products. Looked for when they are first needed."""
        way, found, reason = _chosen(_ByContent(self._pattern, self._mode))
        columns = found.colors[1] if way == "both" else None if way == "row" else found.colors
        rows = found.colors[0] if way == "both" else found.colors if way == "row" else None
        if self._is_full:
            reason += _FULL
        places = self._places(found.source.astype(np.int64), _count(columns), _count(rows))
        return Coloured(columns, rows, reason, [[places[block.entries] for block in row] for row in self.blocks])

    @property
    def _is_full(self) -> bool:
        """Whether all results depend on all arguments, as far as they depend on some."""
        m, n = self._pattern.shape
        rows = np.count_nonzero(np.diff(self._pattern.indptr))
        columns = np.count_nonzero(np.bincount(self._pattern.indices, minlength=n))
        return min(m, n) > 1 and self._pattern.nnz == rows * columns

    @property
    def forward(self) -> int:
        """How many products of forward mode there are."""
        return _count(self.coloured.columns)

    @property
    def backward(self) -> int:
        """How many products of reverse mode there are."""
        return _count(self.coloured.rows)

    @property
    def fewest(self) -> float:
        """There cannot be fewer products: each entry, or pair of symmetric ones, stands at a place of its own."""
        m, n = self._pattern.shape
        entries = (self._pattern.nnz + n) / 2 if self._mode == "symmetric" else self._pattern.nnz
        return entries / max(m, n, 1)

    def _places(self, source: np.ndarray, forward: int, behind: int) -> np.ndarray:
        """Where entries stand among the products, from where the colouring says that they stand in the compressed
        matrix: Sᵀ @ M of shape (colours, n), and behind it M @ S of shape (m, colours)."""
        n = max(self._pattern.shape[1], 1)
        first = behind * self._pattern.shape[1]
        backward = source < first
        rest = source - first
        vector = np.where(backward, source // n, rest % max(forward, 1))
        place = np.where(backward, source % n, rest // max(forward, 1))
        found = np.zeros(len(source), np.int64)
        for chosen, avals, count, start in ((backward, self.ins, behind, 0), (~backward, self.outs, forward, first)):
            starts = np.array([0, *np.cumsum([aval.size for aval in avals])])
            leaf = np.searchsorted(starts, place[chosen], side="right") - 1
            lengths = np.diff(starts)[leaf]
            begin = starts[leaf]
            found[chosen] = start + count * begin + vector[chosen] * lengths + place[chosen] - begin
        return found

    def _blocks(self) -> list[list[SparseBlock]]:
        pattern = self._pattern
        numbered = csr_array((np.arange(pattern.nnz), pattern.indices, pattern.indptr), shape=pattern.shape)
        alone = len(self.ins) == len(self.outs) == 1
        blocks, a = [], 0
        for out in self.outs:
            row, c = [], 0
            for own in self.ins:
                part = numbered if alone else csr_array(numbered[a : a + out.size, c : c + own.size])
                template = Template(part.indptr.astype(np.int32), part.indices.astype(np.int32), part.shape)
                row.append(SparseBlock(template, part.data, out.dtype))
                c += own.size
            blocks.append(row)
            a += out.size
        return blocks

    def forward_seeds(self) -> tuple[BatchTrace, list[Any]]:
        """For each colour of columns the sum of their unit vectors: the batch, and one value for each leaf."""
        assert self.coloured.columns is not None
        return _seeds(self.coloured.columns, self.forward, self.ins)

    def backward_seeds(self) -> tuple[BatchTrace, list[Any]]:
        """For each colour of rows the sum of their unit vectors."""
        assert self.coloured.rows is not None
        return _seeds(self.coloured.rows, self.backward, self.outs)

    def read(self, products: Sequence[Any]) -> list[list[Any]]:
        """The blocks, from all products, those of reverse mode first."""
        parts = [reshape(x, shape=(aval_of(x).size,)) for x in products]
        blocks = []
        for row, sources in zip(self.blocks, self.coloured.places, strict=True):
            filled = []
            for (template, _, dtype), places in zip(row, sources, strict=True):
                data = taken_entries(parts, places, np.diff(template.indptr), dtype)
                filled.append(template.filled(data if dtype_of(data) == dtype else astype(data, dtype=dtype)))
            blocks.append(filled)
        return blocks


def _count(colors: np.ndarray | None) -> int:
    return 0 if colors is None else int(colors.max(initial=-1)) + 1


def _seeds(colors: np.ndarray, count: int, avals: Sequence[Aval]) -> tuple[BatchTrace, list[Any]]:
    """In a program that is captured, seeds are made when it runs, rather than kept."""
    batch = BatchTrace(count)
    capture = running.state.capture
    numbers: Any = np.arange(count) if capture is None else capture.process(iota, (), {"n": count})
    vectors, start = [], 0
    for aval in avals:
        own = colors[start : start + aval.size].reshape(1, *aval.shape)
        column = reshape(numbers, shape=(count, *(1,) * len(aval.shape)))
        vectors.append(batch.wrap(astype(equal(column, own), dtype=aval.dtype)))
        start += aval.size
    assert start == total_size(avals)
    return batch, vectors


# ---------------------------------------------------------------------------------------------------------- the choice


class _ByContent:
    """A pattern and a mode, equal to others of the same content: who asks anew at each step for a Jacobian with a
    pattern of his own need not wait each time for its colouring."""

    def __init__(self, pattern: csr_array, mode: str):
        self.pattern, self.mode = pattern, mode
        content = b"".join([np.ascontiguousarray(x).tobytes() for x in (pattern.indptr, pattern.indices)])
        self._key = (pattern.shape, pattern.indices.dtype.str, mode, blake2b(content).digest())

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByContent) and self._key == other._key


@lru_cache(maxsize=8)
def _chosen(asked_for: _ByContent) -> tuple[str, Any, str]:
    """Which colouring, and why."""
    pattern, mode = asked_for.pattern, asked_for.mode
    asked = {"symmetric": "symmetric", "forward": "column", "reverse": "row"}.get(mode)
    if asked is not None:
        found = coloring(pattern, asked)
        why = "a star colouring of the Hessian" if mode == "symmetric" else f"{mode} mode, as asked for"
        return asked, found, f"{found.count} products: {why}"
    m, n = pattern.shape
    widest = int(np.diff(pattern.indptr).max(initial=0))
    tallest = int(np.bincount(pattern.indices, minlength=n).max(initial=0))
    ways: dict[str, Any] = {}
    cost: dict[str, float] = {}

    def tried(way: str) -> None:
        found = ways[way] = coloring(pattern, way)
        backward = 0 if way == "column" else _count(found.colors[0] if way == "both" else found.colors)
        cost[way] = found.count + (REVERSE_COSTS - 1) * backward

    # Columns need at least as many colours as the widest row has entries: what cannot win is not looked for.
    least = {"column": widest, "row": REVERSE_COSTS * tallest}
    first, second = sorted(least, key=least.__getitem__)
    tried(first)
    if least[second] < cost[first]:
        tried(second)
    if min(cost.values()) > max(_FEW, 4 * pattern.nnz / max(m, n, 1)):
        tried("both")
    best = min(cost, key=cost.__getitem__)
    names = {
        "column": "forward mode by columns",
        "row": "reverse mode by rows",
        "both": "both modes, by rows and columns",
    }
    others = [f"{names[way]}: {ways[way].count}" for way in ways if way != best]
    if second not in ways:
        others.append(f"{names[second]}: at least {tallest if second == 'row' else widest}")
    return best, ways[best], f"{ways[best].count} products: {names[best]} ({', '.join(others)})"
