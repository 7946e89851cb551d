"""Functions of integers that only the program knows: `math.gcd(i, j)`, `pow(i, j, m)`, `i.bit_length()`."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.writing import settled
from wengert.capture.followed import integers
from wengert.capture.instrument import staged
from wengert.capture.values import as_number, is_symbolic
from wengert.ir.numbers import python_class
from wengert.types import dtype_of, shape_of

_FOLLOWED: dict[Callable, Callable] = {
    math.gcd: integers.greatest_divisor, math.lcm: integers.least_multiple, math.factorial: integers.factorial,
    math.comb: integers.selections, math.perm: integers.arrangements, math.isqrt: integers.root,
    pow: integers.power_modulo,
}  # fmt: skip
_METHODS = {"bit_length": integers.bit_length, "bit_count": integers.bit_count}


def as_pythons(x: Any) -> Any:
    """An integer of any type as Python's, which is not as short."""
    return x if python_class(x) is not None else as_number(x, np.int64)


def _integer(x: Any) -> Any:
    if not is_symbolic(x):
        return operator.index(settled(x))
    if dtype_of(x).kind not in "biu" or shape_of(x):
        kind = "float" if dtype_of(x).kind == "f" and not shape_of(x) else dtype_of(x).name
        raise TypeError(f"'{kind}' object cannot be interpreted as an integer")
    return as_pythons(x)


def of_integers(original: Callable) -> Callable:
    """A function of Python's that takes integers, some of which may be symbols."""

    def called(*numbers: Any) -> Any:
        if not any(map(is_symbolic, numbers)):
            return original(*numbers)
        return staged(_FOLLOWED[original])(*[n if n is None else _integer(n) for n in numbers])

    return called


REPLACED = {original: of_integers(original) for original in _FOLLOWED if original is not pow}


def method_of_integer(x: Any, name: str) -> Callable | None:
    """A method of an integer that is a symbol, if it is one of those that are followed."""
    if name not in _METHODS or not is_symbolic(x) or shape_of(x) or dtype_of(x).kind not in "biu":
        return None
    if python_class(x) is None and name == "bit_length":  # NumPy's integers have none
        return None
    return functools.partial(staged(_METHODS[name]), as_pythons(x))
