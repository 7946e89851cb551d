"""A program as users write it. Type checkers read it (`test_typing.py`); `assert_type` says what they must find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import wengert as wg

Array = NDArray[np.float64]


def loss(w: Array, x: Array, *, scale: float = 1.0) -> float:
    return float(np.sum((w * x) ** 2)) * scale


def residuals(w: Array, x: Array) -> Array:
    return np.asarray(w * x - 1.0)


def with_aux(w: Array, x: Array) -> tuple[float, dict[str, Array]]:
    return float(np.sum(w * x)), {"w": w}


def wave(t: float) -> float:
    return t**2


@dataclass
class Params:
    w: Array
    b: float


def model(p: Params, x: Array) -> float:
    return float(np.sum(p.w * x)) + p.b


w, x = np.ones(3), np.arange(3.0)

assert_type(wg.grad(loss)(w, x), Array)
assert_type(wg.grad(loss)(w, x, scale=2.0), Array)
assert_type(wg.grad(wave)(1.0), float)
assert_type(wg.grad(model)(Params(w, 0.0), x), Params)
second: float = wg.grad(wg.grad(wave))(1.0)
assert_type(wg.value_and_grad(loss)(w, x), tuple[float, Array])
assert_type(wg.grad(with_aux, has_aux=True)(w, x), tuple[Array, dict[str, Array]])
assert_type(wg.value_and_grad(with_aux, has_aux=True)(w, x), tuple[tuple[float, dict[str, Array]], Array])
both = wg.grad(loss, argnums=(0, 1))(w, x)

fast = wg.jit(loss)
assert_type(fast(w, x), float)
assert_type(fast(w, x, scale=3.0), float)
assert_type(wg.jit(wg.grad(loss))(w, x), Array)
assert_type(wg.grad(wg.jit(loss))(w, x), Array)
assert_type(fast.lower(w, x).ir, str)


@wg.jit
def step(w: Array, rate: float = 0.1) -> Array:
    return np.asarray(w - rate * w)


@wg.jit(static_argnames="n")
def power(x: Array, n: int) -> Array:
    return np.asarray(x**n)


assert_type(step(w, rate=0.2), Array)
assert_type(power(x, n=2), Array)


class Model:
    def __init__(self, w: Array) -> None:
        self.w = w

    @wg.jit
    def predict(self, x: Array) -> Array:
        return np.asarray(self.w * x)


assert_type(Model(w).predict(x), Array)

jacobian: Array = wg.jacobian(residuals)(w, x)
jacobian = wg.jacfwd(residuals)(w, x)
jacobian = wg.jacrev(residuals)(w, x)
curvature: Array = wg.hessian(loss)(w, x)
assert_type(wg.hvp(loss)(w, x, w), Array)
assert_type(wg.jvp(residuals, (w, x), (w, x)), tuple[Array, Array])
value, pullback = wg.vjp(residuals, w, x)
assert_type(value, Array)
cotangents: tuple[Any, ...] = pullback(value)
y, J = wg.linearize(residuals, w, x)
assert_type(y, Array)
dense: Array = J.dense()
many: NDArray[Any] = wg.vmap(wave)(np.arange(3.0))


@wg.custom_jvp
def softplus(x: Array) -> Array:
    return np.asarray(np.log1p(np.exp(x)))


@softplus.defjvp
def rule(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (x_dot,) = primals, tangents
    return softplus(x), np.asarray(x_dot / (1 + np.exp(-x)))


assert_type(softplus(x), Array)


def descend(f: Callable[[Array], float], start: Array, rate: float) -> Array:
    gradient = wg.jit(wg.grad(f))
    for _ in range(3):
        start = start - rate * gradient(start)
    return start


def newton(f: Callable[[Array], float], start: Array) -> Array:
    return start - np.linalg.solve(wg.hessian(f)(start), wg.grad(f)(start))


result: Array = descend(lambda w: loss(w, x), w, 0.1)
slope = wg.grad(lambda t: t**2)(3.0)
compiled = wg.jit(lambda t: t**2)(3.0)
batch = wg.vmap(lambda t: t**2)(np.ones(3))
matrix = wg.jacobian(lambda t: t**2)(np.ones(3))
again = wg.jit(wg.grad(lambda t: t**2))(3.0)
