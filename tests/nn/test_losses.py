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


@pytest.mark.parametrize("compiled", [False, True])
def test_labels_are_counted_from_zero(rng, compiled):
    """NumPy counts −1 from the end, which is the last class, and no label that anybody means."""
    logits = rng.normal(size=(3, 4))
    grad = wg.grad(nn.cross_entropy)
    f = wg.jit(grad) if compiled else grad
    assert np.all(f(logits, np.array([0, 3, 1])))
    with pytest.raises(IndexError, match="negative label"):
        f(logits, np.array([0, -1, 1]))
    each = wg.vmap(lambda z, y: nn.nll(z[None], y[None]))
    with pytest.raises(IndexError, match="negative label"):
        (wg.jit(each) if compiled else each)(logits, np.array([0, -1, 1]))
    wanted = nn.cross_entropy(logits[:2], np.array([0, 3]))
    np.testing.assert_allclose(nn.cross_entropy(logits, np.array([0, 3, -1]), ignore_index=-1), wanted)
    for weights in (np.ones(3), np.ones(1), np.ones((3, 4))):
        with pytest.raises(MismatchError, match="weights of shape"):
            nn.cross_entropy(logits, np.array([0, 1, 2]), weights=weights)
    single = logits.astype(np.float32)
    for weights in ([1.0, 2.0, 3.0, 4.0], np.arange(1.0, 5.0)):
        assert nn.cross_entropy(single, np.array([0, 1, 2]), weights=weights).dtype == np.float32
    by_weights = wg.grad(lambda w: nn.cross_entropy(logits, np.array([0, 3, 1]), weights=w))
    found = (wg.jit(by_weights) if compiled else by_weights)(np.arange(1.0, 5.0))
    np.testing.assert_allclose(found @ np.arange(1.0, 5.0), 0, atol=1e-12)  # the mean is the weighted one
    for loss in (nn.kl_divergence, nn.kl_normal):
        with pytest.raises(MismatchError, match="last axes"):
            loss(logits, logits[:, :1])


def test_integers_are_numbers():
    """Differences of unsigned ones would wrap around, and long ones would make a loss of float32 one of float64."""
    a, b = np.array([1, 2], np.uint8), np.array([0, 250], np.uint8)
    assert nn.mse(a, b) == (1 + 248**2) / 2
    assert nn.mae(a, b) == nn.mae([1, 2], [0, 250]) == (1 + 248) / 2
    z, y = np.array([0.5, -1.0], np.float32), np.array([1, 0])
    for loss in (nn.mse, nn.mae, nn.huber, nn.hinge, nn.binary_cross_entropy):
        for run in (loss, wg.jit(loss)):
            assert run(z, y).dtype == np.float32
            assert run(z, 1.0).dtype == np.float32
        np.testing.assert_allclose(loss(z, y), loss(z, y.astype(np.float32)))
        np.testing.assert_allclose(loss(z, y == 1), loss(z, y))


def test_ctc_looks_at_what_counts_only(rng):
    logp = np.log(rng.dirichlet(np.ones(3), size=(2, 5)))
    lengths, counts = np.array([5, 3]), np.array([2, 1])
    wanted = nn.ctc(logp, np.array([[1, 2], [2, 1]]), lengths, counts)
    for filled in (-1, 0, -100, 99):
        assert nn.ctc(logp, np.array([[1, 2], [2, filled]]), lengths, counts) == wanted
    for labels, options, words in [
        ([[1, 0], [2, 1]], {}, "blank"),
        ([[1, 2], [2, 1]], {"lengths": np.array([6, 3])}, "lengths"),
        ([[1, 2], [2, 1]], {"lengths": np.array([0, 3])}, "lengths"),
        ([[1, 2], [2, 1]], {"label_lengths": np.array([3, 1])}, "lengths"),
    ]:
        for run in (lambda z, l, o: nn.ctc(z, l, **o), wg.jit(lambda z, l, o: nn.ctc(z, l, **o))):
            with pytest.raises(MismatchError, match=words):
                run(logp, np.array(labels), options)


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
    logp, labels, options = logp[:, :1].astype(np.float32), np.array([[1, 2]] * 3), {"reduction": "none"}
    found, pull = wg.vjp(lambda z: nn.ctc(z, labels, **options), logp)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.inf)
    np.testing.assert_array_equal(pull(np.ones(3, np.float32))[0], 0.0)
