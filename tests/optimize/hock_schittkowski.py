"""Programs of Hock and Schittkowski, *Test Examples for Nonlinear Programming Codes* (1981), by their numbers.

A program is a dict: `f(x, m)` and lists of what is zero (`equal`) and of what is not negative (`unequal`), in
arithmetic and functions of a module m (`numpy`, `casadi`), the start, bounds, and the optimal value as the book has it,
with more digits where they are known in closed form.
"""

from math import inf, pi, sqrt


def program(f, start, best, equal=None, unequal=None, low=-inf, high=inf):
    n = len(start)
    spread = lambda limit: [float(v) for v in limit] if isinstance(limit, (list, tuple)) else [float(limit)] * n
    return {"f": f, "start": [float(v) for v in start], "best": best, "equal": equal, "unequal": unequal,
            "low": spread(low), "high": spread(high)}  # fmt: skip


def valley(x, m):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def volume(x, m):
    return -x[0] * x[1] * x[2]


def product(x):
    return x[0] * x[1] * x[2] * x[3] * x[4]


def sphere_and_products(x, m):
    return [sum(x[k] ** 2 for k in range(5)) - 10, x[1] * x[2] - 5 * x[3] * x[4], x[0] ** 3 + x[1] ** 3 + 1]


ENERGIES = (-6.089, -17.164, -34.054, -5.914, -24.721, -14.986, -24.100, -10.708, -26.662, -22.179)


def equilibrium(x, m):
    total = sum(x[k] for k in range(10))
    return sum(x[k] * (c + m.log(x[k] / total)) for k, c in enumerate(ENERGIES))


def costs_of_feed(x, m):
    return 4.3 * x[0] + 31.8 * x[1] + 63.3 * x[2] + 15.8 * x[3] + 68.5 * x[4] + 4.7 * x[5]


def steep_rows(x, m):
    a, b, c, d, e, f = (x[k] for k in range(6))
    return [
        17.1 * a + 38.2 * b + 204.2 * c + 212.3 * d + 623.4 * e + 1495.5 * f - 169 * a * c - 3580 * c * e
        - 3810 * d * e - 18500 * d * f - 24300 * e * f - 32.97,
        17.9 * a + 36.8 * b + 113.9 * c + 169.7 * d + 337.8 * e + 1385.2 * f - 139 * a * c - 2450 * d * e
        - 16600 * d * f - 17200 * e * f - 25.12,
        -273 * b - 70 * d - 819 * e + 26000 * d * e + 29.08,
        159.9 * a - 311 * b + 587 * d + 391 * e + 2198 * f - 14000 * a * f + 78.02,
    ]  # fmt: skip


