"""Nonlinear programs side by side: `python benchmarks/nlp.py` from the root of the repository.

A pole on a cart swings up, discretised by the trapezoidal rule into about ten thousand variables, and small programs
from the literature, one after the other. Ours: `optimize.nlp` with Ipopt (ipyopt) and with the interior-point method of
our own; beside CasADi with its Ipopt. Tools that are missing are left out. "ready" is the time from plain functions to
the first derivatives (ours: compiled, from an empty cache the first time), "solve" that of a solution after that. All
run the same problem from the same start; times are the least of several, ratios are to CasADi.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from wengert.optimize import nlp
from wengert.optimize.engines import interior_point, ipopt
from wengert.optimize.objective import Unknowns
from wengert.optimize.program import FlatProgram

try:
    import casadi
except ImportError:
    casadi = None

N, T = 2000, 2.0
M1, M2, LENGTH, G = 1.0, 0.3, 0.5, 9.81
END = np.array([1.0, np.pi, 0.0, 0.0])
TOLERANCE = 1e-8


def slope(x, u, sin, cos):
    """The motion of cart and pole; columns of x are position, angle and their rates."""
    angle, v, w = x
    s, c = sin(angle), cos(angle)
    d = M1 + M2 * s**2
    a = (u + M2 * s * (LENGTH * w**2 + G * c)) / d
    b = -(u * c + M2 * LENGTH * w**2 * c * s + (M1 + M2) * G * s) / (LENGTH * d)
    return v, w, a, b


def effort(p):
    return T / N * (np.sum(p["u"] ** 2) - 0.5 * (p["u"][0] ** 2 + p["u"][-1] ** 2))


def defects(p):
    x = p["x"]
    f = np.stack(slope((x[:, 1], x[:, 2], x[:, 3]), p["u"], np.sin, np.cos), axis=1)
    return x[1:] - x[:-1] - T / N / 2 * (f[1:] + f[:-1])


def cart() -> tuple[dict, tuple[np.ndarray, np.ndarray]]:
    """The start and the bounds: both ends of the motion are held."""
    s = np.linspace(0, 1, N + 1)
    x0 = {"u": np.zeros(N + 1), "x": np.outer(s, END)}
    low = {"u": np.full(N + 1, -20.0), "x": np.full((N + 1, 4), -np.inf)}
    low["x"][:, 0] = -2
    high = {name: -limit for name, limit in low.items()}
    for limit in (low, high):
        limit["x"][0], limit["x"][-1] = 0.0, END
    ravel = Unknowns(x0).ravel
    return x0, (np.asarray(ravel(low)), np.asarray(ravel(high)))


def least(run: Callable[[], object], repeat: int = 3) -> float:
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def ours(solve: Callable) -> tuple[float, float, float]:
    x0, bounds = cart()
    start = time.perf_counter()
    program = FlatProgram(effort, x0, defects, None, bounds, (), True)
    program.values(program.x0)
    program.first(program.x0)
    program.second(program.x0, 1.0, np.zeros(program.m))
    ready = time.perf_counter() - start
    found = solve(program, TOLERANCE, 500, None, {})
    assert found.kind == "solved"
    return ready, least(lambda: solve(program, TOLERANCE, 500, None, {})), program.values(found.x)[0]


def casadis() -> tuple[float, float, float]:
    x0, (low, high) = cart()
    start = time.perf_counter()
    X, U = casadi.MX.sym("x", 4, N + 1), casadi.MX.sym("u", 1, N + 1)
    one, force = casadi.SX.sym("s", 4), casadi.SX.sym("f")
    step = casadi.Function(
        "slope", [one, force], [casadi.vertcat(*slope(one[1:].elements(), force, casadi.sin, casadi.cos))]
    )
    F = step.map(N + 1)(X, U)
    rows = X[:, 1:] - X[:, :-1] - T / N / 2 * (F[:, 1:] + F[:, :-1])
    cost = T / N * (casadi.sumsqr(U) - 0.5 * (U[0] ** 2 + U[-1] ** 2))
    problem = {"x": casadi.vertcat(U.T, casadi.vec(X)), "f": cost, "g": casadi.vec(rows)}
    quiet = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": TOLERANCE}}
    solver = casadi.nlpsol("solver", "ipopt", problem, quiet)
    ready = time.perf_counter() - start
    given = {"x0": np.asarray(Unknowns(x0).ravel(x0)), "lbx": low, "ubx": high, "lbg": 0, "ubg": 0}
    found = solver(**given)
    return ready, least(lambda: solver(**given)), float(found["f"])


SMALL = {
    "Rosenbrock in a box": (
        lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, None,
        lambda x: [x[0] + x[1] ** 2, x[0] ** 2 + x[1]], [-2.0, 1.0], [-0.5, -np.inf], [0.5, 1.0],
    ),
    "sphere and product": (
        lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
        lambda x: [x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + x[3] ** 2 - 40],
        lambda x: [x[0] * x[1] * x[2] * x[3] - 25], [1.0, 5.0, 5.0, 1.0], [1.0] * 4, [5.0] * 4,
    ),
    "three balls": (
        lambda x: x[0] ** 2 + x[1] ** 2 + 2 * x[2] ** 2 + x[3] ** 2 - 5 * x[0] - 5 * x[1] - 21 * x[2] + 7 * x[3], None,
        lambda x: [
            8 - x[0] ** 2 - x[1] ** 2 - x[2] ** 2 - x[3] ** 2 - x[0] + x[1] - x[2] + x[3],
            10 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - 2 * x[3] ** 2 + x[0] + x[3],
            5 - 2 * x[0] ** 2 - x[1] ** 2 - x[2] ** 2 - 2 * x[0] + x[1] + x[3],
        ], [0.0] * 4, [-np.inf] * 4, [np.inf] * 4,
    ),
}  # fmt: skip


def small(engine: str) -> float:
    """All small programs, from plain functions to solutions."""

    def run() -> None:
        for f, equal, unequal, start, low, high in SMALL.values():
            arrays = [None if g is None else (lambda x, g=g: np.array(g(x))) for g in (equal, unequal)]
            x0 = np.array(start)
            found = nlp(f, x0, equalities=arrays[0], inequalities=arrays[1], engine=engine, tol=TOLERANCE, jit=False,
                        bounds=list(zip(low, high, strict=True)))  # fmt: skip
            assert found.success

    return least(run)


def small_casadi() -> float:
    def run() -> None:
        for f, equal, unequal, start, low, high in SMALL.values():
            x = casadi.SX.sym("x", len(start))
            rows = [*(equal(x) if equal else []), *unequal(x)]
            quiet = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": TOLERANCE}}
            solver = casadi.nlpsol("s", "ipopt", {"x": x, "f": f(x), "g": casadi.vertcat(*rows)}, quiet)
            count = len(equal(x)) if equal else 0
            upper = [0.0] * count + [np.inf] * (len(rows) - count)
            solver(x0=start, lbx=low, ubx=high, lbg=0, ubg=upper)

    return least(run)


def main() -> None:
    engines = {"interior-point": interior_point.solve} | ({"ipopt": ipopt.solve} if ipopt.is_there() else {})
    times = {f"wengert, {name}": ours(solve) for name, solve in engines.items()}
    all_small = {f"wengert, {name}": small(name) for name in engines}
    if casadi is not None:
        times["casadi, ipopt"], all_small["casadi, ipopt"] = casadis(), small_casadi()
    base, small_base = times.get("casadi, ipopt"), all_small.get("casadi, ipopt")
    print(f"swing-up, {5 * (N + 1)} variables, {4 * N} constraints")
    for name, (ready, solve, value) in times.items():
        ratio = f"  {base[1] / solve:5.2f} × CasADi's speed" if base else ""
        print(f"  {name:24} ready {ready:6.2f} s   solve {solve:6.3f} s   optimum {value:.6f}{ratio}")
    print(f"{len(SMALL)} small programs, from functions to solutions")
    for name, seconds in all_small.items():
        ratio = f"  {small_base / seconds:5.2f} × CasADi's speed" if small_base else ""
        print(f"  {name:24} {1e3 * seconds:7.1f} ms{ratio}")


if __name__ == "__main__":
    main()
