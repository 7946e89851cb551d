"""What is done with one of several things (`one_of.py`): for each of them, in a branch of its own.

    handlers[state](x)      ->      handlers["a"](x) if state is "a" else handlers["b"](x)

So whatever Python does with a constant works, and what one of them raises is raised where it is meant. What branches
give is put together as always: numbers, or again one of several things.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

from wengert.capture.branching import branch
from wengert.capture.containers import is_taken_apart, kind_of, note_created, parts_of, rebuilt
from wengert.capture.objects import MUTABLE
from wengert.capture.one_of import OneOf, known_one
from wengert.capture.session import current
from wengert.running import running

_REFLECTED = "add sub mul truediv floordiv mod pow matmul lshift rshift and_ or_ xor"
_OTHERS = "lt le gt ge neg pos abs invert getitem contains"


def each(x: Any, do: Callable[[Any], Any]) -> Any:
    """What is done to a thing; where it is one of several, to each of them."""
    if x.__class__ is not OneOf:
        return do(x)
    return do(known_one(x)) if running.state.capture is None else _among(x, x.possible, do)


def _among(x: OneOf, codes: Sequence[int], do: Callable[[Any], Any]) -> Any:
    first, *rest = codes
    if not rest:
        return do(x.alternative(first))
    then, orelse = (lambda: do(x.alternative(first))), (lambda: _among(x, rest, do))
    return branch(x.is_(first), then, orelse, lambda: (), lambda values: None, ())


def each_argument(f: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The call of a function that does not know of such things."""
    place = next((k for k, a in enumerate(args) if a.__class__ is OneOf), None)
    if place is not None:
        return each(args[place], lambda one: each_argument(f, [*args[:place], one, *args[place + 1 :]], kwargs))
    name = next((name for name, a in kwargs.items() if a.__class__ is OneOf), None)
    if name is not None:
        return each(kwargs[name], lambda one: each_argument(f, args, {**kwargs, name: one}))
    return f(*args, **kwargs)


def holds_one_of(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    return any(a.__class__ is OneOf for a in args) or any(a.__class__ is OneOf for a in kwargs.values())


def by_value(out: Any) -> Any:
    """What a function returns: in place of one of several objects that it has made, a new one that holds the same."""
    session = current.session
    if session is None or not _holds_chosen(out, ()):
        return out
    refers, session.refers = session.refers, False  # branches put new ones together
    try:
        return _renewed(out)
    finally:
        session.refers = refers


def _holds_chosen(x: Any, around: tuple) -> bool:
    """Whether there is one of several objects in it which were made in the function."""
    if x.__class__ is OneOf:
        return any(_is_made_here(x.alternative(code)) for code in x.codes if code not in x.values)
    if any(x is outer for outer in around):
        return False
    return any(_holds_chosen(part, (*around, x)) for part in (parts_of(x) or {}).values())


def _is_made_here(x: Any) -> bool:
    assert current.session is not None
    return (isinstance(x, MUTABLE) or is_taken_apart(x)) and current.session.is_made_inside(x)


def _renewed(x: Any) -> Any:
    if x.__class__ is OneOf:
        return each(x, _renewed)
    parts = parts_of(x)
    if not parts or (is_taken_apart(x) and not _is_made_here(x)):
        return x
    return note_created(rebuilt(kind_of(x), tuple(parts), [_renewed(part) for part in parts.values()]))


def gone_through(x: Any) -> Any:
    """The items of an iterable: if that is one of several with as many items, each item is one of several, too."""
    if x.__class__ is not OneOf:
        return x
    items = each(x, tuple)
    return items if items.__class__ is tuple else known_one(x)


def _method(apply: Callable) -> Callable:
    """A method of one of several things: `apply` of each, and of the other operands."""
    return lambda *operands: each_argument(apply, operands, {})


for _name in f"{_REFLECTED} {_OTHERS}".split():
    setattr(OneOf, f"__{_name.rstrip('_')}__", _method(getattr(operator, _name)))
for _name in _REFLECTED.split():
    _apply = getattr(operator, _name)
    setattr(OneOf, f"__r{_name.rstrip('_')}__", lambda self, other, f=_apply: each_argument(f, (other, self), {}))
for _name in ("bool", "hash", "len", "iter", "int", "float", "complex", "str", "format"):
    _of_known = getattr(builtins, _name)
    setattr(OneOf, f"__{_name}__", lambda self, *args, _f=_of_known: _f(known_one(self), *args))
setattr(OneOf, "__index__", lambda self: operator.index(known_one(self)))  # noqa: B010
