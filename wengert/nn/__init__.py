"""Networks: layers as plain dataclasses of arrays, losses, and a loop that trains them.

>>> import numpy as np, wengert as wg
>>> from wengert import nn
>>> model = nn.Sequential(nn.Dense(2, 16, rng=0), np.tanh, nn.Dense(16, 1, rng=1))
>>> gradient = wg.grad(lambda model, x: np.sum(model(x) ** 2))(model, np.ones((4, 2)))
>>> gradient.layers[0].weight.shape
(2, 16)
"""

from wengert.api.convolution import conv, conv_transpose
from wengert.nn import initializers
from wengert.nn.activations import (
    elu,
    gelu,
    glu,
    hard_tanh,
    leaky_relu,
    log_softmax,
    mish,
    relu,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)
from wengert.nn.attention import Cache, LearnedPositions, MultiHeadAttention, attend, causal_mask, rotate, sinusoids
from wengert.nn.convolutions import (
    AvgPool,
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    GlobalAvgPool,
    GlobalMaxPool,
    MaxPool,
    avg_pool,
    max_pool,
)
from wengert.nn.files import load, save
from wengert.nn.layers import (
    Dense,
    Dropout,
    Embedding,
    Flatten,
    FrozenLayer,
    Lambda,
    Residual,
    Sequential,
    changed,
    freeze,
    train,
)
from wengert.nn.losses import (
    accuracy,
    binary_cross_entropy,
    cross_entropy,
    ctc,
    hinge,
    huber,
    kl_divergence,
    kl_normal,
    mae,
    mse,
    nll,
    perplexity,
)
from wengert.nn.normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from wengert.nn.parameters import Build, cast, count, named, show, split, trained
from wengert.nn.recurrent import GRU, LSTM, RNN, Bidirectional
from wengert.nn.training import Fitted, fit, supervised

__all__ = [
    "GRU", "LSTM", "RNN", "AvgPool", "BatchNorm", "Bidirectional", "Build", "Cache", "Conv1d", "Conv2d", "Conv3d",
    "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "Dense", "Dropout", "Embedding", "Fitted", "Flatten",
    "FrozenLayer", "GlobalAvgPool", "GlobalMaxPool", "GroupNorm", "Lambda", "LayerNorm", "LearnedPositions",
    "MaxPool", "MultiHeadAttention", "RMSNorm", "Residual", "Sequential", "accuracy", "attend", "avg_pool",
    "binary_cross_entropy", "cast", "causal_mask", "changed", "conv", "conv_transpose", "count", "cross_entropy",
    "ctc", "elu", "fit", "freeze", "gelu", "glu", "hard_tanh", "hinge", "huber", "initializers", "kl_divergence",
    "kl_normal", "leaky_relu", "load", "log_softmax", "mae", "max_pool", "mish", "mse", "named", "nll", "perplexity",
    "relu", "rotate", "save", "selu", "show", "sigmoid", "silu", "sinusoids", "softmax", "softplus", "split",
    "supervised", "tanh", "train", "trained",
]  # fmt: skip
