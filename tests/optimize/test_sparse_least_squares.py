"""Least squares with sparse Jacobians: Schur complements that are found by themselves, bounds, losses, real tracks."""

from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
from scipy.sparse import csr_array

import wengert as wg
from wengert import errors, optimize
from wengert.algorithms import schur as kernels
from wengert.optimize.schur import Complement, WholeSystem, eliminated, solver_for

DATA = Path(__file__).parents[3] / "shared" / "testdata" / "bundle_adjustment"


def rotated(w, x):
    square = np.sum(w * w, axis=1)[:, None] + 1e-30
    angle = np.sqrt(square)
    along = np.sum(w * x, axis=1)[:, None]
    return x * np.cos(angle) + np.cross(w, x) * (np.sin(angle) / angle) + w * along * ((1 - np.cos(angle)) / square)


def projections(camera_index, point_index, observations, focal=1.0):
    def r(p):
        camera, point = p["cameras"][camera_index], p["points"][point_index]
        q = rotated(camera[:, :3], point) + camera[:, 3:]
        return focal * q[:, :2] / q[:, 2:] - observations

    return r


def scene(cameras, points, rng, noise=1e-3):
    camera_index, point_index = np.divmod(np.arange(cameras * points), points)
    seen = rng.random(len(camera_index)) < 0.7
    camera_index, point_index = camera_index[seen], point_index[seen]
    truth = {
        "cameras": np.concatenate([0.1 * rng.normal(size=(cameras, 5)), 6 + rng.random((cameras, 1))], axis=1),
        "points": rng.normal(size=(points, 3)),
    }
    clean = projections(camera_index, point_index, 0.0)(truth)
    r = projections(camera_index, point_index, clean + noise * rng.normal(size=clean.shape))
    start = {k: v + 0.02 * rng.normal(size=v.shape) for k, v in truth.items()}
    return r, start


@pytest.mark.parametrize(("cameras", "points", "left"), [(4, 20, 24), (14, 8, 24)])
def test_the_larger_kind_of_unknowns_is_eliminated(cameras, points, left, rng):
    r, start = scene(cameras, points, rng)
    found = optimize.least_squares(r, start, sparse=True, jit=False, ftol=1e-13)
    dense = optimize.least_squares(r, start, sparse=False, jit=False)
    assert found.success
    np.testing.assert_allclose(found.cost, dense.cost, rtol=1e-9)
    solver = solver_for(found.jac)
    assert isinstance(solver, Complement)
    assert len(solver.rest) == left


@pytest.mark.parametrize("n", [1, 7, 90])
def test_the_factorisation_of_our_own_solves_systems(n, rng):
    square = rng.normal(size=(n, n))
    matrix, side = square @ square.T + np.eye(n), rng.normal(size=n)
    for solve in (kernels.solve, wg.jit(kernels.solve)):
        lower, found = np.tril(matrix), side.copy()
        solve(lower, found)
        np.testing.assert_allclose(found, np.linalg.solve(matrix, side), rtol=1e-9)
    lower[0, 0] = -1.0
    wg.jit(kernels.solve)(lower, found)
    assert not np.any(np.isfinite(found))


def systems(rng):
    """Patterns with groups of several sizes, rows of the rest alone, unknowns without residuals; and a banded one."""
    rows, columns = [], []
    column = 6
    for size in (1, 3, 3, 2, 1, 2, 3):
        for _ in range(size + 1):
            row = rows[-1] + 1 if rows else 0
            mine = [*range(column, column + size), *rng.choice(6, 2, replace=False)]
            rows += [row] * len(mine)
            columns += mine
        column += size
    rows += [rows[-1] + 1] * 3
    columns += [0, 3, 5]
    shape = (rows[-1] + 1, column + 1)
    yield csr_array((rng.normal(size=len(rows)), (rows, columns)), shape=shape)
    yield csr_array(np.triu(np.tril(rng.normal(size=(40, 40)), 2), -2))
    yield csr_array(np.kron(np.eye(9), rng.normal(size=(3, 2))))  # nothing is left when the groups are taken out


def ties(widths, rng):
    """Groups of two unknowns, each of which has residuals in common with three of several sets of unknowns."""
    rows, columns, row = [], [], 0
    sets = np.split(np.arange(sum(widths)), np.cumsum(widths)[:-1])
    for group in range(40):
        for k in rng.choice(len(widths), 3, replace=False):
            for _ in range(2):
                mine = [*sets[k], *(sum(widths) + 2 * group + np.arange(2))]
                rows += [row] * len(mine)
                columns += mine
                row += 1
    return csr_array((rng.normal(size=len(rows)), (rows, columns)), shape=(row, sum(widths) + 80))


