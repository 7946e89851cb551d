"""Minimisation side by side: `python benchmarks/optimize.py` from the root of the repository.

The same functions, from the same start to the same size of the gradient, by wengert's compiled L-BFGS (called from
Python, and inside a compiled function), by SciPy's L-BFGS-B with wengert's compiled gradients and with its own
differences, and by JAX with optax' L-BFGS and optimistix' BFGS (whatever of these is installed). The time is that of a
second run, when everything is compiled; the first one is reported beside it. Whoever has not reached the minimum is
marked.
"""

import argparse
import importlib.util
import time

import numpy as np
import scipy.optimize

import wengert as wg
from wengert import optimize

TOLERANCE = 1e-6
"""The largest component of the gradient."""


class Problem:
    """A function in NumPy's and JAX' spelling, its data and its start."""

    def __init__(self, name, f, x0, data=(), differences=True):
        self.name, self.f, self.x0, self.data, self.differences = name, f, x0, data, differences


def rosenbrock(x, xp):
    """Pairs of unknowns: the extended function of Moré, Garbow and Hillstrom."""
    return xp.sum(100 * (x[1::2] - x[::2] ** 2) ** 2 + (1 - x[::2]) ** 2)


def logistic(w, X, y, xp):
    """The mean over the rows, with a small penalty."""
    z = X @ w
    return xp.mean(xp.logaddexp(0.0, z) - y * z) + 1e-4 * xp.sum(w * w)


