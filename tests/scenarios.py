"""Natural programs with their answers: one function each, run through every operator by `test_scenarios.py`.

Answers are found without automatic differentiation: in closed form, by mpmath, or by the complex step (exact to
rounding, for programs of analytic operations). The Hessian of a scenario whose gradient has no closed form comes from
differences of the complex-step gradient.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import mpmath
import numpy as np

from wengert.tree import flatten, unflatten


@dataclass
class Scenario:
    """A scalar function of one argument (any container), a point, and its derivatives there, flattened."""

    name: str
    f: Callable
    x: Any
    gradient: np.ndarray
    hessian: np.ndarray
    rtol: float = 1e-11
    """How well the reference Hessian is known; the gradient always is to rounding."""

    @property
    def leaves(self) -> list:
        return flatten(self.x)[0]

    def ravel(self, container: Any) -> np.ndarray:
        """The numbers of a container like the argument, in one vector."""
        return np.concatenate([np.ravel(leaf) for leaf in flatten(container)[0]])

    def unravel(self, vector: np.ndarray) -> Any:
        """A vector in the containers of the argument."""
        return _unravel(self.x, vector)


def _unravel(like: Any, vector: np.ndarray) -> Any:
    leaves, structure = flatten(like)
    parts, start = [], 0
    for leaf in leaves:
        size = int(np.size(leaf))
        parts.append(np.reshape(vector[start : start + size], np.shape(leaf))[()])
        start += size
    return unflatten(structure, parts)


def by_complex_step(name: str, f: Callable, x: Any) -> Scenario:
    """A scenario whose answers are computed by complex steps, and differences of them."""
    point = np.concatenate([np.ravel(leaf) for leaf in flatten(x)[0]])

    def gradient(point: np.ndarray) -> np.ndarray:
        h = 1e-100
        return np.array([np.imag(f(_unravel(x, point + 1j * h * e))) / h for e in np.eye(len(point))])

    def row(e: np.ndarray) -> np.ndarray:
        """Central differences of the exact gradient, extrapolated twice (Romberg)."""
        d = [(gradient(point + h * e) - gradient(point - h * e)) / (2 * h) for h in (4e-3, 2e-3, 1e-3)]
        once = [(4 * b - a) / 3 for a, b in itertools.pairwise(d)]
        return (16 * once[1] - once[0]) / 15

    return Scenario(name, f, x, gradient(point), np.array([row(e) for e in np.eye(len(point))]), rtol=1e-7)


# ---------------------------------------------------------------------------------------------- the survey's example


def helmholtz_energy(x: Any, R: float = 8.314, T: float = 3.0) -> Any:
    """Helmholtz energy of a mixed fluid by the Peng-Robinson equation (Baydin et al. 2018, Table 5)."""
    n = len(x)
    A = 1.0 / (1.0 + np.arange(n)[:, None] + np.arange(n))
    b = 0.1 + 0.01 * np.arange(n)
    bx = b @ x
    return R * T * np.sum(np.log(x / (1 - bx))) - x @ A @ x / (np.sqrt(8) * bx) * np.log(
        (1 + (1 + np.sqrt(2)) * bx) / (1 + (1 - np.sqrt(2)) * bx)
    )


# ---------------------------------------------------------------------------------------------------- classical tests


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def _rosenbrock() -> Scenario:
    x = np.array([-1.2, 1.0, 0.7, 1.5])
    n = len(x)
    g, H = np.zeros(n), np.zeros((n, n))
    for i in range(n - 1):
        a, b = x[i], x[i + 1]
        g[i] += -400 * a * (b - a * a) - 2 * (1 - a)
        g[i + 1] += 200 * (b - a * a)
        H[i, i] += 1200 * a * a - 400 * b + 2
        H[i, i + 1] += -400 * a
        H[i + 1, i] += -400 * a
        H[i + 1, i + 1] += 200
    return Scenario("Rosenbrock, by slices", rosenbrock, x, g, H)


def logistic_map(x: Any) -> Any:
    """x ← 4x(1 − x), four times: the survey's running example, a polynomial of degree 16."""
    for _ in range(4):
        x = 4 * x * (1 - x)
    return x


