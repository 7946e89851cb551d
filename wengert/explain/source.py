"""`wg.source`: a function, or a derivative of it, as NumPy source that runs on its own.

The function is captured as for `jit`, and the Python backend writes the program (`backend/python/`). What is added here
are names. While the function is captured, its frames are looked at line by line: a value that a variable holds is
called as the variable. A watch (`modes/watching.py`) hands the names on: the tangent of `y` becomes `y_dot`, and the
reverse sweep comes by every value with its cotangent, which becomes `y_bar`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from wengert.api.jit import jit
from wengert.api.operators import Operated, operation
from wengert.errors import is_library_file
from wengert.ir.node import Source
from wengert.ir.symbol import Sym
from wengert.modes.batch import Batch
from wengert.modes.dual import Dual
from wengert.modes.tape import Tape
from wengert.modes.watching import Operation, Watch, WatchedProgram, looking_on


@operation
def source(f: Callable, *args: Any, **kwargs: Any) -> str:
    """The program that `f(*args, **kwargs)` runs, as NumPy source that needs nothing of this library.

    Derivatives are programs as well: `wg.source(wg.grad(f), x)` is the gradient written out, with `y_bar` for the
    cotangent of your variable `y` and `y_dot` for its tangent. Loops and branches on values stay loops and branches;
    decisions on shapes and on what is not data are taken. The function in the source has the parameters of `f`, one for
    each array if an argument is a container, and returns a tuple if there are several results. Arrays that `f` finds
    outside, in globals and closures, are constants in it.

    Args:
        f: a function that `jit` can compile.
        args, kwargs: its arguments; only their types and shapes count.

    Cost: that of capturing and simplifying the program; nothing is compiled.

    >>> import numpy as np, wengert as wg
    >>> def f(x):
    ...     y = np.sin(x)
    ...     return np.sum(y * y * x)
    >>> print(wg.source(wg.grad(f), np.ones(3)))
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def f_gradient(x):
        ...
    """
    with _naming_variables(), looking_on(_Names()):
        lowered = jit(f).lower(*args, **kwargs)
    return lowered.python_with_constants(_title(f))


def _title(f: Callable) -> str:
    """What the function is called: a derivative as the function it was made from, and what it is."""
    name = getattr(f, "__name__", "f")
    made: Any = f
    suffix = ""
    while isinstance(made, Operated):
        suffix = f"_{made.title}{suffix}"
        made = made.__wrapped__  # type: ignore[attr-defined]
    return ("f" if name == "<lambda>" else name) + suffix


def _name(x: Any, name: str) -> None:
    """Give a value, and what it is made of, a name, unless it has one."""
    if isinstance(x, Sym):
        if x._node.hint is None:
            x._node.hint = name
    elif isinstance(x, Dual):
        _name(x._value, name)
        _name(x._tangent, f"{name}_dot")
    elif isinstance(x, (Tape, Batch)):
        _name(x._value, name)


def _name_of(x: Any) -> str | None:
    while isinstance(x, (Dual, Tape, Batch)):
        x = x._value
    return x._node.hint if isinstance(x, Sym) else None


class _Names(Watch):
    """Names the cotangents, and puts the operations of reverse sweeps on the lines they belong to."""

    def __init__(self) -> None:
        self._values: dict[tuple[int, int], tuple[Operation, Any]] = {}

    def operation(self, step: Operation, args: Sequence[Any], apply: Callable[[], Any]) -> Any:
        if step.place is not None:
            step.place = Source(*step.place)  # type: ignore[assignment]
        y = apply()
        for part in y if y.__class__ is tuple else (y,):
            if isinstance(part, Tape):
                self._values[id(step), part._node] = (step, part._value)
        return y

    def passing(self, step: Operation, k: int, ct: Any) -> None:
        _, value = self._values.get((id(step), k), (None, None))
        self._name_cotangent(value, ct)

    def pulled(self, program: WatchedProgram, cts: Sequence[Any]) -> None:
        for step, ct in zip(program.steps, cts, strict=False):
            if step.name == "input":
                self._name_cotangent(step.operands[0], ct)

    def _name_cotangent(self, value: Any, ct: Any) -> None:
        name = _name_of(value)
        if name is not None:
            _name(ct, f"{name}_bar")


@contextmanager
def _naming_variables() -> Iterator[None]:
    """While this runs, values get the names of the variables that hold them in the user's functions."""

    def follow(frame: FrameType, event: str, arg: Any) -> Any:
        if is_library_file(frame.f_code.co_filename):
            return None
        if event in ("line", "return"):
            for name, value in frame.f_locals.items():
                if name.isidentifier() and not name.startswith("_"):
                    _name(value, name)
        return follow

    outer = sys.gettrace()
    sys.settrace(follow)
    try:
        yield
    finally:
        sys.settrace(outer)
