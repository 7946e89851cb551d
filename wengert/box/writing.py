"""Writing to traced arrays in place, with NumPy's semantics.

A box is an object that stands for an array; writing to it gives the *object* a new (functional) value, the result of
the op `store`, so everyone who holds the object sees the write, as in NumPy. `become` does that: a box may even change
its class, when a plain array (`Cell`, see `cells.py`) is first written with a traced value, or a value traced by an
outer differentiation with one that is traced by an inner one.

Views. What NumPy would make a view of x (a slice, a transpose, a reshape) is a box of its own that knows its root and
how it is got from there (`View`). Writing to a view writes to its root at the positions where the view's elements lie;
writing to a root makes its views stale. A stale box belongs to SETTLING, the trace with the highest tag of all, so
whatever is done to it first fetches its value anew. Reading costs nothing extra where nothing is written.

Buffers. The values behind boxes are written in place if nobody else holds them: neither the caller, nor a node of the
linear program as a coefficient, nor another box. CPython's reference counts tell. Otherwise they are copied first, and
the copy is ours. So filling n elements one by one costs O(n).

This module works on boxes without importing their classes; `box.py` and `cells.py` are built on it.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from wengert.box.array_classes import held
from wengert.box.functions.lengths import agree
from wengert.box.functions.operands import array, array_of, fitted, holds_traced
from wengert.box.patterns import compose
from wengert.counted import all_count
from wengert.errors import InPlaceError, WengertError
from wengert.ops import library
from wengert.ops.elementwise import add, where
from wengert.ops.index import ARRAY, fill_pattern, index, split_index
from wengert.ops.levels import levels
from wengert.ops.op import Op, Trace, Traced, call
from wengert.ops.shape import astype, broadcast_to, copy, filled, imag, real, reshape
from wengert.ops.store import counted, numbered, store
from wengert.running import running
from wengert.strides import UNKNOWN, OwnMemory, array_order, copy_as, empty_as, is_small_part
from wengert.types import PLAIN, SCALARS, broadcast_shapes, dtype_of, is_inexact, shape_of


def about_to_write(x: Any) -> None:
    """Let linear programs that are being recorded keep the values of `x`, which others are about to write to.

    For plain arrays, and for boxes of outer differentiations. What belongs to a trace itself is copied by `overwrite`.
    """
    tapes = running.state.tapes
    if tapes and x.__class__ is np.ndarray and isinstance(x.base, np.nditer):
        for operand in x.base.operands:
            about_to_write(operand)
    for tape in tapes:
        tape.keep_values_of(x)


class SettlingTrace(Trace):
    """The trace of boxes that must be settled before use: stale views, and cells, which give up their plain array."""

    __slots__ = ("cell",)
    tag = math.inf  # type: ignore[assignment]
    cell: Callable[[Any], Any]
    """How a plain array becomes a cell; filled in by `cells.py`."""

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        settled = [settle(a) if isinstance(a, Traced) and a._owner is self else a for a in args]
        capture = running.state.capture
        if capture is not None:
            for a in settled:
                if a.__class__ is np.ndarray:
                    capture.note_read(a)
        if capture is not None and _holds_symbols(params) and not any(isinstance(a, Traced) for a in settled):
            return capture.process(op, tuple(settled), params)  # a plain array, and bounds that are symbols
        y = call(op, *settled, **params)
        from_cells = any(isinstance(a, Traced) and a._is_cell for a in args)  # type: ignore[attr-defined]
        if not from_cells or not running.state.depth:  # (a cell that someone kept is as good as its array)
            return y
        return tuple(self.wrap(part) for part in y) if y.__class__ is tuple else self.wrap(y)

    def wrap(self, y: Any) -> Any:
        """A plain array that may be written to; anything else as it is.

        Traced values are of floating type, except in a block that is being captured. Where nothing is differentiated
        there are none, and arrays stay what they are.
        """
        if (y.__class__ is not np.ndarray and not library.is_mutable(y)) or not y.ndim:
            return y
        return self.cell(y) if self.holds(y) else y

    def holds(self, y: Any) -> bool:
        """Whether traced values may be written into an array."""
        if not running.state.depth:
            return False
        kind = y.dtype.kind
        return kind in "fc" or (running.state.capture is not None and kind in "biu")


def _holds_symbols(params: Any) -> bool:
    """Whether there is a symbol among the parameters of an op."""
    kind = params.__class__
    if kind is dict:
        return any(_holds_symbols(p) for p in params.values())
    if kind is tuple or kind is list:
        return any(_holds_symbols(p) for p in params)
    if kind is slice:
        return any(isinstance(end, Traced) for end in (params.start, params.stop, params.step))
    return isinstance(params, Traced)


SETTLING = SettlingTrace()


class View:
    """How a box is got from the root whose elements it shows.

    `shape` is what the root had when the view was made: `a.shape = …` may give it another. What is `readonly` must not
    be written to; it may be a function, which gives the exception. A view of the real or imaginary parts of its
    elements has a `part`, and lets the other part be.
    """

    __slots__ = ("_pattern", "_positions", "certain", "fresh", "function", "part", "readonly", "root", "shape")

    def __init__(self, root: Any, shape: tuple, function: Callable, pattern: tuple | None,
                 readonly: bool | Callable[[], Exception], part: Op | None):  # fmt: skip
        self.root = root
        self.shape = shape
        self.function = function
        self._pattern = pattern
        self.readonly = readonly
        self.part = part
        self.certain: bool | None = True  # or it may be a copy (False), or is it in some examples of a batch (None)
        self.fresh = True
        self._positions: Any = None

    @property
    def pattern(self) -> tuple | None:
        """The basic index that reads the view, if there is one."""
        return self._pattern if self.root.shape == self.shape else None

    @property
    def positions(self) -> np.ndarray:
        """Where in the root, counted in C order, each element of the view lies."""
        if self._positions is None:
            found = self.function(counted(self.shape))
            if isinstance(found, Traced) and hasattr(found._owner, "apart"):
                raise found._owner.apart("the place of a part of an array")
            self._positions = np.asarray(found)
        return self._positions

    def read(self) -> Any:
        """What the view shows now."""
        root = self.root
        return self.function(root if root.shape == self.shape else call(reshape, root, shape=self.shape))

    def write(self, v: Any, pattern: tuple, arrays: tuple) -> None:
        """Write to elements of the root, or to a part of each."""
        if self.part is not None:
            old = call(index, settled(self.root), *arrays, pattern=pattern)
            v = call(astype, with_part(self.part, old, v), dtype=dtype_of(self.root))
        write(self.root, v, pattern, arrays)


def with_part(part: Op, z: Any, v: Any) -> Any:
    """Complex numbers with other real (or imaginary) parts."""
    v = call(real, array(v))
    return call(add, v, 1j * call(imag, z)) if part is real else call(add, call(real, z), 1j * v)


# -------------------------------------------------------------------------------------------------- settling, views


def settle(box: Any) -> Any:
    """What a box stands for now: of a cell its plain array, of a stale view the box with its value fetched anew."""
    view = box._view_of
    if view is not None and not view.fresh:
        capture = running.state.capture
        if capture is not None:
            capture.note_settled(box, clone(box) if any(n.__class__ is not int for n in box.shape) else None)
        become(box, view.read())
        view.fresh = True
        _register(box, view.root)
    return box._value if box._is_cell else box


def settled(x: Any) -> Any:
    """`settle` for anything."""
    return settle(x) if isinstance(x, Traced) and x._owner is SETTLING else x


def settled_index(idx: Any) -> Any:
    """The same for an index, which may be a tuple."""
    if isinstance(idx, tuple):
        return tuple([_settled_places(item) for item in idx])
    return _settled_places(idx) if idx.__class__ is list else settled(idx)


def _settled_places(item: Any) -> Any:
    """Of an index: places may be given as a list, `x[[i, j]]`, or as a tuple, as `np.nonzero` gives them."""
    return array(item) if item.__class__ in (list, tuple) and holds_traced(item) else settled(item)


def zeros(shape: tuple, dtype: np.dtype) -> Any:
    """Zeros, also if a length is known only when the program that is being captured runs."""
    return library.zeros(shape, dtype) if all(n.__class__ is int for n in shape) else filled(dtype.type(0), shape)


def plain(x: Any) -> Any:
    """The ordinary value behind a traced one, for showing and branching; what has none (a symbol, an interval of
    several numbers) stays as it is."""
    while isinstance(x, Traced):
        x = settled(x)
        if isinstance(x, Traced):
            if "_value" not in x._state or (x._owner.encloses and not x._owner.is_one(x)):  # type: ignore[attr-defined]
                return x
            x = x._value  # type: ignore[attr-defined]
    return x


def link(y: Any, source: Any, function: Callable, pattern: tuple | None = None,
         readonly: bool | Callable[[], Exception] = False, part: Op | None = None) -> Any:  # fmt: skip
    """Make `y`, which is `function(source)`, a view of `source`.

    What is computed from a cell is a plain number if it has no axes; but a view of no axes is an array, which others
    write to, so it is a cell, too. A number has no memory that others could see: what is made of one is new.
    """
    if isinstance(y, Traced) and not source.shape and not source._is_array:
        return y if shape_of(y) else own_array(y)
    if y.__class__ is np.ndarray and not y.ndim and source._is_cell:
        y = SETTLING.cell(y) if SETTLING.holds(y) else y
    if not isinstance(y, Traced) or y is source:
        return y
    source_view = source._view_of
    root, shape = source, source.shape
    readonly = readonly or id(source) in _frozen
    if source_view is not None:
        root, shape, inner = source_view.root, source_view.shape, source_view.function
        function = _composed(function, inner)
        readonly = readonly or source_view.readonly
        part = part or source_view.part
        outer = source_view.pattern
        capture = running.state.capture
        pattern = None if capture is None or outer is None or pattern is None else compose(outer, pattern, shape)
    y._view_of = View(root, shape, function, pattern, readonly, part)  # type: ignore[attr-defined]
    y._view_of.certain = source_view is None or source_view.certain  # type: ignore[attr-defined]
    value = y._value if "_value" in y._state else None  # type: ignore[attr-defined]
    if is_small_part(value):
        y._value = copy_as(value)  # type: ignore[attr-defined]
    _register(y, root)
    return y


def may_overlap(x: Any, y: Any) -> bool:
    """Whether two arrays may have elements in common."""
    if not isinstance(y, Traced):
        return False
    views = x._view_of, y._view_of  # type: ignore[attr-defined]
    roots = [box if view is None else view.root for box, view in zip((x, y), views, strict=True)]
    if roots[0] is not roots[1]:
        return False
    if None in views or any(view.certain is not True for view in views):
        return True
    try:
        return bool(np.intersect1d(views[0].positions, views[1].positions).size)
    except (TypeError, ValueError, WengertError):  # places that only the running program knows
        return True


def own_array(x: Any) -> Any:
    """An array of no axes of one's own: a view of an array of one element, since a box of no axes is a number, which
    `+=` would replace, whatever other names the array has."""
    if x.__class__ is np.ndarray:
        root = SETTLING.cell(x.reshape(1))
        return link(SETTLING.cell(x), root, _only_element, (0,))
    root = call(reshape, x, shape=(1,))
    return link(_only_element(root), root, _only_element, (0,))


def array_like(x: Any, y: Any) -> Any:
    """What a method makes of an array of no axes is one, too; of a number it makes a number."""
    is_new = isinstance(y, Traced) and y is not x and not (x.shape or shape_of(y))
    return own_array(y) if is_new and x._is_array else y


def as_scalar(x: Any) -> Any:
    """What is 0-d as a scalar, as NumPy's own functions give it."""
    if x.__class__ is np.ndarray:
        return x if x.ndim else x[()]
    return clone(settle(x)) if isinstance(x, Traced) and not shape_of(x) and x._is_array else x  # type: ignore[attr-defined]