@pytest.mark.parametrize("widths", [(6,) * 5, (5, 3, 7, 1, 5), (2, 2, 2, 3), (1,) * 8])
def test_blocks_of_the_rest_of_any_width_give_the_step(widths, rng, monkeypatch):
    """Blocks that are not full, compiled and not."""
    jacobian = ties(widths, rng)
    f, damping = rng.normal(size=jacobian.shape[0]), 0.1 + rng.random(jacobian.shape[1])
    expected = -np.linalg.solve((jacobian.T @ jacobian).toarray() + np.diag(damping), jacobian.T @ f)
    for least in (0, 10**9):
        monkeypatch.setattr("wengert.optimize.schur._WORTH_COMPILING", least)
        solver = solver_for(jacobian)
        assert isinstance(solver, Complement)
        squares, gradient = solver.take(jacobian, f)
        np.testing.assert_allclose(squares, np.sum(jacobian.toarray() ** 2, axis=0), rtol=1e-12)
        np.testing.assert_allclose(gradient, jacobian.T @ f, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(solver.step(damping), expected, rtol=1e-8, atol=1e-12)


def test_steps_solve_the_damped_normal_equations(rng):
    for jacobian in systems(rng):
        f, damping = rng.normal(size=jacobian.shape[0]), 0.1 + rng.random(jacobian.shape[1])
        expected = -np.linalg.solve((jacobian.T @ jacobian).toarray() + np.diag(damping), jacobian.T @ f)
        for solver in (solver_for(jacobian), WholeSystem(jacobian)):
            solver.take(jacobian, f)
            np.testing.assert_allclose(solver.step(damping), expected, rtol=1e-9, atol=1e-12)
    first = next(systems(rng))
    number, _ = eliminated(first)
    of_groups = [set(first.indices[first.indptr[k] : first.indptr[k + 1]]) for k in range(first.shape[0])]
    assert all(len({number[c] for c in columns if number[c] >= 0}) <= 1 for columns in of_groups)


@pytest.mark.parametrize("loss", ["huber", "cauchy"])
def test_losses_and_bounds_with_sparse_jacobians(loss, rng):
    n = 40
    y = np.sin(np.arange(n) / 5) + np.where(np.arange(n) % 9 == 4, 3.0, 0.0)
    r = lambda x: np.concatenate([x - y, 3 * (x[1:] - x[:-1])])
    found = optimize.least_squares(
        r, np.zeros(n), sparse=True, loss=loss, f_scale=0.3, bounds=(-0.5, 0.6), ftol=1e-15, jit=False
    )
    theirs = scipy.optimize.least_squares(
        r, np.zeros(n), loss=loss, f_scale=0.3, bounds=(-0.5, 0.6), ftol=1e-15, xtol=1e-15, gtol=1e-12
    )
    assert found.success
    np.testing.assert_allclose(found.cost, theirs.cost, rtol=1e-9)
    assert np.all((found.x >= -0.5) & (found.x <= 0.6))


def test_sparse_covariance_is_the_dense_one():
    n = 30
    y = np.cos(np.arange(n) / 4)
    r = lambda x: np.concatenate([x - y, 2 * (x[1:] ** 2 - x[:-1])])
    found = optimize.least_squares(r, np.zeros(n), sparse=True, ftol=1e-15, jit=False)
    dense = optimize.least_squares(r, np.zeros(n), sparse=False, jit=False)
    np.testing.assert_allclose(found.covariance, dense.covariance, rtol=1e-5, atol=1e-12)
    g = lambda x: x[:2] * x[3]
    np.testing.assert_allclose(found.covariance_of(g), dense.covariance_of(g), rtol=1e-5)


def test_many_unknowns_are_recognised_as_sparse():
    n = 150
    r = lambda x: np.concatenate([x[:1] - 1, 10 * (x[1:] - x[:-1] ** 2), 1 - x[1:]])
    found = optimize.least_squares(r, np.full(n, 0.5), jit=False)
    assert hasattr(found.jac, "indptr")
    np.testing.assert_allclose(found.x, 1, atol=1e-6)
    with pytest.raises(errors.MismatchError, match="dogleg"):
        optimize.least_squares(r, np.full(n, 0.5), method="dogleg", jit=False)


@pytest.mark.slow
def test_real_tracks_reach_the_known_cost():
    path = DATA / "tears_of_steel_03.npz"
    if not path.exists():
        pytest.skip("the test data are not here")
    z = np.load(path)
    f, cx, cy, k1, k2, k3, p1, p2 = z["intrinsics"]
    bare = projections(z["camera_index"], z["point_index"], 0.0)

    def r(p):
        x, y = bare(p).T
        s = x * x + y * y
        d = 1 + s * (k1 + s * (k2 + s * k3))
        u = x * d + 2 * p1 * x * y + p2 * (s + 2 * x * x)
        v = y * d + 2 * p2 * x * y + p1 * (s + 2 * y * y)
        return np.stack([f * u + cx, f * v + cy], axis=1) - z["observations"]

    for prefix in ("", "perturbed_"):
        found = optimize.least_squares(r, {k: z[prefix + k] for k in ("cameras", "points")})
        assert found.success
        np.testing.assert_allclose(found.cost, z["cost_optimum"], rtol=1e-9)
