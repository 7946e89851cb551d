"""The quick way into a compiled function for arrays of a device, as `CallWay` is for NumPy's.

A call that is like an earlier one, in the classes, dtypes and shapes of its arguments, needs no more than its program.
"""

from __future__ import annotations

from typing import Any

from wengert.backend.gpu.device import device_of
from wengert.backend.gpu.plan import plan_of
from wengert.backend.gpu.run import run_plan
from wengert.capture.program import Captured
from wengert.ops.choice import choice
from wengert.ops.library import is_foreign
from wengert.running import running
from wengert.types import SCALARS


class DeviceWay:
    """The way that calls with these arguments take, which are arrays and Python's numbers, not containers."""

    __slots__ = ("_device", "_found", "_kinds", "_place", "_plan")

    def __init__(self, found: Captured, args: tuple):
        like = next(a for a in args if is_foreign(a))
        self._found, self._plan, self._device = found, plan_of(found.called, found.name, like), device_of(like)
        self._place = next(k for k, a in enumerate(args) if a is like)
        self._kinds = [(a.__class__, getattr(a, "dtype", None), getattr(a, "shape", None)) for a in args]

    @staticmethod
    def is_for(found: Captured, leaves: list[Any], args: tuple, kwargs: dict) -> bool:
        """Whether there is such a way: what the program needs is all in its arguments."""
        return (
            not (kwargs or found.inputs or found.writes or found.left or found.pinned or found.assumed)
            and found.later is None
            and found.orders is None
            and len(leaves) == len(args)
            and all(a is b and (is_foreign(a) or a.__class__ in SCALARS) for a, b in zip(leaves, args, strict=True))
        )

    def takes(self, args: tuple) -> bool:
        """Whether a call is like that one, and nothing else is going on."""
        if len(args) != len(self._kinds):
            return False
        for a, (kind, dtype, shape) in zip(args, self._kinds, strict=True):
            if a.__class__ is not kind or (dtype is not None and (a.dtype != dtype or a.shape != shape)):
                return False
        if self._device is not None and not self._device.is_alone and device_of(args[self._place]) is not self._device:
            return False
        state = running.state
        return state.capture is None and state.watch is None and choice.is_default() and self._found.guards_hold()

    def call(self, args: tuple) -> Any:
        results = run_plan(self._plan, self._device, args[self._place], args)
        return self._found.returned(args, results)
