"""Gradients of expectations: unbiased estimators against quadrature and enumeration, at five standard errors."""

import itertools

import numpy as np
import pytest
from scipy import stats

import wengert as wg
from wengert import infer
from wengert.errors import EstimatorError

SAMPLES = 4000


def agrees(found, exact, samples=SAMPLES):
    """Whether the mean of per-sample gradients is within five standard errors of the exact gradient."""
    for key, expected in exact.items():
        rows = np.reshape(found[key], (samples, -1))
        error = np.abs(rows.mean(0) - np.ravel(expected))
        allowed = 5 * rows.std(0, ddof=1) / np.sqrt(samples) + 1e-9
        assert np.all(error <= allowed), (key, rows.mean(0), expected, allowed / 5)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
STENCIL = ((-2, 1), (-1, -8), (1, 8), (2, -1))
"""Central differences of fourth order, times 12."""


def by_quadrature(f, dist, params):
    """The gradient of ∫ f·p, by differences of Gauss–Legendre quadrature in 200 panels."""
    lo, hi = dist(params).ppf([1e-13, 1 - 1e-13])
    half = 0.5 * (hi - lo) / 200
    x = np.ravel(lo + half * (1 + 2 * np.arange(200)[:, None] + NODES))
    weighted = half * np.tile(WEIGHTS, 200) * f(x)
    exact = {}
    for key, value in params.items():
        h = 1e-4 * max(1.0, abs(value))
        exact[key] = sum(c * weighted @ dist({**params, key: value + s * h}).pdf(x) for s, c in STENCIL) / (12 * h)
    return exact


def wave(x):
    return np.sin(x) + 0.3 * x**2


ALL = "score reparameterization implicit measure-valued"
CONTINUOUS = {
    "normal": (lambda p: stats.norm(p["m"], p["s"]), {"m": 0.7, "s": 1.3}, ALL),
    "gamma": (lambda p: stats.gamma(p["a"], scale=p["s"]), {"a": 2.5, "s": 0.8}, ALL),
    "beta": (lambda p: stats.beta(p["a"], p["b"]), {"a": 2.5, "b": 1.8}, "implicit measure-valued"),
    "student": (lambda p: stats.t(p["df"], p["m"], p["s"]), {"df": 9.0, "m": 0.5, "s": 0.7}, "score implicit"),
    "expon": (lambda p: stats.expon(scale=p["s"]), {"s": 0.9}, "reparameterization measure-valued"),
    "lognormal": (lambda p: stats.lognorm(p["s"], scale=p["e"]), {"s": 0.4, "e": 1.2}, "score measure-valued"),
    "weibull": (lambda p: stats.weibull_min(2.2, scale=p["s"]), {"s": 1.4}, "implicit measure-valued"),
    "laplace": (lambda p: stats.laplace(p["m"], p["s"]), {"m": 0.2, "s": 0.6}, "measure-valued"),
    "chi2": (lambda p: stats.chi2(p["df"]), {"df": 3.5}, "measure-valued"),
}


@pytest.mark.parametrize(
    ("name", "estimator"), [(name, e) for name, (_, _, all_of) in CONTINUOUS.items() for e in all_of.split()]
)
def test_continuous_distributions_of_one_number(name, estimator):
    dist, params, _ = CONTINUOUS[name]
    found = infer.expectation_grad(wave, dist, params, estimator=estimator, samples=SAMPLES, per_sample=True, seed=3)
    agrees(found, by_quadrature(wave, dist, params))


def test_a_uniform_distribution_moves_its_ends():
    found = infer.expectation_grad(
        np.square, lambda p: stats.uniform(p["a"], p["w"]), {"a": 0.5, "w": 2.0}, estimator="measure-valued",
        samples=SAMPLES, per_sample=True,
    )  # fmt: skip
    # E x² = a² + a·w + w²/3
    agrees(found, {"a": 2 * 0.5 + 2.0, "w": 0.5 + 2 * 2.0 / 3})


