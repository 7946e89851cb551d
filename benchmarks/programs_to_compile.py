"""The programs of `compile_time.py`: each a function that gives a compiled function and arguments of its first call."""

from __future__ import annotations

import cliffs
import numpy as np

import wengert as wg

NORMAL = np.random.default_rng(0).standard_normal


def one_expression(x):
    return np.sum(np.sin(x) * np.exp(-x) + np.tanh(x) / (1 + x * x))


def straight_line(x):
    for k in range(8):  # written out, since the lengths of slices change
        x = np.sin(x[k % 2 :]) * 1.5 + np.cos(x[: len(x) - k % 2]) / (k + 1.0)
    return np.sum(x**2)


def recurrence(x, n):
    for _ in range(n):
        x = 0.9 * np.sin(x) + x / (1 + x * x)
    return x


def filling(x):
    out = np.zeros_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = 0.9 * out[i - 1] + np.tanh(x[i])
    return np.sum(out**2)


def branches(x, y):
    if x > 0:
        z = np.sin(x) * y
        if y > 1:
            z = z + x
        elif y > 0:
            z = z * x
        else:
            z = -z
    else:
        z = np.exp(x) + y
    for k in range(10):
        if z > k:
            z = z - 0.5 * y
        else:
            z = z + 0.1 * x * k
    return z


