"""Sparse Jacobians and Hessians, beside CasADi, asdex (on JAX) and SciPy's finite differences, in one run.

`python benchmarks/sparse.py` in an environment that has the peers; those that are missing are left out. Every tool runs
the same NumPy code: CasADi on arrays of its symbols, asdex with `jax.numpy` for `numpy`. Matrices are compared before
anything is timed. Reported are ratios: evaluation ÷ the native function, with the number of colours, and each peer's
evaluation ÷ ours. Peers that build graphs of single numbers take part only at the smaller sizes.

--only a-1e4,d-1e4 chooses cases, --quick takes fewer samples, --clock cpu counts the processor's time.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import scipy.optimize._numdiff as numdiff
import scipy.sparse
from timing import interleaved

import wengert as wg

# ------------------------------------------------------------------------------------------------------- problems


def reaction(y, np=numpy):
    """(a) The Brusselator on a periodic grid."""
    side = round((y.shape[0] / 2) ** 0.5)
    u, v = y[: side * side].reshape(side, side), y[side * side :].reshape(side, side)

    def spread(w):
        return 10.0 * (np.roll(w, 1, 0) + np.roll(w, -1, 0) + np.roll(w, 1, 1) + np.roll(w, -1, 1) - 4.0 * w)

    rate = u * u * v
    return np.concatenate([(1.0 + rate - 4.4 * u + spread(u)).ravel(), (3.4 * u - rate + spread(v)).ravel()])


def lagrangian(z, np=numpy):
    """(b) Optimal control of a pendulum on a cart, by the trapezoidal rule, with multipliers that vary."""
    count = z.shape[0] // 3
    angle, speed, torque = z[:count], z[count : 2 * count], z[2 * count :]
    force = torque * np.cos(angle) - np.sin(angle) - 0.1 * speed**2 * np.sin(angle)
    step = 10.0 / count
    cost = step * np.sum(angle**2 + 0.1 * speed**2 + 0.01 * torque**2)
    weights = numpy.cos(numpy.arange(count - 1.0))
    first = angle[1:] - angle[:-1] - step / 2 * (speed[1:] + speed[:-1])
    second = speed[1:] - speed[:-1] - step / 2 * (force[1:] + force[:-1])
    return cost + np.sum(weights * first) + np.sum((1.0 - weights) * second)


def bundle(cameras: int, points: int, seen: int) -> tuple[Callable, Any]:
    """(c) ADBench's bundle adjustment, as one function of all cameras, points and weights."""
    random = numpy.random.default_rng(seen)
    camera, point = numpy.arange(seen) % cameras, numpy.arange(seen) % points
    features = random.normal(size=(seen, 2))

    def errors(x, np=numpy):
        c = x[: 11 * cameras].reshape(cameras, 11)[camera]
        p = x[11 * cameras : 11 * cameras + 3 * points].reshape(points, 3)[point]
        w = x[11 * cameras + 3 * points :]
        r0, r1, r2 = c[:, 0], c[:, 1], c[:, 2]
        x0, x1, x2 = p[:, 0] - c[:, 3], p[:, 1] - c[:, 4], p[:, 2] - c[:, 5]
        angle = np.sqrt(r0**2 + r1**2 + r2**2)
        a0, a1, a2 = r0 / angle, r1 / angle, r2 / angle
        cos, sin = np.cos(angle), np.sin(angle)
        along = (a0 * x0 + a1 * x1 + a2 * x2) * (1.0 - cos)
        y0 = x0 * cos + (a1 * x2 - a2 * x1) * sin + a0 * along
        y1 = x1 * cos + (a2 * x0 - a0 * x2) * sin + a1 * along
        y2 = x2 * cos + (a0 * x1 - a1 * x0) * sin + a2 * along
        p0, p1 = y0 / y2, y1 / y2
        r = p0**2 + p1**2
        scale = c[:, 6] * (1.0 + c[:, 9] * r + c[:, 10] * r**2)
        first = w * (scale * p0 + c[:, 7] - features[:, 0])
        second = w * (scale * p1 + c[:, 8] - features[:, 1])
        return np.concatenate([first, second, 1.0 - w**2])

    one = numpy.concatenate([random.normal(0.0, 0.1, 6), [500.0], random.normal(0.0, 0.1, 4)])
    far = numpy.append(random.normal(size=2), 5.0)
    start = numpy.concatenate([numpy.tile(one, cameras), numpy.tile(far, points), numpy.full(seen, 0.9)])
    return errors, start


