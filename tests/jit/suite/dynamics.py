"""Things that go on in time: bodies, networks over sequences, iterations that end when they have converged."""

import math

import numpy as np
from jit.programs import positive, program, random, values


@program(random(4, 3), random(4, 3, seed=1), positive(4), 0.05, wrt=(0, 1, 2), second=False)
def nbody(pos, vel, mass, dt):
    n = len(mass)
    for _ in range(5):
        acc = np.zeros((n, 3))
        for i in range(n):
            for j in range(n):
                if i != j:
                    d = pos[j] - pos[i]
                    r2 = d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + 0.1
                    acc[i] += mass[j] * d / (r2 * math.sqrt(r2))
        vel += dt * acc
        pos += dt * vel
    return 0.5 * np.sum(mass * np.sum(vel**2, axis=1))


@program(random(4, 3), random(4, 3, seed=1), positive(4), wrt=(0, 1, 2), second=False)
def nbody_vectorised(pos, vel, mass):
    for _ in range(6):
        dx = pos[:, None, :] - pos[None, :, :]
        inv = (np.sum(dx**2, axis=-1) + 0.1) ** -1.5
        vel = vel - 0.05 * np.einsum("ijk,ij,j->ik", dx, inv, mass)
        pos = pos + 0.05 * vel
    return pos, vel


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@program(random(6, 2), random(4, 12, seed=1), random(2, 12, seed=2), random(12, seed=3), wrt=(0, 1, 2, 3), second=False)
def lstm(xs, U, W, b):
    n = U.shape[0] - 1
    U = U[:n]
    h, c = np.zeros(n), np.zeros(n)
    W, b = W[:, : 4 * n], b[: 4 * n]
    U = np.concatenate([U] * 1, axis=0)[:, : 4 * n]
    loss = 0.0
    for x in xs:
        z = x @ W + h @ U + b
        i, f, g, o = z[:n], z[n : 2 * n], z[2 * n : 3 * n], z[3 * n :]
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        loss += np.sum(h**2)
    return loss


@program(random(7, 3), random(3, 4, seed=1), random(4, 4, seed=2), wrt=(0, 1, 2))
def rnn(xs, W, U):
    h = np.zeros(4)
    hs = np.zeros((len(xs), 4))
    for t in range(len(xs)):
        h = np.tanh(xs[t] @ W + h @ U)
        hs[t] = h
    return hs


@program(1.7, wrt=0)
def bisection(a):
    lo, hi = 0.0, 10.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid * mid * a > 7.0:
            hi = mid
        else:
            lo = mid
    x = 0.5 * (lo + hi)
    return x - (x * x * a - 7.0) / (2 * x * a)


@program(2.3, wrt=0, batch=False)
def newton_while(a):
    x = 1.0
    steps = 0
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
        steps += 1
    return x, steps


@program(5.1, wrt=0, batch=False)
def newton_break(a):
    x = a
    for _ in range(100):
        new = x - (x**3 - a) / (3 * x * x)
        if abs(new - x) < 1e-10:
            break
        x = new
    return x


@program(0.3, 0.8, wrt=(0, 1), batch=False)
def while_true(x, rate):
    n = 0
    while True:
        x = x + rate * math.sin(x)
        n += 1
        if x > 2.0:
            break
        if n >= 25:
            return -x
    return x * n


@values(np.array([-2.0, -1.0, 0.0, 0.3]), np.array([0.0, 0.5, 1.0]), 20)
def mandelbrot(xs, ys, limit):
    counts = np.zeros((len(ys), len(xs)), dtype=np.int64)
    for j in range(len(ys)):
        for i in range(len(xs)):
            c = complex(xs[i], ys[j]) if False else xs[i] + 1j * ys[j]
            z = 0.0 + 0.0j
            n = 0
            while abs(z) <= 2.0 and n < limit:
                z = z * z + c
                n += 1
            counts[j, i] = n
    return counts


@values(random(4, 5), 12)
def mandelbrot_by_masks(x, limit):
    c = x + 1j * x[::-1]
    z = np.zeros(c.shape, dtype=np.complex128)
    n = np.zeros(c.shape, dtype=np.int64)
    for k in range(limit):
        inside = np.less(np.abs(z), 2.0)
        n[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return n, np.abs(z) < 2.0


@program(np.array([0.1, 0.2, 0.9]), np.array([0.3, -0.2, 2.0]), wrt=(0, 1), batch=False, second=False)
def ray_marching(direction, centre):
    direction = direction / np.sqrt(np.sum(direction * direction))
    t = 0.0
    hit = False
    for _ in range(40):
        p = direction * t
        d = np.linalg.norm(p - centre) - 0.5
        if d < 1e-4:
            hit = True
            break
        t += d
        if t > 10.0:
            break
    return t if hit else -1.0


@program(random(6))
def early_return(x):
    for i in range(len(x)):
        for j in range(len(x)):
            if x[i] * x[j] < -0.5:
                return x[i] * x[j] + i
    return x[0]


@values(np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]), np.array([2, 7, 1, 8, 2, 8, 1, 8, 2]))
def edit_distance(a, b):
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1), dtype=int)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]


