"""Sums over blocks of rows: derivatives are those of the whole, and digits do not depend on who computes them."""

import os
import signal
import threading
import warnings
from functools import partial

import numpy as np
import pytest
from scipy.optimize import least_squares

import wengert as wg
from wengert import optimize, tree
from wengert.errors import MismatchError, StagingError, UnsupportedFunctionError
from wengert.optimize import minimize, sum_over

da = pytest.importorskip("dask.array")


def logistic(p, X, y):
    z = X @ p["w"] + p["b"]
    return np.sum(np.logaddexp(0, z) - y * z)


def line(p, X, y):
    return X @ p["w"] + p["b"] - y


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(700, 3))
    return X, (X @ np.array([1.0, -2.0, 0.5]) + rng.normal(size=700) > 0).astype(float)


P = {"w": np.array([0.3, -0.2, 0.1]), "b": 0.4}
V = {"w": np.array([1.0, 2.0, -1.0]), "b": 0.5}


def lazily(X, y):
    return da.from_array(X, chunks=(130, 2)), da.from_array(y, chunks=130)


FORMS = {
    "arrays": lambda X, y: (X, y),
    "Dask arrays": lazily,
    "Dask and NumPy": lambda X, y: (lazily(X, y)[0], y),
    "chunked differently": lambda X, y: (da.from_array(X, chunks=(130, 3)), da.from_array(y, chunks=100)),
}