def _logistic_map() -> Scenario:
    """With x = sin²θ the iterate is sin²(16θ); its derivatives by mpmath."""
    f = lambda x: mpmath.sin(16 * mpmath.asin(mpmath.sqrt(x))) ** 2
    with mpmath.workdps(40):
        first, second = (float(mpmath.diff(f, mpmath.mpf("0.2"), k)) for k in (1, 2))
    return Scenario("logistic map", logistic_map, 0.2, np.array([first]), np.array([[second]]), rtol=1e-10)


# ------------------------------------------------------------------------------------------------ data-dependent code


def newton_root(a: Any) -> Any:
    """a^(1/3) by Newton's method, until it stops changing: how many steps depends on the data."""
    y, step = a, 1.0
    while abs(step) > 1e-13:
        step = (y * y * y - a) / (3 * y * y)
        y = y - step
    # One more step makes the derivative exact, for at the root ∂y/∂y_before = 0.
    y = y - (y * y * y - a) / (3 * y * y)
    return y - (y * y * y - a) / (3 * y * y)


def _newton_root() -> Scenario:
    a = 5.0
    return Scenario(
        "Newton's method, data-dependent loop",
        newton_root,
        a,
        np.array([a ** (-2 / 3) / 3]),
        np.array([[-2 / 9 * a ** (-5 / 3)]]),
    )


def branches(x: Any) -> Any:
    """Ordinary Python branches on values: x₀² + x₁³ here, something else elsewhere."""
    total = 0.0
    for k, value in enumerate(x):
        if value > 1:
            total = total + value**2
        elif value < -1:
            total = total + value**3
        else:
            total = total * value if k % 2 else total - value
    return total


def _branches() -> Scenario:
    """(x₀² + x₁³ − x₂)·x₃ at (2, −1.5, 0.5, −0.25)."""
    x = np.array([2.0, -1.5, 0.5, -0.25])
    a, b, c, d = x
    g = np.array([2 * a * d, 3 * b * b * d, -d, a * a + b**3 - c])
    H = np.array([[2 * d, 0, 0, 2 * a], [0, 6 * b * d, 0, 3 * b * b], [0, 0, 0, -1], [2 * a, 3 * b * b, -1, 0]])
    return Scenario("branches on values", branches, x, g, H)


def recursive(x: Any) -> Any:
    """Π over a binary tree of (1 + left·right), by recursion."""
    if len(x) == 1:
        return x[0]
    middle = len(x) // 2
    return 1 + recursive(x[:middle]) * recursive(x[middle:])


def _recursive() -> Scenario:
    """1 + (1 + ab)(1 + cd)."""
    x = a, b, c, d = np.array([0.5, -2.0, 3.0, 0.7])
    p, q = 1 + a * b, 1 + c * d
    g = np.array([b * q, a * q, d * p, c * p])
    H = np.array([[0, q, b * d, b * c], [q, 0, a * d, a * c], [b * d, a * d, 0, p], [b * c, a * c, p, 0]])
    return Scenario("recursion", recursive, x, g, H)


# --------------------------------------------------------------------------------------------------- linear algebra


def matrix_products(X: Any) -> Any:
    """tr(A X B Xᵀ), whose gradient is AᵀX Bᵀ + A X B."""
    return np.trace(_A @ X @ _B @ X.T)


_A = np.array([[1.0, 2.0], [-1.0, 0.5]])
_B = np.array([[0.3, 1.0, 0.0], [2.0, -1.0, 0.4], [0.0, 0.6, 1.0]])


