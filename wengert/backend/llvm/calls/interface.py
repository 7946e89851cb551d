"""What Python must know of a compiled kernel to call it, and that as plain data."""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.backend.llvm.cache.plain import type_as_plain, type_from_plain
from wengert.backend.llvm.calls.faults import Fault
from wengert.ir.node import Dyn, Source, Type


class Interface(NamedTuple):
    """Types of inputs and outputs, what can go wrong, how each op was compiled, and whether there is a quick entry."""

    inputs: list[Type]
    outputs: list[Type]
    faults: list[Fault]
    report: list[tuple[str, str]]
    has_entry: bool


def dynamic_axes(type: Type) -> list[int]:
    """The axes whose lengths are known only at run time."""
    return [k for k, n in enumerate(type.shape) if isinstance(n, Dyn)]


def as_data(interface: Interface) -> dict[str, Any]:
    """An interface in lists, texts and numbers, as JSON has them."""
    return {
        "inputs": [type_as_plain(t) for t in interface.inputs],
        "outputs": [type_as_plain(t) for t in interface.outputs],
        "faults": [[f.kind, f.message, list(f.source) if f.source else None] for f in interface.faults],
        "report": [list(line) for line in interface.report],
        "has_entry": interface.has_entry,
    }


def from_data(data: dict[str, Any]) -> Interface:
    """The interface that `as_data` was given."""
    return Interface(
        [type_from_plain(t) for t in data["inputs"]],
        [type_from_plain(t) for t in data["outputs"]],
        [Fault(kind, message, Source(*source) if source else None) for kind, message, source in data["faults"]],
        [(name, how) for name, how in data["report"]],
        data["has_entry"],
    )
