"""Meta-learning (MAML, Finn et al. 2017): weights from which one step of training is enough.

The tasks are sine curves of different heights and phases, of which ten points are known. The weights are trained such
that *after* one step of gradient descent on the ten points the curve fits: a gradient through a gradient.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

WIDTH, POINTS, RATE = 32, 10, 0.05


def network(weights, x):
    hidden = np.tanh(x[:, None] * weights["w1"] + weights["b1"])
    hidden = np.tanh(hidden @ weights["w2"] + weights["b2"])
    return hidden @ weights["w3"] + weights["b3"]


def error(weights, x, y):
    return np.mean((network(weights, x) - y) ** 2)


def adapted(weights, x, y, steps=1):
    for _ in range(steps):
        gradient = wg.grad(error)(weights, x, y)
        weights = {name: weights[name] - RATE * gradient[name] for name in weights}
    return weights


def error_after_a_step(weights, task):
    x, y, x_new, y_new = task
    return error(adapted(weights, x, y), x_new, y_new)


def tasks(rng, count):
    """Known points and new ones of so many sine curves."""
    height, phase = rng.uniform(0.5, 2.0, (count, 1)), rng.uniform(0, np.pi, (count, 1))
    x, x_new = rng.uniform(-3, 3, (2, count, POINTS))
    return x, height * np.sin(x + phase), x_new, height * np.sin(x_new + phase)


def start(rng):
    return {"w1": rng.normal(size=WIDTH), "b1": rng.normal(size=WIDTH), "b2": np.zeros(WIDTH),
            "w2": rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH),
            "w3": rng.normal(size=WIDTH) / np.sqrt(WIDTH), "b3": np.zeros(1)}  # fmt: skip


def main(small=False):
    rng = np.random.default_rng(0)
    weights = start(rng)
    mean_error = lambda weights, many: np.mean(wg.vmap(error_after_a_step, in_axes=(None, 0))(weights, many))
    optimizer = optimize.adam(3e-3)
    state = optimizer.init(weights)

    @wg.jit
    def step(weights, state, many):
        loss, gradient = wg.value_and_grad(mean_error)(weights, many)
        weights, state = optimizer.update(gradient, state, weights)
        return weights, state, loss

    unseen = tasks(np.random.default_rng(1), 100)
    before, losses = mean_error(weights, unseen), []
    for _ in range(300 if small else 6000):
        weights, state, loss = step(weights, state, tasks(rng, 10))
        losses.append(loss)
    return dict(before=before, after=mean_error(weights, unseen), losses=np.array(losses), weights=weights)


def picture(results):
    figure = Figure(2)
    losses = results["losses"][: len(results["losses"]) // 50 * 50].reshape(-1, 50).mean(axis=1)
    figure.axes("Error after one step, while training", "step / 50", log_y=True).line(np.arange(len(losses)), losses)
    axes = figure.axes("A new curve, from ten points", xlabel="x")
    x, y, _, _ = (part[0] for part in tasks(np.random.default_rng(5), 1))
    fine, weights = np.linspace(-3, 3, 100), results["weights"]
    axes.line(fine, network(weights, fine), "before", dashed=True)
    axes.line(fine, network(adapted(weights, x, y), fine), "after one step")
    axes.line(fine, network(adapted(weights, x, y, 10), fine), "after ten")
    axes.points(x, y, "known", color="#222222")
    return figure


if __name__ == "__main__":
    found = main()
    print(f"squared error after one step, of new curves: {found['before']:.3f} -> {found['after']:.3f}")
    picture(found).save(Path(__file__).with_suffix(".svg"))
