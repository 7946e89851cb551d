"""Natural programs, as people write them, each against an independent reference.

The reference is a closed form, a functional version without loops, or a library's routine; where none is given, it is
extrapolated differences (`wg.numerical`).
"""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
from programs import check_program

import wengert as wg

RNG = np.random.default_rng(7)
A4 = RNG.normal(size=(4, 4)) + 4.0 * np.eye(4)
B4 = RNG.normal(size=4)
SPD = A4 @ A4.T

# ---------------------------------------------------------------------------------------------------- roots, quadrature


def newton(a):
    """The square root, by as many steps as it takes."""
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def test_newton():
    check_program(newton, 2.0, reference=lambda a: np.sqrt(a))


def bisection(a):
    """Finds where x³ + a x = 1, then polishes by one Newton step, through which the derivative comes."""
    low, high = 0.0, 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle**3 + a * middle > 1.0:
            high = middle
        else:
            low = middle
        if high - low < 1e-14:
            break
    return middle - (middle**3 + a * middle - 1.0) / (3.0 * middle**2 + a)


def test_bisection():
    x = bisection(1.0)
    expected = -x / (3 * x * x + 1.0)  # by the implicit function theorem
    np.testing.assert_allclose(wg.grad(bisection)(1.0), expected, rtol=1e-10)
    np.testing.assert_allclose(wg.jvp(bisection, (1.0,), (1.0,))[1], expected, rtol=1e-10)


def adaptive_simpson(f, a, b, tolerance=1e-9):
    def simpson(a, fa, b, fb):
        m = 0.5 * (a + b)
        fm = f(m)
        return m, fm, abs(b - a) / 6.0 * (fa + 4.0 * fm + fb)

    def recurse(a, fa, b, fb, m, fm, whole, tolerance):
        left_m, left_fm, left = simpson(a, fa, m, fm)
        right_m, right_fm, right = simpson(m, fm, b, fb)
        difference = left + right - whole
        if abs(difference) <= 15.0 * tolerance:
            return left + right + difference / 15.0
        return recurse(a, fa, m, fm, left_m, left_fm, left, tolerance / 2.0) + recurse(
            m, fm, b, fb, right_m, right_fm, right, tolerance / 2.0
        )

    fa, fb = f(a), f(b)
    return recurse(a, fa, b, fb, *simpson(a, fa, b, fb), tolerance)


def test_adaptive_quadrature():
    def f(p):
        return adaptive_simpson(lambda t: math.exp(-p[0] * t) * math.cos(p[1] * t), 0.0, p[2])

    def closed_form(p):
        a, w, t = p[0], p[1], p[2]
        return (a + np.exp(-a * t) * (w * np.sin(w * t) - a * np.cos(w * t))) / (a * a + w * w)

    check_program(f, np.array([0.7, 2.0, 1.5]), reference=closed_form, rtol=1e-6)


# ----------------------------------------------------------------------------------------------- differential equations


def bogacki_shampine(f, y, t_end, tolerance=1e-9):
    """Steps of third order with an error estimate of second order (Bogacki and Shampine 1989)."""
    t, h = 0.0, 0.1
    k1 = f(t, y)
    accepted = rejected = 0
    while t < t_end:
        h = min(h, t_end - t)
        k2 = f(t + 0.5 * h, y + 0.5 * h * k1)
        k3 = f(t + 0.75 * h, y + 0.75 * h * k2)
        new = y + h * (2.0 / 9.0 * k1 + 1.0 / 3.0 * k2 + 4.0 / 9.0 * k3)
        k4 = f(t + h, new)
        error = h * (-5.0 / 72.0 * k1 + 1.0 / 12.0 * k2 + 1.0 / 9.0 * k3 - 1.0 / 8.0 * k4)
        size = float(wg.stop_gradient(np.max(np.abs(error))))
        if size <= tolerance:
            t, y, k1 = t + h, new, k4
            accepted += 1
        else:
            rejected += 1
        h = h * min(5.0, max(0.2, 0.9 * (tolerance / max(size, 1e-300)) ** (1.0 / 3.0)))
    assert accepted > 10
    return y


