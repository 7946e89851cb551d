"""What threads bring: `python benchmarks/threads.py` from the root of the repository. It needs wengert only.

Each program runs with one thread and with several, in turns. The table has the time with one divided by the time with
several, for sizes from where nothing is gained to where memory is the limit. `--write-readme` puts it into the README.
"""

import argparse
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: only our own threads count

import numpy as np
import readme
import timing

import wengert as wg

ROUNDS = 15
SIZES = (3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)


def elementwise(x):
    return np.sin(x) * np.exp(-x) + np.tanh(x)


def cheap(x):
    return 2 * x + 1


def total(x):
    return np.sum(np.log1p(x * x))


def matrices(x):
    stack = x[: len(x) // 9 * 9].reshape(-1, 3, 3) + 3 * np.eye(3)
    return np.linalg.solve(stack, np.ones((len(stack), 3, 1)))


def rows(x):
    table = x[: len(x) // 100 * 100].reshape(-1, 100)
    out = np.zeros(len(table))
    for i in range(len(table)):
        y = 0.0
        for j in range(100):
            y = 0.9 * y + np.tanh(table[i, j] + y)
        out[i] = y
    return out


PROGRAMS = {
    "sin(x) exp(−x) + tanh(x)": elementwise,
    "2x + 1": cheap,
    "Σ log(1 + x²)": total,
    "gradient of that": wg.grad(total),
    "solve, 3 × 3 each": matrices,
    "a loop for each row of 100": rows,
}


def main() -> None:
    """Measure, print, and put the table where it is wanted."""
    parser = argparse.ArgumentParser(description="What threads bring.")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--write-readme", action="store_true")
    options = parser.parse_args()
    text = table(options.threads)
    print(text)
    if options.write_readme:
        readme.write("threads", text)


def table(threads: int) -> str:
    """The table, in Markdown."""
    lines = [f"Time with one thread ÷ time with {threads}.", "", "| elements | " + " | ".join(PROGRAMS) + " |"]
    lines.append("| ---: |" + " ---: |" * len(PROGRAMS))
    for n in SIZES:
        x = np.random.default_rng(n).random(n)
        ratios = [gain(wg.jit(program), x, threads) for program in PROGRAMS.values()]
        lines.append(f"| {n:,} | " + " | ".join([f"{ratio:.2f}" for ratio in ratios]) + " |")
    return "\n".join(lines)


def gain(compiled, x: np.ndarray, threads: int) -> float:
    """How many times faster a program is with several threads."""

    compiled(x)
    shortest = {1: np.inf, threads: np.inf}
    for _ in range(ROUNDS):
        for count in shortest:
            wg.set_num_threads(count)  # which itself takes longer than a short call
            taken, _ = timing.sample(lambda: compiled(x), 0.01, 1, time.perf_counter)
            shortest[count] = min(shortest[count], taken)
    return shortest[1] / shortest[threads]


if __name__ == "__main__":
    main()
