"""Programs that PyTorch has too. `python tests/pytorch_networks.py`, where it is installed, writes what it gives.

A case is a function of arrays with elements between −1 and 1, in wengert and in PyTorch. Of its result, and of the
derivatives of that with respect to all arguments, products with other arrays of this kind are kept.
"""

import json
from pathlib import Path

import numpy as np

from wengert import nn

VALUES = Path(__file__).parent / "data" / "pytorch_networks.json"

LABELS = np.array([0, 3, 1, 2, 2, 0, 1])
CODES = np.array([[1, 4, 2], [0, 2, 2]])
MASK = np.array([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 1, 0, 1], [0, 1, 0, 0, 0]], bool)
SPOKEN = (np.array([[1, 2, 2], [3, 1, 0]]), np.array([6, 4]), np.array([3, 2]))
LENGTHS = np.array([5, 2, 1])


def recurrent(kind, w, u, b):
    return nn.changed(kind(3, 4, rng=0), weight=w, recurrent=u, bias=b)


def gru(x, h, w, u, b, inner):
    return nn.changed(recurrent(nn.GRU, w, u, b), inner=inner)(x, h)


def both_ways(kind):
    return lambda x, *p: nn.Bidirectional(recurrent(kind, *p[:3]), recurrent(kind, *p[3:]))(x, LENGTHS)


def attention(x, context, *p, **options):
    dense = [nn.changed(nn.Dense(6, 6, rng=0), weight=p[k], bias=p[4 + k]) for k in range(4)]
    parts = dict(zip(("query", "key", "value", "output"), dense, strict=True))
    return nn.changed(nn.MultiHeadAttention(6, heads=2, rng=0), **parts)(x, context, **options)


def normalised(layer, train=False):
    def f(x, scale, shift):
        norm = nn.changed(layer, scale=scale, shift=shift)
        return norm.train(x)[0] if train else norm(x)

    return f


BATCH = nn.changed(nn.BatchNorm(4, epsilon=1e-3), mean=np.linspace(-1, 1, 4), variance=np.linspace(0.2, 2, 4))
PROJECTIONS = ((6, 6),) * 4 + ((6,),) * 4
GATES = lambda n: ((3, 4 * n), (4, 4 * n), (4 * n,))

