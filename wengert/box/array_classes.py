"""Arrays of classes that users derive from `np.ndarray`, with traced values in them.

    class Point(np.ndarray):
        def __new__(cls, x, y): return np.array([x, y]).view(cls)
        def length(self): return np.sqrt(np.sum(self**2))

What such a class adds (methods, properties, operators, `__array_finalize__`) is Python, which is followed; what it
takes from `np.ndarray` works on memory, which a traced value has not. So for each such class there is one more,

    class Point(Point, Held): …         Point, Held, np.ndarray: what Held says comes between the two

whose objects are arrays in name only: `Held` has in place of NumPy's methods those of a traced array that it holds, and
what it computes is again of the class where NumPy's result would be (`results_of_classes.py`). The memory of such an
object has one element, repeated, which raises an error when somebody looks at it: nothing is taken for a constant.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.results_of_classes import OfClass, made_otherwise, tried
from wengert.errors import ConcretizationError, UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.packages import is_followed

HELD = "_wengert_held"
"""The attribute of an object that holds the traced array."""


class ArrayClasses:
    """Classes that have been met, and what this module asks of others."""

    holding: dict[type, type] = {}
    """Class of the user's -> the one whose objects hold traced values."""
    bases: dict[type, type] = {}
    """Class that users derive from -> what objects with traced values have in place of its methods."""
    in_cell: Callable[[np.ndarray], Any]
    """How a plain array becomes one that traced values may be written into."""
    made: Callable[[type], None] = staticmethod(lambda cls: None)
    """Called with each class of the user's of which there is to be such an object."""
    allocated: Callable[[Any], None] = staticmethod(lambda x: None)
    """Called with each number of such a class that was made, before it gets its attributes."""
    lock = threading.RLock()
    exist = False
    """Whether there is a class of which objects may hold traced arrays."""
    known = 0


def look_for_classes() -> None:
    """Find out whether there are such classes: what is called for functions depends on it."""
    derived = np.ndarray.__subclasses__()
    if not ArrayClasses.exist and len(derived) != ArrayClasses.known:
        ArrayClasses.known = len(derived)
        ArrayClasses.exist = any(can_hold(kind) for kind in derived if kind not in _OF_EVERY_PROGRAM)


def can_hold(kind: Any) -> bool:
    """Whether objects of a class may hold traced arrays: it is derived from NumPy's, by code that is followed.

    >>> can_hold(np.ndarray), can_hold(np.matrix), can_hold(np.ma.MaskedArray), can_hold(np.recarray)
    (False, True, True, False)
    """
    return _can_hold(kind)


@functools.lru_cache(maxsize=1024)
def _can_hold(kind: Any) -> bool:
    if not isinstance(kind, type) or not issubclass(kind, np.ndarray) or kind is np.ndarray:
        return False
    between = kind.__mro__[: kind.__mro__.index(np.ndarray)]
    return not issubclass(kind, Held) and all(is_of_followed_code(base) for base in between)


def is_of_followed_code(base: Any) -> bool:
    functions = [f for value in vars(base).values() for f in _functions_of(value)]
    return "__slots__" not in vars(base) and all(is_followed(f.__code__.co_filename) for f in functions)


def _functions_of(value: Any) -> list[Any]:
    parts = [value.fget, value.fset, value.fdel] if isinstance(value, property) else [getattr(value, "__func__", value)]
    return [f for f in [inspect.unwrap(part) for part in parts if callable(part)] if isinstance(f, FunctionType)]


class _NoElement:
    """What stands in the memory of an array that holds a traced one."""

    __slots__ = ()

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise ConcretizationError(
            "a function that is not followed looks at the elements of an array of a derived class, which are traced: "
            "their derivative would be lost",
            remedy="give it np.asarray(x), or write it with supported functions",
        )


for _name in (
    "float", "int", "index", "bool", "complex", "array", "len", "iter", "getitem", "hash", "eq", "ne", "lt", "le",
    "gt", "ge", "neg", "pos", "abs", "invert", "round", "trunc", "add", "radd", "sub", "rsub", "mul", "rmul",
    "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow", "matmul", "rmatmul", "divmod",
    "rdivmod", "and", "rand", "or", "ror", "xor", "rxor",
):  # fmt: skip
    setattr(_NoElement, f"__{_name}__", _NoElement._refused)