@program(random(5, 6), second=False)
def smith_waterman(score):
    n, m = score.shape
    h = np.zeros((n + 1, m + 1))
    best = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            h[i, j] = max(0.0, h[i - 1, j - 1] + score[i - 1, j - 1], h[i - 1, j] - 0.3, h[i, j - 1] - 0.3)
            best = max(best, h[i, j])
    return best


@program(positive(5), np.array([2, 3, 1, 4, 2]), 7)
def knapsack(value, weight, capacity):
    best = np.zeros(capacity + 1)
    for i in range(len(value)):
        for w in range(capacity, weight[i] - 1, -1):
            best[w] = max(best[w], best[w - weight[i]] + value[i])
    return best[-1]


@values(np.array([3, 0, 1, 2, 2, 0, 3, 1]))
def nussinov(seq):
    n = seq.shape[0]
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


@program(random(4, 4), random(4, seed=1), random(6, 4, seed=2), wrt=(0, 1, 2))
def hidden_markov(log_a, log_start, log_obs):
    alpha = log_start + log_obs[0]
    for t in range(1, len(log_obs)):
        new = np.empty(len(alpha))
        for j in range(len(alpha)):
            terms = alpha + log_a[:, j]
            top = np.max(terms)
            new[j] = top + np.log(np.sum(np.exp(terms - top))) + log_obs[t, j]
        alpha = new
    return np.logaddexp.reduce(alpha)


@program(np.array([1.0, 0.5]), 0.1, wrt=(0, 1))
def runge_kutta(y, h):
    def rhs(t, y):
        return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0] + 0.1 * np.cos(t)])

    t = 0.0
    for _ in range(8):
        k1 = rhs(t, y)
        k2 = rhs(t + h / 2, y + h / 2 * k1)
        k3 = rhs(t + h / 2, y + h / 2 * k2)
        k4 = rhs(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


@program(np.array([1.0, 0.5]), wrt=0, batch=False, second=False)
def adaptive_steps(y):
    t, h = 0.0, 0.3
    while t < 2.0:
        if t + h > 2.0:
            h = 2.0 - t
        low = y + h * np.array([y[1], -y[0]])
        half = y + h / 2 * np.array([y[1], -y[0]])
        high = y + h * np.array([half[1], -half[0]])
        error = np.max(np.abs(high - low))
        if error < 0.02:
            t += h
            y = high
            h = min(2 * h, 0.5)
        else:
            h = h / 2
    return y


@program(100.0, 105.0, 0.03, 0.2, 1.0, wrt=(0, 1, 2, 3, 4))
def binomial_option(s, k, r, sigma, t):
    n = 12
    dt = t / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    v = np.zeros(n + 1)
    for i in range(n + 1):
        v[i] = max(k - s * u**i * d ** (n - i), 0.0)
    for step in range(n - 1, -1, -1):
        for i in range(step + 1):
            hold = math.exp(-r * dt) * (p * v[i + 1] + (1 - p) * v[i])
            v[i] = max(hold, k - s * u**i * d ** (step - i))
    return v[0]


@program(positive(6), positive(6, seed=1), wrt=(0, 1), second=False)
def black_scholes(s, k):
    d1 = (np.log(s / k) + 0.06) / 0.25
    d2 = d1 - 0.25
    cdf = lambda x: 0.5 * (1.0 + np.tanh(0.8 * x))
    return s * cdf(d1) - k * np.exp(-0.02) * cdf(d2)


@program(random(5, 3), random(3, 4, seed=1), random(4, 2, seed=2), wrt=(1, 2))
def mlp_training(x, w1, w2):
    for _ in range(5):
        h = np.maximum(x @ w1, 0.0)
        y = h @ w2
        dy = 2 * y / len(x)
        dw2 = h.T @ dy
        dh = dy @ w2.T
        dh[h <= 0] = 0
        w1 = w1 - 0.1 * (x.T @ dh)
        w2 = w2 - 0.1 * dw2
    return w1, w2


@program(random(3, 4), second=False)
def softmax_attention(x):
    q, k, v = x, x * 0.5, x + 1
    out = np.zeros_like(x)
    for i in range(len(x)):
        s = k @ q[i]
        s = np.exp(s - s.max())
        out[i] = (s / s.sum()) @ v
    return out
