"""Word embeddings: words that stand in the same places get vectors that lie together (skip-gram, Mikolov et al. 2013).

The text is made by a small grammar, of which the program knows nothing. Each word gets a vector of five numbers such
that it predicts its neighbours; words of the same kind end up close to each other.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

KINDS = {
    "animal": ("cat", "dog", "cow", "hen", "fox"),
    "food": ("bread", "milk", "corn", "fish", "cheese"),
    "place": ("house", "field", "wood", "barn", "river"),
    "eats": ("eats", "likes", "wants", "smells"),
    "in": ("in", "near", "behind"),
    "the": ("the", "a"),
}
WORDS = [word for words in KINDS.values() for word in words]
KIND = np.array([k for k, words in enumerate(KINDS.values()) for _ in words])
SENTENCES = (("the", "animal", "eats", "the", "food"), ("the", "animal", "eats", "food", "in", "the", "place"),
             ("in", "the", "place", "the", "animal", "eats", "the", "animal"))  # fmt: skip


def text(rng, count):
    kinds = [kind for _ in range(count) for kind in SENTENCES[rng.integers(3)]]
    return np.array([WORDS.index(rng.choice(KINDS[kind])) for kind in kinds])


def counts_of(words, reach=2):
    """How often each word stands near each other one."""
    counts = np.zeros((len(WORDS), len(WORDS)))
    for shift in range(1, reach + 1):
        np.add.at(counts, (words[:-shift], words[shift:]), 1)
        np.add.at(counts, (words[shift:], words[:-shift]), 1)
    return counts


def loss(vectors, counts):
    scores = vectors["word"] @ vectors["neighbour"].T
    log_probabilities = scores - wg.logsumexp(scores, axis=1, keepdims=True)
    penalty = 1e-4 * sum(np.sum(v**2) for v in vectors.values())
    return -np.sum(counts * log_probabilities) / np.sum(counts) + penalty


def main(small=False):
    rng = np.random.default_rng(0)
    counts = counts_of(text(rng, 300 if small else 3000))
    start = {name: 0.1 * rng.normal(size=(len(WORDS), 5)) for name in ("word", "neighbour")}
    found = optimize.minimize(loss, start, args=(counts,), method="L-BFGS-B", options={"maxiter": 300})
    v = found.x["word"]
    v = v / np.linalg.norm(v, axis=1, keepdims=True)
    near = np.argmax(v @ v.T - 2 * np.eye(len(v)), axis=1)
    flat = (v - v.mean(axis=0)) @ np.linalg.svd(v - v.mean(axis=0))[2][:2].T
    shares = counts / counts.sum(axis=1, keepdims=True)
    entropy = -np.sum(counts * np.log(np.maximum(shares, 1e-300))) / counts.sum()
    return dict(same_kind=np.mean(KIND[near] == KIND), loss=found.fun, flat=flat, entropy=entropy)


def picture(results):
    figure = Figure(1, width=480, height=360)
    axes = figure.axes("Words, in the plane that shows most")
    for k, kind in enumerate(KINDS):
        axes.points(*results["flat"][k == KIND].T, kind, size=4)
    return figure


if __name__ == "__main__":
    results = main()
    print(f"the nearest word is of the same kind in {results['same_kind']:.0%} of the cases")
    picture(results).save(Path(__file__).with_suffix(".svg"))
