"""The models of `infer.py` in the languages of others: NumPyro, Stan, and PyMC (which nutpie samples).

PyMC's way to differential equations calls back to Python, and hidden Markov models are loops written with `scan`: both
are left to Stan and NumPyro.
"""

import numpy as np


def numpyro_models():
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from jax.experimental.ode import odeint

    def schools(y, s):
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        z = numpyro.sample("z", dist.Normal(0, 1).expand([8]))
        numpyro.sample("y", dist.Normal(mu + tau * z, s), obs=y)

    def logistic(X, y):
        b = numpyro.sample("b", dist.Normal(0, 1).expand([X.shape[1]]))
        numpyro.sample("y", dist.Bernoulli(logits=X @ b), obs=y)

    def radon(county, floor, y):
        mu = numpyro.sample("mu", dist.Normal(0, 10))
        sigma_a = numpyro.sample("sigma_a", dist.HalfNormal(1))
        sigma_y = numpyro.sample("sigma_y", dist.HalfNormal(1))
        beta = numpyro.sample("beta", dist.Normal(0, 10))
        raw = numpyro.sample("raw", dist.Normal(0, 1).expand([85]))
        numpyro.sample("y", dist.Normal(mu + sigma_a * raw[county] + beta * floor, sigma_y), obs=y)

    def process(x, y):
        rho = numpyro.sample("rho", dist.Gamma(5, 2.5))
        alpha = numpyro.sample("alpha", dist.HalfNormal(2))
        sigma = numpyro.sample("sigma", dist.HalfNormal(1))
        distance = (x[:, None] - x[None, :]) ** 2
        K = alpha**2 * jnp.exp(-0.5 * distance / rho**2) + (sigma**2 + 1e-8) * jnp.eye(len(x))
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), K), obs=y)

    def lotka(t, y):
        theta = numpyro.sample("theta", dist.LogNormal(jnp.log(jnp.array([0.55, 0.028, 0.8, 0.024])), 0.5))
        start = numpyro.sample("start", dist.LogNormal(jnp.log(jnp.array([30.0, 5.0])), 0.3))
        sigma = numpyro.sample("sigma", dist.LogNormal(jnp.log(0.3), 1.0).expand([2]))
        slope = lambda z, t, th: jnp.array([(th[0] - th[1] * z[1]) * z[0], (-th[2] + th[3] * z[0]) * z[1]])
        z = odeint(slope, start, t, theta, rtol=1e-6, atol=1e-6, mxstep=1000)
        numpyro.sample("y", dist.Normal(jnp.log(z), sigma), obs=jnp.log(y))

    def hidden(y):
        stay = numpyro.sample("stay", dist.Beta(8, 2).expand([2]))
        mu = numpyro.sample("mu", dist.Normal(jnp.array([3.0, 10.0]), 1.0))
        P = jnp.log(jnp.array([[stay[0], 1 - stay[0]], [1 - stay[1], stay[1]]]))
        unit = dist.Normal(mu, 1.0)

        def step(alpha, value):
            return jax.scipy.special.logsumexp(alpha[:, None] + P, axis=0) + unit.log_prob(value), None

        alpha, _ = jax.lax.scan(step, jnp.log(0.5) + unit.log_prob(y[0]), y[1:])
        numpyro.factor("y", jax.scipy.special.logsumexp(alpha))

    def mixture(y):
        theta = numpyro.sample("theta", dist.Beta(5, 5))
        mu = numpyro.sample("mu", dist.TransformedDistribution(
            dist.Normal(0, 1).expand([2]).to_event(1), dist.transforms.OrderedTransform()))  # fmt: skip
        numpyro.factor("prior", dist.Normal(0, 2).log_prob(mu).sum() - dist.Normal(0, 1).log_prob(
            jnp.array([mu[0], jnp.log(mu[1] - mu[0])])).sum() + jnp.log(mu[1] - mu[0]))  # fmt: skip
        sigma = numpyro.sample("sigma", dist.HalfNormal(2).expand([2]))
        numpyro.sample("y", dist.MixtureSameFamily(
            dist.Categorical(probs=jnp.array([theta, 1 - theta])), dist.Normal(mu, sigma)), obs=y)  # fmt: skip

    def regression(X, y):
        b = numpyro.sample("b", dist.Normal(0, 1).expand([X.shape[1]]))
        sigma = numpyro.sample("sigma", dist.HalfNormal(1))
        numpyro.sample("y", dist.Normal(X @ b, sigma), obs=y)

    return locals()


