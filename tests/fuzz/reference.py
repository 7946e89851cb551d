"""What is right: plain NumPy, and its derivatives by differences, extrapolated.

Derivatives are known along one line through the point, whose direction is random: a gradient or a Jacobian is wrong if
and only if (with probability one) its product with that direction is. This takes a few runs of the program, where all
entries would take dozens.

A program is of use if NumPy runs it, its numbers are finite and not huge, and differences of several sizes agree: then
no decision is close to its tie, and the derivative is known to five digits or more. A kink at the point itself shows
in second differences, which grow when the step shrinks.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from fuzz.program import Point, Program

HUGE = 1e4
STEP = 1e-3


class Useless(Exception):
    """The program says nothing: it raises in plain Python, overflows, or is not smooth where it is run."""


def quiet(f: Callable, *args: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        warnings.simplefilter("ignore")
        return f(*args)


class Reference:
    """Values and derivatives of a program at one of its points, by plain NumPy."""

    def __init__(self, program: Program, point: Point):
        self.program, self.point = program, point
        self._rng = np.random.default_rng(7)
        x, A, a, n = point.data
        self.tangents = (self._rng.normal(size=x.shape), self._rng.normal(size=A.shape), 0.7)

    def _plain(self, name: str, *args: Any, double: bool = False) -> Any:
        try:
            module = self.program.in_double if double else self.program.module
            return quiet(getattr(module, name), *args)
        except Exception as error:
            raise Useless(f"{type(error).__name__}: {error}") from error

    @cached_property
    def value(self) -> tuple[Any, tuple]:
        """The result, and the arguments afterwards."""
        args = self.point.arguments()
        y = self._plain("f", *args)
        return y, args

    @cached_property
    def total(self) -> Any:
        with np.errstate(over="raise"):  # an infinity on the way may not show in the result, but in its derivative
            found = self._plain("total", *self.point.arguments())
        if np.ndim(found) or np.asarray(found).dtype.kind != "f":
            raise Useless("no real number")
        if not np.isfinite(found) or abs(found) > HUGE:
            raise Useless("not finite, or huge")
        return found

    def _along(self, name: str, direction: tuple) -> Any:
        """The derivative along a line: extrapolated differences that agree with each other."""
        centre = self._plain(name, *self.point.arguments(), double=True)
        if self.program.is_single and not np.allclose(centre, self._plain(name, *self.point.arguments()), 1e-2, 1e-2):
            raise Useless("it goes other ways in double precision")

        def at(h: float) -> Any:
            x, A, a, n = self.point.arguments()
            moved = (x + h * direction[0], A + h * direction[1], a + h * direction[2], n)
            return self._plain(name, *_laid_out(moved, x, A), double=True)

        ups, downs = ([at(sign * h) for h in (STEP, STEP / 2, STEP / 4)] for sign in (1, -1))
        slopes = [(u - d) / (2 * h) for u, d, h in zip(ups, downs, _steps(), strict=True)]
        bends = [(u - 2 * centre + d) / h**2 for u, d, h in zip(ups, downs, _steps(), strict=True)]
        once = [(4 * b - a) / 3 for a, b in itertools.pairwise(slopes)]
        best = (16 * once[1] - once[0]) / 15
        scale = 1.0 + np.max(np.abs(best), initial=0.0)
        if not np.all(np.isfinite(best)) or scale > HUGE:
            raise Useless("the derivative is huge")
        if np.max(np.abs(once[1] - once[0]), initial=0.0) > 1e-6 * scale:
            raise Useless("not smooth nearby")
        if np.max(np.abs(bends[2] - bends[0]), initial=0.0) > 0.5 + 0.3 * np.max(np.abs(bends[0]), initial=0.0):
            raise Useless("a kink")
        return best

    @cached_property
    def slope(self) -> Any:
        return self._along("total", self.tangents)

    @cached_property
    def slopes(self) -> Any:
        """Of `flat`, along a line on which only x moves."""
        return self._along("flat", (self.tangents[0], np.zeros(self.point.data[1].shape), 0.0))


def _steps() -> tuple:
    return STEP, STEP / 2, STEP / 4


def _laid_out(moved: tuple, x: np.ndarray, A: np.ndarray) -> tuple:
    """The moved arrays lie in memory as the point's do: views and copies depend on that."""
    x[...] = moved[0]
    A[...] = moved[1]
    return x, A, moved[2], moved[3]
