"""What programs may call: functions, classes and custom rules, the head of every program.

Names that start with `h_` are helpers, which a composition may compile on their own.
"""

HEAD = """import bisect
import cmath
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import heapq
import itertools
import math
import operator
from typing import Any, NamedTuple

import numpy as np
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.spatial
import scipy.special
import scipy.stats

import wengert as wg

K = np.array([2, 0, 3, 1, 2])
C = np.array([0.3, -0.6, 0.9, 1.4, -0.2, 0.7, 0.1, -1.1])
TABLE = (2, 0, 1)
BYTES = np.array([200, 100, 3], np.uint8)
LIST = [0.5, 1, -0.3]


class Step(NamedTuple):
    size: Any
    at: Any


@dataclasses.dataclass
class State:
    at: Any
    step: Any

    def advance(self, v):
        self.at = self.at + 0.1 * self.step * v
        self.step = 0.9 * self.step - 0.1 * np.mean(self.at)

    @property
    def energy(self):
        return np.sum(self.at**2) * 0.5 + self.step


class Spring:
    def __init__(self, k, rest):
        self.k, self.rest = k, rest

    def energy(self, u):
        return 0.5 * self.k * (u - self.rest) ** 2

    def __call__(self, u):
        return np.tanh(self.energy(u))


class Shift:
    def __init__(self, amount):
        self.amount = amount

    def by(self, u):
        if isinstance(u, np.ndarray) and u.ndim:
            return u + self.amount
        return math.sin(u) + self.amount


class Pair:
    def __init__(self, u, v):
        self.u, self.v = u, v

    def __add__(self, other):
        return Pair(self.u + other.u, self.v + other.v)

    def __mul__(self, c):
        return Pair(self.u * c, self.v * c)

    @property
    def total(self):
        return math.tanh(self.u) + self.v


class Grid:
    def __init__(self, size, start):
        self.u, self.old = np.zeros(size), np.zeros(size)
        self.u[:] = start
        self.turns = 0

    def step(self, v):
        self.u, self.old = self.old, self.u
        self.u[1:-1] = self.old[1:-1] + 0.2 * (self.old[:-2] - 2 * self.old[1:-1] + self.old[2:])
        self.u[0], self.u[-1] = v, self.old[-1]
        self.turns += 1

    def total(self):
        return np.sum(self.u * self.u) + 0.5 * self.old[0] + 0.1 * self.turns

    @property
    def level(self):
        return np.mean(self.u)

    @level.setter
    def level(self, v):
        self.u += v - np.mean(self.u)

    def __len__(self):
        return len(self.u)

    def __iter__(self):
        return iter(self.u)

    def __getitem__(self, i):
        return self.u[i]

    def __setitem__(self, i, v):
        self.u[i] = v


class Recorder:
    def __init__(self):
        self.items = []

    def add(self, u):
        self.items.append(u)
        return self

    def total(self):
        return sum(self.items)


@wg.custom_jvp
def soft(u):
    return np.log1p(np.exp(u))


@soft.defjvp
def soft_rule(primals, tangents):
    (u,), (u_dot,) = primals, tangents
    return soft(u), u_dot / (1.0 + np.exp(-u))


@wg.custom_jvp
def swish(u, v):
    return u * np.tanh(u * v)


@swish.defjvp
def swish_rule(primals, tangents):
    (u, v), (u_dot, v_dot) = primals, tangents
    h = np.tanh(u * v)
    return u * h, (h + u * v * (1 - h * h)) * u_dot + u * u * (1 - h * h) * v_dot


@wg.custom_vjp
def cube(u):
    return u * u * u


cube.defvjp(lambda u: (cube(u), u), lambda u, ct: (3 * u * u * ct,))


@wg.custom_vjp
def scaled(u, v):
    return np.sin(u) * v


def scaled_forward(u, v):
    return scaled(u, v), (u, v)


def scaled_backward(residuals, ct):
    u, v = residuals
    return in_kind(np.cos(u) * v * ct, u), in_kind(np.sum(np.sin(u) * ct), v)


def in_kind(cotangent, x):
    return cotangent if np.iscomplexobj(x) else np.real(cotangent)


scaled.defvjp(scaled_forward, scaled_backward)


@wg.implicit(lambda y, p: y**2 - p)
def solved(p):
    y = 1.0
    while abs(y * y - p) > 1e-12:
        y = (y + p / y) / 2
    return y


@wg.implicit(fixed_point=lambda y, p: 0.5 * np.cos(y) + p)
def settled(p):
    y = np.zeros_like(p)
    for _ in range(60):
        y = 0.5 * np.cos(y) + p
    return y


def h_clipped(u, v):
    if u > v:
        return v
    for i in range(5):
        if u * i < -1.0:
            return -v * u
    return u


def h_picked(z, j):
    if j < 0:
        return 0.5
    return z[j % len(z)] * 2.0


def h_mixed(u, v):
    return u * np.cos(v) + 0.5 * v


def h_double(u):
    return 2 * u


def h_powers(u, k):
    total, power = 0, 1
    for _ in range(k):
        power = power * u * 0.5
        total += power
    return total


def h_apply(g, u):
    return g(u) * 0.5 + g(0.5 * u)


def h_early(u, v):
    while u * u < 4.0:
        u = u * 1.5 + 0.3
        if u > v + 1.0:
            return u * 0.1
    return v * 0.5


def h_power(u, k):
    return 1.0 if k == 0 else u * h_power(u, k - 1)


def h_halves(z):
    if len(z) == 1:
        return np.sin(z[0])
    return h_halves(z[: len(z) // 2]) * 0.5 + h_halves(z[len(z) // 2 :])


def h_smooth(z):
    y = z.copy()
    y[1:] += 0.5 * z[:-1]
    y[0] = 1
    return y


def h_rows(z):
    y = np.zeros(z.shape)
    for i in range(len(z)):
        y[i] = np.sin(z[i]) * i
    return y


def h_twice(z):
    return np.concatenate([z, z])


def h_normal(z, axis=None):
    return z / (1.0 + np.sum(z * z, axis=axis, keepdims=True))


def h_bump(z, u):
    z[0] += u
    return z


def h_either(z, y):
    for i in range(5):
        if np.mean(z) > np.mean(y) * i:
            return y
        y[0] += 0.5
    z[0] += 1.0
    return z


def h_bumped_other(z, y):
    z[-1] += 1.0
    return y


def h_relax(z, u, turns=2):
    for _ in range(turns):
        z[1:] += 0.5 * z[:-1]
        z[0] = u
        z *= 0.7
    return z


def h_relaxed(z, u):
    return h_relax(z.copy(), u)


def h_spent(z):
    total = 0.0
    for i in range(len(z)):
        total += z[i]
        z[i] = 0.1 * i
    return np.tanh(total)


def h_exchange(z, y):
    k = min(len(z), len(y))
    z[:k], y[:k] = 0.5 * y[:k], 0.5 * z[:k]


def h_sink(z, u):
    for i in range(len(z)):
        if np.sum(z) > u:
            return i
        z[i] += 0.5
    return len(z)

"""
