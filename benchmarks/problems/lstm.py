"""ADBench: the loss of a long short-term memory with diagonal weights, over a sequence, and its gradient."""

import adbench
import numpy as np

SIZES = ("l2_c1024", "l4_c1024")
WIDTH = 14


def title(n):
    """Name the case in tables."""
    return f"LSTM, {n.replace('_', ' ')}"


def inputs(n):
    """Return (the weights of the layers, those of input and output), the state at the start and the sequence."""
    layers, length = (int(part[1:]) for part in n.split("_"))
    shapes = (2 * layers, 4 * WIDTH), (3, WIDTH), (2 * layers, WIDTH), (length, WIDTH)
    given = adbench.numbers(f"lstm/lstm_{n}.txt")
    if given is None:
        given = np.random.default_rng(layers).uniform(size=3 + sum(map(np.prod, shapes)))
    weights, ends, state, sequence = adbench.taken(given[3:], *shapes)
    return (weights, ends), state, sequence


def golden(n):
    """Return the suite's value and gradient, if they are known."""
    found = adbench.golden(f"lstm_{n}")
    return None if found is None else (found["F"], found["J"])


def sigmoid(x):
    """Return the logistic function."""
    return 1 / (1 + np.exp(-x))


def objective(parameters, state, sequence):
    """Return the mean loss of predicting each element of the sequence from those before."""
    weights, ends = parameters
    b = sequence.shape[1]
    state = state.astype(weights.dtype)
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * ends[0]
        for k in range(0, len(state), 2):
            w = weights[k].reshape(4, b)
            bias = weights[k + 1].reshape(4, b)
            forget = sigmoid(x * w[0] + bias[0])
            ingate = sigmoid(state[k] * w[1] + bias[1])
            outgate = sigmoid(x * w[2] + bias[2])
            change = np.tanh(state[k] * w[3] + bias[3])
            state[k + 1] = state[k + 1] * forget + ingate * change
            state[k] = outgate * np.tanh(state[k + 1])
            x = state[k]
        guess = x * ends[1] + ends[2]
        total += np.sum(sequence[t + 1] * (guess - np.log(np.sum(np.exp(guess)) + 2)))
    return -total / ((len(sequence) - 1) * b)
