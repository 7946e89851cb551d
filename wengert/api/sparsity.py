"""Which entries of a Jacobian or Hessian can be nonzero: `sparsity`.

Forward mode is run with patterns for tangents (`modes/pattern.py`). At a point (`local=True`) that is all. For all
values of the arguments, forward mode is captured as `jit` would, and the program is run on patterns
(`control/united.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from wengert import tree
from wengert.api.arguments import Argnums, Prepared, shortened
from wengert.api.basis import total_size
from wengert.api.grad import grad
from wengert.api.jit import Jitted
from wengert.api.natural import is_interval
from wengert.api.operators import operation, result_of
from wengert.box.writing import settled
from wengert.capture.guards import ArrayGuard
from wengert.capture.program import CANNOT_BE_CAPTURED, Captured
from wengert.capture.session import current
from wengert.control.derived import all_hold
from wengert.control.united import United
from wengert.errors import StagingError
from wengert.modes.pattern import PlacesUnknown, not_known
from wengert.modes.sets import Sets, stacked
from wengert.ops.op import Traced
from wengert.types import Aval, aval_of, dtype_of, shape_of


@operation
def sparsity(f: Callable, order: int = 1, *, argnums: Argnums = 0, local: bool = False) -> Callable:
    """Which entries of a Jacobian, or of a Hessian, can be nonzero.

    Args:
        f: a function of numbers, arrays and containers of them.
        order: 1 for the Jacobian, 2 for the Hessian of a function with one real result.
        argnums: which positional argument to differentiate, or a tuple of several.
        local: whether only the arguments of the call count. By default the pattern holds for all values of arguments
            of these types and shapes: both sides of `np.where`, and of an `if` by a traced value. Integers among the
            other arguments, and arrays that the function finds outside, are as they are.

    Returns:
        A function with the arguments of `f` that returns a boolean `scipy.sparse.csr_array` of shape (size of the
        result, size of the argument), elements counted in C order; or containers of these, as `jacobian` does. An
        entry that is missing is zero; one that is there may be zero.

    Cost: about one sparse matrix operation for each operation on arrays in `f`. No derivative is computed.

    >>> import numpy as np
    >>> sparsity(lambda x: x[1:] * x[:-1])(np.ones(4)).toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    >>> sparsity(lambda x: np.sum(x[1:] * x[:-1]), order=2)(np.ones(3)).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    if np.ndim(order) or order not in (1, 2):
        raise ValueError(
            f"order is 1, for Jacobians, or 2, for Hessians, not {shortened(order)}; "
            "an argument of the function goes to what comes back: wg.sparsity(f)(x)"
        )
    g = f if order == 1 else grad(f, argnums)

    @result_of("sparsity", f)
    def pattern(*args: Any, **kwargs: Any) -> Any:
        prepared = Prepared(g, argnums, args, kwargs, False)
        if local:
            found = at_point(prepared)
        else:
            staged = StagedPattern(g, argnums, False, prepared, args, kwargs)
            lasting = staged.found()
            lasting.hold_to_values(staged.leaves)
            found = lasting.found
        blocks = found.blocks() if order == 1 else symmetric(found.blocks())
        return tree_of(found, prepared, blocks)

    return pattern


class FoundPattern(NamedTuple):
    """The pattern of a Jacobian, over the elements of all leaves of the result and of the arguments."""

    whole: csr_array
    ins: list[Aval]
    outs: list[Aval]
    outputs: Callable[[Sequence[Any]], Any]

    def blocks(self) -> list[list[csr_array]]:
        """One matrix for each leaf of the result and each leaf of the arguments."""
        return cut(self.whole, self.ins, self.outs)


def cut(matrix: csr_array, ins: Sequence[Aval], outs: Sequence[Aval]) -> list[list[csr_array]]:
    """A matrix over all leaves, cut into one block for each pair of them."""
    if len(ins) == len(outs) == 1:
        return [[matrix]]
    rows, columns = _ends(outs), _ends(ins)
    return [[csr_array(matrix[a:b, c:d]) for c, d in columns] for a, b in rows]


def _ends(avals: Sequence[Aval]) -> list[tuple[int, int]]:
    stops = np.cumsum([0, *[aval.size for aval in avals]]).tolist()
    return list(itertools.pairwise(stops))


def symmetric(blocks: list[list[csr_array]]) -> list[list[csr_array]]:
    """The pattern of a Hessian: what is in either triangle. (The gradient's program need not treat both alike.)"""
    n = len(blocks)
    return [[_sorted(blocks[i][j] + blocks[j][i].T.tocsr()) for j in range(n)] for i in range(n)]


