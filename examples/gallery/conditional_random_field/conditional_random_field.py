"""A linear-chain conditional random field that tags words.

Sentences come from a small grammar in which many words can be several parts of speech ("the light can", "they can
fish"); only the neighbours decide. The log-likelihood is the forward algorithm; its gradient needs no backward
algorithm.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

TAGS = ("determiner", "adjective", "noun", "verb", "pronoun")
WORDS = {
    "determiner": ("the", "a", "this"),
    "adjective": ("light", "dark", "fast", "open"),
    "noun": ("light", "can", "fish", "fast", "watch", "dark"),
    "verb": ("can", "fish", "watch", "open", "light"),
    "pronoun": ("they", "you", "this"),
}
VOCABULARY = sorted({word for words in WORDS.values() for word in words})
NEXT = {"determiner": {"adjective": 0.4, "noun": 0.6}, "adjective": {"adjective": 0.2, "noun": 0.8},
        "noun": {"verb": 0.8, "pronoun": 0.2}, "verb": {"determiner": 0.6, "pronoun": 0.4},
        "pronoun": {"verb": 1.0}}  # fmt: skip


def sentences(rng, count, length=8):
    words, tags = np.zeros((count, length), int), np.zeros((count, length), int)
    for i in range(count):
        tag = rng.choice(["determiner", "pronoun"])
        for j in range(length):
            words[i, j], tags[i, j] = VOCABULARY.index(rng.choice(WORDS[tag])), TAGS.index(tag)
            tag = rng.choice(list(NEXT[tag]), p=list(NEXT[tag].values()))
    return words, tags


def log_likelihood(model, words, tags):
    """Of the tags of one sentence: the score of these tags, less the logarithm of the sum over all others."""
    emit, move = model["emit"][:, words], model["move"]
    score = np.sum(emit[tags, np.arange(len(words))]) + np.sum(move[tags[:-1], tags[1:]])
    forward = emit[:, 0]
    for j in range(1, len(words)):
        forward = wg.logsumexp(forward[:, None] + move, axis=0) + emit[:, j]
    return score - wg.logsumexp(forward)


def loss(model, words, tags):
    each = wg.vmap(log_likelihood, in_axes=(None, 0, 0))(model, words, tags)
    return -np.mean(each) + 1e-3 * sum(np.sum(table**2) for table in model.values())


def best_tags(model, words):
    """The most probable tags, by the algorithm of Viterbi."""
    emit, best, back = model["emit"][:, words], model["emit"][:, words[0]], []
    for j in range(1, len(words)):
        scores = best[:, None] + model["move"]
        back.append(np.argmax(scores, axis=0))
        best = np.max(scores, axis=0) + emit[:, j]
    tags = [int(np.argmax(best))]
    for pointers in reversed(back):
        tags.append(int(pointers[tags[-1]]))
    return np.array(tags[::-1])


def main(small=False):
    rng = np.random.default_rng(0)
    words, tags = sentences(rng, 100 if small else 500)
    model = {"emit": np.zeros((len(TAGS), len(VOCABULARY))), "move": np.zeros((len(TAGS), len(TAGS)))}
    found = optimize.minimize(loss, model, args=(words, tags), method="L-BFGS-B")
    new_words, new_tags = sentences(rng, 200)
    guessed = np.array([best_tags(found.x, w) for w in new_words])
    alone = np.array([[np.bincount(tags[words == w], minlength=len(TAGS)).argmax() for w in row] for row in new_words])
    return dict(accuracy=np.mean(guessed == new_tags), accuracy_alone=np.mean(alone == new_tags), model=found.x,
                loss=found.fun)  # fmt: skip


def picture(results):
    figure = Figure(2, width=360)
    axes = figure.axes("Accuracy of single words, and of the chain", ylim=(0, 1.4), xlim=(-0.7, 1.7))
    axes.bars([0], [results["accuracy_alone"]], "most frequent tag of the word")
    axes.bars([1], [results["accuracy"]], "conditional random field")
    figure.axes("Learned scores of one tag after another", "next tag", "tag").image(results["model"]["move"])
    return figure


if __name__ == "__main__":
    found = main()
    print(f"accuracy on new sentences {found['accuracy']:.4f}, word by word {found['accuracy_alone']:.4f}")
    picture(found).save(Path(__file__).with_suffix(".svg"))
