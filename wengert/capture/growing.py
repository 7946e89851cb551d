"""Lists that grow in a loop of a known number of iterations: what is appended goes into arrays.

    ys = [y0]                           rows = zeros(1 + n); rows[0] = y0
    for i in range(n):        ->        for i in range(n):
        ys.append(f(ys[-1]))                rows[1 + i] = f(rows[i])
                                        ys = [rows[0], …, rows[n]]

Each iteration appends as many items, of one structure, and there is one array for each number in it. While the suite
runs the list holds one thing, an `Earlier`, for all that was in it before the iteration, and then what is appended.
`ys[k]` and `len(ys)` ask it; whatever else is done to it is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.cells import Cell
from wengert.box.writing import settled
from wengert.capture.containers import LEAF, Structure, about_to_change, flatten, note_created, unflatten
from wengert.capture.containers import leaves as leaves_of
from wengert.capture.opened import is_open
from wengert.capture.session import current
from wengert.capture.values import BranchesDiffer, FirstDiffers, as_number, is_number, is_symbolic, widened
from wengert.errors import StagingError
from wengert.ir.aliases import root_of
from wengert.ir.build import type_of_value
from wengert.ir.node import Type
from wengert.ops import elementwise as e
from wengert.ops.op import call
from wengert.ops.shape import copy
from wengert.ops.sizes import require
from wengert.running import running

_MOST = 100_000
"""Lists do not grow beyond this: each item is a value of the program."""


class Grows(BranchesDiffer):
    """A list has another length after a suite: `thing` holds `before` items at the head, and `after` at the end; and
    so have `others`."""

    def __init__(self, thing: Any, before: int, after: list, others: Sequence[Grows] = ()):
        self.thing, self.before, self.after, self.others = thing, before, after, others
        self.is_for_loops = False
        """Whether a loop around is to be unrolled, which then decides by how much it does (`counters.py`)."""
        super().__init__(
            "a list becomes longer or shorter in a loop or branch, by how much only the compiled program knows, and "
            "its items are not all of one kind",
            remedy="append numbers, arrays of one shape or tuples of them, or fill an array that was made before",
        )

    @property
    def things(self) -> list[Any]:
        return [self.thing, *[other.thing for other in self.others]]


def _refused(*args: Any) -> Any:
    raise StagingError("a list that grows in a loop is used as a whole in it",
                       remedy="read its items one by one, or fill an array that was made before")  # fmt: skip


class Earlier:
    """What is in a list before an iteration: `count` items, in arrays, of one structure."""

    def __init__(self, structure: Structure, types: list[Type], total: int):
        self.structure, self.types = structure, types
        shapes: list[Any] = [(total, *t.shape) for t in types]
        self.rows = [Cell(np.zeros(shape, t.dtype)) for shape, t in zip(shapes, types, strict=True)]
        self.count: Any = 0

    __iter__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __eq__ = __ne__ = __lt__ = __gt__ = (
        _refused
    )
    __le__ = __ge__ = __truediv__ = __rtruediv__ = __call__ = __getitem__ = __neg__ = __pow__ = __bool__ = _refused
    __array__ = __float__ = __len__ = __matmul__ = __rmatmul__ = _refused
    __hash__ = None  # type: ignore[assignment]

    def put(self, k: Any, item: Any) -> None:
        leaves, structure = flatten(item)
        if structure != self.structure:
            _refused()
        for rows, leaf in zip(self.rows, leaves, strict=True):
            rows[settled(k)] = leaf

    def item(self, k: Any, is_over: bool = False) -> Any:
        """The k-th item. While the loop runs, what is written to it would be lost."""
        found = []
        for rows, t in zip(self.rows, self.types, strict=True):
            value = rows[k]
            if isinstance(value, Box) and value._view_of is not None:
                value._view_of.readonly = not is_over
            found.append(as_number(value, t.dtype) if t.weak and is_symbolic(value) else value)
        return unflatten(self.structure, found, note_created)


def earlier_of(container: Any) -> Earlier | None:
    """What stands for the items of a list that grows in the loop around, or `None`."""
    if container.__class__ is list and container and container[0].__class__ is Earlier:
        return container[0]
    return None


def length_of(container: list, earlier: Earlier) -> Any:
    """`len(container)`."""
    return earlier.count + len(container) - 1


def item_of(container: list, earlier: Earlier, key: Any) -> Any:
    """`container[key]`."""
    new = len(container) - 1
    if key.__class__ is int and -new <= key < 0:
        return container[key]
    if key.__class__ is not int and not (is_symbolic(key) and settled(key).dtype.kind in "iu"):
        return _refused()
    length = length_of(container, earlier)
    place = length + key if key.__class__ is int and key < 0 else key
    if is_symbolic(key):
        place = e.where(e.less(key, 0), length + key, key)
    call(require, e.logical_and(e.greater_equal(place, 0), e.less(place, earlier.count)), error="IndexError",
         message="list index out of range, or of an item that was appended in the same iteration")  # fmt: skip
    return earlier.item(place)


def run(grows: Grows, count: int, body: Callable, get: Callable, stage: Callable[[Callable], None]) -> None:
    """Stage a loop in which a list grows; `stage(body)` stages it with another suite, which is given `(k, item)`.

    `get()` are the values of the variables that the loop binds.
    """
    thing, n = grows.thing, grows.before
    step = len(grows.after) - n
    if step < 1 or is_open(grows.after) or thing.__class__ is not list:
        raise grows
    if n == 0:
        raise FirstDiffers(str(grows))
    total = n + step * count
    found = _kind_of_items([*thing, *grows.after[n:]], total)
    if found is None:
        raise grows
    old = list(thing)
    earlier = Earlier(*found, total)
    for k, x in enumerate(old):
        earlier.put(k, x)
    about_to_change(thing)
    thing[:] = [earlier]
    shared: set[int] = set()

    def grown(pair: tuple) -> None:
        k, value = pair
        earlier.count = n + step * k
        try:
            body(value)
        except ValueError as error:
            raise grows if "read-only" in str(error) else error from None
        new = list(thing)
        if len(new) != step + 1 or new[0] is not earlier:
            raise grows
        arrays = [x for x in leaves_of(new[1:]) if isinstance(x, Box) and x.shape]
        capture = running.state.capture
        if not all(capture.made(root_of(x)) and x._view_of is None for x in arrays) or any(
            capture.links.concern(x) for x in arrays
        ):
            raise grows  # one array several times, perhaps
        shared.update(k for k, v in enumerate(get()) if any(v is x for x in arrays))
        for j, x in enumerate(new[1:]):
            earlier.put(n + step * k + j, x)
        thing[:] = [earlier]

    try:
        stage(grown)
    except BaseException:
        thing[:] = old
        raise
    thing[:] = [*old, *[earlier.item(k, True) for k in range(n, total)]]
    capture = running.state.capture
    for k, value in enumerate(get()):
        if k in shared and isinstance(value, Box):  # it is the array that was appended last
            for rows in earlier.rows:
                capture.links.add(value, rows, None, capture)
    if current.session is not None and earlier.structure is LEAF:
        current.session.grown[id(thing)] = (thing, tuple(thing), earlier.rows[0])


def _kind_of_items(items: list[Any], total: int) -> tuple[Any, list[Type]] | None:
    """The structure of items, and the types of their leaves; `None` if they are not of one kind, or too many."""
    samples = [flatten(x) for x in items]
    structure = samples[0][1]
    if any(s != structure for _, s in samples) or not all(is_number(x) for leaves, _ in samples for x in leaves):
        return None
    if total * max(len(samples[0][0]), 1) > _MOST:
        return None
    types = []
    for column in zip(*[leaves for leaves, _ in samples], strict=True):
        known = type_of_value(column[0])
        for x in column[1:]:
            known = widened(known, type_of_value(x), "an item of a list")
        if not known.is_static:
            return None
        types.append(known)
    return structure, types


def as_array(things: Any) -> Any:
    """The array of the items of a list that has grown in a loop, if it still holds what it held then."""
    session = current.session
    if things.__class__ is not list or session is None or id(things) not in session.grown:
        return None
    thing, items, rows = session.grown[id(things)]
    if thing is not things or len(items) != len(things) or any(map(operator.is_not, items, things)):
        return None
    return copy(rows)
