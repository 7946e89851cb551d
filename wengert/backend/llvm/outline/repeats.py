"""Runs of nodes that occur several times in a block, as they do where a loop was unrolled; pieces of a long block.

Nodes are compared by op, parameters and types, not by what they read. Those that differ from one iteration to the next
(the row of an array with a number of its own) are rare; between them lie the words that are looked for.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from wengert.backend.plan.memory import BlockPlan
from wengert.ir.analysis.keys import data_key
from wengert.ir.node import Const, Node

SHORTEST, FEWEST = 8, 3
"""A word has at least so many nodes and occurs so often."""
LONGEST = 400
LONG = 2000
"""Blocks with more nodes than this are cut into pieces, words or not: LLVM's time for straight-line code grows with the
square of its length."""

_RARE = (3, 6, 12, 24)
"""Nodes that occur less often than one of these end a word: that which saves most."""


def repeats(plan: BlockPlan) -> dict[int, int]:
    """Where runs that are functions of their own begin and end, by the numbers of their nodes."""
    if len(plan.block.nodes) < SHORTEST * FEWEST:
        return {}
    known: dict[Any, int] = {None: 0}
    kinds = [known.setdefault(_kind(plan, i, node), len(known)) for i, node in enumerate(plan.block.nodes)]
    count = Counter(kinds)
    count[0] = 0
    best: dict[int, int] = {}
    for rare in _RARE:
        found = _words(kinds, count, rare)
        if sum(end - start for start, end in found.items()) > sum(end - start for start, end in best.items()):
            best = found
    return best if len(kinds) <= LONG else {**best, **_pieces(kinds, best)}


def _pieces(kinds: list[int], words: dict[int, int]) -> dict[int, int]:
    """What lies between words and may be written apart, in pieces."""
    found: dict[int, int] = {}
    start = i = 0
    while i <= len(kinds):
        ends = i == len(kinds) or kinds[i] == 0 or i in words
        if ends or i - start >= LONGEST:
            if i - start >= SHORTEST:
                found[start] = i
            start = i = words.get(i, i + 1) if ends else i
            continue
        i += 1
    return found


def _words(kinds: list[int], count: Counter[int], rare: int) -> dict[int, int]:
    spans: list[tuple[int, int]] = []
    start = 0
    for i, kind in enumerate([*kinds, 0]):
        if count[kind] < rare or i - start >= LONGEST:
            if i - start >= SHORTEST:
                spans.append((start, i))
            start = i + 1
    words = {span: tuple(kinds[span[0] : span[1]]) for span in spans}
    often = Counter(words.values())
    return {start: end for (start, end), word in words.items() if often[word] >= FEWEST}


def _kind(plan: BlockPlan, i: int, node: Node) -> Any:
    """What nodes have in common that may be the same node of a word; None for those that are in no word."""
    if not is_plain(node):
        return None
    operands = tuple([_operand_kind(a) for a in node.args])
    outs = tuple([(v.type, plan.kinds[v]) for v in node.outs])
    return node.op.name, data_key(node.params), operands, outs, i in plan.in_place


def _operand_kind(a: Any) -> Any:
    return (a.type, data_key(a.value)) if isinstance(a, Const) and not a.type.ndim else a.type


def is_plain(node: Node) -> bool:
    """Whether a node is known throughout when code is written, and may be written twice."""
    if node.blocks or not node.outs or node.sizes:
        return False
    if node.op.name == "index" and len(node.args) > 1:
        return False  # it is checked where it stands
    return all(v.type.is_static for v in (*node.args, *node.outs))
