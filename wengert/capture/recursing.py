"""When a function that calls itself is staged as a loop (`recursion.py`): once its calls have been seen not to end.

A function whose recursion known integers or the structure of its arguments end is staged call by call. Where that does
not come to an end, the functions that are found many times among the calls under way are staged again with their
machines in place of their bodies. If that cannot be done, a few calls are written out (`program.py`).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any

from wengert.capture import deep
from wengert.capture.exceptions import demand
from wengert.capture.instrument import staged
from wengert.capture.recursion import MACHINE
from wengert.capture.session import current
from wengert.ops.elementwise import less_equal
from wengert.ops.op import Traced, call

_MANY = 5
"""A function that is found so often among the calls under way is taken to go on for ever."""

_DEEPEST_KNOWN = 150
"""So many calls under way, of which each is known while the program is captured: nothing that is known ends them."""


def endless(error: BaseException) -> set[CodeType]:
    """The functions with a machine whose calls of themselves did not end, by what was under way."""
    found: Counter[CodeType] = Counter()
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if MACHINE in code.co_varnames:
            found[code] += 1
        trace = trace.tb_next
    return {code for code, count in found.items() if count >= _MANY}


def recurses(callees: Callable[[], tuple]) -> bool:
    """Whether the machine of the function that asks is to be called: if what it calls is the function itself."""
    session = current.session
    code = sys._getframe(1).f_code
    return session is not None and code in session.machines and all(_code_of(f) is code for f in callees())


def _code_of(f: Any) -> Any:
    if type(f) is MethodType:
        f = f.__func__
    f = getattr(f, "compiled_function", f)  # what `wg.jit` has made of it
    twin = staged(f) if type(f) is FunctionType else None
    return twin.__code__ if type(twin) is FunctionType else None


def recursed(depth: Any) -> None:
    """Raise where Python would: so many calls of one function are under way."""
    message = "maximum recursion depth exceeded"
    if not isinstance(depth, Traced) and depth > _DEEPEST_KNOWN:
        raise RecursionError(message)
    demand(call(less_equal, depth, deep.frames_allowed()), "RecursionError", message)


def default_of(f: Any, name: str) -> Any:
    """The default of a parameter which a call of a function does not give."""
    if type(f) is MethodType:
        f = f.__func__
    f = getattr(f, "compiled_function", f)
    code = f.__code__
    positional = code.co_varnames[: code.co_argcount]
    defaults = f.__defaults__ or ()
    every = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True)) | (f.__kwdefaults__ or {})
    if name not in every:
        raise TypeError(f"{f.__name__}() missing 1 required positional argument: {name!r}")
    return every[name]