def chained(x, np=numpy):
    """(d) Rosenbrock's function, chained."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


class Case(NamedTuple):
    order: int
    function: Callable
    point: Any
    has_peers: bool


def cases() -> dict[str, Callable[[], Case]]:
    at = lambda n: 0.5 + 0.4 * numpy.sin(numpy.arange(float(n)))
    return {
        "a-1e4": lambda: Case(1, reaction, at(2 * 71**2), True),
        "a-1e6": lambda: Case(1, reaction, at(2 * 707**2), False),
        "b-1e4": lambda: Case(2, lagrangian, at(3 * 3334), True),
        "c-small": lambda: Case(1, *bundle(20, 500, 2_000), True),
        "c-ba1": lambda: Case(1, *bundle(49, 7_776, 31_843), False),
        "c-ba4": lambda: Case(1, *bundle(372, 47_423, 204_472), False),
        "d-1e4": lambda: Case(2, chained, at(10_000), True),
        "d-1e6": lambda: Case(2, chained, at(1_000_000), False),
    }


# ---------------------------------------------------------------------------------------------------------- tools


def ours(case: Case) -> tuple[Callable, Callable]:
    """A function that evaluates, and one that gives what it evaluates as a sparse matrix."""
    way = wg.jacobian if case.order == 1 else wg.hessian
    evaluate = wg.jit(way(case.function, sparse=True))
    evaluate(case.point)
    return lambda: evaluate(case.point), lambda: evaluate(case.point)


def by_casadi(case: Case) -> tuple[Callable, Callable]:
    import casadi as ca

    x = ca.SX.sym("x", len(case.point))
    found = case.function(numpy.array(ca.vertsplit(x), dtype=object))
    if case.order == 1:
        matrix = ca.jacobian(ca.vertcat(*found), x)
    else:
        matrix = ca.hessian(found, x)[0]
    function = ca.Function("f", [x], [matrix])
    return lambda: function(case.point), lambda: function(case.point).sparse()


def by_asdex(case: Case) -> tuple[Callable, Callable]:
    import asdex
    import jax

    jax.config.update("jax_enable_x64", True)
    f = lambda x: case.function(x, jax.numpy)
    way = asdex.jacobian if case.order == 1 else asdex.hessian
    x = jax.numpy.asarray(case.point)
    evaluate = jax.jit(way(f, x))
    data = lambda: evaluate(x).data.block_until_ready()
    data()

    def matrix():
        found = evaluate(x)
        rows, columns = numpy.asarray(found.indices).T
        return scipy.sparse.csr_array((numpy.asarray(found.data), (rows, columns)), shape=found.shape)

    return data, matrix


def by_differences(case: Case) -> tuple[Callable, Callable]:
    """SciPy's forward differences, with its own grouping of columns; of our native function, or gradient."""
    f = wg.jit(case.function) if case.order == 1 else wg.jit(wg.grad(case.function))
    way = wg.sparsity(case.function, order=case.order)
    structure = way(case.point)
    groups = numdiff.group_columns(structure)
    evaluate = lambda: numdiff.approx_derivative(f, case.point, method="2-point", sparsity=(structure, groups))
    return evaluate, evaluate


PEERS = {"CasADi": ("casadi", by_casadi), "asdex": ("asdex", by_asdex), "differences": ("scipy", by_differences)}


# ------------------------------------------------------------------------------------------------------ measuring


def measured(name: str, case: Case, options: argparse.Namespace) -> str:
    start = time.perf_counter()
    pattern = wg.sparsity(case.function, order=case.order)(case.point)
    found = time.perf_counter()
    colors = wg.coloring(pattern, "column" if case.order == 1 else "symmetric").count
    colored = time.perf_counter()
    evaluate, matrix = ours(case)
    first = time.perf_counter()
    expected = matrix()
    native = wg.jit(case.function)
    native(case.point)
    functions: dict[Any, Callable] = {"native": lambda: native(case.point), "ours": evaluate}
    functions["numpy"] = lambda: case.function(case.point)
    for peer, (module, make) in PEERS.items():
        if importlib.util.find_spec(module) is None or not (case.has_peers or peer == "differences"):
            continue
        evaluate, matrix = make(case)
        scale = abs(expected).max()
        assert abs(matrix() - expected).max() <= (1e-3 if peer == "differences" else 1e-9) * scale, (name, peer)
        functions[peer] = evaluate
    rounds, seconds = (3, 0.02) if options.quick else (9, 0.05)
    samples = interleaved(functions, rounds, seconds, budget=20.0, fewest=2, clock=options.clock)
    best = {key: min(values) for key, values in samples.items()}
    cells = [
        name, f"{len(case.point):,}", f"{pattern.nnz:,}", str(colors), f"{found - start:.2f} + {colored - found:.2f}",
        f"{first - colored:.1f}", f"{best['ours'] / best['native']:.1f}", f"{best['ours'] / best['numpy']:.2f}",
        *[f"{best[peer] / best['ours']:.1f}" if peer in best else "" for peer in PEERS],
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


HEAD = (
    "| case | variables | entries | colours | pattern + colouring, s | first matrix, s | ours ÷ native function "
    "| ours ÷ NumPy's function | CasADi ÷ ours | asdex ÷ ours | differences ÷ ours |"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(cases()))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    options = parser.parse_args()
    print(HEAD, "|---|" + "---:|" * 10, sep="\n", flush=True)
    for name in options.only.split(","):
        print(measured(name, cases()[name](), options), flush=True)


if __name__ == "__main__":
    main()
