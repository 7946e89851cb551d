"""Bundle adjustment beside SciPy's `least_squares`, with our Jacobian and with its differences, and Ceres, in one run.

`python benchmarks/bundle_adjustment.py` makes a scene of cameras and points at random; `--tracks file.npz` takes real
ones (arrays `intrinsics`, `cameras`, `points`, `camera_index`, `point_index`, `observations`). Every tool starts from
the same point and is told to stop when the cost falls by less than 1e-8 of itself. Reported is the time to the answer,
theirs ÷ ours, with the cost that each reached; our compilation is told, not counted. Ceres (`pyceres`, called from
Python) has a cost function for each observation, whose derivatives our compiled code computes: the least work that a
Python cost function can be.

--cameras, --points, --seen choose the scene, --only ours,scipy,differences,ceres the tools.
"""

import argparse
import importlib.util
import time

import numpy as np
import scipy.optimize

import wengert as wg
from wengert import optimize

TOLERANCE = 1e-8


def rotated(w, x):
    """Points turned by rotation vectors."""
    square = np.sum(w * w, axis=-1, keepdims=True) + 1e-30
    angle = np.sqrt(square)
    along = np.sum(w * x, axis=-1, keepdims=True)
    return x * np.cos(angle) + np.cross(w, x) * (np.sin(angle) / angle) + w * along * ((1 - np.cos(angle)) / square)


def projected(camera, point, lens):
    """Pixels of points, one camera for each."""
    f, cx, cy, k1, k2, k3, p1, p2 = lens
    q = rotated(camera[..., :3], point) + camera[..., 3:]
    x, y = q[..., 0] / q[..., 2], q[..., 1] / q[..., 2]
    s = x * x + y * y
    d = 1 + s * (k1 + s * (k2 + s * k3))
    u = x * d + 2 * p1 * x * y + p2 * (s + 2 * x * x)
    v = y * d + 2 * p2 * x * y + p1 * (s + 2 * y * y)
    return np.stack([f * u + cx, f * v + cy], axis=-1)


def scene(cameras: int, points: int, seen: int) -> dict:
    """Cameras around a cloud of points, each of which is seen by some of them, with half a pixel of noise."""
    random = np.random.default_rng(0)
    lens = np.array([800.0, 320, 240, -0.1, 0.02, 0.0, 1e-3, -1e-3])
    truth = np.concatenate([0.2 * random.normal(size=(cameras, 5)), 6 + random.random((cameras, 1))], axis=1)
    cloud = random.normal(size=(points, 3))
    camera_index = np.argsort(random.random((points, cameras)), axis=1)[:, :seen].ravel()
    point_index = np.repeat(np.arange(points), min(seen, cameras))
    clean = projected(truth[camera_index], cloud[point_index], lens)
    return {
        "intrinsics": lens, "camera_index": camera_index, "point_index": point_index,
        "observations": clean + 0.5 * random.normal(size=clean.shape),
        "cameras": truth + 0.02 * random.normal(size=truth.shape),
        "points": cloud + 0.05 * random.normal(size=cloud.shape),
    }  # fmt: skip


def residuals(z: dict):
    """The function that is fitted: plain NumPy."""
    camera_index, point_index, pixels, lens = z["camera_index"], z["point_index"], z["observations"], z["intrinsics"]

    def r(x):
        return projected(x["cameras"][camera_index], x["points"][point_index], lens) - pixels

    return r


def ours(r, start, z):
    """With compiled code that is there already."""
    found = optimize.least_squares(r, start, ftol=TOLERANCE)
    return found.cost


def by_scipy(differences: bool):
    """SciPy's trust-region reflective method, with our Jacobian or its own differences on our pattern."""

    def run(r, start, z):
        shape = start["cameras"].shape
        split = start["cameras"].size
        flat = lambda v: r({"cameras": v[:split].reshape(shape), "points": v[split:].reshape(-1, 3)}).ravel()
        x0 = np.concatenate([start["cameras"].ravel(), start["points"].ravel()])
        jacobian = wg.jit(wg.jacobian(flat, sparse=True))
        more = {"jac_sparsity": wg.sparsity(flat)(x0)} if differences else {"jac": jacobian}
        found = scipy.optimize.least_squares(flat, x0, ftol=TOLERANCE, x_scale="jac", method="trf", **more)
        return found.cost

    return run


def by_ceres(r, start, z):
    """Ceres with a Python cost function for each observation, Schur complement, one thread."""
    import pyceres

    lens = z["intrinsics"]
    both = wg.jit(wg.value_and_jacobian(lambda c, p: projected(c, p, lens), argnums=(0, 1)))

    class Observation(pyceres.CostFunction):
        def __init__(self, pixel):
            super().__init__()
            self.pixel = pixel
            self.set_num_residuals(2)
            self.set_parameter_block_sizes([6, 3])

        def Evaluate(self, parameters, residuals, jacobians):
            value, (of_camera, of_point) = both(np.asarray(parameters[0]), np.asarray(parameters[1]))
            residuals[:] = value - self.pixel
            if jacobians is not None:
                if jacobians[0] is not None:
                    jacobians[0][:] = of_camera.ravel()
                if jacobians[1] is not None:
                    jacobians[1][:] = of_point.ravel()
            return True

    cameras = [c.copy() for c in start["cameras"]]
    points = [p.copy() for p in start["points"]]
    problem = pyceres.Problem()
    kept = [Observation(pixel) for pixel in z["observations"]]
    for one, i, j in zip(kept, z["camera_index"], z["point_index"], strict=True):
        problem.add_residual_block(one, None, [cameras[i], points[j]])
    options = pyceres.SolverOptions()
    options.linear_solver_type = pyceres.LinearSolverType.DENSE_SCHUR
    options.function_tolerance = TOLERANCE
    options.max_num_iterations = 200
    options.num_threads = 1
    options.minimizer_progress_to_stdout = False
    summary = pyceres.SolverSummary()
    pyceres.solve(options, problem, summary)
    return summary.final_cost


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameras", type=int, default=50)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--seen", type=int, default=5)
    parser.add_argument("--tracks")
    parser.add_argument("--only", default="ours,scipy,differences,ceres")
    chosen = parser.parse_args()
    z = dict(np.load(chosen.tracks)) if chosen.tracks else scene(chosen.cameras, chosen.points, chosen.seen)
    r, start = residuals(z), {"cameras": z["cameras"], "points": z["points"]}
    tools = {"ours": ours, "scipy": by_scipy(False), "differences": by_scipy(True), "ceres": by_ceres}
    print(f"{len(z['cameras'])} cameras, {len(z['points'])} points, {len(z['observations'])} observations")
    begin = time.perf_counter()
    ours(r, start, z)
    print(f"ours, with compilation: {time.perf_counter() - begin:.1f} s")
    times = {}
    for name in chosen.only.split(","):
        if name == "ceres" and importlib.util.find_spec("pyceres") is None:
            print("ceres: pyceres is not installed")
            continue
        begin, of_processor = time.perf_counter(), time.process_time()
        cost = tools[name](r, start, z)
        times[name] = time.process_time() - of_processor
        line = f"{name:12} {time.perf_counter() - begin:8.2f} s, of the processor {times[name]:8.2f} s, cost {cost:.8g}"
        print(line + (f", ÷ ours {times[name] / times['ours']:.1f}" if "ours" in times else ""), flush=True)


if __name__ == "__main__":
    main()