# --------------------------------------------------------------------------------------------------------------- Stan

STAN = {
    "schools": (
        ("y", "s"),
        """
        data { vector[8] y; vector[8] s; }
        parameters { real mu; real<lower=0> tau; vector[8] z; }
        model {
          mu ~ normal(0, 5); tau ~ cauchy(0, 5); z ~ std_normal();
          y ~ normal(mu + tau * z, s);
        }""",
    ),
    "logistic": (
        ("X", "y"),
        """
        data { int n; int k; matrix[n, k] X; array[n] int y; }
        parameters { vector[k] b; }
        model { b ~ std_normal(); y ~ bernoulli_logit_glm(X, 0, b); }""",
    ),
    "radon": (
        ("county", "floor", "y"),
        """
        data { int n; array[n] int county; vector[n] floor; vector[n] y; }
        parameters { real mu; real<lower=0> sigma_a; real<lower=0> sigma_y; real beta; vector[85] raw; }
        model {
          mu ~ normal(0, 10); sigma_a ~ std_normal(); sigma_y ~ std_normal(); beta ~ normal(0, 10);
          raw ~ std_normal();
          y ~ normal(mu + sigma_a * raw[county] + beta * floor, sigma_y);
        }""",
    ),
    "process": (
        ("x", "y"),
        """
        data { int n; array[n] real x; vector[n] y; }
        parameters { real<lower=0> rho; real<lower=0> alpha; real<lower=0> sigma; }
        model {
          matrix[n, n] K = add_diag(gp_exp_quad_cov(x, alpha, rho), square(sigma) + 1e-8);
          rho ~ gamma(5, 2.5); alpha ~ normal(0, 2); sigma ~ std_normal();
          y ~ multi_normal_cholesky(rep_vector(0, n), cholesky_decompose(K));
        }""",
    ),
    "lotka": (
        ("t", "y"),
        """
        functions {
          vector slope(real t, vector z, vector th) {
            return [(th[1] - th[2] * z[2]) * z[1], (-th[3] + th[4] * z[1]) * z[2]]';
          }
        }
        data { int n; array[n] real t; matrix[n, 2] y; }
        parameters { vector<lower=0>[4] theta; vector<lower=0>[2] start; vector<lower=0>[2] sigma; }
        model {
          array[n - 1] vector[2] z = ode_rk45_tol(slope, start, t[1], t[2:n], 1e-6, 1e-6, 1000, theta);
          theta ~ lognormal(log([0.55, 0.028, 0.8, 0.024]), 0.5);
          start ~ lognormal(log([30.0, 5.0]), 0.3);
          sigma ~ lognormal(log(0.3), 1);
          for (k in 1:2) {
            log(y[1, k]) ~ normal(log(start[k]), sigma[k]);
            log(y[2:n, k]) ~ normal(log(z[, k]), sigma[k]);
          }
        }""",
    ),
    "hidden": (
        ("y",),
        """
        data { int n; vector[n] y; }
        parameters { vector<lower=0, upper=1>[2] stay; vector[2] mu; }
        model {
          matrix[2, 2] P = [[stay[1], 1 - stay[1]], [1 - stay[2], stay[2]]];
          matrix[2, n] terms;
          stay ~ beta(8, 2); mu[1] ~ normal(3, 1); mu[2] ~ normal(10, 1);
          for (i in 1:n) for (k in 1:2) terms[k, i] = normal_lpdf(y[i] | mu[k], 1);
          target += hmm_marginal(terms, P, [0.5, 0.5]');
        }""",
    ),
    "mixture": (
        ("y",),
        """
        data { int n; vector[n] y; }
        parameters { real<lower=0, upper=1> theta; ordered[2] mu; vector<lower=0>[2] sigma; }
        model {
          theta ~ beta(5, 5); mu ~ normal(0, 2); sigma ~ normal(0, 2);
          for (i in 1:n)
            target += log_mix(theta, normal_lpdf(y[i] | mu[1], sigma[1]), normal_lpdf(y[i] | mu[2], sigma[2]));
        }""",
    ),
    "regression": (
        ("X", "y"),
        """
        data { int n; int k; matrix[n, k] X; vector[n] y; }
        parameters { vector[k] b; real<lower=0> sigma; }
        model { b ~ std_normal(); sigma ~ std_normal(); y ~ normal_id_glm(X, 0, b, sigma); }""",
    ),
}
"""Names of the data, and programs."""


