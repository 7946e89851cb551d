"""Transforms: onto the support, back again, and the Jacobian determinant against differences of the coordinates."""

import numpy as np
import pytest
from scipy import integrate, stats

import wengert as wg
from wengert.infer import transforms as tr


def components(x):
    return x


def without_last(x):
    return x[..., :-1]


def triangle(offset):
    def lower(x):
        rows, columns = np.tril_indices(x.shape[-1], offset)
        return x[..., rows, columns]

    return lower


# transform, number of unconstrained numbers, independent coordinates of a value, what holds on the support
CASES = {
    "real": (tr.real, 3, components, lambda x: True),
    "positive": (tr.positive, 3, components, lambda x: x > 0),
    "lower": (tr.lower(2.0), 3, components, lambda x: x > 2),
    "lowers": (tr.lower(np.array([2.0, -3.0, 0.5])), 3, components, lambda x: x > [2.0, -3.0, 0.5]),
    "upper": (tr.upper(-1.0), 3, components, lambda x: x < -1),
    "interval": (tr.interval(-1.0, 3.0), 3, components, lambda x: (x > -1) & (x < 3)),
    "unit_interval": (tr.unit_interval, 2, components, lambda x: (x > 0) & (x < 1)),
    "simplex": (tr.simplex, 3, without_last, lambda x: (x > 0) & np.isclose(np.sum(x), 1)),
    "ordered": (tr.ordered, 4, components, lambda x: np.diff(x) > 0),
    "positive_ordered": (tr.positive_ordered, 4, components, lambda x: np.diff(x, prepend=0) > 0),
    "correlation_cholesky": (tr.correlation_cholesky, 6, triangle(-1), lambda x: np.isclose(np.sum(x * x, -1), 1)),
    "covariance_cholesky": (tr.covariance_cholesky, 6, triangle(0), lambda x: np.diagonal(x) > 0),
    "correlation": (tr.correlation, 6, triangle(-1), lambda x: np.isclose(np.diagonal(x), 1)),
    "covariance": (tr.covariance, 6, triangle(0), lambda x: np.linalg.eigvalsh(x) > 0),
}


def differences(f, u, h=1e-5):
    """The Jacobian matrix by differences of fourth order, in plain NumPy."""
    columns = []
    for k in range(len(u)):
        e = np.zeros(len(u))
        e[k] = h
        columns.append((8 * (f(u + e) - f(u - e)) - (f(u + 2 * e) - f(u - 2 * e))) / (12 * h))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("name", CASES)
def test_support_inverse_and_jacobian(name, rng):
    transform, size, coordinates, holds = CASES[name]
    u = rng.normal(size=size) * 1.5
    x = transform.forward(u)
    assert np.all(holds(x))
    np.testing.assert_allclose(transform.inverse(x), u, rtol=1e-9)
    assert transform.unconstrained_shape(np.shape(x)) == (size,)
    _, log_det = np.linalg.slogdet(differences(lambda u: coordinates(transform.forward(u)), u))
    np.testing.assert_allclose(transform.log_jacobian(u), log_det, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_examples_add_up_and_all_ways_agree(name, rng):
    transform, size, _, _ = CASES[name]
    u = rng.normal(size=(2, size))
    many = transform.forward(u)
    assert transform.unconstrained_shape(many.shape) == u.shape
    np.testing.assert_allclose(many, [transform.forward(row) for row in u], rtol=1e-14)
    total = sum(transform.log_jacobian(row) for row in u)
    np.testing.assert_allclose(transform.log_jacobian(u), total, rtol=1e-13, atol=1e-14)

    def function(u):
        return np.sum(np.sin(transform.forward(u))) + transform.log_jacobian(u)

    expected = differences(function, u[0])
    np.testing.assert_allclose(wg.grad(function)(u[0]), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(wg.jit(wg.grad(function))(u[0]), expected, rtol=1e-7, atol=1e-8)


def test_the_length_of_a_direction_integrates_to_one():
    # ∫ exp(log_jacobian) r dr over lengths is 1 in the plane, for every direction.
    total, _ = integrate.quad(lambda r: r * np.exp(tr.unit_vector.log_jacobian(np.array([0.6 * r, 0.8 * r]))), 0, 40)
    assert abs(total - 1) < 1e-10
    x = tr.unit_vector.forward(np.array([3.0, 0.0, 4.0]))
    np.testing.assert_allclose(x, [0.6, 0, 0.8])
    np.testing.assert_allclose(tr.unit_vector.forward(tr.unit_vector.inverse(x)), x)


def test_densities_keep_their_mass():
    # ∫ p(x(u)) |dx/du| du = 1, for a simplex of three and a correlation.
    axis = np.linspace(-14, 14, 57)
    alpha = [1.5, 2.0, 3.0]
    values = [
        stats.dirichlet.logpdf(tr.simplex.forward(np.array([a, b])), alpha) + tr.simplex.log_jacobian(np.array([a, b]))
        for a in axis
        for b in axis
    ]
    assert abs(np.sum(np.exp(values)) * 0.5**2 - 1) < 1e-6
    corr = [tr.correlation.log_jacobian(np.array([a])) for a in axis]  # the uniform distribution on (−1, 1)
    assert abs(np.sum(np.exp(corr)) * 0.5 / 2 - 1) < 1e-6


def test_bounds_may_be_differentiated():
    def f(bounds, u):
        transform = tr.interval(bounds[0], bounds[1])
        return np.sum(transform.forward(u) ** 2) + transform.log_jacobian(u)

    u, bounds = np.array([0.3, -0.7]), np.array([0.5, 2.5])
    expected = differences(lambda b: f(b, u), bounds)
    np.testing.assert_allclose(wg.grad(f)(bounds, u), expected, rtol=1e-8)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(bounds, u), expected, rtol=1e-8)


def test_far_out_nothing_overflows():
    u = np.array([800.0, -800.0, 30.0])
    for transform in (tr.unit_interval, tr.simplex, tr.correlation_cholesky):
        size = 3
        assert np.all(np.isfinite(transform.forward(u[:size])))
        gradient = wg.grad(transform.log_jacobian)(u[:size])
        assert np.all(np.isfinite(gradient))


@pytest.mark.parametrize("u", [-800.0, 800.0])
@pytest.mark.parametrize("transform", [tr.covariance, tr.correlation], ids=["covariance", "correlation"])
def test_the_jacobian_of_a_product_is_a_number_where_the_product_is_none(transform, u):
    u = np.full(transform.unconstrained_shape((3, 3)), u)
    assert np.isfinite(transform.log_jacobian(u))
    assert np.all(np.isfinite(wg.grad(transform.log_jacobian)(u)))
