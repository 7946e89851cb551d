"""Python: control flow, names, calls, builtins, integers."""
# ruff: noqa: B905, C416, PIE804, SIM201  (programs as authors write them)

import math

import numpy as np
from jit.programs import positive, program, random, values

import wengert as wg


@program(random(9))
def continue_in_loop(x):
    total = 0.0
    prefix = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] < 0:
            prefix[i] = total
            continue
        total += x[i] ** 2
        prefix[i] = total
    return prefix


@program(random(9), second=False)
def else_of_loop(x):
    for v in x:
        if v > 2.0:
            found = v
            break
    else:
        found = -x[0] * x[1]
    return found


@program(random(7), random(7, seed=1), wrt=(0, 1))
def enumerate_and_zip(x, y):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        total += (i + 1) * a * b
    for i, a in enumerate(x[1:], start=2):
        total += a**2 / i
    return total


@program(random(7))
def reversed_things(x):
    total = 0.0
    for v in reversed(x):
        total = 0.5 * total + v
    for i in reversed(range(1, len(x))):
        total = 0.5 * total + x[i] * x[i - 1]
    for i in range(len(x) - 1, 0, -2):
        total = total - x[i] * x[-i]
    return total


@program(random(6, 4))
def rows(A):
    total = np.zeros(4)
    for row in A:
        total = total * 0.5 + row**2
    for row, other in zip(A, A[::-1]):
        total += row * other
    return total


@program(random(6, 4))
def nested_brackets(A):
    for i in range(len(A)):
        for j in range(len(A[i])):
            A[i][j] = A[i][j] * A[i - 1][j - 1] + 1
    return A


@program(random(6, 4))
def views_of_rows(A):
    for i in range(1, 6):
        row = A[i]
        row[0] += 1
        row[1:] *= A[i - 1, 1:]
        col = A[:, i % 4]
        col[i] = col[i] + row[2]
    flat = A.ravel() if False else A.reshape(-1)
    flat[3] = flat[4] * 2
    return A