PROGRAMS = {
    5: program(lambda x, m: m.sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1, [0, 0],
               -sqrt(3) / 2 - pi / 3, low=[-1.5, -3], high=[4, 3]),
    7: program(lambda x, m: m.log(1 + x[0] ** 2) - x[1], [2, 2], -sqrt(3),
               equal=lambda x, m: [(1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4]),
    9: program(lambda x, m: m.sin(pi * x[0] / 12) * m.cos(pi * x[1] / 16), [0, 0], -0.5,
               equal=lambda x, m: [4 * x[0] - 3 * x[1]]),
    11: program(lambda x, m: (x[0] - 5) ** 2 + x[1] ** 2 - 25, [4.9, 0.1], -8.498464223,
                unequal=lambda x, m: [-x[0] ** 2 + x[1]]),
    13: program(lambda x, m: (x[0] - 2) ** 2 + x[1] ** 2, [-2, -2], 1.0, low=0,
                unequal=lambda x, m: [(1 - x[0]) ** 3 - x[1]]),
    15: program(valley, [-2, 1], 306.5, unequal=lambda x, m: [x[0] * x[1] - 1, x[0] + x[1] ** 2], high=[0.5, inf]),
    19: program(lambda x, m: (x[0] - 10) ** 3 + (x[1] - 20) ** 3, [20.1, 5.84], -6961.813876,
                unequal=lambda x, m: [(x[0] - 5) ** 2 + (x[1] - 5) ** 2 - 100,
                                      -((x[1] - 5) ** 2) - (x[0] - 6) ** 2 + 82.81], low=[13, 0], high=100),
    22: program(lambda x, m: (x[0] - 2) ** 2 + (x[1] - 1) ** 2, [2, 2], 1.0,
                unequal=lambda x, m: [-x[0] - x[1] + 2, -x[0] ** 2 + x[1]]),
    23: program(lambda x, m: x[0] ** 2 + x[1] ** 2, [3, 1], 2.0, low=-50, high=50,
                unequal=lambda x, m: [x[0] + x[1] - 1, x[0] ** 2 + x[1] ** 2 - 1, 9 * x[0] ** 2 + x[1] ** 2 - 9,
                                      x[0] ** 2 - x[1], x[1] ** 2 - x[0]]),
    27: program(lambda x, m: 0.01 * (x[0] - 1) ** 2 + (x[1] - x[0] ** 2) ** 2, [2, 2, 2], 0.04,
                equal=lambda x, m: [x[0] + x[2] ** 2 + 1]),
    29: program(volume, [1, 1, 1], -16 * sqrt(2),
                unequal=lambda x, m: [-x[0] ** 2 - 2 * x[1] ** 2 - 4 * x[2] ** 2 + 48]),
    32: program(lambda x, m: (x[0] + 3 * x[1] + x[2]) ** 2 + 4 * (x[0] - x[1]) ** 2, [0.1, 0.7, 0.2], 1.0, low=0,
                equal=lambda x, m: [1 - x[0] - x[1] - x[2]],
                unequal=lambda x, m: [6 * x[1] + 4 * x[2] - x[0] ** 3 - 3]),
    35: program(lambda x, m: 9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + 2 * x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2
                + 2 * x[0] * x[1] + 2 * x[0] * x[2], [0.5] * 3, 1 / 9, low=0,
                unequal=lambda x, m: [3 - x[0] - x[1] - 2 * x[2]]),
    36: program(volume, [10] * 3, -3300.0, unequal=lambda x, m: [72 - x[0] - 2 * x[1] - 2 * x[2]], low=0,
                high=[20, 11, 42]),
    37: program(volume, [10] * 3, -3456.0, low=0, high=42,
                unequal=lambda x, m: [72 - x[0] - 2 * x[1] - 2 * x[2], x[0] + 2 * x[1] + 2 * x[2]]),
    39: program(lambda x, m: -x[0], [2] * 4, -1.0,
                equal=lambda x, m: [x[1] - x[0] ** 3 - x[2] ** 2, x[0] ** 2 - x[1] - x[3] ** 2]),
    41: program(lambda x, m: 2 - x[0] * x[1] * x[2], [2] * 4, 52 / 27, low=0, high=[1, 1, 1, 2],
                equal=lambda x, m: [x[0] + 2 * x[1] + 2 * x[2] - x[3]]),
    42: program(lambda x, m: sum((x[k] - k - 1) ** 2 for k in range(4)), [1] * 4, 28 - 10 * sqrt(2),
                equal=lambda x, m: [x[0] - 2, x[2] ** 2 + x[3] ** 2 - 2]),
    46: program(lambda x, m: (x[0] - x[1]) ** 2 + (x[2] - 1) ** 2 + (x[3] - 1) ** 4 + (x[4] - 1) ** 6,
                [sqrt(2) / 2, 1.75, 0.5, 2, 2], 0.0,
                equal=lambda x, m: [x[0] ** 2 * x[3] + m.sin(x[3] - x[4]) - 1, x[1] + x[2] ** 4 * x[3] ** 2 - 2]),
    48: program(lambda x, m: (x[0] - 1) ** 2 + (x[1] - x[2]) ** 2 + (x[3] - x[4]) ** 2, [3, 5, -3, 2, -2], 0.0,
                equal=lambda x, m: [sum(x[k] for k in range(5)) - 5, x[2] - 2 * (x[3] + x[4]) + 3]),
    50: program(lambda x, m: (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 2 + (x[2] - x[3]) ** 4 + (x[3] - x[4]) ** 2,
                [35, -31, 11, 5, -5], 0.0,
                equal=lambda x, m: [x[k] + 2 * x[k + 1] + 3 * x[k + 2] - 6 for k in range(3)]),
    51: program(lambda x, m: (x[0] - x[1]) ** 2 + (x[1] + x[2] - 2) ** 2 + (x[3] - 1) ** 2 + (x[4] - 1) ** 2,
                [2.5, 0.5, 2, -1, 0.5], 0.0,
                equal=lambda x, m: [x[0] + 3 * x[1] - 4, x[2] + x[3] - 2 * x[4], x[1] - x[4]]),
    61: program(lambda x, m: 4 * x[0] ** 2 + 2 * x[1] ** 2 + 2 * x[2] ** 2 - 33 * x[0] + 16 * x[1] - 24 * x[2], [0] * 3,
                -143.6461422, equal=lambda x, m: [3 * x[0] - 2 * x[1] ** 2 - 7, 4 * x[0] - x[2] ** 2 - 11]),
    65: program(lambda x, m: (x[0] - x[1]) ** 2 + (x[0] + x[1] - 10) ** 2 / 9 + (x[2] - 5) ** 2, [-5, 5, 0],
                0.9535288567, unequal=lambda x, m: [48 - x[0] ** 2 - x[1] ** 2 - x[2] ** 2], low=[-4.5, -4.5, -5],
                high=[4.5, 4.5, 5]),
    66: program(lambda x, m: 0.2 * x[2] - 0.8 * x[0], [0, 1.05, 2.9], 0.5181632741, low=0, high=[100, 100, 10],
                unequal=lambda x, m: [x[1] - m.exp(x[0]), x[2] - m.exp(x[1])]),
    71: program(lambda x, m: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2], [1, 5, 5, 1], 17.0140173, low=1, high=5,
                equal=lambda x, m: [x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + x[3] ** 2 - 40],
                unequal=lambda x, m: [x[0] * x[1] * x[2] * x[3] - 25]),
    72: program(lambda x, m: 1 + x[0] + x[1] + x[2] + x[3], [1] * 4, 727.67937, low=0.001, high=[4e5, 3e5, 2e5, 1e5],
                unequal=lambda x, m: [0.0401 - 4 / x[0] - 2.25 / x[1] - 1 / x[2] - 0.25 / x[3],
                                      0.010085 - 0.16 / x[0] - 0.36 / x[1] - 0.64 / x[2] - 0.64 / x[3]]),
    73: program(lambda x, m: 24.55 * x[0] + 26.75 * x[1] + 39 * x[2] + 40.5 * x[3], [1] * 4, 29.89437816, low=0,
                equal=lambda x, m: [x[0] + x[1] + x[2] + x[3] - 1],
                unequal=lambda x, m: [2.3 * x[0] + 5.6 * x[1] + 11.1 * x[2] + 1.3 * x[3] - 5,
                                      12 * x[0] + 11.9 * x[1] + 41.8 * x[2] + 52.1 * x[3] - 21 - 1.645
                                      * m.sqrt(0.28 * x[0] ** 2 + 0.19 * x[1] ** 2 + 20.5 * x[2] ** 2
                                               + 0.62 * x[3] ** 2)]),
    76: program(lambda x, m: x[0] ** 2 + 0.5 * x[1] ** 2 + x[2] ** 2 + 0.5 * x[3] ** 2 - x[0] * x[2] + x[2] * x[3]
                - x[0] - 3 * x[1] + x[2] - x[3], [0.5] * 4, -4.681818181, low=0,
                unequal=lambda x, m: [5 - x[0] - 2 * x[1] - x[2] - x[3], 4 - 3 * x[0] - x[1] - 2 * x[2] + x[3],
                                      x[1] + 4 * x[2] - 1.5]),
    78: program(lambda x, m: product(x), [-2, 1.5, 2, -1, -1], -2.91970041, equal=sphere_and_products),
    80: program(lambda x, m: m.exp(product(x)), [-2, 2, 2, -1, -1], 0.0539498478, equal=sphere_and_products,
                low=[-2.3, -2.3, -3.2, -3.2, -3.2], high=[2.3, 2.3, 3.2, 3.2, 3.2]),
    97: program(costs_of_feed, [0] * 6, 3.1358091, unequal=steep_rows, low=0,
                high=[0.31, 0.046, 0.068, 0.042, 0.028, 0.0134]),
    112: program(equilibrium, [0.1] * 10, -47.76109026, low=1e-6,
                 equal=lambda x, m: [x[0] + 2 * x[1] + 2 * x[2] + x[5] + x[9] - 2, x[3] + 2 * x[4] + x[5] + x[6] - 1,
                                     x[2] + x[6] + x[7] + 2 * x[8] + x[9] - 1]),
}  # fmt: skip
