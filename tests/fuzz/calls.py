"""One function called several times: with other data, with arguments of other kinds, and with what it has kept. What
the first call has left behind (code for its types, for its decisions, for what it found outside) must do for those
after it, or not be used."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import wengert as wg
from fuzz.outside import KEPT
from fuzz.program import imported


def repeated(f: Callable) -> Callable:
    """All examples of a batch one after the other, some of them again."""

    def calls(x: np.ndarray, A: np.ndarray, a: np.ndarray, n: np.ndarray) -> list:
        return [_outcome(f, x[k].copy(), A[k].copy(), float(a[k]), int(n[k])) for k in (0, 1, 2, 1, 0)]

    return calls


def varied(f: Callable, finite: bool = False) -> Callable:
    """Calls with some other forms of the arguments, and once more with the arguments themselves. Derivatives are asked
    for at `finite` arguments: where there is a NaN, the order of operations decides how far it spreads."""

    def calls(x: np.ndarray, A: np.ndarray, a: float, n: int) -> list:
        chosen = random.Random(repr((x.tolist(), a, n))).sample(FORMS[:-2] if finite else FORMS, 4)
        return [_outcome(f, *form(x.copy(), A.copy(), a, n)) for form in [_as_they_are, *chosen, _as_they_are]]

    return calls


def sequence(f: Callable, through: Callable[[Callable], Callable] = lambda f: f) -> Callable:
    """All examples one after the other by a function that keeps something outside, in a module of its own; after some
    calls that is changed by others."""
    module = imported(Path(f.__code__.co_filename).read_text(encoding="utf-8"))
    called = through(module.f)

    def calls(x: np.ndarray, A: np.ndarray, a: np.ndarray, n: np.ndarray) -> list:
        found = []
        for call, k in enumerate((0, 0, 1, 2, 0, 1)):
            found.append(_outcome(called, x[k].copy(), A[k].copy(), float(a[k]), int(n[k])))
            if call == 3:
                module.GRID[0], module.BOX.u, module.COUNT = 0.3, 0.7, 5
                module.LOG.append(0.4)
                module.CACHE["u"] = 0.1
        kept = [getattr(module, name) for name in KEPT]
        return [found, [dict(v) if isinstance(v, dict) else _plain(v) for v in kept]]

    return calls


def _plain(v: Any) -> Any:
    return [_plain(e) for e in vars(v).values()] if hasattr(v, "__dict__") else list(v) if np.iterable(v) else v


def _outcome(f: Callable, *args: Any) -> Any:
    """The result and what became of the arguments; or that Python raises. (Which exception it is may differ: what is
    wrong whatever the values are is found when a function is compiled, before an index that is out of bounds.)"""
    try:
        return [f(*args), *args[:2]]
    except wg.errors.NotDifferentiableInputError:
        return "raises"
    except wg.errors.WengertError:
        raise
    except Exception as error:
        if any(text in str(error) for text in REFUSED_WHEN_RUN):
            raise wg.errors.StagingError(str(error)) from error
        return "raises"


REFUSED_WHEN_RUN = ("an integer to a negative power", "never taken for one", "taken for one")
"""What compiled programs refuse when they run (docs/refusals.md)."""


def _as_they_are(*args: Any) -> tuple:
    return args


def _overlapping(x: np.ndarray, A: np.ndarray, a: float, n: int) -> tuple:
    memory = np.concatenate([x, A.ravel()])
    return memory[: len(x)], memory[len(x) - 1 : -1].reshape(A.shape), a, n


def _read_only(x: np.ndarray, *others: Any) -> tuple:
    x.flags.writeable = False
    return x, *others


def _with(x: np.ndarray, value: float) -> np.ndarray:
    x[1] = value
    return x


FORMS: list[Callable[..., tuple]] = [
    _overlapping, _read_only,
    lambda x, A, a, n: (x.astype(np.float32), A, a, n), lambda x, A, a, n: (x, A.astype(np.float32), np.float32(a), n),
    lambda x, A, a, n: (np.arange(len(x)), A, a, n), lambda x, A, a, n: (x, A, 1, n),
    lambda x, A, a, n: (x, A, np.float64(a), np.int32(n)), lambda x, A, a, n: (x, A, np.array(a), np.int8(n)),
    lambda x, A, a, n: (np.append(x, [0.3, -0.2]), A, a, n), lambda x, A, a, n: (x[:2], A, a, n),
    lambda x, A, a, n: (x, A[:, :1], a, n), lambda x, A, a, n: (x[:0], A, a, n),
    lambda x, A, a, n: (x, A, a, -1), lambda x, A, a, n: (x, A, a, 17), lambda x, A, a, n: (x, A, a, n > 2),
    lambda x, A, a, n: (x[::-1], np.asfortranarray(A), -a, n), lambda x, A, a, n: (x, A, 0.0, 0),
    lambda x, A, a, n: (x * 3.0, A, a, n), lambda x, A, a, n: (x * 0.0, A * 0.0, a, n),
    lambda x, A, a, n: (_with(x, np.nan), A, a, n), lambda x, A, a, n: (_with(x, np.inf), A, a, n),
]  # fmt: skip
"""Ways to call a program otherwise, which it may refuse, as Python would."""
