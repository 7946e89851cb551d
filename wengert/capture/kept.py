"""What functions keep outside for later: a table that is made at the first call, a dict of what was computed before.

Such a change has nothing to do with the arguments, and does not happen again. So where a function that is captured has
left nothing but plain values outside, they stay there (`Kept`): what was captured is the program of this one call. The
function is captured once more, for the calls that follow, and must change nothing that time. Otherwise all is put back,
and refused.

    table = {}
    def f(x):
        if "weights" not in table:              # captured once: the dict is filled
            table["weights"] = compute()        # captured again: a read of it, and nothing else
        return table["weights"] @ x
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from wengert.box.foreign import hides_traced
from wengert.box.writing import settled
from wengert.capture.effects import COMPARED, MISSING, Change, Effects
from wengert.capture.instrument import STAGED
from wengert.capture.objects import MUTABLE, content, put
from wengert.capture.opened import Opened
from wengert.errors import Signal, StagingError
from wengert.ops.op import Traced
from wengert.types import has_own_dict, own_dict

_MANY = 10_000
"""So many objects are looked at in search of what must not stay outside."""


class Lengthens(Signal):
    """Lists outside become longer at each call, by things that do not depend on the arguments: a log."""

    def __init__(self, keys: set[Any]):
        super().__init__()
        self.keys = keys


class Kept:
    """What a function has left outside while it was captured: to be put back if it cannot be compiled after all."""

    def __init__(self) -> None:
        self._changes: dict[Any, Change] = {}
        self._new: list[tuple[Change, dict]] = []

    def look_at(self, effects: Effects, stands_for: Callable[[Any], Any]) -> StagingError | None:
        """Put back what was there before; the error for what was changed that must not be.

        Raises `Lengthens` for lists that were kept longer already, and would be longer again.
        """
        changes = effects.changes(stands_for)
        lasting = [change for change in changes if not change.is_of_arrays and _is_kept(change, effects.left)]
        again = [change for change in lasting if change.key in self._changes]
        refused = effects.refused(again[0]) if again else None
        grows = bool(again) and all(_only_grows(c, effects.left) and c.key not in effects.logs for c in again)
        try:
            self._new = [(change, _plain_content(change, effects.left)) for change in lasting]
        except _HoldsSymbols:
            refused = refused or effects.refused(lasting[0])
        for change in changes:
            change.place.put(change.place.before)
        if grows:
            raise Lengthens({change.key for change in again})
        return refused

    @property
    def leaves_something(self) -> bool:
        return bool(self._new)

    def leave(self) -> bool:
        """Let there be outside what the function has left there; whether it has."""
        for change, now in self._new:
            change.place.put(now)
            self._changes[change.key] = change
        return bool(self._new)

    def put_back(self) -> None:
        for change in self._changes.values():
            change.place.put(change.place.before)
        self._changes.clear()


class _HoldsSymbols(Exception):
    """There are values in something that are known only when the program runs, or code that knows of them."""


def _is_kept(change: Change, left: set[tuple[Any, Any]]) -> bool:
    """Whether more has changed than what gets something new at each call (`left.py`)."""
    before, now = change.place.before, change.now
    return any(before.get(k, MISSING) is not now.get(k, MISSING) and (change.key, k) not in left for k in before | now)


def _only_grows(change: Change, left: set[tuple[Any, Any]]) -> bool:
    """Whether plain things were appended to a list, and nothing else was done to it but what `left.py` knows of."""
    before, now = change.place.before, change.now
    if change.place.thing.__class__ is not list or len(now) <= len(before):
        return False
    return all(now[k] is item for k, item in before.items()) and all(
        is_plain(item) for k, item in now.items() if k not in before and (change.key, k) not in left
    )


def is_plain(x: Any) -> bool:
    """Whether something is a text or a number that is known, or a tuple of them."""
    return x is None or x.__class__ in COMPARED or (x.__class__ is tuple and all(map(is_plain, x)))


def _plain_content(change: Change, left: set[tuple[Any, Any]]) -> dict:
    before, seen = change.place.before, set[int]()
    now = {k: before.get(k, MISSING) if (change.key, k) in left else v for k, v in change.now.items()}
    return {k: v if v is before.get(k, MISSING) else _as_plain(v, seen) for k, v in now.items() if v is not MISSING}


def _as_plain(x: Any, seen: set[int]) -> Any:
    """What stands for a value outside of any transformation; containers and instances stay the same objects."""
    if isinstance(x, Traced):
        value = settled(x)
        if isinstance(value, Traced) or x._view_of is not None:  # type: ignore[attr-defined]
            raise _HoldsSymbols
        return value
    if x.__class__ is Opened:
        raise _HoldsSymbols
    if x is None or x.__class__ in COMPARED or isinstance(x, (np.ndarray, np.generic, type, ModuleType)):
        if isinstance(x, np.ndarray) and x.dtype.kind == "O":
            raise _HoldsSymbols
        return x
    if id(x) in seen:
        return x
    seen.add(id(x))
    if len(seen) > _MANY:
        raise _HoldsSymbols
    if isinstance(x, tuple):
        items = [_as_plain(item, seen) for item in x]
        if all(a is b for a, b in zip(items, x, strict=True)):
            return x
        return tuple.__new__(x.__class__, items)
    own = own_dict(x) if has_own_dict(x) else None
    if isinstance(x, MUTABLE) or (own.__class__ is dict and not isinstance(x, FunctionType)):
        held = content(x)
        new = {slot: _as_plain(item, seen) for slot, item in held.items()}
        if any(new[slot] is not item for slot, item in held.items()):
            put(x, new)
    elif _is_of_ours(x) or hides_traced(x):
        raise _HoldsSymbols
    return x


def _is_of_ours(x: Any) -> bool:
    """Whether something is, or refers to, code that was staged: it must not run outside."""
    while x.__class__ is functools.partial:
        x = x.func
    code = getattr(getattr(x, "__func__", x), "__code__", None)
    return isinstance(code, CodeType) and code in STAGED.finished