def value_in(box: Any) -> Any:
    """The value in a box; if it has no axes, an array or a number as the box stands for one."""
    value = box._value
    if value.__class__ is np.ndarray:
        return value if value.ndim or box._is_array else value[()]
    if box._view_of is None or shape_of(value):
        return value
    return array_like(box, value) if isinstance(value, Traced) else np.asarray(value)


def _only_element(root: Any) -> Any:
    return call(index, root, pattern=(..., 0))


def _register(view: Any, root: Any) -> None:
    """Add a view to those that the next write to its root makes stale."""
    if root._views is None:
        root._views = []
    elif len(root._views) > 32 and len(root._views) & (len(root._views) - 1) == 0:
        root._views = [ref for ref in root._views if ref() is not None]
    root._views.append(weakref.ref(view))


def _composed(outer: Callable, inner: Callable) -> Callable:
    return lambda root: outer(inner(root))


def make_views_stale(root: Any) -> None:
    if root._views:
        for ref in root._views:
            view = ref()
            if view is not None and view._view_of is not None:
                view._view_of.fresh = False
                view._owner = SETTLING
                _let_go(view)
        root._views = None  # a view comes back when it is fetched anew, so n writes do not visit n views each


def _let_go(view: Any) -> None:
    """A stale view must not keep the buffer of its root from being written in place: of its value the shape remains."""
    if "_value" in view._state:
        value = view._value
        is_held = value.__class__ is not np.ndarray or value.base is not None
        if is_held and all(n.__class__ is int for n in shape_of(value)):
            view._value = np.broadcast_to(np.empty((), dtype_of(value)), shape_of(value))
    if "_tangent" in view._state:
        view._tangent = None


