"""Operators of traced values: `x + y`, `x < y`, `x += y`, and their reflections.

With arrays an operator is an op. Between numbers it is more than that: Python's own raise where NumPy's give nan, give
truth values of Python's, and take over the dtype of arrays that they meet; and in a program that is captured, an
operator that the user wrote leaves a check behind (`ir/numbers.py`), where one of a derivative rule does not.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np

from wengert.box.dispatch import OPERANDS, UFUNCS
from wengert.box.functions.operands import operand, out_of_objects
from wengert.box.writing import plain, replace
from wengert.errors import is_library_file
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.numbers import python_number as python_number_op
from wengert.ops.op import Op, Traced, call1, call2
from wengert.ops.succeeds import Handlers
from wengert.running import captures, running
from wengert.types import PLAIN, SCALARS, dtype_of, shape_of

_SEQUENCES = (list, tuple)
REPEATED: list[Callable[[Any, Any], Any]] = []
"""What makes `[0.0] * n` of a list and a number that only the compiled program knows (`capture/open_lists.py`)."""


def _with_sequence(op: Op, x: Any, y: Any) -> Any:
    """An operator between a list or tuple and a traced value: as between arrays, but Python's `[0.0] * n` repeats."""
    things, n = (x, y) if x.__class__ in _SEQUENCES else (y, x)
    if op is e.multiply and isinstance(n, Traced) and _counts(n):
        number = plain(n)
        if isinstance(number, int | np.integer):
            return things * number
        if hasattr(n._owner, "apart"):
            raise n._owner.apart("how often a list is repeated")
        for repeat in REPEATED:
            return repeat(things, n)
    if op in _SIGNS and isinstance(n, Traced) and n._is_python_number:  # type: ignore[attr-defined]
        raise TypeError(_not_for_sequences(op, x, y))
    return op(operand(x), operand(y))


def _counts(n: Any) -> bool:
    """Whether `[0] * n` has n items: where n is an integer, Python's or NumPy's, and no array."""
    kind = dtype_of(n).kind
    return kind in "bi" if n._is_python_number else kind in "iu" and not (shape_of(n) or n._is_array)


_SIGNS = {e.add: "+", e.subtract: "-", e.multiply: "*", e.divide: "/", e.floor_divide: "//", e.remainder: "%",
          e.power: "** or pow()"}  # fmt: skip


def _not_for_sequences(op: Op, x: Any, y: Any) -> str:
    """What Python says of an operator between a sequence and one of its numbers."""
    first, second = [v.__class__.__name__ if v.__class__ in _SEQUENCES else _NUMBERS[dtype_of(v).kind] for v in (x, y)]
    number = second if x.__class__ in _SEQUENCES else first
    if op is e.multiply:
        return f"can't multiply sequence by non-int of type '{number}'"
    if op is e.add and x.__class__ in _SEQUENCES:
        return f'can only concatenate {first} (not "{number}") to {first}'
    return f"unsupported operand type(s) for {_SIGNS[op]}: '{first}' and '{second}'"


_NUMBERS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


def _with_fraction(op: Op, x: Any, y: Any) -> Any:
    """An operator between a fraction and a traced value: a float takes the fraction for one."""
    x, y = [float(v) if v.__class__ is Fraction else v for v in (x, y)]
    capture = running.state.capture
    if capture is not None and _is_weak(x) and _is_weak(y):
        return capture.operate(op, op.name, x, y)
    if op is e.power and plain(x).__class__ is float and plain(x) < 0 and not plain(y).is_integer():
        raise ValueError(COMPLEX_POWER)
    return python_number(op(x, y)) if _is_weak(x) and _is_weak(y) else op(x, y)


OPERANDS.update(dict.fromkeys(_SEQUENCES, _with_sequence))
OPERANDS[Fraction] = _with_fraction


def is_of_user(frame: FrameType) -> bool:
    """Whether code that applies an operator is the user's own, or stands for it: derivative rules are not.

    Modules of this package whose code stands for the user's say so: `_operates_for_user = True`.
    """
    return not is_library_file(frame.f_code.co_filename) or "_operates_for_user" in frame.f_globals


