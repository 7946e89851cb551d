"""Backpropagation through long times, in little memory (Gruslys et al. 2016).

A recurrent network reads thousands of numbers and has to remember the first. The plain gradient keeps every state;
`checkpoints=k` keeps k of them, and computes the others again when they are needed.
"""

import time
from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure

WIDTH = 64


def loss(network, numbers):
    """The squared error of what the network says at the end about the first number."""
    h = np.zeros(WIDTH)
    for x in numbers:
        keep = 1 / (1 + np.exp(-(network["keep"] @ h + network["keep_in"] * x)))
        h = keep * h + (1 - keep) * np.tanh(network["new"] @ h + network["new_in"] * x)
    return (network["out"] @ h - numbers[0]) ** 2


def start(rng):
    return {"keep": rng.normal(size=(WIDTH, WIDTH)) / WIDTH, "keep_in": rng.normal(size=WIDTH),
            "new": rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH), "new_in": rng.normal(size=WIDTH),
            "out": rng.normal(size=WIDTH) / WIDTH}  # fmt: skip


def repeated(steps, checkpoints):
    """How often a step is run, for each step: the optimum of Griewank's revolve."""
    return wg.checkpoint_schedule(steps, checkpoints).evaluations / steps


def main(small=False):
    rng = np.random.default_rng(0)
    network, steps = start(rng), 200 if small else 3000
    numbers = rng.normal(size=steps)
    plain = wg.jit(wg.grad(loss))(network, numbers)
    rows = []
    for checkpoints in (3, 5, 10, 20) if small else (3, 5, 10, 20, 50, 100):
        gradient = wg.jit(wg.grad(loss, checkpoints=checkpoints))
        found = gradient(network, numbers)
        began = time.perf_counter()
        gradient(network, numbers)
        took = time.perf_counter() - began
        difference = max(np.max(np.abs(found[name] - plain[name])) for name in plain)
        rows.append((checkpoints, checkpoints / steps, repeated(steps, checkpoints), difference, took))
    return dict(rows=np.array(rows), size=max(np.max(np.abs(value)) for value in plain.values()), steps=steps)


def picture(results):
    figure = Figure(2)
    rows = results["rows"]
    axes = figure.axes(f"{results['steps']} steps", "states that are kept", "runs of each step")
    axes.line(rows[:, 0], rows[:, 2])
    axes.points(rows[:, 0], rows[:, 2])
    turns = np.array([10, 30, 100, 300, 1000, 3000, 10000])
    axes = figure.axes("Growth at ten states", "log10 of the steps", "runs of each step")
    axes.line(np.log10(turns), [repeated(int(n), 10) for n in turns])
    return figure


if __name__ == "__main__":
    results = main()
    for checkpoints, share, runs, difference, took in results["rows"]:
        print(f"{checkpoints:4.0f} states kept ({share:.2%}): each step run {runs:.2f} times, {took:.3f} s, "
              f"difference {difference:.1e}")  # fmt: skip
    picture(results).save(Path(__file__).with_suffix(".svg"))
