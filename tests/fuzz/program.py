"""A whole program, from a seed: a module with a function `f(x, A, a, n)`, and what is needed to run it in compositions.

`x` is a vector, `A` a matrix, `a` a number, `n` an integer; `f` may write to the arrays. What it returns has two
numbers, a vector and an integer, in containers. `total` makes one number of all of it, and of what was written to the
arguments; `flat` a vector.
"""

from __future__ import annotations

import importlib.util
import itertools
import random
import re
import sys
import tempfile
from collections import deque
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType

import numpy as np

from fuzz.arrays import fitting
from fuzz.expressions import scalar
from fuzz.library import HEAD
from fuzz.outside import GLOBALS, STATE
from fuzz.scope import FEATURES, Scope, Unusable, indented
from fuzz.suites import suite

FOLDER = tempfile.TemporaryDirectory()
_numbers = itertools.count()
_known: deque[str] = deque()
MOST = 64
"""So many of the last programs are known as modules; the others are in nobody's hands."""

FOOT = """

def number(y):
    return np.sum(y * np.cos(1.0 + np.arange(np.size(y)).reshape(np.shape(y))))


def total(x, A, a, n):
    y = f(x, A, a, n)
    return number(y{0}) + 2 * number(y{1}) + number(y{2}) + 0.5 * number(x) + number(A)


def flat(x, A, a, n):
    y = f(x, A, a, n)
    return np.concatenate([np.ravel(y{0}), np.ravel(y{1}), np.ravel(y{2}), 2.0 * x])


def slope(x, A, a, n, u, B, b):
    return wg.jvp(lambda x, A, a: total(x, A, a, n), (x, A, a), (u, B, b))[1]


def many(x, A, a, n):
    return np.sum(wg.vmap(total)(x, A, a, n) * np.array([1.0, 2.0, -0.5]))


def series(x, A, a, n, u, B, b):
    return wg.jet(lambda x, A, a: total(x, A, a, n), [x, u], [A, B], [a, b])[1]


def linear(x, A, a, n, u, B, b):
    return wg.linearize(lambda x, A, a: total(x, A, a, n), x, A, a)[1].push(u, B, b)


def pulled(x, A, a, n):
    return wg.vjp(lambda x, A, a: total(x, A, a, n), x, A, a)[1](1.0)


def blocks(x, A, a, n):
    return tuple([np.stack([j[k, k] for k in range(3)]) for j in wg.jacrev(wg.vmap(total), (0, 1, 2))(x, A, a, n)])


jitted, jitted_total, jitted_flat = wg.jit(f), wg.jit(total), wg.jit(flat)


def slope_of_jitted(x, A, a, n, u, B, b):
    return wg.jvp(lambda x, A, a: jitted_total(x, A, a, n), (x, A, a), (u, B, b))[1]


def many_of_jitted(x, A, a, n):
    return np.sum(wg.vmap(jitted_total)(x, A, a, n) * np.array([1.0, 2.0, -0.5]))
"""
CONTAINERS = {
    "({}, {}, {}, {})": ("[0]", "[1]", "[2]", "[3]"),
    "[{}, {}, {}, {}]": ("[0]", "[1]", "[2]", "[3]"),
    "dict(s={}, t={}, w={}, c={})": ('["s"]', '["t"]', '["w"]', '["c"]'),
    "({}, ({}, {}), {})": ("[0]", "[1][0]", "[1][1]", "[2]"),
    "Step({}, (({}, {}), {}))": (".size", ".at[0][0]", ".at[0][1]", ".at[1]"),
}


JITTED_HEAD = re.sub(r"^def h_", "@wg.jit\ndef h_", HEAD, flags=re.MULTILINE)


def imported(source: str) -> ModuleType:
    """The module with this source, in a file of its own, so that instrumentation can read it.

    Programs have one library, as long as it is as it was: it is read and rewritten once.
    """
    for head in (HEAD, JITTED_HEAD):
        if source.startswith(head) and source != head:
            source = f"from {_library(head).__name__} import *\n{source[len(head) :]}"
    name = f"program_{next(_numbers)}"
    path = Path(FOLDER.name) / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules[name] = module  # where classes are looked for
    _known.append(name)
    if len(_known) > MOST:
        sys.modules.pop(_known.popleft(), None)
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


@cache
def _library(head: str = HEAD) -> ModuleType:
    module = imported(head)
    _known.remove(module.__name__)  # it stays
    return module


@dataclass(frozen=True)
class Point:
    """Where a program is run: data, and how it lies in memory."""

    data: tuple
    layout: str = "plain"

    def arguments(self) -> tuple:
        """New arrays each time, as programs write to them."""
        x, A, a, n = self.data
        if self.layout == "fortran":
            return x.copy(), np.array(A, order="F"), a, n
        if self.layout == "strided":
            wide = np.repeat(x, 2)
            return wide[::2], np.repeat(A, 2, axis=1)[:, ::2], a, n
        if self.layout == "reversed":
            return x[::-1].copy()[::-1], A[::-1].copy()[::-1], a, n
        return x.copy(), A.copy(), a, n


