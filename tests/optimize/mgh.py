"""The test problems of Moré, Garbow and Hillstrom (ACM Trans. Math. Softw. 7, 1981), written from the mathematics.

A problem is its residuals as a plain function of a vector, the standard start, and the sums of squares at known local
minima, infima at infinity included. Problems 1 to 35, by number.
"""

from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    name: str
    residuals: object
    start: np.ndarray
    minima: tuple = (0.0,)


def vector(*parts):
    return np.stack(parts)


def pairs(a, b):
    """Two vectors, element by element."""
    return np.stack([a, b], axis=1).ravel()


def rosenbrock(x):
    return pairs(10 * (x[1::2] - x[::2] ** 2), 1 - x[::2])


def freudenstein_roth(x):
    a, b = x
    return vector(-13 + a + ((5 - b) * b - 2) * b, -29 + a + ((b + 1) * b - 14) * b)


def powell_badly_scaled(x):
    return vector(1e4 * x[0] * x[1] - 1, np.exp(-x[0]) + np.exp(-x[1]) - 1.0001)


def brown_badly_scaled(x):
    return vector(x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2)


def beale(x):
    return np.array([1.5, 2.25, 2.625]) - x[0] * (1 - x[1] ** np.arange(1, 4))


def jennrich_sampson(x):
    i = np.arange(1, 11)
    return 2 + 2 * i - (np.exp(i * x[0]) + np.exp(i * x[1]))


def helical_valley(x):
    theta = np.arctan(x[1] / x[0]) / (2 * np.pi) + np.where(x[0] < 0, 0.5, 0.0)
    return vector(10 * (x[2] - 10 * theta), 10 * (np.sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2])


BARD = np.array([0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39])


def bard(x):
    u = np.arange(1, 16)
    v = 16 - u
    return BARD - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))


GAUSSIAN = np.array([0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989])
GAUSSIAN = np.concatenate([GAUSSIAN, GAUSSIAN[-2::-1]])


def gaussian(x):
    t = (8 - np.arange(1, 16)) / 2
    return x[0] * np.exp(-x[1] * (t - x[2]) ** 2 / 2) - GAUSSIAN


MEYER = np.array([34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744,
                  8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872.0])  # fmt: skip


def meyer(x):
    return x[0] * np.exp(x[1] / (45 + 5 * np.arange(1, 17) + x[2])) - MEYER


def gulf(x):
    t = np.arange(1, 100) / 100
    y = 25 + (-50 * np.log(t)) ** (2 / 3)
    return np.exp(-(np.abs(y - x[1]) ** x[2]) / x[0]) - t


def box(x):
    t = np.arange(1, 11) / 10
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))


def powell_singular(x):
    a, b, c, d = x[::4], x[1::4], x[2::4], x[3::4]
    return np.concatenate([a + 10 * b, np.sqrt(5) * (c - d), (b - 2 * c) ** 2, np.sqrt(10) * (a - d) ** 2])


def wood(x):
    a, b, c, d = x
    return vector(10 * (b - a**2), 1 - a, np.sqrt(90) * (d - c**2), 1 - c,
                  np.sqrt(10) * (b + d - 2), (b - d) / np.sqrt(10))  # fmt: skip


KOWALIK = np.array([0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
KOWALIK_U = np.array([4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])


def kowalik_osborne(x):
    u = KOWALIK_U
    return KOWALIK - x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])


def brown_dennis(x):
    t = np.arange(1, 21) / 5
    return (x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2


OSBORNE = np.array([844, 908, 932, 936, 925, 908, 881, 850, 818, 784, 751, 718, 685, 658, 628, 603, 580, 558, 538, 522,
                    506, 490, 478, 467, 457, 448, 438, 431, 424, 420, 414, 411, 406]) / 1000  # fmt: skip


def osborne(x):
    t = 10 * np.arange(33)
    return OSBORNE - (x[0] + x[1] * np.exp(-t * x[3]) + x[2] * np.exp(-t * x[4]))


def biggs(x):
    t = np.arange(1, 14) / 10
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)
    return x[2] * np.exp(-t * x[0]) - x[3] * np.exp(-t * x[1]) + x[5] * np.exp(-t * x[4]) - y


def watson(x):
    j = np.arange(len(x))
    t = np.arange(1, 30)[:, None] / 29
    slope = (j[1:] * t ** (j[1:] - 1.0)) @ x[1:]
    rest = slope - (t**j @ x) ** 2 - 1
    return np.concatenate([rest, vector(x[0], x[1] - x[0] ** 2 - 1)])


def penalty(x):
    return np.append(np.sqrt(1e-5) * (x - 1), np.sum(x**2) - 0.25)


def penalty_two(x):
    n = len(x)
    i = np.arange(2, n + 1)
    y = np.exp(i / 10) + np.exp((i - 1) / 10)
    e = np.exp(x / 10)
    return np.concatenate([vector(x[0] - 0.2), np.sqrt(1e-5) * (e[1:] + e[:-1] - y),
                           np.sqrt(1e-5) * (e[1:] - np.exp(-0.1)),
                           vector(np.sum(np.arange(n, 0, -1) * x**2) - 1)])  # fmt: skip


def variably_dimensioned(x):
    total = np.arange(1, len(x) + 1) @ (x - 1)
    return np.concatenate([x - 1, vector(total, total**2)])


def trigonometric(x):
    n = len(x)
    return n - np.sum(np.cos(x)) + np.arange(1, n + 1) * (1 - np.cos(x)) - np.sin(x)


def brown_almost_linear(x):
    n = len(x)
    return np.append(x[:-1] + np.sum(x) - (n + 1), np.prod(x) - 1)