def become(box: Any, new: Any) -> None:
    """Give a box another value, and the class that goes with it."""
    if not isinstance(new, Traced):
        new = SETTLING.cell(new)
    box.__class__ = new.__class__
    for slot in new._state:
        setattr(box, slot, getattr(new, slot))


def clone(box: Any) -> Any:
    """Another box with the same value, that is not affected by writes to this one."""
    new = object.__new__(box.__class__)
    for slot in box._state:
        setattr(new, slot, getattr(box, slot))
    return new


# ---------------------------------------------------------------------------------------------------------- writing


_frozen: dict[int, weakref.ref] = {}
"""By id, the arrays that their user has made read-only."""


def is_writeable(box: Any) -> bool:
    """`box.flags.writeable`."""
    return id(box) not in _frozen and (box._view_of is None or not box._view_of.readonly)


def set_writeable(box: Any, allowed: bool) -> None:
    """`box.flags.writeable = allowed`: whoever writes to this array, or to a view made of it from now on, is told."""
    view, place = box._view_of, id(box)
    capture = running.state.capture
    if allowed == is_writeable(box):
        return
    if capture is not None and not capture.owns(box if view is None else view.root):
        raise InPlaceError(
            "x.flags.writeable = … of an array that was made elsewhere",
            remedy="leave it out, or do it where the array is made, or to a copy: x = x.copy()",
        )
    if not allowed:
        _frozen[place] = weakref.ref(box, lambda _: _frozen.pop(place, None))
    elif view is not None and (view.readonly or id(view.root) in _frozen):
        raise ValueError("cannot set WRITEABLE flag to True of this array")
    else:
        _frozen.pop(place, None)


