"""The programs that `jit` is tried on: natural NumPy, as numerical benchmarks and their authors write it.

`@program(…)` enters a function with arguments to try it on; the modules in `suite/` hold them, by subject. Arguments
are copied for each call, since a program may write to them.
"""

from __future__ import annotations

import copy
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

PROGRAMS: dict[str, Program] = {}


@dataclass
class Program:
    """A function, arguments, and what can be asked of it.

    `wrt` says in which arguments it is differentiated (none if it is empty), `second` whether also twice, `batch`
    whether it is tried under vmap, and `eager` whether ordinary reverse mode can run it at all (it cannot if the
    function looks at values in a way that only the compiler follows).
    """

    f: Callable
    args: tuple
    wrt: tuple[int, ...]
    second: bool
    batch: bool
    eager: bool

    def fresh(self, scale: float = 1.0) -> tuple:
        """The arguments, with floating-point data scaled."""
        return scaled(copy.deepcopy(self.args), scale)


def scaled(x: Any, scale: float) -> Any:
    """Containers of data with all that is floating or complex multiplied; integers and objects stay."""
    if scale == 1.0:
        return x
    if isinstance(x, (tuple, list)) and not hasattr(x, "_fields"):
        return type(x)(scaled(v, scale) for v in x)
    if isinstance(x, dict):
        return {k: scaled(v, scale) for k, v in x.items()}
    if isinstance(x, (float, complex)) and not isinstance(x, np.generic):
        return x * scale
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc":
        return (x * x.dtype.type(scale)).astype(x.dtype) if isinstance(x, np.ndarray) else x * x.dtype.type(scale)
    return x


def program(*args: Any, wrt: int | tuple = (0,), second: bool = True, batch: bool = True, eager: bool = True) -> Any:
    """Enter a function."""

    def enter(f: Callable) -> Callable:
        places = (wrt,) if isinstance(wrt, int) else wrt
        PROGRAMS[f.__name__] = Program(f, args, places, second, batch, eager)
        return f

    return enter


def values(*args: Any) -> Any:
    """Enter a function that is not differentiated."""
    return program(*args, wrt=(), second=False, batch=False)


def random(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between −1 and 1, none of them near zero or near another."""
    rng = np.random.default_rng([seed, *shape])
    n = int(np.prod(shape)) if shape else 1
    spread = (2 * np.arange(n) + 1 - n) / n
    x = rng.permutation(np.where(np.abs(spread) < 1e-9, 0.5 / n, spread)) + rng.uniform(-0.2, 0.2, n) / n
    return x.reshape(shape)


def positive(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between 0.5 and 2.5."""
    return 1.5 + random(*shape, seed=seed)


def definite(n: int, seed: int = 0) -> np.ndarray:
    """A symmetric positive definite matrix."""
    a = random(n, n, seed=seed)
    return a @ a.T + n * np.eye(n)


def dominant(n: int, seed: int = 0) -> np.ndarray:
    """A matrix with a large diagonal."""
    return random(n, n, seed=seed) + n * np.eye(n)


def load_all() -> dict[str, Program]:
    """All programs."""
    suite = importlib.import_module("jit.suite")
    for module in pkgutil.iter_modules(suite.__path__):
        importlib.import_module(f"jit.suite.{module.name}")
    return PROGRAMS
