"""What staged code calls: the hooks of `rewrite.py` and of `lower.py`, while a program is captured.

Calls do what the eager hooks do (`hooks.py`), and besides: builtins work on integers that are symbols, arrays from
outside become inputs of the program (`session.py`), and what would be different at every call, random numbers
(`draws.py`), the time and what is printed (`outside.py`), is called back when the program runs.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections import Counter, deque
from collections.abc import Callable
from enum import Enum
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any, cast

import numpy as np

from wengert.box.array_classes import ArrayClasses, Held, look_for_classes
from wengert.box.box import Box
from wengert.capture import exceptions, hooks, managers, recursing, retrying, rewrite, stage, staged_loops, staged_texts
from wengert.capture import lowered as lowering
from wengert.capture.branching import defined
from wengert.capture.chosen import chosen, filtered, in_place_of_lists, numbers_of
from wengert.capture.classes import without_follower
from wengert.capture.containers import (
    RESUMING,
    about_to_change,
    about_to_go_on,
    about_to_iterate,
    leaves_within,
    note_created,
)
from wengert.capture.copying import COPYING
from wengert.capture.draws import generator_made, random_method
from wengert.capture.each_item import method_of_item
from wengert.capture.each_of import each, each_argument, holds_one_of
from wengert.capture.filtering import EXTREMES, is_filtered, kept
from wengert.capture.followed.tables import Group, OpenTable
from wengert.capture.generated import (
    FILTERING,
    PASSING_ON,
    answer_of,
    chosen_of,
    extended,
    first_of,
    generated,
    held,
    is_generated,
    listed,
    listed_items,
    over,
    passed_on,
    sum_of,
)
from wengert.capture.guards import has_fields, holds_parts, itself
from wengert.capture.held_arrays import takes_held, with_held
from wengert.capture.identified import identified
from wengert.capture.instrument import STAGED, is_staged, is_user_function, set_staged_hooks, staged
from wengert.capture.iteration import refused
from wengert.capture.kinds import is_method_of_array, is_object, is_of_libraries, is_of_user
from wengert.capture.matching import MATCHED, matched
from wengert.capture.objects import CHANGING, MUTABLE
from wengert.capture.one_of import NOT_A_NUMBER, OneOf, demand_known_things, narrowed, not_none, numbers_in
from wengert.capture.open_lists import keep_last, method, over_items
from wengert.capture.opened import PooledRow, is_open
from wengert.capture.ordering import COMPARING, FOLLOWED, number_in, on_list, place_in, sort_list
from wengert.capture.outside import next_number, outside
from wengert.capture.replacements import FOLLOW_ARGUMENTS, REPLACEMENTS
from wengert.capture.session import current
from wengert.capture.staged_builtins import BUILTINS, replaces
from wengert.capture.staged_reads import attr, found_under, is_open_key, read
from wengert.capture.staged_stores import (
    augment,
    augment_attribute,
    augment_item,
    delete_attribute,
    delete_item,
    set_attribute,
    store,
    store_in_attribute,
    store_in_item,
)
from wengert.capture.syntax import OURS
from wengert.capture.tables import MAKING, keys_of, length_of, list_of_group, made_dict, refuse_computed
from wengert.capture.values import is_number
from wengert.counted import all_count
from wengert.ir.symbol import Sym
from wengert.ops.op import Traced, fresh_tag
from wengert.running import running

_operates_for_user = True

# ------------------------------------------------------------------------------------------------------------- calls

setattr(OneOf, "__call__", lambda self, *args, **kwargs: staged_call(self)(*args, **kwargs))  # noqa: B010


def staged_call(f: Any, operands: int = 1, given: int = rewrite.ANYTHING) -> Any:
    """What to call for `f`."""
    if ArrayClasses.exist and takes_held(f, True):
        return with_held(f, _staged_call(f, operands, given), staged_call)
    return _staged_call(f, operands, given)


def _staged_call(f: Any, operands: int, given: int) -> Any:
    if f.__class__ is OneOf:
        return lambda *args, **kwargs: each(f, lambda one: staged_call(one)(*args, **kwargs))
    if type(f) is MethodType:
        f = without_follower(f)
    session = current.session
    if session is not None and is_method_of_array(f):
        array = session.external(f.__self__)
        if array is not f.__self__:  # (`super().sum` is NumPy's method, not the one that the class of the object has)
            owner: Any = Held if isinstance(array, Held) else type(array)
            f = getattr(owner, f.__name__).__get__(array)
    try:
        found = BUILTINS.get(f)
        follows = f in _FOLLOWING
        if f in _GOING_THROUGH or f in FILTERING or f in PASSING_ON or f is Counter:
            return functools.partial(_gone_through, f)
        if f in FOLLOWED:
            return functools.partial(on_list, f, _called(f, found, follows, operands, given))
    except TypeError:  # not hashable
        found, follows = None, False
    return _called(f, found, follows, operands, given)


_GOING_THROUGH: dict[Any, Callable] = {
    sum: sum_of, any: lambda items: answer_of(items, True), all: lambda items: answer_of(items, False), next: first_of,
    **{f: (lambda items, *rest, f=f, **options: staged_call(f)(listed(items), *rest, **options))
       for f in (list, tuple, min, max, sorted, deque, math.fsum, math.prod, np.fromiter)},
}  # fmt: skip
"""Functions that go through all items of an iterable, or up to one: what they do with a generator."""
_IN_ANY_ORDER = frozenset((sum, any, all, min, max, sorted, math.fsum, math.prod))
"""Those of which the result is the same in any order of the items."""


def _gone_through(f: Callable, *args: Any, **options: Any) -> Any:
    """Call one of those, which may be given a generator."""
    args = tuple([keys_of(a, f in _IN_ANY_ORDER) for a in args])
    if f is Counter:
        lists = [listed(a) if is_generated(a) else list(a) if hasattr(a.__class__, "__next__") else a for a in args]
        return MAKING[f](*lists, **options)
    if args and is_filtered(args[0]):
        if f in EXTREMES and len(args) == 1 and "default" not in options:
            return EXTREMES[f](*args, **options)
        args = (iter(args[0]), *args[1:])
    if f in FILTERING or f in PASSING_ON:
        if (other := passed_on(f, args)) is not None:
            return other(*args, **options)
    elif args and is_generated(args[0]):
        return _GOING_THROUGH[f](*args, **options)
    elif f is next and args and (called := next_number(args[0])) is not None:
        return called()
    return _called(f, BUILTINS.get(f), f in _FOLLOWING)(*args, **options)


def _called(f: Any, found: Callable | None, follows: bool, operands: int = 1, given: int = rewrite.ANYTHING) -> Any:
    session = current.session
    if found is not None:
        if f not in _TAKING_ANY:
            found = _with_known(found, f)
        return found if session is None or _looks_at_object(f) else functools.partial(_with_items, found, session)
    kind = type(f)
    if kind in _ASKED_FIRST and (found := _ASKED_FIRST[kind](f, session)) is not None:
        return found
    if kind in (BuiltinFunctionType, MethodType) and f.__name__ == "tolist" and is_number(f.__self__):
        numbers = numbers_of(f.__self__, as_pythons=True)
        return lambda: _all_made(f()) if numbers is None else numbers
    special = generator_made(f) or random_method(f) or outside(f)
    if special is not None:
        return special if session is None else functools.partial(_with_items, special, session)
    target = hooks.call(f, operands, given)
    if not (is_staged(f) or follows or _puts_away(f)):
        target = _with_known(target, f)
    if session is None or (is_user_function(f) and f not in REPLACEMENTS):
        target = _noting_iterators(target) if _is_generator_function(f) else target
        return target if session is None else functools.partial(session.pass_on, f, target, len(session.passed))
    if isinstance(f, type) and not follows and f.__module__ != "itertools":  # whose instances go through what they get
        return functools.partial(_instance, target, session)
    if follows:
        target = _with_staged_arguments(target)
    return target if _looks_at_object(f) else functools.partial(_with_items, target, session)


def _looks_at_object(f: Any) -> bool:
    """Whether a function looks at an object without going through it, even if the object is an iterator."""
    return _asks_object(f) or any(f is other for other in _LOOKING)


_LOOKING = (isinstance, setattr, delattr, repr, str, format, print)


def _unbound_method(f: Any, session: Any) -> Callable | None:
    """`list.append`, called as `list.append(a, x)`."""
    if not issubclass(f.__objclass__, MUTABLE) or f.__name__ not in CHANGING:
        return None
    return lambda owner, /, *args, **kwargs: staged_call(f.__get__(owner))(*args, **kwargs)


def _builtin_method(f: Any, session: Any) -> Callable | None:
    """A method of one of Python's own classes, if it is another one here; what it is about to change is told."""
    owner, name = f.__self__, f.__name__
    if owner.__class__ is dict and session is not None:
        if name in ("values", "items"):
            return getattr(session.mapping(owner), name)
        if name == "get":
            return functools.partial(_get, session, owner)
    if name in (_UNDER_KEY if isinstance(owner, dict) else _OF_SETS if owner.__class__ is set else ()):
        return functools.partial(_under_key, f, session)
    if isinstance(owner, str) and name in ("format", "join"):
        return functools.partial(staged_texts.format if name == "format" else staged_texts.join, owner)
    if is_open(owner):
        return _with_narrowed(method(owner, name)) if name in _PUTS else method(owner, name)
    if isinstance(owner, (list, tuple)) and name in _COMPARING:
        return functools.partial(_COMPARING[name], owner)
    if isinstance(owner, MUTABLE) and name == "copy":
        return lambda: note_created(f())
    if isinstance(owner, MUTABLE) and name in CHANGING:
        about_to_change(owner)
        if isinstance(owner, list) and name in _PUTS:
            return _with_narrowed(f)
    if name in RESUMING and f is not fresh_tag:  # a mode may be made anywhere
        about_to_iterate(owner)
    if type(owner).__module__ in _KEEP_STATE or type(owner) is bytearray:
        about_to_go_on(owner, f"an object of the class {type(owner).__qualname__} is used")
    return None


