"""Random programs on arrays that lie elsewhere: on a GPU, or in arrays that are as strict (`strict_array.py`).

What a program gives there is compared with what it gives on NumPy's arrays, which other tests compare with differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from fuzz.compositions import Check
from fuzz.outcome import limited
from fuzz.program import Program, generated, text_of
from fuzz.reference import quiet
from wengert.tree import flatten

ALL = (0, 1, 2)
WAYS: dict[str, Callable] = {
    "grad": lambda m: wg.grad(m.total, ALL),
    "jvp": lambda m: lambda x, A, a, n: wg.jvp(lambda x, A, a: m.total(x, A, a, n), (x, A, a), (x, -A, 0.7)),
    "jit": lambda m: wg.jit(m.f),
    "jit(grad)": lambda m: wg.jit(wg.grad(m.total, ALL)),
}
FEATURES = {"outside": 0.0, "state": 0.0}
"""Weights of the generator: arrays that a program finds outside are NumPy's, and not the device's."""
SHORT = ("32", "64", "16", "single")
"""Texts in programs that compute in fewer digits somewhere."""


def useful_program(seed: int) -> Program | None:
    """The program of a seed, if plain NumPy runs it."""
    program = generated(seed, FEATURES, 10)
    return program if not program.has_state and Check(program).useful() else None


def outcomes(program: Program, put: Callable, get: Callable, limit: float = 20.0) -> dict[str, str]:
    """What became of each way: "same", "wrong: …" or "error: …" (also where something is refused)."""
    text, found = text_of(program), {}
    few_digits = any(word in text for word in SHORT)
    for name, way in WAYS.items():
        right = _leaves(quiet(way(program.module), *_arguments(program, lambda x: x)))
        try:
            with limited(limit):
                got = _leaves(quiet(way(program.module), *_arguments(program, put)), get)
        except Exception as error:
            found[name] = f"error: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            continue
        found[name] = "same" if _are_alike(got, right, few_digits) else f"wrong: {got} for {right}"
    return found


def _arguments(program: Program, put: Callable) -> list[Any]:
    """In C order: whether NumPy makes a view or a copy depends on it, and arrays lie so when they come to a device."""
    return [put(np.array(v, order="C")) if isinstance(v, np.ndarray) else v for v in program.points[0].data]


def _leaves(y: Any, get: Callable = lambda x: x) -> list[np.ndarray]:
    return [np.asarray(get(leaf)) for leaf in flatten(y)[0] if leaf is not None]


def _are_alike(got: list[np.ndarray], right: list[np.ndarray], few_digits: bool) -> bool:
    rtol, atol = (1e-4, 1e-5) if few_digits else (1e-8, 1e-9)
    return len(got) == len(right) and all(
        a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, rtol, atol, equal_nan=True)
        for a, b in zip(got, right, strict=True)
    )
