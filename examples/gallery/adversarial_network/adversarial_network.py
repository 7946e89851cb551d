"""A generative adversarial network (Goodfellow et al. 2014) on points in the plane: eight heaps on a circle.

Generator and critic have gradients of one function, with opposite signs. Instance noise that fades keeps the game
stable.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import nn, optimize

BATCH, NOISE = 128, 4


def heaps(rng, count):
    angle = 2 * np.pi * rng.integers(0, 8, count) / 8
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.05 * rng.normal(size=(count, 2))


def network(rng, inputs, outputs, hidden=48):
    return nn.Sequential(nn.Dense(inputs, hidden, rng=rng), nn.relu, nn.Dense(hidden, hidden, rng=rng), nn.relu,
                         nn.Dense(hidden, outputs, rng=rng))  # fmt: skip


def critic_loss(critic, generator, real, z):
    made = generator(z)
    return np.mean(np.logaddexp(0, -critic(real))) + np.mean(np.logaddexp(0, critic(made)))


def generator_loss(generator, critic, z, blur):
    return np.mean(np.logaddexp(0, -critic(generator(z) + blur)))


def main(small=False):
    rng = np.random.default_rng(0)
    generator, critic = network(rng, NOISE, 2), network(rng, 2, 1)
    optimizers = [optimize.adam(1e-3, b1=0.5), optimize.adam(1e-3, b1=0.5)]
    states = [optimizers[0].init(generator), optimizers[1].init(critic)]

    @wg.jit
    def step(generator, critic, states, real, z, blur):
        slope = wg.grad(lambda c: critic_loss(c, lambda z: generator(z) + blur, real, z))(critic)
        critic, of_critic = optimizers[1].update(slope, states[1], critic)
        slope = wg.grad(generator_loss)(generator, critic, z, blur)
        generator, of_generator = optimizers[0].update(slope, states[0], generator)
        return generator, critic, [of_generator, of_critic]

    steps = 1500 if small else 8000
    for k in range(steps):
        width = 0.3 * max(0.0, 1 - 1.5 * k / steps)
        real = heaps(rng, BATCH) + width * rng.normal(size=(BATCH, 2))
        z, blur = rng.normal(size=(BATCH, NOISE)), width * rng.normal(size=(BATCH, 2))
        generator, critic, states = step(generator, critic, states, real, z, blur)
    made = generator(rng.normal(size=(1000, NOISE)))
    centres = np.stack([np.cos(np.pi / 4 * np.arange(8)), np.sin(np.pi / 4 * np.arange(8))], axis=1)
    distance = np.sqrt(np.sum((made[:, None] - centres) ** 2, axis=2))
    counts = np.bincount(np.argmin(distance, axis=1), minlength=8)
    return dict(made=made, real=heaps(rng, 1000), heaps_found=int(np.sum(counts > 30)),
                near=np.mean(np.min(distance, axis=1) < 0.2))  # fmt: skip


def picture(results):
    figure = Figure(2, width=330, height=320)
    for title, points in (("Given", results["real"]), ("Made by the generator", results["made"])):
        axes = figure.axes(title, xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), equal=True)
        axes.points(*points[:400].T, size=1.5)
    return figure


if __name__ == "__main__":
    results = main()
    print(f"{results['heaps_found']} of 8 heaps found, {results['near']:.1%} of the points within 0.2 of one")
    picture(results).save(Path(__file__).with_suffix(".svg"))