def _with_narrowed(f: Callable) -> Callable:
    return lambda *args, **kwargs: f(*[narrowed(a) for a in args], **kwargs)


_PUTS = ("append", "appendleft", "insert")
"""Methods that put something into a list, where it must be of the kind of the others."""
_UNDER_KEY, _OF_SETS = ("setdefault", "pop", "get"), ("add", "discard", "remove")
_KEEP_STATE = frozenset(("array", "sqlite3", "zlib", "_csv", "_pickle", "_queue", "_bz2", "_lzma", "_hashlib", "_md5",
                         "_sha1", "_sha2", "_sha256", "_sha512", "_sha3", "_blake2"))  # fmt: skip
"""Modules in C whose objects are others after each call of a method."""


def _bound_method(f: Any, session: Any) -> None:
    if isinstance(f.__self__, MUTABLE):
        about_to_change(f.__self__)


def _function(f: Any, session: Any) -> None:
    if session is not None and hasattr(f, "registry"):  # functools.singledispatch
        session.found(f.registry, functools.partial(getattr, f, "registry"))


_ASKED_FIRST: dict[type, Callable[[Any, Any], Callable | None]] = {
    **dict.fromkeys((MethodDescriptorType, WrapperDescriptorType), _unbound_method),
    **dict.fromkeys((BuiltinFunctionType, MethodWrapperType), _builtin_method),
    MethodType: _bound_method,
    FunctionType: _function,
    operator.attrgetter: lambda f, session: functools.partial(_attributes, f),
    operator.methodcaller: lambda f, session: functools.partial(_method_called, f),
}
"""By the class of a callable and the session: what is called in its place, or None if that is yet to be found."""


