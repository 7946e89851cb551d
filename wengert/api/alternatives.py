"""Values that stand for several at once, each kind on an axis of its own that nobody sees.

A value made by `alternatives` looks like one of the values it stands for, and whatever is computed from it has the
axis, too. `laid_out` makes the axes visible. With `vmap` it is the same, but a function is not needed: what is computed
between the two may depend on some of many axes, and has only these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.writing import settled
from wengert.capture.hooks import instrument
from wengert.ir.symbol import Sym
from wengert.modes.batch import Batch, BatchTrace
from wengert.modes.tape import Tape
from wengert.running import running


def alternatives(values: np.ndarray, shape: tuple[int, ...] = (), memo: dict | None = None) -> tuple[Any, Any]:
    """One value for all of those along the first axis, and the axis they are on from now on.

    With a `shape` the value is an array of that shape, all of whose elements are the same at a time.

    Values that share a `memo` share what is computed from them: where the same is done to equal values on several axes,
    as in the iterations of a loop that is written out, the numbers are computed once, and only the axes differ.

    >>> import numpy as np
    >>> z, axis = alternatives(np.array([1.0, 2.0, 3.0]))
    >>> y = 10 * z
    >>> y.shape, laid_out(y, [axis])[0]
    ((), array([10., 20., 30.]))
    """
    event = values.shape[1:]
    spread = np.reshape(values, (len(values), *(1,) * len(shape), *event))
    values = np.array(np.broadcast_to(spread, (len(values), *shape, *event)))
    if memo is None:
        trace = BatchTrace(len(values))
        return trace.wrap(values), trace
    known = memo.setdefault((values.shape, values.dtype, values.tobytes()), values)
    known.flags.writeable = False
    shared = SharedAlternatives(len(known), memo)
    return shared.wrap(known), shared


class SharedAlternatives(BatchTrace):
    """An axis whose results are shared with other axes of equal values.

    What is kept is found again by what operands are: symbols of the program that is captured, nodes of tapes, numbers.
    Arrays can be written to, so nothing that is computed from a plain one is kept, but for the values themselves.
    """

    __slots__ = ("memo",)

    def __init__(self, size: int, memo: dict):
        super().__init__(size)
        self.memo = memo

    def process(self, op: Any, args: tuple, params: dict) -> Any:
        key, held = self._key(op, args, params)
        if key is None:
            return super().process(op, args, params)
        if key in self.memo:
            return Batch(self, self.memo[key][0])
        y = super().process(op, args, params)
        if y.__class__ is Batch and y._owner is self and _content(y._value) is not None:
            self.memo[key] = (y._value, held)
        return y

    def _key(self, op: Any, args: tuple, params: dict) -> tuple[Any, Any]:
        """What says of an operation that it is the same as another, and the objects whose identities that uses."""
        capture = running.state.capture
        if capture is None:
            return None, None
        mapped = tuple([a.__class__ is Batch and a._owner is self for a in args])
        values = [a._value if m else a for a, m in zip(args, mapped, strict=True)]
        contents = [_content(value) for value in values]
        if None in contents:
            return None, None
        key = (id(capture), op.name, mapped, tuple([c[0] for c in contents if c]), tuple(sorted(params.items())))
        try:
            hash(key)
        except TypeError:
            return None, None
        return key, (capture, contents)


def _content(x: Any) -> tuple[Any, Any] | None:
    """What a value is, which can be compared, and the objects whose identities that uses; `None` if it can change."""
    if x.__class__ in (bool, int, float) or isinstance(x, np.generic):
        return (x.__class__, x.item() if isinstance(x, np.generic) else x), None
    if x.__class__ is np.ndarray:
        return None if x.flags.writeable else ((np.ndarray, id(x)), x)
    if not isinstance(x, Box) or x._view_of is not None:
        return None
    if x.__class__ is Sym:
        return (Sym, id(x._node)), x._node
    if x.__class__ is not Tape and x.__class__ is not Batch:
        return None
    inner = _content(x._value)
    if inner is None:
        return None
    node = x._node if x.__class__ is Tape else 0
    return (x.__class__, id(x._owner), node, inner[0]), (x._owner, inner[1])


def followed(f: Callable) -> Callable:
    """A function that can take such values: plain arrays can be indexed by them in it, and so on."""
    return instrument(f)


def laid_out(x: Any, axes: Sequence[Any]) -> tuple[Any, list[Any]]:
    """A value with an axis in front for each of these axes that it depends on, and which they are."""
    found = []
    x = settled(x)
    while x.__class__ is Batch and any(x._owner is axis for axis in axes):
        found.insert(0, x._owner)  # the axis of what is inside stands in front
        x = settled(x._value)
    return x, found
