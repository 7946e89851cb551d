"""A Gaussian mixture fitted by its gradient, with full covariances (the survey's and ADBench's first example).

Covariances are given by their inverse Cholesky factors, so that every vector of parameters means a mixture. The value
is the log-likelihood; a quasi-Newton method does what is usually left to expectation–maximisation.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

K, D = 3, 2


def log_densities(parameters, x):
    """The logarithm of weight times density of each component at each point."""
    weights = parameters["logits"] - wg.logsumexp(parameters["logits"])
    factors = np.tril(parameters["below"], -1) + np.eye(D) * np.exp(parameters["log_diagonals"])[:, None, :]
    away = np.einsum("kij,knj->kni", factors, x[None] - parameters["means"][:, None])
    size = np.sum(parameters["log_diagonals"], axis=1) - D / 2 * np.log(2 * np.pi)
    return (weights + size)[:, None] - np.sum(away**2, axis=2) / 2


def loss(parameters, x):
    """The mean negative log-likelihood, with a prior that keeps components from collapsing onto a point."""
    factors = np.exp(2 * parameters["log_diagonals"])
    return -np.mean(wg.logsumexp(log_densities(parameters, x), axis=0)) + 1e-4 * np.sum(factors)


def main(small=False):
    rng = np.random.default_rng(0)
    means = np.array([[-2.0, 0.0], [2.0, 1.0], [0.5, -2.0]])
    spread = np.array([[[1.0, 0.6], [0.0, 0.5]], [[0.5, -0.4], [0.0, 0.8]], [[0.4, 0.0], [0.0, 0.4]]])
    label = rng.choice(K, size=500 if small else 5000, p=[0.5, 0.3, 0.2])
    x = means[label] + np.einsum("nij,nj->ni", spread[label], rng.normal(size=(len(label), D)))
    start = {"logits": np.zeros(K), "means": x[rng.choice(len(x), K, replace=False)],
             "below": np.zeros((K, D, D)), "log_diagonals": np.zeros((K, D))}  # fmt: skip
    found = optimize.minimize(loss, start, args=(x,), method="BFGS")
    order = [int(np.argmin(np.sum((found.x["means"] - m) ** 2, axis=1))) for m in means]
    weights = np.exp(found.x["logits"] - np.max(found.x["logits"]))
    weights = (weights / weights.sum())[order]
    return dict(loss=found.fun, means=found.x["means"][order], true_means=means, weights=weights,
                iterations=found.nit, parameters=found.x, x=x, guessed=np.argmax(log_densities(found.x, x), axis=0),
                label=label, order=order)  # fmt: skip


def picture(results):
    figure = Figure(1, width=460, height=360)
    axes = figure.axes("Three components, found by BFGS", equal=True)
    for k in range(K):
        axes.points(*results["x"][results["guessed"] == k][:300].T, size=1.5)
    parameters, angle = results["parameters"], np.linspace(0, 2 * np.pi, 60)
    for k in range(K):
        factor = np.tril(parameters["below"][k], -1) + np.diag(np.exp(parameters["log_diagonals"][k]))
        ellipse = parameters["means"][k][:, None] + 2 * np.linalg.solve(
            factor, np.stack([np.cos(angle), np.sin(angle)])
        )
        axes.line(*ellipse, color="#222222")
    return figure


if __name__ == "__main__":
    found = main()
    print(f"{found['iterations']} iterations, loss {found['loss']:.5f}, weights {found['weights'].round(3)}")
    print("means", found["means"].round(3).tolist())
    picture(found).save(Path(__file__).with_suffix(".svg"))
