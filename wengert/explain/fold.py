"""Large graphs, folded: operations of one source line, or of one function, become one node.

A line in a loop is run many times; folded, it is one node with a count, and what one iteration hands to the next is an
edge that leads back. Such edges are told apart (`back`), so that the rest is a graph without cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wengert.explain.place import CallSite
from wengert.explain.recording import Listing, RecordedStep, Variable

READABLE = 45
"""So many nodes can be taken in at once; larger graphs are folded."""
_MOST_INPUTS = 16
LEVELS = ("none", "line", "function")


@dataclass(eq=False, slots=True)
class GraphNode:
    """One node of the picture: inputs or steps, and where they come from."""

    kind: str  # "input", "step" or "group"
    variables: list[Variable] = field(default_factory=list)
    steps: list[RecordedStep] = field(default_factory=list)
    place: CallSite | None = None
    title: str = ""
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependence; `back` leads to what comes earlier in the picture, `count` says how many there are."""

    source: int
    target: int
    count: int = 1
    back: bool = False


@dataclass(slots=True)
class Folded:
    """The nodes and edges to be drawn, and which node each variable is in."""

    level: str
    nodes: list[GraphNode]
    edges: list[Edge]
    node_of: dict[Variable, int]


def fold(listing: Listing, level: str | None = None) -> Folded:
    """Fold as told, or as little as leaves the graph readable."""
    if level is None:
        level = next((name for name in LEVELS if _count(listing, _KEYS[name]) <= READABLE), LEVELS[-1])
    if level not in _KEYS:
        raise ValueError(f"fold={level!r}: it is one of {', '.join(LEVELS)}")
    return _folded(listing, level, _KEYS[level])


def _by_line(step: RecordedStep) -> Hashable:
    p = step.place
    return id(step) if p is None else (p.file, p.line, p.function)


def _by_function(step: RecordedStep) -> Hashable:
    p = step.place
    return "library" if p is None else (p.file, p.span[0], p.function)


_KEYS: dict[str, Callable[[RecordedStep], Hashable]] = {
    "none": id,
    "line": _by_line,
    "function": _by_function,
}


def _count(listing: Listing, key: Callable[[RecordedStep], Hashable]) -> int:
    return len({key(step) for step in listing.steps})


def _folded(listing: Listing, level: str, key: Callable[[RecordedStep], Hashable]) -> Folded:
    nodes: list[GraphNode] = []
    node_of: dict[Variable, int] = {}
    if level != "none" and len(listing.inputs) > _MOST_INPUTS:
        nodes.append(GraphNode("input", list(listing.inputs), title=f"{len(listing.inputs)} inputs"))
        node_of.update(dict.fromkeys(listing.inputs, 0))
    else:
        for v in listing.inputs:
            node_of[v] = len(nodes)
            nodes.append(GraphNode("input", [v]))
    groups: dict[Any, int] = {}
    for step in listing.steps:
        k = groups.setdefault(key(step), len(nodes))
        if k == len(nodes):
            nodes.append(GraphNode("step", place=step.place))
        nodes[k].steps.append(step)
        nodes[k].variables.extend(step.results)
        node_of.update(dict.fromkeys(step.results, k))
    for node in nodes:
        if len(node.steps) > 1:
            node.kind = "group"
            node.title = _title(node, level)
    return Folded(level, nodes, _edges(listing.steps, nodes, node_of), node_of)


def _title(node: GraphNode, level: str) -> str:
    if node.place is None:
        return "library code"
    if level == "function":
        return f"{node.place.function}()"
    return node.place.text or f"line {node.place.line}"


def _edges(steps: Sequence[RecordedStep], nodes: list[GraphNode], node_of: dict[Variable, int]) -> list[Edge]:
    counts: dict[tuple[int, int], int] = {}
    for step in steps:
        target = node_of[step.results[0]] if step.results else None
        for operand in step.operands:
            if target is None or not isinstance(operand, Variable):
                continue
            source = node_of[operand]
            if source == target:
                nodes[target].repeats = nodes[target].repeats or _is_repeated(operand, step)
            else:
                counts[source, target] = counts.get((source, target), 0) + 1
    return [Edge(u, v, n, back=u > v) for (u, v), n in counts.items()]


def _is_repeated(operand: Variable, step: RecordedStep) -> bool:
    """Whether one iteration of a loop uses what the iteration before computed on the same line."""
    return operand.step is not None and step.place is not None and step.place.loops > 0
