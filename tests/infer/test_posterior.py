"""Models as log-densities on unconstrained numbers: values and gradients against SciPy's and differences."""

import numpy as np
import pytest
from scipy import stats

import wengert as wg
from wengert import infer
from wengert.infer import transforms as tr

Y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
S = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def schools(y, s):
    mu = infer.sample("mu", stats.norm(0, 5))
    tau = infer.sample("tau", stats.expon(0, 5))
    with infer.plate("schools", len(y)):
        theta = infer.sample("theta", stats.norm(mu, tau))
        infer.observe(y, stats.norm(theta, s))
    infer.record("largest", np.max(theta))


def schools_by_hand(x):
    total = stats.norm(0, 5).logpdf(x["mu"]) + stats.expon(0, 5).logpdf(x["tau"])
    return (
        total + np.sum(stats.norm(x["mu"], x["tau"]).logpdf(x["theta"])) + np.sum(stats.norm(x["theta"], S).logpdf(Y))
    )


def autoregression(y):
    phi = infer.sample("phi", stats.uniform(-1, 2))
    sigma = infer.sample("sigma", infer.flat(tr.positive))
    for t in range(1, len(y)):
        infer.observe(y[t], stats.norm(phi * y[t - 1], sigma))


def vectors(y):
    w = infer.sample("w", stats.dirichlet([2.0, 3.0, 4.0]))
    cut = infer.sample("cut", stats.norm(0, 3), shape=3, transform=tr.ordered)
    b = infer.sample("b", stats.multivariate_normal(np.ones(3), np.eye(3) + 0.5))
    cov = infer.sample("cov", stats.wishart(5, np.eye(2)))
    low = infer.sample("low", stats.uniform(cut[0], 2.0))
    infer.factor(-0.1 * low**2)
    infer.observe(y, stats.norm(w @ b + cut, np.sqrt(cov[0, 0])))


def vectors_by_hand(x, y):
    total = stats.dirichlet.logpdf(x["w"], [2.0, 3.0, 4.0]) + np.sum(stats.norm.logpdf(x["cut"], 0, 3))
    total += stats.multivariate_normal.logpdf(x["b"], np.ones(3), np.eye(3) + 0.5)
    total += stats.wishart.logpdf(x["cov"], 5, np.eye(2)) + np.log(0.5) - 0.1 * x["low"] ** 2
    return total + np.sum(stats.norm.logpdf(y, x["w"] @ x["b"] + x["cut"], np.sqrt(x["cov"][0, 0])))


def differences(f, u, h=1e-5):
    steps = h * np.eye(len(u))
    return np.array([(8 * (f(u + e) - f(u - e)) - (f(u + 2 * e) - f(u - 2 * e))) / (12 * h) for e in steps])


def test_the_log_density_is_that_of_scipy(rng):
    p = infer.posterior(schools, Y, S)
    assert p.names == ["mu", "tau", "theta"]
    u = rng.normal(size=10)
    x = p.constrain(u)
    assert x["largest"] == np.max(x["theta"])
    np.testing.assert_allclose(p.log_density(u), schools_by_hand(x) + u[1], rtol=1e-13)
    np.testing.assert_allclose(p.unconstrain(x), u, rtol=1e-13)


def test_vectors_matrices_and_bounds_that_depend_on_sites(rng):
    y = rng.normal(size=3)
    p = infer.posterior(vectors, y)
    u = rng.normal(size=p.size)
    x = p.constrain(u)
    a, b = x["cut"][0], x["cut"][0] + 2
    spans = {name: (site.start, site.stop) for name, site in p.sites.items()}
    logs = sum(
        t.log_jacobian(u[slice(*spans[name])])
        for name, t in {"w": tr.simplex, "cut": tr.ordered, "cov": tr.covariance, "low": tr.interval(a, b)}.items()
    )
    np.testing.assert_allclose(p.log_density(u), vectors_by_hand(x, y) + logs, rtol=1e-12)
    np.testing.assert_allclose(p.unconstrain(x), u, rtol=1e-10)