def nested_loops(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            total = total + np.exp(-d * d) / (1.0 + abs(d))
    return total


def scalar_solver(x):
    """Bisection, then Newton's method, for each element: nested loops over numbers."""
    out = np.zeros_like(x)
    for i in range(len(x)):
        lo, hi = 0.0, 10.0
        while hi - lo > 0.1:
            mid = 0.5 * (lo + hi)
            if mid**3 + x[i] * mid - 20.0 > 0:
                hi = mid
            else:
                lo = mid
        z = 0.5 * (lo + hi)
        for _ in range(20):
            step = (z**3 + x[i] * z - 20.0) / (3 * z * z + x[i])
            z = z - step
            if abs(step) < 1e-12:
                break
        out[i] = z
    return np.sum(out)


def newton_in_try(x):
    """Newton's method on a rational equation of ten quotients, as one writes it for numbers."""
    z = 1.0
    for _ in range(30):
        try:
            value, slope = -2.0, 0.0
            for k in range(10):
                value += x[k] / (k + 1.0 + z)
                slope -= x[k] / ((k + 1.0 + z) * (k + 1.0 + z))
            z = z - value / slope
        except ZeroDivisionError:
            z = z + 1e-3
        if abs(value) < 1e-12:
            break
    return z


def network(p, x):
    for k in range(len(p) // 2):
        x = np.tanh(x @ p[f"w{k}"] + p[f"b{k}"])
    return np.sum(x**2)


def network_of(arrays):
    p = {}
    for k in range(arrays // 2):
        p[f"w{k}"], p[f"b{k}"] = NORMAL((8, 8)) / 3, NORMAL(8)
    return p, NORMAL((4, 8))


def network_step(p, x):
    g = wg.grad(network)(p, x)
    return {k: p[k] - 0.1 * g[k] for k in p}


def lotka_volterra(p):
    def rates(t, y, p):
        return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])

    return np.sum(wg.odeint(rates, np.array([1.0, 1.0]), np.linspace(0.0, 5.0, 6), p)[-1])


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def of_two_layers(w, x):
    return np.sum(np.tanh(w[1] @ np.tanh(w[0] @ x)) ** 2)


def leapfrog(q, v):
    """Ten steps of three bodies, with functions of functions."""

    def force(q):
        d = q[:, None, :] - q[None, :, :]
        r = np.sqrt(np.sum(d * d, axis=-1) + 0.1)
        return -np.sum(d / r[..., None] ** 3, axis=1)

    for _ in range(10):
        v = v + 0.005 * force(q)
        q = q + 0.01 * v
        v = v + 0.005 * force(q)
    return np.sum(q**2) + np.sum(v**2)


def factorised(a, b):
    return np.sum(np.linalg.solve(a @ a.T + np.eye(len(a)), b) ** 2) + np.linalg.slogdet(a @ a.T + np.eye(len(a)))[1]


def terms(n):
    """A function with a statement for each of n terms."""
    lines = [f"    s = s + np.sin(x[{k % 7}] * {k + 1}.0) * x[{(k + 3) % 7}]" for k in range(n)]
    return "\n".join(["def many(x):", "    s = 0.0", *lines, "    return s", ""])


def many_terms(n, folder={}):  # noqa: B006  (files are kept for the process)
    import linecache

    name = f"<{n} terms>"
    linecache.cache[name] = (1, None, terms(n).splitlines(True), name)
    space = {"np": np}
    exec(compile(terms(n), name, "exec"), space)
    return space["many"]


def programs():
    """Name → a function without arguments that gives a compiled function and arguments."""
    jit, grad = wg.jit, wg.grad
    x = NORMAL(50)
    square = NORMAL((32, 32))

    def of(compiled, *arguments):
        return lambda: (compiled(), arguments)

    found = {
        "expression": of(lambda: jit(one_expression), x),
        "expression, gradient": of(lambda: jit(grad(one_expression)), x),
        "straight line, gradient": of(lambda: jit(grad(straight_line)), x),
        "terms 50, gradient": of(lambda: jit(grad(many_terms(50))), x),
        "terms 200, gradient": of(lambda: jit(grad(many_terms(200))), x),
        "recurrence": of(lambda: jit(recurrence), 0.5, 100),
        "recurrence, gradient": of(lambda: jit(grad(recurrence)), 0.5, 100),
        "filling, gradient": of(lambda: jit(grad(filling)), x),
        "branches": of(lambda: jit(branches), 0.5, 1.5),
        "branches, gradient": of(lambda: jit(grad(branches, (0, 1))), 0.5, 1.5),
        "nested loops, gradient": of(lambda: jit(grad(nested_loops)), x),
        "scalar solver, gradient": of(lambda: jit(grad(scalar_solver)), x**2),
        "newton in try": of(lambda: jit(newton_in_try), x[:10] ** 2 + 1),
        "newton in try, gradient": of(lambda: jit(grad(newton_in_try)), x[:10] ** 2 + 1),
        "dict of 10, step": of(lambda: jit(network_step), *network_of(10)),
        "dict of 100, step": of(lambda: jit(network_step), *network_of(100)),
        "dict of 300, step": of(lambda: jit(network_step), *network_of(300)),
        "dict of 1000, step": of(lambda: jit(network_step), *network_of(1000)),
        "odeint, gradient": of(lambda: jit(grad(lotka_volterra)), np.array([1.1, 0.4, 0.1, 0.4])),
        "hessian": of(lambda: jit(wg.hessian(rosenbrock)), x),
        "hessian of a network": of(lambda: jit(wg.hessian(of_two_layers)), NORMAL((2, 5, 5)), NORMAL(5)),
        "vmap of gradient": of(lambda: jit(wg.vmap(grad(one_expression))), square),
        "vmap of loop's gradient": of(lambda: jit(wg.vmap(grad(filling))), square),
        "leapfrog, gradient": of(lambda: jit(grad(leapfrog, (0, 1))), NORMAL((3, 2)), NORMAL((3, 2))),
        "linear algebra, gradient": of(lambda: jit(grad(factorised, (0, 1))), square, x[:32]),
        "jvp of gradient": of(lambda: jit(lambda x, v: wg.jvp(grad(nested_loops), (x,), (v,))), x, NORMAL(50)),
    }
    for name, function, arguments, argnums in cliffs.cases():
        if name in ("levinson", "gauss_seidel", "gauss_seidel_elements"):
            found[f"{name}, gradient".replace("_", " ")] = of(lambda f=function, n=argnums: jit(grad(f, n)), *arguments)
    return found
