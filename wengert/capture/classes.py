"""Methods that Python calls by itself: operators, properties, constructors of users' classes.

Calls go through a hook (`hooks.py`), but nobody writes a call in `a + b`, `p.energy` or `with lock:`, and `np.sin(d)`
of an object calls `d.sin()`. So when a class
of the user's is met, the methods that Python calls for these are replaced in it, once, by ones that do what they did,
and while a transformation runs call their instrumented twins.

A class is met when it is called, when a method of an instance is called, when it or an instance is among the globals or
free variables of an instrumented function, and when an instance is an argument of a differentiated function.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from wengert.box.array_classes import ArrayClasses, can_hold
from wengert.errors import REFUSALS
from wengert.running import running
from wengert.types import own_dict

_UNTOUCHED = frozenset(
    (
        "__del__", "__init_subclass__", "__class_getitem__", "__set_name__", "__getattribute__", "__reduce__",
        "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__", "__getnewargs_ex__", "__subclasshook__",
        "__instancecheck__", "__subclasscheck__", "__prepare__", "__dir__", "__sizeof__", "__copy__", "__deepcopy__",
    )
)  # fmt: skip
"""Methods that have to do with classes and copies, not with numbers."""

_OF_MAKING_ARRAYS = frozenset(("__new__", "__init__", "__array_finalize__"))
"""Methods with which an array of a derived class is made: one of plain numbers, unless we make it (`hooks.py`)."""

_FOLLOWER = "__wengert_follows__"
_lock = threading.RLock()
_known: set[Any] = {
    int, float, complex, bool, str, bytes, type(None), np.ndarray, np.float64, np.int64, np.bool_, FunctionType,
    ModuleType, np.ufunc, range, slice, type,
}  # fmt: skip
"""Classes that have been met, and those of which nothing is to be learned."""


class Follow:
    """What this module asks of instrumentation, which is built on it: whether code is the user's, twins,
    and what is done with objects that were just made."""

    is_user_code: Callable[[Any], bool]
    is_user_function: Callable[[Any], bool]
    instrument: Callable[[Any], Any]
    own_attributes: Callable[[Any], Any]
    allocated: Callable[[Any], None]
    operates: Callable[[Any], None]


def meet_value(value: Any, depth: int = 3) -> None:
    """Meet the class of a value, and of what it holds, as far as that is quickly seen."""
    kind = type(value)
    if kind in (list, tuple, dict):
        if depth:
            for item in list(value.values() if kind is dict else value)[:16]:
                meet_value(item, depth - 1)
        return
    if kind in _known:
        if kind is type:
            meet(value)
        return
    if isinstance(value, type):
        meet(value)
    meet(kind)
    held = own_dict(value)
    if depth and held.__class__ is dict and _has_user_code(kind):
        for item in list(held.values())[:64]:
            meet_value(item, depth - 1)


def meet(cls: Any) -> None:
    """Have the methods of a class that Python calls by itself follow transformations."""
    if cls in _known:
        return
    with _lock:
        if cls in _known:
            return
        _known.add(cls)
        if hasattr(cls, "__array_function__") and not can_hold(cls):
            return  # a library of arrays, which we call with plain ones: what it makes of them is plain, too
        for base in cls.__mro__:
            if base is not object and base is not np.ndarray:
                _known.add(base)
                _meet_one(base)
        if type(cls) is not type:
            meet(type(cls))


def meet_again(cls: Any) -> None:
    """Meet a class, also if it was met before: its methods may have been replaced since."""
    if cls not in _known:
        meet(cls)
    elif not hasattr(cls, "__array_function__"):
        with _lock:
            for base in cls.__mro__:
                if base is not object:
                    _meet_one(base)


def _has_user_code(cls: Any) -> bool:
    return any(
        type(value) is FunctionType and (hasattr(value, _FOLLOWER) or Follow.is_user_code(value.__code__))
        for base in cls.__mro__
        for value in vars(base).values()
    )


def _meet_one(cls: Any) -> None:
    is_dataclass = "__dataclass_fields__" in vars(cls)
    for name, value in list(vars(cls).items()):
        new: Any = None
        if issubclass(cls, np.ndarray) and name in _OF_MAKING_ARRAYS:
            pass
        elif type(value) is FunctionType:
            if (name.startswith("__") and name.endswith("__") and name not in _UNTOUCHED) or _is_called_by_numpy(value):
                if not (is_dataclass and value.__code__.co_filename.startswith("<")):  # which dataclasses wrote
                    new = _following(value)
        elif value.__class__ is staticmethod and name == "__new__":
            function = _following(value.__func__)
            new = value if function is value.__func__ else staticmethod(function)
        elif value.__class__ is property:
            parts = [part and _following(part) for part in (value.fget, value.fset, value.fdel)]
            if parts != [value.fget, value.fset, value.fdel]:
                new = property(parts[0], parts[1], parts[2], value.__doc__)
        elif isinstance(value, functools.cached_property):
            value.func = _following(value.func)
            meet(value.__class__)
        elif isinstance(value, property):  # of a derived class, which may have more: it stays, with other parts
            parts = [part and _following(part) for part in (value.fget, value.fset, value.fdel)]
            if parts != [value.fget, value.fset, value.fdel]:
                property.__init__(value, parts[0], parts[1], parts[2], value.__doc__)
            meet(value.__class__)
        elif value.__class__ not in _known and not callable(value) and hasattr(value.__class__, "__get__"):
            meet(value.__class__)
        if new is not None and new is not value:
            try:
                type.__setattr__(cls, name, new)
            except (AttributeError, TypeError):  # a class that does not change
                return


def _is_called_by_numpy(f: FunctionType) -> bool:
    """Whether it is a method that NumPy calls for an object: `np.sin(d)` is `d.sin()`."""
    return f.__name__ in _UFUNCS_OF_ONE and f.__code__.co_argcount == 1


_UFUNCS_OF_ONE = frozenset(
    name for name, f in vars(np).items() if f.__class__ is np.ufunc and f.nin == 1 and "O->O" in f.types
)


def _following(f: Any) -> Any:
    """A function that does what `f` does, and while a transformation runs what its instrumented twin does."""
    if f.__class__ not in (FunctionType, MethodType) or hasattr(f, _FOLLOWER):
        return f
    if not Follow.is_user_function(f):
        return f
    around = _AROUND.get(f.__name__)

    def follower(*args: Any, **kwargs: Any) -> Any:
        if not running.state.depth:
            return f(*args, **kwargs)
        if args:
            Follow.operates(args[0])
        twin = Follow.instrument(f)
        return twin(*args, **kwargs) if around is None else around(twin, *args, **kwargs)

    functools.update_wrapper(follower, f)
    setattr(follower, _FOLLOWER, True)
    with contextlib.suppress(TypeError, ValueError):  # `getfullargspec` does not look at what was wrapped
        follower.__signature__ = inspect.signature(f)  # type: ignore[attr-defined]
    return follower


def _exit(twin: Callable, manager: Any, *error: Any) -> Any:
    done = twin(manager, *error)
    return False if len(error) > 1 and isinstance(error[1], REFUSALS) else done  # nobody swallows a refusal


def _init(twin: Callable, thing: Any, /, *args: Any, **kwargs: Any) -> Any:
    Follow.allocated(thing)
    return twin(thing, *args, **kwargs)


def _after_init(twin: Callable, thing: Any, /, *args: Any, **kwargs: Any) -> Any:
    Follow.allocated(thing)
    Follow.own_attributes(thing)  # which default factories have made
    return twin(thing, *args, **kwargs)


_AROUND: dict[str, Callable] = {
    "__bool__": lambda twin, thing: bool(twin(thing)),  # comparisons of traced numbers give NumPy's truth values
    "__exit__": _exit,
    "__init__": _init,
    "__post_init__": _after_init,
}
"""What else is done where some methods are called."""


def followed(f: Any) -> Any:
    """The function behind one of ours."""
    return f.__wrapped__ if hasattr(f, _FOLLOWER) else f


_ASKS_MORE = frozenset(("__bool__", "__exit__", "__post_init__"))


def without_follower(f: Any) -> Any:
    """`super().__init__` is one of ours, and so is `Base.__init__`: code that is followed calls what is behind it."""
    if type(f) is MethodType:
        function = without_follower(f.__func__)
        return f if function is f.__func__ else MethodType(function, f.__self__)
    if type(f) is FunctionType and hasattr(f, _FOLLOWER) and f.__name__ not in _ASKS_MORE:
        return f.__wrapped__  # type: ignore[attr-defined]
    return f


ArrayClasses.made = staticmethod(meet)
ArrayClasses.allocated = staticmethod(lambda x: Follow.allocated(x))