@pytest.mark.parametrize(
    ("model", "args"), [(schools, (Y, S)), (autoregression, (Y,)), (vectors, (np.array([0.3, -1.0, 2.0]),))]
)
def test_gradients_eagerly_and_compiled(model, args, rng):
    p = infer.posterior(model, *args)
    u = 0.5 * rng.normal(size=p.size)
    expected = differences(p.log_density, u)
    np.testing.assert_allclose(wg.grad(p.log_density)(u), expected, rtol=1e-7, atol=1e-7)
    value, gradient = wg.jit(wg.value_and_grad(p.log_density))(u)
    np.testing.assert_allclose(value, p.log_density(u), rtol=1e-13)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-7)


def test_a_density_of_a_container_on_its_support(rng):
    def density(x, y):
        return np.sum(stats.norm(x["mu"], x["sd"]).logpdf(y)) - x["sd"] + stats.dirichlet([1.0, 2.0]).logpdf(x["w"])

    init = {"mu": 0.0, "sd": 1.0, "w": np.array([0.5, 0.5])}
    p = infer.posterior(density, Y, init=init, support={"mu": None, "sd": tr.positive, "w": tr.simplex})
    assert p.size == 3
    u = rng.normal(size=3)
    x = p.constrain(u)
    expected = density(x, Y) + u[1] + tr.simplex.log_jacobian(u[2:])
    np.testing.assert_allclose(p.log_density(u), expected, rtol=1e-13)
    np.testing.assert_allclose(p.unconstrain(x), u, rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(p.log_density))(u), differences(p.log_density, u), rtol=1e-7)


def test_plates_add_axes_in_front_and_shapes_count():
    def model():
        with infer.plate("a", 3):
            a = infer.sample("a", stats.norm(0, 1))
            with infer.plate("b", 2) as index:
                b = infer.sample("b", stats.norm(a, 1))
                assert list(index) == [0, 1]
        infer.sample("c", stats.norm(0, 1), shape=(2, 2))
        infer.sample("d", stats.dirichlet([1.0, 1.0, 1.0]), shape=4)
        infer.record("shapes", np.array([np.ndim(a), np.ndim(b)]))

    p = infer.posterior(model)
    assert {name: site.shape for name, site in p.sites.items()} == {"a": (3,), "b": (2, 3), "c": (2, 2), "d": (4, 3)}
    assert p.size == 3 + 6 + 4 + 8
    assert np.isfinite(p.log_density(np.zeros(p.size)))


def twice():
    infer.sample("x", stats.norm(0, 1))
    infer.sample("x", stats.norm(0, 1))


def sometimes():
    if infer.sample("x", stats.norm(0, 1)) > 0:
        infer.sample("y", stats.norm(0, 1))


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (twice, "two sites are called 'x'"),
        (sometimes, "site 'y' is there at some points and not at others"),
        (lambda: None, "no site"),
        (lambda: infer.sample("x", 3.0), "takes a distribution"),
        (lambda: infer.sample("x", stats.norm(np.zeros(3), 1), shape=2), "parameters of its distribution"),
        (lambda: infer.observe(np.array([np.nan]), stats.norm(infer.sample("x", stats.norm()), 1)), "contain NaN"),
        (lambda: infer.sample("x", stats.norm(0, 1), transform=tr.simplex), "size is not given"),
    ],
)
def test_what_cannot_be_understood_is_refused(model, says):
    with pytest.raises(infer.ModelError, match=says):
        infer.posterior(model)


def test_marks_belong_into_a_model():
    with pytest.raises(infer.ModelError, match="outside of a model"):
        infer.sample("x", stats.norm(0, 1))
    with pytest.raises(infer.ModelError, match="not in its support"):
        infer.posterior(schools, Y, S).unconstrain({"mu": 0.0, "tau": -1.0, "theta": np.zeros(8)})
