"""Objects that stood for one of several, or were one of several: when nobody holds the others, they may be changed."""

import numpy as np
import pytest
from jit.everywhere import agrees


def what_the_best_one_had(x):
    swarm = [{"place": x + k, "cost": np.sin(x * (k + 1))} for k in range(4)]
    for _ in range(3):
        best = min(swarm, key=lambda p: p["cost"])["place"]
        for p in swarm:
            p["place"] = 0.5 * (p["place"] + best)
            p["cost"] = np.sin(p["place"])
    return min(swarm, key=lambda p: p["cost"])["place"]


class Particle:
    def __init__(self, x):
        self.x = x
        self.cost = (x - 1.1) ** 2

    def move(self, towards):
        self.x += 0.3 * (towards - self.x)
        self.cost = (self.x - 1.1) ** 2


def objects_that_move(x):
    swarm = [Particle(x * k) for k in range(4)]
    for _ in range(3):
        best = min(swarm, key=lambda p: p.cost).x
        for p in swarm:
            p.move(best)
    return sum(p.cost for p in swarm)


def a_name_that_is_free_again(x):
    a, b = {"p": x}, {"p": 2 * x}
    c = a if x > 1 else b
    y = c["p"]
    c = None
    a["p"] = 5.0 * x
    return a["p"] + y


def a_list_that_is_replaced_or_changed(x):
    s = [x, 2 * x, 0.5]
    for _ in range(4):
        s.sort()
        if s[0] > 0.3:
            s[-1] = 0.31 * x
        elif x > 2:
            s[-1] = 0.4 * x
        else:
            s = [s[0]] + [0.5 * v for v in s[1:]]
    return s[0] + 2 * s[1]


def simplex(x):
    """Nelder and Mead's method, as everybody writes it."""

    def f(v):
        return (1 - v[0]) ** 2 + 10 * (v[1] - v[0] ** 2) ** 2

    points = [np.array([x, 1.0]), np.array([x + 0.5, 1.0]), np.array([x, 1.5])]
    for _ in range(5):
        points.sort(key=f)
        centre = (points[0] + points[1]) / 2
        reflected = 2 * centre - points[2]
        if f(points[0]) <= f(reflected) < f(points[1]):
            points[-1] = reflected
        elif f(reflected) < f(points[0]):
            further = 3 * centre - 2 * points[2]
            points[-1] = further if f(further) < f(reflected) else reflected
        else:
            nearer = 0.5 * (centre + points[2])
            if f(nearer) < f(points[2]):
                points[-1] = nearer
            else:
                points = [points[0]] + [0.5 * (p + points[0]) for p in points[1:]]
    return f(points[0])


@pytest.mark.parametrize(
    "f",
    [what_the_best_one_had, objects_that_move, a_name_that_is_free_again, a_list_that_is_replaced_or_changed, simplex],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("x", [0.73, 2.3])
def test_what_nobody_holds(f, x):
    agrees(f, x, batch=False)


def a_name(x):
    swarm = [{"p": x, "v": 1.0}, {"p": 2 * x, "v": 0.5 * x}]
    best = min(swarm, key=lambda q: q["v"])
    for q in swarm:
        q["p"] = q["p"] * 2
    return best["p"]


def an_item(x):
    swarm = [{"p": x, "v": 1.0}, {"p": 2 * x, "v": 0.5 * x}, {"p": 3 - x, "v": 2.0}]
    best = [min(swarm, key=lambda q: q["v"])]
    swarm[0]["p"] = 7.0
    return best[0]["p"]


def an_attribute_of_what_is_returned(x):
    first, second = Particle(x), Particle(2 * x)
    keeper = Particle(3 * x)
    keeper.best = first if x > 1 else second
    first.move(0.0)
    return keeper.best.x


def another_name_of_the_list(x):
    s = t = [x, 2 * x, 0.5]
    if x > 1:
        s[-1] = 3 * x
    else:
        s = [s[0]] + [0.5 * v for v in s[1:]]
    s.sort()
    return s[0] + 2 * s[1] + t[2]


@pytest.mark.parametrize(
    "f", [a_name, an_item, an_attribute_of_what_is_returned, another_name_of_the_list], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("x", [0.7, 2.3])
def test_what_somebody_holds(f, x):
    agrees(f, x, batch=False)
