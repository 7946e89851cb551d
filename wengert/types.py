"""Shapes and types of values, whatever the values are.

A value is a NumPy array, a Python or NumPy scalar, an array of another library, or a traced value. The questions
asked of them everywhere (shape? dtype? does it have derivatives?) are answered here, without conversion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_PYTHON_SCALARS = {
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
    int: np.dtype(np.int64),
    bool: np.dtype(np.bool_),
}
SCALARS: frozenset[Any] = frozenset(_PYTHON_SCALARS)
"""Python's own number types. NumPy promotes them weakly: `float32_array * 2.0` stays float32."""

_ARITHMETIC = ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__")


def own_dict(x: Any) -> Any:
    """The attributes that an object has of its own, without asking a `__getattr__` of its class; empty if it has none.

    >>> class Vector:
    ...     __slots__ = ("x",)
    ...     def __getattr__(self, name): raise RuntimeError
    >>> own_dict(Vector())
    {}
    """
    try:
        return object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}


def has_own_dict(x: Any) -> bool:
    """Whether an object has attributes of its own in a dict; one of a class with `__slots__` may have none."""
    try:
        object.__getattribute__(x, "__dict__")
    except AttributeError:
        return False
    return True


def wrapped_in(x: Any) -> Any:
    """The function that another one stands for (`functools.wraps`), or `None`. An object that makes up attributes may
    raise anything instead of having none."""
    try:
        return getattr(x, "__wrapped__", None)
    except Exception:
        return None


def number_base(kind: type) -> type | None:
    """Python's class of numbers whose arithmetic a derived class has, such as `enum.IntEnum`; `None` if there is none.

    >>> import enum
    >>> number_base(enum.IntEnum)
    <class 'int'>
    """
    if kind in SCALARS or issubclass(kind, np.generic):
        return None
    for base in (int, float, complex):
        if issubclass(kind, base) and all(getattr(kind, name) is getattr(base, name) for name in _ARITHMETIC):
            return base
    return None


def numpys_number(x: Any) -> Any:
    """A number of a derived class as NumPy takes it: `np.float32(1) * Axis.Y` has double precision. Else the value."""
    base = None if x.__class__ in PLAIN else number_base(x.__class__)
    return x if base is None else np.asarray(base(x))[()]


_new_tuple = tuple.__new__
_DOUBLES = frozenset((float, np.float64))

PLAIN: frozenset[Any] = frozenset((np.ndarray, np.float64, np.float32, float, int))
"""The commonest classes of plain values: a quick way to know that a value is not traced."""


class Aval(NamedTuple):
    """What is known of a value without the value: its shape and dtype ("abstract value").

    >>> Aval((2, 3), np.dtype(float)).size
    6
    """

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def shape_of(x: Any) -> tuple[Any, ...]:
    """The shape of anything that can be an operand.

    >>> shape_of(1.0), shape_of(np.ones((2, 3))), shape_of([1, 2])
    ((), (2, 3), (2,))
    """
    if x.__class__ in SCALARS:
        return ()
    try:
        return x.shape
    except AttributeError:
        return np.shape(x)


def size_of(x: Any) -> int:
    """How many elements a value has."""
    return math.prod(shape_of(x))


def ndim_of(x: Any) -> int:
    """The number of axes of anything that can be an operand."""
    return len(shape_of(x))


def dtype_of(x: Any) -> np.dtype:
    """The dtype of anything that can be an operand.

    >>> dtype_of(1.0), dtype_of(np.float32(1))
    (dtype('float64'), dtype('float32'))
    """
    known = _PYTHON_SCALARS.get(x.__class__)
    if known is not None:
        return known
    try:
        return x.dtype
    except AttributeError:
        return np.asarray(x).dtype


def aval_of(x: Any) -> Aval:
    """Shape and dtype together."""
    return _new_tuple(Aval, (shape_of(x), dtype_of(x)))


def same_aval(x: Any, y: Any) -> bool:
    """Whether two plain values have the same shape and dtype; quick for the common kinds.

    >>> same_aval(1.0, np.float64(2)), same_aval(1.0, np.ones(3))
    (True, False)
    """
    kind = x.__class__
    if kind is np.ndarray and y.__class__ is np.ndarray:
        return x.shape == y.shape and x.dtype == y.dtype
    if kind in _DOUBLES and y.__class__ in _DOUBLES:
        return True
    return shape_of(x) == shape_of(y) and dtype_of(x) == dtype_of(y)


def broadcast_shapes(shapes: Sequence[tuple]) -> tuple:
    """The shape that shapes broadcast to. A length may be one that is known only when a program runs (`ir/build.py`):
    such a length is never taken for one.

    >>> broadcast_shapes([(3, 1), (4,)])
    (3, 4)
    """
    largest: tuple = ()
    for shape in shapes:
        if shape and shape != largest:
            if largest:
                break
            largest = shape
    else:
        return largest  # the commonest case: arrays of one shape, and numbers
    if all(n.__class__ is int for shape in shapes for n in shape):
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            text = " ".join([str(tuple(shape)).replace(" ", "") for shape in shapes])
            raise ValueError(f"operands could not be broadcast together with shapes {text} ") from None
    rank = max(map(len, shapes))
    result: list[Any] = [1] * rank
    for shape in shapes:
        for k, n in enumerate(shape, rank - len(shape)):
            known = result[k]
            if known.__class__ is int and (known == 1 or n.__class__ is not int):
                result[k] = known if known != 1 else n
            elif n.__class__ is int and n != 1:
                if known.__class__ is int and known != n:
                    raise ValueError(f"operands could not be broadcast together with shapes {shapes}")
                result[k] = n
    return tuple(result)


def demand_same_length(name: str, signature: str, m: Any, n: Any) -> None:
    """Raise what NumPy raises if an axis of the second operand is not as long as one of the first. A length that is
    known only when a program runs is looked at there.

    >>> demand_same_length("matmul", "(n?,k),(k,m?)->(n?,m?)", 4, 4)
    """
    if m.__class__ is int and n.__class__ is int and m != n:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {signature} "
            f"(size {n} is different from {m})"
        )


def is_inexact(dtype: np.dtype) -> bool:
    """Whether numbers of this dtype have derivatives: the real and complex floating types."""
    return dtype.kind in "fc"


def scalar_like(number: float, x: Any) -> Any:
    """A constant in the precision of `x`, so that it does not widen what it is combined with.

    >>> (np.ones(2, np.float32) * scalar_like(0.5, np.float32(1))).dtype
    dtype('float32')
    """
    return dtype_of(x).type(number)
