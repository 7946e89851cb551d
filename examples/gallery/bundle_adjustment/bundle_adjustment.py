"""Bundle adjustment: cameras and points found at once from where the points are seen.

Cameras have three numbers for the rotation, three for the place, and a focal length; points three for their place.
`optimize.least_squares` is given the residuals of all observations, as plain NumPy, and finds the structure by itself.
"""

from pathlib import Path

import numpy as np

from examples.gallery.drawing import Figure
from wengert import optimize


def rotated(turn, points):
    """Points turned by rotation vectors (Rodrigues' formula), row by row."""
    angle = np.sqrt(np.sum(turn**2, axis=1, keepdims=True) + 1e-20)
    axis = turn / angle
    c, s = np.cos(angle), np.sin(angle)
    along = np.sum(axis * points, axis=1, keepdims=True)
    return c * points + s * np.cross(axis, points) + (1 - c) * along * axis


def seen(unknowns, camera, point):
    """Where points appear in the pictures of cameras: a row for each observation."""
    cameras, points = unknowns["cameras"], unknowns["points"]
    p = rotated(cameras[camera, :3], points[point]) + cameras[camera, 3:6]
    return cameras[camera, 6:7] * p[:, :2] / p[:, 2:3]


def residuals(unknowns, camera, point, observed):
    return (seen(unknowns, camera, point) - observed).ravel()


def main(small=False):
    rng = np.random.default_rng(0)
    cameras, points = (5, 40) if small else (12, 400)
    truth = {"points": rng.uniform(-1, 1, (points, 3)),
             "cameras": np.hstack([0.2 * rng.normal(size=(cameras, 3)), 0.2 * rng.normal(size=(cameras, 2)),
                                   4 + rng.random((cameras, 1)) / 2, 1 + rng.random((cameras, 1)) / 10])}  # fmt: skip
    camera, point = (part.ravel() for part in np.meshgrid(np.arange(cameras), np.arange(points), indexing="ij"))
    visible = rng.random(len(camera)) < 0.6
    camera, point = camera[visible], point[visible]
    noise = 1e-3
    observed = seen(truth, camera, point) + noise * rng.normal(size=(len(camera), 2))
    guess = {name: value + 0.05 * rng.normal(size=value.shape) for name, value in truth.items()}
    found = optimize.least_squares(lambda u: residuals(u, camera, point, observed), guess)
    rms = lambda unknowns: np.sqrt(np.mean(residuals(unknowns, camera, point, observed) ** 2))
    return dict(before=rms(guess), after=rms(found.x), noise=noise, unknowns=7 * cameras + 3 * points, nfev=found.nfev,
                observations=len(camera), seen_before=seen(guess, camera, point)[camera == 0],
                seen_after=seen(found.x, camera, point)[camera == 0], observed=observed[camera == 0])  # fmt: skip


def picture(results):
    figure = Figure(2, width=330, height=310)
    for title, name in (("Before", "seen_before"), ("After", "seen_after")):
        axes = figure.axes(f"{title}, in the first picture", equal=True)
        axes.points(*results["observed"].T, "observed", size=3, color="#bbbbbb")
        axes.points(*results[name].T, "computed", size=1.3)
    return figure


if __name__ == "__main__":
    results = main()
    print(f"{results['unknowns']} unknowns, {results['observations']} observations: "
          f"{results['before']:.4f} -> {results['after']:.5f} in {results['nfev']} evaluations")  # fmt: skip
    picture(results).save(Path(__file__).with_suffix(".svg"))
