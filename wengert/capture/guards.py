"""What a compiled function found outside must be the same when it is called again: guards compare that.

Whatever a function finds in globals, closures, attributes and containers, and is no array of numbers, is part of the
program: numbers and texts by their value, containers by what was read of them, all else by being the same object.
Containers of other classes than list, tuple and dict, and arrays of other things than numbers, are compared as a whole.
"""

from __future__ import annotations

import array
import functools
import hashlib
import operator
import os
import time
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType
from typing import Any, NamedTuple

import numpy as np

from wengert.capture.behaviour import BehaviourGuard
from wengert.capture.effects import PlaceGuard
from wengert.identical import hold_the_same, same_bytes

Path = Callable[[], Any]
"""Fetches something again."""

PLAIN_NUMBERS = frozenset((int, float, complex, bool, str, bytes, type(None), np.float64, np.int64))


def is_number(x: Any) -> bool:
    """Whether something is a number that may count something, and is no longer than a program's."""
    if x.__class__ is int:
        return -(1 << 63) <= x < 1 << 63
    return x.__class__ in (float, complex) or (isinstance(x, np.number) and x.dtype.kind in "iufc")


def itself(thing: Any) -> Any:
    """The path to what is always at hand."""
    return thing


def always_holds(guard: AnyGuard) -> bool:
    """Whether a guard asks something whether it is itself."""
    if not isinstance(guard, (Guard, IdentityGuard, FunctionGuard)):
        return False
    return isinstance(guard.path, functools.partial) and guard.path.func is itself


def place_of(path: Path) -> Any:
    """What tells paths apart: two of them may lead to the same place."""
    if path.__class__ is functools.partial:
        return (path.func, *[a if a.__class__ in (str, int) else place_of(a) for a in path.args])
    return id(path)


class Guard(NamedTuple):
    """What was found at a path; it must be found there again."""

    path: Path
    value: Any

    def holds(self) -> bool:
        now = self.path()
        return now is self.value or (now.__class__ is self.value.__class__ and same(now, self.value))


def same(a: Any, b: Any) -> bool:
    """Whether two numbers or texts of the same class are the same, which 0.0 and -0.0 are not.

    >>> same(1.0, 1.0), same(0.0, -0.0), same(float("nan"), float("nan"))
    (True, False, True)
    """
    if a == b:
        return not isinstance(a, _WITH_SIGN) or repr(a) == repr(b)
    return bool(a != a and b != b) and repr(a) == repr(b)


_WITH_SIGN = (float, complex, np.floating, np.complexfloating)


class NumbersGuard(NamedTuple):
    """A container that holds nothing but numbers, all of which are part of the program."""

    path: Path
    kind: Any
    keys: list | None
    values: list
    itself: tuple | None
    """The container, if it cannot change."""

    def holds(self) -> bool:
        now: Any = self.path()
        if now is self.itself and now is not None:
            return True
        if now.__class__ is not self.kind or len(now) != len(self.values):
            return False
        if self.kind is list and hold_the_same(now, self.values):
            return True
        if self.keys is not None:
            if list(now) != self.keys:
                return False
            now = now.values()
        if all(map(operator.is_, now, self.values)):
            return True
        return all(a is b or (a.__class__ is b.__class__ and same(a, b)) for a, b in zip(now, self.values, strict=True))


class ArrayGuard(NamedTuple):
    """The content of an array that is part of the program."""

    path: Path
    value: np.ndarray

    def holds(self) -> bool:
        now = self.path()
        value = self.value
        return (
            isinstance(now, np.ndarray)
            and now.dtype == value.dtype
            and now.shape == value.shape
            and same_bytes(now, value)
        )


_BY_EQUALITY = frozenset((range, slice, MethodType, BuiltinFunctionType))


class IdentityGuard(NamedTuple):
    """An object that has to be the same; what cannot change may be equal."""

    path: Path
    value: Any

    def holds(self) -> bool:
        now = self.path()
        value = self.value
        if now is value:
            return True
        is_compared = value.__class__ in _BY_EQUALITY or isinstance(value, np.dtype)
        return is_compared and now.__class__ is value.__class__ and now == value


def _is_only_code(f: FunctionType) -> bool:
    return f.__closure__ is None and f.__defaults__ is None and f.__kwdefaults__ is None


