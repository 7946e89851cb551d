"""Parameters that are no plain numbers: unit quaternions, rotations, rigid motions, points of a sphere, or the user's
own.

A manifold is a retraction: a function that takes a point x and a short vector d to a point of the manifold, with
`retract(x, 0) == x`. Least squares are solved for d, whose length is the dimension of the manifold, and x moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.algorithms import retractions
from wengert.api.vmap import vmap
from wengert.errors import MismatchError
from wengert.solvers.fitting import followed


@dataclass(frozen=True)
class Manifold:
    """A manifold: how to move on it, and by how many numbers.

    Args:
        retract: `retract(x, d)` takes a point, along the vector d, to a point; `retract(x, 0)` is x.
        dimension: the length of d.
        shape: that of a point. An array of unknowns with more axes holds one point for each index of these; `None`
            if it is one point, whatever its shape.

    >>> import numpy as np
    >>> from wengert import optimize
    >>> circle = optimize.Manifold(lambda x, d: np.array([np.cos(d[0]) * x[0] - np.sin(d[0]) * x[1],
    ...                                                   np.sin(d[0]) * x[0] + np.cos(d[0]) * x[1]]), 1, (2,))
    >>> found = optimize.least_squares(lambda x: x - np.array([3.0, 4.0]), np.array([1.0, 0.0]), manifold=circle)
    >>> found.x.round(6)
    array([0.6, 0.8])
    """

    retract: Callable[[Any, Any], Any]
    dimension: int
    shape: tuple[int, ...] | None = None
    batched: bool = False
    """Whether `retract` itself takes leading axes."""
    off: Callable[[Any], Any] | None = None
    """How far an array is from being points of the manifold; zero for such."""

    def leading(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The axes of an array of points that come before those of a point."""
        if self.shape is None:
            return ()
        count = len(shape) - len(self.shape)
        if count < 0 or shape[count:] != self.shape:
            raise MismatchError(
                f"a point of this manifold is an array of shape {self.shape}, not {shape}",
                remedy="start from such arrays; axes before these are for several points",
            )
        return shape[:count]

    def move(self, x: Any, d: Any) -> Any:
        """The points x, each moved along its vector in d."""
        function = followed(self.retract)
        for _ in range(0 if self.batched or self.shape is None else len(x.shape) - len(self.shape)):
            function = vmap(function)
        return function(x, d)


def _no_rotation(x: np.ndarray) -> Any:
    skew = np.max(np.abs(np.swapaxes(x, -1, -2) @ x - np.eye(3)), initial=0.0)
    return np.maximum(skew, np.max(np.abs(np.linalg.det(x) - 1), initial=0.0))  # no reflection either


def _no_pose(x: np.ndarray) -> Any:
    last = np.max(np.abs(x[..., 3, :] - np.array([0.0, 0.0, 0.0, 1.0])), initial=0.0)
    return np.maximum(_no_rotation(x[..., :3, :3]), last)


unit_quaternion = Manifold(
    retractions.of_quaternion, 3, (4,), True, lambda x: np.max(np.abs(np.sum(x * x, axis=-1) - 1), initial=0.0)
)
"""Rotations as unit quaternions (w, x, y, z)."""
SO3 = Manifold(retractions.of_rotation, 3, (3, 3), True, _no_rotation)
"""Rotation matrices."""
SE3 = Manifold(retractions.of_pose, 6, (4, 4), True, _no_pose)
"""Rigid motions as 4 × 4 matrices."""


def sphere(n: int) -> Manifold:
    """Vectors of length n that keep their norm; directions, if it is one.

    >>> sphere(3).dimension
    2
    """
    return Manifold(retractions.on_sphere, n - 1, (n,), True)


NAMED = {
    "unit-quaternion": unit_quaternion,
    "quaternion": unit_quaternion,
    "so3": SO3,
    "so(3)": SO3,
    "se3": SE3,
    "se(3)": SE3,
}


_ON = 1e-6
"""As exactly as that a start has to be on its manifold: what is off by more stays off."""


def demand_on(manifold: Manifold, x: np.ndarray) -> None:
    """Refuse a start that is no point of the manifold, since what is reached from there is none either."""
    with np.errstate(invalid="ignore"):
        off = 0.0 if manifold.off is None else float(manifold.off(x))
    if not off <= _ON:
        name = next((repr(n) for n, named in NAMED.items() if named is manifold), "the manifold")
        raise MismatchError(
            f"the start is not on {name}, from which it is off by {off:.2g}",
            remedy="start from a quaternion divided by its norm, or from a rotation matrix, such as np.eye(3) or "
            "scipy.spatial.transform.Rotation's as_matrix()",
        )


def manifold_of(given: Any, shape: tuple[int, ...]) -> Manifold | None:
    """The manifold that a user means for an array of this shape."""
    if given is None or isinstance(given, Manifold):
        return given
    if isinstance(given, str):
        name = given.lower().replace("_", "-").replace(" ", "-")
        if name in ("euclidean", "none"):
            return None
        if name == "sphere" and shape:
            return sphere(shape[-1])
        if name in NAMED:
            return NAMED[name]
        raise MismatchError(
            f"there is no manifold named {given!r}",
            remedy=f'say "sphere", {", ".join(repr(n) for n in NAMED if "(" not in n)}, '
            "or give Manifold(retract, dimension)",
        )
    if isinstance(given, tuple) and len(given) == 2 and callable(given[0]):
        return Manifold(given[0], int(given[1]))
    raise MismatchError(f"{given!r} is no manifold", remedy="give Manifold(retract, dimension), or the name of one")
