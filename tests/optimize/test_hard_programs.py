"""The interior-point method where barriers make badly scaled systems, and near saddle points."""

import numpy as np
import pytest
import scipy.sparse as sp

from wengert import optimize
from wengert.optimize.engines import kkt


@pytest.mark.parametrize("seed", range(3))
def test_systems_with_bounds_that_are_close_are_solved_without_krylov_spaces(seed, monkeypatch):
    """Variables whose bounds are close, so that Σ is large and J Σ⁻¹ Jᵀ small: an absolute shift would change it."""
    random = np.random.default_rng(seed)
    n, m = 60, 30
    J = sp.csr_array(sp.diags_array(random.normal(size=(4, n)), offsets=range(4), shape=(m, n)))
    H = sp.csr_array(sp.diags_array(1 + random.random(n)))
    sigma = 10.0 ** random.uniform(9, 12, n)
    system = kkt.SparseSystem(np.arange(n), m)
    monkeypatch.delattr(kkt, "_krylov")
    assert system.factor(H, J, sigma, np.zeros(m)) == (n, m)
    side = random.normal(size=n + m)
    found = system.solve(side)
    K = np.block([[H.toarray() + np.diag(sigma), J.T.toarray()], [J.toarray(), np.zeros((m, m))]])
    error = np.abs(K @ found - side) / (np.abs(K) @ np.abs(found) + np.abs(side))
    assert np.max(error) < 1e-12


def test_a_clamped_beam():
    """CLNLBEAM by the trapezoidal rule: indefinite, small slopes, bounds that are touched; 120 iterations once."""
    N = 600
    h = 1 / N

    def energy(p):
        c = p["u"] ** 2 / 2 + 350 * np.cos(p["angle"])
        return h * (np.sum(c) - (c[0] + c[-1]) / 2)

    def defects(p):
        rates = np.sin(p["angle"]), p["u"]
        return [y[1:] - y[:-1] - h / 2 * (f[1:] + f[:-1]) for y, f in zip((p["x"], p["angle"]), rates, strict=True)]

    t = np.linspace(0, 1, N + 1)
    limit = np.full(N + 1, 0.05)
    limit[[0, -1]] = 0
    found = optimize.nlp(
        energy,
        {"x": 0.05 * np.cos(t), "angle": 0.05 * np.cos(t), "u": np.full(N + 1, 0.01)},
        equalities=defects,
        bounds={"x": (-limit, limit), "angle": (-1.0, 1.0), "u": (None, None)},
        engine="interior-point",
        maxiter=90,
    )
    assert found.success, found.message
    assert found.fun < 333.637  # CasADi with Ipopt: 333.67711 at N = 100
    assert max(np.max(np.abs(rows)) for rows in defects(found.x)) < 1e-8
