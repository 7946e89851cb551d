"""Where the functions of `math` raise, for numbers that are known only when a compiled program runs.

By name, what must hold of the arguments, and what of the result. The messages are Python's own: they are asked of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from wengert.ir.numbers import check, message_of, overflows
from wengert.ops import elementwise as e

_Before = Callable[..., None]


def _unless(bad: Callable[[Any], Any], sample: float) -> Callable[[str], _Before]:
    """The first argument must not be so; `sample` is a number that is. (NaN is never: it passes through.)"""

    def make(name: str) -> _Before:
        message = message_of(getattr(math, name), sample)
        return lambda x, *_: check(e.logical_not(bad(x)), "ValueError", message)

    return make


def _is_pole(x: Any) -> Any:
    """Whether gamma has no value: at zero and the negative integers."""
    return e.logical_and(e.less_equal(x, 0), e.equal(e.floor(x), x))


def _log(x: Any, base: Any = None) -> None:
    message = message_of(math.log, -1.0)
    check(e.logical_not(e.less_equal(x, 0)), "ValueError", message)
    if base is not None:
        check(e.logical_not(e.less_equal(base, 0)), "ValueError", message)
        check(e.not_equal(base, 1), "ZeroDivisionError", message_of(math.log, 2.0, 1.0))


def _pow(x: Any, p: Any) -> None:
    message = message_of(math.pow, -1.0, 0.5)
    finite = e.logical_and(e.isfinite(x), e.isfinite(p))
    fractional = e.logical_and(e.less(x, 0), e.not_equal(e.floor(p), p))
    pole = e.logical_and(e.equal(x, 0), e.less(p, 0))
    check(e.logical_not(e.logical_and(finite, e.logical_or(fractional, pole))), "ValueError", message)


def _fmod(x: Any, y: Any) -> None:
    bad = e.logical_or(e.equal(y, 0), e.isinf(x))
    check(e.logical_or(e.logical_not(bad), e.logical_or(e.isnan(x), e.isnan(y))), "ValueError",
          message_of(math.fmod, 1.0, 0.0))  # fmt: skip


BEFORE: dict[str, _Before] = {"log": _log, "pow": _pow, "fmod": _fmod}
_DOMAINS: list[tuple[Any, float, str]] = [
    (lambda x: e.less(x, 0), -1.0, "sqrt"),
    (lambda x: e.less_equal(x, 0), -1.0, "log2 log10"),
    (lambda x: e.less_equal(x, -1), -2.0, "log1p"),
    (lambda x: e.greater(e.absolute(x), 1), 2.0, "asin acos"),
    (lambda x: e.greater_equal(e.absolute(x), 1), 2.0, "atanh"),
    (lambda x: e.less(x, 1), 0.0, "acosh"),
    (e.isinf, math.inf, "sin cos tan"),
    (_is_pole, 0.0, "lgamma"),
    (lambda x: e.logical_or(_is_pole(x), e.equal(x, -math.inf)), 0.0, "gamma"),
]
for _bad, _sample, _names in _DOMAINS:
    for _name in _names.split():
        BEFORE[_name] = _unless(_bad, _sample)(_name)
BEFORE["lgamma"] = lambda x: check(
    e.logical_or(e.logical_not(_is_pole(x)), e.isinf(x)), "ValueError", message_of(math.lgamma, 0.0)
)

AFTER: dict[str, Callable] = {}
for _name, _huge in (("exp", 1e4), ("exp2", 1e4), ("expm1", 1e4), ("sinh", 1e4), ("cosh", 1e4), ("gamma", 1e4),
                     ("lgamma", 1e308), ("pow", None)):  # fmt: skip
    if hasattr(math, _name):
        _message = message_of(getattr(math, _name), *((_huge,) if _huge else (1e10, 1e10)))
        AFTER[_name] = lambda y, *args, message=_message: overflows(y, *args, message=message)


def guarded(name: str, compute: Callable, args: tuple) -> Any:
    """A function of `math` on numbers of a program that is captured."""
    if name in BEFORE:
        BEFORE[name](*args)
    y = compute(*args)
    if name in AFTER:
        AFTER[name](y, *args)
    return y
