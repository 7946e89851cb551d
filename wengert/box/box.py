"""What every traced value is: something that behaves as a NumPy array and passes what is done to it through the door.

A `Box` has NumPy's operators, methods and attributes, and NumPy's two protocols (`__array_ufunc__` for ufuncs,
`__array_function__` for everything else), so functions that import plain `numpy` work on it. Each of them finds the op
(or the implementation in ops) it means in the tables of `dispatch.py` and calls that; operators are made in
`operators.py`. What would cut the derivative, `float(x)`, `np.asarray(x)`, raises an error instead.

Modes derive their boxes from `Box`; those have an `_owner`, the running transformation, and a `_value` unless they say
otherwise.
"""

from __future__ import annotations

import builtins
import difflib
import inspect
import math
import operator
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.box import writers
from wengert.box.array_classes import applied, held, is_of_derived_class, viewed_as, with_ufunc
from wengert.box.attributes import Flags, Flat, refused, set_part, set_shape
from wengert.box.complex_views import viewed_in_parts
from wengert.box.dispatch import (
    DEFERRING,
    FUNCTIONS,
    OPERANDS,
    UFUNCS,
    as_number,
    left_to_class,
    place_of_out,
    unsupported,
)
from wengert.box.foreign import (
    array_class_being_made,
    cannot_hold,
    is_at_operator,
    library_that_asks,
    put_into_sparse,
    remedy_for,
)
from wengert.box.functions.operands import demand, operand, out_of_objects
from wengert.box.functions.shapes import copied
from wengert.box.memory import laid_out, lengths
from wengert.box.operators import (
    as_python_number,
    binary,
    bitwise,
    comparison,
    in_place,
    is_number,
    is_of_user,
    python_number,
    try_in_python,
)
from wengert.box.options import into, ufunc_with_options
from wengert.box.subclasses import refusal
from wengert.box.ufunc_methods import METHODS
from wengert.box.writing import (
    SETTLING,
    array_like,
    check_masks,
    link,
    plain,
    read_scalar,
    replace,
    set_item,
    set_writeable,
    settled,
    settled_index,
    without_flags,
)
from wengert.errors import ConcretizationError, EscapedValueError, UnsupportedAttributeError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import index, split_index
from wengert.ops.numbers import python_number as python_number_op
from wengert.ops.observe import observe
from wengert.ops.op import Op, Trace, Traced, call, call1, call2
from wengert.ops.products import matmul
from wengert.running import running
from wengert.strides import part_at
from wengert.types import PLAIN, SCALARS, dtype_of, numpys_number, shape_of

_fills_the_tables = writers


def escaped() -> EscapedValueError:
    """The error for a traced value that outlived its differentiation."""
    return EscapedValueError(
        "a traced value was used after the differentiation it belongs to had ended",
        remedy="store the number instead, losses.append(wg.stop_gradient(loss)), or return the value (with "
        "has_aux=True); and do not return functions that close over arguments of the differentiated function",
    )


def outside(trace: Trace, op: Op, args: tuple, params: dict) -> Any:
    """What an op means on values of a trace that is not running: it has ended, or a block is captured inside it.

    In the latter case the block takes the values as they are, from outside; `alive` is then `None`.
    """
    capture = running.state.capture
    if trace.alive is None and capture is not None:
        return capture.process(op, args, params)
    raise escaped()