@program(random(8))
def swaps(x):
    n = len(x)
    x[0], x[-1] = x[-1], x[0]
    for i in range(n // 2):
        j = n - 1 - i
        x[i], x[j] = x[j] * 2, x[i]
    return x


@program(random(7), second=False, batch=False)
def bubble_sort(x):
    n = len(x)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                swapped = True
        if not swapped:
            break
    return x * np.arange(n)


@program(random(7), second=False, batch=False)
def insertion_sort(x):
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x * np.arange(len(x))


@values(np.array([1, 5, 2, 5, 0, 3, 3, 3]))
def histogram(codes):
    counts = np.zeros(6, dtype=np.int64)
    for c in codes:
        counts[c] += 1
    return counts, counts.cumsum()


@values(random(20))
def histogram_of_floats(x):
    lo, hi, bins = -1.0, 1.0, 5
    counts = np.zeros(bins, dtype=int)
    for v in x:
        k = int((v - lo) / (hi - lo) * bins)
        if k == bins:
            k = bins - 1
        if 0 <= k < bins:
            counts[k] += 1
    return counts


@values(252, 105)
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@values(27)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@values(60)
def sieve(n):
    prime = np.ones(61, dtype=bool)
    prime[:2] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
        i += 1
    return prime


@values(13, 5)
def integers(a, b):
    return (
        a + b, a - b, a * b, a // b, a % b, -a // b, -a % b, a**b, a & b, a | b, a ^ b, ~a, a << 2, a >> 1, a / b, -a,
        abs(-a), divmod(a, b), a // -b, a % -b, a == b, a != b, a < b, a >= b,
    )  # fmt: skip


@values(np.array([13, -7, 4, 0]), np.array([5, 3, -2, 7]))
def integer_arrays(a, b):
    return (
        a + b,
        a // b,
        a % b,
        a**2,
        a & b,
        a | b,
        a ^ b,
        ~a,
        a << 1,
        a >> 1,
        a / b,
        np.abs(a),
        np.minimum(a, b),
        a * 2.5,
    )


@values(1, 3)
def fibonacci(a, n):
    x, y = 0, 1
    for _ in range(n * 10):
        x, y = y, x + y
    return x * a


@values(7, 100003)
def modular_power(base, m):
    result, e = 1, 65537
    base = base % m
    while e > 0:
        if e & 1:
            result = result * base % m
        base = base * base % m
        e >>= 1
    return result


@program(0.7, -1.3, wrt=(0, 1))
def ternaries(x, y):
    a = x if x > y else y
    b = (x * y if x * y > 0 else -x * y) if x > 0 else 0.0
    return a + (b if a < b else 2 * b) * x


@program(0.7, -1.3, wrt=(0, 1))
def logic(x, y):
    s = 0.0
    if x > 0 and y < 0 and not x == y:
        s += x * y
    if x < 0 or y < 0:
        s += x**2
    if not (x > 0 or y > 0):
        s += 100
    if -1 < x < 1 < y + 3 <= 5:
        s += y**3
    if x != y and (x or y):
        s *= x
    return s


@program(0.7, -1.3, wrt=(0, 1))
def builtin_functions(x, y):
    s = max(x, y) * min(x, y, 0.5) + abs(y) + pow(x, 3) + sum([x, y, x * y])
    u, v = wg.stop_gradient(x), wg.stop_gradient(y)
    k = int(10 * u) + round(v) + len([x, y]) + math.floor(u) + math.ceil(v)
    return s * k + float(k) + s**2


@program(0.7, 1.3, wrt=(0, 1))
def math_functions(x, y):
    s = math.sin(x) * math.cos(y) + math.exp(-x) + math.log(y) + math.sqrt(x * y) + math.tanh(x) + math.atan2(x, y)
    return s + math.hypot(x, y) + math.pi * math.fabs(x) + math.pow(x, y) + math.log1p(x) + math.erf(y)


@program(positive(8))
def builtins_of_arrays(x):
    return sum(x) * max(x) - min(x) + abs(x).sum() + len(x) + sum(v * v for v in x) + sum([v for v in x[:3]])


def double(x):
    return 2 * x


def smooth(x, rate=0.5):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = rate * x[i] + (1 - rate) * y[i - 1]
    return y


def clip(v, lo, hi):
    if v < lo:
        return lo
    if v > hi:
        return hi
    return v


@program(random(8))
def calls_of_functions(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = clip(double(x[i]), -0.5, 0.8) + x[i] ** 2
    return smooth(out) + smooth(x, rate=0.3)


@program(random(8), 0.4, wrt=(0, 1))
def closures(x, a):
    total = np.zeros(3)

    def add(k, v):
        total[k] += a * v

    def scaled(v):
        return v * a

    for i in range(len(x)):
        add(i % 3, x[i])
        if x[i] > 0:
            add(0, scaled(x[i]))
    return total


@program(random(8))
def nonlocal_counter(x):
    count, total = 0, 0.0

    def see(v):
        nonlocal count, total
        if v > 0:
            count += 1
            total += v * v

    for v in x:
        see(v)
    return total / count


@program(random(6))
def lambdas_and_comprehensions(x):
    f = lambda v: v**2 if v > 0 else -v
    ys = [f(v) for v in x]
    zs = {k: ys[k] * ys[k - 1] for k in range(3)}
    return sum(ys) + sum(zs.values()) + np.sum(np.array([a * b for a, b in zip(ys, x)]))


@program(random(6))
def lists_of_numbers(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * x[i - 1])
    a, *rest = out
    return np.array(out) + a - rest[0]


@program(0.9, 5, wrt=0)
def recursion_on_integers(x, n):
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    return power(x, 6) + n * x


@program(random(8), 2, 6)
def traced_bounds(x, lo, hi):
    s = 0.0
    for i in range(lo, hi):
        s += x[i] ** 2
    for i in range(hi, lo, -2):
        s += x[i] * x[i - lo]
    s += np.sum(x[lo:hi]) * np.sum(x[hi:])
    return s


@program(random(8), 3, batch=False)
def traced_sizes(x, n):
    a = np.zeros(n)
    b = np.ones(n + 1)
    c = np.full(n, 2.5)
    k = np.arange(n)
    for i in range(n):
        a[i] = x[i] * i
    return np.sum(a * c) + np.sum(b) + np.sum(k * a)


@program(random(8), 3, 4, batch=False, second=False)
def traced_sizes_of_matrices(x, n, m):
    a = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            a[i, j] = x[i] * x[j + 1]
    return np.sum(a @ a.T) + np.sum(a[1:, 1:]) * len(a) + a.shape[1]


@program(random(8), 3)
def traced_index(x, k):
    y = x.copy()
    y[k] = x[k - 1] ** 2
    y[-k] += 1.0
    y[k:] *= 2.0
    y[:k] = y[k : 2 * k]
    return y


@program(random(5, 6), -2, 1)
def negative_indices(A, i, j):
    A[i, j] = A[-1, -2] * A[i - 1, j - 2]
    for k in range(1, 5):
        A[-k, -k] += A[-k - 1, k]
    return A[i], A[:, -1]


@program(random(6))
def loop_variable_afterwards(x):
    for i in range(len(x)):
        if x[i] < -0.5:
            break
    last = x[i] * i
    for v in x:
        w = v * 2
    return last + v * w


@program(random(6))
def variable_in_one_branch(x):
    total = 0.0
    for v in x:
        if v > 0:
            w = v * v
            total += w
        else:
            u = -v
            total += u
    return total


@program(random(6))
def integer_becomes_float(x):
    s = 0
    p = 1
    for v in x:
        s += v
        p *= v + 2
    return s * p


@program(random(6), second=False)
def argmax_by_hand(x):
    best, place = -np.inf, -1
    for i, v in enumerate(x):
        if v > best:
            best, place = v, i
    return best * 2, place


@program(random(6))
def tuples_in_loops(x):
    state = (0.0, 1.0)
    pair = [0.0, 0.0]
    for v in x:
        a, b = state
        state = (b, a + v * b)
        pair = [pair[1], pair[0] + v]
    return state[0] * state[1] + pair[0] * pair[1]


@program(random(9))
def while_over_indices(x):
    i, j = 0, len(x) - 1
    s = 0.0
    while i < j:
        s += x[i] * x[j]
        i += 1
        j -= 1
    return s


@values(np.array([1, 3, 4, 7, 9, 12, 20]), 9)
def binary_search(a, key):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < key:
            lo = mid + 1
        else:
            hi = mid
    return lo


@program(random(9), second=False, batch=False)
def two_loops_with_breaks(x):
    s = 0.0
    for i in range(9):
        for j in range(i, 9):
            if x[i] + x[j] > 1.2:
                break
            if x[j] < 0:
                continue
            s += x[i] * x[j]
        if s > 2.0:
            break
    return s


@values(random(9))
def counts_and_flags(x):
    positive = negative = 0
    any_large = False
    for v in x:
        if v > 0:
            positive += 1
        elif v < 0:
            negative += 1
        any_large |= v > 0.9
    return positive, negative, any_large, positive > negative


@program(random(6))
def assertions(x):
    assert x.ndim == 1
    assert np.all(np.isfinite(x)), "not finite"
    if x[0] > 1e9:
        raise ValueError("too large")
    return np.sum(x**2)


@program(random(6))
def walrus_and_star(x):
    def f(*args, scale=1.0, **others):
        return scale * sum(args) + others["shift"]

    total = 0.0
    for v in x:
        if (w := v * v) > 0.1:
            total += w
    return f(*[total, x[0]], scale=2.0, **{"shift": x[1]})


@program(random(6))
def match_on_static(x):
    total = 0.0
    for kind in ("square", "sine", "other"):
        match kind:
            case "square":
                total += np.sum(x**2)
            case "sine":
                total += np.sum(np.sin(x))
            case _:
                total *= 2
    return total


@program(random(6))
def try_and_with(x):
    try:
        y = np.log(x + 2)
    except ValueError:
        y = x
    with np.errstate(all="ignore"):
        z = y / (x + 3)
    return y * z


@program(random(10), batch=False)
def long_chain_of_conditions(x):
    out = np.zeros(10)
    for i in range(10):
        v = x[i]
        if v < -0.6:
            out[i] = v
        elif v < -0.2:
            out[i] = v**2
        elif v < 0.2:
            t = np.sin(v)
            out[i] = t * t
        elif v < 0.6:
            out[i] = np.exp(v)
        else:
            out[i] = 1 / v
    return out
