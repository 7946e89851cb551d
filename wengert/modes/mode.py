"""What a mode is, for ops that hold code: which values a box carries, and how they are taken apart and put together.

A box of a mode carries a leading value and a number of companions:

    mode        leading value            companions
    dual        the value                its tangent
    batch       all examples, stacked    none
    series      the value                the coefficients of higher order
    interval    the lower bound          the upper bound

Ops that hold code (`control/`) are lifted over this protocol once, for all modes: the block is run on boxes of the
mode, and their companions become further parameters and results of the block. A mode that states what is asked for here
runs through loops, branches and calls without a rule of its own for them. (Reverse mode is no such mode: it keeps
residuals, and goes through a block twice.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.errors import ConcretizationError, WengertError
from wengert.ops.op import Trace
from wengert.types import Aval


def closure(name: str) -> WengertError:
    """The error for a value that a derivative rule uses and is not given."""
    return WengertError(
        f"{name} or its rule uses a value that is being differentiated and is not among its arguments",
        remedy="pass every value that the function depends on as an argument of the function",
    )


class Mode(Trace):
    """One running transformation of values with companions."""

    __slots__ = ()
    name: str
    companions: int
    """How many companions a box has."""
    boxes: Any
    """The class of its boxes."""

    @property
    def key(self) -> Any:
        """What a lifted block depends on, besides the block: modes with the same key do the same."""
        return self.name

    def fresh(self) -> Mode:
        """Another transformation of this kind, to run a block in."""
        raise NotImplementedError

    def owns(self, x: Any) -> bool:
        """Whether a value is a box of this transformation."""
        return x.__class__ is self.boxes and x._owner is self

    def split(self, box: Any) -> list[Any]:
        """The leading value and the companions of an own box."""
        raise NotImplementedError

    def join(self, parts: Sequence[Any]) -> Any:
        """The box with this leading value and these companions."""
        raise NotImplementedError

    def constant(self, x: Any) -> list[Any]:
        """What `split` would give for a value that is not a box of this transformation."""
        raise NotImplementedError

    def avals(self, aval: Aval) -> list[Aval]:
        """Shape and dtype of the leading value and the companions of a box that looks like this."""
        return [aval] * (1 + self.companions)

    def unstacked(self, parts: list[Any]) -> list[Any]:
        """The parts of a box, from the parts of boxes that were stacked along a new first axis."""
        return parts

    def apart(self, what: str) -> BaseException:
        """What is raised where a box stands for values that cannot be treated alike."""
        return self._undecided()

    def decided(self, box: Any) -> Any:
        """The plain condition that a box stands for, if it must be one; otherwise the box."""
        return box

    def decided_always(self, box: Any) -> Any:
        """The same, for loops: where a mode has no use for iterations that some do and others do not."""
        return box

    # Decisions (which branch, whether to go on, how often) are made on plain values. Where the conditions of a mode are
    # boxes themselves, since they may hold and not hold at once, both branches are run, and `where` is asked which
    # result counts.

    def some(self, parts: Sequence[Any]) -> Any:
        """Whether a condition may hold, given the parts of its box."""
        raise self._undecided()

    def most(self, parts: Sequence[Any]) -> Any:
        """The largest number that a box stands for, given its parts."""
        raise self._undecided()

    def _undecided(self) -> Exception:
        return ConcretizationError(
            f"a decision by a value that is not one number ({self.name})", remedy="use np.where(condition, a, b)"
        )
