"""A physics-informed network: the solution of a differential equation as a network that satisfies it.

The equation is u''' + u' + u³ = g(t) on [0, 2], with u(0), u'(0) and u''(0) given, where g is chosen such that
u(t) = sin(2t)·exp(−t/2) solves it. The network is asked for its own derivatives up to the third, by Taylor mode, and
the loss is differentiated with respect to the weights by reverse mode.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

WIDTH = 16
TIMES = np.linspace(0, 2, 41)


def solution(t):
    return np.sin(2 * t) * np.exp(-t / 2)


FORCE = wg.vmap(lambda t: (lambda u: u[3] + u[1] + u[0] ** 3)(wg.derivatives(solution, order=3)(t)))(TIMES)
START = np.array(wg.derivatives(solution, order=2)(0.0))


def network(weights, t):
    hidden = np.tanh(weights["w1"] * (t - 1) + weights["b1"])
    hidden = np.tanh(weights["w2"] @ hidden + weights["b2"])
    return weights["w3"] @ hidden


def residual(weights, t, force):
    u = wg.derivatives(lambda s: network(weights, s), order=3)(t)
    return u[3] + u[1] + u[0] ** 3 - force


def loss(weights):
    inside = wg.vmap(residual, in_axes=(None, 0, 0))(weights, TIMES, FORCE)
    start = np.stack(wg.derivatives(lambda s: network(weights, s), order=2)(0.0)) - START
    return np.mean(inside**2) + 10 * np.sum(start**2)


def main(small=False):
    rng = np.random.default_rng(0)
    weights = {
        "w1": rng.normal(size=WIDTH), "b1": rng.normal(size=WIDTH), "b2": np.zeros(WIDTH),
        "w2": rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH), "w3": rng.normal(size=WIDTH) / np.sqrt(WIDTH),
    }  # fmt: skip
    found = optimize.minimize(loss, weights, method="L-BFGS-B", options={"maxiter": 300 if small else 2000})
    values = np.array([network(found.x, t) for t in TIMES])
    return dict(loss=found.fun, values=values, error=np.max(np.abs(values - solution(TIMES))), weights=found.x)


def picture(results):
    figure = Figure(2)
    axes = figure.axes("Solution and network", xlabel="t")
    fine = np.linspace(0, 2, 200)
    axes.line(fine, solution(fine), "exact")
    axes.points(TIMES, results["values"], "network")
    axes = figure.axes("Difference", xlabel="t")
    axes.line(TIMES, results["values"] - solution(TIMES))
    return figure


if __name__ == "__main__":
    found = main()
    print(f"loss {found['loss']:.2e}, largest error {found['error']:.2e}")
    picture(found).save(Path(__file__).with_suffix(".svg"))
