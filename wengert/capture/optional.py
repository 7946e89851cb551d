"""Values that are None or not: which of the two, only the compiled program knows.

A variable that is None in one branch and a number in the other is an `Optional`: the number, which means nothing where
there is None, and a flag that says whether there is one. Staged code asks for the flag (`x is None`, `x == None`, the
truth of x, `isinstance`). Whatever else is done with it goes through `number_of`: the program raises Python's
TypeError if there is None, and the number is taken. Code that is not staged is never given an `Optional`
(`staged_hooks.py`), since it would not see that it may be None.

To those who take values apart (`containers.py`) it is a container with two parts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.dispatch import OPERANDS
from wengert.box.writing import settled
from wengert.capture.session import current
from wengert.capture.undefined import UNDEFINED
from wengert.errors import ConcretizationError, StagingError
from wengert.ir.infer import demand_which, is_either
from wengert.ir.numbers import innermost, noted_boolean, python_class
from wengert.ops import elementwise as e
from wengert.ops.op import Traced, call
from wengert.ops.reduce import all as all_of
from wengert.ops.sizes import require
from wengert.ops.succeeds import Handlers
from wengert.running import running
from wengert.types import own_dict, shape_of

_operates_for_user = True

_REMEDY = "test it with `is None` or `is not None` in your own code, or use np.nan or 0.0 in place of None, and a flag"


class Optional:
    """See the module's text. `has` says whether there is a value; `name` is what messages call it."""

    __slots__ = ("has", "name", "value")

    def __init__(self, value: Any, has: Any, name: str | None = None):
        self.value, self.has, self.name = value, has, name
        if current.session is not None:
            current.session.optionals = True

    def __repr__(self) -> str:
        return f"<{self.value!r} or None>"

    def __bool__(self) -> bool:
        raise _unknown("a decision")

    def __hash__(self) -> int:
        raise _unknown("what is found under a key")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise _unknown("an array")

    def __eq__(self, other: object) -> Any:
        return _equal(self, other)

    def __ne__(self, other: object) -> Any:
        return negation(_equal(self, other))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):  # protocols ask for these of any object
            raise AttributeError(name)
        return getattr(number_of(self, name), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(number_of, args), **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*map(numbers_in, args), **{k: numbers_in(v) for k, v in kwargs.items()})


def _unknown(what: str) -> ConcretizationError:
    return ConcretizationError(
        f"{what} depends on a value that may be None, which is known only when the compiled program runs",
        remedy=_REMEDY,
    )


_REFLECTED = "add sub mul truediv floordiv mod pow matmul lshift rshift and_ or_ xor"
_OTHERS = "lt le gt ge neg pos abs invert getitem contains"


def give_operators(kind: type, through: Callable[..., Any]) -> None:
    """Give a class the operators of numbers and containers: each is `through(what it does, *operands)`."""
    for name in f"{_REFLECTED} {_OTHERS}".split():
        setattr(kind, f"__{name.rstrip('_')}__", _method(through, getattr(operator, name)))
    for name in _REFLECTED.split():
        apply = getattr(operator, name)
        setattr(kind, f"__r{name.rstrip('_')}__", lambda self, other, f=apply: through(f, other, self))


def _method(through: Callable[..., Any], apply: Callable) -> Callable:
    """A method that is `through(apply, *operands)`."""
    return lambda *operands: through(apply, *operands)


def _of_numbers(apply: Callable, *operands: Any) -> Any:
    return apply(*map(number_of, operands))


give_operators(Optional, _of_numbers)
for _function in (operator.setitem, operator.delitem, operator.index, divmod, round, iter, len, float, int, complex,
                  str, format):  # fmt: skip
    setattr(Optional, f"__{_function.__name__}__", _method(_of_numbers, _function))

OPERANDS[Optional] = lambda op, x, y: NotImplemented  # the operators above


def optional(value: Any, has: Any, name: str | None = None) -> Any:
    """A value that there is or not: None, or the value itself, where that is known."""
    has = settled(has)
    if isinstance(has, Traced):
        return Optional(value, has, name)
    return value if has else None


def parts(x: Any) -> tuple[Any, Any]:
    """The value, and whether there is one, of anything that may be None."""
    if x.__class__ is Optional:
        return x.value, x.has
    return (UNDEFINED, False) if x is None else (x, True)


def number_of(x: Any, attribute: str | None = None) -> Any:
    """The value behind one that may be None: the program raises if it is, as for an attribute that None has not."""
    if x.__class__ is not Optional:
        return x
    if attribute is not None and not hasattr(None, attribute):
        _demand(x.has, "AttributeError", f"'NoneType' object has no attribute '{attribute}'")
        return x.value
    what = "a value" if x.name is None or x.name == "the value" else x.name
    message = f"{what} is None here, and cannot be used as if it were a number or an array"
    if not isinstance(settled(x.has), Traced):
        if not x.has:
            raise TypeError(message)
        return x.value
    _demand(x.has, "TypeError", message)
    return x.value


def _demand(ok: Any, error: str, message: str) -> None:
    if not Handlers.catch(ok, error, message):
        call(require, ok, error=error, message=message)


