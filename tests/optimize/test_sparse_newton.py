"""`method="sparse-newton"`, and where `"auto"` goes over to it: energies with sparse, ill-conditioned Hessians."""

import os
import signal
import threading

import numpy as np
import pytest

from wengert import errors, optimize

N = 3000
LOAD = 1 + np.linspace(0, 1, N)


def energy(u):
    """A string that is held at both ends, under a load."""
    slope = np.diff(np.concatenate([np.zeros(1), u, np.zeros(1)])) * (N + 1)
    return (np.sum(np.sqrt(1 + slope**2)) + 0.5 * np.sum(slope**2) - np.sum(u * LOAD)) / (N + 1)


def balance(u):
    """The derivative of the energy, by hand."""
    slope = np.diff(np.concatenate([np.zeros(1), u, np.zeros(1)])) * (N + 1)
    force = slope / np.sqrt(1 + slope**2) + slope
    return force[:-1] - force[1:] - LOAD / (N + 1)


def test_a_few_iterations_suffice_and_auto_says_that_it_went_over():
    found = optimize.minimize(energy, np.zeros(N), method="sparse-newton")
    assert found.success
    assert found.nit < 10
    np.testing.assert_allclose(balance(found.x), 0, atol=1e-8)
    auto = optimize.minimize(energy, np.zeros(N))
    assert auto.success
    assert auto.method == "sparse-newton"
    assert "after 1000 iterations of lbfgs" in auto.message
    np.testing.assert_allclose(auto.x, found.x, atol=1e-9)


def test_negative_curvature_is_left_and_bounds_are_refused():
    wells = optimize.minimize(lambda x: np.sum(x**4 - x**2), np.full(150, 0.1), method="sparse-newton", jit=False)
    assert wells.success
    np.testing.assert_allclose(wells.x, 0.5**0.5, atol=1e-8)
    with pytest.raises(errors.MismatchError, match="takes no bounds"):
        optimize.minimize(energy, np.zeros(N), method="sparse-newton", bounds=(None, 0.05))


@pytest.mark.parametrize("method", ["lbfgs", "sparse-newton", "BFGS"])
def test_an_interrupt_gives_the_best_point(method):
    seen = []

    def chained(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def told(x):
        seen.append(chained(x))
        if len(seen) == 5:
            threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()

    found = optimize.minimize(chained, np.full(120, -1.2), method=method, callback=told, tol=1e-200, jit=False)
    assert not found.success
    assert "interrupted" in found.message
    assert found.fun <= seen[4]
    np.testing.assert_allclose(chained(found.x), found.fun, rtol=1e-12)
