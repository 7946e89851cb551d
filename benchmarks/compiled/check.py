"""Are the numbers right? Speed is compared only between tools that compute the same.

A function value must agree with NumPy's. A derivative must agree with the golden result of the problem if there is one;
otherwise with the derivative along one direction that NumPy computes alone: by a complex step (exact to rounding:
Squire and Trapp 1998), for second derivatives by differences of complex steps, and where a function takes no complex
numbers by differences. And it must agree with every entry of the first derivative that passed.
"""

from collections.abc import Callable

import adbench
import numpy as np
import problems
import trees

TOLERANCE = 1e-8
STEP = 1e-30
RATE = 0.01  # of the problems that take a step of training
CENTRAL = {1: 0.75, 2: -0.15, 3: 1 / 60}  # weights of the symmetric difference of sixth order


def flat(tree) -> np.ndarray:
    """Return all numbers of a result as one vector."""
    return np.concatenate([np.ravel(np.asarray(leaf)) for leaf in trees.leaves(tree)])


class Checker:
    """Checks what the tools compute for one case."""

    def __init__(self, problem: str, size, arguments: tuple):
        module = problems.load(problem)
        self.kind = problems.derivative_of(problem)
        self.value = flat(module.objective(*arguments))
        self.golden = module.golden(size) if hasattr(module, "golden") else None
        self.point = flat(arguments[0])
        self.direction = flat(problems.direction(arguments[0]))
        self.slope, self.accuracy = self.measured(module, arguments)
        self.first: np.ndarray | None = None

    def measured(self, module, arguments: tuple) -> tuple[np.ndarray | None, float]:
        """Return the derivative along the direction, computed by NumPy alone, and how far it can be trusted."""
        if self.golden is not None or self.kind in (None, "blocks"):
            return None, 0.0

        def along(t):
            moves = iter(trees.leaves(problems.direction(arguments[0])))
            moved = trees.map_leaves(lambda leaf: leaf + t * next(moves), arguments[0])
            return flat(module.objective(moved, *arguments[1:]))

        if not getattr(module, "ANALYTIC", True):
            return difference(along, 1e-5), 1e-6
        slope = lambda t: np.imag(along(t + 1j * STEP)) / STEP
        if self.kind in ("hessian", "hvp"):
            return difference(slope, 1e-3), 1e-7
        return slope(0.0), TOLERANCE

    def wrong(self, what: str, result) -> str | None:
        """Return in what way a function value or derivative is wrong, or None."""
        got = flat(result)
        if got.dtype != np.float64:
            return f"numbers of type {got.dtype}, not float64"
        if what == "function":
            return differs(got, self.value, "NumPy's value")
        if self.golden is not None:
            expected = np.ravel(self.golden[1])
            if got.shape != expected.shape:
                return f"{got.size} numbers, not {expected.size}"
            if not (error := adbench.error(got, expected)) <= adbench.TOLERANCE:
                return f"differs from the golden result by {error:.1e}"
        elif self.slope is not None:
            seen = self.seen(got)
            scale = max(float(np.linalg.norm(got) * np.linalg.norm(self.direction)) / seen.size**0.5, 1e-300)
            if not (error := float(np.linalg.norm(seen - self.slope)) / scale) <= self.accuracy:
                return f"differs from NumPy's own derivative along a direction by {error:.1e}"
        if self.first is None:
            self.first = got
        return differs(got, self.first, "the other tools'")

    def seen(self, got: np.ndarray) -> np.ndarray:
        """Return what a derivative says of the direction."""
        v = self.direction
        if self.kind == "jacobian":
            return got.reshape(-1, v.size) @ v
        if self.kind == "hessian":
            return np.atleast_1d(v @ got.reshape(v.size, v.size) @ v)
        if self.kind == "step":
            return np.atleast_1d((self.point - got) / RATE @ v)
        return np.atleast_1d(got @ v)


def difference(f: Callable, h: float) -> np.ndarray:
    """Return the derivative of f at 0 by a symmetric difference."""
    return sum(weight * (f(k * h) - f(-k * h)) for k, weight in CENTRAL.items()) / h


def differs(got: np.ndarray, expected: np.ndarray, whose: str) -> str | None:
    """Say how far two results are apart, if it is too far."""
    if got.shape != expected.shape:
        return f"{got.size} numbers, not {expected.size}"
    error = float(np.linalg.norm(got - expected) / max(np.linalg.norm(expected), 1e-300))
    return None if error <= TOLERANCE else f"differs from {whose} by {error:.1e}"
