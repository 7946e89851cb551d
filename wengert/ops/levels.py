"""How a value is being differentiated: which transformations it is inside of, and along which directions.

Hardly any rule needs to know. Where eigenvalues coincide, though, their vectors are not determined by the matrix alone:
a perturbation determines them, so the directions in which a matrix is differentiated are asked for (see Note [Repeated
eigenvalues] in `repeated.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced


class Levels(NamedTuple):
    """The differentiations that a value takes part in."""

    directions: tuple[Any, ...]
    """One tangent for each forward differentiation, the innermost first; they are constants, or batches of them."""
    others: int
    """How many differentiations there are besides, in reverse mode or symbolic."""

    def __bool__(self) -> bool:
        return bool(self.directions) or self.others > 0


def levels(x: Any) -> Levels:
    """By looking through all layers of a traced value; a batch is no differentiation."""
    directions: list[Any] = []
    others = 0
    wrappers: list[Any] = []  # hidden axes that have been looked through: tangents found inside have them, too
    while isinstance(x, Traced):
        state = getattr(x, "_state", ())
        if x._owner.batches:
            wrappers.append(x._owner)
        elif "_tangent" in state and "_value" in state:
            direction = stop_gradient(x._tangent)  # type: ignore[attr-defined]
            for trace in reversed(wrappers):
                direction = trace.wrap(direction)
            directions.append(direction)
        else:
            others += 1
        if "_value" not in state:
            break
        x = x._value  # type: ignore[attr-defined]
    return Levels(tuple(directions), others)


def is_symbol(x: Any) -> bool:
    """Whether a value is not known yet: it is one of a program that is captured, or an unknown tangent."""
    return _innermost(x) is not None


def is_unknown(x: Any) -> bool:
    """Whether a tangent is unknown: a rule is being run to be transposed."""
    symbol = _innermost(x)
    return symbol is not None and not symbol._owner.captures


def _innermost(x: Any) -> Traced | None:
    """The symbol that a traced value holds, if it holds one."""
    while isinstance(x, Traced):
        if "_value" not in getattr(x, "_state", ()):
            return x
        x = x._value  # type: ignore[attr-defined]
    return None
