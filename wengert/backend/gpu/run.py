"""A block, run on a device: kernels for its regions, products by cuBLAS, the library of the arrays for all else.

Loops, branches and calls run on the host, and their bodies here. What a loop collects is written where it belongs as
soon as it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wengert.backend.gpu import blas
from wengert.backend.gpu.device import device_of
from wengert.backend.gpu.launch import in_rows, launch, value_of
from wengert.backend.gpu.loop_kernel import run_loop_kernel
from wengert.backend.gpu.plan import DevicePlan, plan_of
from wengert.backend.gpu.recording import launches_of
from wengert.backend.gpu.regions import KernelRegion, is_count
from wengert.control.loop import loop, stacked_values
from wengert.errors import DeviceError
from wengert.ir import interpret
from wengert.ir.interpret import apply_node
from wengert.ir.node import Block, Node
from wengert.ops import within
from wengert.ops.library import is_foreign
from wengert.running import making, running

interpret.elsewhere[0] = lambda block, args: run(block, "block", args)


def runs_here(args: Sequence[Any]) -> bool:
    """Whether some of these values lie on a device."""
    return any(is_foreign(a) for a in args)


def run(block: Block, name: str, args: Sequence[Any]) -> list[Any]:
    """The results of a block on values of which some lie on a device."""
    like = next(a for a in args if is_foreign(a))
    return run_plan(plan_of(block, name, like), device_of(like), like, args)


def run_plan(plan: DevicePlan, device: Any, like: Any, args: Sequence[Any]) -> list[Any]:
    """The results of a plan; `like` is an array of the device."""
    if device is not None and not device.is_alone:
        _check_together(device, args)
        if not device.is_current:
            with device.current():
                return run_plan(plan, device, like, args)
    if plan.prepared is not None and device is not None:
        in_general = lambda noting: _run_in_general(plan, noting, like, args)
        results = plan.prepared.run(args, device, like.__class__, in_general)
        if results is not None:
            return results
    return _run_in_general(plan, device, like, args)


def _run_in_general(plan: DevicePlan, device: Any, like: Any, args: Sequence[Any]) -> list[Any]:
    given = list(args)
    for k in plan.read:
        if given[k].__class__ is np.ndarray and given[k].ndim:
            given[k] = np.asarray(given[k], like=like)
    state = running.state
    source = state.source
    try:
        with making(plan.example), within.later():
            if device is None or device.is_recording:
                return _on_device(_run_steps(plan, given, device, {}), like)
            if plan.recordings.launches == -1:
                plan.recordings.launches = launches_of(plan, lambda body: plan_of(body, "body", like))
            needed = [a if k in plan.read else None for k, a in enumerate(given)]
            results = plan.recordings.run(device, needed, lambda xs: _run_steps(plan, xs, device, {}))
            return _apart(_on_device(results, like), [*given, *plan.constants.values()], device)
    finally:
        state.source = source


def _check_together(device: Any, args: Sequence[Any]) -> None:
    """Kernels of one device cannot read the memory of another."""
    others = [k for k, a in enumerate(args) if is_foreign(a) and device_of(a) is not device]
    if others:
        raise DeviceError(
            f"a compiled function was given arrays on several devices: array {others[0]} of its arguments lies on "
            f"device {device_of(args[others[0]]).number}, others on device {device.number}",
            remedy="move the arguments of a call to one device; results can be moved and added afterwards",
        )


def _apart(results: list[Any], others: Sequence[Any], device: Any) -> list[Any]:
    """Results in memory of their own: callers may write to them, and to arguments, and constants are those of all
    calls. (A copy in the program, or an element that is read, may be a view on a device.)"""
    taken = {device.memory_of(x) for x in others if is_foreign(x)}
    found = []
    for y in results:
        if is_foreign(y):
            if device.memory_of(y) in taken:
                y = y.copy()
            taken.add(device.memory_of(y))
        found.append(y)
    return found


def _on_device(results: list[Any], like: Any) -> list[Any]:
    """Results, on the device also where they depend on nothing there: zeros that a branch has made, for instance."""
    return [np.asarray(y, like=like) if y.__class__ is np.ndarray and y.ndim else y for y in results]


def _run_steps(plan: DevicePlan, args: Sequence[Any], device: Any, into: Mapping[Any, Any]) -> list[Any]:
    """Run a plan. `into` says where in memory some values are to be, if they are made by kernels or products."""
    values: dict[Any, Any] = dict(zip(plan.block.params, args, strict=True))
    values.update(plan.constants)
    for step, last in zip(plan.steps, plan.last, strict=True):
        if device is None and isinstance(step, KernelRegion):
            own = dict(values)
            for node in step.nodes:
                _apply(node, own)
            values.update({v: own[v] for v in step.made})
        elif isinstance(step, KernelRegion):
            launch(step, values, device, into)
        elif device is not None and step.op is loop:
            if step not in plan.loops or not run_loop_kernel(plan.loops[step], values, device):
                _run_loop(step, values, device)
        elif device is None or not blas.fits(step) or not _multiply(plan, step, values, device, into):
            _apply(step, values)
        for a in last:
            del values[a]
    return [value_of(r, values) for r in plan.block.results]


def _apply(node: Node, values: dict) -> None:
    like = next((v for v in [value_of(a, values) for a in node.args] if is_foreign(v)), None)

    def given(a: Any) -> Any:
        """An operand: what was computed from numbers alone is NumPy's, and moves to where the others are."""
        v = value_of(a, values)
        return v if like is None or v.__class__ is not np.ndarray else np.asarray(v, like=like)

    y = apply_node(node, given)
    several = y if y.__class__ is tuple or len(node.outs) != 1 else (y,)
    for out, value in zip(node.outs, several, strict=True):
        if is_foreign(value) and value.dtype != out.type.dtype:  # libraries differ in what they make of float32
            value = value.astype(out.type.dtype)
        values[out] = value


