"""The long short-term memory for JAX's compiler: a scan over the sequence (unrolled, it would compile for minutes)."""

import jax.numpy as jnp
from jax import lax
from jax.nn import sigmoid

NOTE = "`lax.scan`"


def objective(parameters, state, sequence):
    """Return the mean loss of predicting each element of the sequence from those before."""
    weights, ends = parameters
    b = sequence.shape[1]

    def step(carry, given):
        state, total = carry
        now, after = given
        x = now * ends[0]
        new = []
        for k in range(0, len(state), 2):
            w = weights[k].reshape(4, b)
            bias = weights[k + 1].reshape(4, b)
            forget = sigmoid(x * w[0] + bias[0])
            ingate = sigmoid(state[k] * w[1] + bias[1])
            outgate = sigmoid(x * w[2] + bias[2])
            change = jnp.tanh(state[k] * w[3] + bias[3])
            cell = state[k + 1] * forget + ingate * change
            x = outgate * jnp.tanh(cell)
            new += [x, cell]
        guess = x * ends[1] + ends[2]
        total = total + jnp.sum(after * (guess - jnp.log(jnp.sum(jnp.exp(guess)) + 2)))
        return (jnp.stack(new), total), None

    (_, total), _ = lax.scan(step, (state, 0.0), (sequence[:-1], sequence[1:]))
    return -total / ((len(sequence) - 1) * b)
