"""What goes through the items of a generator in staged code (`generators.py`): loops, and builtins.

A `Generated` is what a generator function, or a generator expression with a condition, gives. Python can go through it
as through any generator, and does, unless whoever wants the items can be called for each of them: then data may decide
which items there are. Such a `Consumer` has variables, which the suites around a `yield` carry like their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.capture.carried import Variables
from wengert.capture.containers import about_to_iterate, about_to_leave, note_created
from wengert.capture.exceptions import demand
from wengert.capture.followed import iterators
from wengert.capture.followed.filtered import FilteredSet
from wengert.capture.instrument import staged
from wengert.capture.iteration import PUSHED, DataChoose
from wengert.capture.kinds import is_object
from wengert.capture.objects import MUTABLE
from wengert.capture.open_lists import add_to, over_items
from wengert.capture.opened import is_open
from wengert.capture.retrying import undone_if_refused
from wengert.capture.stage import if_, ifexp, not_
from wengert.capture.staged_loops import Loop, for_, iterate
from wengert.capture.tables import keys_of
from wengert.capture.undefined import UNDEFINED, Perhaps
from wengert.capture.values import is_symbolic, truth
from wengert.errors import StagingError
from wengert.ir.numbers import noted_boolean
from wengert.running import running

_operates_for_user = True


class Consumer:
    """Who wants items: `take(item)` is called with each, and then `go_on()` says whether there may be more."""

    def __init__(self, take: Callable[[Any], Any], go_on: Callable[[], Any] | None, variables: Variables):
        self.take, self.go_on, self.variables = take, go_on, variables

    def __call__(self, item: Any) -> Any:
        """Take an item; whether that was the last one wanted."""
        self.take(item)
        return self.go_on is not None and not_(self.go_on())


class Generated:
    """The items of a generator: in Python's way, or by calling a consumer."""

    def __init__(self, native: Callable, pushed: Callable, stopped: Callable):
        self._native, self._pushed, self._stopped = native, pushed, stopped
        self._iterator: Any = None
        self.counts: Any = None
        """If it is an `itertools.count`, where it begins, and its step."""

    def __iter__(self) -> Generated:
        return self

    def __next__(self) -> Any:
        return next(self._begun())

    def __getattr__(self, name: str) -> Any:  # send, throw, close, gi_frame, …
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._begun(), name)

    def begin(self) -> None:
        """Go through it in Python's way: somebody may want the items that are left."""
        self._begun()

    def _begun(self) -> Any:
        if self._iterator is None:
            self._iterator = iter(self._native())
        return self._iterator

    @property
    def is_new(self) -> bool:
        return self._iterator is None

    def push(self, consumer: Consumer) -> None:
        """Call the consumer for each item."""
        about_to_iterate(self)
        self._iterator = iter(())
        if consumer.go_on is None:
            self._pushed(consumer)
        else:
            self._stopped(consumer)
            about_to_leave(self)


def generated(native: Callable, pushed: Callable, stopped: Callable) -> Any:
    """What a generator function gives."""
    return note_created(Generated(native, pushed, stopped))


def held(iterable: Any) -> Any:
    """What is gone through up to some item, and has a name by which it may be used again."""
    if is_generated(iterable):
        iterable.begin()
    return iterable


def extended(consumer: Consumer, *of_suite: Any) -> tuple:
    """How a suite around a `yield` gets and sets variables: its own, and those of the consumer.

    `of_suite` is get, set, names, the names that are stored into (of a loop), and those of temporaries.
    """
    get_own, set_own, *rest = of_suite
    own = Variables(get_own, set_own, *rest) if len(rest) == 3 else Variables(get_own, set_own, rest[0], (), rest[1])
    more, n = consumer.variables, len(own.names)
    names, stores, others = ([f"{name} of the loop" for name in some] for some in more[2:])  # not to be confused

    def get() -> tuple:
        return (*own.get(), *more.get())

    def bind(values: tuple) -> None:
        own.set(values[:n])
        more.set(values[n:])

    both = (get, bind, (*own.names, *names))
    temporaries = (*own.temporaries, *others)
    return (*both, temporaries) if len(of_suite) == 4 else (*both, (*own.stores, *stores), temporaries)


