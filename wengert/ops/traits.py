"""What a row says of its op besides derivatives: the vocabulary of its traits.

Whoever asks something about an op asks its row, as `op.raises` or `op.cost`; no list of names answers anywhere else.
Families derive what follows from them (an `Elementwise` op is elementwise, and does not raise), `DEFAULTS` is what
holds of most ops, and the rest is stated on the row: `DEMANDED` has no default, since a wrong guess would make wrong
programs (a node that may raise moved out of a loop that never runs) or slow ones.

    elementwise   each element of the result comes from the elements at its place of the operands, which broadcast
    moves         the result holds elements of the operands as they are (and perhaps zeros): nothing is computed
    expands       made of less than it is, by position alone: it is cheaper to make it again than to keep it
    raises        when it raises (`Raises`). Shapes that do not fit are no matter: a program is well formed
    failures      what is raised for some values, where `raises` says so: names of exceptions, with their texts, or
                  `None` where the text is not always the same
    cost          work per element (`Cost`): of the result if elementwise, otherwise of the operands
    flops         `flops(shapes, shape of the result)`, where work is not proportional to the elements
    data          how many operands are data, `None` for all; the others are structure: indices, masks. An integer that
                  is data has tangent zero; structure has no tangent and stays as it is. A function of the parameters,
                  where they say how many
    commutes      the kinds of dtypes for which exchanging the two operands changes no bit
    compares      what it asks of two numbers: their `order`, or `equality`; `None` if it is no comparison
    rounds        its results are whole numbers, or have as many digits as asked for, near what comes in
    switch        of an op that jumps, what goes with its jumps: if it is locally constant, the quantity of its operands
                  that passes some value there (their difference in a comparison, and the operand where there is one,
                  unless stated); otherwise another op, locally constant, that jumps at the same places
    combine       of a reduction or product, the name of the op of two operands that it repeats: `add` for `sum`
    reduction     of an op of two operands, the name of the reduction that repeats it: `sum` for `add`
    identity      of an op of two operands, the number that changes nothing
    view          the result may share memory with the first operand
    writes        the result is the first operand with some elements changed: it has its shape and dtype, and may be
                  made in its memory
    one_pass      each element of its operands is read once, in order: they may be computed while they are read
    ordered       results lie in memory as in C where all operands do; from LAPACK they may come as in Fortran
    effect        it does something besides computing results; it is neither dropped, nor moved, nor done twice
    pure          the same operands give the same results, whenever; not so a question to a function of the user's, or
                  what depends on a choice of the running thread
    marks         it says something about derivatives that its value does not
    solves        the result solves an equation that is linear in it and, while it is held, in all operands: a quotient
    expansion     of an op whose Taylor coefficients its own rule gives slowly, or badly: a program of other ops that
                  has the same, or `NotImplemented` for operands for which that is not so
    expands_in    for which operand alone `expansion` is used, if the others are held; None for all
    series        of an op of one operand, where its own rule gives Taylor coefficients slowly: a function that makes
                  those of the result, 0 … n, of those of the operand
    dtype         of the result, where it is not what the operands are promoted to (`Dtype`, or a function)
    axes          which axes of the result go with which axes of the operands (`axes.py`)
    adds          each element of the result is the sum of the elements of its data that are linked to it, as they are
    links         which elements of the result depend on which of the operands, where nothing else says it (`links.py`)
    bounds        which interval contains its results where operands vary in intervals (`enclosures.py`); `None` if
                  nobody has said so. What only moves elements does so with bounds
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any

from wengert.ops.axes import broadcast


class Raises(enum.Enum):
    """When an op raises, or does not come to an end."""

    NEVER = enum.auto()
    INTEGERS = enum.auto()
    """For some operands of integer types: a negative exponent or shift, a division by zero."""
    LENGTHS = enum.auto()
    """For some lengths: what has no elements has no maximum."""
    PLACE = enum.auto()
    """If a place that an operand names does not exist."""
    VALUES = enum.auto()
    """For some values of its operands: a matrix is singular, something does not converge."""
    BODY = enum.auto()
    """If the code that it holds does."""


class Cost(enum.IntEnum):
    """Work, in additions per element."""

    FREE = 0
    """Nothing is computed."""
    CHEAP = 1
    """An instruction or two: sums, products, comparisons, rounding."""
    MODERATE = 3
    """A division, a square root."""
    DEAR = 15
    """A transcendental function."""
    MORE = 100
    """It grows with the lengths of axes: products of matrices, factorisations, sorting."""


class Dtype(enum.Enum):
    """The dtype of a result."""

    FIRST = enum.auto()
    """That of the first operand."""
    POSITION = enum.auto()
    """int64: a number of elements, or places."""
    REAL = enum.auto()
    """That of the first operand, or of its real part."""
    DOUBLE = enum.auto()
    """float64, whatever the operands are."""
    TRIED = enum.auto()
    """What floating-point operands are promoted to; otherwise found out by computing with some numbers."""


FREE, CHEAP, MODERATE, DEAR, MORE = Cost
NEVER, INTEGERS, LENGTHS, PLACE, VALUES, BODY = Raises

DEFAULTS: dict[str, Any] = {
    "elementwise": False,
    "moves": False,
    "expands": False,
    "failures": {"LinAlgError": None},
    "flops": None,
    "data": None,
    "commutes": "",
    "compares": None,
    "rounds": False,
    "switch": None,
    "combine": None,
    "reduction": None,
    "identity": None,
    "view": False,
    "writes": False,
    "one_pass": False,
    "ordered": True,
    "effect": False,
    "pure": True,
    "marks": False,
    "solves": False,
    "expansion": None,
    "expands_in": None,
    "series": None,
    "dtype": Dtype.TRIED,
    "adds": False,
    "axes": None,
    "links": None,
    "bounds": None,
}
DEMANDED = ("raises", "cost")
NAMES = (*DEFAULTS, *DEMANDED)


def completed(name: str, derived: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    """All traits of a row: what it states, what its family derives, and the defaults.

    >>> completed("double", {"raises": Raises.NEVER}, {"cost": Cost.CHEAP})["view"]
    False
    """
    if stated.get("writes"):
        derived = {**derived, "dtype": Dtype.FIRST}
    if stated.get("elementwise", derived.get("elementwise")):
        derived = {**derived, "axes": broadcast}
    traits = {**DEFAULTS, **derived, **stated}
    missing = [trait for trait in DEMANDED if trait not in traits]
    unknown = [trait for trait in traits if trait not in NAMES]
    if missing or unknown:
        raise TypeError(f"the row of {name!r} must state {missing}" if missing else f"no op has traits {unknown}")
    if traits["moves"] and traits["cost"] > Cost.CHEAP:
        raise TypeError(f"the row of {name!r} says that it moves elements, and that it computes")
    return traits


Flops = Callable[[Sequence[tuple], tuple], float]


def cubic(factor: float) -> Flops:
    """About factor · n · m · min(n, m) operations for each matrix, and a product for each further column."""

    def flops(shapes: Sequence[tuple], result: tuple) -> float:
        *lead, n, m = shapes[0]
        several = len(shapes) > 1
        columns = shapes[1][-1] if several and len(shapes[1]) > 1 else 1
        return math.prod(lead) * (factor * n * m * min(n, m) + 2.0 * n * m * columns * several)

    return flops


def rearranges(op: Any) -> bool:
    """Whether the result has the operand's elements at other places, which no operand names: `transpose`, `reshape`."""
    return op.view and op.moves and not op.elementwise and op.raises is not Raises.PLACE
