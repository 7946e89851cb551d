"""Memory of the reverse sweep against its time: plain gradients and gradients within a budget, side by side.

    python benchmarks/memory.py            all programs
    python benchmarks/memory.py lstm       one of them

Each gradient is computed in a process of its own, whose largest size in memory, less that of a process that has done
the same with a few iterations, is what the reverse sweep keeps; times are those of the second call.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

import wengert as wg


def lstm(steps):
    """A recurrent network (Gruslys et al. 2016 have 2000 steps and a twentieth of the memory)."""
    rng, n = np.random.default_rng(0), 256
    W, U, b = rng.normal(size=(4 * n, n)) / 16, rng.normal(size=(4 * n, n)) / 16, np.zeros(4 * n)
    x = rng.normal(size=(steps, n))

    def loss(W, U, b):
        h, c = np.zeros(n), np.zeros(n)
        for k in range(steps):
            z = W @ x[k] + U @ h + b
            i, f, o, g = z[:n], z[n : 2 * n], z[2 * n : 3 * n], z[3 * n :]
            c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            h = np.tanh(c) / (1 + np.exp(-o))
        return np.sum(h * h)

    return loss, (W, U, b), (0, 1, 2)


def wave(steps):
    """A nonlinear wave equation on a grid of 256 by 256 points."""
    u = np.random.default_rng(0).normal(size=(256, 256))

    def energy(u):
        before = u
        for _ in range(steps):
            around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
            u, before = 2 * u - before + 0.1 * around - 0.01 * np.sin(u), u
        return np.sum(u * u)

    return energy, (u,), 0


def long_while(steps):
    """A loop of which nobody knows how often it runs."""

    def f(x):
        y, t = x, 0.0
        while t < steps:
            y = y + 1e-7 * np.sin(y * x)
            t = t + 1.0
        return y

    return f, (0.7,), 0


PROGRAMS = {"lstm": (lstm, 2000, [None, "3.7MB"]), "wave": (wave, 2000, [None, "100MB", "30MB"]),
            "while": (long_while, 10**7, [None, "10kB", "1kB"])}  # fmt: skip


def measure(name, steps, budget):
    """The size of this process, and the time of a gradient."""
    make = PROGRAMS[name][0]
    f, args, argnums = make(steps)
    gradient = wg.jit(wg.grad(f, argnums, **({} if budget is None else {"memory": budget})))
    gradient(*args)
    best = np.inf
    for _ in range(2):
        start = time.perf_counter()
        gradient(*args)
        best = min(best, time.perf_counter() - start)
    return {"size": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "time": best}


def in_a_process(name, steps, budget):
    command = [sys.executable, __file__, "--one", name, str(steps), budget or "-"]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def main(names):
    print(
        f"{'program':8} {'iterations':>10} {'budget':>8} {'MB kept':>9} {'of plain':>9} {'seconds':>9} {'of plain':>9}"
    )
    for name in names or PROGRAMS:
        _, steps, budgets = PROGRAMS[name]
        least = in_a_process(name, 10, None)["size"]
        plain = None
        for budget in budgets:
            found = in_a_process(name, steps, budget)
            kept = max(found["size"] - least, 0) / 1e6
            plain = plain or (kept, found["time"])
            print(f"{name:8} {steps:10} {budget or '-':>8} {kept:9.1f} {kept / plain[0]:9.1%} {found['time']:9.3f} "
                  f"{found['time'] / plain[1]:9.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        name, steps, budget = sys.argv[2:]
        print(json.dumps(measure(name, int(steps), None if budget == "-" else budget)))
    else:
        main(sys.argv[1:])
