"""The long short-term memory for autograd, which has no in-place writes: the state is a list."""

import autograd.numpy as np

NOTE = "the state is a list"


def sigmoid(x):
    """Return the logistic function."""
    return 1 / (1 + np.exp(-x))


def objective(parameters, state, sequence):
    """Return the mean loss of predicting each element of the sequence from those before."""
    weights, ends = parameters
    b = sequence.shape[1]
    state = [state[k] for k in range(len(state))]
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
        total = total + np.sum(sequence[t + 1] * (guess - np.log(np.sum(np.exp(guess)) + 2)))
    return -total / ((len(sequence) - 1) * b)
