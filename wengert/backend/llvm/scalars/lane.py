"""A number of native code that Python code can compute with: how `op.impl` is turned into scalar code.

A `Lane` is one element: a scalar in registers and its dtype. It speaks NumPy's protocols, so what an op's `impl` does
with arrays it does with lanes, and leaves instructions. Thus native code is derived from the one definition that an op
has, also if that is a formula of many functions; only NumPy's and SciPy's own functions have rules here, in `RULES`
(ufuncs, by kind of number) and `FUNCTIONS` (others, such as `np.where`). Which dtype a ufunc computes in, NumPy itself
is asked. A ufunc without a rule is called through `cython_special` or by its inner loop (`external.py`).

A lane does not know its number while code is written, so Python cannot branch on it: that raises `Unsupported`. The
exceptions are `np.all` and `np.any`, with which an `impl` asks whether a shortcut is right for all elements: there is
no telling, so `np.all` is no, `np.any` is yes, and the general way is taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import Complex, Scalar, is_native
from wengert.backend.llvm.scalars.external import loop_call, special_call
from wengert.backend.llvm.scalars.values import BOOL, constant, convert, real_dtype
from wengert.box.dispatch import entered_in
from wengert.types import SCALARS


class Unsupported(TypeError):
    """There is no scalar code for this."""


RULES: dict[tuple[np.ufunc, str], Callable] = {}
"""By ufunc and kind of number (b i f c; i is u as well): lanes of the loop's dtypes to the result."""

FUNCTIONS: dict[Callable, Callable] = {}
"""What a NumPy function that is not a ufunc does with lanes."""


def rule(ufunc: np.ufunc, kinds: str = "f") -> Callable:
    """Register a rule of a ufunc, for these kinds of its first operand."""
    return entered_in(RULES, *[(ufunc, kind) for kind in kinds])


def function(target: Callable) -> Callable:
    """Register what a NumPy function does with lanes."""
    return entered_in(FUNCTIONS, target)


def _operator(ufunc: np.ufunc) -> Callable:
    return lambda self, other: _python_like(ufunc, self, other)


def _reflected(ufunc: np.ufunc) -> Callable:
    return lambda self, other: _python_like(ufunc, other, self)


def _python_like(ufunc: np.ufunc, *inputs: Any) -> Any:
    """An operator: of Python's numbers alone it gives one again."""
    result = apply(ufunc, inputs)
    result.weak = all(x.weak if isinstance(x, Lane) else x.__class__ in SCALARS for x in inputs)
    return result


