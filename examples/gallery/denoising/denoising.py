"""Denoising by a learned variational model.

The cleaned picture minimises ½‖u − noisy‖² + Σ λₖ φ(filterₖ ∗ u). Filters and weights are not chosen but learned: the
error of the minimiser, after 15 steps of gradient descent, is differentiated with respect to them (a "fields of
experts" model).
"""

from pathlib import Path

import numpy as np
from scipy.signal import convolve2d

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

SIZE, FILTERS, STEPS = 24, 3, 15


def scene(rng):
    """A picture of flat regions with edges."""
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    picture = np.zeros((SIZE, SIZE))
    for _ in range(6):
        a, b = rng.uniform(-1, 1, 2)
        picture = np.where(a * (x - rng.random()) + b * (y - rng.random()) > 0, rng.random(), picture)
    return picture


def energy(u, noisy, model):
    total = np.sum((u - noisy) ** 2) / 2
    for k in range(FILTERS):
        answer = convolve2d(u, model["filters"][k], mode="valid")
        total = total + np.exp(model["log_weights"][k]) * np.sum(np.sqrt(answer**2 + 1e-3))
    return total


def cleaned(noisy, model):
    u = noisy
    for _ in range(STEPS):
        u = u - 0.2 * wg.grad(energy)(u, noisy, model)
    return u


def loss(model, noisy, clean):
    return np.mean((wg.vmap(cleaned, in_axes=(0, None))(noisy, model) - clean) ** 2)


def decibels(a, b):
    return 10 * np.log10(1 / np.mean((a - b) ** 2))


def main(small=False):
    rng = np.random.default_rng(0)
    clean = np.stack([scene(rng) for _ in range(3 if small else 10)])
    noisy = clean + 0.1 * rng.normal(size=clean.shape)
    model = {"filters": 0.1 * rng.normal(size=(FILTERS, 3, 3)), "log_weights": np.full(FILTERS, -2.0)}
    optimizer = optimize.adam(0.03)
    state, losses = optimizer.init(model), []

    @wg.jit
    def step(model, state):
        value, gradient = wg.value_and_grad(loss)(model, noisy, clean)
        model, state = optimizer.update(gradient, state, model)
        return model, state, value

    for _ in range(30 if small else 300):
        model, state, value = step(model, state)
        losses.append(value)
    new = scene(np.random.default_rng(99))
    new_noisy = new + 0.1 * np.random.default_rng(98).normal(size=new.shape)
    new_clean = cleaned(new_noisy, model)
    return dict(losses=np.array(losses), before=decibels(new_noisy, new), after=decibels(new_clean, new), new=new,
                noisy=new_noisy, cleaned=new_clean, filters=model["filters"])  # fmt: skip


def picture(results):
    figure = Figure(4, width=220, height=220)
    for title, name in (("true", "new"), ("noisy", "noisy"), ("cleaned", "cleaned")):
        figure.axes(title).image(results[name], 0, 1)
    figure.axes("learned filters").image(np.hstack([np.pad(f, 1) for f in results["filters"]]))
    return figure


if __name__ == "__main__":
    results = main()
    print(f"a new picture: {results['before']:.1f} dB -> {results['after']:.1f} dB")
    picture(results).save(Path(__file__).with_suffix(".svg"))
