"""The main job in a minute: differentiate a plain NumPy program, in every mode, and use and look at the derivatives.

The program is the Helmholtz free energy of a mixed fluid, with which the literature on automatic differentiation
measures gradients (Griewank 1989; the survey's Figure 5). Nothing in it knows of wengert.
"""

import argparse
import math
import timeit
from time import perf_counter

import numpy as np
from scipy.optimize import minimize

import wengert as wg


def energy(x, A, b, R=8.314, T=300.0):
    """Helmholtz free energy of a mixture with mole numbers x (Peng-Robinson equation of state)."""
    bx = b @ x
    mixing = R * T * np.sum(np.log(x / (1 - bx)))
    attraction = x @ A @ x / (np.sqrt(8) * bx)
    return mixing - attraction * np.log((1 + (1 + np.sqrt(2)) * bx) / (1 + (1 - np.sqrt(2)) * bx))


def rosenbrock(x):
    """A valley that gradient descent crawls through and Newton's method does not."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def trajectory(p, steps=5):
    """A damped oscillator by small steps, written as people write it: an array that is filled in a loop."""
    out = np.zeros(steps)
    x, v = 1.0, 0.0
    for i in range(steps):
        v += 0.1 * (-p[0] * math.sin(x) - p[1] * v)
        x += 0.1 * v
        out[i] = x
    return out


def count(x):
    """Writes a number into an array of integers: that would cut off its derivative."""
    n = np.zeros(1, dtype=int)
    n[0] = x
    return n[0] * 1.0


def small(x1, x2):
    """The survey's example: ln x₁ + x₁ x₂ − sin x₂."""
    a, b, c = np.log(x1), x1 * x2, np.sin(x2)
    return a + b - c


def shortest(f, *args, seconds=0.1):
    """The time of a call in microseconds, the shortest of several samples."""
    timer = timeit.Timer(lambda: f(*args))
    calls = max(1, int(seconds / 5 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(5, calls)) / calls * 1e6


def main(open_page=False):
    """Show everything, in some seconds."""
    rng = np.random.default_rng(0)
    n = 8
    x, b = rng.uniform(0.5, 1.5, n) / n / 2, rng.uniform(0.2, 0.8, n)
    A = rng.uniform(0, 1, (n, n))
    A = A + A.T

    print("1. The gradient of a plain NumPy program, three independent ways")
    reverse = wg.grad(energy)(x, A, b)
    forward = wg.jacfwd(energy)(x, A, b)
    step = wg.numerical.grad(energy, method="complex-step")(x, A, b)
    print(f"   energy                 {energy(x, A, b):.10f}")
    print(f"   reverse mode           {reverse[0]:.12f}  {reverse[1]:.12f}  …")
    print(f"   forward mode           {forward[0]:.12f}  {forward[1]:.12f}  …")
    print(f"   complex step           {step[0]:.12f}  {step[1]:.12f}  …")
    print(f"   largest relative difference: {np.max(np.abs(reverse / step - 1)):.1e}")

    print("\n2. Second derivatives, by nesting the modes")
    H = wg.hessian(energy)(x, A, b)
    v = rng.normal(size=n)
    print(f"   Hessian: {H.shape[0]} × {H.shape[1]}, symmetric to {np.max(np.abs(H - H.T)) / np.max(np.abs(H)):.0e}")
    for mode in ("forward-reverse", "reverse-forward", "reverse-reverse"):
        error = np.max(np.abs(wg.hvp(energy, mode=mode)(x, A, b, v) / (H @ v) - 1))
        print(f"   H v by {mode:<16} agrees to {error:.0e}")

    print("\n3. Derivatives at work: SciPy's Newton method with exact gradients and Hessian-vector products")
    start = np.tile([-1.2, 1.0], 10)
    found = minimize(rosenbrock, start, jac=wg.grad(rosenbrock), hessp=wg.hvp(rosenbrock), method="trust-ncg")
    print(f"   Rosenbrock of 20 variables: f = {rosenbrock(start):.0f}; after {found.nit} steps {found.fun:.0e}")
    print(f"   farthest from the solution (1, …, 1): {np.max(np.abs(found.x - 1)):.0e}")

    print("\n4. The Jacobian as a linear operator, from one run of the program")
    y, J = wg.linearize(trajectory, np.array([1.0, 0.5]))
    print(f"   J is {J.shape[0]} × {J.shape[1]};  Jᵀ r = {J.T @ y}")
    print("   (the program fills an array in a loop: out = np.zeros(n); out[i] = …)")

    print("\n5. What would be silently wrong is an error that says what to do")
    try:
        wg.grad(count)(2.5)
    except wg.errors.InPlaceError as error:
        print("\n".join("   " + line.strip() for line in str(error).splitlines()[:2]))

    print("\n6. The same programs as native code")
    long = lambda p: trajectory(p, 500)
    p = np.array([1.0, 0.5])
    start = perf_counter()
    found = wg.jit(wg.jacobian(long))(p)
    taken = perf_counter() - start
    agree = np.allclose(found, wg.jacobian(long)(p), rtol=1e-10)
    print(f"   500 steps of the oscillator, compiled in {taken:.2f} s; results {'agree' if agree else 'DIFFER'}")
    for name, f in (("program", long), ("Jacobian", wg.jacobian(long))):
        plain, native = shortest(f, p), shortest(wg.jit(f), p)
        print(f"   {name:<10} {plain:8.1f} µs in Python, {native:6.1f} µs native: {plain / native:.0f} times faster")

    print("\n7. The Wengert list of an evaluation, with the adjoints of the reverse sweep")
    trace = wg.trace(small, 2.0, 5.0, cotangent=1.0)
    print("\n".join("   " + line for line in trace.text(source=False).splitlines()))

    print("\n8. A page to step through both sweeps; one file, no network")
    print(f"   {wg.explain(small, 2.0, 5.0, open=open_page).resolve()}")
    print("   open it in a browser, or: make demo ARGS=--open")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A short tour.")
    parser.add_argument("--open", action="store_true", help="show the page at the end in a browser")
    main(parser.parse_args().open)
