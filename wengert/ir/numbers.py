"""Python's own numbers in a captured program: they raise where Python raises, and never wrap around.

NumPy's scalars and arrays have infinities and wrap around; Python's numbers raise. A symbol whose type is weak stands
for a number of Python's own (`python_class`), and an operator between two of those is checked when the program runs: by
`require`, which names the line of the user's source. Integers are checked only where they may leave 64 bits, as far as
their ranges are known. Values in a batch stand for NumPy's scalars, and are not checked.

Only what the user's own code does is checked (`Box` asks who calls): derivative rules divide by what they like.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.operators import COMPLEX_POWER, is_float_to_python
from wengert.box.operators import python_number as number_of_python
from wengert.box.writing import settled
from wengert.ir.infer import demand_which, is_either, is_weak, results
from wengert.ir.lengths import interval_from, interval_of
from wengert.ir.symbol import Dim, Sym
from wengert.ops import elementwise as e
from wengert.ops.numbers import fits, python_number
from wengert.ops.op import TABLE, Op, Traced
from wengert.ops.shape import as_integer, astype, imag, real
from wengert.ops.sizes import raise_unless
from wengert.ops.succeeds import Handlers
from wengert.running import running
from wengert.types import SCALARS, dtype_of, shape_of

_CLASSES = {"b": bool, "i": int, "f": float, "c": complex}
_LEAST, _LARGEST = -(1 << 63), (1 << 63) - 1
_TOO_LARGE = "a Python integer does not fit into 64 bits in a compiled function"
_NO_INTEGER = (
    "an integer to a negative power is a float in Python, and an integer otherwise; a compiled function has to know "
    "which before it runs: write float(x) ** p, or x ** abs(p)"
)


def innermost(x: Any) -> Any:
    """What a traced value is at bottom: a symbol, or a plain value; `None` if it is a batch."""
    while isinstance(x, Traced):
        x = settled(x)
        if x.__class__ is Dim:
            return x.sym
        if x.__class__ is Sym or not isinstance(x, Traced):
            return x
        if x._owner.batches or "_value" not in x._state:  # type: ignore[attr-defined]
            return None
        x = x._value  # type: ignore[attr-defined]
    return x


def _has_no_value(x: Any) -> bool:
    """Whether a traced value has neither numbers nor symbols: the tangent in a rule, for instance."""
    while isinstance(x, Traced):
        x = settled(x)
        if x.__class__ is Sym or not isinstance(x, Traced):
            return False
        if "_value" not in x._state:  # type: ignore[attr-defined]
            return True
        x = x._value  # type: ignore[attr-defined]
    return False


def python_class(x: Any) -> type | None:
    """The class of the Python number that a value stands for: bool, int, float or complex; `None` if it is NumPy's."""
    if x.__class__ in SCALARS:
        return x.__class__
    whole, x = x, innermost(x)
    if x is None:  # of a batch
        return _CLASSES[whole.dtype.kind] if isinstance(whole, Traced) and whole._is_python_number else None  # type: ignore[attr-defined]
    if x.__class__ is Sym:
        if x._node.type.weak or id(x._node) in x._owner.python_booleans:  # type: ignore[attr-defined]
            return _CLASSES[x.dtype.kind]
        return None
    return x.__class__ if x.__class__ in SCALARS else None


def check(ok: Any, error: str, message: str) -> None:
    """Raise when the program comes here unless a condition holds. (Of a batch only a `try` around it asks.)"""
    if (isinstance(ok, Traced) or not ok) and not Handlers.catch(ok, error, message) and innermost(ok) is not None:
        ok, capture = settled(ok), running.state.capture
        if ok.__class__ is Sym or (capture is not None and not isinstance(ok, Traced)):
            capture.check(ok, error, message)
        else:  # of an interval
            raise_unless(ok, error, message)