class Lane:
    """One element. See the module's text."""

    __slots__ = ("cx", "dtype", "value", "weak")
    shape: tuple = ()
    ndim, size = 0, 1

    def __init__(self, cx: Any, value: Scalar, dtype: np.dtype, weak: bool = False):
        if not is_native(dtype):
            raise Unsupported(f"no registers for {dtype}")
        self.cx = cx
        self.value = value
        self.dtype = dtype
        self.weak = weak

    def like(self, value: Scalar, dtype: np.dtype | None = None) -> Lane:
        """Another number, of the same dtype unless told."""
        return Lane(self.cx, value, self.dtype if dtype is None else dtype)

    @property
    def b(self) -> ir.IRBuilder:
        return self.cx.builder

    def astype(self, dtype: Any) -> Lane:
        dtype = np.dtype(dtype)
        if not is_native(dtype):
            raise Unsupported(f"no registers for {dtype}")
        return self.like(convert(self.cx, self.value, self.dtype, dtype), dtype)

    @property
    def real(self) -> Lane:
        return self.like(self.value.re, real_dtype(self.dtype)) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Lane:
        if self.dtype.kind == "c":
            return self.like(self.value.im, real_dtype(self.dtype))
        return self.like(constant(0, self.dtype))

    def __getitem__(self, key: Any) -> Lane:
        if key != ():
            raise Unsupported("an element has no elements")
        return self

    def __bool__(self) -> bool:
        raise Unsupported("not known while code is written")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Unsupported("a lane is not an array")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise Unsupported(f"{ufunc.__name__}.{method} of an element")
        return apply(ufunc, inputs, dtype)

    def __array_function__(self, target: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        if target not in FUNCTIONS:
            raise Unsupported(f"{target.__name__} of an element")
        return FUNCTIONS[target](*args, **kwargs)

    def __neg__(self) -> Any:
        return _python_like(np.negative, self)

    def __pos__(self) -> Any:
        return _python_like(np.positive, self)

    def __abs__(self) -> Any:
        return _python_like(np.absolute, self)

    def __invert__(self) -> Any:
        return _python_like(np.invert, self)

    def __pow__(self, p: Any) -> Any:
        """As the operator of arrays does: it knows squares, inverses and square roots."""
        if self.dtype.kind in "fc" and p.__class__ in (int, float):
            quick = {(int, 2): np.square, (int, -1): np.reciprocal, (float, 0.5): np.sqrt}.get((p.__class__, p))
            if quick is not None:
                return apply(quick, (self,))
        return _python_like(np.power, self, p)

    __rpow__ = _reflected(np.power)
    __add__, __radd__ = _operator(np.add), _reflected(np.add)
    __sub__, __rsub__ = _operator(np.subtract), _reflected(np.subtract)
    __mul__, __rmul__ = _operator(np.multiply), _reflected(np.multiply)
    __truediv__, __rtruediv__ = _operator(np.divide), _reflected(np.divide)
    __floordiv__, __rfloordiv__ = _operator(np.floor_divide), _reflected(np.floor_divide)
    __mod__, __rmod__ = _operator(np.remainder), _reflected(np.remainder)
    __and__, __rand__ = _operator(np.bitwise_and), _reflected(np.bitwise_and)
    __or__, __ror__ = _operator(np.bitwise_or), _reflected(np.bitwise_or)
    __xor__, __rxor__ = _operator(np.bitwise_xor), _reflected(np.bitwise_xor)
    __lshift__, __rlshift__ = _operator(np.left_shift), _reflected(np.left_shift)
    __rshift__, __rrshift__ = _operator(np.right_shift), _reflected(np.right_shift)
    __lt__, __le__ = _operator(np.less), _operator(np.less_equal)
    __gt__, __ge__ = _operator(np.greater), _operator(np.greater_equal)
    __eq__ = _operator(np.equal)
    __ne__ = _operator(np.not_equal)
    __hash__ = None  # type: ignore[assignment]


# ------------------------------------------------------------------------------------------------- applying a ufunc


def _described(x: Any) -> Any:
    """What NumPy is told of an operand to find the dtype of an operation: a dtype, or the class of a Python number."""
    if x.__class__ is bool:
        return BOOL
    if isinstance(x, Lane):
        weak = {"i": int, "f": float, "c": complex}.get(x.dtype.kind) if x.weak else None
        return weak or x.dtype
    if x.__class__ in SCALARS:
        return x.__class__
    if isinstance(x, (np.generic, np.ndarray)) and x.ndim == 0:
        return x.dtype
    raise Unsupported(f"a {x.__class__.__name__} beside an element")


@functools.cache
def _loop_dtypes(ufunc: np.ufunc, described: tuple, dtype: Any) -> tuple[np.dtype, ...]:
    if all(d in (int, float, complex) for d in described):  # NumPy resolves only what has a dtype
        described = tuple(np.dtype(d) for d in described)
    given = (*described, *(None,) * ufunc.nout)
    if dtype is None:
        return ufunc.resolve_dtypes(given)
    return ufunc.resolve_dtypes(given, signature=(None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout)


def lane_of(cx: Any, x: Any, dtype: np.dtype) -> Lane:
    """An operand as a lane of a dtype."""
    if isinstance(x, Lane):
        return x if x.dtype == dtype else x.astype(dtype)
    return Lane(cx, constant(x.item() if isinstance(x, (np.generic, np.ndarray)) else x, dtype), dtype)


def apply(ufunc: np.ufunc, inputs: tuple, dtype: Any = None) -> Any:
    """A ufunc of operands of which at least one is a lane."""
    cx = next(x.cx for x in inputs if isinstance(x, Lane))
    dtypes = _loop_dtypes(ufunc, tuple([_described(x) for x in inputs]), dtype)
    if not all(map(is_native, dtypes)):
        raise Unsupported(f"{ufunc.__name__} computes in {dtypes}")
    if (ufunc, "weak") in RULES and all(_described(x) is int for x in inputs):
        RULES[ufunc, "weak"](*inputs)
    lanes = [lane_of(cx, x, d) for x, d in zip(inputs, dtypes, strict=False)]
    kind = "i" if dtypes[0].kind == "u" else dtypes[0].kind
    known = RULES.get((ufunc, kind))
    if known is not None:
        return known(*lanes)
    values = [x.value for x in lanes]
    if ufunc.nout == 1 and getattr(scipy.special, ufunc.__name__, None) is ufunc:
        y = special_call(cx, ufunc.__name__, "".join(d.char for d in dtypes), values)
        if y is not None:
            return Lane(cx, y, dtypes[-1])
    return _by_loop(cx, ufunc, dtypes, values)


def apply_loop(ufunc: np.ufunc, inputs: tuple) -> Any:
    """The same by the ufunc's own inner loop, bit by bit as NumPy computes it, though there may be a quicker way."""
    cx = next(x.cx for x in inputs if isinstance(x, Lane))
    dtypes = _loop_dtypes(ufunc, tuple([_described(x) for x in inputs]), None)
    if not all(map(is_native, dtypes)):
        raise Unsupported(f"{ufunc.__name__} computes in {dtypes}")
    return _by_loop(cx, ufunc, dtypes, [lane_of(cx, x, d).value for x, d in zip(inputs, dtypes, strict=False)])


def _by_loop(cx: Any, ufunc: np.ufunc, dtypes: tuple, values: list) -> Any:
    results = loop_call(cx, ufunc, dtypes, values)
    if results is None:
        raise Unsupported(f"{ufunc.__name__} has no loop for {dtypes}")
    outs = tuple(Lane(cx, y, d) for y, d in zip(results, dtypes[ufunc.nin :], strict=True))
    return outs if ufunc.nout > 1 else outs[0]


# ----------------------------------------------------------------------------------- functions that are not ufuncs


def select(mask: Any, x: Any, y: Any) -> Any:
    """`np.where`."""
    cx = next(v.cx for v in (mask, x, y) if isinstance(v, Lane))
    described = [{int: 0, float: 0.0, complex: 0j}.get(d, d) for d in map(_described, (x, y))]
    dtype = np.result_type(*described)
    x, y, m = lane_of(cx, x, dtype), lane_of(cx, y, dtype), lane_of(cx, mask, BOOL).value
    if dtype.kind == "c":
        pairs = zip(x.value, y.value, strict=True)
        return Lane(cx, Complex(*[cx.builder.select(m, p, q) for p, q in pairs]), dtype)
    return Lane(cx, cx.builder.select(m, x.value, y.value), dtype)


FUNCTIONS[np.where] = select
FUNCTIONS[np.all] = lambda x: False
FUNCTIONS[np.any] = lambda x: True
FUNCTIONS[np.real] = lambda x: x.real
FUNCTIONS[np.imag] = lambda x: x.imag
FUNCTIONS[np.copy] = lambda x: x
FUNCTIONS[np.broadcast_arrays] = lambda *xs: xs
FUNCTIONS[np.zeros_like] = lambda x: x.like(constant(0, x.dtype))
FUNCTIONS[np.ones_like] = lambda x: x.like(constant(1, x.dtype))
FUNCTIONS[np.full_like] = lambda x, number: x.like(constant(number, x.dtype))
