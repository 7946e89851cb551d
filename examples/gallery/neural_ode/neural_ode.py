"""A neural differential equation: the law behind a spiral, learned from noisy measurements of it.

The right-hand side is a small network. `wg.odeint` solves the equation with it, adaptively, and the distance from the
measurements is differentiated through the solver.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

HIDDEN, TIMES = 12, np.linspace(0, 6, 40)


def true_law(t, y):
    return np.array([[-0.1, 2.0], [-2.0, -0.1]]) @ y**3


def network(t, y, weights):
    hidden = np.tanh(weights["w1"] @ y**3 + weights["b1"])
    return weights["w2"] @ hidden


def distance(weights, start, measured):
    path = wg.odeint(network, start, TIMES, weights, rtol=1e-5, atol=1e-6)
    return np.mean((path - measured) ** 2)


def main(small=False):
    rng = np.random.default_rng(0)
    start = np.array([1.2, 0.0])
    truth = wg.odeint(true_law, start, TIMES)
    measured = truth + 0.02 * rng.normal(size=truth.shape)
    weights = {
        "w1": 0.5 * rng.normal(size=(HIDDEN, 2)),
        "b1": np.zeros(HIDDEN),
        "w2": 0.1 * rng.normal(size=(2, HIDDEN)),
    }
    first = distance(weights, start, measured)
    for count in (10, 20, 40):  # the beginning first: the end depends on it
        part = lambda w, n=count: np.mean(
            (wg.odeint(network, start, TIMES[:n], w, rtol=1e-5, atol=1e-6) - measured[:n]) ** 2
        )
        found = optimize.minimize(part, weights, method="L-BFGS-B", options={"maxiter": 60 if small else 300})
        weights = found.x
    path = wg.odeint(network, start, TIMES, weights)
    return dict(first=first, last=found.fun, error=np.sqrt(np.mean((path - truth) ** 2)), path=path, truth=truth,
                measured=measured)  # fmt: skip


def picture(results):
    figure = Figure(2)
    axes = figure.axes("Measured, and learned", "time")
    for k in range(2):
        axes.points(TIMES, results["measured"][:, k], f"y{k + 1}")
        axes.line(TIMES, results["path"][:, k], color="#222222", width=1.2)
    axes = figure.axes("The spiral", equal=True)
    axes.line(*results["truth"].T, "true", dashed=True)
    axes.line(*results["path"].T, "learned")
    axes.points(*results["measured"].T, color="#999999", size=1.5)
    return figure


if __name__ == "__main__":
    found = main()
    print(f"squared distance {found['first']:.4f} -> {found['last']:.6f}; distance from the truth {found['error']:.4f}")
    picture(found).save(Path(__file__).with_suffix(".svg"))
