"""Tangent propagation (Simard et al. 1998): a classifier that is told that digits may be rotated a little.

The derivative of a rotated image by the angle is its tangent. The training loss has a term for the derivative of the
network along this tangent, a Jacobian-vector product; so the gradient of the loss is a reverse sweep over a forward
one.
"""

from pathlib import Path

import numpy as np
from scipy.ndimage import map_coordinates

import wengert as wg
from examples.gallery.data import digits
from examples.gallery.drawing import Figure
from wengert import optimize

HIDDEN = 40


def rotated(image, angle):
    """An image of 8 × 8 pixels, turned by an angle."""
    y, x = np.mgrid[:8, :8] - 3.5
    c, s = np.cos(angle), np.sin(angle)
    places = np.stack([c * y - s * x, s * y + c * x]) + 3.5 + 3
    framed = np.pad(image.reshape(8, 8), 3)  # so that the corners stay inside
    return map_coordinates(framed, places, order=3).ravel()


def scores(w, image):
    return w["out"] @ np.tanh(w["in"] @ image + w["b"]) + w["c"]


def loss(w, images, tangents, labels, strength):
    """Cross-entropy, and the squared derivative of the scores along the tangents."""
    value, along = wg.vmap(lambda x, t: wg.jvp(lambda x: scores(w, x), (x,), (t,)))(images, tangents)
    entropy = np.mean(wg.logsumexp(value, axis=1) - value[np.arange(len(labels)), labels])
    return entropy + strength * np.mean(np.sum(along**2, axis=1))


def train(images, tangents, labels, strength, steps):
    rng = np.random.default_rng(0)
    w = {"in": 0.1 * rng.normal(size=(HIDDEN, 64)), "b": np.zeros(HIDDEN), "out": 0.1 * rng.normal(size=(10, HIDDEN)),
         "c": np.zeros(10)}  # fmt: skip
    optimizer = optimize.adam(0.01)
    state = optimizer.init(w)

    @wg.jit
    def step(w, state):
        return optimizer.update(wg.grad(loss)(w, images, tangents, labels, strength), state, w)

    for _ in range(steps):
        w, state = step(w, state)
    return w


def main(small=False):
    images, labels, new, new_labels = digits()
    images, labels = images[:150], labels[:150]  # few examples: here it helps to know more
    tangents = wg.vmap(lambda image: wg.jvp(lambda a: rotated(image, a), (0.0,), (1.0,))[1])(images)
    angles = np.deg2rad(np.arange(0, 41, 10 if small else 5))
    accuracy = {}
    guess = wg.jit(wg.vmap(lambda w, image, angle: scores(w, rotated(image, angle)), in_axes=(None, 0, None)))
    for strength in (0.0, 0.05):
        w = train(images, tangents, labels, strength, 150 if small else 500)
        accuracy[strength] = np.array([np.mean(np.argmax(guess(w, new, a), axis=1) == new_labels) for a in angles])
    return dict(angles=np.rad2deg(angles), plain=accuracy[0.0], tangents=accuracy[0.05])


def picture(results):
    figure = Figure(1, width=460)
    axes = figure.axes("Accuracy on turned digits, trained with 150", "angle in degrees", "accuracy")
    axes.line(results["angles"], results["plain"], "plain")
    axes.line(results["angles"], results["tangents"], "tangent propagation")
    return figure


if __name__ == "__main__":
    results = main()
    for angle, a, b in zip(results["angles"], results["plain"], results["tangents"], strict=True):
        print(f"{angle:4.0f} degrees: plain {a:.1%}, tangent propagation {b:.1%}")
    picture(results).save(Path(__file__).with_suffix(".svg"))