def test_a_mixture_moves_by_its_cumulative_distribution():
    def dist(p):
        return infer.mixture(np.exp(p["w"]) / np.sum(np.exp(p["w"])), stats.norm(p["m"], p["s"]))

    params = {"w": np.array([0.2, -0.3]), "m": np.array([-1.0, 1.5]), "s": np.array([0.5, 0.9])}
    # E x² = Σ w (m² + s²)
    exact = wg.grad(lambda p: np.sum(np.exp(p["w"]) / np.sum(np.exp(p["w"])) * (p["m"] ** 2 + p["s"] ** 2)))(params)
    for estimator in ("score", "implicit"):
        found = infer.expectation_grad(
            np.square, dist, params, estimator=estimator, samples=SAMPLES, per_sample=True, seed=1
        )
        agrees(found, exact)


@pytest.mark.parametrize("estimator", ["score", "reparameterization", "implicit"])
def test_a_dirichlet_distribution(estimator):
    # E[a·x] = a·α/Σα
    a = np.array([1.0, -2.0, 0.5])
    exact = wg.grad(lambda p: p["alpha"] @ a / np.sum(p["alpha"]))({"alpha": np.array([0.8, 2.0, 3.5])})
    found = infer.expectation_grad(
        lambda x: x @ a, lambda p: stats.dirichlet(p["alpha"]), {"alpha": np.array([0.8, 2.0, 3.5])},
        estimator=estimator, samples=SAMPLES, per_sample=True, seed=5,
    )  # fmt: skip
    agrees(found, exact)


@pytest.mark.parametrize("estimator", ["score", "reparameterization", "implicit"])
def test_vectors_with_a_covariance(estimator):
    A = np.array([[2.0, 0.4], [0.4, 1.0]])
    params = {"m": np.array([0.3, -0.8]), "L": np.array([[1.1, 0.0], [0.5, 0.7]]), "df": 12.0}
    quadratic = lambda x: x @ A @ x
    # E xᵀAx = mᵀAm + tr(AΣ), where the covariance of Student's distribution is shape·df/(df − 2)
    exact = wg.grad(lambda p: p["m"] @ A @ p["m"] + np.trace(A @ p["L"] @ p["L"].T))(params)
    normal = lambda p: stats.multivariate_normal(p["m"], p["L"] @ p["L"].T)
    found = infer.expectation_grad(
        quadratic, normal, params, estimator=estimator, samples=SAMPLES, per_sample=True, seed=2
    )
    agrees(found, exact)
    exact = wg.grad(lambda p: p["m"] @ A @ p["m"] + np.trace(A @ p["L"] @ p["L"].T) * p["df"] / (p["df"] - 2))(params)
    student = lambda p: stats.multivariate_t(p["m"], p["L"] @ p["L"].T, p["df"])
    found = infer.expectation_grad(
        quadratic, student, params, estimator=estimator, samples=SAMPLES, per_sample=True, seed=2
    )
    agrees(found, exact)


def awkward(x):
    """Neither linear nor additive in the components."""
    return (x[0] - 0.45) ** 2 + 1.5 * x[0] * x[1] - np.cos(2 * x[1] + x[2])


def by_enumeration(f, probability, points, params):
    """The gradient of a finite sum, by the differences of its terms."""
    return wg.grad(lambda p: sum(probability(p, np.array(x)) * f(np.array(x, float)) for x in points))(params)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("estimator", ["score", "rebar", "relax", "measure-valued"])
def test_zeros_and_ones(estimator):
    params = {"logits": np.array([0.3, -1.2, 0.8])}
    exact = by_enumeration(
        awkward,
        lambda p, x: np.prod(np.where(x == 1, sigmoid(p["logits"]), 1 - sigmoid(p["logits"]))),
        list(itertools.product((0, 1), repeat=3)),
        params,
    )
    found = infer.expectation_grad(
        awkward, lambda p: stats.bernoulli(sigmoid(p["logits"])), params, estimator=estimator, samples=SAMPLES,
        per_sample=True, seed=7,
    )  # fmt: skip
    agrees(found, exact)


