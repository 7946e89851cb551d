"""A continuous-time recurrent network learns to oscillate.

Eight neurons follow τ dy/dt = −y + W tanh(y) + b. Nothing drives them; the weights are trained, through the integration
of the equations, so that two of the neurons trace a circle.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

NEURONS, STEP, PERIOD = 8, 0.05, 4.0


def run(network, steps):
    """The states of all neurons at all times, by the midpoint rule."""
    change = lambda y: (network["weights"] @ np.tanh(y) + network["bias"] - y) / np.exp(network["log_tau"])
    y = network["start"]
    states = np.zeros((steps, NEURONS))
    for k in range(steps):
        states[k] = y
        y = y + STEP * change(y + STEP / 2 * change(y))
    return states


def circle(steps):
    phase = 2 * np.pi * STEP / PERIOD * np.arange(steps)
    return 0.7 * np.stack([np.cos(phase), np.sin(phase)], axis=1)


def distance(network, wanted):
    return np.mean((run(network, len(wanted))[:, :2] - wanted) ** 2)


def main(small=False):
    rng = np.random.default_rng(1)
    network = {
        "weights": rng.normal(size=(NEURONS, NEURONS)) * 1.2 / np.sqrt(NEURONS),
        "bias": np.zeros(NEURONS),
        "log_tau": np.zeros(NEURONS),
        "start": np.r_[0.7, 0.0, rng.normal(size=NEURONS - 2) * 0.1],
    }
    wanted = circle(int(2 * PERIOD / STEP))
    optimizer = optimize.adam(0.02)
    state = optimizer.init(network)

    @wg.jit
    def step(network, state):
        loss, gradient = wg.value_and_grad(distance)(network, wanted)
        network, state = optimizer.update(gradient, state, network)
        return network, state, loss

    losses = []
    for _ in range(400 if small else 2000):
        network, state, loss = step(network, state)
        losses.append(loss)
    afterwards = wg.jit(run, static_argnums=1)(network, 2 * len(wanted))  # twice as long as it was trained for
    return dict(losses=np.array(losses), states=afterwards, wanted=circle(2 * len(wanted)), network=network)


def picture(results):
    figure = Figure(3, width=300)
    figure.axes("Training", "step", "squared distance", log_y=True).line(
        np.arange(len(results["losses"])), results["losses"]
    )
    axes = figure.axes("Two neurons, trained to 8 s", "time")
    time = STEP * np.arange(len(results["states"]))
    for k in range(2):
        axes.line(time, results["states"][:, k], f"neuron {k + 1}")
        axes.line(time, results["wanted"][:, k], color="#999999", dashed=True, width=1)
    axes = figure.axes("Their path", equal=True)
    axes.line(results["states"][:, 0], results["states"][:, 1])
    axes.line(*results["wanted"].T, color="#999999", dashed=True)
    return figure


if __name__ == "__main__":
    found = main()
    print(f"squared distance {found['losses'][0]:.4f} -> {found['losses'][-1]:.6f}")
    picture(found).save(Path(__file__).with_suffix(".svg"))
