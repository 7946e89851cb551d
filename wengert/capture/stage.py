"""Decisions of users' functions, staged: what `lower.py` makes of `if`, `and`, `or`, `not` and comparisons.

On ordinary Python values each of these does what Python does. On values of the program that is being captured the
suites become blocks: they are run once, in a capture, and a `cond` is recorded (`branching.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from wengert.box.array_classes import held
from wengert.box.box import Box
from wengert.box.writing import settled
from wengert.capture.branching import branch
from wengert.capture.compared import compared
from wengert.capture.containers import LEAF
from wengert.capture.deciding import condition, method_of_class, where_true
from wengert.capture.identified import compares_by_identity, is_chosen, negation, other_object, same_object
from wengert.capture.iteration import DataChoose, Range, refused
from wengert.capture.one_of import OneOf, demand_known_things, whether
from wengert.capture.opened import SEQUENCES, has_items, is_open
from wengert.capture.opening import whole
from wengert.capture.session import current
from wengert.capture.values import is_number, is_symbolic, truth
from wengert.ir.numbers import noted_boolean, python_class
from wengert.modes.interval import Interval
from wengert.ops import elementwise as e
from wengert.types import dtype_of, shape_of

Thunk = Callable[[], Any]


def if_(test: Any, then: Callable, orelse: Callable | None, get: Callable, set: Callable, names: tuple,
        temporaries: tuple = (), opens: bool = True) -> None:  # fmt: skip
    """`if test: … else: …`."""
    test = condition(test)
    if not is_symbolic(test):
        if settled(test):
            then()
        elif orelse is not None:
            orelse()
        return
    branch(test, then, orelse, get, set, names, temporaries, opens)


def ifexp(test: Any, then: Thunk, orelse: Thunk) -> Any:
    """`a if test else b`."""
    test = condition(test)
    if not is_symbolic(test):
        return then() if settled(test) else orelse()
    return branch(test, then, orelse, lambda: (), lambda values: None, ())


def and_(first: Thunk, *rest: Thunk) -> Any:
    """`a and b`."""
    value = first()
    if not rest:
        return value
    test = condition(value)
    if not is_symbolic(test):
        return and_(*rest) if settled(test) else value
    return ifexp(test, lambda: _comparable(and_(*rest)), lambda: _comparable(value))


def or_(first: Thunk, *rest: Thunk) -> Any:
    """`a or b`."""
    value = first()
    if not rest:
        return value
    test = condition(value)
    if not is_symbolic(test):
        return value if settled(test) else or_(*rest)
    return ifexp(test, lambda: _comparable(where_true(value)), lambda: _comparable(or_(*rest)))


def _comparable(x: Any) -> Any:
    x = held(x)
    return truth(x) if is_symbolic(x) and not shape_of(x) and dtype_of(x).kind == "b" else x


def not_(x: Any) -> Any:
    """`not x`."""
    return negation(condition(x))


def _contains(a: Any, b: Any) -> Any:
    """`a in b`: equal to one of its items. Python makes a truth value of its own of the answer."""
    found = _has(b, a)
    return noted_boolean(found) if is_symbolic(found) else found


def _has(b: Any, a: Any) -> Any:
    kind = b.__class__
    for x, contains in ((b, lambda one: _contains(a, one)), (a, lambda one: _contains(one, b))):
        if x.__class__ is OneOf:
            return whether(x, contains)
    if is_open(b):
        return _contains(a, _numbers_in(b))
    if isinstance(b, Interval):
        return truth(b._has(a))
    if kind is Range and is_number(a):
        return truth(b.has(a))
    if isinstance(b, (np.ndarray, Box)) or is_symbolic(b):
        if is_symbolic(a) or is_symbolic(b):
            if not b.shape:
                iter(b)  # which raises what Python does
            return truth(np.any(np.equal(b, a)))
    elif kind is range and is_symbolic(a) and len(b) > _LISTED and dtype_of(a).kind in "biu":
        first, last = min(b[0], b[-1]), max(b[0], b[-1])
        inside = e.logical_and(e.greater_equal(a, first), e.less_equal(a, last))
        return e.logical_and(inside, e.equal(e.remainder(a - first, abs(b.step)), 0))
    elif kind in (tuple, list, range, set, frozenset, dict) and any(map(_is_open, (a, *b))):
        found: Any = False
        for item in b:
            same = True if item is a else equality(item, a, True)
            if is_symbolic(same):
                found = truth(same) if found is False else e.logical_or(found, truth(same))
            elif same:
                return True
        return found
    has = method_of_class(b, "__contains__")
    return a in b if has is None else condition(has(b, a))  # (of which Python makes a truth value)


def _numbers_in(things: Any) -> Any:
    """An open list of numbers as an array."""
    opened = whole(things)
    return refused() if opened.kind.structure is not LEAF or opened.kind.leaves[0].shape else opened.rows[0]


def equality(a: Any, b: Any, positive: bool) -> Any:
    """`a == b` or `a != b`, which of lists that the program alone knows the length of Python would answer."""
    for one, other in ((a, b), (b, a)):
        if one.__class__ is OneOf:
            return whether(one, functools.partial(equality, other, positive=positive))
        if isinstance(one, Box) and isinstance(other, (str, bytes)) and not one.shape:  # (also of a batch)
            return not positive
    if a.__class__ in SEQUENCES and b.__class__ is a.__class__ and (is_open(a) or is_open(b)):
        if a and b:
            return refused()
        any_items = has_items(a or b)
        return not_(any_items) if positive else any_items
    if _asks_which_object(a, b):
        return identity(a, b, positive)
    a, b = _fields_compared(a, b, "__eq__")
    if _go_item_by_item(a, b):
        items = [functools.partial(_same, x, y) for x, y in zip(a, b, strict=False)]
        equal = len(a) == len(b) and and_(*items)
        return equal if positive else not_(equal)
    return compared("eq" if positive else "ne", a, b)


def ordered(a: Any, b: Any, name: str) -> Any:
    """`a < b`, `a <= b`, `a > b` or `a >= b`: of tuples and lists the first items decide that are not equal."""
    a, b = _fields_compared(a, b, f"__{name}__")
    if not _go_item_by_item(a, b):
        return compared(name, a, b)

    def of_items(k: int) -> Any:
        if k == min(len(a), len(b)):
            return getattr(operator, name)(len(a), len(b))
        return ifexp(_same(a[k], b[k]), lambda: of_items(k + 1), lambda: ordered(a[k], b[k], name))

    return of_items(0)


def _fields_compared(a: Any, b: Any, name: str) -> tuple[Any, Any]:
    """Of two objects that are compared as `dataclasses` wrote it, the tuples of fields that are; others as they are."""
    kind = a.__class__
    if kind is b.__class__ and "__dataclass_fields__" in kind.__dict__:
        owner = next((cls for cls in kind.__mro__ if name in vars(cls)), kind)
        method = vars(owner).get(name)
        if type(method) is FunctionType and method.__code__.co_filename.startswith("<"):
            names = [field.name for field in dataclasses.fields(owner) if field.compare]
            return tuple([getattr(a, name) for name in names]), tuple([getattr(b, name) for name in names])
    return a, b


def _go_item_by_item(a: Any, b: Any) -> bool:
    """Whether two tuples, or two lists, are compared that hold numbers which only the program knows."""
    for kind in (tuple, list):
        if isinstance(a, kind) and isinstance(b, kind):
            own = [type(x).__eq__ is kind.__eq__ and type(x).__lt__ is kind.__lt__ for x in (a, b)]
            items = [*a, *b] if all(own) and not is_open(a) and not is_open(b) else []
            if any(is_symbolic(x) and shape_of(x) for x in items):
                return False  # of an array Python does not know whether it is equal
            return _holds_open(items)
    return False


def _holds_open(items: Any) -> bool:
    return any(_is_open(x) or (isinstance(x, (tuple, list)) and _holds_open(x)) for x in items)


def _same(x: Any, y: Any) -> Any:
    """Whether items of containers count as equal."""
    return True if x is y else equality(x, y, True)


setattr(OneOf, "__eq__", functools.partialmethod(equality, positive=True))  # noqa: B010
setattr(OneOf, "__ne__", functools.partialmethod(equality, positive=False))  # noqa: B010


def _asks_which_object(a: Any, b: Any) -> bool:
    """Whether two objects are compared that are equal to themselves only, and data have chosen one of them."""
    return (is_chosen(a) or is_chosen(b)) and compares_by_identity(a) and compares_by_identity(b)


def _is_open(x: Any) -> bool:
    if x.__class__ is tuple:
        return any(map(_is_open, x))
    return x.__class__ is OneOf or is_symbolic(x) or is_chosen(x)


_LISTED = 32
"""A longer range is not gone through item by item."""


def _compared(name: str) -> Callable:
    """A comparison in a chain: of Python's own numbers a truth value of Python's own."""

    def compared(a: Any, b: Any) -> Any:
        found = equality(a, b, name == "eq") if name in ("eq", "ne") else ordered(a, b, name)
        if is_symbolic(found) and python_class(a) is not None and python_class(b) is not None:
            return noted_boolean(found)
        return found

    return compared


_COMPARE: dict[str, Callable] = {
    **{name: _compared(name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    "is_": same_object,
    "is_not": other_object,
    "contains": _contains,
    "not_contains": lambda a, b: not_(_contains(a, b)),
}


def chain(first: Any, ops: tuple[str, ...], *rest: Thunk) -> Any:
    """`a < b <= c`."""
    second = rest[0]()
    result = _COMPARE[ops[0]](first, second)
    if len(ops) == 1:
        return result
    return and_(lambda: result, lambda: chain(second, ops[1:], *rest[1:]))


def identity(a: Any, b: Any, positive: bool) -> Any:
    """`a is b` or `a is not b`."""
    return same_object(a, b) if positive else other_object(a, b)


def subject(x: Any, around: Any = None, module: Any = None) -> Any:
    """What an `eval` looks at, with the variables around it and those of the module."""
    if module is not None and current.session is not None:
        current.session.evaluated(x, module)
    demand_known_things((x, around), 4)
    return x


def test(x: Any) -> Any:
    """The condition of a comprehension, which Python decides."""
    x = condition(x)
    if is_symbolic(x):
        raise DataChoose(
            "a condition of a comprehension depends on a value that is known only when the compiled program runs",
            remedy="use a mask, x[x > 0], or np.where, or a for loop with an if",
        )  # fmt: skip
    return x
