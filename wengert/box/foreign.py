"""Objects of other libraries that carry arrays with labels or units, and objects in which a traced value may hide.

Quantities of `pint` hold any array, so they hold traced ones: operators are left to them. Series, data frames and
quantities of `astropy` want plain arrays; they are refused, and the error says how to get at the array.
"""

from __future__ import annotations

import dis
import gc
from types import CodeType, CoroutineType, FrameType, GeneratorType, ModuleType
from typing import Any

import numpy as np

from wengert.errors import ConcretizationError, UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.types import SCALARS

_REMEDIES = {
    "pandas": "s.to_numpy()",
    "polars": "s.to_numpy()",
    "xarray": "a.to_numpy()",
    "astropy": "q.value, or q.to_value(unit)",
    "unyt": "q.value",
    "pint": "q.magnitude",
}
_COMPUTE_THEMSELVES = {
    "numexpr": "write the expression with NumPy's operators and functions, and compile it with wg.jit"
}
"""Libraries that compile what they compute, from plain arrays only."""
_HOLD_ANYTHING = frozenset(("pint",))
"""Whose own operators take traced values."""
_MANY = 3000
"""So many objects are looked at in search of a traced value."""


def library_of(kind: Any) -> str:
    """The library that a class comes from."""
    return (getattr(kind, "__module__", None) or "").partition(".")[0]


def an(name: str) -> str:
    """A name with its article."""
    return f"an {name}" if name[:1] in "AEIOaeio" else f"a {name}"


def remedy_for(library: str) -> str:
    """What to write instead of an object of a library, together with traced values."""
    if library in _COMPUTE_THEMSELVES:
        return _COMPUTE_THEMSELVES[library]
    return f"use the plain array in it, {_REMEDIES[library]}, and put labels or units on the result outside"


def has_labels(library: str) -> bool:
    """Whether a library is one of arrays with labels or units."""
    return library in _REMEDIES


def is_labelled(kind: Any) -> bool:
    """Whether a class is one of arrays with labels, of which NumPy's functions take the values."""
    return library_of(kind) in ("pandas", "polars", "xarray")


def holds_anything(kind: Any) -> bool:
    """Whether a class is one whose own operators take traced values."""
    return library_of(kind) in _HOLD_ANYTHING


def wants_plain_arrays(kind: Any) -> bool:
    """Whether a class is one of arrays with labels or units, or of units, that hold plain arrays only."""
    return library_of(kind) in _REMEDIES and not holds_anything(kind)


def refused_operand(op: Any, x: Any, y: Any) -> Any:
    """An operator between a traced value and such an object."""
    other = x if wants_plain_arrays(type(x)) else y
    library = library_of(type(other))
    raise UnsupportedFunctionError(
        f"{an(type(other).__name__)} of {library} together with traced values", remedy=remedy_for(library)
    )


def library_that_asks(frame: FrameType | None) -> str | None:
    """The library in whose code a plain array is asked for."""
    for _ in range(12):
        if frame is None:
            return None
        library = (frame.f_globals.get("__name__") or "").partition(".")[0]
        if library in _REMEDIES or library in _COMPUTE_THEMSELVES:
            return library
        frame = frame.f_back
    return None


def put_into_sparse() -> ConcretizationError:
    """The error for a traced value that is to be an entry of a matrix of SciPy's, which holds plain numbers."""
    return ConcretizationError(
        "a traced value cannot be put into a sparse matrix of SciPy's, which holds plain numbers",
        remedy="collect the entries in a list, with their rows and columns, and make "
        "scipy.sparse.coo_array((np.stack(entries), (rows, columns)), shape=…) of them; or scipy.sparse.diags_array",
    )


def array_class_being_made(frame: FrameType) -> str | None:
    """The name of the class derived from `np.ndarray` whose `__new__` a frame is."""
    if frame.f_code.co_name != "__new__" or not frame.f_code.co_argcount:
        return None
    cls = frame.f_locals.get(frame.f_code.co_varnames[0])
    return cls.__name__ if isinstance(cls, type) and issubclass(cls, np.ndarray) else None


def cannot_hold(kind: str) -> ConcretizationError:
    """The error for a traced value that is to be in an array of such a class."""
    return ConcretizationError(
        f"{kind} is a class derived from np.ndarray, whose objects cannot hold traced values",
        remedy=f"use plain arrays, np.array(values), in place of {kind}(values)",
    )


def is_at_operator(frame: FrameType) -> bool:
    """Whether a frame is where two values meet in an operator."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in ("BINARY_OP", "COMPARE_OP")


def hides_traced(x: Any) -> bool:
    """Whether there is a traced value somewhere in an object."""
    if x is None or x.__class__ in SCALARS or isinstance(x, (str, bytes, np.generic, type)):
        return False
    seen, waiting = {id(x)}, [x]
    for thing in waiting:
        if isinstance(thing, Traced):
            return not thing._is_cell  # type: ignore[attr-defined]
        if hasattr(type(thing), "_wengert_array"):  # (`array_classes.py`)
            parts = [thing._wengert_array()]
        elif isinstance(thing, np.ndarray):
            parts = thing.ravel().tolist() if thing.dtype.kind == "O" else []
        else:
            parts = gc.get_referents(thing)
        for part in parts:
            if len(waiting) >= _MANY:
                return False
            if id(part) not in seen and not isinstance(part, (type, ModuleType, CodeType, str, bytes, int, float)):
                seen.add(id(part))
                waiting.append(part)
    return False


def where_it_hides(x: Any) -> str:
    """The attribute in which an object holds a traced value, or what to return in its place, as advice."""
    if isinstance(x, CoroutineType):
        x.close()  # or Python would warn that nobody awaits it
        return "an async function is to be awaited inside: differentiate lambda x: asyncio.run(f(x))"
    if isinstance(x, GeneratorType) or type(x).__name__ == "Generated":
        return "a generator is to be used up inside: return sum(f(x)), or list(f(x))"
    for name in ("magnitude", "data", "value", "values", "array"):
        try:
            held = getattr(x, name, None)
        except Exception:  # a property of somebody's class may raise anything
            continue
        if isinstance(held, Traced):
            return f"return the array in it: y.{name}"
    return "return arrays and numbers, and containers of them"