def _multiply(plan: DevicePlan, node: Node, values: dict, device: Any, into: Mapping[Any, Any]) -> bool:
    x, y = [value_of(a, values) for a in node.args]
    (z,) = node.outs
    if not is_foreign(x) or not is_foreign(y):
        return False
    out = into[z] if z in into else device.empty(z.type.shape, z.type.dtype)
    slow = device.slow_operand(x, y)
    if slow == 0:
        x = in_rows(x, node.args[0].type, plan.copies, device)
    elif slow == 1:
        turned = node.args[1].type
        y = in_rows(y.T, turned._replace(shape=turned.shape[::-1]), plan.copies, device).T
    if not device.multiply(x, y, out):
        return False
    values[z] = out
    return True


def _run_loop(node: Node, values: dict, device: Any) -> None:
    """As `control/loop.py` says, but what is collected is made in its place."""
    body, carried = node.params["body"], node.params["carried"]
    count, *given = [value_of(a, values) for a in node.args]
    like = next((a for a in given if is_foreign(a)), None)
    collected = body.results[carried:]
    if like is None or not all(r.type.is_static for r in collected):
        _apply(node, values)
        return
    plan = plan_of(body, "body", like)
    running.state.source = node.source
    given = [np.asarray(a, like=like) if a.__class__ is np.ndarray and a.ndim else a for a in given]
    state, consts = given[:carried], given[carried:]
    stacks = [_Stack(r.type, int(count), device) for r in collected]
    inner = plan.block.results[carried:]
    for k in range(int(count)):
        into: dict[Any, Any] = {}
        for r, stack in zip(inner, stacks, strict=True):
            stack.offer(r, k, into)
        results = _run_steps(plan, [k, *state, *consts], device, into)
        state = results[:carried]
        for y, stack in zip(results[carried:], stacks, strict=True):
            stack.take(k, y)
    values.update(zip(node.outs, [*state, *[stack.array() for stack in stacks]], strict=True))


class _Stack:
    """All values of one kind that a loop collects: on the device, but for Python's integers."""

    def __init__(self, type: Any, count: int, device: Any):
        self._type, self._device = type, device
        is_number = is_count(type)
        self._numbers: list[Any] | None = [] if is_number else None
        self._array = None if is_number else device.empty((count, *type.shape), type.dtype)
        self._offered: Any = None

    def offer(self, r: Any, k: int, into: dict[Any, Any]) -> None:
        """Say where iteration k may make a value."""
        self._offered = None
        if self._array is not None and r not in into:
            self._offered = into[r] = self._array[k]

    def take(self, k: int, y: Any) -> None:
        if self._numbers is not None:
            self._numbers.append(y)
        elif y is not self._offered:
            self._device.store(self._array[k], y)  # type: ignore[index]

    def array(self) -> Any:
        return self._array if self._numbers is None else stacked_values(self._numbers, self._type)
