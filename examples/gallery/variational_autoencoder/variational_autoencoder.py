"""A variational autoencoder (Kingma and Welling 2014) of handwritten digits, with a code of two numbers."""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.data import digits
from examples.gallery.drawing import Figure
from wengert import nn, optimize

CODE, HIDDEN = 2, 64


def start(rng):
    encoder = nn.Sequential(nn.Dense(64, HIDDEN, rng=rng), np.tanh, nn.Dense(HIDDEN, 2 * CODE, rng=rng))
    decoder = nn.Sequential(nn.Dense(CODE, HIDDEN, rng=rng), np.tanh, nn.Dense(HIDDEN, 64, rng=rng))
    return {"encoder": encoder, "decoder": decoder}


def negative_bound(model, images, noise):
    """The evidence lower bound, negative, per image; `noise` is what makes the random codes."""
    found = model["encoder"](images)
    mean, log_sd = found[:, :CODE], found[:, CODE:]
    logits = model["decoder"](mean + np.exp(log_sd) * noise)
    reconstruction = np.sum(np.logaddexp(0, logits) - images * logits, axis=1)
    divergence = np.sum(np.exp(2 * log_sd) + mean**2 - 1 - 2 * log_sd, axis=1) / 2
    return np.mean(reconstruction + divergence)


def main(small=False):
    images, _, new, labels = digits(small)
    rng = np.random.default_rng(0)
    model = start(rng)
    optimizer = optimize.adam(3e-3)
    state = optimizer.init(model)

    @wg.jit
    def step(model, state, batch, noise):
        value, gradient = wg.value_and_grad(negative_bound)(model, batch, noise)
        model, state = optimizer.update(gradient, state, model)
        return model, state, value

    losses = []
    for _ in range(400 if small else 4000):
        batch = images[rng.choice(len(images), 100)]
        model, state, value = step(model, state, batch, rng.normal(size=(100, CODE)))
        losses.append(value)
    noise = rng.normal(size=(len(new), CODE))
    untrained = negative_bound(start(np.random.default_rng(0)), new, noise)
    axis = np.linspace(-2, 2, 9)
    codes = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    grid = 1 / (1 + np.exp(-model["decoder"](codes))).reshape(9, 9, 8, 8)
    return dict(losses=np.array(losses), before=untrained, after=negative_bound(model, new, noise), grid=grid,
                codes=model["encoder"](new)[:, :CODE], labels=labels)  # fmt: skip


def picture(results):
    figure = Figure(2, width=340, height=330)
    axes = figure.axes("Codes of new digits", equal=True)
    for digit in range(10):
        chosen = results["codes"][results["labels"] == digit]
        axes.points(*chosen.T, color=f"hsl({36 * digit}, 70%, 45%)", size=2)
    sheet = results["grid"].transpose(0, 2, 1, 3).reshape(72, 72)
    figure.axes("Digits made from codes").image(sheet, 0, 1)
    return figure


if __name__ == "__main__":
    results = main()
    print(f"negative bound of new digits: {results['before']:.2f} -> {results['after']:.2f}")
    picture(results).save(Path(__file__).with_suffix(".svg"))