def operate(op: Op | Callable, name: str, x: Any, y: Any) -> Any:
    """An operator that the user wrote, between values of which one is traced."""
    kinds = python_class(x), python_class(y)
    if kinds == (complex, None) and is_float_to_python(y) and innermost(y) is not None:
        kinds = complex, float
    if None in kinds:
        if name not in _BITWISE and not (name in TABLE and TABLE[name].compares):
            _demand_which_booleans(name, x, y)
        return op(x, y)
    if name in TABLE and TABLE[name].compares:
        if complex in kinds and name in _ORDERS:
            _ORDERS[name](*[kind() for kind in kinds if kind])  # raises what Python raises
        return noted_boolean(op(x, y))
    if name not in _BITWISE:
        x, y = [python_int(v) if kind is bool else v for v, kind in zip((x, y), kinds, strict=True)]
    if name == "power" and kinds[0] in (bool, int) and kinds[1] in (bool, int) and _is_negative(y):
        x = float(x) if x.__class__ in SCALARS else python_number(astype(x, dtype=np.dtype(float)))
    before = (CHECKS if complex not in kinds else _COMPLEX_CHECKS).get(name)
    if before is not None:
        before(x, y)
    z = op(x, y)
    after = _RESULTS.get(name)
    if after is not None and dtype_of(z).kind == "f":
        after(z, x, y)
    return as_python(z)


def _demand_which_booleans(name: str, *operands: Any) -> None:
    """Python's truth values are integers to arithmetic, and NumPy's are not: it must be known which of them it has."""
    if all(dtype_of(x).kind == "b" and (python_class(x) or is_either(innermost(x))) for x in operands):
        for x in operands:
            demand_which(innermost(x), f"{name} is asked")


def operate_alone(op: Op | Callable, name: str, x: Any) -> Any:
    """A unary operator that the user wrote."""
    kind = python_class(x)
    if kind is None:
        _demand_which_booleans(name, x)
        return op(x)
    if kind is bool:
        x = python_int(x)
    if kind is int and name in ("negative", "absolute"):
        low, _ = interval_of(innermost(x))
        if low is None or low <= _LEAST:
            check(e.not_equal(x, _LEAST), "OverflowError", _TOO_LARGE)
    return as_python(op(x))


def noted_boolean(x: Any) -> Any:
    """A truth value that was just computed, as one of Python's own."""
    symbol = innermost(x)
    if symbol.__class__ is Sym:
        running.state.capture.note_boolean(symbol)
    return x if symbol is not None else number_of_python(x)


def as_python(x: Any) -> Any:
    """A scalar as a number of Python's own."""
    if python_class(x) is not None or shape_of(x) or _has_no_value(x):
        return x
    dtype = dtype_of(x)
    wide = np.dtype({"f": np.float64, "c": np.complex128}.get(dtype.kind, dtype))
    return python_number(x if dtype == wide else astype(x, dtype=wide))


def python_int(x: Any) -> Any:
    """A truth value as the integer that it is to Python."""
    return int(x) if x.__class__ is bool else python_number(as_integer(x, dtype=np.dtype(np.int64)))


# --------------------------------------------------------------------------------------------------------- operators


def message_of(f: Callable, *args: Any) -> str:
    """What Python says when it raises here, for whichever number: since 3.14 it adds which one it was."""
    try:
        f(*args)
    except (ArithmeticError, ValueError) as error:
        return str(error).partition(", got ")[0]
    raise AssertionError(f"{f} of {args} does not raise")


def _divisor(operate: Callable) -> Callable[[Any, Any], None]:
    messages = {"f": message_of(operate, 1.0, 0.0), "i": message_of(operate, 1, 0)}

    def check_divisor(x: Any, y: Any) -> None:
        low, high = interval_of(innermost(y)) if dtype_of(y).kind == "i" else (None, None)
        if (low is None or low <= 0) and (high is None or high >= 0):
            kind = "f" if "f" in (dtype_of(x).kind, dtype_of(y).kind) else "i"
            check(e.not_equal(y, 0), "ZeroDivisionError", messages[kind])

    return check_divisor


def _complex_divisor(x: Any, y: Any) -> None:
    check(e.not_equal(y, 0), "ZeroDivisionError", message_of(operator.truediv, 1j, 0j))