def _method(function: Any) -> Any:
    """A method that is the NumPy function of the same name with the box as first argument."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.__array_function__(function, (), (self, *args), kwargs)

    method.__name__ = function.__name__
    return method


class _Slice:
    """Reading at a basic index, which makes a view of this shape. Integers in it may be symbols."""

    __slots__ = ("arrays", "pattern", "shape")

    def __init__(self, pattern: tuple, shape: tuple, arrays: tuple = ()):
        self.pattern = pattern
        self.shape = shape
        self.arrays = arrays

    def __call__(self, x: Any) -> Any:
        state = running.state
        if state.capture is not None and x.__class__ is np.ndarray and self._is_somewhere():
            if state.trying:
                return part_at(x, self.pattern, lengths(self.shape))
            return state.capture.process(index, (x, *self.arrays), {"pattern": self.pattern})
        return call(index, x, *self.arrays, pattern=self.pattern)

    def _is_somewhere(self) -> bool:
        """Whether only the running program knows the place."""
        ends = [end for item in self.pattern if item.__class__ is slice for end in (item.start, item.stop, item.step)]
        return bool(self.arrays) or any(end is not None and end.__class__ is not int for end in ends)


_NUMPYS = frozenset((np.ndarray, np.float64, np.float32))


def _with_more(ufunc: Any, op: Any, method: str, inputs: tuple, kwargs: dict[str, Any]) -> Any:
    """A ufunc that is no op, its methods, options, and more than two operands."""
    if any(map(is_of_derived_class, inputs)):
        return with_ufunc(ufunc, method, inputs, kwargs)
    if method == "__call__" and op is not None:
        return ufunc_with_options(ufunc, op, inputs, kwargs) if kwargs else op(*[operand(x) for x in inputs])
    if op is None and (method != "__call__" or ufunc not in FUNCTIONS):
        if method == "__call__" and not kwargs and all(dtype_of(x).kind in "biu" for x in inputs):
            return observe(*[operand(x) for x in inputs], function=ufunc)  # data without derivatives
        raise unsupported(ufunc)
    (out,) = kwargs.pop("out", None) or (None,)
    y = FUNCTIONS[ufunc](*inputs, **kwargs) if op is None else METHODS[method](ufunc, op, *inputs, **kwargs)
    return y if out is None else into(out, y, ufunc)


def _of_numpy(y: Any) -> Any:
    """What a function of NumPy's gives is no number of Python's own, which would take over the dtype of arrays."""
    value = y._value if isinstance(y, Box) and "_value" in y._state else y
    if value.__class__ in _NUMPYS and (value is y or "_is_pythons" not in y._state):
        return y
    if not isinstance(y, Box) or y.shape or y.dtype.kind not in "fc" or not y._is_python_number:
        return y
    return call1(e.positive if running.state.capture is None else s.copy, y)


def _counted(x: Box) -> Any:
    """A number, or a truth value of Python's own as the integer that it is to operators (there are such in batches)."""
    return s.as_integer(x, dtype=np.dtype(np.int64)) if x._is_python_number and x.dtype.kind == "b" else x


def _are_of_derived_classes(x: Any) -> bool:
    """Whether there is an array of a derived class in a list: `np.concatenate([x, m])`."""
    return x.__class__ in (list, tuple) and any(map(is_of_derived_class, x))


def _demand_items(x: Box, idx: Any) -> None:
    """Raise what Python does for `2.0[0]`: there is code that tells a number from a vector by that. (What only arrays
    know, `x[None]` and `x[...]`, is as for those without axes.)"""
    if x.shape or not x._is_python_number:
        return
    if not all(i is None or i is Ellipsis for i in (idx if idx.__class__ is tuple else (idx,))):
        raise TypeError(f"{_class_of(x)} object is not subscriptable")


def _class_of(x: Box) -> str:
    """What Python calls a number of its own, in an error."""
    return repr(_PYTHONS.get(x.dtype.kind, "float"))


_PYTHONS = {"f": "float", "c": "complex", "i": "int", "b": "bool"}


class ArrayIterator:
    """An iterator over the elements of an array, or over its rows, which are views."""

    __slots__ = ("array", "at")

    def __init__(self, array: Box):
        self.array, self.at = array, 0

    def __iter__(self) -> ArrayIterator:
        return self

    def __next__(self) -> Any:
        k, array = self.at, self.array
        if k >= len(array):
            raise StopIteration
        self.at = k + 1
        return index(array, pattern=(k,)) if len(array.shape) == 1 else array[k]

    def __length_hint__(self) -> int:
        return len(self.array) - self.at


