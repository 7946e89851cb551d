"""NumPy inside loops: masks, out=, ufunc methods, dtypes, creation, random numbers with a seed."""

import numpy as np
from jit.programs import positive, program, random, values


@program(random(8), batch=False)  # how many elements a mask has would differ between examples
def boolean_masks(x):
    y = x.copy()
    y[y > 0.5] = 0.5
    y[y < -0.5] *= 2.0
    z = np.where(x > 0, x**2, -x)
    z[np.isnan(z)] = 0
    return y, z


@program(random(8), random(8, seed=1), wrt=(0, 1))
def masked_assignment_of_arrays(x, y):
    for _ in range(6):
        m = x > y
        x = np.where(m, y * 0.9, x)
        y[m] = 0.0
        y += 0.1 * x
    return x, y


@program(random(8))
def out_arguments(x):
    y = np.empty_like(x)
    np.multiply(x, 2.0, out=y)
    np.add(y, x, out=y)
    for _ in range(6):
        np.sin(y, out=y)
        np.subtract(y, x, y)
    return y


@program(random(8), np.array([0, 2, 2, 1, 0, 3, 2, 1]))
def scatter_add(x, places):
    y = np.zeros(4)
    np.add.at(y, places, x)
    z = np.zeros(4)
    for k, p in enumerate(places):
        z[p] += x[k] ** 2
    return y * z


@program(random(8), np.array([7, 2, 5, 1]))
def gather_and_store(x, idx):
    y = x[idx]
    z = np.zeros(8)
    z[idx] = y * 2
    z[idx[:2]] += 1
    return z[::-1] * x


@program(random(6, 5))
def slices_in_place(A):
    A[1:-1] += A[:-2]
    A[:, ::2] *= 0.5
    A[::-1, 0] -= A[:, 1]
    A[2] = A[3] * 2
    A[0, 1:3] = 7.0
    A **= 2
    A += np.arange(5)
    return A.T[1:3]


@program(random(9))
def cumulative(x):
    c = np.cumsum(x)
    by_hand = np.empty(len(x))
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        by_hand[i] = s
    return c * by_hand + np.cumprod(1 + 0.1 * x) + np.diff(x, prepend=0.0)


@program(random(5, 6))
def moving_windows(A):
    out = np.zeros((4, 5))
    for i in range(4):
        for j in range(5):
            out[i, j] = np.max(A[i : i + 2, j : j + 2]) + np.mean(A[i : i + 2, j : j + 2])
    return out


@program(random(7, 3))
def reductions_in_loops(A):
    out = np.zeros(7)
    for i in range(7):
        out[i] = np.sum(A[i]) * np.prod(A[i] + 2) + np.linalg.norm(A[i]) + A[i].mean() + np.max(A[i]) - A[i].min()
    return out


@program(random(6))
def triangular_slices(x):
    n = len(x)
    s = np.zeros(n)
    for i in range(n):
        s[i] = np.sum(x[: i + 1]) * np.sum(x[i:] ** 2) + x[: i + 1] @ x[: i + 1]
    return s


@program(random(6))
def growing_prefix_writes(x):
    y = np.zeros(6)
    for i in range(6):
        y[: i + 1] += x[i] * x[: i + 1]
        y[i:] *= 1.1
    return y


@program(random(5).astype(np.float32), second=False)
def single_precision(x):
    s = np.float32(0)
    y = np.zeros(5, np.float32)
    for i in range(5):
        y[i] = x[i] * 2 + s
        s += y[i]
    return y, s


@values(random(5) + 1j * random(5, seed=1))
def complex_data(z):
    s = 0j
    for i in range(5):
        s = s * z[i] + np.conj(z[i]) * 1j
        if abs(s) > 1.5:
            s /= abs(s)
    return s, s.real, s.imag, abs(s), np.angle(s), z * z.conj()