def softmax(x):
    return np.exp(x) / np.sum(np.exp(x))


@pytest.mark.parametrize("estimator", ["score", "rebar", "relax", "measure-valued"])
def test_one_hot_draws(estimator):
    params = {"logits": np.array([0.3, -1.2, 0.8])}
    points = [tuple(row) for row in np.eye(3)]
    exact = by_enumeration(awkward, lambda p, x: softmax(p["logits"]) @ x, points, params)
    found = infer.expectation_grad(
        awkward, lambda p: stats.multinomial(1, softmax(p["logits"])), params, estimator=estimator, samples=SAMPLES,
        per_sample=True, seed=8,
    )  # fmt: skip
    agrees(found, exact)


COUNTS = {
    "poisson": (lambda p: stats.poisson(p["q"]), 1.7),
    "binom": (lambda p: stats.binom(9, p["q"]), 0.3),
    "geom": (lambda p: stats.geom(p["q"]), 0.4),
    "nbinom": (lambda p: stats.nbinom(3, p["q"]), 0.5),
}


@pytest.mark.parametrize("estimator", ["score", "measure-valued"])
@pytest.mark.parametrize("name", list(COUNTS))
def test_counts(name, estimator):
    dist, q = COUNTS[name]
    k, h = np.arange(400), 1e-4
    exact = sum(c * dist({"q": q + s * h}).pmf(k) @ wave(k) for s, c in STENCIL) / (12 * h)
    found = infer.expectation_grad(wave, dist, {"q": q}, estimator=estimator, samples=SAMPLES, per_sample=True)
    agrees(found, {"q": exact})


def test_the_mean_over_draws_is_what_is_returned():
    dist = lambda p: stats.gamma(p[0], scale=p[1])
    for estimator in ("score", "implicit", "measure-valued"):
        means = infer.expectation_grad(wave, dist, (2.0, 1.5), estimator=estimator, samples=50)
        rows = infer.expectation_grad(wave, dist, (2.0, 1.5), estimator=estimator, samples=50, per_sample=True)
        for mean, each in zip(means, rows, strict=True):
            assert each.shape == (50,)
            np.testing.assert_allclose(mean, each.mean(), rtol=1e-12)


@pytest.mark.parametrize("estimator", ["score", "reparameterization", "implicit", "measure-valued"])
def test_what_f_does_with_the_parameters_counts(estimator):
    # E[(x − m)²] does not depend on m
    found = infer.expectation_grad(
        lambda x, p: (x - p["m"]) ** 2, lambda p: stats.norm(p["m"], p["s"]), {"m": 0.4, "s": 1.5},
        estimator=estimator, samples=SAMPLES, per_sample=True,
    )  # fmt: skip
    agrees(found, {"m": 0.0, "s": 2 * 1.5})


def test_biased_estimators_are_right_where_they_must_be():
    # Straight-through is exact for linear f; Gumbel-softmax in the limit of small temperatures.
    dist = lambda p: stats.bernoulli(p)
    assert infer.expectation_grad(lambda x: 3 * x, dist, 0.3, estimator="straight-through").round(12) == 3
    soft = infer.expectation_grad(
        lambda x: 3 * x, dist, 0.3, estimator="gumbel-softmax", temperature=0.05, samples=SAMPLES, per_sample=True
    )
    assert abs(soft.mean() - 3) < 5 * soft.std() / np.sqrt(SAMPLES) + 0.05


def test_control_variates_lower_the_variance():
    spread = {
        estimator: infer.expectation_grad(
            awkward, lambda p: stats.bernoulli(sigmoid(p)), np.array([0.3, -1.2, 0.8]), estimator=estimator,
            samples=SAMPLES, per_sample=True,
        ).var(0).sum()
        for estimator in ("score", "rebar", "relax")
    }  # fmt: skip
    assert spread["relax"] < spread["rebar"] < 0.7 * spread["score"]