def chosen_of(iterable: Any, native: Callable, choose: Callable, is_nested: bool = False) -> Any:
    """A generator expression with a condition: `choose` gives for a list of one item what tells whether it counts, and
    the value, as functions; if it `is_nested`, the value is the generator for what follows the first `for`."""

    def push(consumer: Consumer) -> None:
        get, bind, names, stores, temporaries = consumer.variables

        def body(item: Any) -> None:
            [(test, value)] = choose([item])
            if_(test(), lambda: take(value()), None, get, bind, names, temporaries)

        def take(value: Any) -> None:
            if is_nested:
                value.push(consumer)
            else:
                consumer.take(value)

        for_(iterable, body, consumer.go_on, get, bind, names, stores, temporaries)

    return generated(lambda: native(iterable), push, push)


def over(iterable: Any, make: Callable[[Any], Any], is_lazy: bool = False) -> Any:
    """A comprehension as a function of what it goes through (see `over_items`); `is_lazy`: a generator expression."""
    if isinstance(iterable, FilteredSet):
        iterable = iter(iterable)
    iterable = keys_of(iterable)
    if not is_generated(iterable):
        return over_items(iterable, make)

    def push(consumer: Consumer) -> None:
        def body(item: Any) -> None:
            for each in make([item]):
                consumer.take(each)

        for_(iterable, body, consumer.go_on, *consumer.variables)

    mapped = generated(lambda: make(iterable), push, push)
    return mapped if is_lazy else listed(mapped)


def listed_items(iterable: Any, make: Callable[[Any], Any], choose: Callable[[Any], Generated]) -> Any:
    """A list comprehension as a function of what it goes through first: in Python's way, if it knows what counts and
    how many items there are, otherwise as a loop that fills a list."""
    if is_generated(iterable) or isinstance(iterable, FilteredSet) or running.state.capture is None:
        return over(iterable, make)
    iterable = keys_of(iterable)
    if hasattr(iterable.__class__, "__next__"):
        iterable = list(iterate(iterable))
    found, refusal = undone_if_refused(lambda: over(iterable, make), (DataChoose,))
    return found if refusal is None else listed(choose(iterable))


def is_generated(x: Any) -> bool:
    """Whether something is a generator that nobody has begun to go through."""
    return x.__class__ is Generated and x.is_new


def _push_to_loop(iterable: Any, loop: Loop) -> bool:
    """Go through a generator with the suite of a loop, if it is one."""
    iterable = _generator_of(iterable)
    if not is_generated(iterable):
        return False
    iterable.push(Consumer(loop.body, loop.go_on, loop.variables))
    return True


def _generator_of(x: Any) -> Any:
    """What a loop goes through, where that is an object of the user's: the generator that its `__iter__` is."""
    method = getattr(x.__class__, "__iter__", None)
    return iter(x) if is_object(x) and not isinstance(x, MUTABLE) and not hasattr(x, "__next__") and method else x


PUSHED.append(_push_to_loop)


# -------------------------------------------------------------------------------------------------------- builtins


FILTERING: dict[Any, Callable] = {
    filter: iterators.filtered, itertools.filterfalse: iterators.filtered_out,
    itertools.takewhile: iterators.while_true, itertools.dropwhile: iterators.once_false,
    itertools.compress: iterators.selected, itertools.count: iterators.counting,
}  # fmt: skip
"""Iterators that decide by what items are, or that end only where the loop around them says so."""
PASSING_ON: dict[Any, tuple[int, Callable]] = {
    enumerate: (0, iterators.numbered), map: (1, iterators.mapped), itertools.accumulate: (0, iterators.accumulated),
    itertools.islice: (0, iterators.counted), zip: (0, iterators.zipped),
}  # fmt: skip
"""Iterators that pass on what they go through: which argument that is, and what they do with a generator."""


