"""What to write instead, where it is known why a value or a derivative became NaN or infinite.

Two tables, of values and of derivatives: for an operation, conditions on its operands with what helps then. All
remedies that use `np.where` rely on one promise: a branch that `np.where` did not select spoils neither the value nor
the derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Case = tuple[Callable[..., Any], str]


def _always(*operands: Any) -> bool:
    return True


def _zero(x: Any, *_: Any) -> Any:
    return np.equal(x, 0)


def _negative(x: Any, *_: Any) -> Any:
    return np.less(x, 0)


def _beyond_one(x: Any, *_: Any) -> Any:
    return np.greater(np.abs(x), 1)


def _at_one(x: Any, *_: Any) -> Any:
    return np.equal(np.abs(x), 1)


def _large(x: Any, *_: Any) -> Any:
    return np.greater(np.abs(x), 300)


def _zeros(x: Any, y: Any, *_: Any) -> Any:
    return np.equal(x, 0) & np.equal(y, 0)


def _second_zero(x: Any, y: Any, *_: Any) -> Any:
    return np.equal(y, 0)


def _root_of_negative(x: Any, y: Any, *_: Any) -> Any:
    return np.less(x, 0) & np.not_equal(y, np.round(y))


def _zero_to_negative(x: Any, y: Any, *_: Any) -> Any:
    return np.equal(x, 0) & np.less(y, 0)


def _zero_to_fraction(x: Any, y: Any, *_: Any) -> Any:
    return np.equal(x, 0) & np.less(y, 1)


_SAFE = "a branch that np.where does not select spoils nothing"
_LOGARITHM: list[Case] = [
    (_zero, f"log(0) is -inf: bound the argument away from 0, np.log(np.maximum(x, tiny)), or choose the value there, "
            f"np.where(x > 0, np.log(x), value): {_SAFE}; for x * log(x) use scipy.special.xlogy or entr"),
    (_negative, "the logarithm of a negative number: keep the argument positive, or make it complex, x + 0j"),
]  # fmt: skip
_EXPONENTIAL: list[Case] = [
    (_large, "exp overflows above 709 (float64) or 88 (float32): subtract the maximum first, as wg.logsumexp does; "
             "np.logaddexp, np.expm1, scipy.special.expit and log_expit are safe forms of common combinations"),
]  # fmt: skip

VALUES: dict[str, list[Case]] = {
    "log": _LOGARITHM,
    "log2": _LOGARITHM,
    "log10": _LOGARITHM,
    "log1p": [(_always, "log1p needs arguments above -1")],
    "exp": _EXPONENTIAL,
    "exp2": _EXPONENTIAL,
    "expm1": _EXPONENTIAL,
    "sinh": _EXPONENTIAL,
    "cosh": _EXPONENTIAL,
    "sqrt": [
        (_negative, "the square root of a negative number: rounding may have made a small one of a zero, then "
                    "np.sqrt(np.maximum(x, 0)); or make the argument complex, x + 0j"),
    ],
    "divide": [
        (_zeros, f"0 / 0: choose the value there, np.where(y != 0, x / y, value): {_SAFE}; np.sinc, np.expm1 and "
                 "np.log1p are sin(x) / x, exp(x) - 1 and log(1 + x) without cancellation"),
        (_second_zero, f"a division by zero: np.where(y != 0, x / y, value), for {_SAFE}, or a denominator that stays "
                       "away from 0"),
    ],
    "reciprocal": [(_zero, f"1 / 0: np.where(x != 0, 1 / x, value), for {_SAFE}")],
    "power": [
        (_zero_to_negative, f"0 to a negative power: np.where(x != 0, x**p, value), for {_SAFE}"),
        (_root_of_negative, "a negative number to a power that is not an integer: use np.abs(x)**p, np.cbrt for cube "
                            "roots, or a complex base, x + 0j"),
        (_always, "the power overflows: work with its logarithm, p * np.log(x)"),
    ],
    "arcsin": [(_beyond_one, "the argument lies outside [-1, 1], perhaps by rounding: np.clip(x, -1, 1)")],
    "arccos": [(_beyond_one, "the argument lies outside [-1, 1], perhaps by rounding: np.clip(x, -1, 1)")],
    "arctanh": [(_always, "arctanh needs arguments within (-1, 1)")],
    "arccosh": [(_always, "arccosh needs arguments of at least 1")],
    "multiply": [(_always, "0 times infinity, or an overflow: look where the infinite factor comes from, or work with "
                           "logarithms")],
    "subtract": [(_always, "infinity minus infinity: subtract logarithms, or bound the two before")],
    "solve": [(_always, "the matrix is singular, or nearly so")],
    "inv": [(_always, "the matrix is singular, or nearly so; np.linalg.solve is more accurate than an inverse")],
    "gamma": [(_large, "gamma overflows above 171: use scipy.special.gammaln")],
}  # fmt: skip

DERIVATIVES: dict[str, list[Case]] = {
    "sqrt": [
        (_zero, "the slope of sqrt at 0 is infinite: the norm np.linalg.norm(x) has the derivative 0 at 0, and "
                f"np.where(x > 0, np.sqrt(x), 0) chooses the value and derivative there, for {_SAFE}; or write "
                "np.sqrt(x + tiny)"),
    ],
    "cbrt": [(_zero, f"the slope of cbrt at 0 is infinite: np.where(x != 0, np.cbrt(x), 0), for {_SAFE}")],
    "power": [
        (_zero_to_fraction, "x**p with p < 1 has an infinite slope at 0 (and none at all with p < 0): "
                            f"np.where(x > 0, x**p, 0), for {_SAFE}; np.sqrt(x**2) is np.abs(x)"),
        (_zero, "the derivative of x**p with respect to p is x**p * log(x), which has no value at x = 0: make p a "
                "constant, or keep x positive"),
    ],
    "log": _LOGARITHM,
    "divide": [(_second_zero, f"a division by zero: np.where(y != 0, x / y, value), for {_SAFE}"),
               (_always, "the derivative of x / y grows as 1 / y²: scale the denominator so that this stays finite")],
    "reciprocal": [(_always, f"the derivative of 1 / x is -1 / x²: np.where(x != 0, 1 / x, value), for {_SAFE}")],
    "arcsin": [(_at_one, "the slope of arcsin at ±1 is infinite; for angles between vectors use np.arctan2")],
    "arccos": [(_at_one, "the slope of arccos at ±1 is infinite; for angles between vectors use np.arctan2")],
    "arccosh": [(_at_one, "the slope of arccosh at 1 is infinite")],
    "arctanh": [(_at_one, "the slope of arctanh at ±1 is infinite")],
    "arctan2": [(_zeros, "the angle of the zero vector has no derivative: treat that point separately, with np.where")],
    "exp": _EXPONENTIAL,
    "multiply": [(_always, "a factor, or the derivative that arrived, is so large that the product overflows: scale "
                           "the problem, or work with logarithms")],
}  # fmt: skip


def advice(table: dict[str, list[Case]], name: str, operands: tuple[Any, ...]) -> str:
    """The remedy for an operation on these operands, or an empty string if none is known.

    >>> advice(DERIVATIVES, "sqrt", (0.0,))[:37]
    'the slope of sqrt at 0 is infinite: t'
    >>> advice(VALUES, "log", (2.0,))
    ''
    """
    for condition, text in table.get(name, ()):
        try:
            with np.errstate(all="ignore"):
                if np.any(condition(*operands)):
                    return text
        except (TypeError, ValueError):  # operands of another kind than the condition expects
            continue
    return ""
