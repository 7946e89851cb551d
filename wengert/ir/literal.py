"""How constants are written in the printed form of a program, and read back: exactly.

    2, 2.0, -inf, 1.0+2.0j, True      a Python number (weak)
    f64(2.5), i32(7), bool(True)      a NumPy scalar
    f64[2, 2]([1.0, 0.0], [0.0, 1.0]) a small array
    f64[100](0.0)                     an array of any size with one number everywhere
    @0                                a larger array: its bytes stand at the end of the text

Names of dtypes are those of `Type`: the kind and the number of bits. What may go in here: the text of numbers, arrays
and dtypes, in both directions. How programs are laid out is `show.py`, their grammar `parse.py`.
"""

from __future__ import annotations

import base64
import re
from typing import Any

import numpy as np

from wengert.ir.node import Type

INLINE = 8
"""Arrays of at most so many elements are written where they stand."""

REAL = r"(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|(?:nan|inf)(?![A-Za-z0-9_]))"
NUMBER = re.compile(rf"[+-]?{REAL}(?:[+-](?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|nan|inf)j(?![A-Za-z0-9_]))?")
_COMPLEX = re.compile(rf"([+-]?{REAL})([+-](?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|nan|inf))j")
_DTYPE = re.compile(r"[iufc]\d+")
_LINE = 96


def dtype_name(dtype: Any) -> str:
    """A dtype as types show it.

    >>> dtype_name(np.dtype(np.complex64)), dtype_name(np.dtype(bool))
    ('c64', 'bool')
    """
    return repr(Type((), np.dtype(dtype)))


def dtype_named(name: str) -> np.dtype | None:
    """The dtype of that name, if it is one.

    >>> dtype_named("f32"), dtype_named("axis")
    (dtype('float32'), None)
    """
    if name == "bool":
        return np.dtype(bool)
    if not _DTYPE.fullmatch(name) or int(name[1:]) % 8:
        return None
    try:
        return np.dtype(f"{name[0]}{int(name[1:]) // 8}")
    except TypeError:
        return None


def number_text(value: bool | int | float | complex) -> str:
    """A Python number.

    >>> number_text(0.1), number_text(-0.0), number_text(complex(-0.0, float("inf"))), number_text(True)
    ('0.1', '-0.0', '-0.0+infj', 'True')
    """
    if value.__class__ is complex:
        return _pair(repr(value.real), repr(value.imag))
    return repr(value)


def element_text(x: Any) -> str:
    """A NumPy scalar without its type; the shortest text that gives it back.

    >>> element_text(np.float32(0.1)), element_text(np.complex64(1 - 2j)), element_text(np.uint8(255))
    ('0.1', '1.0-2.0j', '255')
    """
    kind = x.dtype.kind
    if kind == "b":
        return repr(bool(x))
    if kind in "iu":
        return repr(int(x))
    if kind == "c":
        return _pair(element_text(x.real), element_text(x.imag))
    short = str(x)
    if x.dtype.itemsize <= 8:
        # By way of a double, a short text may round twice.
        return short if x.dtype.type(float(short)) == x or x != x else repr(float(x))
    return short


def number(text: str) -> int | float | complex:
    """The Python number that a text means.

    >>> number("-7"), number("1e3"), number("-0.0+2.0j")
    (-7, 1000.0, (-0+2j))
    """
    if text.endswith("j"):
        real, imag = _halves(text)
        return complex(float(real), float(imag))
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def element(text: str, dtype: np.dtype) -> Any:
    """The NumPy scalar that a text means.

    >>> element("0.1", np.dtype(np.float32))
    np.float32(0.1)
    """
    kind = dtype.kind
    if kind == "b":
        return np.bool_({"True": True, "False": False}[text])
    if kind in "iu":
        return dtype.type(int(text))
    if kind == "c":
        if not text.endswith("j"):
            return dtype.type(float(text))
        z = np.zeros((), dtype)
        z.real, z.imag = [element(half, z.real.dtype) for half in _halves(text)]
        return z[()]
    return dtype.type(float(text)) if dtype.itemsize <= 8 else dtype.type(text)


def array_text(x: np.ndarray) -> str:
    """A small array, or one with the same number everywhere.

    >>> array_text(np.eye(2)), array_text(np.array(2.5)), array_text(np.zeros((0, 3), int)), array_text(np.ones(100))
    ('f64[2, 2]([1.0, 0.0], [0.0, 1.0])', 'f64[](2.5)', 'i64[0, 3]()', 'f64[100](1.0)')
    """

    def nested(part: Any) -> str:
        if not isinstance(part, np.ndarray):
            return element_text(part)
        return "[" + ", ".join([nested(p) for p in part]) + "]"

    shape = ", ".join(map(str, x.shape))
    inside = element_text(x.flat[0]) if is_uniform(x) else nested(x)[1:-1] if x.size else ""
    return f"{dtype_name(x.dtype)}[{shape}]({inside})"


def array_of(elements: list, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """The array that has these elements, row by row, or one of them everywhere."""
    return np.full(shape, elements[0], dtype) if len(elements) == 1 else np.array(elements, dtype).reshape(shape)


def is_uniform(x: np.ndarray) -> bool:
    """Whether all elements are the same number, also of zeros the sign; there must be one."""
    if not x.size:
        return False
    first = x.flat[0]
    return bool(np.all((x == first) | (first != first))) and x.tobytes() == np.full(x.shape, first, x.dtype).tobytes()


def is_exact(x: np.ndarray) -> bool:
    """Whether the elements can be written as numbers: not those whose bits say more than their value, as NaN's can."""
    bits = np.ascontiguousarray(x)
    nans = bits[bits != bits]
    return bits.dtype.kind in "biufc" and not any(
        n.tobytes() != element(element_text(n), n.dtype).tobytes() for n in nans
    )


def bytes_text(x: np.ndarray) -> list[str]:
    """The bytes of an array, row by row, little-endian, in base 64; as lines.

    >>> bytes_text(np.arange(2.0))
    ['AAAAAAAAAAAAAAAAAADwPw==']
    """
    text = base64.b64encode(np.ascontiguousarray(x, x.dtype.newbyteorder("<")).tobytes()).decode("ascii")
    return [text[k : k + _LINE] for k in range(0, len(text), _LINE)]


def array_of_bytes(text: str, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """The array whose bytes a text has; not to be written to."""
    return np.frombuffer(base64.b64decode(text), dtype.newbyteorder("<")).astype(dtype, copy=False).reshape(shape)


def _pair(real: str, imag: str) -> str:
    return f"{real}{'' if imag.startswith('-') else '+'}{imag}j"


def _halves(text: str) -> tuple[str, str]:
    found = _COMPLEX.fullmatch(text)
    if found is None:
        raise ValueError(f"not a complex number: {text}")
    return found[1], found[2]