def passed_on(f: Any, args: tuple) -> Callable | None:
    """What is called in place of an iterator of Python's; None if it does what it always does."""
    if f is itertools.count:
        return _counting
    if f in FILTERING:
        return staged(FILTERING[f])
    if f is zip:
        return _zipped if _can_be_zipped(args) else None
    place, followed = PASSING_ON[f]
    is_fit = len(args) > place and is_generated(args[place]) and (f is not map or len(args) == 2)
    if f in (itertools.accumulate, itertools.islice) and args and is_open(args[0]):
        is_fit = True
    return staged(followed) if is_fit and (f is not itertools.islice or len(args) == 2) else None


def _counting(start: Any = 0, step: Any = 1) -> Generated:
    made = staged(FILTERING[itertools.count])(start, step)
    made.counts = iterators.CountedFrom(start, step)
    return made


def _can_be_zipped(args: tuple) -> bool:
    """Whether data may decide how many items one of these has, and those of the others can be found by their places."""
    rest = [a for a in args if not (is_generated(a) and a.counts is None)]
    return len(args) - len(rest) == 1 and all(
        isinstance(a, (list, tuple, str, range, np.ndarray, Box)) or is_generated(a) for a in rest
    )


def _zipped(*args: Any, strict: bool = False) -> Generated:
    """`zip` of one generator and of things with indices."""
    if strict:
        raise StagingError(
            "zip(strict=True) of a generator of which only the compiled program knows how many items it has",
            remedy="leave strict out, or make a list of it first",
        )
    place = next(k for k, a in enumerate(args) if is_generated(a) and a.counts is None)
    lengths = [len(a) for k, a in enumerate(args) if k != place and not is_generated(a)]
    items = [
        a.counts if is_generated(a) else iterators.CountedFrom(a.start, a.step) if isinstance(a, range) else a
        for a in args
    ]
    zipped = staged(iterators.zipped)
    return zipped(args[place], items[:place], items[place + 1 :], min(lengths, default=None))


def _folded(items: Generated, start: Sequence[Any], names: tuple, take: Callable, go_on: Callable | None) -> list[Any]:
    """Variables after all items: `take(state, item)` changes them."""
    state = list(start)

    def bind(values: tuple) -> None:
        state[:] = values

    variables = Variables(lambda: tuple(state), bind, names)
    items.push(Consumer(lambda item: take(state, item), None if go_on is None else lambda: go_on(state), variables))
    return state


def listed(items: Generated) -> list:
    """All items, in a list."""
    found: list[Any] = note_created([])
    items.push(Consumer(lambda item: add_to(found, item), None, Variables(lambda: (), lambda values: None, ())))
    return found


def sum_of(items: Generated, start: Any = 0) -> Any:
    """`sum(items, start)`."""

    def take(state: list, item: Any) -> None:
        state[0] = state[0] + item

    return _folded(items, [start], ("the sum",), take, None)[0]


def answer_of(items: Generated, decides: bool) -> Any:
    """`any(items)` or `all(items)`: the answer is `decides` once an item is."""

    def take(state: list, item: Any) -> None:
        state[0] = noted_boolean(truth(item)) if is_symbolic(item) else bool(item)

    def go_on(state: list) -> Any:
        return not_(state[0]) if decides else state[0]

    return _folded(items, [not decides], ("the answer",), take, go_on)[0]


def first_of(items: Generated, *default: Any) -> Any:
    """`next(items)` or `next(items, default)`."""

    def take(state: list, item: Any) -> None:
        state[:] = [True, item]

    found, value = _folded(items, [False, UNDEFINED], ("whether there is one", "the next item"), take,
                           lambda state: not_(state[0]))  # fmt: skip
    if not is_symbolic(found):
        if found:
            return value
        if default:
            return default[0]
        raise StopIteration
    value = value.value if value.__class__ is Perhaps else value
    if default:
        return ifexp(found, lambda: value, lambda: default[0])
    demand(found, "StopIteration", "")
    return value
