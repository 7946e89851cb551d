"""Gradients of answers: differential equations and roots, beside diffrax and optimistix, in one run.

    python benchmarks/solvers.py

Needs `pip install diffrax optimistix`. Times are the best of several calls after the first; the first call, with
compiling, is shown beside. Both sides run in double precision with the same method and tolerances.
"""

from __future__ import annotations

import time

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

    block = lambda g: lambda p: jax.block_until_ready(g(p))
    return {f.__name__: block(jax.jit(jax.grad(f))) for f in (lotka_volterra, robertson, chain)}


def timed(g, p):
    """Seconds of the first call, the best of later ones, and the result."""
    start = time.perf_counter()
    result = np.asarray(g(p))
    first, best = time.perf_counter() - start, np.inf
    begin = time.perf_counter()
    while time.perf_counter() - begin < 1.0:
        start = time.perf_counter()
        g(p)
        best = min(best, time.perf_counter() - start)
    return first, best, result


def main():
    peers = of_jax()
    head = ("ours, ms", 9), ("theirs, ms", 10), ("ratio", 7), ("first, s", 9), ("theirs, s", 9), ("apart", 8)
    print(f"{'gradient of':16}", *[f"{name:>{width}}" for name, width in head])
    for f, p in ((lotka_volterra, RATES), (robertson, ROBERTSON), (chain, COEFFICIENTS)):
        first, best, found = timed(wg.jit(wg.grad(f)), p)
        their_first, their_best, theirs = timed(peers[f.__name__], p)
        apart = np.max(np.abs(found - theirs) / np.maximum(np.abs(theirs), 1e-300))
        print(
            f"{f.__name__:16} {1e3 * best:9.3f} {1e3 * their_best:10.3f} {their_best / best:7.1f} {first:9.2f} "
            f"{their_first:9.2f} {apart:8.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