CASES = {
    "relu": (nn.relu, [(5,)]), "leaky_relu": (nn.leaky_relu, [(5,)]), "elu": (nn.elu, [(5,)]),
    "selu": (nn.selu, [(5,)]),
    "softplus": (nn.softplus, [(5,)]), "silu": (nn.silu, [(5,)]), "gelu": (nn.gelu, [(5,)]), "mish": (nn.mish, [(5,)]),
    "gelu by tanh": (lambda x: nn.gelu(x, approximate=True), [(5,)]), "glu": (nn.glu, [(2, 6)]),
    "hard_tanh": (lambda x: nn.hard_tanh(2 * x), [(5,)]), "log_softmax": (lambda x: nn.log_softmax(9 * x), [(3, 4)]),
    "rnn": (lambda x, h, *p: recurrent(nn.RNN, *p)(x, h), [(2, 5, 3), (2, 4), *GATES(1)]),
    "gru": (gru, [(2, 5, 3), (2, 4), *GATES(3), (4,)]),
    "lstm": (lambda x, h, c, *p: recurrent(nn.LSTM, *p)(x, (h, c)), [(2, 5, 3), (2, 4), (2, 4), *GATES(4)]),
    "gru both ways": (both_ways(nn.GRU), [(3, 5, 3), *GATES(3), *GATES(3)]),
    "lstm both ways": (both_ways(nn.LSTM), [(3, 5, 3), *GATES(4), *GATES(4)]),
    "attention": (lambda *a: attention(*a, mask=MASK), [(2, 4, 6), (2, 5, 6), *PROJECTIONS]),
    "causal attention": (lambda x, *p: attention(x, None, *p, causal=True), [(2, 4, 6), *PROJECTIONS]),
    "batch norm": (normalised(BATCH), [(3, 4, 5), (4,), (4,)]),
    "batch norm in training": (normalised(BATCH, train=True), [(3, 4, 5), (4,), (4,)]),
    "running mean": (lambda x: BATCH.train(x)[1].mean, [(3, 4, 5)]),
    "running variance": (lambda x: BATCH.train(x)[1].variance, [(3, 4, 5)]),
    "layer norm": (normalised(nn.LayerNorm(4)), [(3, 2, 4), (4,), (4,)]),
    "group norm": (normalised(nn.GroupNorm(4, groups=2)), [(3, 4, 2, 3), (4,), (4,)]),
    "rms norm": (lambda x, scale: nn.changed(nn.RMSNorm(4), scale=scale)(x), [(3, 4), (4,)]),
    "max pool": (lambda x: nn.max_pool(x, (2, 3), (1, 2), (1, 0)), [(2, 2, 5, 6)]),
    "average pool": (lambda x: nn.avg_pool(x, (3, 2), 2, 1), [(2, 2, 5, 6)]),
    "convolution": (
        lambda x, w: nn.conv(x, w, stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2),
        [(2, 4, 6, 7), (6, 2, 3, 2)],
    ),
    "transposed convolution": (
        lambda x, w: nn.conv_transpose(
            x, w, stride=(2, 3), padding=1, output_padding=(1, 2), dilation=(2, 1), groups=2
        ),
        [(2, 4, 3, 4), (4, 3, 3, 2)],
    ),
    "embedding": (lambda w: nn.changed(nn.Embedding(5, 3, rng=0, padding=2), weight=w)(CODES), [(5, 3)]),
    "cross entropy": (lambda z: nn.cross_entropy(9 * z, LABELS, smoothing=0.2), [(7, 4)]),
    "weighted cross entropy": (
        lambda z: nn.cross_entropy(z, LABELS, smoothing=0.1, weights=np.arange(1.0, 5.0), ignore_index=2), [(7, 4)],
    ),
    "cross entropy of distributions": (
        lambda z, p: nn.cross_entropy(z, p, smoothing=0.1, weights=np.arange(1.0, 5.0)), [(7, 4), (7, 4)],
    ),
    "nll": (lambda z: nn.nll(z, LABELS, weights=np.arange(1.0, 5.0), reduction="none"), [(7, 4)]),
    "binary cross entropy": (lambda z, y: nn.binary_cross_entropy(99 * z, y, positive_weight=3.0), [(6,), (6,)]),
    "huber": (lambda a, b: nn.huber(a, b, delta=0.4), [(6,), (6,)]),
    "kl divergence": (lambda a, b: nn.kl_divergence(nn.log_softmax(a), nn.log_softmax(b)), [(3, 4), (3, 4)]),
    "ctc": (lambda z: nn.ctc(nn.log_softmax(z), *SPOKEN, reduction="none"), [(2, 6, 4)]),
}  # fmt: skip


def numbers(name):
    """The arguments of a case, and arrays in the shapes of its arguments to multiply derivatives with."""
    rng = np.random.default_rng(len(name))
    return [[2 * rng.random(shape) - 1 for shape in CASES[name][1]] for _ in range(2)]


def weights_of(shape):
    """An array to multiply a result with."""
    return np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape)


