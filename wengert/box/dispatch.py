"""Which op each NumPy function means.

The main tables, filled by the modules in `functions/` (smaller ones stand below, each with its purpose):

    UFUNCS         ufunc -> op                                 np.exp(x), x * y
    FUNCTIONS      function -> implementation in ops           np.sum(x, axis=0), np.concatenate([x, y])
    BLIND          function -> implementation in ops           scipy.linalg.solve(A, b): functions that do not dispatch
                                                               and are reached through instrumentation (`capture/`)
    NONDIFFERENTIABLE   function or ufunc -> why it has no derivative here

An implementation takes the arguments of the NumPy function, but for `out`, to which `Box` sees, and for options that
say how to compute and not what (`meaning_of`). It is written in the vocabulary of ops (and of other implementations),
so it serves every mode, plain arrays included.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from wengert.box.array_classes import Holding, can_hold, held
from wengert.box.foreign import has_labels, holds_anything, refused_operand, remedy_for, wants_plain_arrays
from wengert.box.subclasses import means_something_else, refusal
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Op, Traced
from wengert.packages import is_followed
from wengert.running import running
from wengert.types import number_base, numpys_number

UFUNCS: dict[Any, Op | Callable] = {}
FUNCTIONS: dict[Any, Callable] = {}
WRITERS: set[Any] = set()
"""Functions that write into their first argument."""
BLIND: dict[Any, Callable] = {}
NONDIFFERENTIABLE: dict[Any, str] = {}


def first_by_name(original: Any, f: Callable, count: int = 1) -> Callable:
    """A function in the place of a library's, which takes its first arguments also under the names they have there."""
    try:
        names = tuple(inspect.signature(original).parameters)[:count]
    except ValueError:  # of some in C nothing is told
        return f

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        for name in names[len(args) :]:
            if name not in kwargs:
                break
            args = (*args, kwargs.pop(name))
        return f(*args, **kwargs)

    return called


def entered_in(table: dict[Any, Callable], *keys: Any) -> Callable[[Callable], Callable]:
    """Declare that what follows is what a table has under these keys; `None` stands for none."""

    def enter(value: Callable) -> Callable:
        table.update(dict.fromkeys([key for key in keys if key is not None], value))
        return value

    return enter


def implements(*functions: Any) -> Callable[[Callable], Callable]:
    """Declare that what follows is what these NumPy functions mean on traced values; `None` stands for none."""
    return entered_in(FUNCTIONS, *functions)


def implements_blind(*functions: Any) -> Callable[[Callable], Callable]:
    """Declare what functions that do not dispatch, such as SciPy's, mean on traced values (see `meaning_of`)."""
    HAVE_MEANING.update([f.__code__ for f in functions if f.__class__ is FunctionType])
    return entered_in(BLIND, *functions)


HAVE_MEANING: set[CodeType] = set()
"""Code of such functions: it is not followed, also in a module that is."""


CALLERS: dict[Any, Callable] = {}
"""Functions that call a function they are given (quad) -> implementation, which is always used: what the given function
depends on need not be among the arguments."""


METHODS: dict[tuple[type, str], Callable] = {}
"""Classes of compiled objects (SciPy's factors of a matrix), and names of methods -> implementation, which is given the
bound method first."""


class _Operands(dict):
    def __missing__(self, kind: type) -> Callable | None:
        found: Callable | None = None
        if can_hold(kind):
            found = left_to_class
        elif means_something_else(kind):
            found = _refused
        elif wants_plain_arrays(kind):
            found = refused_operand
        elif getattr(kind, "__array_ufunc__", _UNSAID) is None:
            found = _left_to_others  # it asks arrays not to try
        elif _has_ufuncs_of_its_own(kind):
            found = _as_its_class_says
        elif issubclass(kind, _LISTS) and not _has_operators_of_its_own(kind):
            found = self[list]
        elif holds_anything(kind) or not _may_be_operand(kind):
            found = _left_to_others
        elif number_base(kind) is not None:
            found = as_number
        elif issubclass(kind, float) and kind not in (float, np.float64):
            found = _of_number_class
        elif kind.__dict__.get("__array__").__class__ is FunctionType and not any(
            map(kind.__dict__.get, _OF_ARRAYS[1:])
        ):
            found = _as_array
        self[kind] = found
        return found


_LISTS = (list, tuple)
_UNSAID = object()