def _get(session: Any, mapping: dict, key: Any, *default: Any) -> Any:
    """`mapping.get(key)`."""
    if is_open_key(key, mapping):
        return found_under(mapping, key, lambda: default[0] if default else None)
    refuse_computed(mapping, key)
    return session.get(mapping, identified(key), *default)


def _under_key(f: Any, session: Any, key: Any, *default: Any, **options: Any) -> Any:
    """A method of a dict or set that is given a key."""
    owner = f.__self__
    refuse_computed(owner, key)
    if isinstance(owner, MUTABLE) and f.__name__ in CHANGING:
        about_to_change(owner)
    return _with_items(hooks.call(f), session, key, *default, **options)


_COMPARING: dict[str, Callable] = {"sort": sort_list, "index": place_in, "count": number_in}
"""Methods of lists and tuples that compare items."""


def _attributes(getter: operator.attrgetter, owner: Any) -> Any:
    """What `operator.attrgetter` does."""
    found = [functools.reduce(attr, name.split("."), owner) for name in getter.__reduce__()[1]]
    return found[0] if len(found) == 1 else tuple(found)


def _method_called(caller: operator.methodcaller, owner: Any) -> Any:
    """What `operator.methodcaller` does."""
    kind, args = cast("tuple[Any, tuple]", caller.__reduce__())
    keywords: dict[str, Any] = {}
    if kind.__class__ is functools.partial:
        args, keywords = (*kind.args, *args), kind.keywords
    return staged_call(attr(owner, args[0]))(*args[1:], **keywords)


