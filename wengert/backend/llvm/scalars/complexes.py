"""Rules for complex numbers: arithmetic as NumPy does it. Their other functions are NumPy's own inner loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.backend.llvm.arrays.buffer import Complex
from wengert.backend.llvm.scalars.lane import Lane, rule, select


def _pair(like: Lane, re: Any, im: Any) -> Lane:
    return like.like(Complex(re.value, im.value))


rule(np.add, "c")(lambda x, y: _pair(x, x.real + y.real, x.imag + y.imag))
rule(np.subtract, "c")(lambda x, y: _pair(x, x.real - y.real, x.imag - y.imag))
rule(np.negative, "c")(lambda x: _pair(x, -x.real, -x.imag))
rule(np.conjugate, "c")(lambda x: _pair(x, x.real, -x.imag))
rule(np.absolute, "c")(lambda x: np.hypot(x.real, x.imag))


@rule(np.multiply, "c")
def _multiply(x: Lane, y: Lane) -> Lane:
    return _pair(x, x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


@rule(np.square, "c")
def _square(x: Lane) -> Lane:
    return _multiply(x, x)


@rule(np.divide, "c")
def _divide(x: Lane, y: Lane) -> Lane:
    """Smith's algorithm; dividing by zero gives infinities and NaN."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    wide = abs(c) >= abs(d)
    larger, smaller = select(wide, c, d), select(wide, d, c)
    ratio = smaller / larger
    scale = 1.0 / (larger + smaller * ratio)
    re = select(wide, a + b * ratio, a * ratio + b) * scale
    im = select(wide, b - a * ratio, b * ratio - a) * scale
    nothing = (c == 0) & (d == 0)
    return _pair(x, select(nothing, a / abs(c), re), select(nothing, b / abs(c), im))


@rule(np.reciprocal, "c")
def _reciprocal(x: Lane) -> Lane:
    a, b = x.real, x.imag
    wide = abs(b) <= abs(a)
    larger, smaller = select(wide, a, b), select(wide, b, a)
    ratio = smaller / larger
    scale = larger + smaller * ratio
    return _pair(x, select(wide, 1 / scale, ratio / scale), select(wide, -ratio / scale, -1 / scale))
