"""Inverse graphics: shape, place and light recovered from one picture.

A ray marcher renders a soft union of two spheres, lit by one light, in thirty lines of NumPy. All of it is
differentiable, the marching included, so the parameters of the scene are found by comparing pictures.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize


def distance(scene, p):
    """The signed distance of points from two spheres that melt into each other."""
    each = [
        np.sqrt(np.sum((p - c) ** 2, axis=-1) + 1e-9) - r for c, r in zip(scene["centres"], scene["radii"], strict=True)
    ]
    return -0.15 * np.logaddexp(-each[0] / 0.15, -each[1] / 0.15)


def render(scene, size, steps=20):
    """A picture of size × size: rays go along z; what they hit is shaded by Lambert's law."""
    axis = np.linspace(-1.5, 1.5, size)
    y, x = np.meshgrid(axis, axis, indexing="ij")
    p = np.stack([x, y, np.full((size, size), -3.0)], axis=-1)
    closest = np.full((size, size), np.inf)
    for _ in range(steps):
        d = distance(scene, p)
        closest = np.minimum(closest, d)
        p = p + d[..., None] * np.array([0.0, 0.0, 1.0])
    normal = wg.grad(lambda q: np.sum(distance(scene, q)))(p)
    light = scene["light"] / np.sqrt(np.sum(scene["light"] ** 2))
    shade = 0.15 + 0.85 * np.maximum(normal @ light, 0)
    cover = 1 / (1 + np.exp(closest / 0.02))  # a soft outline: it has a derivative
    return cover * shade


def main(small=False):
    size = 24 if small else 48
    truth = {"centres": np.array([[-0.45, 0.2, 0.0], [0.5, -0.25, 0.3]]), "radii": np.array([0.6, 0.45]),
             "light": np.array([0.6, -0.5, -1.0])}  # fmt: skip
    guess = {"centres": np.array([[-0.2, 0.0, 0.1], [0.3, 0.0, 0.1]]), "radii": np.array([0.5, 0.5]),
             "light": np.array([0.0, 0.0, -1.0])}  # fmt: skip
    wanted = render(truth, size)
    loss = lambda scene: np.mean((render(scene, size) - wanted) ** 2)
    found = optimize.minimize(loss, guess, method="BFGS", options={"maxiter": 150 if small else 300})
    return dict(first=loss(guess), last=found.fun, scene=found.x, truth=truth, wanted=wanted,
                before=render(guess, size), after=render(found.x, size))  # fmt: skip


def picture(results):
    figure = Figure(3, width=250, height=240)
    for name in ("wanted", "before", "after"):
        figure.axes(name).image(results[name], 0, 1)
    return figure


if __name__ == "__main__":
    found = main()
    print(f"squared difference {found['first']:.5f} -> {found['last']:.2e}")
    for name in ("centres", "radii"):
        print(name, "true", found["truth"][name].tolist(), "found", found["scene"][name].round(3).tolist())
    picture(found).save(Path(__file__).with_suffix(".svg"))
