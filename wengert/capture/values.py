"""What staged code asks of values: are they symbols, which type has room for two of them, and what is in a block's way.

Used by branches (`branching.py`), loops (`carried.py`) and statements (`stage.py`, `staged_loops.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from wengert.box.array_classes import Held
from wengert.box.box import Box
from wengert.box.functions.lengths import known
from wengert.box.functions.operands import cast, demand
from wengert.box.writing import about_to_become, become, clone, make_views_stale, settled
from wengert.capture.undefined import UNDEFINED
from wengert.errors import StagingError
from wengert.ir.build import Capture, content
from wengert.ir.infer import Found
from wengert.ir.node import Dyn, Type, Var
from wengert.ir.numbers import as_python, innermost, python_class
from wengert.ir.symbol import Sym
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import SCALARS, dtype_of, ndim_of, own_dict, shape_of


class FirstDiffers(StagingError):
    """Something is only so in the first iteration: a name stands for an array with other names, which is written to, or
    for something of another kind."""


def is_symbolic(x: Any) -> bool:
    """Whether a value is known only when the program runs."""
    return isinstance(x, Traced) and isinstance(settled(x), Traced)


def as_number(x: Any, dtype: Any) -> Any:
    """A symbol as a Python number: weak, of this type."""
    x = settled(x)
    if shape_of(x):
        x = s.reshape(x, shape=())
    op = s.astype if np.dtype(dtype).kind in "fc" else s.as_integer
    if x.__class__ is not Sym:  # of a transformation inside the program
        return as_python(op(x, dtype=np.dtype(dtype)))
    (y,) = running.state.capture.emit(op, (x,), {"dtype": np.dtype(dtype)}, [Found((), np.dtype(dtype), True)])
    if np.dtype(dtype).kind == "i" and x.__class__ is y.__class__:
        y._span = x._span if dtype_of(x).kind in "iu" else None
    return y


def holds_symbols(v: Any) -> bool:
    """Whether a value, or a list or tuple of values, is symbolic."""
    if v.__class__ in (list, tuple):
        return any(holds_symbols(item) for item in v)
    return is_symbolic(v)


def truth(x: Any) -> Any:
    """The truth value of a symbol, as a symbol."""
    x = settled(x)
    if shape_of(x):
        if all(n.__class__ is int for n in shape_of(x)) and 0 in shape_of(x):
            return bool(np.empty(shape_of(x)))  # raises, or warns that it will
        for n in shape_of(x):
            demand(e.equal(known(n), 1), "The truth value of an array with more than one element is ambiguous. "
                                         "Use a.any() or a.all()")  # fmt: skip
        x = settled(x[(0,) * ndim_of(x)])
    return x if dtype_of(x).kind == "b" else e.not_equal(x, 0)


def is_number(x: Any) -> bool:
    is_array = isinstance(x, (np.ndarray, np.generic, Box)) and not isinstance(x, (Held, np.ma.MaskedArray))
    return is_array or x.__class__ in SCALARS


def may_be_integer(x: Any) -> bool:
    """Whether a number is an integer, at least in some cases."""
    if x is UNDEFINED or dtype_of(x).kind in "iu":
        return x is not UNDEFINED
    x = settled(x)
    return isinstance(x, Box) and x._may_be_integer


def note_mixed(y: Any, mixed: bool) -> None:
    """Note of a float without axes whether it stands for an integer of Python's in some cases."""
    symbol = settled(y)
    while isinstance(symbol, Box) and symbol.__class__ is not Sym and "_value" in symbol._state:  # (also of a batch)
        symbol = settled(symbol._value)
    if symbol.__class__ is Sym and not shape_of(y) and dtype_of(symbol).kind == "f":
        symbol._node.mixed = mixed


def note_either(y: Any, *values: Any, is_chosen: bool = False) -> None:
    """Note of a number that stands for one of several whether some of them are Python's and others NumPy's.

    Short integers and floats are taken for NumPy's in loops, where sums begin with a zero of Python's, and beside
    zeros. One that is chosen otherwise may be any number, and what is computed with it must neither wrap around nor
    lose digits if it is Python's."""
    symbol, numbers = innermost(y), [innermost(x) for x in values if x is not UNDEFINED]
    if symbol.__class__ is not Sym or shape_of(symbol):
        return
    is_any = is_chosen and not any(_is_zero(x) for x in numbers)
    if dtype_of(symbol) in _PYTHONS or is_any:
        is_some = any(x.__class__ is Sym and x._node.either for x in numbers)
        symbol._node.either = is_some or len({python_class(x) is not None for x in numbers}) > 1


def _is_zero(x: Any) -> bool:
    return x.__class__ in (int, float) and x == 0


def is_short_integer(dtype: np.dtype) -> bool:
    """Whether integers of a type are not Python's."""
    return dtype.kind in "iu" and dtype != np.int64


_PYTHONS = frozenset(map(np.dtype, (float, complex, np.int64)))


class BranchesDiffer(StagingError):
    """What two branches bind cannot be put together (`assuming.py`)."""


class AxesDiffer(FirstDiffers, BranchesDiffer):
    """A variable has another number of axes in one branch than in the other."""


class DtypeDiffers(FirstDiffers):
    """The dtype of a variable is another one before a loop than after an iteration."""