def test_an_estimator_that_does_not_fit_names_those_that_do():
    with pytest.raises(
        wg.errors.EstimatorError, match=r"(?s)does not work for poisson.*estimators that do: .score"
    ) as e:
        infer.expectation_grad(np.sin, lambda m: stats.poisson(m), 2.0, estimator="reparameterization")
    assert '"measure-valued"' in str(e.value)
    assert '"implicit"' not in str(e.value)
    with pytest.raises(wg.errors.EstimatorError, match='estimators that do: .*"implicit"'):
        infer.expectation_grad(np.sin, lambda m: stats.norm(m), 2.0, estimator="rebar")
    with pytest.raises(wg.errors.EstimatorError, match='estimators that do: "score"'):
        infer.expectation_grad(np.sin, lambda m: stats.t(m), 2.0, estimator="measure-valued")
    with pytest.raises(ValueError, match="estimator is one of score, "):
        infer.expectation_grad(np.sin, lambda m: stats.norm(m), 2.0, estimator="vibes")
    with pytest.raises(wg.errors.EstimatorError, match="one number for a draw of shape"):
        infer.expectation_grad(np.sin, lambda m: stats.norm(m), np.zeros(2), estimator="score")
    with pytest.raises(wg.errors.EstimatorError, match="frozen distribution"):
        infer.expectation_grad(np.sin, lambda m: m, 2.0, estimator="score")
    with pytest.raises(wg.errors.EstimatorError, match="has none itself"):
        wg.grad(lambda m: infer.expectation_grad(np.sin, lambda m: stats.norm(m), m, estimator="score"))(2.0)


@pytest.mark.parametrize(
    "dist",
    [
        lambda p: stats.uniform(p[0], p[1]),
        lambda p: stats.expon(p[0], p[1]),
        lambda p: stats.truncnorm(-1, 2, p[0], p[1]),
        lambda p: stats.gamma(0.5, p[0]),
        lambda p: infer.mixture(np.array([0.5, 0.5]), stats.uniform(0.0, p)),
    ],
)
def test_the_score_of_a_support_that_moves_is_refused(dist):
    """∇∫ f p has a term at an end of the support, which no derivative of log p gives."""
    with pytest.raises(wg.errors.EstimatorError, match="end of its support"):
        infer.expectation_grad(np.sin, dist, np.array([0.3, 0.8]), estimator="score")


def test_the_score_where_the_density_is_zero_at_the_end_that_moves():
    """E cos(x) for x = θ + gamma(3): the derivative is −E sin(x)."""
    dist = lambda p: stats.gamma(3.0, p)
    found = infer.expectation_grad(np.cos, dist, 0.4, estimator="score", samples=20000, per_sample=True)
    exact = -dist(0.4).expect(np.sin)
    assert abs(np.mean(found) - exact) < 5 * np.std(found) / np.sqrt(20000)
    fixed = lambda p: stats.truncnorm((0.3 - p) / 0.7, np.inf, p, 0.7)  # its end stays where it is, but for rounding
    infer.expectation_grad(np.cos, fixed, 0.4, estimator="score", samples=10)