def set_item(box: Any, idx: Any, v: Any) -> None:
    """`box[idx] = v`."""
    _set_item(box, idx, v)
    if running.state.capture is not None:
        running.state.capture.links.follow(box, idx)


def _set_item(box: Any, idx: Any, v: Any) -> None:
    idx = settled_index(idx)
    if id(box) in _frozen:
        raise ValueError("assignment destination is read-only")
    view = box._view_of
    if view is not None and view.certain is None and sys.getrefcount(view.root) < _HELD_BY_A_VIEW:
        view = box._view_of = None  # nobody else has the array that it is in some examples
    if v.__class__ is not float:
        v = fitted(held(v), box.dtype)
    if isinstance(v, Traced):
        if v._view_of is not None and _is_part_at(v._view_of, box, idx):  # type: ignore[attr-defined]
            return  # a[i:j] += w: the view a[i:j] was written to already
        v = settled(v)
    elif isinstance(v, (list, tuple)):
        v = array(v)
    elif v.__class__ not in PLAIN:
        v = settled(array_of(v))
    root = box if view is None else view.root
    _check_views(root, box)
    about_to_become(root)  # while its views still have their values
    if root._views:
        if isinstance(v, Traced) and v._view_of is not None:  # type: ignore[attr-defined]
            v = clone(v)  # a[1:] = a[:-1]
        make_views_stale(root)
    if view is None:
        check_masks(box.shape, idx)
        if isinstance(idx, Traced) and _write_where(box, idx, v):
            return
    elif view.readonly:
        raise ValueError("assignment destination is read-only") if view.readonly is True else view.readonly()
    if running.state.capture is not None:
        wider, place = without_flags(box, idx)
        if wider is not box:
            _set_item(wider, place, v)
            return
    if view is None:
        pattern, arrays = split_index(idx)
        write(box, v, pattern, arrays)
        return
    if not view.certain and sys.getrefcount(root) > _HELD_BY_A_VIEW:
        raise _uncertain(view)
    if idx is Ellipsis and view.pattern is not None:
        view.write(v, *split_index(view.pattern))
        return
    if running.state.capture is not None:
        _write_through(view, idx, v)
        return
    _write_at_positions(view, view.positions[idx], v)


