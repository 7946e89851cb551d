"""A language model by characters: an LSTM learns to spell.

The text is a nursery rhyme that ships with the program. The network reads a character at a time and says which comes
next.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import nn, optimize

TEXT = (
    "this is the house that jack built. this is the malt that lay in the house that jack built. this is the rat that "
    "ate the malt that lay in the house that jack built. this is the cat that killed the rat that ate the malt that "
    "lay in the house that jack built. this is the dog that worried the cat that killed the rat that ate the malt "
    "that lay in the house that jack built. "
)
LETTERS = sorted(set(TEXT))
CODES = np.array([LETTERS.index(letter) for letter in TEXT])


def scores(model, codes):
    """For each place of each sequence, a score for each letter that may come next."""
    return model["out"](model["lstm"](model["letters"](codes)))


def loss(model, codes):
    return nn.cross_entropy(scores(model, codes[:, :-1]), codes[:, 1:])


def spell(model, begin, count):
    """Go on from a beginning, always with the likeliest letter."""
    codes = [LETTERS.index(letter) for letter in begin]
    predict = wg.jit(lambda model, codes: scores(model, codes)[0, -1])
    for _ in range(count):
        window = np.array([codes[-24:]]) if len(codes) >= 24 else np.array([codes])
        codes.append(int(np.argmax(predict(model, window))))
    return "".join(LETTERS[c] for c in codes)


def main(small=False):
    rng = np.random.default_rng(0)
    width = 48
    model = {"letters": nn.Embedding(len(LETTERS), 16, rng=rng), "lstm": nn.LSTM(16, width, rng=rng),
             "out": nn.Dense(width, len(LETTERS), rng=rng)}  # fmt: skip
    optimizer = optimize.adam(0.01)
    state, losses = optimizer.init(model), []

    @wg.jit
    def step(model, state, codes):
        value, gradient = wg.value_and_grad(loss)(model, codes)
        model, state = optimizer.update(gradient, state, model)
        return model, state, value

    for _ in range(150 if small else 600):
        places = rng.integers(0, len(CODES) - 33, 16)
        model, state, value = step(model, state, CODES[places[:, None] + np.arange(33)])
        losses.append(value)
    return dict(losses=np.array(losses), text=spell(model, "this is the dog that wor", 5 if small else 120),
                chance=np.log(len(LETTERS)))  # fmt: skip


def picture(results):
    figure = Figure(1, width=460)
    axes = figure.axes("Cross-entropy per letter", "step", log_y=True)
    axes.line(np.arange(len(results["losses"])), results["losses"], "LSTM")
    axes.line([0, len(results["losses"])], [results["chance"]] * 2, "by chance", dashed=True)
    return figure


if __name__ == "__main__":
    results = main()
    print(f"cross-entropy {results['losses'][0]:.3f} -> {np.mean(results['losses'][-20:]):.4f}")
    print(results["text"])
    picture(results).save(Path(__file__).with_suffix(".svg"))
