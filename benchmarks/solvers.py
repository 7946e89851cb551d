"""Gradients of answers: differential equations, roots and quadratic programs, beside peers, in one run.

    python benchmarks/solvers.py [--heat 100] [names]

Needs `pip install diffrax optimistix jaxopt casadi`; peers that are missing are left out. Times are those of the
processor, the best of several calls after the first; the first call, with compiling, is shown beside. All sides run in
double precision with the same tolerances; diffrax with a method of the same kind, CasADi with CVODES and its adjoint
equation, jaxopt with OSQP. `--heat` is the width of the grid of the heat equation: diffrax has dense Jacobians, and is
left out from 50 on.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable

import numpy as np

import wengert as wg

RTOL, ATOL = 1e-8, 1e-10
RATES = np.array([1.5, 1.0, 3.0, 1.0])
ROBERTSON = np.array([0.04, 3e7, 1e4])
COUNT = 1000
COEFFICIENTS = np.array([2.0, 1.0])


def lotka_volterra(p):
    f = lambda t, y, p: np.stack([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])
    return np.sum(wg.odeint(f, np.ones(2), np.linspace(0.0, 10.0, 11), p, rtol=RTOL, atol=ATOL)[-1])


def robertson(p):
    def f(t, y, p):
        slow, fast, back = p[0] * y[0], p[1] * y[1] ** 2, p[2] * y[1] * y[2]
        return np.stack([-slow + back, slow - back - fast, fast])

    y = wg.odeint(f, np.array([1.0, 0.0, 0.0]), np.array([0.0, 40.0]), p, method="Radau", rtol=1e-6, atol=1e-9)
    return y[-1][0]


def chain(p):
    """Broyden's tridiagonal function."""

    def f(y, p):
        before, after = np.concatenate([np.zeros(1), y[:-1]]), np.concatenate([y[1:], np.zeros(1)])
        return (3 - p[0] * y) * y - before - 2 * after + p[1]

    return np.sum(wg.root(f, -np.ones(COUNT), p) ** 2)


WIDTH = 100
HEAT = np.array([1.0, 0.5])
HEAT_RTOL, HEAT_ATOL = 1e-6, 1e-8


def heat_start():
    x = np.arange(1, WIDTH + 1) / (WIDTH + 1)
    return (np.outer(np.sin(np.pi * x), np.sin(np.pi * x)) * (1 + 0.3 * np.outer(x, x**2))).ravel()


def heat(p):
    """Diffusion on a square, with a reaction: 10⁴ unknowns, stiff."""

    def f(t, y, p):
        u = y.reshape(WIDTH, WIDTH)
        v = np.pad(u, 1)
        laplacian = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * u
        return (p[0] * (WIDTH + 1) ** 2 * laplacian - p[1] * u**3).reshape(-1)

    options = {"method": "Rodas5P", "rtol": HEAT_RTOL, "atol": HEAT_ATOL}
    return np.sum(wg.odeint(f, heat_start(), np.array([0.0, 0.1]), p, **options)[-1] ** 2)


def programs():
    """What 64 quadratic programs with 10 unknowns, 3 equations and 20 inequalities share; zero satisfies them all."""
    random = np.random.default_rng(0)
    root, G, A = random.normal(size=(10, 10)), random.normal(size=(20, 10)), random.normal(size=(3, 10))
    return root @ root.T / 10 + np.eye(10), G, random.uniform(0.5, 2, 20), A, np.zeros(3)


PROGRAMS = programs()
LINEAR = 3 * np.random.default_rng(1).normal(size=(64, 10))


def layer(q):
    """A layer of quadratic programs, for a batch."""
    P, G, h, A, b = PROGRAMS
    return np.sum(wg.qp(P, q.reshape(64, 10), G, h, A, b) ** 2)


def of_casadi():
    """The same with CVODES: name -> gradient."""
    import casadi

    def gradient(y0, end, p, slope, objective, rtol, atol):
        y, q = casadi.MX.sym("y", len(y0)), casadi.MX.sym("p", len(p))
        options = {"reltol": rtol, "abstol": atol, "max_num_steps": 100_000}
        solve = casadi.integrator("solve", "cvodes", {"x": y, "p": q, "ode": slope(y, q)}, 0.0, end, options)
        value = objective(solve(x0=casadi.DM(y0), p=q)["xf"])
        found = casadi.Function("gradient", [q], [casadi.gradient(value, q)])
        return lambda p: np.asarray(found(p)).ravel()

    def lotka_volterra():
        slope = lambda y, p: casadi.vertcat(p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1])
        return gradient(np.ones(2), 10.0, RATES, slope, casadi.sum1, RTOL, ATOL)

    def robertson():
        def slope(y, p):
            slow, fast, back = p[0] * y[0], p[1] * y[1] ** 2, p[2] * y[1] * y[2]
            return casadi.vertcat(-slow + back, slow - back - fast, fast)

        return gradient(np.array([1.0, 0.0, 0.0]), 40.0, ROBERTSON, slope, lambda y: y[0], 1e-6, 1e-9)

    def heat():
        line = casadi.DM(np.diag(np.ones(WIDTH - 1), 1) + np.diag(np.ones(WIDTH - 1), -1) - 2 * np.eye(WIDTH))
        line, one = casadi.sparsify(line), casadi.DM.eye(WIDTH)
        laplacian = casadi.kron(line, one) + casadi.kron(one, line)
        slope = lambda y, p: p[0] * (WIDTH + 1) ** 2 * casadi.mtimes(laplacian, y) - p[1] * y**3
        return gradient(heat_start(), 0.1, HEAT, slope, casadi.sumsqr, HEAT_RTOL, HEAT_ATOL)

    return {"lotka_volterra": lotka_volterra, "robertson": robertson, "heat": heat}