_HELD_BY_A_VIEW = 3
"""How often the root of one view is referred to in `_set_item` if nobody else holds it."""


def _is_part_at(view: View, box: Any, idx: Any) -> bool:
    """Whether a view is `box[idx]` itself."""
    if view.root is not box or view.part is not None or view.pattern is None:
        return False
    return _same_slice(view.pattern, idx if isinstance(idx, tuple) else (idx,))


def _write_where(box: Any, mask: Any, v: Any) -> bool:
    """`x[mask] = 0`, where the mask is a symbol, or differs between examples; False if the index is no such mask."""
    if dtype_of(mask).kind != "b" or shape_of(v) or shape_of(mask) not in ((), box.shape):
        return False
    old = settled(box)
    new = call(where, mask, v, clone(old) if isinstance(old, Traced) else old)
    _take(box, new if dtype_of(new) == box.dtype else call(astype, new, dtype=box.dtype))
    return True


def _write_at_positions(view: View, positions: Any, v: Any) -> None:
    """Write to those elements of the root that stand at these positions, of all its elements in a row."""
    if not view.root.shape:  # a number, seen as an array of one element
        if positions.size:
            v = call(broadcast_to, array(v), shape=positions.shape) if shape_of(v) != positions.shape else v
            view.write(v if not positions.shape else call(index, v, pattern=(0,) * positions.ndim), (), ())
        return
    place = np.unravel_index(positions, view.root.shape)
    if place and not shape_of(place[0]):
        view.write(v, tuple([int(k) for k in place]), ())
    else:
        view.write(v, *split_index(tuple(place) or ...))


def _check_views(root: Any, written: Any) -> None:
    """Refuse to write to an array of which there may be views, or copies: it is not known how it lies in memory."""
    for ref in root._views or ():
        view = ref()
        if view is not None and view is not written and not view._view_of.certain:
            raise _uncertain(view._view_of)


def _uncertain(view: View) -> InPlaceError:
    if view.certain is None:
        return InPlaceError(
            "an array is written to that a compiled function has returned for some examples of a batch, and for others "
            "another one",
            remedy="let the function return a copy, or write to a copy: y = y.copy()",
        )
    return InPlaceError(
        "an array is written to of which ravel or reshape made a view or a copy; which of them depends on how it lies "
        "in memory, and that is not known in this compiled function",
        remedy="make the copy explicit (y = x.ravel().copy()), or write to the array itself",
    )


def _write_through(view: View, idx: Any, v: Any) -> None:
    """Write to a view in a block that is being captured, where the place need not be known yet."""
    idx = idx if isinstance(idx, tuple) else (idx,)
    composed = None if view.pattern is None else compose(view.pattern, idx, view.root.shape)
    if composed is not None:
        view.write(v, *split_index(composed))
        return
    root = view.root
    positions = call(index, view.function(numbered(view.shape)), *split_index(idx)[1], pattern=split_index(idx)[0])
    flat = clone(settled(root)) if isinstance(settled(root), Traced) else root._value
    flat = call(reshape, flat, shape=(math.prod(root.shape),))
    if shape_of(positions):
        v = array(v)
        while len(shape_of(v)) > len(shape_of(positions)) and shape_of(v)[0] == 1:
            v = call(reshape, v, shape=shape_of(v)[1:])
        v = call(broadcast_to, v, shape=shape_of(positions))
    if view.part is not None:
        old = call(index, flat, positions, pattern=(ARRAY,))
        v = call(astype, with_part(view.part, old, v), dtype=dtype_of(root))
    flat = call(store, flat, v, positions, pattern=(ARRAY,))
    running.state.capture.about_to_write(root)
    become(root, _lying_as(call(reshape, flat, shape=root.shape), settled(root)))
    make_views_stale(root)