@program(random(6))
def complex_inside(x):
    z = x + 1j * x[::-1]
    w = np.zeros(6, complex)
    for k in range(6):
        w[k] = np.exp(1j * x[k]) * z[k]
    return np.abs(w) ** 2 + w.real * z.imag


@values(np.arange(6, dtype=np.int32), np.arange(6, dtype=np.uint8), np.arange(6) > 2)
def small_integers(a, b, c):
    s = a[0]
    for i in range(6):
        s = s + a[i]
    t = 0
    for v in b:
        t += int(v)
    n = 0
    for v in c:
        if v:
            n += 1
    return s, t, n, a + b, a * 2, c & (a > 3), ~c, np.sum(c), a.astype(float), b // 2


@program(random(6))
def seeded_random_numbers(x):
    rng = np.random.default_rng(5)
    noise = rng.normal(size=6)
    y = x * noise
    for i in range(6):
        y[i] += noise[i - 1]
    return y


@values(random(6))
def creation(x):
    n = x.shape[0]
    a = np.eye(n) + np.zeros((n, n)) + np.ones_like(x) + np.full_like(x, 3)
    b = np.arange(n) + np.linspace(0, 1, n) + np.array([1.0] * n)
    return a @ x + b, np.zeros(3, dtype=np.int32), np.empty((0, 3)), np.identity(2), np.arange(2, 9, 3)


@program(random(3, 4), random(4, 5, seed=1), wrt=(0, 1))
def shapes(A, B):
    C = A @ B
    D = np.concatenate([C, C[::-1]], axis=0).reshape(5, 6).T
    E = np.stack([D, D * 2], axis=1).sum(axis=(0, 2))
    F = np.transpose(C)[None, :, :, None].squeeze()
    return E @ F[:2] if False else E[0] * F, np.broadcast_to(A[0], (2, 4)), np.split(C, 3)[1], np.roll(C, 1, axis=1)


@program(positive(6), second=False)
def sorting(x):
    order = np.argsort(x)
    y = np.sort(x)
    return y * np.arange(6), x[order] ** 2, np.argmax(x), np.searchsorted(np.array([1.0, 1.5, 2.0]), x)


@program(random(6), random(6, seed=1), wrt=(0, 1))
def broadcasting(x, y):
    out = np.zeros((6, 6))
    out[:] = x
    out += y[:, None]
    out[2:4, :] = 1.5
    out[:, 1] = x * y
    return out / (2 + x[:, None] ** 2)


@program(random(3, 4))
def transposed_writes(A):
    T = A.T
    T[1] = T[0] * 2
    T[2, 1:] += 1
    D = A[:, ::-1]
    D[0] *= 3
    return A


@program(random(6))
def aliases(x):
    y = x
    y[1] = y[0] * 3
    z = x[2:]
    z += y[1]
    w = z[1:3]
    w[:] = w * 2
    return x.sum() + z[0] * w[1]


@program(random(10))
def aliases_in_loops(x):
    y = x
    tail = x[5:]
    for i in range(5):
        y[i] = y[i] * tail[i]
        tail[i] += y[i]
    return x


@program(random(12))
def flat_and_shaped(x):
    A = x.reshape(3, 4)
    A[1] *= 2
    for i in range(3):
        for j in range(4):
            A[i, j] += i * j
    return x, A.T


@program(random(6), wrt=0)
def ellipsis_and_newaxis(x):
    A = x[:, None] * x[None, :]
    A[..., 0] = 1.0
    B = A[..., None]
    return B[1:3, ..., 0] @ x


@program(random(6))
def clip_and_friends(x):
    return np.clip(x, -0.3, 0.4) + np.maximum(x, 0) + np.sign(x) * np.abs(x) ** 1.5 + np.minimum(x, x[::-1])


@program(random(6), 2)
def loops_with_where(x, k):
    for i in range(6):
        x = np.where(np.arange(6) == i, x * k, x + 0.1 * i)
    return x
