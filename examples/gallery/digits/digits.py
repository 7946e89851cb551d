"""Handwritten digits: a small convolutional network, trained with `nn.fit`."""

from pathlib import Path

import numpy as np

from examples.gallery.data import digits
from examples.gallery.drawing import Figure
from wengert import nn, optimize


def network(rng):
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, rng=rng), nn.relu, nn.MaxPool(2),
        nn.Conv2d(8, 16, 3, padding=1, rng=rng), nn.relu, nn.MaxPool(2),
        nn.Flatten(), nn.Dense(64, 10, rng=rng),
    )  # fmt: skip


def loss(model, images, labels):
    return nn.cross_entropy(model(images), labels)


def main(small=False):
    x, y, x_test, y_test = digits(small)
    as_images = lambda x: x.reshape(-1, 1, 8, 8)
    found = nn.fit(network(np.random.default_rng(0)), loss, (as_images(x), y), optimizer=optimize.adam(3e-3),
                   epochs=15 if small else 25, batch_size=50, validation=(as_images(x_test), y_test), seed=0,
                   progress=False)  # fmt: skip
    scores = found.model(as_images(x_test))
    guessed = np.argmax(scores, axis=1)
    return dict(accuracy=np.mean(guessed == y_test), history=found.history, guessed=guessed, labels=y_test,
                images=x_test, parameters=nn.count(found.model))  # fmt: skip


def picture(results):
    figure = Figure(2)
    axes = figure.axes("Training", "epoch", "cross-entropy", log_y=True)
    for name, values in results["history"].items():
        if "loss" in name:
            axes.line(np.arange(len(values)), values, name)
    wrong = np.flatnonzero(results["guessed"] != results["labels"])
    shown = np.r_[wrong, np.flatnonzero(results["guessed"] == results["labels"])][:24]
    sheet = np.ones((4 * 9, 6 * 9))
    for k, which in enumerate(shown):
        row, column = 9 * (k // 6), 9 * (k % 6)
        sheet[row : row + 8, column : column + 8] = results["images"][which].reshape(8, 8)
    figure.axes(f"New digits; the first {len(wrong)} are taken for others").image(sheet, 0, 1)
    return figure


if __name__ == "__main__":
    results = main()
    print(f"{results['accuracy']:.1%} of 360 new digits, {results['parameters']} parameters")
    picture(results).save(Path(__file__).with_suffix(".svg"))
