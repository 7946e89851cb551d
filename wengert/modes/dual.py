"""Forward mode: a value and its tangent travel together.

A `Dual` holds a value and one tangent of the same shape. Many tangents at once are one tangent with a hidden axis
(a `Batch`, see `batch.py`): this file need not know. Memory is constant in the length of the program, since
nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.box import Box, escaped, outside
from wengert.box.constructors import as_argument
from wengert.box.writing import overwrite, plain, settled, value_in, zeros
from wengert.modes.cuts import Cutoff, cut_by, cut_by_text, warn_of_constant, warn_of_search
from wengert.modes.mode import Mode
from wengert.modes.searches import Searches
from wengert.ops.derive import Control
from wengert.ops.index import index
from wengert.ops.library import example_of, gathered, placed
from wengert.ops.op import Op, Traced, call, fresh_tag, in_kind
from wengert.running import entered, running
from wengert.types import aval_of, shape_of


class Dual(Box):
    """A value with its tangent."""

    __slots__ = ()
    _state = ("_owner", "_value", "_tangent")

    def __init__(self, trace: DualTrace, value: Any, tangent: Any):
        self._owner = trace
        self._value = value
        self._tangent = tangent


Dual.__name__ = "traced array"


class DualTrace(Mode):
    """One forward differentiation."""

    __slots__ = ("alive", "cut", "searches", "tag", "text")
    name = "tangent"
    boxes = Dual
    companions = 1

    def __init__(self) -> None:
        self.tag = fresh_tag()
        self.alive = True
        self.cut: Cutoff | None = None
        """The first op with a derivative of zero."""
        self.searches = Searches()
        self.text: Cutoff | None = None
        """Where a text was first made of a value. It counts if nothing else does."""

    def note_text(self, is_part: bool) -> None:
        if is_part and self.text is None:
            self.text = cut_by_text()

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if not self.alive:
            return outside(self, op, args, params)
        if op.__class__ is Control:
            results = op.lift(self, args, params)
            if self.cut is None and not any(r.__class__ is Dual for r in results):
                self.cut = cut_by(self, op, params)
            return results
        if running.state.library is not None:
            args = tuple(gathered(args))
        values = []
        dots = []
        for a in args:
            if a.__class__ is Dual and a._owner is self:
                values.append(a._value)
                dots.append(a._tangent)
            else:
                values.append(a)
                dots.append(None)
        like = running.state.library
        if (
            like is not None and running.state.capture is None
        ):  # what was computed from numbers alone meets tangents that are there
            values, dots = [placed(v, like) for v in values], [placed(d, like) for d in dots]
        y = call(op, *values, **params)
        y_dot = op.tangent(y, tuple(values), dots, params)
        if y_dot is None:
            if self.cut is None or (self.cut.decides and not op.compares):
                self.cut = cut_by(self, op, params)
            if len(values) <= 2 and y.__class__ is not tuple:
                self.searches.look_at(self, op, tuple(values), lambda: _slope(dots))
            return y
        if y.__class__ is tuple:
            return tuple(v if d is None else Dual(self, v, d) for v, d in zip(y, y_dot, strict=True))
        return Dual(self, y, y_dot)

    def fresh(self) -> DualTrace:
        watch = running.state.watch
        return DualTrace() if watch is None else watch.dual()

    def split(self, box: Any) -> list[Any]:
        return [box._value, box._tangent]

    def join(self, parts: Sequence[Any]) -> Dual:
        return Dual(self, *parts)

    def constant(self, x: Any) -> list[Any]:
        return [x, zeros(*aval_of(x))]

    def write(self, box: Any, v: Any, pattern: tuple, arrays: tuple) -> Any:
        if not self.alive:
            return NotImplemented
        mine = v.__class__ is Dual and v._owner is self
        overwrite(box, "_value", v._value if mine else v, pattern, arrays)
        overwrite(box, "_tangent", v._tangent if mine else 0, pattern, arrays)
        return None


def push(
    function: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any], warns: bool = False
) -> tuple[list[Any], list[Any]]:
    """Values and tangents of a function from leaves to a list of leaves. A tangent `None` is zero, in and out.

    With `warns`, there is a warning if all results are constant, because the derivative was cut.
    """
    watch = running.state.watch
    trace = DualTrace() if watch is None else watch.dual()
    with entered(trace, library=example_of(primals)):
        inputs = [x if t is None else Dual(trace, x, in_kind(t, x)) for x, t in zip(primals, tangents, strict=True)]
        outputs = function(*[as_argument(*pair) for pair in zip(inputs, primals, strict=True)])
        values: list[Any] = []
        dots: list[Any] = []
        for y in map(settled, outputs):
            if y.__class__ is Dual and y._owner is trace:
                values.append(_common(value_in(y), primals, tangents))
                dots.append(y._tangent)
            else:
                check_not_inner(y, trace.tag)
                values.append(y)
                dots.append(None)
        cut, search = trace.cut or trace.text, trace.searches.ended()
        if warns and cut is not None and all(dot is None for dot in dots):
            warn_of_constant(cut)
        elif warns and search is not None:
            warn_of_search(search)
        if watch is not None:
            watch.pushed(values, dots)
        return values, dots


def _slope(dots: Sequence[Any]) -> float:
    """The size of the tangent of a difference, or of one number, of which the first elements stand for all."""
    first = [0.0 if dot is None else np.asarray(plain(dot)).reshape(-1)[0] for dot in dots]
    return abs(float(first[0] - first[1] if len(first) == 2 else first[0]))


def _common(value: Any, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """A value that is the same along all directions of a batch of tangents, but for the way it was computed.

    Where eigenvectors are chosen by the direction (`ops/repeated.py`), so is what is made of them.
    """
    while (
        isinstance(value, Traced)
        and value._owner.batches
        and shape_of(value._value)[0]  # type: ignore[attr-defined]
        and any(isinstance(t, Traced) and t._owner is value._owner for t in tangents)
        and not any(isinstance(x, Traced) and x._owner is value._owner for x in primals)
    ):
        value = index(value._value, pattern=(0,))  # type: ignore[attr-defined]
    return value


def check_not_inner(y: Any, tag: int) -> None:
    """Refuse an output that belongs to an inner or ended differentiation: its derivative would silently be lost."""
    if isinstance(y, Box) and not y._owner.batches and (y._owner.tag > tag or not y._owner.alive):
        raise escaped()