def test_a_differential_equation_with_step_control():
    def oscillator(p):
        def right_hand_side(t, y):
            dydt = np.zeros(2)
            dydt[0] = y[1]
            dydt[1] = -(p[0] ** 2) * y[0]
            return dydt

        return bogacki_shampine(right_hand_side, np.array([p[1], p[2]]), 1.0, 1e-7)

    def closed_form(p):
        w, x, v = p[0], p[1], p[2]
        return np.stack([x * np.cos(w) + v / w * np.sin(w), v * np.cos(w) - x * w * np.sin(w)])

    p = np.array([1.7, 0.8, -0.3])
    np.testing.assert_allclose(oscillator(p), closed_form(p), atol=1e-5)
    expected = wg.jacfwd(closed_form)(p)
    np.testing.assert_allclose(wg.jacfwd(oscillator)(p), expected, atol=1e-4)
    np.testing.assert_allclose(wg.jacrev(oscillator)(p), wg.jacfwd(oscillator)(p), rtol=1e-9, atol=1e-11)


def heat_in_place(u, steps=5, r=0.2):
    for _ in range(steps):
        left = u[0]
        for i in range(1, len(u) - 1):
            middle = u[i]
            u[i] = middle + r * (left - 2.0 * middle + u[i + 1])
            left = middle
    return u


def heat_by_slices(u, steps=5, r=0.2):
    for _ in range(steps):
        u[1:-1] += r * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return u


def heat_functional(u, steps=5, r=0.2):
    n = len(u)
    step = np.eye(n) + r * (np.eye(n, k=1) - 2.0 * np.eye(n) + np.eye(n, k=-1))
    step[[0, -1]] = np.eye(n)[[0, -1]]
    return np.linalg.matrix_power(step, steps) @ u


@pytest.mark.parametrize("f", [heat_in_place, heat_by_slices], ids=lambda f: f.__name__)
def test_heat_equation(f):
    check_program(f, RNG.normal(size=8), reference=lambda u: heat_functional(u))


def leapfrog(x, v, steps, h):
    """Positions of a pendulum, kept in a table whose rows are views."""
    history = np.empty((steps + 1, 2))
    history[0] = x, v
    for k in range(steps):
        row = history[k + 1]
        row[:] = history[k]
        row[1] -= 0.5 * h * math.sin(row[0])
        row[0] += h * row[1]
        row[1] -= 0.5 * h * math.sin(row[0])
    return history


def test_leapfrog():
    check_program(lambda x, v: leapfrog(x, v, 6, 0.2), 0.7, -0.2)


# ------------------------------------------------------------------------------------------------------- linear algebra


def lu_solve(a, b):
    """Gaussian elimination with partial pivoting, in place."""
    n = len(b)
    pivots = np.arange(n)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            a[[k, p]] = a[[p, k]]
            pivots[k], pivots[p] = pivots[p], pivots[k]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    for i in range(n):
        for j in range(i):
            b[i] -= a[i, j] * b[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] /= a[i, i]
    return b


def solved_by_refinement(a, b):
    """A⁻¹ b by refinement with an inverse that is taken for a constant: it knows nothing of elimination."""
    inverse = np.linalg.inv(np.asarray(wg.stop_gradient(a)))
    x = inverse @ b
    for _ in range(4):
        x = x + inverse @ (b - a @ x)
    return x


def test_lu_with_pivoting():
    a = A4.copy()
    a[0, 0] = 0.01  # so that rows are swapped
    np.testing.assert_allclose(lu_solve(a.copy(), B4.copy()), np.linalg.solve(a, B4))
    check_program(lu_solve, a, B4, reference=solved_by_refinement)


def gauss_jordan(a):
    n = a.shape[0]
    work = np.zeros((n, 2 * n))
    work[:, :n] = a
    np.fill_diagonal(work[:, n:], 1.0)
    for k in range(n):
        p = k + int(np.argmax(np.abs(work[k:, k])))
        if p != k:
            work[[k, p], :] = work[[p, k], :]
        work[k] /= work[k, k]
        for i in range(n):
            if i != k:
                work[i] -= work[i, k] * work[k]
    return work[:, n:]


def test_inverse_by_gauss_jordan():
    inverse = np.linalg.inv(A4)
    np.testing.assert_allclose(gauss_jordan(A4.copy()), inverse)
    jacobian = wg.jacrev(gauss_jordan)(A4)
    np.testing.assert_allclose(jacobian, -np.einsum("ik,lj->ijkl", inverse, inverse), rtol=1e-9, atol=1e-12)
    check_program(gauss_jordan, A4)


def cholesky(a):
    n = len(a)
    factor = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = math.sqrt(total) if i == j else total / factor[j, j]
    return factor