class FunctionGuard(NamedTuple):
    """A function that has to be the same, or does the same since it has nothing but its code.

    Notebooks that reload modules give functions new code in place.
    """

    path: Path
    value: Any
    code: CodeType

    def holds(self) -> bool:
        now = self.path()
        value = self.value
        if now is value:
            return now.__code__ is self.code
        return (
            isinstance(now, FunctionType)
            and now.__code__ == self.code
            and now.__globals__ is value.__globals__
            and _is_only_code(now)
            and _is_only_code(value)
        )


_LISTS = (list, tuple, deque, UserList)
_DICTS = (dict, UserDict, ChainMap, MappingProxyType, type(os.environ))
_SETS = (set, frozenset)
_BYTES = (bytearray, memoryview, array.array)


def is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and value.__class__ is not tuple and hasattr(value.__class__, "_fields")


_FIELD = NamedTuple("_Sample", [("field", int)]).__dict__["field"].__class__


def has_fields(value: Any, names: Sequence[str]) -> bool:
    """Whether attributes are fields of a named tuple, so that reading them is reading items."""
    return not names or (is_named_tuple(value) and all(_is_field(value.__class__, name) for name in names))


def _is_field(kind: type, name: str) -> bool:
    return getattr(kind, name, None).__class__ is _FIELD


def holds_parts(value: Any) -> bool:
    """Whether of something from outside only those parts count that are read."""
    return value.__class__ in (list, tuple, dict) or is_named_tuple(value)


def has_contents(value: Any) -> bool:
    """Whether something is a container, other than a plain list, tuple or dict."""
    return isinstance(value, (*_LISTS, *_DICTS, *_SETS, *_BYTES))


class ContentsGuard(NamedTuple):
    """A container that is compared as a whole."""

    path: Path
    contents: Any
    held: Any

    @classmethod
    def of(cls, path: Path, value: Any) -> ContentsGuard:
        held: list[Any] = []
        return cls(path, _contents(value, held, set()), held)

    def holds(self) -> bool:
        return _contents(self.path(), [], set()) == self.contents


def _contents(x: Any, held: list[Any], around: set[int]) -> Any:
    """What is in a container, to be compared. Objects count as themselves; `held` gets them, so that no others take
    their places in memory."""
    kind = x.__class__
    if kind in PLAIN_NUMBERS:
        return (kind, repr(x) if isinstance(x, _WITH_SIGN) else x)
    if isinstance(x, np.generic):
        return (kind, x.dtype.str, x.tobytes())
    if id(x) in around:
        return "itself"
    around = {*around, id(x)}
    inside = functools.partial(_contents, held=held, around=around)
    if isinstance(x, np.ndarray):
        values = tuple(map(inside, x.ravel().tolist())) if x.dtype.hasobject else x.tobytes()
        return (kind, str(x.dtype), x.shape, values)
    if isinstance(x, _LISTS):
        return (kind, tuple(map(inside, x)))
    if isinstance(x, _DICTS):
        return (kind, tuple([(inside(key), inside(x[key])) for key in list(x)]))
    if isinstance(x, _SETS):
        return (kind, frozenset(map(inside, x)))
    if isinstance(x, _BYTES):
        return (kind, bytes(x), getattr(x, "typecode", None))
    held.append(x)
    return (kind, id(x))


_TICK = 2_000_000_000
"""Nanoseconds within which a file may change twice and bear the same date, in the coarsest of usual file systems."""


class FileGuard(NamedTuple):
    """What a file held; None for one that was not there."""

    name: Any
    status: tuple | None
    digest: bytes | None
    is_old: bool
    """Whether it was written long enough before for its date to tell that it has not been written again."""

    @classmethod
    def of(cls, name: Any) -> FileGuard:
        status = _status(name)
        is_old = status is not None and max(status[:2]) < time.time_ns() - _TICK
        return cls(name, status, _digest(name), is_old)

    def holds(self) -> bool:
        if self.is_old and _status(self.name) == self.status:
            return True
        return _digest(self.name) == self.digest


def _status(name: Any) -> tuple | None:
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


def _digest(name: Any) -> bytes | None:
    try:
        with open(name, "rb") as file:
            return hashlib.file_digest(file, "blake2b").digest()
    except (OSError, ValueError):
        return None


AnyGuard = (
    Guard
    | NumbersGuard
    | ArrayGuard
    | PlaceGuard
    | IdentityGuard
    | FunctionGuard
    | ContentsGuard
    | BehaviourGuard
    | FileGuard
)