@pytest.mark.parametrize("kappa", [0.01, 0.8, 5.0, 60.0])
def test_angles_move_implicitly(kappa):
    """Each draw moves as the quantile does, by differences of SciPy's cdf; the mean is unbiased by quadrature."""
    f = lambda x: np.sin(x) + 0.3 * np.cos(2 * x + 0.4)
    found = infer.expectation_grad(
        f, lambda p: stats.vonmises(p[0], p[1]), np.array([kappa, 2.9]), estimator="implicit", samples=4000,
        per_sample=True,
    )  # fmt: skip
    x = np.linspace(-np.pi, np.pi, 20001)[:-1]
    mean = lambda kappa, loc: np.sum(f(x) * stats.vonmises.pdf(x - loc, kappa)) * 2 * np.pi / 20000
    h = 1e-4 * kappa
    exact = [
        (mean(kappa + h, 2.9) - mean(kappa - h, 2.9)) / (2 * h),
        (mean(kappa, 2.9 + h) - mean(kappa, 2.9 - h)) / (2 * h),
    ]
    assert np.all(np.abs(np.mean(found, axis=0) - exact) < 5 * np.std(found, axis=0) / np.sqrt(4000))
    slopes = infer.expectation_grad(
        lambda x: x, lambda k: stats.vonmises(k), kappa, estimator="implicit", samples=5, per_sample=True
    )
    drawn = stats.vonmises(kappa).rvs(size=(5,), random_state=np.random.default_rng(0))
    step = stats.vonmises.cdf(drawn, kappa + h) - stats.vonmises.cdf(drawn, kappa - h)
    if kappa < 40:  # SciPy's cdf is an approximation above
        np.testing.assert_allclose(slopes, -step / (2 * h) / stats.vonmises.pdf(drawn, kappa), rtol=1e-5)


@pytest.mark.parametrize("dist", [lambda p: stats.vonmises(1.4, loc=p), lambda p: stats.vonmises(p, loc=0.9)])
def test_a_function_that_jumps_where_the_circle_is_cut_open_is_refused(dist):
    with pytest.raises(wg.errors.EstimatorError, match="period"):
        infer.expectation_grad(lambda x: x**2 + x, dist, 0.7, estimator="implicit", samples=100)


def test_angles_that_are_stretched_are_refused():
    with pytest.raises(wg.errors.EstimatorError, match="implicit"):
        infer.expectation_grad(np.sin, lambda p: stats.vonmises(1.0, 0.0, p), 1.3, estimator="implicit")


@pytest.mark.parametrize("estimator", ["reparameterization", "implicit"])
@pytest.mark.parametrize(
    ("f", "place"),
    [
        (lambda x: np.where(x > 0.6, 1.0, 0.0), "0.6"),
        (lambda x: x**2 + np.where(x > 0.6, 0.01, 0.0), "0.6"),
        (lambda x: np.floor(x) + x, ""),
        (lambda x: x if x > 0.6 else 0.0 * x, "0.6"),
    ],
)
def test_jumps_are_refused_by_what_differentiates_f(f, place, estimator):
    """Their derivatives would be those of the parts: E[1(x > c)] has the density at c, of which they know nothing."""
    with pytest.raises(EstimatorError, match=f"jumps, near {place}"):
        infer.expectation_grad(f, lambda m: stats.norm(m, 1.0), 0.3, estimator=estimator)


@pytest.mark.parametrize(
    "f",
    [
        np.abs,
        lambda x: np.maximum(x, 0.3),
        lambda x: np.where(x > 0.6, x - 0.6, 0.0),
        lambda x: np.exp(3 * x),
        lambda x: np.sqrt(np.abs(x - 0.3)),
        lambda x: 1e8 + 0.0 * x,
        lambda x: np.sign(x) * x**2,
    ],
)
def test_kinks_are_no_jumps(f):
    infer.expectation_grad(f, lambda m: stats.norm(m, 1.0), 0.3, estimator="reparameterization")


def test_jumps_of_several_numbers():
    """They count where draws move across; where only others move the estimate is right."""
    means = lambda m: stats.multivariate_normal(m * np.array([1.0, 0.0]), np.eye(2))
    jump = lambda k: lambda x: np.sum(x**2) + np.where(x[k] > 0.6, 1.0, 0.0)
    with pytest.raises(EstimatorError, match="jumps"):
        infer.expectation_grad(jump(0), means, 0.3, estimator="reparameterization")
    found = infer.expectation_grad(jump(1), means, 0.3, estimator="reparameterization", samples=4000)
    assert abs(found - 0.6) < 5 * 2 / np.sqrt(4000)
    on_a_simplex = lambda a: stats.dirichlet(a * np.ones(3))
    assert abs(infer.expectation_grad(lambda x: np.sum(np.abs(x)), on_a_simplex, 2.0, estimator="implicit")) < 1e-12
