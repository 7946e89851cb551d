"""Data in containers and objects, and what lies outside of a function."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jit.programs import positive, program, random, values

WEIGHTS = np.array([0.5, -1.0, 2.0, 0.25])
SCALE = 3.0
TABLE = [1.0, 2.0, 4.0]
SETTINGS = {"rate": 0.1, "steps": 6}


@program(random(4))
def globals_of_a_module(x):
    y = x * WEIGHTS
    for _ in range(SETTINGS["steps"]):
        y = y - SETTINGS["rate"] * y**3 * SCALE
    return y + TABLE[1]


@program({"w": random(3, 2), "b": random(2)}, random(3, seed=1), wrt=(0, 1))
def dictionaries(params, x):
    h = x @ params["w"] + params["b"]
    return {"h": h, "loss": np.sum(h**2), "n": len(h)}


@program([(random(3, 4), random(4)), (random(4, 2), random(2))], random(3, seed=1), wrt=0)
def lists_of_pairs(layers, x):
    for w, b in layers:
        x = np.tanh(x @ w + b)
    return [x, (x[0], {"sum": x.sum()})]


class State(NamedTuple):
    position: np.ndarray
    velocity: np.ndarray


@program(State(random(3), random(3, seed=1)), 0.1, wrt=(0, 1), batch=False)
def named_tuples(state, dt):
    for _ in range(6):
        a = -np.sin(state.position)
        state = State(state.position + dt * state.velocity, state.velocity + dt * a)
    return state


class Layer:
    """An object with arrays as attributes."""

    def __init__(self, w, b):
        self.w, self.b = w, b
        self.calls = 0

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)

    def repeated(self, x, n):
        for _ in range(n):
            x = self(x)
        return x


LAYER = Layer(random(4, 4), random(4, seed=3))


@program(random(4))
def methods_of_objects(x):
    return LAYER.repeated(LAYER(x), 6) * LAYER.b


class Body:
    """An object that is made in the function."""

    def __init__(self, x, v):
        self.x, self.v = x, v

    def step(self, dt):
        self.x = self.x + dt * self.v
        self.v = self.v - dt * np.sin(self.x)

    @property
    def energy(self):
        return 0.5 * np.sum(self.v**2)


@program(random(3), random(3, seed=1), wrt=(0, 1))
def objects_made_inside(x, v):
    body = Body(x, v)
    for _ in range(4):
        body.step(0.1)
    return body.energy + np.sum(body.x)


@dataclass
class Parameters:
    mass: float
    spring: float

    def force(self, x):
        return -self.spring * x / self.mass


@program(random(3), 2.0, wrt=(0, 1))
def dataclasses_inside(x, mass):
    p = Parameters(mass, 3.0)
    v = np.zeros(3)
    for _ in range(6):
        v = v + 0.1 * p.force(x)
        x = x + 0.1 * v
    return x


@program(random(4), random(4, seed=1), wrt=(0, 1))
def writes_to_arguments(x, y):
    x *= 2
    y[1:] = x[:-1] ** 2
    return None


@program(random(4), random(4, seed=1), wrt=(0, 1))
def returns_its_argument(x, y):
    x[0] = y[1] * y[2]
    return x, y


@program([random(3), random(3, seed=1)], wrt=0)
def writes_to_arrays_in_lists(xs):
    for x in xs:
        x[1] *= x[0]
    xs[0][2] = xs[1][0] ** 2
    return xs[0] + xs[1]


@values(3, 2.5, "mean", None, True)
def arguments_of_all_kinds(n, x, kind, nothing, flag):
    y = x * n if kind == "mean" else x
    if nothing is None and flag:
        y += 1
    return y, kind, nothing, (n, flag)


@values(random(4))
def results_of_all_kinds(x):
    return {"none": None, "text": "abc", "list": [1, 2.5, x], "constant": np.arange(3), "bool": True, "n": x.size}


@program(random(4))
def defaults(x, n=7, scale=2.0, *, shift=0.5):
    for _ in range(n):
        x = x * 0.5 * scale + shift * x**2
    return x


def make_model(width):
    offsets = np.linspace(0, 1, width)

    def model(x):
        s = 0.0
        for i in range(width):
            s += offsets[i] * x[i] ** 2
        return s

    return model


MODEL = make_model(4)


@program(random(4))
def models_of_closures(x):
    return MODEL(x) * math.sqrt(SCALE)


@program(random(4), positive(4), wrt=(0, 1))
def function_arguments(x, y):
    def integrate(f, a, b):
        s = 0.0
        for k in range(8):
            s += f(a + (b - a) * (k + 0.5) / 8)
        return s * (b - a) / 8

    return integrate(lambda t: np.sum(x * np.exp(-t * y)), 0.0, 1.0) + integrate(np.cos, x[0], y[0])