_PARTIAL: dict[Op, Any] = {
    e.divide: operator.truediv,
    e.floor_divide: operator.floordiv,
    e.remainder: operator.mod,
    e.power: operator.pow,
}
"""Operators that Python's numbers do not have everywhere where NumPy's have one."""
_PYTHONS = frozenset((int, float, complex))


def is_float_to_python(x: Any) -> bool:
    """Whether a value is NumPy's float64, a class derived from Python's float: `1j * x` is one of Python's, since
    Python's complex numbers know what to do with floats before NumPy's are asked."""
    return isinstance(x, Traced) and dtype_of(x) == np.float64 and not (shape_of(x) or x._is_array)  # type: ignore[attr-defined]


def try_in_python(apply: Any, x: Any, y: Any, frame: FrameType | None = None) -> None:
    """Raise where an operator that the user wrote raises on Python's numbers, or leaves the real ones. `frame` is that
    of the code with the operator, if it has not called our caller."""
    frame = sys._getframe(2) if frame is None else frame
    a: Any = plain(x)
    b: Any = plain(y)
    if is_enclosed(a) or is_enclosed(b):
        if is_of_user(frame):
            if apply is operator.pow:
                Handlers.demand_alike(lambda: e.greater(x, 0), "ValueError")
                Handlers.demand_alike(lambda: e.less_equal(e.power(x, y), sys.float_info.max), "OverflowError")
            else:
                Handlers.demand_alike(lambda: e.not_equal(y, 0), "ZeroDivisionError")
        return
    is_complex = a.__class__ is complex or b.__class__ is complex
    if a.__class__ is complex and is_float_to_python(y):
        b = float(b)
    if a.__class__ not in _PYTHONS or b.__class__ not in _PYTHONS:
        if np.ndarray in (a.__class__, b.__class__) and _is_weak(x) and _is_weak(y) and is_of_user(frame):
            Handlers.part_ways(lambda: _raises_somewhere(apply, a, b), x, y)
        return
    goes_well = b != 0 if apply is not operator.pow else a != 0 if is_complex else a > 0 and b <= 1  # type: ignore[operator]
    if goes_well or not is_of_user(frame):
        return
    if apply(a, b).__class__ is complex and not is_complex:
        raise ValueError(COMPLEX_POWER)


def _raises_somewhere(apply: Any, a: Any, b: Any) -> bool:
    """Whether Python would raise for one of the examples of a batch."""
    if apply is not operator.pow:
        return bool(np.any(np.equal(b, 0)))
    return bool(np.any(np.equal(a, 0) & np.less(b, 0)))


def is_enclosed(x: Any) -> bool:
    """Whether a value is an interval, or what is differentiated of one, that is not known to be a single number."""
    x = plain(x)
    return isinstance(x, Traced) and x._owner.encloses


COMPLEX_POWER = (
    "a negative number to a fractional power is complex in Python, and neither the derivative of a real function nor "
    "what a compiled function of real numbers gives can be: write complex(x) ** p, or np.power(x, p), which is nan"
)


def python_number(y: Any) -> Any:
    """A number that was just computed, as one of Python's own: it takes over the dtype of arrays that it meets."""
    if isinstance(y, np.generic):
        return y.item()
    inner = y
    while isinstance(inner, Traced) and "_value" in inner._state:  # type: ignore[attr-defined]
        if "_is_pythons" in inner._state:  # type: ignore[attr-defined]
            inner._is_pythons = True  # type: ignore[attr-defined]
            return y
        value = inner._value  # type: ignore[attr-defined]
        if value.__class__ is float:
            return y
        if isinstance(value, np.generic):
            inner._value = value = value.item()  # type: ignore[attr-defined]
        inner = value
    return y


def as_python_number(x: Any) -> Any:
    """A traced array of one element as a number of Python's own, which has double precision: `x.item()`."""
    x = s.reshape(x, shape=())
    wide = _WIDE.get(dtype_of(x).kind, dtype_of(x))
    y = call1(python_number_op, x if dtype_of(x) == wide else s.astype(x, dtype=wide))
    return python_number(y) if is_enclosed(y) else y