def check_same(found, wanted):
    for a, b in zip(tree.leaves(found), tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_derivatives_are_those_of_the_whole(form, rows):
    total = sum_over(logistic, FORMS[form](*rows), "synchronous")
    check_same(wg.value_and_grad(total)(P), wg.value_and_grad(logistic)(P, *rows))
    check_same(wg.hvp(total)(P, V), wg.hvp(logistic)(P, *rows, V))


def test_every_order_of_modes(rows):
    total = sum_over(logistic, lazily(*rows))
    hessian = wg.hessian(logistic)(P, *rows)
    check_same(wg.hessian(total)(P), hessian)
    for mode in ("forward-reverse", "reverse-forward", "reverse-reverse"):
        check_same(wg.hvp(total, mode=mode)(P, V), wg.hvp(logistic)(P, *rows, V))
    check_same(wg.jvp(total, (P,), (V,)), wg.jvp(lambda p: logistic(p, *rows), (P,), (V,)))
    penalised = lambda p: total(p) ** 2 + np.sum(p["w"] ** 2)
    check_same(wg.grad(penalised)(P), wg.grad(lambda p: logistic(p, *rows) ** 2 + np.sum(p["w"] ** 2))(P))
    with pytest.raises(UnsupportedFunctionError, match="up to the second"):
        wg.grad(lambda p: wg.hvp(total)(p, V)["b"])(P)
    with pytest.raises(StagingError, match="no part of a program"):
        wg.jit(lambda p: total(p) + 1)(P)


def test_sums_of_arrays(rows):
    X, _ = rows
    f = lambda p, X: {"sum": np.sum(np.sin(X * p), axis=0), "count": np.sum(np.cos(X[:, 0] * p[1]))}
    total = sum_over(f, da.from_array(X, chunks=(200, 3)))
    p = np.array([0.3, 0.7, -0.4])
    check_same(total(p), f(p, X))
    check_same(wg.jacobian(total)(p), wg.jacobian(f)(p, X))
    squares = lambda g: lambda *args: np.sum(g(*args)["sum"] ** 2)
    check_same(wg.hvp(squares(total))(p, p), wg.hvp(squares(f))(p, X, p))


@pytest.mark.filterwarnings("ignore:.*runs as ordinary Python:RuntimeWarning")
def test_blocks_of_many_lengths_compile_few_versions(rows, rng):
    X, y = rows
    ends = np.sort(rng.choice(np.arange(1, 700), 20, replace=False))
    blocks = list(zip(np.split(X, ends), np.split(y, ends), strict=True))
    seen = []

    def counted(p, X, y):
        seen.append(X.shape[0])
        return logistic(p, X, y)

    total = sum_over(counted, [partial(lambda b: b, b) for b in blocks], check=False)
    check_same(wg.grad(total)(P), wg.grad(logistic)(P, *rows))
    assert len({n for n in seen if n & (n - 1)}) <= 1  # the form of the result is asked of the first block as it is


def test_digits_do_not_depend_on_the_scheduler(rows):
    found = [wg.value_and_grad(sum_over(logistic, lazily(*rows), s))(P) for s in ("synchronous", "threads", None)]
    for other in found[1:]:
        for a, b in zip(tree.leaves(found[0]), tree.leaves(other), strict=True):
            assert np.array_equal(a, b)


def test_minimize_takes_it_without_a_word(rows):
    total = sum_over(logistic, lazily(*rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for method in ("auto", "BFGS"):
            found = minimize(total, P, method=method)
            slope = wg.grad(logistic)(found.x, *rows)
            assert max(np.max(np.abs(g)) for g in tree.leaves(slope)) < 1e-3


def test_residuals(rows):
    X, y = rows
    total = sum_over(line, lazily(X, y), residuals=True)
    A = np.column_stack([np.ones(len(X)), X])  # the order of the leaves: b, then w
    r = line(P, X, y)
    check_same(total(P), r @ r / 2)
    matrix = total.gauss_newton(P)
    check_same(tuple(matrix), (r @ r / 2, A.T @ r, A.T @ A))
    check_same(wg.hvp(total)(P, V)["w"], X.T @ (X @ V["w"] + V["b"]))
    few, J = total.residuals(P), wg.jacobian(total.residuals)(P)
    J = np.column_stack([J["b"], J["w"]])
    check_same((few @ few, J.T @ few, J.T @ J), (r @ r, A.T @ r, A.T @ A))
    flat = wg.to_scipy(total.residuals, P)
    check_same(least_squares(flat.fun, flat.x0, flat.jac).x, np.linalg.lstsq(A, y, rcond=None)[0])


def test_what_is_refused(rows):
    X, y = rows
    with pytest.raises(MismatchError, match=r"not a sum over rows.*\n.*np.sum, not np.mean"):
        sum_over(lambda p, X: np.mean(X @ p), X)(np.ones(3))
    with pytest.raises(MismatchError, match=r"numbers for \d+ rows[^§]*residuals=True"):
        sum_over(lambda p, X: X @ p, X)(np.ones(3))
    with pytest.raises(MismatchError, match="not a sum over rows"):
        sum_over(lambda p, X: np.sum(X @ p) + p @ p, X)(np.ones(3))
    with pytest.raises(MismatchError, match="numbers of rows: 700, 699"):
        sum_over(logistic, (X, y[1:]))
    with pytest.raises(MismatchError, match="load a block each"):
        sum_over(logistic, [X, y])
    with pytest.raises(MismatchError, match="residuals=True"):
        sum_over(logistic, (X, y)).gauss_newton(P)


@pytest.mark.slow
def test_on_a_cluster_of_which_a_worker_dies(rows):
    distributed = pytest.importorskip("distributed")
    here = sum_over(logistic, lazily(*rows), "synchronous")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        total = sum_over(logistic, lazily(*rows), client)
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(0.2, os.kill, (victim, signal.SIGKILL))
        killer.start()
        for k in range(8):
            p = {"w": P["w"] + k, "b": P["b"]}
            for a, b in zip(
                tree.leaves(wg.value_and_grad(total)(p)), tree.leaves(wg.value_and_grad(here)(p)), strict=True
            ):
                assert np.array_equal(a, b)
        killer.join()


def test_a_fit_of_a_sum_knows_how_many_residuals_there_are(rows):
    """The few residuals that have the sums of all would give a standard error of their own."""
    X, _ = rows
    y = X @ np.ones(3) + np.sin(np.arange(len(X)))
    whole = optimize.least_squares(lambda p: line(p, X, y), P)
    total = sum_over(line, [lambda k=k: (X[k : k + 100], y[k : k + 100]) for k in range(0, 700, 100)], residuals=True)
    for given in (total, total.residuals):
        fit = optimize.least_squares(given, P)
        np.testing.assert_allclose(fit.covariance, whole.covariance, rtol=1e-9)
        np.testing.assert_allclose(fit.x["w"], whole.x["w"], rtol=1e-9)
        assert "700 residuals" in fit.report()
    with pytest.raises(MismatchError, match="robust"):
        optimize.least_squares(total, P, loss="huber")


class Column:
    """What sum_over asks of a column of pandas: it does not compute with traced values."""

    def __init__(self, values):
        self.to_numpy = lambda: values

    def __array__(self, dtype=None, copy=None):
        return self.to_numpy()


class Table:
    """What sum_over asks of a dataframe of pandas."""

    def __init__(self, columns):
        self._columns = columns
        self.columns, self.index = list(columns), range(len(next(iter(columns.values()))))

    def __getitem__(self, name):
        return Column(self._columns[name])


def test_lists_of_tables_and_loaders_of_columns():
    x = np.linspace(0, 1, 30)
    y = 3 * x + 1
    halves = [slice(0, 12), slice(12, 30)]
    of_table = lambda p, block: np.sum((p[0] * block["x"] + p[1] - block["y"]) ** 2)
    of_columns = lambda p, x, y: np.sum((p[0] * x + p[1] - y) ** 2)
    totals = [
        optimize.sum_over(of_table, [Table({"x": x[k], "y": y[k]}) for k in halves]),
        optimize.sum_over(of_columns, [lambda k=k: (Column(x[k]), Column(y[k])) for k in halves]),
    ]
    p = np.array([2.0, 0.5])
    r = p[0] * x + p[1] - y
    for total in totals:
        value, slope = wg.value_and_grad(total)(p)
        assert np.isclose(value, r @ r)
        assert np.allclose(slope, [2 * r @ x, 2 * np.sum(r)])
