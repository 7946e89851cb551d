"""A differentiable stack, queue and deque (Grefenstette et al. 2015): data structures that can be learned to use.

Pushing and popping are numbers between 0 and 1, and the state is a list of vectors with strengths. With strengths 0
and 1 they are the ordinary structures; in between they have derivatives. A controller that sees only the kind of each
symbol learns when to push and pop, so that a sequence comes out reversed (by the stack) or in order (by the queue).
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import optimize


def stack_step(strengths, t, pop, push):
    """Strengths after popping from the top and pushing one more, at place t."""
    above = np.cumsum(strengths[::-1])[::-1] - strengths
    left = np.maximum(strengths - np.maximum(pop - above, 0), 0)
    return np.where(np.arange(len(strengths)) == t, push, left)


def queue_step(strengths, t, pop, push):
    """The same, popping from the bottom."""
    below = np.cumsum(strengths) - strengths
    left = np.maximum(strengths - np.maximum(pop - below, 0), 0)
    return np.where(np.arange(len(strengths)) == t, push, left)


def read_top(values, strengths):
    """What lies on top, to a depth of one."""
    above = np.cumsum(strengths[::-1])[::-1] - strengths
    return np.minimum(strengths, np.maximum(1 - above, 0)) @ values


def read_front(values, strengths):
    """What lies at the front."""
    below = np.cumsum(strengths) - strengths
    return np.minimum(strengths, np.maximum(1 - below, 0)) @ values


def deque_step(strengths, t, gates):
    """Both at once: pop at the top and at the bottom, then push at the top and at the bottom, beyond all before."""
    pop_top, push_top, pop_bottom, push_bottom = gates
    middle, places = len(strengths) // 2, np.arange(len(strengths))
    nowhere = len(strengths)
    left = queue_step(stack_step(strengths, nowhere, pop_top, 0.0), nowhere, pop_bottom, 0.0)
    left = np.where(places == middle + t, push_top, left)
    return np.where(places == middle - 1 - t, push_bottom, left)


STRUCTURES = {"stack": (stack_step, read_top), "queue": (queue_step, read_front)}


def run(controller, symbols, structure):
    """Feed n symbols, then ask n times: what is read at each time of asking."""
    step, read = STRUCTURES[structure]
    count, size = symbols.shape
    strengths, answers = np.zeros(2 * count), np.zeros((count, size))
    values = np.concatenate([symbols, np.zeros((count, size))])
    for t in range(2 * count):
        gate = 1 / (1 + np.exp(-controller[t // count]))  # two kinds of symbols: one to keep, and "now answer"
        if t >= count:
            answers[t - count] = read(values, strengths)
        strengths = step(strengths, t, gate[0], gate[1])
    return answers


def run_deque(controller, symbols, kinds):
    """Feed n symbols of two kinds, then ask n times for the top."""
    count, size = symbols.shape
    strengths, answers = np.zeros(4 * count), np.zeros((count, size))
    later = np.zeros((count, size))
    values = np.concatenate([later, symbols[::-1], symbols, later])
    for t in range(2 * count):
        kind = kinds[t % count] if t < count else 2
        if t >= count:
            answers[t - count] = read_top(values, strengths)
        strengths = deque_step(strengths, t, 1 / (1 + np.exp(-controller[kind])))
    return answers


def in_order(symbols, kinds):
    """What a deque gives from the top: the first kind in reverse, then the second in order."""
    return np.concatenate([symbols[kinds == 0][::-1], symbols[kinds == 1]])


def loss_of_deque(controller, batch, kinds, wanted):
    answers = wg.vmap(lambda symbols, kinds: run_deque(controller, symbols, kinds))(batch, kinds)
    return np.mean((answers - wanted) ** 2)


def loss(controller, batch, structure):
    wanted = batch[:, ::-1] if structure == "stack" else batch
    answers = wg.vmap(lambda symbols: run(controller, symbols, structure))(batch)
    return np.mean((answers - wanted) ** 2)


def main(small=False):
    rng = np.random.default_rng(0)
    results = {}
    for structure in STRUCTURES:
        batch = np.eye(5)[rng.integers(0, 5, (20, 6))]
        found = None
        for _ in range(6):  # some starts end where nothing is pushed
            start = rng.normal(size=(2, 2))  # (kind of symbol, (pop, push))
            other = optimize.minimize(loss, start, args=(batch, structure), method="L-BFGS-B",
                                      bounds=[(-12.0, 12.0)] * 4, options={"maxiter": 200})  # fmt: skip
            found = other if found is None or other.fun < found.fun else found
        longer = np.eye(5)[rng.integers(0, 5, (20, 12))]  # twice as long as those it was trained with
        answers = np.stack([run(found.x, symbols, structure) for symbols in longer])
        wanted = longer[:, ::-1] if structure == "stack" else longer
        right = np.mean(np.argmax(answers, axis=2) == np.argmax(wanted, axis=2))
        results[structure] = dict(gates=1 / (1 + np.exp(-found.x)), loss=found.fun, accuracy=right, answers=answers[0],
                                  wanted=wanted[0])  # fmt: skip
    results["deque"] = learned_deque(rng)
    return results


def learned_deque(rng):
    """Which kind of symbol goes to which end is found out from what comes out."""

    def data(count, length):
        kinds, symbols = rng.integers(0, 2, (count, length)), np.eye(5)[rng.integers(0, 5, (count, length))]
        return symbols, kinds, np.stack([in_order(s, k) for s, k in zip(symbols, kinds, strict=True)])

    batch, found = data(30, 5), None
    for _ in range(6):
        start = rng.normal(size=(3, 4))  # (kind of symbol, (pop and push at the top, at the bottom))
        other = optimize.minimize(loss_of_deque, start, args=batch, method="L-BFGS-B", bounds=[(-12.0, 12.0)] * 12,
                                  options={"maxiter": 300})  # fmt: skip
        found = other if found is None or other.fun < found.fun else found
        if found.fun < 1e-4:
            break
    symbols, kinds, wanted = data(20, 10)
    answers = np.stack([run_deque(found.x, s, k) for s, k in zip(symbols, kinds, strict=True)])
    right = np.mean(np.argmax(answers, axis=2) == np.argmax(wanted, axis=2))
    return dict(gates=1 / (1 + np.exp(-found.x)), loss=found.fun, accuracy=right, answers=answers[0], wanted=wanted[0])


def picture(results):
    figure = Figure(2, width=220, height=220)
    for structure, found in results.items():
        figure.axes(f"{structure}: wanted", "time").image(found["wanted"].T, 0, 1)
        figure.axes(f"{structure}: answered", "time").image(found["answers"].T, 0, 1)
    return figure


if __name__ == "__main__":
    results = main()
    for structure, found in results.items():
        print(f"{structure}: {found['accuracy']:.1%} of longer sequences")
        for kind, gates in enumerate(found["gates"].round(3).tolist()):
            print(f"  kind {kind}: pop and push {gates[:2]}", f"at the bottom {gates[2:]}" if gates[2:] else "")
    picture(results).save(Path(__file__).with_suffix(".svg"))