def problems(rows, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 50))
    y = (rng.uniform(size=rows) < 1 / (1 + np.exp(-X @ rng.normal(size=50)))).astype(float)
    yield Problem("Rosenbrock 2", rosenbrock, np.array([-1.2, 1.0]))
    yield Problem("Rosenbrock 100", rosenbrock, np.tile([-1.2, 1.0], 50))
    yield Problem(f"Rosenbrock {n}", rosenbrock, np.tile([-1.2, 1.0], n // 2), differences=False)
    yield Problem(f"logistic {rows} x 50", logistic, np.zeros(50), (X, y))


def of_wengert(problem):
    f = lambda x, *data: problem.f(x, *data, np)
    return lambda: optimize.minimize(f, problem.x0, args=problem.data, method="lbfgs", tol=TOLERANCE).x


def of_wengert_in_jit(problem):
    """The call itself is part of a compiled program, as that of the peers of JAX is."""
    f = lambda x, *data: problem.f(x, *data, np)
    solve = wg.jit(lambda x, data: optimize.minimize(f, x, args=data, method="lbfgs", tol=TOLERANCE).x)
    return lambda: solve(problem.x0, problem.data)


def of_scipy(problem):
    both = wg.jit(wg.value_and_grad(lambda x, *data: problem.f(x, *data, np)))
    return lambda: scipy.optimize.minimize(both, problem.x0, args=problem.data, jac=True, **_SCIPY).x


def of_differences(problem):
    f = lambda x, *data: problem.f(x, *data, np)
    return lambda: scipy.optimize.minimize(f, problem.x0, args=problem.data, **_SCIPY).x


_SCIPY = {"method": "L-BFGS-B", "options": {"gtol": TOLERANCE, "ftol": 1e-16, "maxiter": 15000, "maxfun": 10**6}}


def of_optax(problem):
    import jax
    import jax.numpy as jnp
    import optax

    jax.config.update("jax_enable_x64", True)
    data = [jnp.asarray(d) for d in problem.data]
    opt = optax.lbfgs()

    @jax.jit
    def solve(x, *data):
        f = lambda x: problem.f(x, *data, jnp)
        both = optax.value_and_grad_from_state(f)

        def step(carry):
            x, state = carry
            value, gradient = both(x, state=state)
            updates, state = opt.update(gradient, state, x, value=value, grad=gradient, value_fn=f)
            return optax.apply_updates(x, updates), state

        def goes_on(carry):
            _, state = carry
            count = optax.tree_utils.tree_get(state, "count")
            gradient = optax.tree_utils.tree_get(state, "grad")
            return (count == 0) | ((count < 15000) & (jnp.max(jnp.abs(gradient)) > TOLERANCE))

        return jax.lax.while_loop(goes_on, step, (x, opt.init(x)))[0]

    x0 = jnp.asarray(problem.x0)
    return lambda: np.asarray(solve(x0, *data))


def of_optimistix(problem):
    import jax
    import jax.numpy as jnp
    import optimistix

    jax.config.update("jax_enable_x64", True)
    if problem.x0.size > 1000:
        return None  # it keeps a dense matrix
    data = tuple(jnp.asarray(d) for d in problem.data)
    solver = optimistix.BFGS(rtol=TOLERANCE, atol=TOLERANCE)
    f = lambda x, data: problem.f(x, *data, jnp)
    solve = jax.jit(lambda x, data: optimistix.minimise(f, solver, x, data, max_steps=15000, throw=False).value)
    x0 = jnp.asarray(problem.x0)
    return lambda: np.asarray(solve(x0, data))


WAYS = {
    "wengert": of_wengert,
    "wengert, in jit": of_wengert_in_jit,
    "SciPy, our gradient": of_scipy,
    "SciPy, differences": of_differences,
    "optax": of_optax,
    "optimistix": of_optimistix,
}


def installed(way):
    needs = {"optax": ("jax", "optax"), "optimistix": ("jax", "optimistix")}.get(way, ())
    return all(importlib.util.find_spec(name) for name in needs)


def measured(run):
    """Seconds of the processor: the first run, with compiling, and the best of others for half a second at least."""
    began = time.process_time()
    x = run()
    first = time.process_time() - began
    best, together, count = np.inf, 0.0, 0
    while together < 0.5 or count < 2:
        began = time.process_time()
        x = run()
        taken = time.process_time() - began
        best, together, count = min(best, taken), together + taken, count + 1
    return x, first, best


def batch(count):
    """Many small problems at once: minima of a function with two unknowns, for as many parameters."""
    a = np.random.default_rng(1).normal(size=(count, 2))
    f = lambda x, a: np.sum((x - a) ** 2) + np.sum(x**4)
    own = wg.jit(wg.vmap(lambda a: optimize.minimize(f, np.zeros(2), args=(a,)).x))
    _, first, best = measured(lambda: own(a))
    few = 200
    both = wg.jit(wg.value_and_grad(f))
    began = time.process_time()
    for row in a[:few]:
        scipy.optimize.minimize(both, np.zeros(2), args=(row,), jac=True, method="BFGS")
    each = (time.process_time() - began) / few
    print(f"{count} problems of 2 unknowns: {best:.4f} s (first {first:.1f} s)")
    print(f"SciPy's BFGS with our gradient, one by one: {each * count:.0f} s, {each * count / best:.0f} times")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the logistic regression")
    parser.add_argument("--unknowns", type=int, default=1_000_000, help="unknowns of the large Rosenbrock function")
    parser.add_argument("--batch", type=int, default=100_000)
    chosen = parser.parse_args()
    print(f"{'':24}" + "".join(f"{way:>26}" for way in WAYS))
    for problem in problems(chosen.rows, chosen.unknowns):
        line, ours = "", None
        for way, make in WAYS.items():
            if not installed(way) or (way == "SciPy, differences" and not problem.differences):
                line += f"{'–':>26}"
                continue
            run = make(problem)
            if run is None:
                line += f"{'–':>26}"
                continue
            x, first, best = measured(run)
            gradient = np.max(np.abs(wg.grad(problem.f)(x, *problem.data, np)))
            ours = best if ours is None else ours
            reached = "" if gradient <= 100 * TOLERANCE else "!"
            line += f"{best * 1e3:.4g} ms ×{best / ours:.3g}{reached} ({first:.1f} s)".rjust(26)
        print(f"{problem.name:24}{line}", flush=True)
    batch(chosen.batch)
    print("the second run, its ratio to ours, (the first run); ! is a gradient 100 times larger than asked for")


if __name__ == "__main__":
    main()
