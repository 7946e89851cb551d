"""Programs on which gradients have been many times slower than the functions, and how many times they are now.

    python benchmarks/cliffs.py            # all of them
    python benchmarks/cliffs.py thomas     # those whose names contain a word

For each program: the compiled function, the compiled gradient as a multiple of it, and the seconds until the first
gradient (with an empty cache on disk). Times are those of the processor, the best of several samples, taken in turn.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time

import numpy as np

import wengert as wg


def limited_diffusion(u):
    """50 steps of nonlinear diffusion whose fluxes are limited."""
    u = u.copy()
    for _ in range(50):
        d = u[1:] - u[:-1]
        flux = 0.2 * d / (1 + d * d)
        flux = np.clip(flux, -0.05, 0.05)
        u[1:-1] += flux[1:] - flux[:-1]
    return np.sum(u**2)


def minmod_advection(u):
    """50 steps of advection with slopes limited by minmod (MUSCL)."""
    for _ in range(50):
        d = np.diff(u)
        left, right = d[:-1], d[1:]
        slope = np.where(left * right > 0, np.where(np.abs(left) < np.abs(right), left, right), 0.0)
        face = u[1:-1] + 0.35 * slope
        new = u.copy()
        new[2:-1] = u[2:-1] - 0.3 * (face[1:] - face[:-1])[: u.size - 3]
        u = new
    return np.sum(u**2)


def limiters_2d(u):
    """Diffusion of a 2-D field with the limiter of van Leer in both directions."""

    def limited(a, b):
        return np.where(a * b > 0, 2 * a * b / (a + b + 1e-12), 0.0)

    for _ in range(10):
        dx = u[1:, :] - u[:-1, :]
        dy = u[:, 1:] - u[:, :-1]
        fx = limited(dx[1:, 1:-1], dx[:-1, 1:-1])
        fy = limited(dy[1:-1, 1:], dy[1:-1, :-1])
        v = u.copy()
        v[1:-1, 1:-1] += 0.1 * (dx[1:, 1:-1] - dx[:-1, 1:-1] + dy[1:-1, 1:] - dy[1:-1, :-1]) + 0.05 * (fx + fy)
        u = v
    return np.sum(u**2)


def triangular(L, b):
    """Forward substitution, a row at a time."""
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return np.sum(x**2)


def levinson(r):
    """Levinson and Durbin's recursion with slices."""
    n = len(r) - 1
    a = np.zeros(n)
    e = r[0]
    for k in range(n):
        s = r[k + 1] - np.dot(a[:k], r[k:0:-1])
        g = s / e
        a[:k] = a[:k] - g * a[:k][::-1]
        a[k] = g
        e = e * (1 - g * g)
    return np.sum(a**2) + e


def thomas_first(a, b, c, d):
    """Tridiagonal systems along the first axis of a 3-D grid."""
    n = d.shape[0]
    cp = np.zeros_like(d)
    dp = np.zeros_like(d)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros_like(d)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x**2)


def thomas_last(a, b, c, d):
    """Tridiagonal systems along the last axis of a 3-D grid."""
    n = d.shape[2]
    cp = np.zeros_like(d)
    dp = np.zeros_like(d)
    cp[:, :, 0] = c[:, :, 0] / b[:, :, 0]
    dp[:, :, 0] = d[:, :, 0] / b[:, :, 0]
    for i in range(1, n):
        m = b[:, :, i] - a[:, :, i] * cp[:, :, i - 1]
        cp[:, :, i] = c[:, :, i] / m
        dp[:, :, i] = (d[:, :, i] - a[:, :, i] * dp[:, :, i - 1]) / m
    x = np.zeros_like(d)
    x[:, :, -1] = dp[:, :, -1]
    for i in range(n - 2, -1, -1):
        x[:, :, i] = dp[:, :, i] - cp[:, :, i] * x[:, :, i + 1]
    return np.sum(x**2)