_WIDE = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128), "i": np.dtype(np.int64), "u": np.dtype(np.int64)}


def _is_weak(x: Any) -> bool:
    return x.__class__ in SCALARS or (isinstance(x, Traced) and x._is_python_number)  # type: ignore[attr-defined]


_NUMPYS = frozenset((np.ndarray, np.float64, np.float32))


def _is_numpys(x: Any) -> bool:
    """Whether a value is one of NumPy's, for certain: most are."""
    if x.__class__ in _NUMPYS or not isinstance(x, Traced):
        return x.__class__ in _NUMPYS
    state: tuple = x._state  # type: ignore[attr-defined]
    return "_value" in state and x._value.__class__ in _NUMPYS and "_is_pythons" not in state  # type: ignore[attr-defined]


def _are_pythons(x: Any, y: Any) -> bool:
    """Whether an operator between two values is Python's, as far as is known."""
    if _is_numpys(y):
        return is_float_to_python(y) and not _is_numpys(x) and dtype_of(x).kind == "c"
    return not _is_numpys(x)


def binary(op: Op) -> tuple[Any, Any]:
    """An operator and its reflection. With a plain operand there is only one trace to ask.

    Python's own numbers are to raise where Python does: at once, or, in a program that is captured, when it runs
    (`ir/numbers.py`).
    """
    if op in _PARTIAL:
        return _partial(op, _PARTIAL[op])

    def forward(self: Any, other: Any) -> Any:
        if captures.count and (found := _captured(op, op.name, self, other, other)) is not None:
            return found
        if other.__class__ in PLAIN:
            if other.__class__ is np.ndarray and other.dtype.kind == "O":
                return call2(op, self, out_of_objects(other))
            return self._owner.binary(op, self, other)
        special = OPERANDS[other.__class__]
        return call2(op, self, other) if special is None else special(op, self, other)

    def reflected(self: Any, other: Any) -> Any:
        if captures.count and (found := _captured(op, op.name, other, self, other)) is not None:
            return found
        if other.__class__ in PLAIN:
            if other.__class__ is np.ndarray and other.dtype.kind == "O":
                return call2(op, out_of_objects(other), self)
            y = self._owner.binary(op, other, self)
            return python_number(y) if other.__class__ is complex and is_float_to_python(self) else y
        special = OPERANDS[other.__class__]
        return call2(op, other, self) if special is None else special(op, other, self)

    return forward, reflected


def inside(x: Any) -> Any:
    """What a box has for its value; `None` if it has none or several. Anything else is its own value."""
    if not isinstance(x, Traced):
        return x
    return x._value if "_value" in x._state and not x._owner.encloses else None  # type: ignore[attr-defined]


def _of_floats(op: Op, x: Any, y: Any) -> Any:
    """A quotient or a power of floats of Python's where it has one for certain; `None` otherwise."""
    base = inside(x)
    if base.__class__ is not float:
        return None
    is_plain = y.__class__ is float or y.__class__ is int
    other = inside(y)
    if other.__class__ is not float and not (is_plain and other.__class__ is int):
        return None
    if op is e.divide:
        return call2(op, x, y) if other else None
    is_small = other.__class__ is int and 0 <= other <= 2 and base > -1e150
    if op is not e.power or not (base > 0 or is_small):
        return None
    z = python_number(call2(op, x, y))
    if inside(z) == math.inf and is_of_user(sys._getframe(2)):
        base**other  # Python raises where it overflows
    return z