def _lying_as(new: Any, old: Any) -> Any:
    """What an array holds now, in memory as the array always lies: writing to it does not change that."""
    rank = len(shape_of(old))
    if rank < 1:
        return new
    was, value = _innermost(old), _innermost(new)
    if was.__class__ is np.ndarray and value.__class__ is np.ndarray:
        if was.flags.c_contiguous and value.flags.c_contiguous:
            return new
        like = was[(0,) * (was.ndim - rank)]
        for n in value.shape[: value.ndim - rank][::-1]:  # of many examples
            step = 1 + max([abs(s * m) for s, m in zip(like.strides, like.shape, strict=True)])
            like = as_strided(like, (n, *like.shape), (step * like.itemsize, *like.strides))
        laid = empty_as(like)
        if laid.shape != value.shape or laid.strides == value.strides:
            return new
        laid[...] = value
        return _with_innermost(new, laid)
    if library.is_foreign(was) or library.is_foreign(value):
        return new  # (other libraries promise nothing of how a result lies)
    order = _order_behind(was, len(shape_of(value)))
    if order == _order_behind(value, len(shape_of(value))):
        return new
    return in_order_that_is(new, order)


def in_order_that_is(x: Any, order: Any) -> Any:
    """An array in a program that is captured, which lies in an order (`ir/orders.py`), or in one that is UNKNOWN."""
    value = running.state.capture.process(copy, (_innermost(x),), {})
    value._node.order = order
    return _with_innermost(settled(x), value)


def _innermost(x: Any) -> Any:
    """The array or symbol that is behind all boxes."""
    x = settled(x)
    while isinstance(x, Traced) and "_value" in x._state:  # type: ignore[attr-defined]
        x = settled(x._value)  # type: ignore[attr-defined]
    return x


def _with_innermost(x: Any, value: Any) -> Any:
    """The same boxes around another array or symbol."""
    if not isinstance(x, Traced) or "_value" not in x._state:  # type: ignore[attr-defined]
        return value
    x = clone(x)
    x._value = _with_innermost(settled(x._value), value)
    return x


def _order_behind(x: Any, rank: int) -> Any:
    """The order (`ir/orders.py`) of an array, or of a symbol, with more hidden axes or fewer."""
    order = array_order(x) if x.__class__ is np.ndarray else x._node.order
    more = rank - len(shape_of(x))
    if order is None or order == UNKNOWN or not more:
        return order
    if more > 0:
        return (*range(more), *[k + more for k in order])
    return tuple([k + more for k in order[-more:]]) if order[:-more] == tuple(range(-more)) else UNKNOWN


def _same_slice(pattern: tuple, idx: tuple) -> bool:
    return len(pattern) == len(idx) and all(_same_item(a, b) for a, b in zip(pattern, idx, strict=True))


def _same_item(a: Any, b: Any) -> bool:
    if a.__class__ is slice and b.__class__ is slice:
        ends = ((a.start, b.start), (a.stop, b.stop), (a.step, b.step))
        return all(_same_item(x, y) for x, y in ends)
    if isinstance(a, Traced) or isinstance(b, Traced):
        return a is b or (a.__class__ is b.__class__ and "_value" not in a._state and a._node is b._node)
    return a.__class__ is b.__class__ and a == b


