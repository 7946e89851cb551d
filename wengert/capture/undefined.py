"""The value of a variable that has none yet.

A variable that is assigned in a suite that was lowered to a function lives in a closure cell, and hooks read and write
all of a suite's variables at once, so there must be something to read. This module holds that something, and nothing
else: whatever is done to it raises the error that Python raises for a variable without a value.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from wengert.box.contents import Holder

_MESSAGE = "cannot access local variable {}where it is not associated with a value"
_OF_ANOTHER = "cannot access free variable {!r} where it is not associated with a value in enclosing scope"


class Undefined:
    """The class of `UNDEFINED`.

    >>> UNDEFINED + 1
    Traceback (most recent call last):
    UnboundLocalError: cannot access local variable where it is not associated with a value
    """

    __slots__ = ()
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __reduce__(self) -> str:  # so copies are the one object too
        return "UNDEFINED"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):  # protocols ask for these of any object
            raise AttributeError(name)
        raise UnboundLocalError(_MESSAGE.format(""))


def _refuse(*args: Any, **kwargs: Any) -> Any:
    raise UnboundLocalError(_MESSAGE.format(""))


_BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor",
)  # fmt: skip
_OTHERS = (
    "abs", "array", "bool", "call", "ceil", "complex", "contains", "delattr", "delitem", "divmod", "enter", "eq",
    "exit", "float", "floor", "format", "ge", "getitem", "gt", "index", "int", "invert", "iter", "le", "len", "lt",
    "ne", "neg", "next", "pos", "rdivmod", "round", "setattr", "setitem", "str", "trunc",
)  # fmt: skip
for _name in (*_BINARY, *["r" + name for name in _BINARY], *["i" + name for name in _BINARY], *_OTHERS):
    setattr(Undefined, f"__{_name}__", _refuse)

UNDEFINED = Undefined()


@dataclasses.dataclass
class Perhaps(Holder):
    """The value of a variable that has one only in one branch, or only if a loop runs; `has` says whether it has."""

    value: Any
    has: Any


def what_is_raised(name: str, is_free: bool) -> tuple[type[NameError], str]:
    """What Python raises for a variable without a value, of the function itself or of one around it, and its text."""
    return (NameError, _OF_ANOTHER.format(name)) if is_free else (UnboundLocalError, _MESSAGE.format(f"{name!r} "))


def defined(name: str, value: Any, is_free: bool = False) -> Any:
    """The value of a variable, if it has one.

    >>> defined("x", 3)
    3
    >>> defined("x", UNDEFINED)
    Traceback (most recent call last):
    UnboundLocalError: cannot access local variable 'x' where it is not associated with a value
    """
    if value is UNDEFINED:
        kind, text = what_is_raised(name, is_free)
        raise kind(text)
    return value


def is_of_user(error: NameError) -> bool:
    """Whether it is a variable of the user's that has no value: the error comes from here."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") == __name__