def vertical_advection(w, u):
    """Implicit vertical advection on a grid, after the kernel of COSMO that NPBench has."""
    nz = u.shape[2]
    ccol = np.zeros_like(u)
    dcol = np.zeros_like(u)
    for k in range(nz):
        if k == 0:
            gcv = 0.25 * w[:, :, 1]
            cs = gcv * 0.2
            ccol[:, :, 0] = gcv * 0.8
            bcol = 3.0 - ccol[:, :, 0]
            correction = -cs * (u[:, :, 1] - u[:, :, 0])
            divided = 1.0 / bcol
            ccol[:, :, 0] = ccol[:, :, 0] * divided
            dcol[:, :, 0] = (3.0 * u[:, :, 0] + correction) * divided
        elif k < nz - 1:
            gav = -0.25 * w[:, :, k]
            gcv = 0.25 * w[:, :, k + 1]
            as_, cs = gav * 0.2, gcv * 0.2
            acol = gav * 0.8
            ccol[:, :, k] = gcv * 0.8
            bcol = 3.0 - acol - ccol[:, :, k]
            correction = -as_ * (u[:, :, k - 1] - u[:, :, k]) - cs * (u[:, :, k + 1] - u[:, :, k])
            divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
            ccol[:, :, k] = ccol[:, :, k] * divided
            dcol[:, :, k] = (3.0 * u[:, :, k] + correction - dcol[:, :, k - 1] * acol) * divided
        else:
            gav = -0.25 * w[:, :, k]
            as_ = gav * 0.2
            acol = gav * 0.8
            bcol = 3.0 - acol
            correction = -as_ * (u[:, :, k - 1] - u[:, :, k])
            divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
            dcol[:, :, k] = (3.0 * u[:, :, k] + correction - dcol[:, :, k - 1] * acol) * divided
    out = np.zeros_like(u)
    for k in range(nz - 1, -1, -1):
        if k == nz - 1:
            datacol = dcol[:, :, k]
        else:
            datacol = dcol[:, :, k] - ccol[:, :, k] * datacol
        out[:, :, k] = 3.0 * (datacol - u[:, :, k])
    return np.sum(out**2)


def gauss_seidel(u, f):
    """Ten sweeps in place over the rows of a 2-D grid, with slices."""
    n = u.shape[0]
    u = u.copy()
    for _ in range(10):
        for i in range(1, n - 1):
            u[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:] - f[i, 1:-1])
    return np.sum(u**2)


def gauss_seidel_elements(u, f):
    """Ten sweeps in place over the elements of a 2-D grid."""
    n = u.shape[0]
    u = u.copy()
    for _ in range(10):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
    return np.sum(u**2)


def red_black(u, f):
    """Ten sweeps over the red and the black points of a 2-D grid, with slices of step two."""
    u = u.copy()
    for _ in range(10):
        for p in (0, 1):
            for s in (0, 1):
                i, j = 1 + s, 1 + (s + p) % 2
                up = u[i - 1 : -2 : 2, j:-1:2]
                down = u[i + 1 :: 2, j:-1:2][: up.shape[0]]
                left = u[i:-1:2, j - 1 : -2 : 2]
                right = u[i:-1:2, j + 1 :: 2][:, : left.shape[1]]
                u[i:-1:2, j:-1:2] = 0.25 * (up + down + left + right - f[i:-1:2, j:-1:2])
    return np.sum(u**2)


def sparse_rows(data, x, indices, indptr):
    """A sparse product, a row at a time, through slices of the index array."""
    y = np.zeros(len(indptr) - 1)
    for i in range(len(indptr) - 1):
        lo, hi = indptr[i], indptr[i + 1]
        y[i] = np.dot(data[lo:hi], x[indices[lo:hi]])
    return np.sum(y**2)