def boundary_value(x):
    n = len(x)
    h = 1 / (n + 1)
    t = h * np.arange(1, n + 1)
    padded = np.concatenate([np.zeros(1), x, np.zeros(1)])
    return 2 * x - padded[:-2] - padded[2:] + h**2 * (x + t + 1) ** 3 / 2


def integral_equation(x):
    n = len(x)
    h = 1 / (n + 1)
    t = h * np.arange(1, n + 1)
    cubes = (x + t + 1) ** 3
    kernel = np.where(t[:, None] >= t, (1 - t[:, None]) * t, t[:, None] * (1 - t))
    return x + h * (kernel @ cubes) / 2


def broyden_tridiagonal(x):
    padded = np.concatenate([np.zeros(1), x, np.zeros(1)])
    return (3 - 2 * x) * x - padded[:-2] - 2 * padded[2:] + 1


def broyden_banded(x):
    i = np.arange(len(x))
    near = (i <= i[:, None] + 1) & (i >= i[:, None] - 5) & (i != i[:, None])
    return x * (2 + 5 * x**2) + 1 - near @ (x * (1 + x))


def linear_full_rank(x):
    m, n = 20, len(x)
    return np.concatenate([x, np.zeros(m - n)]) - 2 / m * np.sum(x) - 1


def linear_rank_one(x):
    return np.arange(1, 21) * (np.arange(1, len(x) + 1) @ x) - 1


def linear_rank_one_with_zeros(x):
    n = len(x)
    inner = np.arange(1, 19) * (np.arange(2, n) @ x[1:-1]) - 1
    return np.concatenate([-np.ones(1), inner, -np.ones(1)])


def chebyquad(x):
    z = 2 * x - 1
    before, now = np.ones_like(z), z
    means = []
    for i in range(1, len(x) + 1):
        means.append(np.mean(now) + (1 / (i**2 - 1) if i % 2 == 0 else 0.0))
        before, now = now, 2 * z * now - before
    return np.stack(means)


_TEN = np.arange(1, 11) / 11

PROBLEMS = [
    Problem("Rosenbrock", rosenbrock, np.array([-1.2, 1])),
    Problem("Freudenstein and Roth", freudenstein_roth, np.array([0.5, -2]), (0.0, 48.98425368)),
    Problem("Powell badly scaled", powell_badly_scaled, np.array([0.0, 1])),
    Problem("Brown badly scaled", brown_badly_scaled, np.ones(2)),
    Problem("Beale", beale, np.ones(2)),
    Problem("Jennrich and Sampson", jennrich_sampson, np.array([0.3, 0.4]), (124.36218,)),
    Problem("Helical valley", helical_valley, np.array([-1.0, 0, 0])),
    Problem("Bard", bard, np.ones(3), (8.2148773e-3, 17.42869)),
    Problem("Gaussian", gaussian, np.array([0.4, 1, 0]), (1.127933e-8,)),
    Problem("Meyer", meyer, np.array([0.02, 4000, 250]), (87.945855,)),
    Problem("Gulf research and development", gulf, np.array([5, 2.5, 0.15])),
    Problem("Box three-dimensional", box, np.array([0.0, 10, 20])),
    Problem("Powell singular", powell_singular, np.array([3.0, -1, 0, 1])),
    Problem("Wood", wood, np.array([-3.0, -1, -3, -1])),
    Problem("Kowalik and Osborne", kowalik_osborne, np.array([0.25, 0.39, 0.415, 0.39]), (3.0750561e-4, 1.02734e-3)),
    Problem("Brown and Dennis", brown_dennis, np.array([25.0, 5, -5, -1]), (85822.2016,)),
    Problem("Osborne 1", osborne, np.array([0.5, 1.5, -1, 0.01, 0.02]), (5.4648947e-5,)),
    Problem("Biggs EXP6", biggs, np.array([1.0, 2, 1, 1, 1, 1]), (0.0, 5.6556499e-3)),
    Problem("Watson, 6 unknowns", watson, np.zeros(6), (2.2876701e-3,)),
    Problem("Watson, 9 unknowns", watson, np.zeros(9), (1.39976e-6,)),
    Problem("Extended Rosenbrock", rosenbrock, np.tile([-1.2, 1], 10)),
    Problem("Extended Powell singular", powell_singular, np.tile([3.0, -1, 0, 1], 5)),
    Problem("Penalty I", penalty, np.arange(1.0, 11), (7.0876515e-5,)),
    Problem("Penalty II", penalty_two, np.full(10, 0.5), (2.9366054e-4,)),
    Problem("Variably dimensioned", variably_dimensioned, 1 - np.arange(1, 11) / 10),
    Problem("Trigonometric", trigonometric, np.full(10, 0.1), (0.0, 2.79506e-5, 4.2186339e-5)),
    Problem("Brown almost-linear", brown_almost_linear, np.full(10, 0.5), (0.0, 1.0)),
    Problem("Discrete boundary value", boundary_value, _TEN * (_TEN - 1)),
    Problem("Discrete integral equation", integral_equation, _TEN * (_TEN - 1)),
    Problem("Broyden tridiagonal", broyden_tridiagonal, -np.ones(10)),
    Problem("Broyden banded", broyden_banded, -np.ones(10)),
    Problem("Linear, full rank", linear_full_rank, np.ones(5), (15.0,)),
    Problem("Linear, rank one", linear_rank_one, np.ones(5), (20 * 19 / (2 * 41),)),
    Problem("Linear, rank one with zeros", linear_rank_one_with_zeros, np.ones(5), (6.135135135135135,)),
    Problem("Chebyquad, 8 unknowns", chebyquad, np.arange(1, 9) / 9, (3.5168737e-3,)),
    Problem("Chebyquad, 9 unknowns", chebyquad, np.arange(1, 10) / 10),
]
"""Without number 19 (Osborne 2), for its 65 data."""
