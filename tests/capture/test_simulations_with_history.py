"""Simulations as people write them: state in arrays that are written in place, histories in lists, environments with
`step`, generators of random numbers in `self`, properties, inheritance. Every mode, eagerly and compiled, against
differences of the plain program (extrapolated, so that eight digits count).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import pytest

import wengert as wg


class Bodies:
    """Gravity among bodies, by velocity Verlet; energies and snapshots are kept."""

    def __init__(self, mass):
        self.m = np.array([1.0, 0.3, 0.1]) * mass
        self.pos = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.7]])
        self.vel = np.array([[0.0, 0.0], [0.1, 1.0], [-0.8, 0.0]])
        self.acc = self.accelerations()
        self.snapshots = [self.pos.copy()]

    def accelerations(self):
        acc = np.zeros_like(self.pos)
        for i in range(len(self.m)):
            for j in range(len(self.m)):
                if i == j:
                    continue
                d = self.pos[j] - self.pos[i]
                acc[i] += self.m[j] * d / (d @ d + 0.01) ** 1.5
        return acc

    @property
    def energy(self):
        return 0.5 * np.sum(self.m[:, None] * self.vel**2)

    def step(self, dt):
        self.pos += self.vel * dt + 0.5 * self.acc * dt**2
        new = self.accelerations()
        self.vel += 0.5 * (self.acc + new) * dt
        self.acc[:] = new
        self.snapshots.append(self.pos.copy())

    def run(self):
        for _ in range(8):
            self.step(0.05)
        return self.energy + np.sum(np.array(self.snapshots)[::2] ** 2)


class Rod:
    """Heat in a rod with its ends held, explicit in time; the conductivity is a field."""

    def __init__(self, k, n=12):
        self.x = np.linspace(0, 1, n)
        self.u = np.exp(-40 * (self.x - 0.4) ** 2)
        self.k = k * (1 + self.x)
        self.flux = np.empty(n - 1)

    def run(self):
        for _ in range(20):
            self.flux[:] = -0.5 * (self.k[1:] + self.k[:-1]) * np.diff(self.u)
            self.u[1:-1] -= 0.2 * np.diff(self.flux)
            self.u[0], self.u[-1] = 1.0, self.u[-2]
        return self.u @ self.x


@dataclass
class Epidemic:
    """S, I and R with a history of days; contacts fall when many are ill."""

    beta: float
    gamma: float = 0.1
    state: np.ndarray = field(default_factory=lambda: np.array([0.99, 0.01, 0.0]))
    history: list = field(default_factory=list)

    def day(self):
        s, i, r = self.state
        contacts = self.beta if i < 0.2 else 0.5 * self.beta
        new, out = contacts * s * i, self.gamma * i
        self.state = self.state + np.array([-new, new - out, out])
        self.history.append({"infected": self.state[1], "new": new})

    def run(self):
        for _ in range(40):
            self.day()
        return max(h["infected"] for h in self.history) + sum(h["new"] for h in self.history[10:]) + self.state[2]


class Neurons:
    """Leaky integrate-and-fire neurons: a mask resets those above the threshold."""

    def __init__(self, drive):
        rng = np.random.default_rng(3)
        self.w = 0.1 * rng.normal(size=(6, 6))
        self.drive = drive * np.linspace(0.8, 1.6, 6)
        self.v = np.zeros(6)
        self.spikes = np.zeros(6)
        self.trace = []

    def run(self):
        for _ in range(30):
            self.v += 0.1 * (self.drive - self.v + self.w @ self.spikes)
            fired = self.v > 1.0
            self.v[fired] -= 1.0
            self.spikes *= 0.9
            self.spikes[fired] += 1.0
            self.trace.append(self.v.mean())
        return np.sum(np.stack(self.trace) ** 2) + self.v @ self.v


class CartPole:
    """An environment: `reset`, `step` that gives observation, reward and whether it is over."""

    gravity, length = 9.8, 0.5

    def __init__(self, gain):
        self.gain = gain
        self.state = None

    def reset(self):
        self.state = np.array([0.0, 0.0, 0.05, 0.0])
        return self.state.copy()

    def step(self, force):
        x, v, angle, rate = self.state
        sin, cos = np.sin(angle), np.cos(angle)
        push = (force + 0.05 * rate**2 * sin) / 1.1
        turn = (self.gravity * sin - cos * push) / (self.length * (4 / 3 - 0.1 * cos**2 / 1.1))
        self.state += 0.02 * np.array([v, push - 0.05 * turn * cos / 1.1, rate, turn])
        done = bool(abs(self.state[2]) > 0.4)
        return self.state.copy(), float(not done) - 0.1 * force**2, done

    def run(self):
        seen, total = self.reset(), 0.0
        for _ in range(60):
            force = np.clip(self.gain * seen @ np.array([0.1, 0.3, 6.0, 1.0]), -10.0, 10.0)
            seen, reward, done = self.step(force)
            total += reward
            if done:
                break
        return total + seen @ seen


class Filter:
    """A Kalman filter of a moving point that keeps its estimates and the likelihood."""

    def __init__(self, noise):
        self.F = np.array([[1.0, 0.1], [0.0, 1.0]])
        self.H = np.array([[1.0, 0.0]])
        self.Q = noise * np.array([[0.01, 0.02], [0.02, 0.1]])
        self.R = np.array([[0.3]])
        self.x, self.P = np.zeros(2), np.eye(2)
        self.loglik = 0.0
        self.estimates = []

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        y = np.atleast_1d(z) - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        self.P = (np.eye(2) - K @ self.H) @ self.P
        self.loglik -= 0.5 * (np.linalg.slogdet(S)[1] + (y @ np.linalg.solve(S, y)))

    def run(self):
        for z in np.sin(0.3 * np.arange(15)):
            self.predict()
            self.update(z)
            self.estimates.append(self.x.copy())
        return self.loglik + np.sum(np.asarray(self.estimates)[:, 0])


class Fields:
    """Maxwell's equations in one dimension (FDTD): a pulse runs into a dielectric; an ear listens."""

    def __init__(self, eps, n=40):
        self.E, self.H = np.zeros(n), np.zeros(n - 1)
        self.eps = np.ones(n)
        self.eps[n // 2 :] = eps
        self.heard = deque(maxlen=20)

    def run(self):
        for t in range(50):
            self.H += 0.5 * (self.E[1:] - self.E[:-1])
            self.E[1:-1] += 0.5 / self.eps[1:-1] * (self.H[1:] - self.H[:-1])
            self.E[5] += np.exp(-(((t - 12) / 4) ** 2))
            self.heard.append(self.E[8])
        return sum(e**2 for e in self.heard) + np.sum(self.E**2 * self.eps)


class Lattice:
    """Predators and prey on a torus, with diffusion by rolling."""

    def __init__(self, rate):
        rng = np.random.default_rng(5)
        self.prey, self.predators = rng.uniform(0.5, 1, (5, 5)), rng.uniform(0.1, 0.3, (5, 5))
        self.rate = rate

    @staticmethod
    def laplacian(u):
        return sum(np.roll(u, shift, axis) for shift in (1, -1) for axis in (0, 1)) - 4 * u

    def run(self):
        for _ in range(10):
            eaten = self.rate * self.prey * self.predators
            self.prey += 0.1 * (self.prey * (1 - self.prey) - eaten + 0.1 * self.laplacian(self.prey))
            self.predators += 0.1 * (eaten - 0.4 * self.predators + 0.2 * self.laplacian(self.predators))
            np.clip(self.prey, 0.01, None, out=self.prey)
        return self.prey.sum() + np.max(self.predators)


class Spins:
    """Soft spins that relax under noise from a generator of their own."""

    def __init__(self, coupling, seed=7):
        self.rng = np.random.default_rng(seed)
        self.spin = self.rng.normal(size=8)
        self.coupling = coupling
        self.magnetisation = np.zeros(12)

    def run(self):
        for t in range(12):
            for i in range(len(self.spin)):
                field = self.coupling * (self.spin[i - 1] + self.spin[(i + 1) % 8])
                self.spin[i] = np.tanh(field + 0.1 * self.rng.normal())
            self.magnetisation[t] = self.spin.mean()
        return self.magnetisation.var() + self.spin @ self.spin


class Plant:
    """A tank that drains, and the base of one with a controller."""

    def __init__(self):
        self.level = np.array([1.0, 0.5])
        self.log = {"level": [], "input": []}

    def drain(self):
        return 0.3 * np.sqrt(np.maximum(self.level, 1e-6))


class Controlled(Plant):
    """PID with a limit on the integral and on the valve."""

    def __init__(self, kp):
        super().__init__()
        self.gains = np.array([kp, 0.3, 0.05])
        self.errors = np.zeros(3)

    def run(self):
        for _ in range(25):
            error = 2.0 - self.level[1]
            total = min(max(self.errors[1] + 0.1 * error, -5.0), 5.0)
            self.errors[:] = error, total, (error - self.errors[0]) / 0.1
            valve = np.clip(self.gains @ self.errors, 0.0, 3.0)
            out = self.drain()
            self.level += 0.1 * np.array([valve - out[0], out[0] - out[1]])
            self.log["level"].append(self.level[1])
            self.log["input"].append(valve)
        return np.sum(np.square(2.0 - np.array(self.log["level"]))) + 0.01 * sum(self.log["input"])


class Cloud:
    """A particle filter: weights in place, systematic resampling (whose choice is piecewise constant)."""

    def __init__(self, spread):
        self.rng = np.random.default_rng(11)
        self.x = self.rng.normal(size=16)
        self.w = np.full(16, 1 / 16)
        self.spread = spread
        self.means = []

    def resample(self):
        places = (np.arange(16) + 0.5) / 16
        chosen = np.minimum(np.searchsorted(np.cumsum(self.w), places), 15)
        self.x = self.x[chosen]
        self.w[:] = 1 / 16

    def run(self):
        for z in (0.3, 0.8, 0.4, 1.0):
            self.x = 0.9 * self.x + self.spread * self.rng.normal(size=16)
            self.w *= np.exp(-0.5 * (z - self.x) ** 2)
            self.w /= self.w.sum()
            self.means.append(self.w @ self.x)
            if 1 / np.sum(self.w**2) < 14:
                self.resample()
        return np.sum(np.array(self.means) ** 2)


SIMULATIONS = {
    Bodies: 1.1, Rod: 0.7, Epidemic: 0.35, Neurons: 1.05, CartPole: 1.3, Filter: 0.8, Fields: 2.3, Lattice: 1.4,
    Spins: 0.6, Controlled: 1.2, Cloud: 0.5,
}  # fmt: skip


def slope_of(f, x, h=1e-3):
    wide, narrow = [(f(x + h) - f(x - h)) / (2 * h) for h in (h, h / 2)]
    return (4 * narrow - wide) / 3


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda cls: cls.__name__)
def test_simulation(simulation):
    def f(x):
        return simulation(x).run()

    x = SIMULATIONS[simulation]
    want = slope_of(f, x)
    value, compiled = wg.jit(wg.value_and_grad(f))(x)
    found = {
        "reverse": wg.grad(f)(x),
        "forward": wg.jvp(f, (x,), (1.0,))[1],
        "jit(reverse)": compiled,
        "vmap": wg.vmap(wg.grad(f))(np.array([x, 1.01 * x]))[0],
    }
    if simulation in (Epidemic, Spins):  # quickly compiled
        found["reverse(jit)"] = wg.grad(wg.jit(f))(x)
        found["forward(jit)"] = wg.jvp(wg.jit(f), (x,), (1.0,))[1]
    assert float(value) == pytest.approx(float(f(x)), rel=1e-10)
    for way, slope in found.items():
        assert float(slope) == pytest.approx(float(want), rel=1e-6, abs=1e-9), way
    second = slope_of(lambda x: wg.jvp(f, (x,), (1.0,))[1], x, 1e-4)
    assert float(wg.grad(wg.grad(f))(x)) == pytest.approx(float(second), rel=1e-4, abs=1e-6)
