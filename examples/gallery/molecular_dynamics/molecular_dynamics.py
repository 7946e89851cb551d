"""Molecular dynamics with a learned potential: energies and forces of a pair potential, from a few configurations.

The energy is a sum over pairs of a network of the distance; forces are its negative gradient, by reverse mode. The
network is fitted to energies *and* forces, so the fit differentiates a gradient. Then atoms are moved by the learned
forces.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

ATOMS, WIDTH, STEP = 8, 16, 0.01
PAIRS = np.triu_indices(ATOMS, 1)


def morse(r):
    return (1 - np.exp(-2 * (r - 1))) ** 2 - 1


def network(weights, r):
    hidden = np.tanh((r[:, None] - 1.2) * weights["w1"] + weights["b1"])
    hidden = np.tanh(hidden @ weights["w2"] + weights["b2"])
    return hidden @ weights["w3"] + weights["b3"] * np.exp(-r)


def energy(pair_energy, x):
    difference = x[PAIRS[0]] - x[PAIRS[1]]
    return np.sum(pair_energy(np.sqrt(np.sum(difference**2, axis=1))))


def loss(weights, configurations, energies, forces):
    learned = lambda x: wg.value_and_grad(lambda x: energy(lambda r: network(weights, r), x))(x)
    e, minus_f = wg.vmap(learned)(configurations)
    return np.mean((e - energies) ** 2) + np.mean((minus_f + forces) ** 2)


def simulate(pair_energy, x, v, steps):
    """The method of Verlet; kinetic and potential energy at each step."""
    force = lambda x: -wg.grad(lambda x: energy(pair_energy, x))(x)
    history, f = np.zeros((steps, 2)), force(x)
    for k in range(steps):
        v = v + STEP / 2 * f
        x = x + STEP * v
        f = force(x)
        v = v + STEP / 2 * f
        history[k] = np.sum(v**2) / 2, energy(pair_energy, x)
    return x, history


def main(small=False):
    rng = np.random.default_rng(0)
    corners = 1.05 * np.stack(np.meshgrid([0, 1], [0, 1], [0, 1]), axis=-1).reshape(8, 3)
    count = 20 if small else 60
    configurations = corners + 0.15 * rng.normal(size=(count, ATOMS, 3))
    true = wg.vmap(wg.value_and_grad(lambda x: energy(morse, x)))(configurations)
    weights = {"w1": rng.normal(size=WIDTH), "b1": rng.normal(size=WIDTH), "b2": np.zeros(WIDTH), "b3": 0.0,
               "w2": rng.normal(size=(WIDTH, WIDTH)) / 4, "w3": 0.1 * rng.normal(size=WIDTH)}  # fmt: skip
    found = optimize.minimize(loss, weights, args=(configurations, true[0], -true[1]), method="L-BFGS-B",
                              options={"maxiter": 200 if small else 1500})  # fmt: skip
    learned = lambda r: network(found.x, r)
    test = corners + 0.15 * rng.normal(size=(10, ATOMS, 3))
    forces = lambda pair: wg.vmap(wg.grad(lambda x: energy(pair, x)))(test)
    error = np.sqrt(np.mean((forces(learned) - forces(morse)) ** 2) / np.mean(forces(morse) ** 2))
    run = lambda pair: wg.jit(lambda x, v: simulate(pair, x, v, 200 if small else 1000))(corners, 0.1 * speeds)
    speeds = rng.normal(size=(ATOMS, 3))
    (x_true, true_path), (x_learned, learned_path) = run(morse), run(learned)
    r = np.linspace(0.7, 2.4, 80)
    return dict(loss=found.fun, force_error=error, true_path=true_path, learned_path=learned_path, r=r,
                drift=np.ptp(learned_path.sum(axis=1)), away=np.max(np.abs(x_true - x_learned)),
                true_curve=morse(r), learned_curve=learned(r))  # fmt: skip


def picture(results):
    figure = Figure(2)
    axes = figure.axes("Energy of a pair", "distance")
    axes.line(results["r"], results["true_curve"], "true")
    axes.line(results["r"], results["learned_curve"], "learned", dashed=True)
    axes = figure.axes("Kinetic energy while atoms move", "time")
    time = STEP * np.arange(len(results["true_path"]))
    axes.line(time, results["true_path"][:, 0], "true forces")
    axes.line(time, results["learned_path"][:, 0], "learned forces", dashed=True)
    return figure


if __name__ == "__main__":
    found = main()
    print(f"error of forces {found['force_error']:.2%}; total energy kept to {found['drift']:.1e}; "
          f"atoms away by {found['away']:.3f}")  # fmt: skip
    picture(found).save(Path(__file__).with_suffix(".svg"))