def test_cholesky():
    np.testing.assert_allclose(cholesky(SPD), np.linalg.cholesky(SPD))
    check_program(cholesky, SPD)
    # log det A = 2 Σ log Lᵢᵢ, whose gradient is A⁻¹ (only the lower triangle is read)
    g = wg.grad(lambda a: 2.0 * np.sum(np.log(np.diag(cholesky(a)))))(SPD)
    inverse = np.linalg.inv(SPD)
    np.testing.assert_allclose(g, np.tril(2.0 * inverse) - np.diag(np.diag(inverse)))


def gauss_seidel(a, b, sweeps=60):
    x = np.zeros(len(b))
    for _ in range(sweeps):
        for i in range(len(b)):
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def test_gauss_seidel():
    a = 0.2 * A4 + 4.0 * np.eye(4)
    np.testing.assert_allclose(gauss_seidel(a, B4), np.linalg.solve(a, B4), rtol=1e-12)
    check_program(gauss_seidel, a, B4, reference=solved_by_refinement)


def thomas(lower, diagonal, upper, b):
    """The tridiagonal system, in place."""
    n = len(b)
    for i in range(1, n):
        w = lower[i - 1] / diagonal[i - 1]
        diagonal[i] -= w * upper[i - 1]
        b[i] -= w * b[i - 1]
    b[-1] /= diagonal[-1]
    for i in range(n - 2, -1, -1):
        b[i] = (b[i] - upper[i] * b[i + 1]) / diagonal[i]
    return b


def test_thomas_algorithm():
    lower, upper = RNG.normal(size=4), RNG.normal(size=4)
    diagonal, b = RNG.normal(size=5) + 5.0, RNG.normal(size=5)

    def reference(lower, diagonal, upper, b):
        return solved_by_refinement(np.diag(lower, -1) + np.diag(diagonal) + np.diag(upper, 1), b)

    check_program(thomas, lower, diagonal, upper, b, reference=reference)


def levinson(r, y):
    """Levinson's recursion for the symmetric Toeplitz system (Golub and Van Loan, 4th ed., Algorithm 4.7.2)."""
    n = len(y)
    r = r / r[0]
    y = y / 1.0
    x, z = np.zeros(n), np.zeros(n)
    z[0] = -r[1]
    x[0] = y[0]
    beta, alpha = 1.0, -r[1]
    for k in range(1, n):
        beta = (1.0 - alpha**2) * beta
        mu = (y[k] - r[1 : k + 1] @ x[:k][::-1]) / beta
        x[:k] += mu * z[:k][::-1]
        x[k] = mu
        if k < n - 1:
            alpha = -(r[k + 1] + r[1 : k + 1] @ z[:k][::-1]) / beta
            z[:k] += alpha * z[:k][::-1]
            z[k] = alpha
    return x


def test_levinson_durbin():
    r, y = np.array([1.0, 0.4, 0.2, -0.1, 0.05]), RNG.normal(size=5)
    np.testing.assert_allclose(levinson(r, y), scipy.linalg.solve_toeplitz(r, y))
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    check_program(levinson, r, y, reference=lambda r, y: solved_by_refinement(r[distance] / r[0], y))


def gram_schmidt(a):
    q = a.copy()
    for j in range(q.shape[1]):
        column = q[:, j]
        for k in range(j):
            column -= (q[:, k] @ column) * q[:, k]
        column /= math.sqrt(column @ column)
    return q


def test_gram_schmidt():
    q = gram_schmidt(A4)
    np.testing.assert_allclose(q.T @ q, np.eye(4), atol=1e-14)
    check_program(gram_schmidt, A4)
    # QᵀQ = 1 whatever A is
    np.testing.assert_allclose(wg.jacrev(lambda a: gram_schmidt(a).T @ gram_schmidt(a))(A4), 0.0, atol=1e-13)


# ------------------------------------------------------------------------------------------------ sorting and searching