def numbers_in(x: Any) -> Any:
    """The same for the items of tuples, lists and dicts; what holds none stays the same object."""
    kind = x.__class__
    if kind is Optional:
        return number_of(x)
    if kind is list or kind is tuple or (isinstance(x, tuple) and hasattr(x, "_make")):
        new = [numbers_in(item) for item in x]
        if all(a is b for a, b in zip(new, x, strict=True)):
            return x
        return kind._make(new) if hasattr(kind, "_make") else kind(new)
    if kind is dict:
        values = {key: numbers_in(item) for key, item in x.items()}
        return x if all(values[key] is x[key] for key in x) else values
    return x


def holds_optional(x: Any, depth: int = 4) -> bool:
    """Whether there is such a value in an object, its attributes or items, a few levels down."""
    kind = x.__class__
    if kind is Optional:
        return True
    if not depth or isinstance(x, (Traced, np.ndarray, type)):
        return False
    if isinstance(x, (list, tuple)):
        return any(holds_optional(item, depth - 1) for item in x)
    if isinstance(x, dict):
        return any(holds_optional(item, depth - 1) for item in x.values())
    own = own_dict(x)
    return own.__class__ is dict and any(holds_optional(item, depth - 1) for item in own.values())


def asks_object(f: Any) -> bool:
    """Whether a function asks an object something that has nothing to do with what its attributes are."""
    return f is type or (f.__class__ is BuiltinFunctionType and f in (id, callable, getattr, hasattr))


def given_to_others(x: Any, to: str) -> Any:
    """An argument of a function that is not staged, which would not see that something is None."""
    if current.session is not None and not current.session.optionals:
        return x
    new = numbers_in(x)
    if holds_optional(new):
        raise StagingError(
            f"{to}, which is not staged, is given an object that holds a value which may be None, and whether it is is "
            "known only when the compiled program runs", remedy=_REMEDY,
        )  # fmt: skip
    return new


# --------------------------------------------------------------------------------------------------------- questions


def negation(x: Any) -> Any:
    return call(e.logical_not, x) if isinstance(x, Traced) else not x


def is_(x: Any, y: Any) -> Any:
    """`x is y`."""
    if x is y:
        return True
    if x.__class__ is not Optional and y.__class__ is not Optional:
        if isinstance(x, Traced) or isinstance(y, Traced):
            return _is_same_number(x, y)
        demand_known(x, y)
        return False
    if x is None or y is None:
        return negation((y if x is None else x).has)
    other = y if x.__class__ is Optional else x
    if other.__class__ is Optional or isinstance(other, (Traced, np.ndarray, np.generic, bool, int, float, complex)):
        raise StagingError(
            "whether a value that may be None is the same object as another one", remedy="compare with =="
        )
    demand_known((x if x.__class__ is Optional else y).value, other)
    return False


def demand_known(x: Any, y: Any) -> None:
    """Refuse to say whether two objects are the same where one of them stands for one of several."""
    session = current.session
    if session is None or x.__class__ is not y.__class__:
        return
    if any(id(thing) in session.chosen for thing in (x, y)):
        kind = x.__class__.__name__
        raise StagingError(
            f"whether two objects of the class {kind} are the same: one of them stands for one of several, and "
            "for which is known only when the compiled program runs",
            remedy="compare what they hold, as in a.name == b.name, or keep a number that says which one it is",
        )


def _is_same_number(x: Any, y: Any) -> Any:
    """`x is y` for values of which one is traced: there is one True and one False, and one of each small integer."""
    x, y = settled(x), settled(y)
    for one, other in ((x, y), (y, x)):
        if python_class(other) in (bool, int) or is_either(innermost(other)):
            demand_which(innermost(one), "whether something is the same object is asked")
    kind = python_class(x)
    if kind not in (bool, int) or kind is not python_class(y):
        return False
    same = call(e.equal, x, y)
    if kind is int:
        same = call(e.logical_and, same, call(e.logical_and, call(e.greater_equal, x, -5), call(e.less_equal, x, 256)))
    return noted_boolean(same) if isinstance(same, Traced) else bool(same)


def is_instance(x: Optional, classes: Any, of_value: Callable[[Any, Any], bool]) -> Any:
    """`isinstance(x, classes)`."""
    nothing, something = isinstance(None, classes), of_value(x.value, classes)
    if nothing == something:
        return nothing
    return x.has if something else negation(x.has)


def _equal(x: Optional, other: Any) -> Any:
    """`x == other`, which Python answers for None too."""
    if other is None:
        return negation(x.has)
    if other.__class__ is Optional or shape_of(settled(x.value)) or shape_of(settled(other)):
        return number_of(x) == number_of(other)
    same = x.value == other
    return call(e.logical_and, x.has, same) if isinstance(same, Traced) else (x.has if same else False)


def _together(name: Any, values: tuple) -> Any:
    """Put together what a program returned, or what a transformation inside of it did: an example that is None is one
    too many."""
    value, has = values
    if shape_of(has):
        has = call(all_of, has, axis=tuple(range(len(shape_of(has))))) if isinstance(has, Traced) else bool(np.all(has))
        return number_of(Optional(value, has, name))
    if running.state.capture is not None and isinstance(settled(has), Traced):
        return Optional(value, has, name)
    return value if has else None


tree.register(Optional, lambda x: ((x.value, x.has), x.name, ("value", "has")), _together, looks=True)