def of_pytorch():
    """The same programs in PyTorch."""
    import torch
    import torch.nn.functional as F

    torch.set_default_dtype(torch.float64)
    call, zeros, fixed = torch.func.functional_call, torch.zeros, torch.tensor
    gates = lambda w, u, b, c, end="": {
        "weight_ih_l0" + end: w.T, "weight_hh_l0" + end: u.T, "bias_ih_l0" + end: b, "bias_hh_l0" + end: c
    }  # fmt: skip
    kinds = {n: getattr(torch.nn, n)(3, 4, batch_first=True) for n in ("RNN", "GRU", "LSTM")}

    def both_ways(name):
        layer = getattr(torch.nn, name)(3, 4, batch_first=True, bidirectional=True)

        def f(x, *p):
            packed = torch.nn.utils.rnn.pack_padded_sequence(x, fixed(LENGTHS), True, False)
            arrays = gates(*p[:3], zeros(len(p[2]))) | gates(*p[3:], zeros(len(p[2])), "_reverse")
            return torch.nn.utils.rnn.pad_packed_sequence(call(layer, arrays, (packed,))[0], True)[0]

        return f

    def attention(x, context, *p, mask):
        layer = torch.nn.MultiheadAttention(6, 2, batch_first=True)
        arrays = {"in_proj_weight": torch.cat([w.T for w in p[:3]]), "in_proj_bias": torch.cat(p[4:7])}
        arrays |= {"out_proj.weight": p[3].T, "out_proj.bias": p[7]}
        return call(layer, arrays, (x, context, context), {"attn_mask": ~mask, "need_weights": False})[0]

    def running(x, which):
        mean, variance = fixed(BATCH.mean), fixed(BATCH.variance)
        F.batch_norm(x.detach(), mean, variance, training=True)
        return (mean, variance)[which]

    weights = torch.arange(1.0, 5.0)
    causal = torch.tril(torch.ones(4, 4, dtype=torch.bool))
    return {
        "relu": torch.relu, "leaky_relu": F.leaky_relu, "elu": F.elu, "selu": F.selu, "softplus": F.softplus,
        "silu": F.silu, "gelu": F.gelu, "mish": F.mish, "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
        "glu": F.glu, "hard_tanh": lambda x: F.hardtanh(2 * x), "log_softmax": lambda x: F.log_softmax(9 * x, -1),
        "rnn": lambda x, h, *p: call(kinds["RNN"], gates(*p, zeros(4)), (x, h[None]))[0],
        "gru": lambda x, h, *p: call(
            kinds["GRU"], gates(*p[:3], torch.cat([zeros(8), p[3]])), (x, h[None])
        )[0],
        "lstm": lambda x, h, c, *p: call(kinds["LSTM"], gates(*p, zeros(16)), (x, (h[None], c[None])))[0],
        "gru both ways": both_ways("GRU"), "lstm both ways": both_ways("LSTM"),
        "attention": lambda *a: attention(*a, mask=fixed(MASK)),
        "causal attention": lambda x, *p: attention(x, x, *p, mask=causal),
        "batch norm": lambda x, a, b: F.batch_norm(x, fixed(BATCH.mean), fixed(BATCH.variance), a, b, False, 0.1, 1e-3),
        "batch norm in training": lambda x, a, b: F.batch_norm(x, None, None, a, b, True, 0.1, 1e-3),
        "running mean": lambda x: running(x, 0), "running variance": lambda x: running(x, 1),
        "layer norm": lambda x, a, b: F.layer_norm(x, (4,), a, b),
        "group norm": lambda x, a, b: F.group_norm(x, 2, a, b),
        "rms norm": lambda x, a: F.rms_norm(x, (4,), a, 1e-6),
        "max pool": lambda x: F.max_pool2d(x, (2, 3), (1, 2), (1, 0)),
        "average pool": lambda x: F.avg_pool2d(x, (3, 2), 2, 1),
        "convolution": lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 2), (1, 2), 2),
        "transposed convolution": lambda x, w: F.conv_transpose2d(x, w, None, (2, 3), 1, (1, 2), 2, (2, 1)),
        "embedding": lambda w: F.embedding(fixed(CODES), torch.cat([w[:2], 0 * w[2:3], w[3:]]), padding_idx=2),
        "cross entropy": lambda z: F.cross_entropy(9 * z, fixed(LABELS), label_smoothing=0.2),
        "weighted cross entropy": lambda z: F.cross_entropy(
            z, fixed(LABELS), weights, label_smoothing=0.1, ignore_index=2
        ),
        "cross entropy of distributions": lambda z, p: F.cross_entropy(z, p, weights, label_smoothing=0.1),
        "nll": lambda z: F.nll_loss(z, fixed(LABELS), weights, reduction="none"),
        "binary cross entropy": lambda z, y: F.binary_cross_entropy_with_logits(99 * z, y, pos_weight=fixed(3.0)),
        "huber": lambda a, b: F.huber_loss(a, b, delta=0.4),
        "kl divergence": lambda a, b: F.kl_div(
            F.log_softmax(b, -1), F.log_softmax(a, -1), log_target=True, reduction="batchmean"
        ),
        "ctc": lambda z: F.ctc_loss(
            F.log_softmax(z, -1).swapaxes(0, 1), *map(fixed, SPOKEN), reduction="none"
        ),
    }  # fmt: skip


def main():
    import torch

    values = {}
    for name, f in of_pytorch().items():
        at, along = numbers(name)
        at = [torch.tensor(a, requires_grad=True) for a in at]
        y = f(*at)
        value = torch.sum(y * torch.tensor(weights_of(y.shape)))
        slopes = torch.autograd.grad(value, at) if value.requires_grad else []
        products = [torch.sum(g * torch.tensor(v)).item() for g, v in zip(slopes, along, strict=False)]
        values[name] = [value.item(), *products]
    VALUES.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in values.items()) + "\n}\n")


if __name__ == "__main__":
    main()
