"""What solvers return: SciPy's `OptimizeResult`, with answers in the user's containers.

It is a container like others (`tree.py`), so that a function which returns one can be mapped over examples and
compiled; words belong to its structure.
"""

from __future__ import annotations

from typing import Any

from scipy.optimize import OptimizeResult

from wengert import tree

_WORDS = ("message", "method")


class Solved(OptimizeResult):
    """SciPy's `OptimizeResult`: `x` in the containers of `x0`, `success`, `message`, `method`, `fun`, `nit`, …"""


def _take_apart(solved: Solved) -> tuple:
    names = tuple(name for name in solved if name not in _WORDS and solved[name] is not None)
    words = tuple((name, solved.get(name)) for name in solved if name not in names)
    return tuple(solved[name] for name in names), (names, words), names


def register_result(kind: type[Solved]) -> None:
    """Let a kind of result be a container."""

    def put_together(told: Any, parts: Any) -> Solved:
        names, words = told
        return kind(**dict(zip(names, parts, strict=True)), **dict(words))

    tree.register(kind, _take_apart, put_together)


register_result(Solved)
