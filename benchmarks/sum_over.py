"""A regression on more data than memory: `python -P benchmarks/sum_over.py` from the root of the repository.

A cluster of two workers on this machine, each limited to 1 GB; rows are made where they are needed, several times what
both together may hold. In the middle one of the workers is killed. The result is compared with that of a run in which
nothing happens, digit by digit. (`-P` since Dask would take `sparse.py` beside this file for the package of that name.)
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import wengert as wg
from wengert.optimize import sum_over

FEATURES, BLOCK = 50, 100_000


def logistic(p, X, y):
    z = X @ p
    return np.sum(np.logaddexp(0, z) - y * z)


def newton(total, steps: int) -> np.ndarray:
    p = np.zeros(FEATURES)
    for k in range(steps):
        start = time.perf_counter()
        slope, second = wg.grad(total)(p), wg.hessian(total)(p)
        p = p - np.linalg.solve(second, slope)
        print(
            f"  step {k + 1}: |gradient| {np.linalg.norm(slope):.3e}, {time.perf_counter() - start:.1f} s", flush=True
        )
    return p


def main(gigabytes: float = 5.0, steps: int = 2) -> None:
    blocks = max(2, round(gigabytes * 1e9 / (8 * FEATURES * BLOCK)))
    rows = da.random.default_rng(0)
    X = rows.normal(size=(blocks * BLOCK, FEATURES), chunks=(BLOCK, FEATURES))
    y = (X @ np.linspace(-1, 1, FEATURES) + rows.normal(size=blocks * BLOCK, chunks=BLOCK) > 0).astype(float)
    print(f"{blocks * BLOCK * FEATURES * 8 / 1e9:.1f} GB in {blocks} blocks, two workers of 1 GB")
    found = []
    for killing in (True, False):
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            if killing:
                victim = next(iter(client.run(os.getpid).values()))
                threading.Timer(5.0, os.kill, (victim, signal.SIGKILL)).start()
            print("a worker is killed after five seconds" if killing else "nothing happens")
            found.append(newton(sum_over(logistic, (X, y), client), steps))
    print("same digits" if np.array_equal(*found) else f"different digits: {np.max(np.abs(found[0] - found[1])):.1e}")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