def _sorted(matrix: Any) -> csr_array:
    matrix = csr_array(matrix)
    matrix.sort_indices()
    return matrix


def tree_of(found: FoundPattern, prepared: Prepared, blocks: list[list[Any]]) -> Any:
    """Blocks in the containers of the result, each leaf in those of the arguments."""
    return found.outputs([prepared.inputs(row) for row in blocks])


# ------------------------------------------------------------------------------------------------------- at one point


def units(trace: United, ins: Sequence[Aval]) -> list[Any]:
    """Tangents that depend on one element of the arguments each."""
    vectors, start = [], 0
    for aval in ins:
        vectors.append(trace.unit(aval, start))
        start += aval.size
    return vectors


def at_point(prepared: Prepared) -> FoundPattern:
    """The pattern at the arguments of this call."""
    ins = [aval_of(x) for x in prepared.leaves]
    trace = United(total_size(ins))
    values, dots = prepared.push(units(trace, ins))
    outs = [aval_of(y) for y in values]
    return FoundPattern(pattern_of(trace, dots, outs), ins, outs, prepared.outputs)


def pattern_of(trace: United, dots: Sequence[Any], outs: Sequence[Aval]) -> csr_array:
    """The pattern of tangents of the results, one leaf after the other; None is zero."""
    sets = [
        Sets.empty(aval.size, trace.width) if d is None else trace.sets_of(settled(d))
        for d, aval in zip(dots, outs, strict=True)
    ]
    return stacked(sets).matrix() if sets else csr_array((0, trace.width), dtype=bool)


# ------------------------------------------------------------------------------------------------------ for all values


_AT_POINT = (
    "  note: patterns for all values of the arguments are those of captured programs; wg.sparsity(f, local=True) is "
    "the pattern at a point, and sparse=pattern gives one to a derivative"
)


class StagedPattern:
    """Forward mode of a call, to be captured as `jit` would: what the pattern depends on besides the function.

    `key` tells calls of other types and shapes apart. Integers among the arguments that are not differentiated are
    part of the pattern, as indices are; other numbers are not.
    """

    def __init__(self, f: Callable, argnums: Argnums, has_aux: bool, prepared: Prepared, args: tuple, kwargs: dict):
        self.ins = [aval_of(x) for x in prepared.leaves]
        self._about: list[Any] = []
        numbers = [argnums] if isinstance(argnums, int) else list(argnums)

        def tangents(others: tuple, named: dict, xs: list, vectors: list) -> list[Any]:
            current.session.unrolls |= self._unrolls  # type: ignore[union-attr]
            if self._for_these_integers and any(map(_is_open_integer, tree.leaves((others, named)))):
                raise not_known("a length")
            filled = list(others)
            chosen = prepared.inputs(xs)
            for k, x in zip(numbers, [chosen] if isinstance(argnums, int) else chosen, strict=True):
                filled[k] = x
            inner = Prepared(f, argnums, tuple(filled), named, has_aux)
            values, dots = inner.push(vectors)
            demand_lengths(values)  # (or the program is captured once more, for the integers of this call)
            self._about[:] = [[aval_of(y) for y in values], [d is not None for d in dots], inner.outputs]
            return [d for d in dots if d is not None]

        others = list(args)
        for k in numbers:
            others[k] = None
        vectors = [np.zeros(*aval) for aval in self.ins]
        self._tangents, self._for_these_integers = tangents, False
        self._unrolls = self._could_unroll = False
        self._jitted = Jitted(tangents, (), (), False)
        others, kwargs, leaves = of_numbers((others, kwargs, list(prepared.leaves)))
        self._form = self._jitted._form((tuple(others), kwargs, leaves, vectors), {})
        self.leaves, self.key = self._form.leaves, self._form.key
        self.count = len(self.leaves) - 2 * len(self.ins)
        """How many of the leaves are not differentiated."""

    def found(self) -> ForAll:
        """The pattern for all values of the arguments; of integers among them, if need be, as lengths, for these. Where
        counters of loops decide lengths, the loops are unrolled if need be."""
        try:
            return self._for_all()
        except CANNOT_BE_CAPTURED:
            self._unrolls = self._could_unroll
            has_integers = any(not shape_of(x) and _is_structure(x) for x in self.leaves[: self.count])
            if not has_integers and not self._unrolls:
                raise
        self._for_these_integers, self._jitted = has_integers, Jitted(self._tangents, (), (), False)
        return self._for_all()

    def _for_all(self) -> ForAll:
        try:
            program, leaves = self._jitted.lasting_version(self._form), self.leaves
        except CANNOT_BE_CAPTURED as error:
            error.add_note(_AT_POINT)
            raise
        self._could_unroll = program.could_unroll
        known = {k: np.array(x) for k, x in enumerate(leaves[: self.count]) if _is_structure(x)}
        could_be = {k: v for k, x in enumerate(leaves[: self.count]) if (v := _value_of(x)) is not None}
        if could_be:  # are arguments of the program that is captured: whether they are part of it is found out
            try:
                return self._found(program, known, asks=True)
            except (PlacesUnknown, StagingError):
                known |= {k: np.array(v) for k, v in could_be.items()}
        return self._found(program, known, asks=False)

    def _found(self, program: Captured, known: dict[int, np.ndarray], asks: bool) -> ForAll:
        leaves, trace = self.leaves, United(total_size(self.ins))
        trace.asks = asks
        given: list[Any] = [
            known[k] if k in known else trace.unknown(aval_of(leaves[k])) for k in range(len(leaves) - len(self.ins))
        ]
        given += units(trace, self.ins)
        for k, x in program.pinned.items():
            given[k] = x
        outside = [path() for path in program.inputs]
        results = trace.run(program.block, [*given, *[trace.unknown(aval_of(x)) if isinstance(x, Traced) else x
                                                      for x in outside]])  # fmt: skip
        dots = iter(program.output(given, results[: len(results) - len(program.writes)]))
        outs, active, outputs = self._about
        pattern = pattern_of(trace, [next(dots) if a else None for a in active], outs)
        frozen = [(path, np.array(x)) for path, x in zip(program.inputs, outside, strict=True)
                  if not isinstance(x, Traced)]  # fmt: skip
        return ForAll(
            FoundPattern(pattern, self.ins, outs, outputs), program, known, [ArrayGuard(*pair) for pair in frozen]
        )