def _has_operators_of_its_own(kind: type) -> bool:
    """Whether a class derived from `list` or `tuple` says what `+` or `*` mean for it; a named tuple does not."""
    return any(getattr(kind, name, None) not in (None, *[getattr(base, name, None) for base in _LISTS])
               for name in ("__add__", "__radd__", "__mul__", "__rmul__", "__sub__", "__rsub__"))  # fmt: skip


def _may_be_operand(kind: type) -> bool:
    """Whether instances of a class may be numbers or arrays. What is neither, such as a vector of the user's, has
    operators of its own, which Python asks next."""
    return issubclass(kind, (Traced, *_NUMBERS)) or any(hasattr(kind, name) for name in _OF_ARRAYS)


_NUMBERS = (np.ndarray, np.generic, numbers.Number)
_OF_ARRAYS = ("__array__", "__array_ufunc__", "__array_function__", "__array_interface__", "__dlpack__", "dtype")


def _has_ufuncs_of_its_own(kind: type) -> bool:
    """Whether a class of the user's says what ufuncs mean for it. (Those of libraries are known one by one.)

    One that says the same of NumPy's other functions is an array: of these, traced values hold some.
    """
    if hasattr(kind, "__array_function__"):
        return False
    own = inspect.unwrap(getattr(kind, "__array_ufunc__", None))  # type: ignore[arg-type]
    return type(own) is FunctionType and not issubclass(kind, Traced) and is_followed(own.__code__.co_filename)


def _as_its_class_says(op: Any, x: Any, y: Any) -> Any:
    """An operator or ufunc between a traced value and an object whose class has its own: as between arrays and it."""
    other = x if OPERANDS[x.__class__] is _as_its_class_says else y
    return other.__array_ufunc__(getattr(np, getattr(op, "name", op)), "__call__", x, y)


def _left_to_others(op: Any, x: Any, y: Any) -> Any:
    return NotImplemented


def left_to_class(op: Any, x: Any, y: Any) -> Any:
    """An operator between a traced value and an array of a derived class, which Python asks next."""
    return NotImplemented


def _as_array(op: Any, x: Any, y: Any) -> Any:
    """Of an object of the user's that says which array it is, which may be a traced one."""
    return op(
        *[v if isinstance(v, Traced) or OPERANDS[v.__class__] is not _as_array else v.__array__() for v in (x, y)]
    )


def as_number(op: Any, x: Any, y: Any) -> Any:
    """An operator between a traced value and a number of a derived class, which is one of Python's own if the traced
    one is, and otherwise one of NumPy's."""
    if isinstance(x, Holding) or isinstance(y, Holding):
        return op(held(x), held(y))
    traced: Any = x if isinstance(x, Traced) else y
    if not traced._is_python_number:
        return op(numpys_number(x), numpys_number(y))
    x, y = [v if v is traced else number_base(v.__class__)(v) for v in (x, y)]  # type: ignore[misc]
    capture = running.state.capture
    return op(x, y) if capture is None else capture.operate(op, op.name, x, y)


def _of_number_class(op: Any, x: Any, y: Any) -> Any:
    """An operator between a traced value and a number of a class that has its own ones, which Python asks next."""
    return NotImplemented if isinstance(x, Holding) or isinstance(y, Holding) else op(x, y)


def _refused(op: Any, x: Any, y: Any) -> Any:
    raise refusal(x if means_something_else(x.__class__) else y)


OPERANDS: dict[type, Callable[[Any, Any, Any], Any] | None] = _Operands()
"""Classes that are no arrays (a sparse matrix) -> `(op, x, y)`: an operator between one and a traced value. `None`: as
between arrays."""

DEFERRING: set[Any] = set()
"""Code of operators of other libraries that ask for an array and, given one that holds an object, leave it to us."""

SUBSCRIPTED: dict[type, Callable[[Any, Any], Any]] = {}
"""Classes of objects that are subscripted to make arrays (`np.r_`) -> `(object, key)`, for keys with traced values."""

CALLABLES: dict[type, Callable[[Any], Callable]] = {}
"""Classes of callable library objects (an interpolator) -> from an object to what is called in its place."""


def if_present(name: str) -> Any:
    """A function that not every supported version of NumPy has; `None` where it is missing.

    >>> if_present("sum") is np.sum, if_present("no_such_function")
    (True, None)
    """
    return getattr(np, name, None)


_OF_UFUNCS = ("scipy.special", "shapely.lib")
"""Modules with ufuncs, which do not say where they come from."""


