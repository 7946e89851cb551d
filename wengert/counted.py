"""References that are counted: who else holds an array is asked of Python's own count of references to it.

What is asked is the same in every Python only if a function that passes a variable on passes a reference of its own.
Since 3.14 Python lends what a variable holds instead, wherever the variable is sure to outlive the call:

    def f():                        # 3.13: the variable, the argument, and that of getrefcount: 3
        a = np.zeros(3)             # 3.14: the variable alone: 1
        return g(a)                 # g(np.zeros(3)), where the argument is all there is: 2 and 1

    def g(v):
        return getrefcount(v)

Then an array that a variable holds and one that was just made cannot be told apart. So the functions that count, and
those that call them (twins of users' functions), are compiled to pass on references of their own, as all functions were
before. The instructions differ in nothing else.
"""

from __future__ import annotations

import opcode
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_LENDING = {"LOAD_FAST_BORROW": "LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW": "LOAD_FAST_LOAD_FAST"}
"""Instructions that lend what a variable holds, and those that pass on a reference of their own."""

_OWNED = bytes([opcode.opmap.get(_LENDING.get(opcode.opname[k], ""), k) for k in range(256)])

LENDS = any(name in opcode.opmap for name in _LENDING)
"""Whether this Python lends what variables hold."""


def with_references(code: CodeType) -> CodeType:
    """The same code, which passes on references of its own; the functions that are defined in it, too.

    >>> with_references((lambda x: x).__code__).co_varnames
    ('x',)
    """
    if not LENDS:
        return code
    instructions = bytearray(code.co_code)
    instructions[::2] = instructions[::2].translate(_OWNED)
    inner = tuple([with_references(c) if isinstance(c, CodeType) else c for c in code.co_consts])
    return code.replace(co_code=bytes(instructions), co_consts=inner)


def counts(function: F) -> F:
    """A decorator of functions that count references."""
    function.__code__ = with_references(function.__code__)
    return function


def all_count(module: dict[str, Any]) -> None:
    """Say of a module, at its end, that its functions count references, or call those that do."""
    if not LENDS:
        return
    own = [x for x in module.values() if getattr(x, "__module__", None) == module["__name__"]]
    for thing in own:
        for found in [*vars(thing).values()] if isinstance(thing, type) else [thing]:
            for function in (found, *[getattr(found, name, None) for name in ("__func__", "fget", "fset")]):
                if isinstance(function, FunctionType):
                    counts(function)