_SHELL = np.empty((), dtype=object)
_SHELL[()] = _NoElement()


class Holding:
    """Holds a traced value in an object of a class that users have derived from NumPy's arrays, or Python's float."""

    __slots__ = ()

    def _wengert_array(self) -> Any:
        raise NotImplementedError


class _Blank(np.ndarray):
    """An array that has yet to get its class."""


_OF_EVERY_PROGRAM = (np.matrix, np.ma.MaskedArray, _Blank)
"""Classes that are there also where the user has none."""


def held(x: Any) -> Any:
    """The array, or number, in an object of a derived class; everything else as it is."""
    return x._wengert_array() if isinstance(x, Holding) else x


def held_in(x: Any) -> Any:
    """The same for what is in lists, tuples and dicts."""
    kind = type(x)
    if kind is list or kind is tuple:
        return kind([held_in(item) for item in x])
    if kind is dict:
        return {key: held_in(item) for key, item in x.items()}
    return held(x)


def are_held(args: Any) -> bool:
    """Whether there is an object that holds a traced array among arguments, or in lists of them."""
    return any(
        isinstance(a, Holding)
        or (type(a) in (list, tuple) and are_held(a))
        or (type(a) is dict and are_held(a.values()))
        for a in args
    )


def class_that_holds(kind: Any) -> type:
    """The class derived from a user's whose objects hold traced values."""
    if issubclass(kind, Holding):
        return kind
    with ArrayClasses.lock:
        found = ArrayClasses.holding.get(kind)
        if found is None:
            try:
                names = {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
                names["__class__"] = property(lambda self: kind)
                if issubclass(kind, np.ma.MaskedArray):  # which prints what it leaves out otherwise
                    names |= {"__repr__": Held.__repr__, "__str__": Held.__str__}
                base = next(base for base in ArrayClasses.bases if issubclass(kind, base))
                found = type(kind)(kind.__name__, (kind, ArrayClasses.bases[base]), names)
            except TypeError as error:
                raise UnsupportedFunctionError(
                    f"{kind.__name__} is a class of arrays or numbers that cannot hold traced values: {error}",
                    remedy=f"use plain arrays and numbers in place of {kind.__name__}(…)",
                ) from error
            ArrayClasses.holding[kind], ArrayClasses.exist = found, True
            tree.stand_in(Holding, held)
            ArrayClasses.made(kind)
        return found


def of_class(kind: Any, array: Any, like: Any) -> Any:
    """An object of a derived class with an array in it; its attributes are those that `__array_finalize__` copies from
    `like`, as where NumPy makes one."""
    if isinstance(array, Traced):
        if not all(n.__class__ is int for n in array.shape):  # type: ignore[attr-defined]
            raise UnsupportedFunctionError(
                f"an array of the class {kind.__name__} with a length that is known only when the program runs",
                remedy="use a plain array, np.asarray(x)",
            )
        new = np.broadcast_to(_SHELL, array.shape).view(_Blank)  # type: ignore[attr-defined]
        new.__class__ = class_that_holds(kind)
        new.__dict__[HELD] = array
    else:
        new = np.asarray(array).view(_Blank)
        new.__class__ = class_without(kind)
    if type(new).__array_finalize__ is not np.ndarray.__array_finalize__:
        new.__array_finalize__(like)
    return new


def class_without(kind: Any) -> Any:
    """The class of the user's behind one that holds traced values."""
    return next(base for base in kind.__mro__ if not issubclass(base, Holding)) if issubclass(kind, Holding) else kind


def lifted(x: Any) -> Any:
    """A plain object of a derived class as one that holds its array."""
    if isinstance(x, Held) or not can_hold(type(x)) or x is np.ma.masked:
        return x
    new = np.broadcast_to(_SHELL, x.shape).view(_Blank)
    new.__class__ = class_that_holds(type(x))
    new.__dict__.update(x.__dict__)
    new.__dict__[HELD] = _numbers_in(x)
    return new


def _lifted_in(x: Any) -> Any:
    kind = type(x)
    return kind([_lifted_in(item) for item in x]) if kind is list or kind is tuple else lifted(x)


def _numbers_in(x: Any) -> np.ndarray:
    """The memory of a plain object of a derived class."""
    memory = np.ndarray.view(x, np.ndarray)
    if memory.dtype.kind not in "biufc":
        raise UnsupportedFunctionError(
            f"an array of the class {class_without(type(x)).__name__} that holds no numbers, beside traced values",
            remedy="use an array of numbers, with np.stack, or a list",
        )
    return memory


def held_around(x: Any, array: Any, attributes: dict[str, Any]) -> Any:
    """An object of the class of x with another array in it, and with such attributes."""
    return held_with_parts(type(x), {HELD: array, **attributes})


def parts_of_held(x: Holding) -> dict[str, Any]:
    """What there is to such an object: the array or number, and its attributes."""
    return {HELD: x._wengert_array(), **{name: v for name, v in x.__dict__.items() if name != HELD}}


def held_with_parts(kind: Any, parts: dict[str, Any]) -> Any:
    """An object of a derived class that has such parts."""
    if issubclass(kind, float):
        new = float.__new__(class_that_holds(kind), np.nan)
        new.__dict__.update(parts)
        return new
    array = parts[HELD]
    shape = array.shape if hasattr(array, "shape") else ()
    new = np.broadcast_to(_SHELL, shape).view(_Blank)
    new.__class__ = class_that_holds(kind)
    new.__dict__.update(parts)
    return new


def applied(
    function: Callable, called: Callable, args: tuple, kwargs: dict, is_base: bool = False, ufunc: Any = None
) -> Any:
    """A function of NumPy's of such objects: computed of the arrays, and of the class that NumPy's result has.

    `called` is what is called for the function; its result may be traced. A function that uses what the class has made
    otherwise does what NumPy's own does; but `is_base` says that the class has been asked already. `ufunc` is the one
    that is called, if one is: classes are told of it when they wrap the result.
    """
    args = _lifted_in(tuple(args))
    is_base = is_base or function in _OF_MEMORY
    found = tried(function, args, kwargs, held_in, _nothing_otherwise if is_base else _otherwise)
    if found.is_others:
        native = _mean if function is np.ndarray.mean else getattr(function, "_implementation", function)
        return native(*args, **kwargs)
    context = None if ufunc is None else (ufunc, args, 0)
    return _with_classes(called(*held_in(args), **held_in(kwargs)), found.results, is_base, context)


def _mean(x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """What NumPy's method does, which converts a sum that is no array of its own."""
    if dtype is not None or out is not None:
        raise UnsupportedFunctionError("the mean of an array of a derived class, with dtype= or out=")
    total = np.add.reduce(x, axis=axis, keepdims=keepdims)
    return np.true_divide(total, np.size(held(x)) // max(np.size(held(total)), 1))


_OF_MEMORY = frozenset(
    (
        np.linalg.solve, np.linalg.inv, np.linalg.pinv, np.linalg.det, np.linalg.slogdet, np.linalg.eig,
        np.linalg.eigh, np.linalg.eigvals, np.linalg.eigvalsh, np.linalg.svd, np.linalg.qr, np.linalg.cholesky,
        np.linalg.lstsq, np.linalg.norm, np.linalg.matrix_rank, np.linalg.cond,
    )
)  # fmt: skip
"""Functions that look at plain arrays, and leave to the class what becomes of a result."""


def _otherwise(x: Any) -> frozenset[str]:
    kinds = type(x).__mro__
    return made_otherwise(kinds[1 : kinds.index(Held)])


def _nothing_otherwise(x: Any) -> frozenset[str]:
    return frozenset()


def _with_classes(y: Any, found: Any, is_ufuncs: bool, context: Any = None) -> Any:
    if isinstance(found, list):
        parts = [
            _with_classes(part, inner, is_ufuncs, context and (*context[:2], k))
            for k, (part, inner) in enumerate(zip(y, found, strict=True))
        ]
        return type(y)(*parts) if hasattr(y.__class__, "_fields") else type(y)(parts)
    if not isinstance(found, OfClass):
        return y
    if is_ufuncs and found.like is not None:
        return _wrapped(found.like, y, context)
    return of_class(found.kind, y, found.like)


def _wrapped(like: Any, y: Any, context: Any) -> Any:
    """What the class of an argument makes of a result. Older ones do not ask whether it is to be a number."""
    try:
        return like.__array_wrap__(y, context, not np.ndim(y))
    except TypeError:
        return like.__array_wrap__(y, context)


def with_ufunc(ufunc: Any, method: str, inputs: tuple, kwargs: dict) -> Any:
    """A ufunc of a traced value and an object of a derived class: as the class of that says."""
    inputs = tuple([lifted(x) for x in inputs])
    first = max((x for x in inputs if isinstance(x, Held)), key=lambda x: x.__array_priority__)
    return first.__array_ufunc__(ufunc, method, *inputs, **kwargs)


def is_of_derived_class(x: Any) -> bool:
    """Whether a value is an array of a class that is derived by code that is followed."""
    return isinstance(x, np.ndarray) and x.__class__ is not np.ndarray and (isinstance(x, Held) or can_hold(type(x)))


class Held(np.ndarray, Holding):
    """What an object with a traced array in it has in place of the methods of `np.ndarray`."""

    __slots__ = ()

    def __new__(cls, shape: Any = (), dtype: Any = float, buffer: Any = None, offset: Any = 0, strides: Any = None,
                order: Any = None) -> Any:  # fmt: skip
        array = np.zeros(shape, dtype) if buffer is None else held(buffer)
        if isinstance(array, Traced) and array.shape != tuple(np.broadcast_to(0, shape).shape):  # type: ignore[attr-defined]
            array = array.reshape(shape)  # type: ignore[attr-defined]
        if not isinstance(array, Traced):
            array = np.ndarray(shape, dtype, array, offset, strides, order)
            array = ArrayClasses.in_cell(array)
        return of_class(cls, array, None)

    def _wengert_array(self) -> Any:
        """The array in it. One that NumPy made, of plain numbers, has them in its memory."""
        found = self.__dict__.get(HELD)
        if found is None:
            found = self.__dict__[HELD] = ArrayClasses.in_cell(_numbers_in(self))
        return found

    # ---------------------------------------------------------------------------------------------- NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if not are_held(inputs) and not (out and are_held(out)):
            return getattr(ufunc, method)(*inputs, **kwargs, **({} if out is None else {"out": out}))
        inputs = tuple([lifted(x) for x in inputs])
        if out is not None:
            y = getattr(ufunc, method)(*[held(x) for x in inputs], **kwargs)
            for target, part in zip(out, y if isinstance(y, tuple) else (y,), strict=True):
                _write(target, Ellipsis, part)
            return out[0] if len(out) == 1 else out
        of = getattr(ufunc, method)
        return applied(of, of, inputs, kwargs, True, ufunc if method == "__call__" else None)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return applied(function, function, tuple(args), kwargs)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return of_class(type(self), held(array), self)

    # ------------------------------------------------------------------------------------------ attributes, elements

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """What is called by name only: NumPy takes an array of a derived class for the array that it is."""
        return self._wengert_array()[...]

    @property
    def shape(self) -> Any:
        return np.ndarray.shape.__get__(self)

    @shape.setter
    def shape(self, shape: Any) -> None:
        array = self._wengert_array().reshape(shape)
        np.ndarray.shape.__set__(self, array.shape)  # type: ignore[attr-defined]
        self.__dict__[HELD] = array

    @property
    def dtype(self) -> Any:
        return self._wengert_array().dtype

    @property
    def base(self) -> Any:
        return self._wengert_array().base

    @property
    def flags(self) -> Any:
        return self._wengert_array().flags

    @property
    def flat(self) -> Any:
        return self._wengert_array().flat

    @flat.setter
    def flat(self, value: Any) -> None:
        self._wengert_array().flat = held(value)

    def __getitem__(self, key: Any) -> Any:
        y = self._wengert_array()[held_in(key)]
        return of_class(type(self), y, self) if np.ndim(y) or (key.__class__ is tuple and Ellipsis in key) else y

    def __setitem__(self, key: Any, value: Any) -> None:
        _write(self, key, value)

    def __iter__(self) -> Any:
        return iter([self[k] for k in range(len(self))])

    def __contains__(self, item: Any) -> bool:
        return held(item) in self._wengert_array()

    def __bool__(self) -> bool:
        return bool(self._wengert_array())

    def __float__(self) -> float:
        return float(self._wengert_array())

    def __int__(self) -> int:
        return int(self._wengert_array())

    def __complex__(self) -> complex:
        return complex(self._wengert_array())

    def __index__(self) -> int:
        return self._wengert_array().__index__()

    def __repr__(self) -> str:
        return f"{class_without(type(self)).__name__}({self._wengert_array()})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(self._wengert_array(), spec) if spec else str(self)

    # -------------------------------------------------------------------------------------------------------- methods

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        kind = dtype if type is None else type
        if kind is None:
            return of_class(self.__class__, self._wengert_array(), self)
        if kind is np.ndarray:
            return self._wengert_array()[...]
        if isinstance(kind, builtin_type) and issubclass(kind, np.ndarray):
            return viewed_as(self._wengert_array()[...], kind, self)
        return of_class(self.__class__, self._wengert_array().view(dtype), self)

    def item(self, *args: Any) -> Any:
        return self._wengert_array().item(*args)

    def tolist(self) -> Any:
        return self._wengert_array().tolist()

    def setflags(self, *args: Any, **kwargs: Any) -> None:
        self._wengert_array().setflags(*args, **kwargs)

    def fill(self, value: Any) -> None:
        _write(self, Ellipsis, value)

    def sort(self, *args: Any, **kwargs: Any) -> None:
        self._wengert_array().sort(*args, **kwargs)

    def __reduce__(self) -> Any:
        return self._wengert_array().__reduce__()

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()


ArrayClasses.bases[np.ndarray] = Held
builtin_type = type


def viewed_as(array: Any, kind: Any, like: Any) -> Any:
    """`array.view(kind)` of a traced array, or of one that traced values may be written into."""
    if not (issubclass(kind, Held) or can_hold(kind)):
        raise UnsupportedFunctionError(
            f"x.view({kind.__name__}) is not possible for a traced array",
            remedy="use the plain array; its class is not one that can hold traced values",
        )
    return of_class(kind, array, like)


def _write(x: Any, key: Any, value: Any) -> None:
    """`x[key] = value`."""
    if not isinstance(x, Held):
        x[key] = held(value)
        return
    array = x._wengert_array()
    if not isinstance(array, Traced):
        array = x.__dict__[HELD] = ArrayClasses.in_cell(array)
    array[held_in(key)] = held_in(value)


def _method(name: str) -> Any:
    of = getattr(np.ndarray, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        def of_array(array: Any, *rest: Any, **options: Any) -> Any:
            return getattr(array, name)(*rest, **options)

        return applied(of, of_array, (self, *args), kwargs)

    method.__name__ = name
    return method


def _attribute(name: str) -> Any:
    def get(self: Any) -> Any:
        return applied(lambda x: getattr(x, name), lambda x: getattr(x, name), (self,), {})

    def set_(self: Any, value: Any) -> None:
        setattr(self._wengert_array(), name, held(value))

    return property(get, set_)


for _name in (
    "sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "cumsum", "cumprod", "argmax", "argmin",
    "argsort", "ravel", "squeeze", "swapaxes", "repeat", "take", "diagonal", "trace", "clip", "round", "nonzero",
    "choose", "searchsorted", "reshape", "transpose", "flatten", "astype", "copy", "compress", "dot", "conj",
    "conjugate",
):  # fmt: skip
    setattr(Held, _name, _method(_name))
for _name in ("T", "mT", "real", "imag"):
    setattr(Held, _name, _attribute(_name))
