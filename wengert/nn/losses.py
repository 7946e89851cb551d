"""Losses: how far results are from what they should be. By default the mean over all examples; see `reduction`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from wengert.errors import MismatchError
from wengert.nn.layers import demand_no_negatives


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction == "mean":
        return np.mean(losses)
    if reduction == "sum":
        return np.sum(losses)
    if reduction == "none":
        return losses
    raise MismatchError(f"reduction={reduction!r}", remedy="write 'mean', 'sum' or 'none'")


def _alike(x: Any, y: Any) -> tuple[Any, Any]:
    """Both, integers in the floating type of the other: unsigned ones would wrap around, and long ones widen it.

    Shapes that differ would broadcast: of (n, 1) and (n,) to n × n pairs, which nobody means.
    """
    if np.shape(x) != np.shape(y) and np.ndim(x) and np.ndim(y):
        raise MismatchError(
            f"results of shape {np.shape(x)}, and what they should be of shape {np.shape(y)}",
            remedy="bring both into one shape, for instance by y[:, None] or y.reshape(x.shape)",
        )
    both = [np.asarray(a) if isinstance(a, (list, tuple)) else a for a in (x, y)]
    floats = [a.dtype for a in both if hasattr(a, "dtype") and a.dtype.kind in "fc"]
    dtype = np.result_type(*floats) if floats else np.dtype(float)
    x, y = [a.astype(dtype) if hasattr(a, "dtype") and a.dtype.kind not in "fc" else a for a in both]
    return x, y


def _alike_at_the_end(x: Any, y: Any) -> None:
    """A last axis of another length would broadcast."""
    if np.shape(x)[-1:] != np.shape(y)[-1:]:
        raise MismatchError(
            f"arrays of shapes {np.shape(x)} and {np.shape(y)}", remedy="give arrays with last axes of one length"
        )


def cross_entropy(logits: Any, labels: Any, *, smoothing: float = 0.0, weights: Any = None,
                  ignore_index: int | None = None, reduction: str = "mean") -> Any:  # fmt: skip
    """−log of the probability that softmax(logits), over the last axis, gives to the labels.

    Args:
        labels: integers in the shape of the other axes, or probabilities in the shape of the logits.
        smoothing: so much of the probability is spread evenly over all classes.
        weights: one for each class, such as the inverse of how often it occurs; the mean is then the weighted one.
        ignore_index: examples with this label do not count, as in texts that are filled up to one length.

    >>> cross_entropy(np.array([[0.0, np.log(3.0)]]), np.array([1])).round(4)
    np.float64(0.2877)
    """
    return _at_labels(scipy.special.log_softmax(logits, axis=-1), labels, smoothing, weights, ignore_index, reduction)


def nll(logp: Any, labels: Any, *, weights: Any = None, ignore_index: int | None = None,
        reduction: str = "mean") -> Any:  # fmt: skip
    """−log-probabilities, which are given, at the labels; arguments as those of `cross_entropy`.

    >>> nll(np.log([[0.25, 0.75]]), np.array([1])).round(4)
    np.float64(0.2877)
    """
    return _at_labels(logp, labels, 0.0, weights, ignore_index, reduction)


def _at_labels(logp: Any, labels: Any, smoothing: float, weights: Any, ignore_index: Any, reduction: str) -> Any:
    labels = np.asarray(labels)
    if weights is not None and np.shape(weights) != logp.shape[-1:]:
        raise MismatchError(
            f"weights of shape {np.shape(weights)} for logits of shape {logp.shape}",
            remedy="give one weight for each class, in an array of one axis",
        )
    if weights is not None:
        weights = np.asarray(weights).astype(logp.dtype)  # float32 stays float32
    weighted = logp if weights is None else weights * logp
    even = smoothing * np.mean(weighted, axis=-1) if smoothing else 0.0
    if labels.shape == logp.shape:
        if ignore_index is not None:
            raise MismatchError("ignore_index for labels that are probabilities", remedy="give integers as labels")
        return _reduced(-(1 - smoothing) * np.sum(labels * weighted, axis=-1) - even, reduction)
    if labels.shape != logp.shape[:-1] or labels.dtype.kind not in "iu":
        raise MismatchError(
            f"labels of type {labels.dtype} and shape {labels.shape} for logits of shape {logp.shape}",
            remedy="give integers for all axes but the last, or probabilities in the shape of the logits",
        )
    counted = None if ignore_index is None else labels != ignore_index
    if counted is not None:
        labels = np.where(counted, labels, 0)
    demand_no_negatives(labels, "a negative label; classes are counted from 0, and ignore_index= says which is none")
    losses = -(1 - smoothing) * np.take_along_axis(weighted, labels[..., None], axis=-1)[..., 0] - even
    if counted is not None:
        losses = np.where(counted, losses, 0.0)
    if reduction != "mean" or (counted is None and weights is None):
        return _reduced(losses, reduction)
    shares = np.ones(labels.shape, logp.dtype) if weights is None else weights[labels]
    return np.sum(losses) / np.sum(shares if counted is None else np.where(counted, shares, 0.0))


def binary_cross_entropy(logits: Any, labels: Any, *, positive_weight: Any = None, reduction: str = "mean") -> Any:
    """−log of the probability that sigmoid(logits) gives to labels 0 or 1 (or in between), without overflow.

    Args:
        positive_weight: how many times as much a label 1 counts, where there are few of them.

    >>> binary_cross_entropy(np.array([0.0, 1000.0]), np.array([1.0, 1.0])).round(4)
    np.float64(0.3466)
    """
    logits, labels = _alike(logits, labels)
    if positive_weight is not None:
        against, for_it = np.logaddexp(0.0, logits), np.logaddexp(0.0, -logits)
        return _reduced((1 - labels) * against + positive_weight * labels * for_it, reduction)
    return _reduced(np.logaddexp(0.0, logits) - labels * logits, reduction)


def mse(predicted: Any, wanted: Any, *, reduction: str = "mean") -> Any:
    """Squared differences.

    >>> mse(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    np.float64(2.0)
    """
    predicted, wanted = _alike(predicted, wanted)
    d = predicted - wanted
    return _reduced(d * d, reduction)


def mae(predicted: Any, wanted: Any, *, reduction: str = "mean") -> Any:
    """Absolute differences.

    >>> mae(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    np.float64(1.0)
    """
    predicted, wanted = _alike(predicted, wanted)
    return _reduced(np.abs(predicted - wanted), reduction)


def huber(predicted: Any, wanted: Any, *, delta: float = 1.0, reduction: str = "mean") -> Any:
    """Half the squared difference d up to `delta`, beyond that δ(|d| − δ/2).

    >>> huber(np.array([0.5, 3.0]), np.zeros(2), reduction="none")
    array([0.125, 2.5  ])
    """
    predicted, wanted = _alike(predicted, wanted)
    d = np.abs(predicted - wanted)
    near = np.minimum(d, delta)
    return _reduced(near * (d - 0.5 * near), reduction)


def hinge(scores: Any, labels: Any, *, reduction: str = "mean") -> Any:
    """max(0, 1 − label · score), for labels −1 and 1.

    >>> hinge(np.array([0.5, -2.0]), np.array([1.0, -1.0]), reduction="none")
    array([0.5, 0. ])
    """
    scores, labels = _alike(scores, labels)
    margin = 1 - labels * scores
    return _reduced(np.where(margin <= 0, 0.0, margin), reduction)


def kl_divergence(logp: Any, logq: Any, *, reduction: str = "mean") -> Any:
    """Σ p (log p − log q) over the last axis, from logarithms of probabilities.

    >>> kl_divergence(np.log([[0.5, 0.5]]), np.log([[0.25, 0.75]])).round(4)
    np.float64(0.1438)
    """
    _alike_at_the_end(logp, logq)
    return _reduced(np.sum(np.exp(logp) * (logp - logq), axis=-1), reduction)


def kl_normal(mean: Any, log_variance: Any) -> Any:
    """The divergence of normal distributions from the standard one, summed over the last axis, for each example.

    >>> kl_normal(np.array([[1.0, 0.0]]), np.zeros((1, 2)))
    array([0.5])
    """
    _alike_at_the_end(mean, log_variance)
    return 0.5 * np.sum(np.exp(log_variance) + mean * mean - 1 - log_variance, axis=-1)


_IMPOSSIBLE = -1e30


def ctc(logp: Any, labels: Any, lengths: Any = None, label_lengths: Any = None, *, blank: int = 0,
        reduction: str = "mean") -> Any:  # fmt: skip
    """Connectionist temporal classification (Graves et al. 2006): −log P(any way to say the labels).

    It is infinite, with derivative zero, where there are fewer times than saying the labels takes.

    Args:
        logp: log-probabilities with the axes (examples, time, classes).
        labels: integers (examples, at most so many), without blanks.
        lengths: how many times count, for each example; by default all.
        label_lengths: how many labels count.
        blank: the class that says nothing.
        reduction: "mean" is that over the examples, of which PyTorch divides each by its number of labels first.

    >>> logp = np.log(np.full((1, 2, 2), 0.5))
    >>> np.exp(-ctc(logp, np.array([[1]]))).round(4)
    np.float64(0.75)
    """
    examples, times, _ = logp.shape
    labels = np.asarray(labels)
    most = labels.shape[1]
    rows = np.arange(examples)
    count = np.full(examples, most) if label_lengths is None else np.asarray(label_lengths)
    last = np.full(examples, times) if lengths is None else np.asarray(lengths)
    if np.any(count < 0) or np.any(count > most) or np.any(last < 1) or np.any(last > times):
        raise MismatchError(
            f"lengths for {times} times and {most} labels", remedy="give lengths= from 1 to the number of times that "
            "logp has, and label_lengths= from 0 to the number of columns of labels",
        )  # fmt: skip
    # What does not count may be anything, such as the −1 with which shorter ones are filled up.
    labels = np.where(np.arange(most) < count[:, None], labels, blank)
    if np.any((labels == blank) & (np.arange(most) < count[:, None])):
        raise MismatchError(f"the blank, {blank}, among the labels", remedy="say with blank= which class says nothing")
    demand_no_negatives(labels, "a negative label; classes are counted from 0")
    said = np.full((examples, 2 * most + 1), blank)
    said[:, 1::2] = labels
    scores = np.take_along_axis(logp, np.broadcast_to(said[:, None, :], (examples, times, 2 * most + 1)), axis=2)
    # A label may follow the one before without a blank between them, unless they are the same.
    jumps = np.zeros((examples, 2 * most + 1), bool)
    jumps[:, 3::2] = said[:, 3::2] != said[:, 1:-2:2]
    ends = 2 * count
    alpha = np.where(np.arange(2 * most + 1) < 2, scores[:, 0], _IMPOSSIBLE)
    one = np.full((examples, 1), _IMPOSSIBLE, alpha.dtype)
    two = np.full((examples, min(2, 2 * most + 1)), _IMPOSSIBLE, alpha.dtype)
    for t in range(1, times):
        before = np.concatenate([one, alpha[:, :-1]], axis=1)
        skipped = np.where(jumps, np.concatenate([two, alpha[:, :-2]], axis=1)[:, : 2 * most + 1], _IMPOSSIBLE)
        new = np.logaddexp(np.logaddexp(alpha, before), skipped) + scores[:, t]
        alpha = np.where((t < last)[:, None], new, alpha)
    final = np.logaddexp(alpha[rows, ends], np.where(ends > 0, alpha[rows, np.maximum(ends - 1, 0)], _IMPOSSIBLE))
    return _reduced(np.where(final < 0.5 * _IMPOSSIBLE, math.inf, -final), reduction)


def accuracy(logits: Any, labels: Any) -> Any:
    """How often the largest of the logits is that of the label.

    >>> accuracy(np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([1, 1]))
    np.float64(0.5)
    """
    chosen = np.argmax(logits, axis=-1)
    _alike(chosen, labels)
    return np.mean(chosen == labels)


def perplexity(loss: float) -> float:
    """e to the mean cross-entropy.

    >>> round(perplexity(math.log(8.0)), 12)
    8.0
    """
    return math.exp(loss)