def cases():
    """Name, function, arguments, those it is differentiated with respect to."""
    rng = np.random.default_rng(0)
    normal = rng.standard_normal
    n = 300
    L = np.tril(normal((n, n))) / n + np.eye(n)
    grid = (32, 64, 64)
    bands = [0.3 * rng.random(grid), 2 + rng.random(grid), 0.3 * rng.random(grid), normal(grid)]
    last = [np.ascontiguousarray(np.moveaxis(v, 0, 2)) for v in bands]
    rows = 20_000
    indptr = np.concatenate([[0], np.cumsum(rng.integers(10, 31, rows))])
    indices = rng.integers(0, rows, indptr[-1])
    square = normal((128, 128))
    return [
        ("limited_diffusion", limited_diffusion, (normal(2000),), 0),
        ("minmod_advection", minmod_advection, (normal(2000),), 0),
        ("limiters_2d", limiters_2d, (normal((128, 128)),), 0),
        ("triangular", triangular, (L, normal(n)), (0, 1)),
        ("levinson", levinson, (0.9 ** np.arange(257) + np.eye(1, 257)[0],), 0),
        ("thomas_first", thomas_first, tuple(bands), (0, 1, 2, 3)),
        ("thomas_last", thomas_last, tuple(last), (0, 1, 2, 3)),
        ("vertical_advection", vertical_advection, (0.1 * normal((64, 64, 32)), normal((64, 64, 32))), (0, 1)),
        ("gauss_seidel", gauss_seidel, (square, normal((128, 128))), (0, 1)),
        ("gauss_seidel_elements", gauss_seidel_elements, (square, normal((128, 128))), (0, 1)),
        ("red_black", red_black, (square, normal((128, 128))), (0, 1)),
        ("sparse_rows", sparse_rows, (normal(indptr[-1]), normal(rows), indices, indptr), (0, 1)),
    ]


def sample(function, arguments, budget=0.05):
    """Seconds of the processor for one call, over as many calls as fit into the budget."""
    count, start = 0, time.process_time()
    while True:
        function(*arguments)
        count += 1
        spent = time.process_time() - start
        if spent > budget:
            return spent / count


def check(name, function, gradient, arguments, argnums):
    """That the gradient is the directional derivative, by differences, so that a wrong one is not praised."""
    rng = np.random.default_rng(1)
    which = argnums if isinstance(argnums, tuple) else (argnums,)
    directions = [rng.standard_normal(arguments[k].shape) for k in which]
    grads = gradient(*arguments)
    grads = grads if isinstance(argnums, tuple) else (grads,)
    expected = sum(np.vdot(g, d) for g, d in zip(grads, directions, strict=True))
    step = 1e-6

    def moved(t):
        new = list(arguments)
        for k, d in zip(which, directions, strict=True):
            new[k] = arguments[k] + t * d
        return function(*new)

    got = (moved(step) - moved(-step)) / (2 * step)
    if abs(got - expected) > 1e-4 * max(1.0, abs(expected)):
        print(f"{name}: the gradient is wrong: {expected} for {got}", file=sys.stderr)


def main(words):
    np.ones(1 << 21)  # 16 MB: from now on the C library keeps memory that is freed, and calls do not wait for new pages
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WENGERT_CACHE_DIR"] = folder
        print(f"{'program':24s}{'function, ms':>14s}{'gradient ÷ function':>22s}{'first gradient, s':>20s}")
        for name, function, arguments, argnums in cases():
            if words and not any(word in name for word in words):
                continue
            compiled, gradient = wg.jit(function), wg.jit(wg.grad(function, argnums))
            start = time.process_time()
            gradient(*arguments)
            first = time.process_time() - start
            compiled(*arguments)
            check(name, compiled, gradient, arguments, argnums)
            pairs = [(sample(compiled, arguments), sample(gradient, arguments)) for _ in range(7)]
            function_time = min(p[0] for p in pairs)
            ratio = min(p[1] for p in pairs) / function_time
            print(f"{name:24s}{function_time * 1e3:14.3f}{ratio:22.2f}{first:20.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
