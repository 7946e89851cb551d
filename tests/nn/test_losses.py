"""Losses and activations against their definitions."""

import itertools
import math

import numpy as np
import pytest

import wengert as wg
from wengert import nn
from wengert.errors import MismatchError


def test_activations_have_the_derivatives_of_their_definitions():
    x = np.array([-3.0, -0.4, 0.3, 2.0])
    phi = np.array([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x])
    s = 1 / (1 + np.exp(-x))
    wanted = {
        nn.relu: x > 0,
        nn.leaky_relu: np.where(x > 0, 1, 0.01),
        nn.elu: np.where(x > 0, 1, np.exp(x)),
        nn.sigmoid: s * (1 - s),
        nn.softplus: s,
        nn.silu: s + x * s * (1 - s),
        nn.gelu: phi + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
        nn.hard_tanh: np.abs(x) < 1,
    }
    for f, d in wanted.items():
        np.testing.assert_allclose(wg.grad(lambda x, f=f: np.sum(f(x)))(x), d, rtol=1e-12, err_msg=f.__name__)
    for f in (nn.selu, nn.mish, nn.tanh, lambda x: nn.gelu(x, approximate=True), nn.glu, nn.softmax, nn.log_softmax):
        wg.check_gradients(f, x)
    assert wg.grad(nn.relu)(0.0) == 0
    assert wg.grad(nn.elu)(0.0) == 1
    for f in (nn.relu, nn.elu, nn.hard_tanh, lambda x: nn.hinge(x, 1.0)):
        assert np.isnan(f(np.array([np.nan])))


def test_cross_entropies(rng):
    logits, labels = rng.normal(size=(2, 3, 4)), rng.integers(0, 4, (2, 3))
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    wanted = np.array([[-np.log(p[i, j, labels[i, j]]) for j in range(3)] for i in range(2)])
    np.testing.assert_allclose(nn.cross_entropy(logits, labels, reduction="none"), wanted)
    np.testing.assert_allclose(nn.cross_entropy(logits, np.eye(4)[labels]), wanted.mean())
    np.testing.assert_allclose(nn.nll(np.log(p), labels, reduction="sum"), wanted.sum())
    smooth = 0.9 * wanted - 0.1 * np.log(p).mean(axis=-1)
    np.testing.assert_allclose(nn.cross_entropy(logits, labels, smoothing=0.1), smooth.mean())
    gradient = wg.grad(lambda z: nn.cross_entropy(z, labels, reduction="sum"))(logits)
    np.testing.assert_allclose(gradient, p - np.eye(4)[labels], atol=1e-12)
    with pytest.raises(MismatchError, match="reduction"):
        nn.cross_entropy(logits, labels, reduction="average")
    for wrong in (labels[0], labels[..., None], labels.astype(float), labels[:, :1]):
        with pytest.raises(MismatchError, match="integers"):
            nn.cross_entropy(logits, wrong)
    with pytest.raises(MismatchError, match="probabilities"):
        nn.cross_entropy(logits, p, ignore_index=0)


def test_losses_of_pairs(rng):
    a, b = rng.normal(size=5), rng.normal(size=5)
    y = (a > 0).astype(float)
    s = 1 / (1 + np.exp(-b))
    np.testing.assert_allclose(nn.binary_cross_entropy(b, y), -np.mean(y * np.log(s) + (1 - y) * np.log(1 - s)))
    d = np.abs(a - b)
    np.testing.assert_allclose(nn.huber(a, b, delta=0.7), np.mean(np.where(d < 0.7, d * d / 2, 0.7 * (d - 0.35))))
    np.testing.assert_allclose(nn.mse(a, b), np.mean(d**2))
    np.testing.assert_allclose(nn.mae(a, b), np.mean(d))
    for loss in (nn.mse, nn.huber, nn.binary_cross_entropy, nn.hinge, nn.kl_divergence):
        wg.check_gradients(lambda a, loss=loss: loss(a, b), a)
    mean, log_variance = a, b
    # KL of a normal distribution, by quadrature.
    t = np.linspace(-30, 30, 200_001)
    p = np.exp(-((t - mean[0]) ** 2) / 2 / np.exp(log_variance[0])) / np.sqrt(2 * np.pi * np.exp(log_variance[0]))
    q = np.exp(-t * t / 2) / np.sqrt(2 * np.pi)
    wanted = np.sum(p * np.log(np.where(p > 0, p, 1) / q)) * (t[1] - t[0])
    np.testing.assert_allclose(nn.kl_normal(mean[:1], log_variance[:1]), wanted, rtol=1e-6)


def test_shapes_that_would_broadcast_are_refused():
    """A column of results against a row of what they should be would compare each with all."""
    x, y = np.ones((5, 1)), np.zeros(5)
    for loss in (nn.mse, nn.mae, nn.huber, nn.hinge, nn.binary_cross_entropy):
        with pytest.raises(MismatchError, match="shape"):
            loss(x, y)
        assert loss(x, y[:, None]) == loss(x, 0.0)
    with pytest.raises(MismatchError, match="shape"):
        nn.accuracy(np.ones((5, 2)), np.zeros((5, 1), int))


def test_ctc_counts_all_ways_to_say_the_labels(rng):
    times, classes = 4, 3
    logp = np.log(rng.dirichlet(np.ones(classes), size=(3, times)))
    labels, lengths, spoken = np.array([[1, 2], [1, 1], [2, 0]]), [2, 2, 1], [4, 4, 3]
    wanted = []
    for e in range(3):
        total = 0.0
        for way in itertools.product(range(classes), repeat=spoken[e]):
            said = [k for k, _ in itertools.groupby(way)]
            if [k for k in said if k != 0] == list(labels[e, : lengths[e]]):
                total += np.exp(sum(logp[e, t, k] for t, k in enumerate(way)))
        wanted.append(-np.log(total))
    options = {"lengths": np.array(spoken), "label_lengths": np.array(lengths), "reduction": "none"}
    np.testing.assert_allclose(nn.ctc(logp, labels, **options), wanted)
    wg.check_gradients(lambda z: nn.ctc(z, labels, **{**options, "reduction": "sum"}), logp)
    # There is no way to say two labels in one time.
    logp, options = logp[:, :1].astype(np.float32), {"reduction": "none"}
    found, pull = wg.vjp(lambda z: nn.ctc(z, labels, **options), logp)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.inf)
    np.testing.assert_array_equal(pull(np.ones(3, np.float32))[0], 0.0)