@dataclass
class Program:
    """Source text and where to run it. `source` may be replaced by a smaller one; the points stay."""

    seed: int
    source: str
    points: tuple[Point, ...]

    @cached_property
    def module(self) -> ModuleType:
        return imported(self.source)

    @cached_property
    def with_jitted_helpers(self) -> ModuleType:
        if self.source.startswith(HEAD):
            return imported(JITTED_HEAD + self.source[len(HEAD) :])
        return imported(re.sub(r"^def h_", "@wg.jit\ndef h_", self.source, flags=re.MULTILINE))

    @cached_property
    def in_double(self) -> ModuleType:
        """The same in double precision, to differentiate numerically."""
        if not self.is_single:
            return self.module
        copied = re.sub(r"np\.asarray\((\w+), dtype=np\.float32\)", r"np.array(\1, dtype=np.float32)", self.source)
        return imported(copied.replace("np.float32", "np.float64").replace("np.complex64", "np.complex128"))

    @property
    def has_state(self) -> bool:
        """Whether what it gives depends on the calls before."""
        return STATE in self.source

    @property
    def is_single(self) -> bool:
        return any(name in self.source.split("def f(")[1] for name in ("float32", "complex64"))

    def smaller(self, source: str) -> Program:
        return Program(self.seed, source, self.points)


def points_for(seed: int) -> tuple[Point, ...]:
    """One point, and two more for batches, at which programs may take other ways."""
    rng = random.Random(f"points {seed}")
    m, rows, columns = rng.choice([3, 4, 4, 5, 6, 8]), rng.randint(2, 4), rng.randint(2, 4)
    if rng.random() < 0.25:
        columns = rows
    if rng.random() < 0.2:
        columns = m
    layout = rng.choice(["plain"] * 7 + ["fortran", "strided", "reversed"])
    found = []
    for _ in range(3):
        x = np.array([round(rng.uniform(-1.2, 1.2), 3) for _ in range(m)])
        A = np.array([round(rng.uniform(-1.2, 1.2), 3) for _ in range(rows * columns)]).reshape(rows, columns)
        found.append(Point((x, A, round(rng.uniform(-1, 1.5), 3), rng.randint(0, 5)), layout))
    return tuple(found)


def generated(seed: int, features: dict[str, float] | None = None, statements: int = 12) -> Program:
    """The program of a seed. Some features are left out at random, so that the others are more frequent."""
    rng = random.Random(f"program {seed}")
    weights = {**FEATURES, **(features or {})}
    for name in FEATURES:
        if name not in ("scalars", "elementwise") and name not in (features or {}) and rng.random() < 0.4:
            weights[name] = 0.0
    has_state = weights["outside"] > 0 and rng.random() < weights["outside"]
    weights["outside"] *= has_state * 3
    module = dict(vars(_library()))
    if has_state:
        exec(STATE, module)
    s = Scope(rng, weights, module)
    points = points_for(seed)
    s.names = dict(zip(("x", "A", "a", "n"), points[0].arguments(), strict=True))
    s.names["n"] = 2
    s.budget = rng.randint(2, statements if rng.random() < 0.25 else max(2, statements // 2))  # small ones are quick
    container = rng.choice([*CONTAINERS][:1] * 3 + [*CONTAINERS])
    s.returns = lambda s: container.format(scalar(s, 1), "t", _like_w(s), "c")
    lines = _start(s)
    s.pinned = set(s.names)
    while s.budget > 0:
        lines += suite(s, 4)
    lines += _end(s, container)
    body = "\n".join(indented(lines))
    head, first = (f"{HEAD}{STATE}\n", f"    {GLOBALS}\n") if has_state else (HEAD, "")
    source = f"{head}\ndef f(x, A, a, n):\n{first}{body}\n{FOOT.format(*CONTAINERS[container])}"
    return Program(seed, source, points)


def _like_w(s: Scope) -> str:
    text = fitting(s, s.names["w"].shape)
    return text if np.ndim(s.value(text)) and s.value(text).dtype == s.names["w"].dtype else "w"


def _start(s: Scope) -> list[str]:
    lines = [
        s.one_of(["s = 0.25", "s = 0", "s = 0.0", "s = a * 0.5", "s = x[0]"]),
        s.one_of(["t = 0.5 * a", "t = 1.0", "t = np.sum(x) * 0.3"]),
        s.one_of(["w = np.zeros(len(x))", "w = np.sin(x)", "w = x.copy()", "w = x * 0.5", "w = np.zeros_like(x)",
                  "w = np.empty(x.shape)\nw[:] = 0.5", "w = np.ones(4)", "w = np.zeros((2, 3))"]),
        s.one_of(["c = 1", "c = n", "c = 0"]),
    ]  # fmt: skip
    for line in lines:
        s.names.setdefault(line[0], None)
        s.run(line)
    return [line for text in lines for line in text.split("\n")]


def _end(s: Scope, container: str) -> list[str]:
    """Everything that was computed counts for the result."""
    lines = []
    for name, value in s.names.items():
        if isinstance(value, np.ndarray) and value.size and name not in ("x", "A", "w") and value.dtype.kind in "fciub":
            real = f"{name}.real + {name}.imag" if value.dtype.kind == "c" else name
            lines.append(f"s = s + np.mean(np.tanh({real}))")
        elif name[0] == "r" and isinstance(value, float):
            lines.append(f"t = t + np.sin({name})")
    return [*lines, "return " + container.format("s", "t", "w", "c")]


def text_of(program: Program) -> str:
    """The part of the source that is the program's own."""
    return program.source[program.source.index("def f(") :].split("\n\n\ndef number")[0]


__all__ = ["Point", "Program", "Unusable", "generated", "imported", "points_for", "text_of"]