def _partial(op: Op, in_python: Any) -> tuple[Any, Any]:
    """The same for an operator that Python's numbers do not have everywhere."""

    def forward(self: Any, other: Any) -> Any:
        if captures.count and (found := _captured(op, op.name, self, other, other)) is not None:
            return found
        if (quick := _of_floats(op, self, other)) is not None:
            return quick
        is_pythons = _are_pythons(self, other)
        if is_pythons and not (other.__class__ is float and other > 0 and op is not e.power):
            try_in_python(in_python, self, other)
        if other.__class__ is np.ndarray and other.dtype.kind == "O":
            y = call2(op, self, out_of_objects(other))
        elif other.__class__ in PLAIN:
            y = self._owner.binary(op, self, other)
        else:
            special = OPERANDS[other.__class__]
            y = call2(op, self, other) if special is None else special(op, self, other)
        return python_number(y) if is_pythons and _is_weak(self) and (_is_weak(other) or _is_numpys(other)) else y

    def reflected(self: Any, other: Any) -> Any:
        if captures.count and (found := _captured(op, op.name, other, self, other)) is not None:
            return found
        if (quick := _of_floats(op, other, self)) is not None:
            return quick
        is_pythons = _are_pythons(other, self)
        if is_pythons and other.__class__ in SCALARS:
            try_in_python(in_python, other, self)
        if other.__class__ is np.ndarray and other.dtype.kind == "O":
            y = call2(op, out_of_objects(other), self)
        elif other.__class__ in PLAIN:
            y = self._owner.binary(op, other, self)
        else:
            special = OPERANDS[other.__class__]
            y = call2(op, other, self) if special is None else special(op, other, self)
        return python_number(y) if is_pythons and _is_weak(other) and (_is_weak(self) or _is_numpys(self)) else y

    return forward, reflected


def _captured(op: Any, name: str, x: Any, y: Any, other: Any) -> Any:
    """An operator between numbers that the user wrote in a function that is being captured; `None` if it is not so."""
    capture = running.state.capture
    if capture is None or not is_number(other) or not is_of_user(sys._getframe(2)):
        return None
    return capture.operate(op, name, x, y)


def comparison(op: Op, compare: Any = None) -> Any:
    """An operator that compares. Python's own numbers give a truth value of Python's own, of which two add up to 2.

    == and != (`compare`) NumPy also has for what is no number: x == None, or a `match` of x with a string.
    """

    def compared(self: Any, other: Any) -> Any:
        if captures.count and (found := _captured(op, op.name, self, other, other)) is not None:
            return found
        if compare is not None and (other is None or isinstance(other, (str, bytes))):
            value = plain(self)  # a symbol has none, and a batch those of all examples: only the shape counts
            if isinstance(value, Traced) or shape_of(value) != self.shape:
                value = 0.0 if self._is_python_number else np.zeros(self.shape)[()]
            return compare(value, other)
        if other.__class__ is np.ndarray and other.dtype.kind == "O":
            y = call2(op, self, out_of_objects(other))
        elif other.__class__ in PLAIN:
            y = self._owner.binary(op, self, other)
        else:
            special = OPERANDS[other.__class__]
            y = call2(op, self, other) if special is None else special(op, self, other)
        if y.__class__ is np.ndarray or not (_is_weak(other) and _is_weak(self)):
            return y
        return python_number(y)

    return compared


def is_number(x: Any) -> bool:
    return isinstance(x, Traced) or x.__class__ in SCALARS


def bitwise(ufunc: Any) -> tuple[Any, Any]:
    """An operator between masks or integers, and its reflection."""
    name = ufunc.__name__

    def forward(self: Any, other: Any) -> Any:
        found = _captured(UFUNCS[ufunc], name, self, other, other) if captures.count else None
        return UFUNCS[ufunc](self, other) if found is None else found

    def reflected(self: Any, other: Any) -> Any:
        found = _captured(UFUNCS[ufunc], name, other, self, other) if captures.count else None
        return UFUNCS[ufunc](other, self) if found is None else found

    return forward, reflected


def in_place(op: Any) -> Any:
    """An augmented assignment, of an op or a ufunc: arrays change in place, scalars are replaced."""
    is_op = isinstance(op, Op)

    def augmented(self: Any, other: Any) -> Any:
        capture = running.state.capture
        if capture is not None and not self.shape and is_number(other) and is_of_user(sys._getframe(1)):
            new = capture.operate(op if is_op else UFUNCS[op], op.name if is_op else op.__name__, self, other)
        elif is_op:
            if op in _PARTIAL:
                try_in_python(_PARTIAL[op], self, other)
            new = call2(op, self, operand(other))
        else:
            new = UFUNCS[op](self, other)
        return replace(self, new) if self.shape or self._is_array else new

    return augmented