def _complex_power(x: Any, p: Any) -> None:
    if p.__class__ in SCALARS and not p.imag and p.real >= 0:
        return
    has_none = e.logical_or(e.less(real(p), 0), e.not_equal(imag(p), 0)) if isinstance(p, Traced) else True
    ok = e.logical_not(e.logical_and(e.equal(x, 0), has_none))
    check(ok, "ZeroDivisionError", message_of(operator.pow, 0j, -1))


def _within(name: str) -> Callable[[Any, Any], None]:
    def check_result(x: Any, y: Any) -> None:
        if dtype_of(x).kind not in "bi" or dtype_of(y).kind not in "bi":
            return
        ranges = [interval_of(innermost(v)) for v in (x, y)]
        low, high = interval_from(name, ranges) or (None, None)
        if low is None or high is None or low < _LEAST or high > _LARGEST:
            check(fits(x, y, operation=name), "OverflowError", _TOO_LARGE)

    return check_result


def _power(x: Any, p: Any) -> None:
    if dtype_of(x).kind in "bi" and dtype_of(p).kind in "bi":
        low = interval_of(innermost(p))[0]
        if low is None or low < 0:
            check(e.greater_equal(p, 0), "ValueError", _NO_INTEGER)
        size = e.power(astype(e.absolute(x), dtype=np.dtype(float)), astype(p, dtype=np.dtype(float)))
        # (rounding may refuse the last thousand of the nine trillion millions that fit)
        check(e.less(size, 2.0**63 * (1 - 1e-15)), "OverflowError", _TOO_LARGE)
        return
    if p.__class__ not in SCALARS or p < 0:
        negative = message_of(operator.pow, 0.0, -1)
        check(e.logical_not(e.logical_and(e.equal(x, 0), e.less(p, 0))), "ZeroDivisionError", negative)
    if x.__class__ in SCALARS and x >= 0:
        return
    if not (p.__class__ in SCALARS and float(p).is_integer()):
        whole = e.logical_or(e.equal(e.floor(p), p), e.isnan(p))
        check(
            e.logical_or(e.logical_not(e.less(x, 0)), e.logical_or(whole, e.isinf(x))), "ValueError",
            COMPLEX_POWER,
        )  # fmt: skip


def _is_negative(p: Any) -> bool:
    """Whether an exponent is always negative: then the power of an integer is a float."""
    high = interval_of(innermost(p))[1]
    return high is not None and high < 0


def _shift(name: str, apply: Callable) -> Callable[[Any, Any], None]:
    negative = message_of(apply, 1, -1)

    def check_shift(x: Any, n: Any) -> None:
        if (interval_of(innermost(n))[0] or -1) < 0:
            check(e.greater_equal(n, 0), "ValueError", negative)
        if name == "left_shift":
            check(fits(x, n, operation=name), "OverflowError", _TOO_LARGE)

    return check_shift


CHECKS: dict[str, Callable[[Any, Any], None]] = {
    "divide": _divisor(operator.truediv),
    "floor_divide": _divisor(operator.floordiv),
    "remainder": _divisor(operator.mod),
    "add": _within("add"),
    "subtract": _within("subtract"),
    "multiply": _within("multiply"),
    "power": _power,
    "left_shift": _shift("left_shift", operator.lshift),
    "right_shift": _shift("right_shift", operator.rshift),
}
"""What must hold of two of Python's numbers before an operator is applied."""

_COMPLEX_CHECKS: dict[str, Callable[[Any, Any], None]] = {"divide": _complex_divisor, "power": _complex_power}
"""The same where one of them is complex."""

