"""A Neural Turing Machine that learns to copy (Graves, Wayne and Danihelka 2014).

A small network reads one symbol at a time. Beside it lies a memory, a matrix of cells, with two heads: one writes, one
reads. A head is a blurred place in the memory; it looks for a content or stays where it is, and then moves by a
cell to either side or not at all. All of that has derivatives, so that the network learns the program "write down what
comes, go back to the start, read it aloud" from examples alone, and runs it on longer sequences, too.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

BITS, CELLS, WIDTH, HIDDEN = 4, 16, 6, 24
HEAD = WIDTH + 6  # a key, its strength, whether to use it, three shifts, how sharp
OUTPUTS = BITS + 2 * HEAD + 2 * WIDTH


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def moved(place, memory, head):
    """Where a head is after a step: equations 5 to 9 of the paper."""
    key, strength, use, shift, sharp = (
        np.tanh(head[:, :WIDTH]), head[:, WIDTH : WIDTH + 1], head[:, WIDTH + 1 : WIDTH + 2],
        head[:, WIDTH + 2 : WIDTH + 5], head[:, WIDTH + 5 :])  # fmt: skip
    sizes = np.sqrt(np.sum(memory**2, axis=2) + 1e-8) * np.sqrt(np.sum(key**2, axis=1, keepdims=True) + 1e-8)
    likeness = np.einsum("bnw,bw->bn", memory, key) / sizes
    content = softmax(np.logaddexp(0.0, strength) * likeness)
    place = sigmoid(use) * content + (1 - sigmoid(use)) * place
    by = softmax(shift)
    place = by[:, :1] * np.roll(place, -1, axis=1) + by[:, 1:2] * place + by[:, 2:] * np.roll(place, 1, axis=1)
    sharpened = (place + 1e-12) ** (1 + np.logaddexp(0.0, sharp))
    return sharpened / np.sum(sharpened, axis=1, keepdims=True)


def run(network, inputs):
    """Outputs (times, examples, bits) for inputs (times, examples, bits + 1), and where the heads were."""
    times, examples, _ = inputs.shape
    memory = np.zeros((examples, CELLS, WIDTH)) + 0.01
    first = np.zeros((examples, CELLS))
    first[:, 0] = 1.0
    reading, writing, read = first, first, np.zeros((examples, WIDTH))
    outputs = np.zeros((times, examples, BITS))
    places = np.zeros((2, times, examples, CELLS))
    for t in range(times):
        hidden = np.tanh(np.concatenate([inputs[t], read], axis=1) @ network["in"] + network["bias"])
        said = hidden @ network["out"] + network["out_bias"]
        heads = said[:, BITS : BITS + 2 * HEAD]
        writing = moved(writing, memory, heads[:, :HEAD])
        erase, add = sigmoid(said[:, -2 * WIDTH : -WIDTH]), np.tanh(said[:, -WIDTH:])
        memory = memory * (1 - writing[:, :, None] * erase[:, None, :]) + writing[:, :, None] * add[:, None, :]
        reading = moved(reading, memory, heads[:, HEAD:])
        read = np.einsum("bn,bnw->bw", reading, memory)
        outputs[t] = said[:, :BITS] + read @ network["read_out"]
        places[0, t], places[1, t] = writing, reading
    return outputs, places


def task(rng, length, examples):
    """Sequences of bits to be said again: the inputs, with a mark where they end, and what is wanted after it."""
    bits = rng.integers(0, 2, (length, examples, BITS)).astype(float)
    inputs = np.zeros((2 * length + 1, examples, BITS + 1))
    inputs[:length, :, :BITS] = bits
    inputs[length, :, BITS] = 1.0
    return inputs, bits


def loss(network, inputs, bits):
    """Cross entropy of the bits that are said after the mark."""
    said = run(network, inputs)[0][-len(bits) :]
    return np.mean(np.logaddexp(0.0, said) - bits * said)


def start(rng):
    normal = lambda *shape: rng.normal(size=shape) / np.sqrt(shape[0])
    return {"in": normal(BITS + 1 + WIDTH, HIDDEN), "bias": np.zeros(HIDDEN), "out": normal(HIDDEN, OUTPUTS),
            "out_bias": np.zeros(OUTPUTS), "read_out": normal(WIDTH, BITS)}  # fmt: skip


def train(rng, steps, lengths=(2, 4), examples=16, rate=0.01):
    network, method = start(rng), optimize.adam(rate)
    state = method.init(network)

    @wg.jit
    def step(network, state, inputs, bits):
        value, slope = wg.value_and_grad(loss)(network, inputs, bits)
        size = np.sqrt(sum([np.sum(slope[name] ** 2) for name in slope]))
        slope = {name: slope[name] / np.maximum(1.0, size) for name in slope}  # at most of length one
        network, state = method.update(slope, state, network)
        return network, state, value

    losses = np.zeros(steps)
    for k in range(steps):
        network, state, losses[k] = step(network, state, *task(rng, lengths[k % len(lengths)], examples))
    return network, losses


def wrong(network, rng, length):
    """The share of bits that are said wrongly, of sequences of some length."""
    inputs, bits = task(rng, length, 50)
    return np.mean((run(network, inputs)[0][-length:] > 0) != (bits > 0.5))


def main(small=False):
    rng = np.random.default_rng(1)
    network, losses = train(rng, 300, lengths=(4,)) if small else train(rng, 4000)
    errors = {length: wrong(network, rng, length) for length in (2, 4, 6, 8, 12)}
    inputs, bits = task(rng, 8, 1)
    outputs, places = run(network, inputs)
    return dict(losses=losses, errors=errors, inputs=inputs[:, 0], bits=bits[:, 0], outputs=sigmoid(outputs[:, 0]),
                writing=places[0, :, 0], reading=places[1, :, 0])  # fmt: skip


def picture(results):
    figure = Figure(4, width=240, height=220)
    figure.axes("Training", "steps", "bits of error").line(np.arange(len(results["losses"])), results["losses"])
    figure.axes("Heard, then said", "time").image(
        np.concatenate([results["inputs"][:, :BITS].T, results["outputs"].T]), 0, 1)  # fmt: skip
    figure.axes("Where it writes", "time", "cell").image(results["writing"].T, 0, 1)
    figure.axes("Where it reads", "time", "cell").image(results["reading"].T, 0, 1)
    return figure


if __name__ == "__main__":
    results = main()
    for length, error in results["errors"].items():
        print(f"sequences of {length}: {error:.2%} of the bits are wrong")
    picture(results).save(Path(__file__).with_suffix(".svg"))