def _matrix_products() -> Scenario:
    X = np.array([[1.0, -0.5, 2.0], [0.3, 0.8, -1.0]])
    H = np.kron(_A, _B.T) + np.kron(_A.T, _B)
    return Scenario("matrix products", matrix_products, X, (_A.T @ X @ _B.T + _A @ X @ _B).ravel(), H)


def logsumexp(x: Any) -> Any:
    """log Σ eˣ: gradient softmax p, Hessian diag p − p pᵀ."""
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def _logsumexp() -> Scenario:
    x = np.array([1.0, 1000.0, 999.0, 998.5])
    with mpmath.workdps(60):
        e = [mpmath.exp(mpmath.mpf(float(v))) for v in x]
        p = np.array([float(v / mpmath.fsum(e)) for v in e])
    return Scenario("log-sum-exp of large numbers", logsumexp, x, p, np.diag(p) - np.outer(p, p))


def cross_entropy(x: Any) -> Any:
    """−log softmax(x)₁, by softmax: gradient p − e₁."""
    p = np.exp(x) / np.sum(np.exp(x))
    return -np.log(p[1])


def _cross_entropy() -> Scenario:
    x = np.array([0.2, -1.0, 1.5])
    p = np.exp(x) / np.exp(x).sum()
    return Scenario("softmax", cross_entropy, x, p - np.eye(3)[1], np.diag(p) - np.outer(p, p))


# --------------------------------------------------------------------------------------------------------- mechanics


def spring_chain(q: Any) -> Any:
    """Elastic energy of masses in the plane joined by springs of rest length 1, hanging between fixed ends."""
    ends = np.array([[0.0, 0.0], [5.0, 0.0]])
    chain = np.concatenate([ends[:1], q, ends[1:]])
    length = np.sqrt(np.sum((chain[1:] - chain[:-1]) ** 2, axis=1))
    return np.sum((length - 1) ** 2) / 2 + 0.3 * np.sum(q[:, 1])


def _spring_chain() -> Scenario:
    q = np.array([[1.0, -0.4], [2.3, -0.9], [3.8, -0.5]])
    n = len(q)
    chain = np.vstack([[0.0, 0.0], q, [5.0, 0.0]])
    g, H = np.zeros((n + 2, 2)), np.zeros((n + 2, 2, n + 2, 2))
    for i in range(n + 1):
        d = chain[i + 1] - chain[i]
        L = np.hypot(*d)
        u = d / L
        force = (L - 1) * u
        stiffness = np.outer(u, u) + (1 - 1 / L) * (np.eye(2) - np.outer(u, u))
        for (j, s), (k, t) in itertools.product([(i, -1), (i + 1, 1)], repeat=2):
            H[j, :, k, :] += s * t * stiffness
        g[i] -= force
        g[i + 1] += force
    g[:, 1] += 0.3
    inner = slice(1, n + 1)
    return Scenario("spring chain", spring_chain, q, g[inner].ravel(), H[inner, :, inner, :].reshape(2 * n, 2 * n))


# -------------------------------------------------------------------------------------------------------- containers


@dataclass
class Layer:
    weight: Any
    bias: Any
    activation: str = field(default="tanh", metadata={"static": True})


def perceptron(layers: Any) -> Any:
    """Squared error of a small multilayer perceptron."""
    inputs = np.array([[0.5, -1.0], [1.5, 0.3], [-0.7, 0.9]])
    targets = np.array([[0.2], [-0.4], [0.9]])
    h = inputs
    for layer in layers:
        h = h @ layer.weight + layer.bias
        if layer.activation == "tanh":
            h = np.tanh(h)
    return np.sum((h - targets) ** 2)


def _perceptron() -> Scenario:
    rng = np.random.default_rng(7)
    layers = [
        Layer(rng.normal(size=(2, 3)), rng.normal(size=3)),
        Layer(rng.normal(size=(3, 1)), rng.normal(size=1), activation="none"),
    ]
    return by_complex_step("perceptron, dataclasses", perceptron, layers)