_OF_F2PY = ("scipy.linalg.lapack", "scipy.linalg.blas")


def name_of(function: Any) -> str:
    """A NumPy function as users write it."""
    name = getattr(function, "__name__", repr(function))
    if function.__class__.__name__ == "fortran":  # which has no module
        name = name.removeprefix("function ")
        return next((f"{m}.{name}" for m in _OF_F2PY if getattr(sys.modules.get(m), name, None) is function), name)
    if name in ("__init__", "__new__"):  # of a class, which users call
        name = function.__qualname__.rpartition(".")[0]
    module = getattr(function, "__module__", "") or "numpy"
    if isinstance(function, np.ufunc) and getattr(np, name, None) is not function:
        return next((f"{m}.{name}" for m in _OF_UFUNCS if getattr(sys.modules.get(m), name, None) is function), name)
    public = ".".join(part for part in module.split(".") if not part.startswith("_"))
    return (f"{public}.{name}" if public else name).replace("numpy.", "np.", 1)


def lookup(function: Any) -> Callable:
    """The implementation of a NumPy function, or an error that says what to do."""
    found = FUNCTIONS.get(function)
    if found is None:
        raise unsupported(function)
    return found


def unsupported(function: Any) -> UnsupportedFunctionError:
    """The error for a function without a rule."""
    reason = NONDIFFERENTIABLE.get(function)
    if reason:
        return UnsupportedFunctionError(f"{name_of(function)} of a traced value: {reason}")
    return UnsupportedFunctionError(
        f"{name_of(function)} has no derivative rule",
        remedy="write it with supported functions, or give it a rule with wg.custom_jvp or wg.custom_vjp; "
        "if its result should count as a constant, apply it to wg.stop_gradient(x)",
    )


def no_rule_yet(function: Any) -> UnsupportedFunctionError:
    """The error for a function of a library that does not take traced values."""
    remedy = (
        "give it a rule with wg.custom_jvp or wg.custom_vjp, or write it with supported functions; "
        "if its result should count as a constant, apply it to wg.stop_gradient(x)"
    )
    name = name_of(function)
    if name.startswith(("scipy.optimize", "scipy.integrate")):
        remedy = (
            "what a solver finds has the derivative that the implicit function theorem gives: say what its answer "
            "satisfies with wg.implicit; or write the steps of the method out in Python"
        )
    library = name.partition(".")[0]
    if has_labels(library):
        return UnsupportedFunctionError(
            f"{name} does not take traced values: what {library} makes holds plain numbers",
            remedy=f"compute with plain arrays; {remedy_for(library)}",
        )
    return UnsupportedFunctionError(
        f"{name} has no derivative rule yet, and does not take traced values", remedy=remedy
    )


OVERWRITING = frozenset(f"overwrite_{name}" for name in ("input", "a", "b", "c", "ab", "a_band", "x", "y", "data"))
"""Options that let a function use the memory of its arguments."""
_IDLE = OVERWRITING | {"check_finite", "lapack_driver", "lwork", "plan", "workers"}
"""Options that say how a function computes, not what. Implementations need not take them."""


def meaning_of(function: Any) -> Callable | None:
    """What a function that does not dispatch means on traced values, if that is known."""
    found = BLIND.get(function)
    if found is None:
        return None
    try:
        theirs, ours = inspect.signature(function).parameters, inspect.signature(found).parameters
    except (TypeError, ValueError):  # of some in C nothing is told
        return found
    idle = {name: k for k, name in enumerate(theirs) if name in _IDLE and name not in ours}
    if not idle:
        return found

    @functools.wraps(found)
    def called(*args: Any, **kwargs: Any) -> Any:
        args = tuple([a for k, a in enumerate(args) if k not in idle.values()])
        return found(*args, **{name: value for name, value in kwargs.items() if name not in idle})

    return called


_PLACES = {np.dot: 2, np.concatenate: 2}
"""Where functions that are written in C, and have no signature, take it."""


@functools.cache
def place_of_out(function: Any) -> int:
    """As which argument one of NumPy's functions takes the array for the result: `np.sin(x, y)`."""
    if isinstance(function, np.ufunc):
        return function.nin
    if function in _PLACES:
        return _PLACES[function]
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return sys.maxsize
    by_place = "out" in parameters and parameters["out"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    return list(parameters).index("out") if by_place else sys.maxsize
