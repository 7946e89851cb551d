"""What a program under construction knows: its names, each with a sample value, and the random choices.

Shapes and dtypes need no rules of their own here. Every expression is evaluated by plain NumPy on the sample values as
soon as it is written, and every statement executed, so the generator sees what it has made; what NumPy refuses is
thrown away. Only shapes and dtypes decide what is written next, never numbers, so a seed gives the same program
everywhere.

Features are drawn by weight, and each program has only some of them (swarm testing, Groce et al. 2012): features that
would hide each other are often apart, and many programs are short on the rest and long on one thing.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

FEATURES = {
    "scalars": 3.0, "elementwise": 3.0, "reductions": 2.0, "products": 1.5, "gathers": 1.5, "joins": 1.5, "views": 2.0,
    "aliases": 1.5, "writes": 3.0, "masks": 1.0, "scatters": 1.0, "dtypes": 1.0, "complex": 0.7, "linalg": 0.6,
    "constructors": 1.0, "branches": 2.0, "loops": 2.5, "whiles": 1.0, "jumps": 1.5, "returns": 0.8, "dicts": 1.0,
    "lists": 1.0, "objects": 0.8, "closures": 0.8, "helpers": 1.5, "recursion": 0.5, "rules": 0.8, "exceptions": 0.7,
    "math": 0.8, "integers": 1.2, "ties": 0.8, "nests": 0.5,
    "flags": 0.8, "iterators": 0.8, "unpacking": 0.8, "floors": 0.6, "choices": 1.0, "small": 0.6, "slices": 1.0,
    "places": 0.8, "classes": 0.5,
    "buffers": 0.8, "state": 0.8, "algorithms": 0.8, "mixes": 0.8, "axes": 0.8, "indices": 0.8, "layouts": 0.8,
    "exits": 0.8, "dispatch": 0.8, "operators": 0.6, "powers": 0.8,
    "inheritance": 0.8, "own": 0.8, "managers": 0.6, "patterns": 0.5, "structures": 0.8, "standard": 0.8, "truth": 0.8,
    "transforms": 0.8, "cubes": 0.8, "scipy": 0.6, "methods": 0.8, "outside": 0.08, "grids": 1.0, "references": 0.8,
}  # fmt: skip
"""Every feature with its weight, unless asked otherwise."""


OWN = re.compile(r"[a-zN]+\d+")
"""Names that programs give; those without a number (`i`, `key`) are gone after the statement that binds them."""


class Unusable(Exception):
    """What was drawn makes no sense to NumPy."""


class Scope:
    """Names and sample values of a program so far."""

    def __init__(self, rng: random.Random, weights: dict[str, float], module: dict[str, Any]):
        self.rng = rng
        self.weights = weights
        self.module = module
        self.names: dict[str, Any] = {}
        self.pinned: set[str] = set()
        """Names that a suite may not bind to another shape or dtype, since others read them afterwards."""
        self.loops = 0
        self.depth = 0
        self.budget = 40
        """How many statements may still be written."""
        self.returns: Callable[[Scope], str] | None = None
        self._fresh = 0

    # choices

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def one_of(self, choices: Sequence[Any]) -> Any:
        return self.rng.choice(choices)

    def draw(self, table: Sequence[tuple[str, float, Any]]) -> Any:
        """One of `(feature, weight, item)`; the weight counts times that of the feature."""
        weights = [w * self.weights.get(feature, 1.0) for feature, w, _ in table]
        if not any(weights):
            raise Unusable
        return self.rng.choices([item for *_, item in table], weights)[0]

    def fresh(self, prefix: str) -> str:
        self._fresh += 1
        return f"{prefix}{self._fresh}"

    # what is there

    def value(self, text: str) -> Any:
        """The sample value of an expression."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                return eval(text, {**self.module, **self.names})
            except Exception as error:
                raise Unusable(f"{text}: {error}") from error

    def run(self, text: str) -> None:
        """Execute statements on the sample values."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            found = {**self.module, **self.names}
            try:
                exec(re.sub(r"nonlocal (?=[st]\b)", "global ", text), found)
            except Exception as error:
                raise Unusable(f"{text}: {error}") from error
            for name, value in found.items():
                if name in self.names or OWN.fullmatch(name):
                    self.names[name] = value

    def having(self, test: Callable[[Any], bool]) -> list[str]:
        return [name for name, value in self.names.items() if test(value)]

    def arrays(self, ndim: int | None = None, kinds: str = "fc", shape: tuple | None = None) -> list[str]:
        def fits(v: Any) -> bool:
            if not isinstance(v, np.ndarray) or v.dtype.kind not in kinds or not v.ndim or not v.size:
                return False
            return (ndim is None or v.ndim == ndim) and (shape is None or v.shape == shape)

        return self.having(fits)

    def scalars(self) -> list[str]:
        return self.having(lambda v: type(v) in (float, np.float64, np.float32))

    def integers(self) -> list[str]:
        return self.having(lambda v: type(v) in (int, np.int64))

    def copy(self) -> Scope:
        """For a suite: it sees the same values, and what it binds is its own."""
        inner = Scope(self.rng, self.weights, self.module)
        inner.__dict__.update(self.__dict__)
        inner.names = dict(self.names)
        inner.pinned = set(self.names)
        return inner

    def after(self, inner: Scope) -> None:
        """A suite has ended: names that were there before have what it gave them."""
        self._fresh, self.budget = inner._fresh, inner.budget
        for name in self.names:
            self.names[name] = inner.names[name]


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def kind_of(value: Any) -> str:
    return np.asarray(value).dtype.kind


def same_type(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype
