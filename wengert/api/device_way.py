"""The quick way into a compiled function for arrays of a device, as `CallWay` is for NumPy's.

A call that is like an earlier one, in the classes, dtypes and shapes of its arguments, needs no more than its program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert import tree
from wengert.backend.gpu.device import device_of
from wengert.backend.gpu.plan import plan_of
from wengert.backend.gpu.run import run_plan
from wengert.capture.program import Captured
from wengert.ops.choice import choice
from wengert.ops.library import is_foreign
from wengert.running import running
from wengert.types import SCALARS


class DeviceWay:
    """The way that calls with these arguments take, which are arrays and Python's numbers, maybe in containers without
    keys."""

    __slots__ = ("_device", "_found", "_kinds", "_place", "_plan", "_structure")

    def __init__(self, found: Captured, args: tuple):
        leaves, self._structure = _taken_apart(args)
        like = next(a for a in leaves if is_foreign(a))
        self._found, self._plan, self._device = found, plan_of(found.called, found.name, like), device_of(like)
        self._place = next(k for k, a in enumerate(leaves) if a is like)
        self._kinds = [
            (a.__class__, getattr(a, "dtype", None), getattr(a, "shape", None), a.strides if self._lie(a) else None)
            for a in leaves
        ]

    def _lie(self, a: Any) -> bool:
        """Whether it matters how an argument lies in memory."""
        return self._found.orders is not None and a.__class__ not in SCALARS

    @staticmethod
    def is_for(found: Captured, leaves: list[Any], args: tuple, kwargs: dict) -> bool:
        """Whether there is such a way: what the program needs is all in its arguments."""
        if kwargs or found.inputs or found.writes or found.left or found.pinned or found.assumed or found.later:
            return False
        own, structure = _taken_apart(args)
        return (
            (structure is None or not tree.orders_of_keys(args))
            and len(leaves) == len(own)
            and all(a is b and (is_foreign(a) or a.__class__ in SCALARS) for a, b in zip(leaves, own, strict=True))
        )

    def leaves_of(self, args: tuple) -> Sequence[Any] | None:
        """The arguments, taken apart, of a call that is like that one, if nothing else is going on; else `None`."""
        leaves, structure = (args, None) if self._structure is None else tree.flatten(args)
        if len(leaves) != len(self._kinds) or structure != self._structure:
            return None
        for a, (kind, dtype, shape, strides) in zip(leaves, self._kinds, strict=True):
            if a.__class__ is not kind or (dtype is not None and (a.dtype != dtype or a.shape != shape)):
                return None
            if strides is not None and a.strides != strides:
                return None
        if (
            self._device is not None
            and not self._device.is_alone
            and device_of(leaves[self._place]) is not self._device
        ):
            return None
        state = running.state
        is_usual = state.capture is None and state.watch is None and choice.is_default()
        return leaves if is_usual and self._found.guards_hold() else None

    def call(self, leaves: Sequence[Any]) -> Any:
        results = run_plan(self._plan, self._device, leaves[self._place], leaves)
        return self._found.returned(leaves, results)


def _taken_apart(args: tuple) -> tuple[Sequence[Any], Any]:
    """The leaves of arguments, and their structure, `None` if they are leaves themselves."""
    leaves, structure = tree.flatten(args)
    are_leaves = len(leaves) == len(args) and all(a is b for a, b in zip(leaves, args, strict=True))
    return leaves, None if are_leaves else structure
