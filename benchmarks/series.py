"""Taylor series side by side: `python benchmarks/series.py` from the root of the repository.

The Taylor coefficients, to orders up to 20, of the right-hand sides of differential equations in ten dimensions along
given curves: wengert compiled, JAX's `jet` compiled (`jax.experimental.jet`), and python-flint's power series with
numbers of 53 bits (`arb_series`, which also bounds its errors). Peers that are not installed are left out. Before
anything is timed, the coefficients are compared.
"""

import argparse
import importlib.util
import math
import time

import numpy as np

import wengert as wg

ORDERS = (5, 10, 20)
N = 10
RATES = np.linspace(-1.0, 1.0, N)


def lorenz(x, xp=np):
    """Lorenz' equations of 1996: products."""
    return (xp.roll(x, -1) - xp.roll(x, 2)) * xp.roll(x, 1) - x + 8.0


def kuramoto(x, xp=np):
    """Kuramoto's coupled oscillators: a hundred sines."""
    return RATES + 0.3 * xp.sum(xp.sin(x[None, :] - x[:, None]), axis=1)


def reaction(x, xp=np):
    """Exponentials, quotients and roots."""
    y = xp.roll(x, 1)
    return xp.exp(-x * x) / (1 + x * y) + xp.sqrt(1 + x * x) * xp.tanh(xp.roll(x, -1))


def curve(order):
    """Coefficients 0 … order of ten numbers, as rows."""
    rng = np.random.default_rng(0)
    return np.stack([rng.uniform(0.1, 1.0, N) * 0.7**k for k in range(order + 1)])


def of_wengert(f, order):
    compiled = wg.jit(lambda c: np.stack(wg.jet(f, [c[k] for k in range(order + 1)])))
    return lambda c: compiled(c)


def of_jax(f, order):
    import jax
    import jax.numpy as jnp
    from jax.experimental.jet import jet

    jax.config.update("jax_enable_x64", True)
    factorial = np.array([math.factorial(k) for k in range(order + 1)], float)[:, None]

    @jax.jit
    def compiled(c):  # its series are of derivatives
        c = c * factorial
        y, rest = jet(lambda x: f(x, jnp), (c[0],), ([c[k] for k in range(1, order + 1)],))
        return jnp.stack([y, *rest]) / factorial

    return lambda c: compiled(c).block_until_ready()


def of_flint(f, order):
    """Component by component: it has series of numbers only."""
    import flint

    flint.ctx.prec, flint.ctx.cap = 53, order + 1

    functions = type("functions", (), {
        "roll": staticmethod(np.roll), "sum": staticmethod(np.sum),
        **{name: staticmethod(np.vectorize(lambda x, name=name: getattr(x, name)(), otypes=[object]))
           for name in ("sin", "exp", "sqrt")},
        "tanh": staticmethod(np.vectorize(lambda x: 1 - 2 / (1 + (2 * x).exp()), otypes=[object])),
    })  # fmt: skip

    def run(c):
        x = np.empty(N, object)
        for k in range(N):
            x[k] = flint.arb_series(list(map(float, c[:, k])))
        y = f(x, functions)
        return np.array([[float(s[k].mid()) for s in y] for k in range(order + 1)])

    return run


TOOLS = {"wengert": (of_wengert, "wengert"), "jax": (of_jax, "jax"), "python-flint": (of_flint, "flint")}


def measured(run, c, seconds):
    """Microseconds for a call: the best of several rounds."""
    run(c)
    best, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 20:
            run(c)
            count += 1
        best = min(best, (time.perf_counter() - start) / count)
    return best * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long to measure each")
    seconds = parser.parse_args().seconds
    tools = {name: make for name, (make, package) in TOOLS.items() if importlib.util.find_spec(package)}
    print(
        f"{'equations':10} {'order':>5} "
        + " ".join(f"{name + ' µs':>16} {'first s':>8}" for name in tools)
        + "   ratios"
    )
    for f in (lorenz, kuramoto, reaction):
        for order in ORDERS:
            c, times, firsts, found = curve(order), {}, {}, {}
            for name, make in tools.items():
                start = time.perf_counter()
                run = make(f, order)
                found[name] = np.asarray(run(c))
                firsts[name] = time.perf_counter() - start
                times[name] = measured(run, c, seconds)
            for name, y in found.items():
                np.testing.assert_allclose(y, found["wengert"], rtol=1e-9, atol=1e-12, err_msg=name)
            columns = " ".join(f"{times[name]:16.1f} {firsts[name]:8.2f}" for name in tools)
            ratios = ", ".join(f"{name} {times[name] / times['wengert']:.1f} ×" for name in tools if name != "wengert")
            print(f"{f.__name__:10} {order:5} {columns}   {ratios}", flush=True)


if __name__ == "__main__":
    main()