_ORDERS = {"less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge}

_BITWISE = frozenset(("bitwise_and", "bitwise_or", "bitwise_xor"))


def overflows(y: Any, *args: Any, message: str = "") -> None:
    """A result that is infinite although the arguments are not raises."""
    bad = e.greater(e.absolute(y), sys.float_info.max)  # not `isinf`: real numbers, of which an interval is, never are
    for a in args:
        if isinstance(a, Traced):
            bad = e.logical_and(bad, e.isfinite(a))
        elif not math.isfinite(a):
            return
    check(e.logical_not(bad), "OverflowError", message)


_RESULTS: dict[str, Callable] = {
    "power": lambda z, x, p: overflows(z, x, p, message="(34, 'Numerical result out of range')"),
}


# ------------------------------------------------------------------------------------------------------- conversions


def check_whole(x: Any) -> None:
    """`int`, `round` and their like of a float: not of nan, of infinity, or of what 64 bits cannot hold."""
    if dtype_of(x) == np.uint64 and innermost(x) is not None:
        check(e.less_equal(x, np.uint64(2**63 - 1)), "OverflowError",
              "an integer beyond 64 bits with a sign is made Python's in a compiled function")  # fmt: skip
    if dtype_of(x).kind != "f" or innermost(x) is None:
        return
    check(e.logical_not(e.isnan(x)), "ValueError", message_of(int, math.nan))
    check(e.less(e.absolute(x), 2.0**63), "OverflowError",
          f"{message_of(int, math.inf)}, nor one beyond 64 bits in a compiled function")  # fmt: skip


def compared(op: Op, args: tuple) -> Any:
    """A comparison of one of Python's integers, which may be negative, with unsigned integers of 64 bits: they have no
    type in common. `None` if it is not one."""
    if len(args) != 2 or not all(dtype_of(x).kind in "iu" for x in args):
        return None
    weak = [x.__class__ is Sym and is_weak(x) for x in args]
    if weak[0] == weak[1] or dtype_of(args[weak[0]]) != np.uint64:
        return None
    x = args[weak[1]]
    low, _ = interval_of(x)
    if low is not None and low >= 0:
        return None
    always = bool(op.impl(*[-1 if is_x else 0 for is_x in weak]))  # what is negative is less than all of them
    y = astype(e.maximum(x, 0), dtype=np.dtype(np.uint64))
    return e.where(e.less(x, 0), always, op(*[y if is_x else a for a, is_x in zip(args, weak, strict=True)]))


def in_bounds(op: Op, args: tuple, params: dict) -> tuple:
    """The operands of an op among which integers of Python's meet a short or unsigned type of NumPy's.

    NumPy converts them to that type, and raises where they do not fit; comparisons it does exactly.
    """
    if not any(_is_integer_of_python(x) for x in args):
        return args
    if op.name in ("astype", "as_integer"):
        short = params["dtype"]
    elif op.writes:
        short = dtype_of(args[0])
    elif op.elementwise and not op.moves:
        others = [dtype_of(x) for x in args if not is_weak(x) and dtype_of(x).kind in "iufc"]
        if not others:
            return args
        short = np.result_type(*others)
        kind = "" if op.compares or short.kind not in "iu" else results(op, args, params)[1][0].dtype.kind
        if kind in ("f", "c"):
            return args  # a quotient: they become floats at once
        if kind == "b":  # whether they are zero is asked
            return tuple([e.not_equal(x, 0) if x.__class__ is Sym and is_weak(x) else x for x in args])
    else:
        return args
    if short.kind not in "iu" or short == np.dtype(int):
        return args
    for x in args[:2] if op.writes else args:
        if not _is_integer_of_python(x) or _fits(x, short):
            continue
        if op.compares and short.itemsize < 8:
            return tuple([a if is_weak(a) else astype(a, dtype=np.dtype(int)) for a in args])
        fine = e.greater_equal(x, int(np.iinfo(short).min))
        if short.itemsize < 8:
            fine = e.logical_and(fine, e.less_equal(x, int(np.iinfo(short).max)))
        check(fine, "OverflowError", f"Python integer out of bounds for {short}")
    return args


def _is_integer_of_python(x: Any) -> bool:
    return x.__class__ is Sym and x._node.type.weak and x.dtype.kind == "i"


def _fits(x: Any, short: np.dtype) -> bool:
    """Whether an integer is certain to fit into a type; none is larger than 64 bits without a sign."""
    (low, high), limits = interval_of(x), np.iinfo(short)
    return low is not None and low >= limits.min and (short.itemsize == 8 or (high is not None and high <= limits.max))