class Body(NamedTuple):
    position: Any
    mass: Any


def gravity(bodies: Any) -> Any:
    """Potential energy of three bodies, given as a dict of named tuples."""
    bodies = list(bodies.values())
    energy = 0.0
    for i, a in enumerate(bodies):
        for b in bodies[:i]:
            energy = energy - a.mass * b.mass / np.sqrt(np.sum((a.position - b.position) ** 2))
    return energy


def _gravity() -> Scenario:
    bodies = {
        "sun": Body(np.array([0.0, 0.1, 0.0]), 10.0),
        "planet": Body(np.array([2.0, 0.0, 0.5]), 1.0),
        "moon": Body(np.array([2.5, 0.4, 0.3]), 0.2),
    }
    return by_complex_step("three bodies, dict of named tuples", gravity, bodies)


# -------------------------------------------------------------------------------------------------------- polynomials


def middle_root(c: Any) -> Any:
    """A root of x³ + c₂x² + c₁x + c₀ by iteration, with Horner's rule for the polynomial and its derivative."""
    x = 1.1
    for _ in range(30):
        p, dp = 1.0, 0.0
        for a in (c[2], c[1], c[0]):
            dp = dp * x + p
            p = p * x + a
        x = x - p / dp
    return x


def _middle_root() -> Scenario:
    """(x − 1)(x − 2)(x − 4): at the root r = 1, ∂r/∂cⱼ = −rʲ/p′(r), and the Hessian follows from p(r(c), c) = 0."""
    c, r = np.array([-8.0, 14.0, -7.0]), 1.0
    first, second = (r - 2) * (r - 4), 6 * r + 2 * c[2]
    j = np.arange(3)
    g = -(r**j) / first
    power = np.array([0.0, 1.0, 2.0 * r])  # ∂ rʲ/∂r
    H = -(second * np.outer(g, g) + np.outer(power, g) + np.outer(g, power)) / first
    return Scenario("polynomial root, Horner", middle_root, c, g, H)


def numerical_integral(p: Any) -> Any:
    """∫₀¹ exp(−a t²) cos(b t) dt by Gauss-Legendre quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    t = (nodes + 1) / 2
    return weights @ (np.exp(-p[0] * t**2) * np.cos(p[1] * t)) / 2


def _numerical_integral() -> Scenario:
    """Differentiated under the integral, which mpmath evaluates."""
    a, b = 0.7, 1.9
    quad = lambda k, trig: float(mpmath.quad(lambda t: t**k * mpmath.exp(-a * t * t) * trig(b * t), [0, 1]))
    g = np.array([-quad(2, mpmath.cos), -quad(1, mpmath.sin)])
    H = np.array([[quad(4, mpmath.cos), quad(3, mpmath.sin)], [quad(3, mpmath.sin), -quad(2, mpmath.cos)]])
    return Scenario("quadrature", numerical_integral, np.array([a, b]), g, H)


def pendulum(state: Any) -> Any:
    """Twenty steps of the leapfrog method for a pendulum: the angle at the end, from the angle and speed at first."""
    angle, speed = state
    for _ in range(20):
        speed = speed - 0.05 * np.sin(angle)
        angle = angle + 0.1 * speed
        speed = speed - 0.05 * np.sin(angle)
    return angle


SCENARIOS: list[Scenario] = [
    by_complex_step("Helmholtz energy", helmholtz_energy, np.array([0.2, 0.3, 0.1, 0.25])),
    _rosenbrock(),
    _logistic_map(),
    _newton_root(),
    _branches(),
    _recursive(),
    _matrix_products(),
    _logsumexp(),
    _cross_entropy(),
    _spring_chain(),
    _perceptron(),
    _gravity(),
    _middle_root(),
    _numerical_integral(),
    by_complex_step("pendulum, tuple of numbers", pendulum, (1.0, 0.5)),
]
