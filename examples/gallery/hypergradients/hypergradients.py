"""Hypergradients: the gradient of a validation loss with respect to how the training was done.

A classifier is trained by gradient descent with momentum. The validation loss after the training is differentiated
through all of it (Maclaurin et al. 2015), with respect to a learning rate for each step and a weight for each training
example. A third of the examples have wrong labels; their weights are what the gradient takes away.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

FEATURES, MOMENTUM = 10, 0.8


def cross_entropy(w, x, y, weights=1.0):
    z = x @ w
    return np.mean(weights * (np.logaddexp(0, z) - y * z))


def trained(log_rates, example_logits, x, y):
    """The weights after as many steps as there are learning rates."""
    weights = 1 / (1 + np.exp(-example_logits))
    w, velocity = np.zeros(FEATURES), np.zeros(FEATURES)
    for k in range(len(log_rates)):
        velocity = MOMENTUM * velocity - wg.grad(cross_entropy)(w, x, y, weights)
        w = w + np.exp(log_rates[k]) * velocity
    return w


def validation_loss(hyper, data):
    x, y, x_valid, y_valid = data
    return cross_entropy(trained(hyper["log_rates"], hyper["examples"], x, y), x_valid, y_valid)


def through_the_optimum(hyper, data):
    """The same loss at the minimum of a regularised training loss: its derivative needs no path to the minimum."""
    x, y, x_valid, y_valid = data
    weights = 1 / (1 + np.exp(-hyper["examples"]))
    objective = lambda w: cross_entropy(w, x, y, weights) + np.sum(np.exp(hyper["log_penalties"]) * w**2)
    return cross_entropy(wg.argmin(objective, np.zeros(FEATURES)), x_valid, y_valid)


def make_data(rng, count):
    truth = rng.normal(size=FEATURES)
    x = rng.normal(size=(2 * count, FEATURES))
    y = (x @ truth + 0.3 * rng.normal(size=2 * count) > 0).astype(float)
    wrong = rng.random(count) < 1 / 3
    y_train = np.where(wrong, 1 - y[:count], y[:count])
    return (x[:count], y_train, x[count:], y[count:]), wrong


def main(small=False):
    rng = np.random.default_rng(0)
    data, wrong = make_data(rng, 200 if small else 10_000)
    steps = 20 if small else 100
    hyper = {"log_rates": np.full(steps, np.log(0.1)), "examples": np.zeros(len(wrong))}
    first, hyper, losses = descended(validation_loss, hyper, data, 50 if small else 200)
    implicit = {"log_penalties": np.full(FEATURES, np.log(1e-2)), "examples": np.zeros(len(wrong))}
    _, implicit, implicit_losses = descended(through_the_optimum, implicit, data, 30 if small else 100)
    judged = lambda found: np.mean((found["examples"] < 0) == wrong)
    return dict(first=first, last=losses[-1], losses=losses, hyper=hyper, wrong=wrong, found=judged(hyper),
                implicit_losses=implicit_losses, found_implicitly=judged(implicit))  # fmt: skip


def descended(loss, hyper, data, steps):
    """The first loss, the hyperparameters after so many steps of Adam, and the losses on the way."""
    gradient_of = wg.jit(wg.value_and_grad(loss))
    optimizer = optimize.adam(0.1)
    state, losses = optimizer.init(hyper), []
    for _ in range(steps):
        value, gradient = gradient_of(hyper, data)
        hyper, state = optimizer.update(gradient, state, hyper)
        losses.append(value)
    return losses[0], hyper, np.array(losses)


def picture(results):
    figure = Figure(3, width=290)
    axes = figure.axes("Validation loss", "step")
    axes.line(np.arange(len(results["losses"])), results["losses"], "through the training")
    axes.line(np.arange(len(results["implicit_losses"])), results["implicit_losses"], "through the optimum")
    rates = np.exp(results["hyper"]["log_rates"])
    figure.axes("Learned rates", "step of the training").line(np.arange(len(rates)), rates)
    axes = figure.axes("Learned weights of examples", "weight", "count")
    weights = 1 / (1 + np.exp(-results["hyper"]["examples"]))
    for label, chosen in (("right labels", ~results["wrong"]), ("wrong labels", results["wrong"])):
        counts, edges = np.histogram(weights[chosen], np.linspace(0, 1, 21))
        axes.line(edges[:-1] + 0.025, counts, label)
    return figure


if __name__ == "__main__":
    results = main()
    print(f"validation loss {results['first']:.4f} -> {results['last']:.4f}")
    print(f"judged rightly by their weights: {results['found']:.1%} of the examples")
    print(f"the same through the optimum:    {results['found_implicitly']:.1%}")
    picture(results).save(Path(__file__).with_suffix(".svg"))
