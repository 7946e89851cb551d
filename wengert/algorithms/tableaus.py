"""Coefficients of explicit Runge–Kutta methods, and of their interpolants.

Here rather than taken from SciPy's classes, as those of order eight are, since importing `scipy.integrate` takes longer
than integrating most systems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Tableau(NamedTuple):
    """A method as `ode.explicit` and its companions want it; the names are those of SciPy's classes."""

    A: np.ndarray
    """Row s has the weights of the slopes before stage s."""
    B: np.ndarray
    C: np.ndarray
    E: np.ndarray
    """The weights of the slopes in the estimated error, that at the new point among them."""
    P: np.ndarray
    """The solution inside a step: column j has the weights of the slopes in front of theta to the power j + 1."""
    error_estimator_order: int


RK23 = Tableau(
    np.array([[0, 0, 0], [1 / 2, 0, 0], [0, 3 / 4, 0]]),
    np.array([2 / 9, 1 / 3, 4 / 9]),
    np.array([0, 1 / 2, 3 / 4]),
    np.array([5 / 72, -1 / 12, -1 / 9, 1 / 8]),
    np.array([[1, -4 / 3, 5 / 9], [0, 1, -2 / 3], [0, 4 / 3, -8 / 9], [0, -1, 1]]),
    2,
)
"""Bogacki and Shampine 1989; inside a step the cubic polynomial with the slopes at both ends."""

RK45 = Tableau(
    np.array(
        [
            [0, 0, 0, 0, 0],
            [1 / 5, 0, 0, 0, 0],
            [3 / 40, 9 / 40, 0, 0, 0],
            [44 / 45, -56 / 15, 32 / 9, 0, 0],
            [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0],
            [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        ]
    ),
    np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]),
    np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1]),
    np.array([-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40]),
    np.array(
        [
            [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
            [0, 0, 0, 0],
            [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
            [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
            [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
            [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
            [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
        ]
    ),
    4,
)
"""Dormand and Prince 1980, with Shampine's interpolant of order four."""