class ForAll(NamedTuple):
    """A pattern for all values of the arguments, and what it depends on besides."""

    found: FoundPattern
    program: Captured
    known: dict[int, np.ndarray]
    """Arguments that are part of it, by their places among the leaves."""
    outside: list[ArrayGuard]
    """Arrays that the function finds outside."""

    @property
    def guards(self) -> list[Any]:
        return [*self.program.guards, *self.outside]

    def hold_to_values(self, leaves: Sequence[Any]) -> None:
        """Have the program that is captured be for these values, where they are its arguments."""
        session = current.session
        for k in self.known:
            if isinstance(leaves[k], Traced) and session is not None:
                session.hold_to_value(leaves[k])

    def holds(self, leaves: Sequence[Any]) -> bool:
        """Whether it is the pattern for these arguments."""
        return (
            self.program.is_for(leaves)
            and all(_is_value(leaves[k], x) for k, x in self.known.items())
            and self.program.guards_hold()
            and all_hold(self.outside)
        )


def demand_lengths(values: Sequence[Any]) -> None:
    """Raise if only the program that is captured knows how long a result is."""
    if any(n.__class__ is not int for y in values for n in shape_of(y)):
        raise not_known("a length")


def of_numbers(arguments: Any) -> Any:
    """Arguments with a number for each interval: a pattern for all values is one for all numbers in it."""
    leaves, structure = tree.flatten_until(arguments, is_interval)
    return tree.unflatten(structure, [_number_in(x) if is_interval(x) else x for x in leaves])


def _number_in(x: Any) -> Any:
    x = settled(x)
    return x.lo if x.dtype.kind == "f" else x._owner.same(x.lo, x.hi, "an argument that is no floating-point number")


def _is_structure(x: Any) -> bool:
    return not isinstance(x, Traced) and aval_of(x).dtype.kind in "biu"


def _is_open_integer(x: Any) -> bool:
    """Whether it is an integer, or a truth value, of which only the program knows which one it is."""
    return isinstance(x, Traced) and not shape_of(x) and dtype_of(x).kind in "biu"


def _value_of(x: Any) -> np.ndarray | None:
    """The value, in this call, of an array of integers that is an argument of the program that is captured."""
    return current.session.value_of(x) if isinstance(x, Traced) and current.session is not None else None


def _is_value(x: Any, known: np.ndarray) -> bool:
    value = _value_of(x) if isinstance(x, Traced) else x
    return value is not None and np.array_equal(value, known)