def of_jax():
    """The same with JAX's libraries: name -> gradient."""
    import diffrax
    import jax
    import jax.numpy as jnp
    import optimistix

    jax.config.update("jax_enable_x64", True)

    def solved(f, solver, y0, end, p, rtol, atol):
        control = diffrax.PIDController(rtol=rtol, atol=atol)
        return diffrax.diffeqsolve(
            diffrax.ODETerm(f), solver, 0.0, end, None, y0, args=p, stepsize_controller=control, max_steps=4096
        ).ys[-1]

    def lotka_volterra(p):
        f = lambda t, y, p: jnp.stack([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])
        return jnp.sum(solved(f, diffrax.Dopri5(), jnp.ones(2), 10.0, p, RTOL, ATOL))

    def robertson(p):
        def f(t, y, p):
            slow, fast, back = p[0] * y[0], p[1] * y[1] ** 2, p[2] * y[1] * y[2]
            return jnp.stack([-slow + back, slow - back - fast, fast])

        return solved(f, diffrax.Kvaerno5(), jnp.array([1.0, 0.0, 0.0]), 40.0, p, 1e-6, 1e-9)[0]

    def chain(p):
        def f(y, p):
            before, after = jnp.concatenate([jnp.zeros(1), y[:-1]]), jnp.concatenate([y[1:], jnp.zeros(1)])
            return (3 - p[0] * y) * y - before - 2 * after + p[1]

        newton = optimistix.Newton(rtol=1e-10, atol=1e-10)
        return jnp.sum(optimistix.root_find(f, newton, -jnp.ones(COUNT), args=p).value ** 2)

    def heat(p):
        def f(t, y, p):
            u = y.reshape(WIDTH, WIDTH)
            v = jnp.pad(u, 1)
            laplacian = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * u
            return (p[0] * (WIDTH + 1) ** 2 * laplacian - p[1] * u**3).reshape(-1)

        return jnp.sum(solved(f, diffrax.Kvaerno5(), jnp.array(heat_start()), 0.1, p, HEAT_RTOL, HEAT_ATOL) ** 2)

    def layer(q):
        import jaxopt

        P, G, h, A, b = PROGRAMS
        solver = jaxopt.OSQP(tol=1e-8, maxiter=20_000)
        one = lambda q: solver.run(params_obj=(P, q), params_eq=(A, b), params_ineq=(G, h)).params.primal
        return jnp.sum(jax.vmap(one)(q.reshape(64, 10)) ** 2)

    made = [lotka_volterra, robertson, chain]
    if WIDTH < 50:
        made.append(heat)
    if importlib.util.find_spec("jaxopt"):
        made.append(layer)
    block = lambda g: lambda p: jax.block_until_ready(g(p))
    return {f.__name__: lambda f=f: block(jax.jit(jax.grad(f))) for f in made}


def timed(make, p):
    """Seconds of the first call with all that comes before it, the best of later ones, and the result."""
    start = time.process_time()
    g = make()
    result = np.asarray(g(p))
    first, best = time.process_time() - start, np.inf
    begin = time.process_time()
    while time.process_time() - begin < 1.0:
        start = time.process_time()
        g(p)
        best = min(best, time.process_time() - start)
    return first, best, result


PROBLEMS: tuple[tuple[Callable, np.ndarray], ...] = (
    (lotka_volterra, RATES),
    (robertson, ROBERTSON),
    (chain, COEFFICIENTS),
    (layer, LINEAR.ravel()),
    (heat, HEAT),
)


def main():
    global WIDTH
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--heat", type=int, default=WIDTH)
    chosen = parser.parse_args()
    WIDTH = chosen.heat
    peers = {"JAX": of_jax() if importlib.util.find_spec("diffrax") else {}}
    peers["CasADi"] = of_casadi() if importlib.util.find_spec("casadi") else {}
    head = (
        ("peer", 8),
        ("ours, ms", 9),
        ("theirs, ms", 10),
        ("ratio", 7),
        ("first, s", 9),
        ("theirs, s", 9),
        ("apart", 8),
    )
    print(f"{'gradient of':16}", *[f"{name:>{width}}" for name, width in head])
    for f, p in PROBLEMS:
        if chosen.names and f.__name__ not in chosen.names:
            continue
        first, best, found = timed(lambda f=f: wg.jit(wg.grad(f)), p)
        print(f"{f.__name__:16} {'':>8} {1e3 * best:9.3f} {'':>10} {'':>7} {first:9.2f}", flush=True)
        for name, gradients in peers.items():
            if f.__name__ not in gradients:
                continue
            their_first, their_best, theirs = timed(gradients[f.__name__], p)
            apart = np.max(np.abs(found - theirs)) / np.max(np.abs(theirs))
            print(
                f"{'':16} {name:>8} {'':>9} {1e3 * their_best:10.3f} {their_best / best:7.1f} {'':>9} "
                f"{their_first:9.2f} {apart:8.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
