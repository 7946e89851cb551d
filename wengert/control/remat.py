"""Residuals that are cheaper to compute again than to keep.

A residual of a loop body is computed again in the backward loop if that takes only cheap operations on what is there
anyway: the counter, constants of the loop and parts of them, and other residuals, which are kept. So the indices of
a nest of loops, and the elements of arrays that no loop writes to, are never stored. An array that a loop further out
writes to has to be stored itself, in each of its iterations; that is done if it is not larger than all the elements
that are read of it (`is_worth_keeping`). Nor are elements of arrays that are written to,
where they are found in the finished array: a `reread` (`stable_reads.py`) is read there. What is computed twice is kept
once. Operations that the body itself does not need, but only its derivative, cost nothing: they are done once anyway,
and need not be done in the first loop then. Where many arrays can be computed from the state that an iteration begins
with, as the fluxes, slopes and limiters of a scheme on a grid can, the state is kept and not these.

An array that has another length in each iteration would be kept with room for the longest, which may be as much as
there is in all iterations together: the rows of a sparse matrix, `v[p[i] : p[i + 1]] @ x[j[p[i] : p[i + 1]]]`. So parts
of arrays that are there are taken again, and what is computed from these element by element, or moved, at more cost
than else. Where it comes from one that is kept all the same, as `a[:k][::-1]` comes from `a[:k]`, this one is taken
with its length, which has to be there first: `lengths` computes those that are not kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from wengert.control.stable_reads import read_at_end, reread
from wengert.ir.analysis.keys import BlockNumbers, node_key
from wengert.ir.node import Block, Const, Node, Operand, Var
from wengert.ops.traits import Cost, rearranges

_MOST = 8
"""So many operations are cheaper than a store and a load."""
_MORE = 2
"""So many are cheaper in any case, however many there are that are done for another variable anyway."""
_MOST_OF_ARRAYS = 6
"""So many, if they are done for all elements of an array: they become part of the loop that uses the result."""
_MOST_FROM_STATES = 64
"""So many, if it is computed from what the iteration begins with, which is kept instead of `_FEWEST` arrays or more."""
_FEWEST, _PAYS = 3, 4
"""For each array that need not be kept then, so many operations are done again."""
_MOST_OF_VARYING = 64
"""So many, if the array has another length in each iteration."""


def is_worth_keeping(x: Var, nodes: Sequence[Node], iterations: int | None) -> bool:
    """Whether to keep a whole array, invariant in a loop of so many iterations, rather than what it reads of it."""
    if not x.type.shape or not x.type.is_static or iterations is None:
        return False
    reads = sum(
        [_size(node.outs[0]) for node in nodes if node.op.name == "index" and _is_part(node) and node.args[0] is x]
    )
    return 2 * _size(x) <= 3 * reads * iterations


def _size(x: Var) -> int:
    """The number of elements of an array, or none if it varies."""
    return math.prod([n for n in x.type.shape if isinstance(n, int)]) if x.type.is_static else 0


class Recomputed(NamedTuple):
    """What is computed again in the backward loop."""

    block: Block
    """Its parameters are all that is available, and what is taken."""
    chosen: list[Var]
    """What it computes."""
    taken: list[Var]
    """What it takes, besides what is available: variables that are kept."""
    integers: list[Var]
    """Those of `chosen` among which are the lengths of what is taken; none if no length varies."""
    lengths: Block
    """Computes these, from what is available and from what is taken and does not vary."""


def recomputed(
    variables: Sequence[Var],
    nodes: Sequence[Node],
    available: Sequence[Var],
    iterations: int | None = None,
    results: Sequence[Operand] | None = None,
    states: Sequence[Var] = (),
    takes_varying: bool = False,
) -> Recomputed:
    """How to compute those of the variables that are cheap, from what is available and from the others.

    `iterations` is the largest number of iterations of the loop, if it is known; `results` are what the body makes,
    where all else that is computed is for its derivative. `states` are arrays that an iteration begins with: where much
    can be computed from these, they are kept instead. With `takes_varying`, arrays that vary in length may be taken.
    """
    once = set() if results is None else _done_once(nodes, results)
    search = _Search(variables, nodes, available, iterations, once, takes_varying)
    plain = search.choice((), _MOST_OF_ARRAYS)
    if not states or sum(bool(v.type.shape) for v in plain.kept) < _FEWEST:
        return plain.found
    other = search.choice([v for v in states if v not in available], _MOST_FROM_STATES)
    fewer = sum(bool(v.type.shape) for v in plain.kept) - sum(bool(v.type.shape) for v in other.kept)
    is_less = 2 * sum(map(_bytes, other.kept)) <= sum(map(_bytes, plain.kept))
    return other.found if is_less and other.work - plain.work <= _PAYS * fewer else plain.found


class _Choice(NamedTuple):
    found: Recomputed
    kept: list[Var]
    work: int
    """What is computed twice, in additions for each element."""


class _Search:
    """What all choices have in common."""

    def __init__(self, variables: Sequence[Var], nodes: Sequence[Node], available: Sequence[Var],
                 iterations: int | None, once: set[int], takes_varying: bool):  # fmt: skip
        position = {out: i for i, node in enumerate(nodes) for out in node.outs}
        self.variables = sorted(variables, key=lambda v: position.get(v, -1))
        self.available, self.once, self.takes_varying = list(available), once, takes_varying
        self.readable = {x for x in available if x.stable or is_worth_keeping(x, nodes, iterations)}
        self.same = _same(nodes)
        same: dict[Operand, Operand] = dict(self.same.items())
        self.made = {out: node for node in nodes for out in node.outs}
        for out, node in list(self.made.items()):
            args, sizes = tuple([same.get(a, a) for a in node.args]), tuple([same.get(a, a) for a in node.sizes])
            if len(node.outs) == 1 and node.op is not reread and (args, sizes) != (node.args, node.sizes):
                self.made[out] = Node(node.op, args, node.params, node.outs, sizes, node.source)
                if id(node) in once:
                    once.add(id(self.made[out]))
        for node in nodes:
            stored = node.args[0] if node.op is reread else None
            if stored in self.made and self.made[stored].op is not reread:  # it can be read where it lies
                self.made[stored] = Node(reread, node.args, node.params, (stored,), node.sizes, node.source)

    def choice(self, states: Sequence[Var], most: int) -> _Choice:
        """Which variables are computed again, where states are kept if they are of use."""
        same, given = self.same, {*self.available, *states}
        chosen: list[Var] = []
        taken: list[Var] = []
        needed: dict[int, Node] = {}
        for var in self.variables:
            if var in given:
                continue
            first = same.get(var, var)
            if first is not var and (first in given or first in chosen):
                chosen.append(var)
                continue
            used = self.needed(var, given, needed, most)
            if used is not None:
                chosen.append(var)
                needed.update(used)
            elif (self.takes_varying or var.type.is_static) and var.type.dtype.kind in "fcb":
                given.add(var)
                taken.append(var)
        for var in self.variables:  # integers on the way to others, which are computed again by now
            if var not in given and var not in chosen and not var.type.shape:
                used = self.needed(var, given, needed, most)
                if used is not None:
                    chosen.append(var)
                    needed.update(used)
        work = sum(_work(node) for key, node in needed.items() if key not in self.once)
        return self._with(chosen, taken, given, states, work)

    def _with(self, chosen: list[Var], taken: list[Var], given: set[Var], states: Sequence[Var], work: int) -> _Choice:
        """The blocks that compute these variables again, of others that are kept for that."""
        same = self.same
        ys = [same.get(v, v) if same.get(v, v) in given or same.get(v, v) in chosen else v for v in chosen]
        again = _ordered(ys, self.made, given)
        read = {a for node in again for a in (*node.args, *node.sizes)}.union(ys)
        taken = [*[v for v in states if v in read or v in self.variables], *taken]
        left = {*self.available, *chosen, *taken}
        kept = [*taken, *[v for v in self.variables if v not in left]]
        fixed = [v for v in taken if v.type.is_static]
        integers = {} if len(fixed) == len(taken) else {v: y for v, y in zip(chosen, ys, strict=True) if _is_integer(v)}
        before = _ordered(list(integers.values()), self.made, {*self.available, *fixed})
        lengths = Block([*self.available, *fixed], before, list(integers.values()))
        found = Recomputed(Block([*self.available, *taken], again, list(ys)), chosen, taken, list(integers), lengths)
        return _Choice(found, kept, work)

    def needed(self, var: Var, given: set[Var], done: dict[int, Node], most_of_arrays: int) -> dict[int, Node] | None:
        """The nodes that compute a variable from what is given, if they are cheap and few. `done` are done anyway."""
        nodes: dict[int, Node] = {}
        cost = extra = 0
        varies = not var.type.is_static
        most = _MOST_OF_VARYING if varies else most_of_arrays if var.type.shape else _MOST
        stack: list[Any] = [var]
        while stack:
            x = stack.pop()
            if x.__class__ is Const:
                continue
            if x in given:
                if not x.type.is_static:
                    if not varies:
                        return None  # this may be its length, which has to be known before
                    most = most_of_arrays  # there is room for it anyway
                continue
            node = self.made.get(x)
            if node is None or not self.is_cheap(node, var, given):
                return None
            if id(node) not in nodes:
                nodes[id(node)] = node
                work = 0 if id(node) in self.once else _work(node) if var.type.shape else max(node.op.cost, 1)
                cost += work
                extra += 0 if id(node) in done else work
                if cost > most and extra > _MORE:
                    return None
                stack.extend(_operands(node))
        return None if cost > most and extra > _MORE else nodes

    def is_cheap(self, node: Node, var: Var, given: set[Var]) -> bool:
        """Whether a node on the way to a variable may be done again."""
        if node.op is reread:
            return True
        varies = not var.type.is_static
        if len(node.outs) != 1 or not (varies or node.outs[0].type.is_static):
            return False
        name, x = node.op.name, node.args[0] if node.args else None
        if name == "index":  # a part of an array that is there; for what varies in length, any elements of it
            if varies:
                return True
            if not _is_part(node) or not isinstance(x, Var):
                return False
            # Of an array that has to be computed first, or kept, more than half.
            is_most = bool(var.type.shape) and 2 * _size(node.outs[0]) > _size(x)
            return x in self.readable or (is_most and x not in self.available)
        if name == "size":
            return varies or x in given
        if varies and rearranges(node.op):
            return True
        most = Cost.DEAR if varies else Cost.MODERATE
        return node.op.elementwise and (id(node) in self.once or node.op.cost <= most)


def _work(node: Node) -> int:
    """Additions for each element of an array. Parts are only named, and integers computed once for all elements."""
    return 0 if _is_part(node) or not node.outs[0].type.shape else max(node.op.cost, 1)


def _is_integer(x: Var) -> bool:
    return not x.type.shape and x.type.dtype.kind in "iu"


def _bytes(x: Var) -> int:
    return _size(x) * x.type.dtype.itemsize


def _done_once(nodes: Sequence[Node], results: Sequence[Operand]) -> set[int]:
    """The nodes that no result needs."""
    wanted: set[Operand] = set(results)
    found: set[int] = set()
    for node in reversed(nodes):
        if wanted.isdisjoint(node.outs) and not node.op.effect:
            found.add(id(node))
        else:
            wanted.update(node.args, node.sizes)
    return found


def _same(nodes: Sequence[Node]) -> dict[Var, Var]:
    """For variables that are computed from the same operands in the same way, the first of them."""
    found: dict[Var, Var] = {}
    table: dict[Any, Var] = {}
    numbers = BlockNumbers()
    for node in nodes:
        if len(node.outs) != 1 or not node.op.pure or node.op.effect or node.op is reread:
            continue
        first = table.setdefault(node_key(node, numbers, lambda v: id(found.get(v, v))), node.outs[0])
        if first is not node.outs[0]:
            found[node.outs[0]] = first
    return found


def _ordered(results: Sequence[Var], made: dict[Var, Node], given: set[Var]) -> list[Node]:
    """The nodes that compute variables from what is given, each after those it needs."""
    nodes: list[Node] = []
    done = set(given)
    stack: list[tuple[Var, bool]] = [(v, False) for v in reversed(results)]
    while stack:
        var, is_ready = stack.pop()
        if var in done:
            continue
        node = made[var]
        if is_ready:
            done.update(node.outs)
            nodes.append(read_at_end(node) if node.op is reread else node)
            continue
        stack.append((var, True))
        stack.extend([(a, False) for a in _operands(node) if isinstance(a, Var)])
    return nodes


def _operands(node: Node) -> tuple:
    """What a node needs in the backward loop."""
    return (*(node.args[1:] if node.op is reread else node.args), *node.sizes)


def _is_part(node: Node) -> bool:
    """Whether a node names a part of an array, with slices and integers only: that is no work."""
    places = node.args[2:] if node.op is reread else node.args[1:]
    return (node.op is reread or node.op.name == "index") and all(
        not a.type.shape and a.type.dtype.kind in "iu" for a in places
    )
