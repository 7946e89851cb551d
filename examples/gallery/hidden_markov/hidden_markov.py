"""A hidden Markov model, learned by gradient and by expectation–maximisation.

The likelihood is the forward algorithm, a loop of a few lines. Its gradient with respect to the logarithms of the
probabilities *is* the expected counts that the backward pass and the E-step compute (Eisner 2016): EM needs no more,
and quasi-Newton steps use the same gradient.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize

STATES, SYMBOLS = 3, 6


def log_likelihood(log_start, log_move, log_emit, symbols):
    forward = log_start + log_emit[:, symbols[0]]
    for symbol in symbols[1:]:
        forward = wg.logsumexp(forward[:, None] + log_move, axis=0) + log_emit[:, symbol]
    return wg.logsumexp(forward)


def log_softmax(x):
    return x - wg.logsumexp(x, axis=-1, keepdims=True)


def sampled(rng, count):
    """A chain that stays in its state mostly; each state prefers two symbols."""
    move = np.full((STATES, STATES), 0.05) + 0.85 * np.eye(STATES)
    emit = np.full((STATES, SYMBOLS), 0.05) + 0.35 * np.repeat(np.eye(STATES), 2, axis=1)
    state, symbols = 0, []
    for _ in range(count):
        symbols.append(rng.choice(SYMBOLS, p=emit[state]))
        state = rng.choice(STATES, p=move[state])
    return np.array(symbols), emit


def by_em(tables, symbols, rounds):
    """The expected counts are the gradient; normalising them is the M-step."""
    counts_of = wg.jit(wg.value_and_grad(log_likelihood, argnums=(0, 1, 2)))
    history = []
    for _ in range(rounds):
        value, counts = counts_of(*tables, symbols)
        tables = [np.log(c / c.sum(axis=-1, keepdims=True)) for c in counts]
        history.append(value)
    return tables, np.array(history)


def main(small=False):
    rng = np.random.default_rng(3)
    symbols, emit = sampled(rng, 1500)
    start = [rng.normal(size=shape) * 0.3 for shape in ((STATES,), (STATES, STATES), (STATES, SYMBOLS))]
    start[1] = start[1] + 1.5 * np.eye(STATES)

    tables, history = by_em([log_softmax(x) for x in start], symbols, 60 if small else 100)

    negative = lambda free: -log_likelihood(*[log_softmax(x) for x in free], symbols)
    found = optimize.minimize(negative, start, method="BFGS")
    learned = np.exp(log_softmax(found.x[2]))
    return dict(em=history, gradient=-found.fun, iterations=found.nit, emit=emit, learned=learned,
                by_em=np.exp(tables[2]), count=len(symbols))  # fmt: skip


def picture(results):
    figure = Figure(3, width=280)
    axes = figure.axes("Log-likelihood by EM", "round", "per symbol")
    axes.line(np.arange(len(results["em"])), results["em"] / results["count"], "EM")
    axes.line([0, len(results["em"])], [results["gradient"] / results["count"]] * 2, "BFGS", dashed=True)
    figure.axes("Emissions, true", "symbol", "state").image(results["emit"], 0, 0.5)
    order = np.argmax(results["emit"] @ results["learned"].T, axis=1)
    figure.axes("learned by gradient", "symbol", "state").image(results["learned"][order], 0, 0.5)
    return figure


if __name__ == "__main__":
    found = main()
    print(f"log-likelihood: EM {found['em'][-1]:.4f}, BFGS {found['gradient']:.4f} in {found['iterations']} iterations")
    picture(found).save(Path(__file__).with_suffix(".svg"))