def entered_by(f: Any, session: Any) -> Any:
    """What is called for the function that is compiled. If there is nothing to be followed, as in a function of a
    library, it is what followed code would call."""
    look_for_classes()
    if f.__class__ is functools.partial or is_of_libraries(f) or is_method_of_array(f):
        session.found(f, functools.partial(itself, f))
    twin = staged(f)
    return twin if twin is not f or hooks.is_of_package(f) else staged_call(f)


_FOLLOWING = frozenset(FOLLOW_ARGUMENTS)
_TAKING_ANY = frozenset((isinstance, bool, any, all, list, *MAKING, set, deque, enumerate, zip, reversed, map, setattr,
                          str, repr, format, object.__setattr__, operator.truth, operator.not_, operator.contains,
                          *COPYING))  # fmt: skip
"""Builtins that know what one of several things is, or do not look at it."""


def _puts_away(f: Any) -> bool:
    """Whether a function only puts its arguments into a container, or fetches what is there."""
    if isinstance(f, type):
        return f in (tuple, SimpleNamespace) or (is_of_user(f) and not issubclass(f, Enum))
    owner = getattr(f, "__self__", None)
    if isinstance(owner, tuple) or (isinstance(owner, type) and issubclass(owner, tuple)):  # `_replace`, `_make`
        return f.__name__ in ("_replace", "_make", "_asdict", "__new__")
    return type(f) is BuiltinFunctionType and (isinstance(f.__self__, MUTABLE) or f in (iter, next))


def _with_known(f: Callable, named: Any) -> Callable:
    """A function that does not know of things that are one of several: it is called for each of them."""
    return functools.partial(_called_with_known, f, named)


def _called_with_known(f: Callable, named: Any, /, *args: Any, **kwargs: Any) -> Any:
    # (not a function inside of the one above, which would hold itself, and with it arrays that nobody else holds)
    if holds_one_of(args, kwargs):
        if str(getattr(named, "__module__", None)).startswith("numpy"):  # which makes arrays of objects of None
            args = (*[not_none(x, NOT_A_NUMBER) for x in args[:1]], *args[1:])
        return each_argument(_with_known(f, named), args, kwargs)
    if named is len and len(args) == 1 and is_filtered(args[0]):
        return staged(type(args[0]).__len__)(args[0])
    if named is len and len(args) == 1 and isinstance(args[0], (Group, OpenTable)):
        return length_of(args[0])
    if named is len and len(args) == 1 and is_object(args[0]) and hasattr(args[0].__class__, "__len__"):
        return staged(args[0].__class__.__len__)(args[0])  # which may be a number of the program
    if named is len:  # which does not look at the items
        return f(*args, **kwargs)
    if current.session is not None and current.session.constants and not any(named is f for f in COMPARING):
        args, kwargs = numbers_in(args), numbers_in(kwargs)
        for given in (named.__self__ if type(named) is MethodType else None, *args, *kwargs.values()):
            if given.__class__ in (list, tuple, dict) or (is_object(given) and not _asks_object(named)):
                demand_known_things(given, 4)
    values = in_place_of_lists(named, list_of_group(kwargs.values()))
    return f(*in_place_of_lists(named, list_of_group(args)), **dict(zip(kwargs, values, strict=True)))