class Box(Traced):
    """A traced value. See the module's text."""

    # All modes share one layout, so that a box may change its class when it is written to (`writing.become`): `_node`
    # is for reverse mode, `_tangent` for forward mode, `_aval` for symbols, `_is_pythons` for batches, `_view_of` and
    # `_views` for what is, or has, a view. `_state` names those that make up the value in a mode. No name is one that
    # other libraries look for: those of units take what has a `value`.
    __slots__ = (
        "__weakref__", "_aval", "_is_pythons", "_node", "_owner", "_span", "_tangent", "_value", "_view_of", "_views",
    )  # fmt: skip
    _state: tuple[str, ...] = ("_owner", "_value")
    __array_priority__ = 1000.0
    _is_cell = False

    def __init__(self, *parts: Any):
        """A box of these parts, in the order of `_state`. (Boxes that are made often have a quicker way.)"""
        for name, part in zip(self._state, parts, strict=True):
            setattr(self, name, part)

    @property
    def _may_be_integer(self) -> bool:
        """Whether it is a float that stands for an integer of Python's in some cases."""
        inside = self._value if "_value" in self._state else None
        return isinstance(inside, Box) and inside._may_be_integer

    @property
    def _is_array(self) -> bool:
        """Whether it stands for an array, which `+=` writes to, and not for a number."""
        return self._view_of is not None or bool(self.shape)

    def _order(self) -> Any:
        """The order of the axes in memory of what has no value; `None` is that of C (see `ir/orders.py`)."""
        return None

    @property
    def _is_python_number(self) -> bool:
        """Whether it stands for a number of Python's own, which takes over the dtype of arrays that it meets."""
        x = settled(self)
        if not isinstance(x, Box):
            return x.__class__ in SCALARS
        if x is not self or (x.__class__ is not Box and "_value" not in x._state):
            return x is not self and x._is_python_number
        value = x._value
        return value._is_python_number if isinstance(value, Box) else value.__class__ in SCALARS

    # ---------------------------------------------------------------------------------------- NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        op = UFUNCS.get(ufunc)
        if op is None or kwargs or method != "__call__" or len(inputs) > 2:
            return _with_more(ufunc, op, method, inputs, kwargs)
        if len(inputs) == 1:
            return _of_numpy(call1(op, self) if isinstance(op, Op) else op(self))
        x, y = inputs
        if (x is None or y is None) and ufunc in (np.equal, np.not_equal):  # no number is None
            return FUNCTIONS[np.full_like](self, ufunc is np.not_equal, dtype=bool)
        if x.__class__ is np.ndarray and x.dtype.kind == "O":
            x = out_of_objects(x)
        elif y.__class__ is np.ndarray and y.dtype.kind == "O":
            y = out_of_objects(y)
        if x.__class__ in PLAIN and isinstance(op, Op):
            return _of_numpy(self._owner.binary(op, x, y))
        special = OPERANDS[x.__class__] or OPERANDS[y.__class__]
        if special is left_to_class:
            return with_ufunc(ufunc, method, inputs, kwargs)
        if special is as_number:
            return op(numpys_number(held(x)), numpys_number(held(y)))
        if special is not None:
            return special(op, x, y)
        return _of_numpy(call2(op, x, y) if isinstance(op, Op) else op(x, y))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        implementation = FUNCTIONS.get(function)
        if implementation is None:
            raise unsupported(function)
        if any(map(is_of_derived_class, args)) or (args and _are_of_derived_classes(args[0])):
            return applied(function, function, args, kwargs)
        if any(a.__class__ is np.ndarray and a.dtype.kind == "O" for a in args):
            args = tuple([out_of_objects(a) for a in args])
        if len(args) > 1 and len(args) > (place := place_of_out(function)):
            names = ["out"] if len(args) == place + 1 else list(inspect.signature(function).parameters)[place:]
            args, kwargs = args[:place], {**kwargs, **dict(zip(names, args[place:], strict=False))}
        if "out" in kwargs:
            kwargs = dict(kwargs)
            if (out := kwargs.pop("out")) is not None:
                return into(out, implementation(*args, **kwargs), function)
        y = implementation(*args, **kwargs)
        return y if function is np.real else _of_numpy(y)  # which gives back a number of Python's own

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if sys._getframe(1).f_code in DEFERRING:
            return np.array(None)
        if sys._getframe(1).f_globals.get("__name__") == np.ma.MaskedArray.__module__:
            raise refusal(np.ma.masked)
        library = library_that_asks(sys._getframe(1))
        if library is not None:
            raise ConcretizationError(
                f"{library} asks for an ordinary NumPy array in place of a traced one: its derivative would be lost",
                remedy=remedy_for(library),
            )
        if (kind := array_class_being_made(sys._getframe(1))) is not None:
            raise cannot_hold(kind)
        if is_at_operator(sys._getframe(1)):
            raise ConcretizationError(
                "an operator between an ordinary array and a list of traced values: NumPy makes an ordinary array of "
                "the list, and its derivative would be lost",
                remedy="make an array of the list first, as in a + np.array(values)",
            )
        if (sys._getframe(1).f_globals.get("__name__") or "").startswith("scipy.sparse."):
            raise put_into_sparse()
        raise self._not_an_array()

    def _not_an_array(self) -> ConcretizationError | EscapedValueError:
        """The error for a value that is made an ordinary array of."""
        if self._owner.alive is False:
            return escaped()
        return ConcretizationError(
            "a traced value cannot become an ordinary NumPy array: its derivative would be lost",
            remedy="build arrays of traced values with np.stack([...]) or np.concatenate([...]) instead of "
            "np.array([...]) or np.asarray(x); for a value that should count as a constant use wg.stop_gradient(x)",
        )

    # ----------------------------------------------------------------------------------------------- attributes

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self._value)

    @shape.setter
    def shape(self, shape: Any) -> None:
        set_shape(self, shape)

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self._value)

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        raise refused("x.dtype = …", "use x.astype(dtype), which makes a new array")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def T(self) -> Any:
        return FUNCTIONS[np.transpose](self) if self.ndim > 1 else self

    @property
    def mT(self) -> Any:
        return FUNCTIONS[np.matrix_transpose](self)

    @property
    def real(self) -> Any:
        return FUNCTIONS[np.real](self)

    @real.setter
    def real(self, value: Any) -> None:
        set_part(self, s.real, value)

    @property
    def imag(self) -> Any:
        return FUNCTIONS[np.imag](self)

    @imag.setter
    def imag(self, value: Any) -> None:
        set_part(self, s.imag, value)

    @property
    def flat(self) -> Any:
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        Flat(self)[:] = value

    @property
    def strides(self) -> tuple[int, ...]:
        return laid_out(self).strides

    @property
    def flags(self) -> Any:
        return Flags(self)

    @property
    def base(self) -> Any:
        return None if self._view_of is None else self._view_of.root

    @property
    def device(self) -> str:
        return "cpu"

    # ------------------------------------------------------------------------------------------------ operators

    __add__, __radd__ = binary(e.add)
    __sub__, __rsub__ = binary(e.subtract)
    __mul__, __rmul__ = binary(e.multiply)
    __truediv__, __rtruediv__ = binary(e.divide)
    __floordiv__, __rfloordiv__ = binary(e.floor_divide)
    __mod__, __rmod__ = binary(e.remainder)
    __pow__, __rpow__ = binary(e.power)
    __matmul__, __rmatmul__ = binary(matmul)
    __lt__ = comparison(e.less)
    __le__ = comparison(e.less_equal)
    __gt__ = comparison(e.greater)
    __ge__ = comparison(e.greater_equal)
    __eq__ = comparison(e.equal, operator.eq)
    __ne__ = comparison(e.not_equal, operator.ne)

    __iadd__ = in_place(e.add)
    __isub__ = in_place(e.subtract)
    __imul__ = in_place(e.multiply)
    __itruediv__ = in_place(e.divide)
    __ifloordiv__ = in_place(e.floor_divide)
    __imod__ = in_place(e.remainder)
    __ipow__ = in_place(e.power)
    __imatmul__ = in_place(matmul)

    # Of masks and integers, which are traced only in a batch and in a program that is captured.
    __and__, __rand__ = bitwise(np.bitwise_and)
    __or__, __ror__ = bitwise(np.bitwise_or)
    __xor__, __rxor__ = bitwise(np.bitwise_xor)
    __lshift__, __rlshift__ = bitwise(np.left_shift)
    __rshift__, __rrshift__ = bitwise(np.right_shift)
    __iand__ = in_place(np.bitwise_and)
    __ior__ = in_place(np.bitwise_or)
    __ixor__ = in_place(np.bitwise_xor)
    __ilshift__ = in_place(np.left_shift)
    __irshift__ = in_place(np.right_shift)

    def __invert__(self) -> Any:
        capture = running.state.capture
        if capture is not None and is_of_user(sys._getframe(1)):
            return capture.operate(UFUNCS[np.invert], "invert", self)
        return UFUNCS[np.invert](_counted(self))

    def __neg__(self) -> Any:
        capture = running.state.capture
        if capture is not None and is_of_user(sys._getframe(1)):
            return capture.operate(e.negative, "negative", self)
        return call1(e.negative, self)

    def __pos__(self) -> Any:
        capture = running.state.capture
        if capture is not None and self.dtype.kind == "b" and is_of_user(sys._getframe(1)):
            return capture.operate(e.positive, "positive", self)
        return _counted(self) if self._is_python_number else call1(e.positive, self)

    def __abs__(self) -> Any:
        capture = running.state.capture
        if capture is not None and is_of_user(sys._getframe(1)):
            return capture.operate(FUNCTIONS[np.absolute], "absolute", self)
        y = FUNCTIONS[np.absolute](_counted(self))
        return python_number(y) if self._is_python_number else y

    def __divmod__(self, other: Any) -> Any:
        return self._quotient_and_rest(other, self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return self._quotient_and_rest(other, other, self)

    def _quotient_and_rest(self, other: Any, x: Any, y: Any) -> Any:
        capture = running.state.capture
        if capture is not None and is_number(other) and is_of_user(sys._getframe(2)):
            rest = capture.operate(e.remainder, "remainder", x, y)
            return capture.operate(e.floor_divide, "floor_divide", x, y), rest
        try_in_python(divmod, x, y, sys._getframe(2))
        return x // y, x % y

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None and not self.shape:
            return int(e.round(self, decimals=0))
        y = e.round(self, decimals=ndigits or 0)
        return python_number(y) if self._is_python_number else y

    # ------------------------------------------------------------------------------------------ as a container

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            named = f"object of type {_class_of(self)} has no len()" if self._is_python_number else ""
            raise TypeError(named or "len() of unsized object")
        return shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            named = f"{_class_of(self)} object is not iterable" if self._is_python_number else ""
            raise TypeError(named or "iteration over a 0-d array")
        return ArrayIterator(self)

    def __getitem__(self, idx: Any) -> Any:
        if idx.__class__ is int:
            if len(self.shape) == 1:
                if self._owner is SETTLING and self._view_of is not None and not self._view_of.fresh:
                    return read_scalar(self, idx)
                return call(index, self, pattern=(idx,))
            _demand_items(self, idx)
            pattern: tuple = (idx,)
        else:
            _demand_items(self, idx)
            if idx.__class__ is tuple and self._owner is SETTLING and len(idx) == len(self.shape):
                if self._view_of is not None and not self._view_of.fresh and all(i.__class__ is int for i in idx):
                    return read_scalar(self, idx)
            idx = settled_index(idx)
            if running.state.capture is not None:
                wider, place = without_flags(self, idx)
                if wider is not self:
                    return wider[place]
            pattern, arrays = split_index(idx)
            if arrays:
                check_masks(self.shape, idx)
                y = call(index, self, *arrays, pattern=pattern)
                if all(isinstance(a, Traced) and not a.shape for a in arrays):  # type: ignore[attr-defined]
                    if isinstance(y, Box) and y.shape:  # symbols for integers: as good as integers
                        return link(
                            y, self, _Slice(pattern, y.shape, arrays), idx if isinstance(idx, tuple) else (idx,)
                        )
                return y
        y = call(index, self, pattern=pattern)
        if not (isinstance(y, Box) and y.shape) and Ellipsis not in pattern:
            return y  # x[..., 0] is a view of no axes, x[0] a number
        return link(y, self, _Slice(pattern, y.shape), pattern)

    def __setitem__(self, idx: Any, value: Any) -> None:
        set_item(self, idx, value)

    def __contains__(self, item: Any) -> bool:
        if not self.shape and self._is_python_number:
            raise TypeError(f"argument of type {_class_of(self)} is not iterable")
        return bool(np.any(plain(self == item)))

    # ----------------------------------------------------------------------------- what would cut the derivative

    def __bool__(self) -> bool:
        held = settled(self)
        return bool(held._value if isinstance(held, Box) else held)

    def _cut(self, what: str, remedy: str) -> ConcretizationError | EscapedValueError:
        if self._owner.alive is False:
            return escaped()
        frame = sys._getframe(2)
        running.state.cut_at = (frame.f_code, frame.f_lasti)  # C code may raise something else in its place
        return ConcretizationError(f"{what} of a traced value would lose its derivative", remedy=remedy)

    def __hash__(self) -> int:
        raise ConcretizationError(
            "a traced value is put into a set, or used as a key of a dict or an argument of a function that remembers",
            remedy="use what it was computed from, or an index, as the key; for a constant use wg.stop_gradient(x)",
        )

    def __float__(self) -> float:
        raise self._cut(
            "float(x), or a function of the math module,",
            "use the value as it is, and NumPy's functions (np.sin) instead of math's; "
            "for a constant use float(wg.stop_gradient(x))",
        )

    def __complex__(self) -> complex:
        raise self._cut(
            "complex(x), or a function of the cmath module,", "use the value as it is, and NumPy's functions"
        )

    def __int__(self) -> int:
        raise self._cut("int(x)", "int(wg.stop_gradient(x)) gives the number, as a constant")

    def __index__(self) -> int:
        raise self._cut("an index made", "index with int(wg.stop_gradient(x))")

    def item(self, *args: Any) -> Any:
        """As `ndarray.item`, but the element stays traced."""
        if args:
            return (self.ravel()[args[0]] if len(args) == 1 and isinstance(args[0], int) else self[args]).item()
        if isinstance(self.size, int) and self.size == 1:
            return as_python_number(self)
        demand(np.equal(self.size, 1), "can only convert an array of size 1 to a Python scalar")
        return as_python_number(self[(0,) * self.ndim])

    def tolist(self) -> Any:
        """Nested lists of traced scalars."""
        return [x.tolist() for x in self] if self.ndim else as_python_number(self)

    # ------------------------------------------------------------------------------------------- shown and copied

    def __repr__(self) -> str:
        return f"Traced({self._shown()!r})"

    def __str__(self) -> str:
        return f"Traced({self._shown()})"

    def __format__(self, spec: str) -> str:
        shown: Any = self._shown(is_part=True)
        if not spec:
            return str(self)
        if np.ndim(shown) > self.ndim == 0:  # a batch: a text for each example
            return f"[{', '.join([format(x, spec) for x in np.ravel(shown)[:3]])}{', …' if np.size(shown) > 3 else ''}]"
        return format(shown, spec)

    def _shown(self, is_part: bool = False) -> Any:
        """The plain value, for a text. Batches are told: a text of all examples is none of one of them."""
        x: Any = self
        while isinstance(x, Box) and "_value" in x._state:
            x._owner.note_text(is_part)
            x = x._value
        return plain(self)

    def __copy__(self) -> Any:
        return s.copy(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return s.copy(self)

    def __reduce__(self) -> Any:
        raise self._cut("pickling", "pickle wg.stop_gradient(x)")

    # ---------------------------------------------------------------------------------------------------- methods

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> Any:
        return FUNCTIONS[np.reshape](self, shape[0] if len(shape) == 1 else shape, order=order, copy=copy)

    def transpose(self, *axes: Any) -> Any:
        return FUNCTIONS[np.transpose](self, axes[0] if len(axes) == 1 else axes or None)

    def flatten(self, order: str = "C") -> Any:
        return s.copy(FUNCTIONS[np.ravel](self, order))

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        return FUNCTIONS[np.astype](self, dtype, copy=copy)

    def copy(self, order: str = "C") -> Any:
        return array_like(self, copied(self, order))

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        return self.__array_function__(np.compress, (), (condition, self, axis), {"out": out})

    def dot(self, other: Any) -> Any:
        return FUNCTIONS[np.dot](self, other)

    def conj(self) -> Any:
        if self.dtype.kind != "c":
            return self
        y = s.conjugate(self)
        return call1(python_number_op, y) if self._is_python_number else y

    conjugate = conj

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        replace(self, FUNCTIONS[np.sort](self, axis=axis, kind=kind))

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
        replace(self, FUNCTIONS[np.partition](self, kth, axis=axis))

    def fill(self, value: Any) -> None:
        self[...] = value

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """Another array with the same elements."""
        if type is None and isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray):
            dtype, type = None, dtype
        if (dtype is not None and np.dtype(dtype) != self.dtype) or type not in (None, np.ndarray):
            if type not in (None, np.ndarray) and dtype is None:
                return viewed_as(self[...], type, self)
            found = viewed_in_parts(self, dtype) if type in (None, np.ndarray) else None
            if found is not None:
                return found
            raise refused("x.view(…) of another type", "use x.astype(dtype), or x.real and x.imag")
        return self[...] if self.shape or self._is_array else self

    def resize(self, *args: Any, **kwargs: Any) -> None:
        raise refused("x.resize(…), which changes an array in place,", "write x = np.resize(x, shape)")

    def byteswap(self, inplace: bool = False) -> Any:
        raise refused("x.byteswap(…)", "use x.astype(dtype) for another order of bytes")

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        if align is not None or uic is not None:
            raise refused("x.setflags(align=…, uic=…)", "leave it out: write=… is possible")
        if write is not None:
            set_writeable(self, bool(write))

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        FUNCTIONS[np.put](self, indices, values, mode)

    def is_integer(self) -> Any:
        """What numbers have, and arrays have not: whether there is nothing behind the point."""
        if self.shape:
            raise AttributeError("an array has no attribute 'is_integer'", name="is_integer", obj=self)
        return np.logical_and(np.isfinite(self), np.floor(self) == self) if self.dtype.kind == "f" else True

    def __getattr__(self, name: str) -> Any:
        if name == "_view_of" or name == "_views":
            return None  # not set: neither a view, nor has it any
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if not self.shape and name in _OF_NUMBERS:
            raise AttributeError(
                f"traced numbers have no attribute {name!r} (Python's have one); outside of compiled functions, "
                f"wg.stop_gradient(x).{name} is that of a constant",
                name=name,
                obj=self,
            )
        if not hasattr(np.ndarray, name):
            what = "an array" if self.shape else "a number"
            near = difflib.get_close_matches(name, [n for n in dir(np.ndarray) if not n.startswith("_")], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise AttributeError(f"{what} has no attribute {name!r}{hint}", name=name, obj=self)
        raise UnsupportedAttributeError(
            f"traced arrays have no attribute {name!r} (NumPy's have one)",
            remedy=f"use a NumPy function instead, or wg.stop_gradient(x).{name} for a constant",
        )


_OF_NUMBERS = frozenset(
    ("as_integer_ratio", "bit_count", "bit_length", "denominator", "fromhex", "hex", "numerator", "to_bytes")
)
"""What numbers of Python's have besides what arrays have."""

_SAME_NAME = (
    "sum prod mean var std max min any all cumsum cumprod argmax argmin argsort argpartition ravel squeeze swapaxes "
    "repeat take diagonal trace clip round nonzero choose searchsorted ptp"
)
for _name in _SAME_NAME.split():
    if hasattr(np.ndarray, _name):  # `ptp` has gone in NumPy 2
        setattr(Box, _name, _method(getattr(np, _name)))