def without_flags(x: Any, idx: Any) -> tuple[Any, Any]:
    """An array and an index, or the same elements without a single truth value that only the compiled program knows:
    with a mask of one element instead, along an axis of length one."""
    items = idx if isinstance(idx, tuple) else (idx,)
    flags = [i for i in items if isinstance(i, Traced) and dtype_of(i).kind == "b" and not shape_of(i)]
    if not flags:
        return x, idx
    flag = flags[0]
    k = next(k for k, item in enumerate(items) if item is flag)
    taken = [_axes_of(other) for other in items]
    before = sum(taken[:k])
    if any(other is Ellipsis for other in items[:k]):
        before = len(shape_of(x)) - sum(taken[k:])
    place = (*[slice(None)] * before, None)
    wider = x[place] if isinstance(x, Traced) else np.asarray(x)[place]  # type: ignore[index]
    return without_flags(wider, (*items[:k], call(reshape, flag, shape=(1,)), *items[k + 1 :]))


def _axes_of(item: Any) -> int:
    """How many axes of an array one item of an index stands for."""
    if item is None or item is Ellipsis:
        return 0
    if item.__class__ in SCALARS or isinstance(item, slice):
        return int(not isinstance(item, (bool, np.bool_)))
    array = item if hasattr(item, "dtype") else np.asarray(item)
    return len(shape_of(array)) if dtype_of(array).kind == "b" else 1


def check_masks(shape: tuple[int, ...], idx: Any) -> None:
    """Raise NumPy's error if a mask does not fit the axes it stands for: as integer arrays it might."""
    items = idx if isinstance(idx, tuple) else (idx,)
    if any(isinstance(item, Traced) and dtype_of(item).kind == "b" for item in items):
        _check_computed(shape, items)
    for item in items:
        if (item.__class__ is list and not library.holds_foreign(item)) or (
            item.__class__ is np.ndarray and item.dtype == bool
        ):
            known: list[Any] = []
            for other in items:
                known += [slice(None)] * _axes_of(other) if isinstance(other, Traced) else [other]
            if all(n.__class__ is int for n in shape):
                np.broadcast_to(np.False_, shape)[tuple(known)]
            else:
                _check_computed(shape, items)
            return


def _check_computed(shape: tuple, items: tuple) -> None:
    """The same for masks, and for axes, of which some are known only when a captured program runs."""
    taken = [_axes_of(item) for item in items]
    for k, item in enumerate(items):
        mask = np.asarray(item) if item.__class__ is list else item
        if (mask.__class__ is np.ndarray or isinstance(mask, Traced)) and dtype_of(mask).kind == "b" and shape_of(mask):
            hidden = any(other is Ellipsis for other in items[:k])
            first = len(shape) - sum(taken[k:]) if hidden else sum(taken[:k])
            message = "boolean index did not match indexed array"
            agree(shape[first : first + len(shape_of(mask))], shape_of(mask), IndexError, message)


class HoldsNoDerivative(InPlaceError):
    """A traced value is written into a plain array, which has no place for what belongs to it. Where that is an axis of
    examples, they can be run one by one."""


def write(root: Any, v: Any, pattern: tuple, arrays: tuple) -> None:
    """Write to a box that is not a view."""
    capture = running.state.capture
    if capture is not None:
        capture.about_to_write(root)
        if root._is_cell and not isinstance(v, Traced) and (_holds_symbols(arrays) or _holds_symbols(pattern)):
            become(root, capture.process(store, (root._value, v, *arrays), {"pattern": pattern}))
            make_views_stale(root)
            return
    if isinstance(v, Traced):
        if capture is None and is_inexact(dtype_of(v)) and not is_inexact(dtype_of(root)) and levels(v):
            raise HoldsNoDerivative(
                f"a traced value is written into an array of type {dtype_of(root)}, which cannot hold its derivative",
                remedy="make the array of a floating type, for instance np.zeros(n) instead of np.zeros(n, int)",
            )
        if root._is_cell or v._owner.tag > root._owner.tag:
            content = root._value if root._is_cell else clone(root)
            become(root, v._owner.process(store, (content, v, *arrays), {"pattern": pattern}))
            make_views_stale(root)
            return
    if root._is_cell and any(isinstance(a, Traced) for a in arrays):  # places that differ between examples
        become(root, call(store, root._value, v, *arrays, pattern=pattern))
    elif root._is_cell:
        overwrite(root, "_value", v, pattern, arrays)
    elif root._owner.write(root, v, pattern, arrays) is NotImplemented:
        become(root, root._owner.process(store, (clone(root), v, *arrays), {"pattern": pattern}))
    make_views_stale(root)


