"""A library as instrumented code sees it: functions that do not dispatch are replaced where an operand is traced."""

from __future__ import annotations

from typing import Any

from wengert.box.dispatch import BLIND
from wengert.box.functions.operands import holds_traced


class Dispatching:
    """A module whose functions are ours for traced values, and its own for all others."""

    def __init__(self, module: Any):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        original = getattr(self._module, name)

        def function(*args: Any, **options: Any) -> Any:
            ours = holds_traced([*args, *options.values()])
            return (BLIND[original] if ours else original)(*args, **options)

        return function
