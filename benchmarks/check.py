"""Are the gradients right? Speed is compared only between tools that compute the same numbers.

Each gradient must agree, to `TOLERANCE` relative to its size, with the derivative along a random direction v that NumPy
computes alone by a complex step, Im f(x + ihv) / h, exact to rounding as h underflows (Squire and Trapp 1998), and with
every entry of the first gradient that passed this test.
"""

import numpy as np
import problems
import trees

TOLERANCE = 1e-8
STEP = 1e-30


def flat(tree) -> np.ndarray:
    """Return all numbers of a gradient as one vector."""
    return np.concatenate([np.ravel(np.asarray(leaf)) for leaf in trees.leaves(tree)])


def disagreements(problem: str, arguments: tuple, gradients: dict) -> dict[str, str]:
    """Return, for each tool whose gradient is wrong, in what way it is."""
    random = np.random.default_rng(0)
    directions = [random.normal(size=np.shape(leaf)) for leaf in trees.leaves(arguments[0])]
    slope = complex_step(problem, arguments, directions)
    first = None
    wrong = {}
    for tool, gradient in gradients.items():
        g, v = flat(gradient), flat(directions)
        if g.dtype != np.float64 or g.shape != v.shape:
            wrong[tool] = f"{g.size} numbers of type {g.dtype}, not {v.size} of type float64"
            continue
        if slope is not None and not (error := abs(g @ v - slope) / norm(g) / norm(v)) <= TOLERANCE:
            wrong[tool] = f"differs from the complex step by {error:.1e}"
            continue
        first = g if first is None else first
        if not (error := norm(g - first) / norm(first)) <= TOLERANCE:
            wrong[tool] = f"differs from the other tools by {error:.1e}"
    return wrong


def complex_step(problem: str, arguments: tuple, directions: list) -> float | None:
    """Return the derivative along `directions`, or None if the problem takes no complex arguments."""
    module = problems.load(problem)
    if not getattr(module, "ANALYTIC", True):
        return None
    moves = iter(directions)
    moved = trees.map_leaves(lambda leaf: leaf + 1j * STEP * next(moves), arguments[0])
    return float(np.imag(module.objective(moved, *arguments[1:])) / STEP)


def norm(v: np.ndarray) -> float:
    """Return the Euclidean norm."""
    return float(np.linalg.norm(v))