def _asks_object(f: Any) -> bool:
    """Whether a function asks an object something that has nothing to do with what its attributes are."""
    return f is type or (f.__class__ is BuiltinFunctionType and f in (id, callable, getattr, hasattr))


def _with_staged_arguments(f: Callable) -> Callable:
    """A function that calls what it is given: map(float, x)."""

    def staged(a: Any) -> Any:
        if is_open(a):
            refused()
        return BUILTINS.get(a, a) if type(a) is BuiltinFunctionType or isinstance(a, type) else a

    return lambda *args, **kwargs: f(
        *map(staged, args), **{k: a if k == "dtype" else staged(a) for k, a in kwargs.items()}
    )


def _with_items(f: Callable, session: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that does not look at lists from outside as staged code does."""
    result = f(*[session.items(about_to_iterate(a)) for a in args], **kwargs)
    return note_created(result) if hasattr(result.__class__, "__next__") else result


def _is_generator_function(f: Any) -> bool:
    while type(f) is MethodType or f.__class__ is functools.partial:
        f = getattr(f, "__func__", None) or f.func  # type: ignore[union-attr]
    return type(f) is FunctionType and bool(f.__code__.co_flags & inspect.CO_GENERATOR)


def _noting_iterators(f: Callable) -> Callable:
    return lambda *args, **kwargs: note_created(f(*args, **kwargs))


def _instance(make: Callable, session: Any, /, *args: Any, **kwargs: Any) -> Any:
    return note_created(session.made(make(*[session.items(a) for a in args], **kwargs)))


def made(container: Any) -> Any:
    """A list or dict that was just made."""
    if container.__class__ is list and any(item.__class__ is PooledRow for item in container):  # [*row], list(row)
        container[:] = [item.items(item.holder) if item.__class__ is PooledRow else item for item in container]
    return made_dict(container) if container.__class__ in (dict, set) else note_created(container)


def given(value: Any) -> Any:
    """What a function returns that may have returned before; a program may have kept it, and call it when it runs."""
    if (capture := running.state.capture) is not None:
        for leaf in leaves_within(value):
            capture.links.wake(leaf)
    return value


def named(name: Any, value: Any) -> Any:
    """A value that gets a name, or several: they are what a program is shown with."""
    if name.__class__ is tuple:
        if value.__class__ is tuple and len(value) == len(name):
            for each, part in zip(name, value, strict=True):
                named(each, part)
        return value
    x = value
    while isinstance(x, Traced) and x.__class__ is not Sym and "_value" in x._state:  # type: ignore[attr-defined]
        x = x._value  # type: ignore[attr-defined]
    if x.__class__ is Sym and x._node.hint is None:
        x._node.hint = name
    return value


def _all_made(value: Any) -> Any:
    """Lists in lists that were just made."""
    if value.__class__ is list:
        for item in value:
            _all_made(item)
        note_created(value)
    return value


def operate(name: str, a: Any, b: Any) -> Any:
    """`[0.0] * n` and its like: what comes out may be a list that was just made."""
    result = hooks.operate(name, a, b)
    return note_created(result) if result.__class__ is list and result is not a else result


BUILTINS.update(MAKING)


@replaces(deque)
def _deque(*args: Any, **options: Any) -> Any:
    new = made(deque(*args, **options))
    return keep_last(new) if is_open(new) else new


@replaces(list)
def _list(*iterable: Any) -> Any:
    found = numbers_of(iterable[0]) if len(iterable) == 1 else None
    return made(list(*iterable)) if found is None else found


@replaces(map)
def _map(f: Any, *iterables: Any) -> Any:
    apply = staged_call(f)
    if len(iterables) == 1 and is_open(iterables[0]):
        return over_items(iterables[0], lambda items: [apply(x) for x in items])
    return _with_staged_arguments(hooks.call(map))(f, *iterables)


BUILTINS[setattr] = lambda owner, name, v: set_attribute(v, owner, name)


@replaces(object.__setattr__)
def _object_setattr(owner: Any, name: str, v: Any) -> None:
    about_to_change(owner, ("attribute", name))
    object.__setattr__(owner, name, v)


BUILTINS[delattr] = delete_attribute
BUILTINS[operator.delitem] = delete_item
for _name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor",
              "ilshift", "irshift", "iconcat"):  # fmt: skip
    BUILTINS[getattr(operator, _name)] = functools.partial(augment, _name)


@replaces(operator.setitem)
def _setitem(container: Any, key: Any, v: Any) -> None:
    store(v, container, key, False)


@replaces(getattr)
def _getattr(owner: Any, name: str, *default: Any) -> Any:
    if holds_one_of((owner, name), {}):
        return each_argument(lambda one, n: _getattr(one, n, *default), (owner, name), {})
    if isinstance(owner, Box) or name.__class__ is not str:
        return REPLACEMENTS[getattr](owner, name, *default)
    return attr(owner, name) if not default or _hasattr(owner, name) else default[0]


@replaces(hasattr)
def _hasattr(owner: Any, name: str) -> bool:
    found = REPLACEMENTS[hasattr](owner, name)
    if current.session is not None and not isinstance(owner, Box):
        current.session.looked_for(owner, name, found)
    return found


@replaces(vars)
def _vars(*owner: Any) -> Any:
    return attr(owner[0], "__dict__") if owner else vars()


def rebinds(reads: Callable) -> None:
    """A function begins that may bind variables from around it: those that the given function reads."""
    for cell in reads.__closure__ or ():
        about_to_change(cell)
    if current.session is not None:
        for name in [name for name in reads.__code__.co_names if not name.startswith(OURS)]:
            about_to_change(current.session.global_variable(reads.__globals__, name))


def load(name: str, value: Any) -> Any:
    """A global or free variable."""
    session = current.session
    return value if session is None else session.external(value)


def default(value: Any) -> Any:
    """A parameter that has a default."""
    is_plain = current.session is not None and isinstance(value, np.ndarray)
    return current.session.external(value) if is_plain else value  # type: ignore[union-attr]


def base(container: Any, attributes: tuple[str, ...] = ()) -> Any:
    """What is only read by an index, or by fields of a named tuple: of a container from outside nothing else counts."""
    if current.session is not None and holds_parts(container) and has_fields(container, attributes):
        current.session.used_by_item(container)
    return container


def passed(value: Any, is_read: bool) -> Any:
    """An argument of a call: a variable, or something that is read there."""
    if current.session is not None and holds_parts(value):
        current.session.note_passed(value, is_read)
    return value


def _attribute(owner: Any, name: str) -> Any:
    """`owner.name`. The methods of one of several lists or dicts are called of each."""
    if owner.__class__ is OneOf and all(isinstance(owner.alternative(code), MUTABLE) for code in owner.possible):
        return lambda *args, **kwargs: each(owner, lambda one: staged_call(attr(one, name))(*args, **kwargs))
    return attr(owner, name)


def _method_read(owner: Any, name: str) -> Any:
    return attr(base(owner, (name,)), name)


def _matched(kind: str, subject: Any, what: Any, more: Any, names: tuple = ()) -> tuple | None:
    """The parts of a subject of a `match`."""
    if subject.__class__ is OneOf:
        return each(subject, lambda one: _matched(kind, one, what, more, names))
    if kind == "sequence" and is_open(subject):
        refused()
    if current.session is not None:
        session = current.session
        subject = session.mapping(subject) if subject.__class__ is dict else session.items(subject)
    return matched(kind, subject, what, more, names, BUILTINS[isinstance], attr)


def entered(f: Any) -> None:
    if current.session is not None:
        current.session.enter(f)


def _allocated(instance: Any) -> None:
    """An instance is about to be filled by `__init__`: what it will hold is made inside."""
    note_created(instance if current.session is None else current.session.made(instance))


def _operates(instance: Any) -> None:
    """A special method of an object is called, or a property of it is read."""
    if current.session is not None:
        current.session.operates(instance)


STAGED.entered = entered
STAGED.operates = _operates
STAGED.load = load
STAGED.allocated = _allocated
set_staged_hooks(
    {
        **hooks.EAGER_HOOKS,
        rewrite.CALL: staged_call,
        rewrite.READ: read,
        rewrite.STORE: store,
        rewrite.STORE_IN_ITEM: store_in_item,
        rewrite.STORE_IN_ATTRIBUTE: store_in_attribute,
        rewrite.AUGMENT: augment,
        rewrite.AUGMENT_ITEM: augment_item,
        rewrite.AUGMENT_ATTRIBUTE: augment_attribute,
        rewrite.FORMAT: staged_texts.interpolate,
        rewrite.OPERATE: operate,
        rewrite.CLASS_OF: lambda x: attr(x, "__class__"),
        rewrite.SET_IN: lambda x: x,
        MATCHED: _matched,
        lowering.IF: stage.if_,
        lowering.FOR: staged_loops.for_,
        lowering.WHILE: staged_loops.while_statement,
        lowering.AND: stage.and_,
        lowering.OR: stage.or_,
        lowering.NOT: stage.not_,
        lowering.IFEXP: stage.ifexp,
        lowering.CHAIN: stage.chain,
        lowering.LOAD: load,
        lowering.BASE: base,
        lowering.DEFAULT: default,
        lowering.PASSED: passed,
        lowering.ATTR: _attribute,
        lowering.KEPT: kept,
        lowering.OF_ITEM: functools.partial(method_of_item, method=_method_read, call=staged_call),
        lowering.ASSERT: exceptions.assert_,
        lowering.RAISE: exceptions.raise_,
        lowering.ITERATE: staged_loops.iterate,
        lowering.TEST: stage.test,
        lowering.BUILTIN: hooks.is_builtin,
        lowering.CHOSEN: chosen,
        lowering.FILTERED: filtered,
        lowering.EQUAL: stage.equality,
        lowering.ORDERED: stage.ordered,
        lowering.OVER_ITEMS: over,
        lowering.GENERATED: generated,
        lowering.EXTENDED: extended,
        lowering.CHOSEN_OF: chosen_of,
        lowering.LISTED: listed_items,
        lowering.HELD: held,
        lowering.RECURSES: recursing.recurses,
        lowering.RECURSED: recursing.recursed,
        lowering.DEFAULT_OF: recursing.default_of,
        lowering.MADE: made,
        lowering.DEFINED: defined,
        lowering.NAMED: named,
        lowering.GIVEN: given,
        lowering.SET_ATTRIBUTE: set_attribute,
        lowering.DELETE_ATTRIBUTE: delete_attribute,
        lowering.DELETE_ITEM: delete_item,
        lowering.TRYING: exceptions.trying,
        lowering.RAISED_HERE: exceptions.raised_here,
        lowering.CAUGHT: exceptions.caught,
        lowering.CATCHES: exceptions.catches,
        lowering.ERROR_OF: exceptions.error_of,
        lowering.OWN_ERRORS: exceptions.OWN_ERRORS,
        lowering.TEXT: staged_texts.joined,
        lowering.IS: stage.identity,
        lowering.SUBJECT: stage.subject,
        lowering.ATTEMPTED: retrying.attempted,
        lowering.REBINDS: rebinds,
        lowering.FAILED: exceptions.failed,
        lowering.SWALLOWED: managers.swallowed,
        lowering.MANAGED: managers.managed,
    }
)


all_count(globals())