def widened(a: Type, b: Type, name: str, in_loop: bool = False) -> Type:
    """The type that has room for values of both. In a loop a length that has grown once more may grow without end."""
    if a == b:
        return a
    if len(a.shape) != len(b.shape):
        raise FirstDiffers(
            f"{name} has {len(a.shape)} axes before and {len(b.shape)} axes after an iteration, or in the other branch",
            remedy="give it one shape, for instance by making it an array of its final shape before",
        )
    lengths = []
    for m, n in zip(a.shape, b.shape, strict=True):
        bounds = [k if k.__class__ is int else k.bound for k in (m, n)]  # type: ignore[union-attr]
        grows = in_loop and m.__class__ is Dyn and None not in bounds and bounds[0] < bounds[1]  # type: ignore[operator]
        lengths.append(m if m == n else Dyn(None if None in bounds or grows else max(bounds)))  # type: ignore[type-var]
    weak = a.weak and b.weak
    samples = [_SAMPLE[t.dtype.kind] if t.weak else t.dtype for t in (a, b)]
    return Type(tuple(lengths), np.result_type(*samples), weak)


_SAMPLE = {"b": True, "i": 1, "u": 1, "f": 1.0, "c": 1j}


def converted(x: Any, type: Type) -> Any:
    """A value in a dtype, as a number (if the type is weak) or as a scalar or array."""
    x = settled(x)
    if x is UNDEFINED and type.weak:
        return converted(0, type)
    if x is UNDEFINED:
        return np.zeros(tuple([n if n.__class__ is int else 0 for n in type.shape]), type.dtype)
    if x.__class__ in SCALARS:
        return {"b": bool, "i": int, "f": float, "c": complex}[type.dtype.kind](x) if type.weak else type.dtype.type(x)
    if x.__class__ is Sym and x._node.type.weak != type.weak:
        op = s.astype if type.dtype.kind in "fc" else s.as_integer
        (y,) = running.state.capture.emit(op, (x,), {"dtype": type.dtype}, [Found((), type.dtype, type.weak)])
        y._span = x._span if dtype_of(x).kind in "iu" else None
        return y
    return cast(x if isinstance(x, Traced) else np.asarray(x), type.dtype) if dtype_of(x) != type.dtype else x


def assign(root: Any, new: Any) -> None:
    """Let an array have the value that it has after a block that writes to it."""
    outer = running.state.capture
    if outer is not None:
        outer.about_to_write(root)
    about_to_become(root)
    new = settled(new)
    become(root, clone(new) if isinstance(new, Traced) else new)
    make_views_stale(root)


def arguments(captures: Sequence[Capture]) -> tuple[list[Any], list[list[Var]]]:
    """What several blocks take from outside: the values, and for each block its parameters for all of them."""
    values: dict[tuple, Any] = {}
    own: list[dict[tuple, Var]] = []
    for capture in captures:
        own.append({})
        for p, x in zip(capture.params, capture.captured, strict=True):
            if x is not None:
                values.setdefault(content(x), x)
                own[-1][content(x)] = p
    return list(values.values()), [[mine.get(key) or _copy(_var(own, key)) for key in values] for mine in own]


def _copy(var: Var) -> Var:
    return Var(var.type, var.hint, var.span, var.stable)


def _var(own: Sequence[dict[tuple, Var]], key: tuple) -> Var:
    return next(mine[key] for mine in own if key in mine)


def formals(capture: Capture) -> list[Var]:
    return [p for p, x in zip(capture.params, capture.captured, strict=True) if x is None]


_STAND_FOR = {"Opened": "a list that data fill", "PooledRow": "a list", "OneOf": "one of several things"}
"""What classes of this folder stand for, by their names."""


def described(x: Any) -> str:
    """What a value is, in a few words."""
    if x is UNDEFINED or x is None:
        return "not defined" if x is UNDEFINED else "None"
    if isinstance(x, (Box, np.ndarray, np.generic)):
        return f"an array of shape {shape_of(x)}" if shape_of(x) else "a number"
    if x.__class__ in SCALARS:
        return "a number"
    if isinstance(x, str):
        return f"the string {x!r}"
    if isinstance(x, Enum):
        return f"{type(x).__name__}.{x.name}"
    if type(x).__module__.startswith(__name__.rpartition(".")[0]) and type(x).__name__ in _STAND_FOR:
        return _STAND_FOR[type(x).__name__]
    article = "an" if type(x).__name__[:1] in "AEIOUaeiou" else "a"
    text = f"{article} {type(x).__name__}"
    if isinstance(x, dict):
        return f"{text} with the keys {', '.join(map(repr, x))}" if x else f"an empty {type(x).__name__}"
    if isinstance(x, (list, tuple, set)):
        return f"{text} of {len(x)} item{'' if len(x) == 1 else 's'}" if x else f"an empty {type(x).__name__}"
    names = list(own_dict(x))
    return f"{text} with the attributes {', '.join(names)}" if names and not callable(x) else text


def equal(x: Any, y: Any) -> bool:
    """Whether two values that are no numbers are the same to a program."""
    try:
        return bool(x.__class__ is y.__class__ and x == y)
    except Exception:  # their own `==` may raise anything, as arrays in tuples do
        return False
