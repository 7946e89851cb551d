"""What compiled code is to reach, and by how much it does or does not."""

from collections.abc import Callable
from dataclasses import dataclass

import problems

from compiled.families import FAMILIES, case_name

Figure = Callable[[dict], float | None]
EVERY = tuple(name for family in FAMILIES for name in family.problems)
DERIVED = tuple(name for name in EVERY if problems.derivative_of(name) is not None)
LOOPS = next(family.problems for family in FAMILIES if family.name == "loops")


@dataclass(frozen=True)
class Goal:
    """A figure that is to be at most `most` in each of `cases`."""

    text: str
    cases: tuple[str, ...]
    figure: Figure
    most: float

    def verdict(self, cases: dict) -> dict:
        """Return the figures of the cases that were measured, and those that are missing."""
        measured = {name: self.figure(cases[name]) for name in self.cases if name in cases}
        figures = {name: figure for name, figure in measured.items() if figure is not None}
        return {
            "goal": self.text,
            "most": self.most,
            "figures": figures,
            "missed": [name for name, figure in figures.items() if figure > self.most],
            "unmeasured": [name for name in measured if name not in figures],
        }


def ratio(numerator: str, denominator: str) -> Figure:
    """Return the figure: one entry's time divided by another's."""

    def figure(case: dict) -> float | None:
        seconds = case["seconds"]
        if numerator not in seconds or denominator not in seconds:
            return None
        return seconds[numerator] / seconds[denominator]

    return figure


def of_best(entry: str, others: tuple[str, ...]) -> Figure:
    """Return the figure: one entry's time divided by the shortest of others'."""

    def figure(case: dict) -> float | None:
        seconds = case["seconds"]
        found = [seconds[other] for other in others if other in seconds]
        return seconds[entry] / min(found) if found and entry in seconds else None

    return figure


def microseconds(entry: str) -> Figure:
    """Return the figure: the microseconds of a call."""
    return lambda case: 1e6 * case["seconds"][entry] if entry in case["seconds"] else None


def build(entry: str) -> Figure:
    """Return the figure: the seconds from the program to its first result."""
    return lambda case: case["build"].get(entry)


def build_ratio(entry: str, other: str) -> Figure:
    """Return the figure: one entry's time from the program to the first result, divided by another's."""

    def figure(case: dict) -> float | None:
        mine, theirs = case["build"].get(entry), case["build"].get(other)
        return mine / theirs if mine and theirs else None

    return figure


def warm(entry: str) -> Figure:
    """Return the figure: the milliseconds to the first result of a program that is on disk."""
    return lambda case: 1e3 * case["warm"][entry] if entry in case.get("warm", {}) else None


def largest(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the case of the largest size of each of some problems."""
    return tuple(case_name(name, problems.compiled_sizes(name)[-1]) for name in names)


def every(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return all cases of some problems."""
    return tuple(case_name(name, size) for name in names for size in problems.compiled_sizes(name))


def helmholtz(least: int, most: int) -> tuple[str, ...]:
    """Return the cases of the Helmholtz free energy of some sizes."""
    sizes = problems.compiled_sizes("helmholtz")
    return tuple(case_name("helmholtz", size) for size in sizes if least <= size <= most)


OF_NUMPY = ratio("wengert_jit/derivative", "numpy/function")
ADBENCH = {
    "gmm-d10_K100": 0.4,
    "gmm-d64_K25": 0.25,
    "ba-ba1": 0.7,
    "lstm-l2_c1024": 0.09,
    "hand_simple-100": 0.14,
    "hand_complicated-100": 0.3,
    "logsumexp-80000": 0.4,
}
"""Derivative ÷ NumPy's function, at most."""


def adbench(case: str, most: float) -> Goal:
    """Return the goal of a case of ADBench."""
    name, size = next((n, s) for n in FAMILIES[1].problems for s in problems.compiled_sizes(n) if f"{n}-{s}" == case)
    title = problems.load(name).title(size)
    return Goal(f"{title}: derivative ÷ NumPy's function at most {most:g}", (case,), OF_NUMPY, most)


OURS, JAX, HAND = "wengert_jit/derivative", "jax_jit/derivative", "numba/derivative"
PEERS = tuple(f"{tool}/derivative" for tool in ("jax_jit", "casadi", "torch", "autograd"))

GOALS = (
    Goal(
        "Helmholtz, n ≥ 8: gradient at most twice the function",
        helmholtz(8, 1000),
        ratio(OURS, "wengert_jit/function"),
        2.0,
    ),
    Goal("Helmholtz, n ≥ 8: at most twice the gradient by hand", helmholtz(8, 1000), ratio(OURS, HAND), 2.0),
    Goal("Helmholtz, n ≤ 50: at most a tenth of JAX's time", helmholtz(1, 50), ratio(OURS, JAX), 0.1),
    *(adbench(case, most) for case, most in ADBENCH.items()),
    Goal(
        "ADBench: at most half of the time of any other package",
        every(FAMILIES[1].problems),
        of_best(OURS, PEERS),
        0.5,
    ),
    Goal("hand, 100 points: built in 1 s", ("hand_simple-100", "hand_complicated-100"), build(OURS), 1.0),
    Goal(
        "loops: function at most 1.2 times Numba's",
        every(LOOPS),
        ratio("wengert_jit/function", "numba/function"),
        1.2,
    ),
    Goal(
        "loops: gradient at most 3 times the function",
        every(LOOPS),
        ratio(OURS, "wengert_jit/function"),
        3.0,
    ),
    Goal("loops: gradient at most a tenth of JAX's time", every(LOOPS), ratio(OURS, JAX), 0.1),
    Goal(
        "MLP and RNN: no slower than JAX and PyTorch",
        every(("training", "rnn")),
        of_best(OURS, (JAX, "torch/derivative")),
        1.0,
    ),
    Goal(
        "no slower to build than JAX: function",
        largest(EVERY),
        build_ratio("wengert_jit/function", "jax_jit/function"),
        1.0,
    ),
    Goal("no slower to build than JAX: derivative", largest(DERIVED), build_ratio(OURS, JAX), 1.0),
    Goal("warm start from disk within 20 ms: function", largest(EVERY), warm("wengert_jit/function"), 20.0),
    Goal("warm start from disk within 20 ms: derivative", largest(DERIVED), warm("wengert_jit/derivative"), 20.0),
    Goal("a call of an empty function takes at most 0.5 µs", ("empty-3",), microseconds("wengert_jit/function"), 0.5),
)