def about_to_become(root: Any) -> None:
    """A box that is about to be written to may be a coefficient of an inner differentiation."""
    tapes = running.state.tapes
    if tapes and root._is_cell:  # of which a part at a computed place is a symbol
        for view in [ref() for ref in root._views or ()]:
            if view is not None and not view._is_cell and view._owner is not SETTLING:
                about_to_write(view)
                break
    elif tapes and tapes[-1].tag > root._owner.tag:
        about_to_write(root)


def overwrite(holder: Any, slot: str, v: Any, pattern: tuple, arrays: tuple) -> None:
    """Write into the value in a slot of a box: in place if nobody else holds it, else into a copy."""
    x = getattr(holder, slot)
    setattr(holder, slot, None)
    if x.__class__ is np.ndarray and library.is_foreign(v):  # made of numbers alone, and now of what is elsewhere
        x = np.asarray(x, like=v)
    try:
        if isinstance(x, Traced):
            if sys.getrefcount(x) > 2 or x._view_of is not None:  # type: ignore[attr-defined]
                x = settled(x)  # others hold it, besides `x` and the argument of getrefcount, or its root
                x = clone(x) if isinstance(x, Traced) else SETTLING.cell(x)
            write(x, v, pattern, arrays)
        elif x.__class__ is np.ndarray and not isinstance(v, Traced) and not any(isinstance(a, Traced) for a in arrays):
            place = fill_pattern(pattern, arrays)
            if sys.getrefcount(x) > 2 or not (x.base is None or isinstance(x.base, OwnMemory)) or not x.flags.writeable:
                y = copy_as(x)
                y[place] = v
                x = y
            else:
                x[place] = v
        elif (
            not isinstance(v, Traced)
            and not arrays  # (which have to be checked, and may name a place twice)
            and library.is_mutable(x)
            and sys.getrefcount(x) <= 2
            and x.base is None
        ):
            x[pattern] = library.moved(v, x) if v.__class__ is np.ndarray else v
        else:
            x = call(store, x, v, *arrays, pattern=pattern)
    finally:
        setattr(holder, slot, x)


def replace(box: Any, new: Any) -> Any:
    """`box[...] = new`: all elements at once, as `+=` and `out=` do it."""
    new = settled(new)
    if shape_of(new) != box.shape:
        common = broadcast_shapes([shape_of(new), box.shape])
        grows = len(common) > box.ndim
        if grows or any(n.__class__ is m.__class__ is int and n != m for n, m in zip(box.shape, common, strict=True)):
            raise ValueError(
                f"non-broadcastable output operand with shape {box.shape} doesn't match the broadcast shape {common}"
            )
        set_item(box, Ellipsis, new)
        return box
    if dtype_of(new) != box.dtype:
        if not np.can_cast(dtype_of(new), box.dtype, casting="same_kind"):
            raise TypeError(f"Cannot cast output from {dtype_of(new)!r} to {box.dtype!r} with casting rule 'same_kind'")
        new = call(astype, new, dtype=box.dtype)
    if box._view_of is not None or id(box) in _frozen:
        set_item(box, Ellipsis, new)
    else:
        _take(box, new)
        if running.state.capture is not None:
            running.state.capture.links.follow(box)
    return box


def _take(box: Any, new: Any) -> None:
    """Let an array, not a view, have a new content."""
    if running.state.capture is not None:
        running.state.capture.about_to_write(box)
    _check_views(box, box)
    about_to_become(box)
    new = _lying_as(clone(new) if isinstance(new, Traced) else _copied(new), settled(box))
    become(box, new)
    make_views_stale(box)


def _copied(x: Any) -> Any:
    return x.copy() if library.is_foreign(x) else np.array(x)


def read_scalar(box: Any, idx: Any) -> Any:
    """One element of a stale view, from its root, without fetching the whole view anew."""
    if running.state.capture is not None:
        return call(index, settle(box), pattern=idx if isinstance(idx, tuple) else (idx,))
    view = box._view_of
    place = np.unravel_index(view.positions[idx], view.root.shape)
    element = call(index, view.root, pattern=tuple([int(k) for k in place]))
    return element if view.part is None else call(view.part, element)


all_count(globals())
