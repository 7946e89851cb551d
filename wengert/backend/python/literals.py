"""Constants of a program and parameters of its ops, as Python source that gives exactly the same value."""

from __future__ import annotations

import base64
import math
import textwrap
from typing import Any

import numpy as np

from wengert.backend.python.text import ATOM, UNARY, Text

SMALL = 12
"""Arrays of at most so many elements stand where they are used."""
LISTED = 2000
"""Arrays of at most so many elements are listed number by number; larger ones are given as bytes."""

_SHORT = {np.dtype(float): "float", np.dtype(np.int64): "int", np.dtype(bool): "bool", np.dtype(complex): "complex"}


class Raw:
    """Source text among the parameters of an op: what a length is called that is known only at run time."""

    def __init__(self, text: str):
        self.text = text


def dtype_text(dtype: Any) -> str:
    """How a dtype is written: `float`, `np.float32`.

    >>> dtype_text(np.dtype(np.int32))
    'np.int32'
    """
    dtype = np.dtype(dtype)
    return _SHORT.get(dtype) or f"np.{dtype.name}"


def number(value: Any) -> Text:
    """A Python number."""
    if value.__class__ is complex:
        finite = math.isfinite(value.real) and math.isfinite(value.imag)
        if finite and value.real and value.imag:
            return Text(repr(value))
        # As -2j is the negative of 2j, and 0 - 2j loses the sign of a zero, such numbers are put together.
        return Text(f"complex({number(value.real).text}, {number(value.imag).text})")
    if value.__class__ is float and not math.isfinite(value):
        name = "np.nan" if math.isnan(value) else "np.inf"
        return Text("-np.inf", UNARY, negated=Text(name)) if value < 0 else Text(name)
    text = repr(value)
    if text.startswith("-"):
        return Text(text, UNARY, negated=Text(text[1:]))
    return Text(text, ATOM)


def scalar(value: Any) -> Text:
    """A number: Python's own as it is, NumPy's with its type.

    >>> scalar(2.0).text, scalar(np.float32(2)).text
    ('2.0', 'np.float32(2.0)')
    """
    if value.__class__ in (int, float, complex, bool):
        return number(value)
    value = np.asarray(value)
    if value.dtype == np.bool_:
        return Text(f"np.{'True_' if value else 'False_'}")
    return Text(f"np.{value.dtype.name}({number(value.item()).text})")


def parameter(value: Any) -> str:
    """A parameter of an op: ints, tuples, slices, types, strings.

    >>> parameter((1, slice(None), None)), parameter(np.dtype(float))
    ('(1, slice(None, None, None), None)', 'float')
    """
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, tuple):
        return f"({', '.join(map(parameter, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(parameter, value))}]"
    if isinstance(value, slice):
        return f"slice({parameter(value.start)}, {parameter(value.stop)}, {parameter(value.step)})"
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return dtype_text(value)
    if isinstance(value, np.ndarray):
        return array(value).text
    if isinstance(value, (float, complex, np.generic)):
        return scalar(value).text
    if isinstance(value, str):
        return quoted(value)
    if value is None or value is Ellipsis or isinstance(value, int):
        return "..." if value is Ellipsis else repr(value)
    raise TypeError(f"no source for a {type(value).__name__}")


def quoted(text: str) -> str:
    """A string in double quotes, if that is as short."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown.startswith("'") and '"' not in shown else shown


def shape_text(shape: tuple) -> str:
    """A shape as NumPy's constructors take it.

    >>> shape_text((3,)), shape_text((3, 4))
    ('3', '(3, 4)')
    """
    return parameter(shape[0] if len(shape) == 1 else shape)


def filled(shape: tuple, value: Any, dtype: np.dtype) -> Text:
    """An array with one and the same constant everywhere."""
    suffix = "" if dtype == np.float64 else f", {dtype_text(dtype)}"
    if value in (0, 1) and not (value == 0 and np.signbit(np.real(value))):
        return Text(f"np.{'ones' if value else 'zeros'}({shape_text(shape)}{suffix})")
    plain = number(np.asarray(value).item())
    suffix = "" if np.asarray(np.asarray(value).item()).dtype == dtype else suffix
    return Text(f"np.full({shape_text(shape)}, {plain.text}{suffix})")


def is_uniform(value: np.ndarray) -> bool:
    """Whether all elements are the same, signs of zeros included."""
    return np.full(value.shape, value.flat[0], value.dtype).tobytes() == np.ascontiguousarray(value).tobytes()


def pattern_of(value: np.ndarray) -> Text | None:
    """A short way to write an array that follows a simple rule, if it does."""
    if value.ndim and value.size > 1 and value.dtype.kind in "biufc":
        first = value.flat[0]
        if is_uniform(value):
            return filled(value.shape, first, value.dtype)
        if value.ndim == 1 and value.dtype == np.int64 and np.array_equal(value, np.arange(value.size)):
            return Text(f"np.arange({value.size})")
        if value.ndim == 2 and value.dtype == np.float64 and np.array_equal(value, np.eye(*value.shape)):
            return Text(f"np.eye({', '.join(map(str, dict.fromkeys(value.shape)))})")
    return None


def array(value: np.ndarray) -> Text:
    """An array, element by element."""
    short = pattern_of(value)
    if short is not None:
        return short
    if value.size == 0:
        return Text(f"np.zeros({shape_text(value.shape)}, {dtype_text(value.dtype)})")
    listed = _nested(value.tolist())
    guessed = np.array(value.tolist()).dtype
    return Text(f"np.array({listed})" if guessed == value.dtype else f"np.array({listed}, {dtype_text(value.dtype)})")


def _nested(value: Any) -> str:
    return f"[{', '.join(map(_nested, value))}]" if isinstance(value, list) else number(value).text


def _rows(value: Any, indent: int) -> str:
    """A nested list, row by row."""
    text = _nested(value)
    if indent + len(text) <= 100:
        return "\n" + " " * indent + text
    if isinstance(value[0], list):
        inner = ",".join(_rows(row, indent + 4) for row in value)
    else:
        lines = textwrap.wrap(text[1:-1], 96 - indent, break_long_words=False, break_on_hyphens=False)
        inner = "".join(f"\n{' ' * (indent + 4)}{line}" for line in lines)
    return "\n" + " " * indent + "[" + inner + ",\n" + " " * indent + "]"


def definition(name: str, value: np.ndarray) -> str:
    """The statement that makes a large constant array."""
    if value.size <= LISTED:
        text = f"{name} = {array(value).text}"
        if len(text) <= 100:
            return text
        suffix = f",\n    {dtype_text(value.dtype)}," if np.array(value.tolist()).dtype != value.dtype else ","
        return f"{name} = np.array({_rows(value.tolist(), 4)}{suffix}\n)"
    coded = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    pieces = "".join(f'\n        "{coded[k : k + 88]}"' for k in range(0, len(coded), 88))
    return (
        f"{name} = np.frombuffer(\n    base64.b64decode({pieces}\n    ),\n    {dtype_text(value.dtype)},\n"
        f").reshape({', '.join(map(str, value.shape))})"
    )