def quicksort(a, low=0, high=None):
    """In place, by Hoare's partition."""
    if high is None:
        high = len(a) - 1
    if low >= high:
        return a
    pivot = a[(low + high) // 2]
    i, j = low, high
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i, j = i + 1, j - 1
    quicksort(a, low, j)
    quicksort(a, i, high)
    return a


def robust_statistics(x):
    a = quicksort(x.copy())
    n = len(a)
    median = a[n // 2] if n % 2 else 0.5 * (a[n // 2 - 1] + a[n // 2])
    deviations = quicksort(abs(a - median))
    trimmed = a[n // 4 : n - n // 4]
    return median, deviations[n // 2], np.mean(trimmed), a


def quickselect(a, k):
    low, high = 0, len(a) - 1
    while low < high:
        pivot, store = a[high], low
        for i in range(low, high):
            if a[i] < pivot:
                a[i], a[store] = a[store], a[i]
                store += 1
        a[store], a[high] = a[high], a[store]
        if store == k:
            break
        if store < k:
            low = store + 1
        else:
            high = store - 1
    return a[k]


def test_quicksort():
    x = RNG.permutation(9) + 0.3 * RNG.normal(size=9)

    def reference(x):
        a = np.sort(x)
        return a[4], np.sort(np.abs(a - a[4]))[4], np.mean(a[2:7]), a

    check_program(robust_statistics, x, reference=reference)
    check_program(lambda x: quickselect(x * x, 3), x, reference=lambda x: np.sort(x * x)[3])


def insertion_sort(a):
    for i in range(1, len(a)):
        item = a[i]
        j = i - 1
        while j >= 0 and a[j] > item:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = item
    return a


def test_insertion_sort():
    check_program(insertion_sort, RNG.permutation(7) * 1.0, reference=lambda x: np.sort(x))


# --------------------------------------------------------------------------------------------------------------- tables


def edit_distance(x, y, gap):
    """Dynamic time warping of two series: the cheapest way through the table, and the table."""
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 1e6)
    table[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            table[i, j] = cost + min(table[i - 1, j] + gap, table[i, j - 1] + gap, table[i - 1, j - 1])
    return table[n, m]


def soft_edit_distance(x, y, gap):
    n, m = len(x), len(y)
    row = np.full(m + 1, 50.0)
    row[0] = 0.0
    for i in range(n):
        diagonal, row[0] = row[0], 50.0
        for j in range(m):
            options = np.array([row[j + 1] + gap, row[j] + gap, diagonal])
            diagonal = row[j + 1]
            row[j + 1] = (x[i] - y[j]) ** 2 - np.log(np.sum(np.exp(-options)))
    return row[m]


def test_dynamic_programming():
    x, y = np.array([0.1, 1.3, 0.8, 2.0]), np.array([0.2, 0.9, 1.9])
    check_program(edit_distance, x, y, 0.1)
    check_program(soft_edit_distance, x, y, 0.1)


def forward_algorithm(transition, emission, observed):
    """The likelihood of a hidden Markov model, against the sum over all paths."""
    alpha = np.zeros((len(observed), len(transition)))
    alpha[0] = emission[:, observed[0]] / len(transition)
    for t in range(1, len(observed)):
        for j in range(len(transition)):
            alpha[t, j] = emission[j, observed[t]] * sum(
                alpha[t - 1, i] * transition[i, j] for i in range(len(transition))
            )
    return math.log(np.sum(alpha[-1]))


def test_hidden_markov_model():
    transition = np.array([[0.7, 0.3], [0.2, 0.8]])
    emission = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    observed = [0, 1, 2, 1]

    def reference(transition, emission):
        total = 0.0
        for path in np.ndindex(2, 2, 2, 2):
            product = 0.5 * emission[path[0], observed[0]]
            for t in range(1, 4):
                product = product * transition[path[t - 1], path[t]] * emission[path[t], observed[t]]
            total = total + product
        return np.log(total)

    check_program(lambda a, b: forward_algorithm(a, b, observed), transition, emission, reference=reference)


# ---------------------------------------------------------------------------------------------------- stateful programs


class RingBuffer:
    def __init__(self, size):
        self.data = np.zeros(size)
        self.start = self.count = 0

    def push(self, value):
        self.data[(self.start + self.count) % len(self.data)] = value
        if self.count < len(self.data):
            self.count += 1
        else:
            self.start = (self.start + 1) % len(self.data)

    def __len__(self):
        return self.count

    def __getitem__(self, k):
        if not 0 <= k < self.count:
            raise IndexError(k)
        return self.data[(self.start + k) % len(self.data)]

    def mean(self):
        return sum(self[k] for k in range(len(self))) / len(self)


def moving_average(x, size=3):
    buffer = RingBuffer(size)
    out = []
    for value in x:
        buffer.push(value * value)
        out.append(buffer.mean())
    return np.array(out)


def test_ring_buffer():
    def reference(x):
        return np.stack([np.mean(x[max(0, k - 2) : k + 1] ** 2) for k in range(len(x))])

    check_program(moving_average, RNG.normal(size=7), reference=reference)


class BankruptError(Exception):
    pass


def game(stake, odds):
    """A gambler plays until he is ruined, rich, or out of turns."""
    purse = np.zeros(8)
    purse[0] = stake

    def play(k):
        if purse[k] > 3.0:
            raise StopIteration(purse[k])
        if purse[k] < 0.1:
            raise BankruptError
        return purse[k] * odds[k % len(odds)]

    try:
        for k in range(7):
            purse[k + 1] = play(k)
            if k == 5:
                return purse[k + 1] * 0.5
    except StopIteration as rich:
        return rich.value + np.sum(purse)
    except BankruptError:
        return -np.sum(purse)
    finally:
        purse *= 0.0
    return purse[-1]


@pytest.mark.parametrize("odds", [[1.5, 1.2], [0.45, 0.4], [1.1, 0.9]], ids=["rich", "ruined", "out of turns"])
def test_a_game_with_early_return_and_exceptions(odds):
    check_program(game, 1.0, np.array(odds))


def convolution(signal, kernel):
    out = np.zeros(len(signal) + len(kernel) - 1)
    for k, weight in enumerate(kernel):
        out[k : k + len(signal)] += weight * signal
    return out


def test_convolution():
    check_program(convolution, RNG.normal(size=5), RNG.normal(size=3), reference=lambda a, b: np.convolve(a, b))


def kalman(observations, q, r):
    """A scalar filter: its state is overwritten at every step."""
    state = {"mean": 0.0, "variance": 1.0}
    log_likelihood = 0.0
    for z in observations:
        state["variance"] += q
        innovation = z - state["mean"]
        s = state["variance"] + r
        gain = state["variance"] / s
        state["mean"] += gain * innovation
        state["variance"] *= 1.0 - gain
        log_likelihood -= 0.5 * (math.log(2.0 * math.pi * s) + innovation**2 / s)
    return log_likelihood


def test_kalman_filter():
    z = RNG.normal(size=5)

    def reference(z, q, r):
        """The observations are jointly normal."""
        steps = np.minimum.outer(np.arange(1, 6), np.arange(1, 6))
        covariance = 1.0 + q * steps + r * np.eye(5)
        factor = cholesky(covariance)
        white = lu_solve(factor * 1.0, z * 1.0)
        return -0.5 * np.sum(white**2) - np.sum(np.log(np.diag(factor))) - 2.5 * math.log(2.0 * math.pi)

    check_program(kalman, z, 0.3, 0.5, reference=reference)


def sieve_weighted(x):
    """Integers and masks are plain arrays, written as ever."""
    n = len(x)
    prime = np.ones(n, bool)
    prime[:2] = False
    for k in range(2, n):
        if prime[k]:
            prime[2 * k :: k] = False
    counts = np.zeros(n, int)
    np.add.at(counts, np.arange(n) % 3, 1)
    return np.sum(x[prime] ** 2) + np.sum(x * counts)


def test_integers_and_masks():
    check_program(sieve_weighted, RNG.normal(size=12))


def mandelbrot_potential(c):
    """Complex arithmetic with an early exit."""
    z = 0.0 + 0.0j
    for k in range(30):
        z = z * z + complex(c[0], c[1])
        if abs(z) > 1e3:
            return math.log(abs(z)) / 2.0 ** (k + 1)
    return 0.0 * c[0]


def test_complex_iteration():
    check_program(mandelbrot_potential, np.array([0.6, 0.7]))


@pytest.mark.parametrize("library", ["quad", "solve_ivp"])
def test_against_a_library(library):
    if library == "quad":
        f = lambda a: adaptive_simpson(lambda t: math.sin(a * t) / (1.0 + t), 0.0, 2.0)
        expected = scipy.integrate.quad(lambda t: t * math.cos(1.3 * t) / (1.0 + t), 0.0, 2.0)[0]
        np.testing.assert_allclose(wg.grad(f)(1.3), expected, rtol=1e-6)
    else:
        f = lambda a: bogacki_shampine(lambda t, y: -a * y * y, np.array([1.0]), 1.0, 1e-9)[0]
        np.testing.assert_allclose(wg.grad(f)(1.3), -1.0 / (1.0 + 1.3) ** 2, rtol=1e-5)