def stan_data(name, args):
    """The data of a model as Stan wants them: with sizes, indices from 1, and integers for what is counted."""
    found = dict(zip(STAN[name][0], map(np.asarray, args), strict=True))
    if name == "logistic":
        found["y"] = found["y"].astype(int)
    if name == "radon":
        found["county"] = found["county"] + 1
    if name != "schools":
        found["n"] = len(found["y"])
    if "X" in found:
        found["k"] = found["X"].shape[1]
    return {key: x.tolist() if isinstance(x, np.ndarray) else x for key, x in found.items()}


# --------------------------------------------------------------------------------------------------------------- PyMC


def pymc_model(name, args):
    """A model of PyMC, or nothing where it is left out."""
    import pymc as pm
    import pytensor.tensor as pt

    def schools(y, s):
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, shape=8)
        pm.Normal("y", mu + tau * z, s, observed=y)

    def logistic(X, y):
        b = pm.Normal("b", 0, 1, shape=X.shape[1])
        pm.Bernoulli("y", logit_p=pt.dot(X, b), observed=y)

    def radon(county, floor, y):
        mu, beta = pm.Normal("mu", 0, 10), pm.Normal("beta", 0, 10)
        sigma_a, sigma_y = pm.HalfNormal("sigma_a", 1), pm.HalfNormal("sigma_y", 1)
        raw = pm.Normal("raw", 0, 1, shape=85)
        pm.Normal("y", mu + sigma_a * raw[county] + beta * floor, sigma_y, observed=y)

    def process(x, y):
        rho, alpha, sigma = pm.Gamma("rho", 5, 2.5), pm.HalfNormal("alpha", 2), pm.HalfNormal("sigma", 1)
        distance = (x[:, None] - x[None, :]) ** 2
        K = alpha**2 * pt.exp(-0.5 * distance / rho**2) + (sigma**2 + 1e-8) * np.eye(len(x))
        pm.MvNormal("y", np.zeros(len(x)), cov=K, observed=y)

    def mixture(y):
        theta = pm.Beta("theta", 5, 5)
        mu = pm.Normal("mu", 0, 2, shape=2, transform=pm.distributions.transforms.ordered, initval=[-1.0, 1.0])
        sigma = pm.HalfNormal("sigma", 2, shape=2)
        pm.NormalMixture("y", pt.stack([theta, 1 - theta]), mu, sigma, observed=y)

    def regression(X, y):
        b = pm.Normal("b", 0, 1, shape=X.shape[1])
        pm.Normal("y", pt.dot(X, b), pm.HalfNormal("sigma", 1), observed=y)

    build = locals().get(name)
    if build is None:
        return None
    with pm.Model() as model:
        build(*args)
    return model
