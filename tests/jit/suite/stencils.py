"""Stencils and partial differential equations, by loops over elements and by slices."""

import numpy as np
from jit.programs import positive, program, random


@program(random(12), 4)
def jacobi_1d_elements(a, steps):
    n = len(a)
    b = np.zeros(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])
    return a.sum()


@program(random(12), random(12, seed=1), 6, wrt=(0, 1))
def jacobi_1d_slices(A, B, steps):
    for _ in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@program(random(6, 7), 5)
def jacobi_2d(A, steps):
    B = np.copy(A)
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    return A + B


@program(random(6, 6))
def jacobi_2d_elements(a):
    n, m = a.shape
    b = np.zeros_like(a)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) + np.sin(a[i, j])
    return b


@program(random(7, 7), 6)
def seidel_2d(A, steps):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            A[i, 1:-1] += A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1]
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


@program(random(5, 5, 5), 5, second=False)
def heat_3d(A, steps):
    B = A.copy()
    for _ in range(steps):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A, B = B, A
    return A


@program(random(4, 5, 6))
def laplace_3d_elements(u):
    out = np.empty_like(u)
    out[:] = u
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for k in range(1, u.shape[2] - 1):
                around = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k]
                out[i, j, k] = around + u[i, j, k - 1] + u[i, j, k + 1] - 6 * u[i, j, k] ** 2
    return out


@program(random(10), 0.1, 7, wrt=(0, 1))
def heat_swapped(u0, r, steps):
    u, v = u0.copy(), np.zeros(len(u0))
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + r * (u[i - 1] - 2 * u[i] + u[i + 1])
        u, v = v, u
    return u


@program(random(9), 6)
def periodic_advection(u, steps):
    n = len(u)
    for _ in range(steps):
        w = np.empty(n)
        for i in range(n):
            w[i] = u[i] - 0.3 * (u[i] - u[i - 1]) + 0.1 * u[(i + 1) % n]
        u = w
    return u


@program(random(6, 6), random(6, 6, seed=1), random(6, 6, seed=2), 5, wrt=(0, 1, 2), second=False)
def fdtd_2d(ex, ey, hz, steps):
    for t in range(steps):
        ey[0, :] = 0.1 * t
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@program(random(6, 6, 4), positive(6, 6, 4), wrt=(0, 1), second=False)
def horizontal_diffusion(field, coefficient):
    lap = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    res = lap[1:, :] - lap[:-1, :]
    flux = np.where(res * (field[2:-1, 1:-1] - field[1:-2, 1:-1]) > 0, 0, res)
    out = field[1:-1, 1:-1].copy()
    out[1:-1, :] -= coefficient[2:-2, 1:-1] * (flux[1:, :] - flux[:-1, :])
    return out


@program(positive(3, 2, 8), random(3, 2, 8), wrt=(0, 1), second=False)
def vertical_advection(w, u):
    """A tridiagonal system along the last axis for each column of a field."""
    I, J, K = u.shape
    c, d = np.ndarray((I, J, K)), np.ndarray((I, J, K))
    out = np.zeros((I, J, K))
    for k in range(K):
        if k == 0:
            b = 2.0 + w[:, :, k]
            c[:, :, k] = w[:, :, k + 1] / b
            d[:, :, k] = u[:, :, k] / b
        elif k < K - 1:
            a = -0.25 * w[:, :, k]
            b = 2.0 + w[:, :, k] - a * c[:, :, k - 1]
            c[:, :, k] = w[:, :, k + 1] / b
            d[:, :, k] = (u[:, :, k] - a * d[:, :, k - 1]) / b
        else:
            a = -0.25 * w[:, :, k]
            d[:, :, k] = (u[:, :, k] - a * d[:, :, k - 1]) / (2.0 - a * c[:, :, k - 1])
    for k in range(K - 1, -1, -1):
        if k == K - 1:
            data = d[:, :, k]
        else:
            data = d[:, :, k] - c[:, :, k] * data
        out[:, :, k] = data
    return out


@program(random(8), random(8, seed=3), wrt=(0, 1))
def adi_sweep(u, v):
    n = len(u)
    p, q = np.zeros(n), np.zeros(n)
    v[0] = 1.0
    for j in range(1, n - 1):
        p[j] = -0.3 / (0.4 * p[j - 1] + 2.0)
        q[j] = (u[j - 1] + u[j + 1] - 0.4 * q[j - 1]) / (0.4 * p[j - 1] + 2.0)
    v[n - 1] = 1.0
    for j in range(n - 2, 0, -1):
        v[j] = p[j] * v[j + 1] + q[j]


@program(random(8, 8), 5, second=False)
def cavity_pressure(b, iterations):
    p = np.zeros((8, 8))
    pn = np.empty_like(p)
    for _ in range(iterations):
        pn = p.copy()
        p[1:-1, 1:-1] = 0.25 * (pn[1:-1, 2:] + pn[1:-1, 0:-2] + pn[2:, 1:-1] + pn[0:-2, 1:-1]) - b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
    return p


@program(random(6, 7))
def deriche_rows(x):
    y = np.zeros_like(x)
    for j in range(2, x.shape[1]):
        y[:, j] = 0.4 * x[:, j] + 0.3 * x[:, j - 1] + 0.2 * y[:, j - 1] - 0.1 * y[:, j - 2]
    for j in range(x.shape[1] - 3, -1, -1):
        y[:, j] += 0.2 * y[:, j + 1] - 0.1 * y[:, j + 2]
    return y


@program(random(10), random(3, seed=4), wrt=(0, 1))
def convolution_by_loops(x, w):
    n, k = x.size, w.size
    out = np.zeros(n - k + 1)
    for i in range(n - k + 1):
        for j in range(k):
            out[i] += x[i + j] * w[j]
    return out


@program(random(2, 5, 5, 2), random(2, 2, 2, 3, seed=4), wrt=(0, 1), second=False)
def conv2d(x, w):
    K = w.shape[0]
    N, H, W = x.shape[0], x.shape[1] - K + 1, x.shape[2] - K + 1
    out = np.empty((N, H, W, w.shape[3]))
    for i in range(H):
        for j in range(W):
            out[:, i, j, :] = np.sum(x[:, i : i + K, j : j + K, :, np.newaxis] * w[np.newaxis, :, :, :], axis=(1, 2, 3))
    return out
