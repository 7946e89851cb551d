"""The hooks of functions that are differentiated eagerly within a budget: their loops can be run again.

Their control flow is lowered as for `jit` (`lower.py`), so that the suites of loops are functions. All else does what
Python does.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.box.box import ArrayIterator, Box
from wengert.capture import hooks, lowered, rewrite
from wengert.capture.instrument import LOOPED, is_user_function
from wengert.capture.managers import swallowed
from wengert.capture.repeating import RepeatingLoop, call_within
from wengert.capture.undefined import UNDEFINED, defined
from wengert.control.budget import account
from wengert.errors import REFUSALS, UnsupportedFunctionError
from wengert.modes.tape import TapeTrace
from wengert.running import running
from wengert.types import SCALARS

Thunk = Callable[[], Any]


# ------------------------------------------------------------------------------------------------------------- loops


def _tape() -> TapeTrace | None:
    """The tape for which a loop is to be run again: the innermost transformation, if that is one with a budget."""
    state = running.state
    if state.budget is None or not state.tapes or state.capture is not None:
        return None
    return state.tapes[-1] if state.traces[-1] is state.tapes[-1] else None


class _Suite:
    """The suite of a loop, as a function of the number of the iteration."""

    def __init__(self, body: Callable, goes_on: Thunk | None, get: Callable, set: Callable, names: tuple,
                 temporaries: tuple):  # fmt: skip
        self.body, self.goes_on = body, goes_on
        self.get, self.set, self.names, self.temporaries = get, set, names, temporaries

    def run(self, *item: Any) -> bool:
        """One iteration; what nobody needs afterwards is forgotten."""
        self.body(*item)
        goes_on = self.goes_on is None or bool(self.goes_on())
        if self.temporaries:
            self.set(tuple([UNDEFINED if name in self.temporaries else value
                            for name, value in zip(self.names, self.get(), strict=True)]))  # fmt: skip
        return goes_on


class _Items:
    """Items that are fetched when their iteration comes, and kept for the next time: they are not fetched again where
    everything else is put back."""

    def __init__(self, iterator: Iterator[Any]):
        self._iterator: Iterator[Any] | None = iterator
        self.fetched: list[Any] = []
        self._others: list[Any] = []

    @property
    def __wrapped__(self) -> tuple:
        """What there is to look into among the items, for `snapshots.py`."""
        return tuple(self._others)

    def has(self, k: int) -> bool:
        while len(self.fetched) <= k and self._iterator is not None:
            try:
                self.fetched.append(next(self._iterator))
            except StopIteration:
                self._iterator = None
            else:
                if self.fetched[-1].__class__ not in SCALARS:
                    self._others.append(self.fetched[-1])
        return k < len(self.fetched)


def for_(iterable: Any, body: Callable, go_on: Thunk | None, get: Callable, set: Callable, names: tuple,
         stores: tuple = (), temporaries: tuple = ()) -> None:  # fmt: skip
    """`for item in iterable: …`."""
    trace = _tape()
    if trace is None:
        for item in iterable:
            body(item)
            if go_on is not None and not go_on():
                return
        return
    suite = _Suite(body, go_on, get, set, names, temporaries)
    if go_on is None:  # otherwise somebody may go on where this loop ended
        iterable = _by_number(iterable) if _has_numbered_items(iterable) else iterable
        iterable = list(iterable) if _is_of_known_items(iterable) else iterable
    count = len(iterable) if _has_a_length(iterable) else None
    roots = [body, go_on, get, iterable]
    if count is None or go_on is not None:
        items = _Items(iter(iterable))
        if not items.has(0):
            return
        roots.append(items)
        count = None

        def iterate(k: int) -> bool:
            return suite.run(items.fetched[k]) and items.has(k + 1)
    else:
        if count == 0:
            return

        def iterate(k: int) -> bool:
            goes_on = suite.run(iterable[k])
            if len(iterable) != count:
                raise UnsupportedFunctionError("a list changes its length while a loop with checkpoints runs over it",
                                               remedy="run over a copy of the list, list(xs)")  # fmt: skip
            return goes_on

    _run(trace, iterate, count, roots)


_ITERATORS = tuple({iter(x).__class__ for x in ((), [], {}, range(0), range(10**30), {}.values(), {}.items(), "")})
_VIEWS = ({}.keys().__class__, {}.values().__class__, {}.items().__class__)


def _is_of_known_items(iterable: Any) -> bool:
    """Whether it is something by Python over what has a length, so that its items can be fetched beforehand."""
    kind = iterable.__class__
    if kind is enumerate or kind is zip:
        return all(_is_of_known_items(x) for x in _parts(iterable))
    return kind in _ITERATORS or kind in _VIEWS or kind in (reversed, [].__reversed__().__class__, dict)


def _has_a_length(iterable: Any) -> bool:
    if isinstance(iterable, (Box, np.ndarray)):
        return bool(iterable.shape)
    return iterable.__class__ in (range, list, tuple, _Together)


class _Together:
    """Items of several sequences, those of `zip` or (with the numbers in front) `enumerate`, fetched in the iteration
    that uses them: elements of a traced array are then part of it, and are seen as they are at that time."""

    def __init__(self, parts: list[Any]):
        self.parts = parts

    @property
    def __wrapped__(self) -> tuple:
        """What there is to look into, for `snapshots.py`."""
        return tuple(self.parts)

    def __len__(self) -> int:
        return min([len(part) for part in self.parts])

    def __getitem__(self, k: int) -> tuple:
        return tuple([part[k] for part in self.parts])


_OVER_ARRAYS = iter(np.zeros(1)).__class__


def _has_numbered_items(iterable: Any) -> bool:
    """Whether it is `enumerate` or `zip` over traced arrays, perhaps beside others and what has known items."""
    kind = iterable.__class__
    if kind is not enumerate and kind is not zip:
        return False
    parts = _parts(iterable)
    return any(x.__class__ is ArrayIterator or _has_numbered_items(x) for x in parts) and all(
        x.__class__ in (ArrayIterator, _OVER_ARRAYS) or _has_numbered_items(x) or _is_of_known_items(x) for x in parts
    )


def _parts(iterable: Any) -> Any:
    """The iterators that `enumerate` or `zip` goes through."""
    inner = iterable.__reduce__()[1]
    return inner[:1] if iterable.__class__ is enumerate else inner


def _by_number(iterator: Any) -> Any:
    """The items of an iterator that are left, by number; the iterator has come to its end."""
    kind = iterator.__class__
    if kind is enumerate:
        inner, start = iterator.__reduce__()[1]
        items = _by_number(inner)
        return _Together([range(start, start + len(items)), items])
    if kind is zip:
        return _Together([_by_number(part) for part in _parts(iterator)])
    if kind is ArrayIterator:
        array, at = iterator.array, iterator.at
        iterator.at = len(array)
        return array[at:] if at else array
    if kind is _OVER_ARRAYS:
        _, (array, *_), *at = iterator.__reduce__()
        if not at:  # it has come to its end before
            return ()
        iterator.__setstate__(len(array))
        return array[at[0] :]
    return list(iterator)


def while_(test: Thunk, body: Thunk, get: Callable, set: Callable, names: tuple, stores: tuple = (),
           temporaries: tuple = ()) -> None:  # fmt: skip
    """`while test(): …`."""
    trace = _tape()
    if trace is None:
        while test():
            body()
        return
    suite = _Suite(body, test, get, set, names, temporaries)
    if test():
        _run(trace, lambda k: suite.run(), None, [body, test, get])


def _run(trace: TapeTrace, iterate: Callable[[int], bool], count: int | None, roots: list[Any]) -> None:
    loop = RepeatingLoop(trace, iterate, count, roots)
    if loop.active and count != 1:
        loop.run()
        return
    k = 0
    while iterate(k):
        k += 1
        if k == count:
            return


# ------------------------------------------------------------------------------------------------------------- calls


def call(f: Any, operands: int = 1, given: int = hooks.ANYTHING) -> Any:
    """What to call for `f`: within a number of bytes a call that is kept, or run again."""
    found, now = hooks.call(f, operands, given), account()
    if now is None or not now.calls or not is_user_function(f) or _is_suspended(f):
        return found
    trace = _tape()
    if trace is None:
        return found
    return lambda *args, **kwargs: call_within(trace, found, args, kwargs, getattr(f, "__name__", "a function"))


def _is_suspended(f: Any) -> bool:
    """Whether a function goes on after it has returned: a generator, or a coroutine; or it is not known."""
    while f.__class__ is functools.partial:
        f = f.func
    code = getattr(f, "__code__", None)
    return code is None or bool(
        code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
    )


# ------------------------------------------------------------------------------------------- what Python does anyway


def _if(test: Any, then: Thunk, orelse: Thunk | None, *_: Any) -> None:
    if test:
        then()
    elif orelse is not None:
        orelse()


def _and(*thunks: Thunk) -> Any:
    for thunk in thunks:
        value = thunk()
        if thunk is not thunks[-1] and not value:
            break
    return value


def _or(*thunks: Thunk) -> Any:
    for thunk in thunks:
        value = thunk()
        if thunk is not thunks[-1] and value:
            break
    return value


_COMPARE: dict[str, Callable] = {
    **{name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne", "is_", "is_not")},
    "contains": lambda a, b: a in b,
    "not_contains": lambda a, b: a not in b,
}


def _chain(left: Any, ops: tuple[str, ...], *thunks: Thunk) -> Any:
    for k, (op, thunk) in enumerate(zip(ops, thunks, strict=True)):
        right = thunk()
        value = _COMPARE[op](left, right)
        if k < len(ops) - 1 and not value:
            break
        left = right
    return value


def _assert(test: Any, message: Thunk | None) -> None:
    if not test:
        raise AssertionError(*([] if message is None else [message()]))


def _raise(exception: Thunk, cause: Thunk | None) -> None:
    if cause is None:
        raise exception()
    raise exception() from cause()


class _Trying:
    """One execution of a `try`."""

    def __init__(self, kinds: Thunk):
        self.kinds = kinds
        self.error: Any = None

    def __enter__(self) -> _Trying:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


def _caught(attempt: _Trying, error: BaseException) -> int:
    if isinstance(error, REFUSALS) or not isinstance(error, tuple(_flat(attempt.kinds()))):
        raise error
    attempt.error = error
    return 1


def _flat(kinds: Any) -> Iterator[Any]:
    for kind in kinds:
        if isinstance(kind, tuple):
            yield from _flat(kind)
        else:
            yield kind


def _attempted(attempt: Any, statement: Thunk, rest: Thunk | None, *_: Any) -> None:
    statement()
    if rest is not None:
        rest()


def _text(*parts: Any) -> str:
    convert: dict[int, Callable] = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}
    return "".join([part if isinstance(part, str) else format(convert[part[1]](part[0]), part[2]) for part in parts])


def _kept(iterable: Any, native: Callable | None, choose: Callable, is_dict: bool) -> Any:
    if native is not None:
        return native(iterable)
    made = [make() for item in iterable for test, make in choose([item]) if test()]
    return dict(made) if is_dict else set(made)


LOOPED.set_hooks(
    {
        **hooks.EAGER_HOOKS,
        rewrite.CALL: call,
        lowered.IF: _if,
        lowered.FOR: for_,
        lowered.WHILE: while_,
        lowered.AND: _and,
        lowered.OR: _or,
        lowered.NOT: operator.not_,
        lowered.IFEXP: lambda test, then, orelse: then() if test else orelse(),
        lowered.CHAIN: _chain,
        lowered.LOAD: lambda name, value: value,
        lowered.BASE: lambda base, attributes=(): base,
        lowered.DEFAULT: lambda value: value,
        lowered.BUILTIN: hooks.is_builtin,
        lowered.CHOSEN: lambda test, item: [item()] if test else [],
        lowered.FILTERED: lambda items: [value for item in items for value in item],
        lowered.PASSED: lambda argument, is_read: argument,
        lowered.ATTR: getattr,
        lowered.ASSERT: _assert,
        lowered.RAISE: _raise,
        lowered.ITERATE: lambda iterable, reads=None: iterable,
        lowered.EQUAL: lambda a, b, positive: a == b if positive else a != b,
        lowered.ORDERED: lambda a, b, name: getattr(operator, name)(a, b),
        lowered.OVER_ITEMS: lambda iterable, make, is_lazy=False: make(iterable),
        lowered.GENERATED: lambda native, pushed, stopped: native(),
        lowered.EXTENDED: lambda consumer, *of_suite: of_suite,
        lowered.CHOSEN_OF: lambda iterable, native, choose, is_nested=False: native(iterable),
        lowered.LISTED: lambda iterable, make, choose: make(iterable),
        lowered.KEPT: _kept,
        lowered.OF_ITEM: lambda container, key, name: getattr(hooks.read(container, key), name),
        lowered.HELD: lambda iterable: iterable,
        lowered.RECURSES: lambda callees: False,
        lowered.TEST: lambda test: test,
        lowered.MADE: lambda made: made,
        lowered.UNDEFINED_NAME: UNDEFINED,
        lowered.DEFINED: defined,
        lowered.NAMED: lambda name, value: value,
        lowered.GIVEN: lambda value: value,
        lowered.SET_ATTRIBUTE: lambda value, owner, name: setattr(owner, name, value),
        lowered.DELETE_ATTRIBUTE: delattr,
        lowered.DELETE_ITEM: operator.delitem,
        lowered.TRYING: _Trying,
        lowered.RAISED_HERE: lambda attempt, exception, cause: _raise(exception, cause),
        lowered.CAUGHT: _caught,
        lowered.CATCHES: lambda attempt, raised, kind, before: bool(raised) and isinstance(attempt.error, kind()),
        lowered.ERROR_OF: lambda attempt, raised, kind, before: attempt.error,
        lowered.OWN_ERRORS: REFUSALS,
        lowered.TEXT: _text,
        lowered.IS: lambda a, b, positive: (a is b) == positive,
        lowered.SUBJECT: lambda subject, *around: subject,
        lowered.ATTEMPTED: _attempted,
        lowered.REBINDS: lambda reads: None,
        lowered.FAILED: lambda attempt: 1,
        lowered.SWALLOWED: swallowed,
        lowered.MANAGED: lambda manager: manager,
    }
)
