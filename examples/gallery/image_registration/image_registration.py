"""Image registration: which rotation, scale and shift takes one picture to another?

The moving picture is read between its pixels by SciPy's `map_coordinates`, at places that the six parameters say, and
the squared differences are minimised by Gauss–Newton steps, first on blurred pictures.
"""

from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

import wengert as wg
from examples.gallery.drawing import Figure

SIZE = 48


def scene(rng):
    """A smooth picture: blobs of different sizes."""
    y, x = np.mgrid[:SIZE, :SIZE]
    picture = np.zeros((SIZE, SIZE))
    for _ in range(12):
        cy, cx, r = rng.uniform(10, SIZE - 10, 2).tolist() + [rng.uniform(2, 6)]
        picture += rng.uniform(-1, 1) * np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * r**2))
    return picture


def moved(parameters, picture):
    """The picture, turned by an angle, scaled, sheared and shifted around its middle."""
    angle, log_scale, shear, dy, dx = parameters
    middle = (SIZE - 1) / 2
    y, x = np.mgrid[:SIZE, :SIZE] - middle
    c, s, scale = np.cos(angle), np.sin(angle), np.exp(log_scale)
    rows = scale * (c * y - s * x) + middle + dy
    columns = scale * (s * y + c * x) + shear * y + middle + dx
    return map_coordinates(picture, np.stack([rows, columns]), order=1, mode="nearest")


def main(small=False):
    rng = np.random.default_rng(4)
    truth = np.array([0.25, 0.1, 0.05, 2.0, -3.0])
    moving = scene(rng)
    fixed = moved(truth, moving) + 0.01 * rng.normal(size=(SIZE, SIZE))
    parameters, history = np.zeros(5), []
    jacobian = wg.jit(wg.value_and_jacobian(lambda p, a, b: (moved(p, a) - b).ravel()))
    for blur in (4.0, 2.0, 1.0, 0.0):
        a, b = (gaussian_filter(p, blur) if blur else p for p in (moving, fixed))
        for _ in range(8):
            difference, slopes = jacobian(parameters, a, b)
            parameters = parameters - np.linalg.lstsq(slopes, difference, rcond=None)[0]
            history.append(np.sqrt(np.mean((moved(parameters, moving) - fixed) ** 2)))
    return dict(parameters=parameters, truth=truth, history=np.array(history), moving=moving, fixed=fixed,
                found=moved(parameters, moving))  # fmt: skip


def picture(results):
    figure = Figure(4, width=230, height=230)
    figure.axes("moving").image(results["moving"])
    figure.axes("fixed").image(results["fixed"])
    figure.axes("difference before").image(np.abs(results["moving"] - results["fixed"]), 0, 1)
    figure.axes("difference after").image(np.abs(results["found"] - results["fixed"]), 0, 1)
    return figure


if __name__ == "__main__":
    found = main()
    print("true ", found["truth"])
    print("found", found["parameters"].round(4), f" difference {found['history'][0]:.4f} -> {found['history'][-1]:.4f}")
    picture(found).save(Path(__file__).with_suffix(".svg"))
