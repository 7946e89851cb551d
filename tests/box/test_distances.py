"""Distances between vectors and between rows, against SciPy and differences of it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.spatial
import scipy.spatial.distance as d
from harness import has_derivatives_of_differences, jacobian_by_differences

import wengert as wg

X = np.array([0.3, 1.2, -0.7, 0.5, 0.9, 1.4])
Y = np.array([[1.0, 0.2, 0.4], [-0.5, 0.6, 0.8], [0.1, 1.7, -0.3]])
W = [1.0, 2.0, 0.5]


def rows(x):
    return x.reshape(2, 3)


# fmt: off
BETWEEN = {
    name: (lambda x, name=name: d.cdist(rows(x), Y, name))
    for name in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "canberra",
                 "braycurtis", "seuclidean", "minkowski", "cityblock", "cos")
}
PROGRAMS = {
    **BETWEEN,
    "mahalanobis": lambda x: d.cdist(x.reshape(3, 2), Y[:, :2], "mahalanobis"),
    "jensenshannon": lambda x: d.cdist(rows(x) ** 2, Y**2, "jensenshannon"),
    "minkowski 3": lambda x: d.cdist(rows(x), Y, "minkowski", p=3, w=W),
    "a function": lambda x: d.cdist(rows(x), Y, lambda u, v: np.sum((u - v) ** 4)),
    "a function of SciPy": lambda x: d.pdist(x.reshape(3, 2), d.cityblock),
    "pairs": lambda x: d.pdist(x.reshape(3, 2)),
    "pairs, mahalanobis": lambda x: d.pdist(x.reshape(3, 2), "mahalanobis"),
    "pairs, seuclidean": lambda x: d.pdist(x.reshape(3, 2), "seuclidean"),
    "squareform": lambda x: d.squareform(x),
    "squareform back": lambda x: d.squareform(d.squareform(x * x)),
    "distance_matrix": lambda x: scipy.spatial.distance_matrix(rows(x), Y, p=1),
    "lists": lambda x: d.cdist([[x[0], 1.0, x[1]]], [[0.0, x[2], 2.0]]),
    **{f"{name} of two": (lambda x, name=name: getattr(d, name)(x[:3], x[3:], w=W) + getattr(d, name)(x[:3], x[3:]))
       for name in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "canberra",
                    "braycurtis", "minkowski")},
    "seuclidean of two": lambda x: d.seuclidean(x[:3], x[3:], W),
    "mahalanobis of two": lambda x: d.mahalanobis(x[:3], x[3:], np.diag(W) + 0.1),
    "jensenshannon of two": lambda x: d.jensenshannon(x[:3] ** 2, x[3:] ** 2, 2.0),
}
# fmt: on


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    has_derivatives_of_differences(PROGRAMS[name], X, value=1e-12)


def test_compiled() -> None:
    def several(x):
        return tuple([f(x) for f in PROGRAMS.values()])

    for value, row, f in zip(wg.jit(several)(X), wg.jit(wg.jacrev(several))(X), PROGRAMS.values(), strict=True):
        np.testing.assert_allclose(value, f(X), rtol=1e-11)
        np.testing.assert_allclose(row, jacobian_by_differences(f, X), rtol=1e-5, atol=1e-7)


def test_points_that_coincide() -> None:
    x = np.ones((2, 3))
    for metric in ("euclidean", "cityblock", "chebyshev", "minkowski", "canberra"):
        found = wg.grad(lambda x, metric=metric: np.sum(d.pdist(x, metric)))(x)
        assert np.all(np.isfinite(found)), metric
    np.testing.assert_array_equal(wg.grad(lambda x: np.sum(d.pdist(x)))(x), 0.0)


@pytest.mark.parametrize("metric", ["hamming", "jaccard"])
def test_other_distances_are_refused_by_name(metric: str) -> None:
    with pytest.raises(wg.errors.UnsupportedFunctionError, match=metric):
        wg.jacrev(lambda x: d.cdist(rows(x), Y, metric))(X)
    with pytest.raises(wg.errors.UnsupportedFunctionError, match=metric):
        wg.jacrev(lambda x: getattr(d, metric)(x[:3], x[3:]))(X)


def test_a_name_that_scipy_does_not_know() -> None:
    for f in (lambda x: d.cdist(rows(x), Y, "manhattan"), wg.jacrev(lambda x: d.cdist(rows(x), Y, "manhattan"))):
        with pytest.raises(ValueError, match="Unknown Distance Metric"):
            f(X)
