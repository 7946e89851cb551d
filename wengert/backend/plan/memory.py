"""Where values live, and what may be overwritten: decided before any code is written.

Every array value of a block is one of

    LAZY   not in memory: computed, element by element, by whoever reads it (there is one reader, which reads each
           element once; or computing costs nothing, as for `iota`)
    VIEW   the elements of another value under other indices
    MADE   in memory, in a `Slot` of its own or, written in place, in the slot of an operand that nobody reads again

A MADE value is a *version* of its slot. `reads[v]` says which versions are read when v is; LAZY and VIEW values pass on
what they read to their reader. So `last[x]`, the last node that reads version x, counts the readers of everything
that is computed from x later than it seems.

**The rule of writing in place.** A node i may write into the slot of version x if x is owned (made here, or given to
this block by the one around it), no node after i reads x, and node i itself reads x only at the very element it
writes. Since the version before x was held to the same rule when x took its slot, the rule needs to look at x only.

Where x is read later only by way of LAZY or VIEW values (`row = a[i]; a[i] = a[j]; a[j] = row`), these are MADE
instead when that costs less than copying x. Decisions are repeated until nothing changes; the set of values that are
made only grows.

Blocks inside (loops, conditions) are planned with the knowledge which of their parameters are theirs to overwrite:
an operand is given away if the rule holds for the node as a whole. A carried array of a loop has one slot.
"""

from __future__ import annotations

import bisect
import enum
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from wengert.backend.plan import access
from wengert.backend.plan.inline import inline_calls
from wengert.backend.plan.lower import lowered
from wengert.ir.analysis.regions import region_of
from wengert.ir.analysis.uses import makers_of, readers_of, uses_of
from wengert.ir.loops import LOOPS, loop_parts
from wengert.ir.node import Block, Const, Node, Operand, Type, Var
from wengert.ops.traits import Cost


class Kind(enum.Enum):
    SCALAR = "scalar"
    LAZY = "lazy"
    VIEW = "view"
    MADE = "made"
    GIVEN = "given"  # an array parameter that belongs to somebody else


Path = tuple | None
"""How a version is read: WHOLE, element by element; a `Region`, element by element; or None, in some other way."""
WHOLE: Path = ("whole",)

Reads = dict[Var, Path]

FEW = 3
"""So many operations are cheaper than a store and several loads."""
LARGE = 1 << 15
"""Arrays of so many bytes do not stay in the cache next to the processor."""

PAGE = 4096
STAGGER = 1344
"""Large arrays that follow each other begin at so many bytes more, seen within a page."""

DEEPEST = 40
"""Expressions that are computed while they are read have at most so many ops inside each other."""


@dataclass(eq=False)
class Slot:
    """Memory for one array at a time. `first` and `last` are positions in the whole program."""

    type: Type
    first: int = 0
    last: int = 0
    output: int | None = None
    offset: int | None = None  # in the arena
    on_stack: bool = False
    within: tuple[Slot, int] | None = None  # it is a part of another, from a byte on
    has_parts: bool = False  # others are parts of it
    epoch: int = 0  # counts writes, while code is written: a check of the plan

    @property
    def nbytes(self) -> int | None:
        return access.byte_bound(self.type)


@dataclass(eq=False)
class BlockPlan:
    """What was decided for one block."""

    block: Block
    owned: dict[Var, Slot]
    contiguous: frozenset[Var]  # parameters that are known to lie in memory in C order, whoever owns them
    results_are_made: bool  # where they stand, rather than at the end
    kinds: dict[Var, Kind] = field(default_factory=dict)
    reads: dict[Var, Reads] = field(default_factory=dict)
    storage: dict[Var, Var] = field(default_factory=dict)
    """The version of which a value has all elements, in the same order, if there is one."""
    last: dict[Var, int] = field(default_factory=dict)
    slots: dict[Var, Slot] = field(default_factory=dict)
    in_place: set[int] = field(default_factory=set)  # of nodes, by number
    taken: dict[tuple[int, int], Var] = field(default_factory=dict)  # (node, operand) given away -> version
    inner: dict[tuple[int, str], BlockPlan] = field(default_factory=dict)
    positions: list[tuple[int, int]] = field(default_factory=list)
    start: int = 0
    end: int = 0

    @functools.cached_property
    def makers(self) -> dict[Var, Node]:
        """The node that makes each value."""
        return {v: node for node in self.block.nodes for v in node.outs}

    def alias(self, operand: Operand) -> Var | None:
        """The version whose elements a value has, all of them and as they are; if there is one."""
        if isinstance(operand, Const):
            return None
        if self.kinds[operand] in (Kind.MADE, Kind.GIVEN):
            return operand
        if self.kinds[operand] is Kind.VIEW:
            reads = self.reads[operand]
            if len(reads) == 1:
                ((version, path),) = reads.items()
                if path == WHOLE and version.type.shape == operand.type.shape:
                    return version
        return None


def plan_program(block: Block, native: Callable[[Node], bool]) -> tuple[BlockPlan, list[Slot]]:
    """The plan of a program and all its slots. `native(node)` tells whether an elementwise op has native code."""
    plan = _plan_block(block, {}, frozenset(block.params), native, results_are_made=True)
    counter = itertools.count()
    _number(plan, counter)
    slots: dict[int, Slot] = {}
    _lifetimes(plan, slots)
    claimed: set[int] = set()
    for k, result in enumerate(plan.block.results):
        version = plan.storage.get(result) if isinstance(result, Var) else None
        if version is None or not result.type.is_static:
            continue
        slot = plan.slots[version]
        if slot.output is None and slot.within is None and id(slot) not in claimed:
            slot.output = k
            claimed.add(id(slot))
    return plan, list(slots.values())


# ------------------------------------------------------------------------------------------------- one block


def _plan_block(
    block: Block,
    owned: dict[Var, Slot],
    contiguous: frozenset[Var],
    native: Callable[[Node], bool],
    results_are_made: bool = False,
) -> BlockPlan:
    block = lowered(inline_calls(block))
    forced: set[Var] = set()
    while True:
        plan = BlockPlan(block, owned, contiguous, results_are_made)
        _classify(plan, forced, native)
        _last_reads(plan)
        more = _place_writers(plan)
        if not more:
            break
        forced |= more
    _give_away(plan)
    _assign_slots(plan, native)
    _join_pieces(plan)
    return plan


def _operands(node: Node) -> tuple[Operand, ...]:
    return node.args + node.sizes


def _classify(plan: BlockPlan, forced: set[Var], native: Callable[[Node], bool]) -> None:
    block, kinds, reads = plan.block, plan.kinds, plan.reads
    uses = uses_of(block.nodes, block.results)
    readers = readers_of(block.nodes, ())
    results = {r for r in block.results if isinstance(r, Var)} if plan.results_are_made else set()
    depth: dict[Var, int] = {}
    again: dict[Var, tuple[int, Var | None]] = {}
    for p in block.params:
        kinds[p] = Kind.SCALAR if p.type.ndim == 0 else Kind.MADE if p in plan.owned else Kind.GIVEN
        reads[p] = {p: WHOLE} if p.type.ndim else {}
    for node in block.nodes:
        passed_on = merged_reads(plan, node)
        for v in node.outs:
            if v.type.ndim == 0:
                kinds[v], reads[v] = Kind.SCALAR, {}
                continue
            kind = _kind(plan, node, native)
            if kind is Kind.LAZY and not _is_free(plan, node):
                known_readers = [(block.nodes[i], k) for i, k in readers.get(v, ())]
                is_cheap = _is_cheap(plan, node, again) and (_is_large(v) or not _is_written_to(known_readers))
                is_read_often = uses[v] > 1 and (uses[v] > len(known_readers) or not is_cheap)
                is_result = v in results and v.type.is_static
                if is_read_often or is_result or not all(_may_compute(reader, native) for reader in known_readers):
                    kind = Kind.MADE
            depth[v] = 1 + max((depth.get(a, 0) for a in node.args if isinstance(a, Var)), default=0)
            if v in forced or (kind is Kind.LAZY and depth[v] > DEEPEST):
                kind = Kind.MADE
            if kind is not Kind.LAZY:
                depth[v] = 0
                again.pop(v, None)
            kinds[v] = kind
            reads[v] = {v: WHOLE} if kind is Kind.MADE else passed_on
            _note_storage(plan, node, v)


def _note_storage(plan: BlockPlan, node: Node, v: Var) -> None:
    """Note which version has all elements of a value, in their order."""
    if plan.kinds[v] is Kind.MADE:
        plan.storage[v] = v
    elif plan.kinds[v] is Kind.VIEW and (node.op.name == "reshape" or access.is_identity(node)):
        x = node.args[0]
        if isinstance(x, Var) and x in plan.storage:
            plan.storage[v] = plan.storage[x]


def _is_cheap(plan: BlockPlan, node: Node, again: dict[Var, tuple[int, Var | None]]) -> bool:
    """Whether an array is had more quickly by computing it again, from one in memory, than by reading it.

    That saves the pass that would write it. `again` says for arrays how many operations that takes, and from which.
    """
    (out,) = node.outs
    if not node.op.elementwise or node.op.cost > Cost.CHEAP or out.type.dtype.kind != "f" or not out.type.is_static:
        return False
    operations, sources = 1, set()
    for a in node.args:
        if a.type.ndim and a.type.shape != out.type.shape:
            return False
        if isinstance(a, Const) or plan.kinds[a] is Kind.SCALAR or not plan.reads[a]:
            continue  # a number, or one that is repeated
        if a.type.dtype != out.type.dtype:
            return False
        if a in again:
            operations += again[a][0]
            sources.add(again[a][1])
        else:
            sources.add(a if plan.kinds[a] is Kind.VIEW else plan.alias(a))
    if len(sources) != 1 or None in sources or operations > (FEW if _is_large(out) else 1):
        return False
    again[out] = operations, sources.pop()
    return True


def _is_written_to(readers: Sequence[tuple[Node, int]]) -> bool:
    """Whether one of the readers goes on with an array as its own: it lies in memory then, for the others as well."""
    return any(k == 0 and node.op.writes for node, k in readers)


def _is_large(v: Var) -> bool:
    return (_bound(v) or 0) >= LARGE


def _may_compute(reader: tuple[Node, int], native: Callable[[Node], bool]) -> bool:
    node, k = reader
    if access.is_elementwise(node) and not native(node):
        return False
    return access.reads_each_once(node, k)


def _kind(plan: BlockPlan, node: Node, native: Callable[[Node], bool]) -> Kind:
    """What the result of a node can be at best."""
    name = node.op.name
    if name == "iota":
        return Kind.LAZY
    if access.is_view(node):
        x = node.args[0]
        if name == "reshape" and not _reshape_is_free(plan, node):
            return Kind.MADE
        if isinstance(x, Const):
            return Kind.VIEW if x.type.ndim else Kind.LAZY
        of = plan.kinds[x]
        return Kind.LAZY if of in (Kind.LAZY, Kind.SCALAR) else Kind.VIEW
    if access.is_elementwise(node) and native(node):
        return Kind.LAZY
    if name == "index" and native(node):
        return Kind.LAZY
    return Kind.MADE


def _reshape_is_free(plan: BlockPlan, node: Node) -> bool:
    x, out = node.args[0], node.outs[0]
    if x.type.ndim == 0 or not (x.type.is_static and out.type.is_static):
        return False
    if access.without_ones(x.type.shape) == access.without_ones(out.type.shape):
        return True
    return _is_contiguous(plan, x)


def _is_contiguous(plan: BlockPlan, x: Operand) -> bool:
    """Whether a value is known to lie in memory in C order."""
    if isinstance(x, Const):
        return x.type.ndim > 0
    version = plan.alias(x)
    return version is not None and (plan.kinds[version] is Kind.MADE or version in plan.contiguous)


def _is_free(plan: BlockPlan, node: Node) -> bool:
    """Whether computing an element of a LAZY result costs nothing, so that it may be done again and again."""
    if node.op.name == "iota":
        return True
    if not access.is_view(node):
        return False
    x = node.args[0]
    return isinstance(x, Const) or plan.kinds[x] is Kind.SCALAR


def _path(node: Node) -> Path:
    """How a node reads or writes its first operand, by an index without arrays of them."""
    region = region_of(node)
    return WHOLE if region.is_whole else region


def merged_reads(plan: BlockPlan, node: Node) -> Reads:
    """What is read when the result of a node is computed while it is read."""
    merged: Reads = {}
    out = node.outs[0].type if node.outs else None
    pointwise = access.is_elementwise(node) or access.is_identity(node)
    for a in _operands(node):
        if isinstance(a, Const):
            continue
        for version, path in plan.reads[a].items():
            if pointwise:
                path = path if out is not None and a.type.shape == out.shape and out.is_static else None
            elif path == WHOLE and node.op.name == "index" and a is node.args[0] and access.is_basic_index(node):
                path = _path(node)
            else:
                path = None
            merged[version] = path if merged.get(version, path) == path else None
    return merged


def _last_reads(plan: BlockPlan) -> None:
    """The last node that reads each version; the number of nodes stands for the results."""
    last = plan.last
    for i, node in enumerate(plan.block.nodes):
        if node.outs and all(plan.kinds[v] in (Kind.LAZY, Kind.VIEW) for v in node.outs):
            continue
        for a in _operands(node):
            for version in plan.reads[a] if isinstance(a, Var) else ():
                last[version] = i
    for r in plan.block.results:
        for version in plan.reads[r] if isinstance(r, Var) else ():
            last[version] = len(plan.block.nodes)


def _place_writers(plan: BlockPlan) -> set[Var]:
    """Decide which stores write in place. Returns values that should be made, so that more of them can."""
    forced: set[Var] = set()
    defined_at = {v: i for i, node in enumerate(plan.block.nodes) for v in node.outs}
    makers = makers_of(plan.block.nodes)
    readers = readers_of(plan.block.nodes, plan.block.results)
    by_version: dict[Var, list[Var]] = {}
    for w, read in plan.reads.items():
        if plan.kinds[w] in (Kind.LAZY, Kind.VIEW):
            for version_read in read:
                by_version.setdefault(version_read, []).append(w)
    for i, node in enumerate(plan.block.nodes):
        if node.op.name in LOOPS:
            forced.update(_parts_of_carried(plan, i, node))
        if not node.op.writes:
            continue
        x, *values = node.args
        values, arrays = (values, []) if node.op.name == "add_parts" else (values[:1], values[1:])
        version = plan.alias(x)
        if version is None or not _may_be_written(plan, version, node, arrays):
            continue
        reading = [v for v in values if isinstance(v, Var) and version in plan.reads[v]]
        if reading and not (node.op.name == "store" and _reads_what_it_writes(plan, node, version)):
            forced.update(_aside(plan, version, reading, makers))
            continue
        if plan.last.get(version, -1) <= i:
            plan.in_place.add(i)
            continue
        late = [
            w for w in by_version.get(version, ())
            if defined_at[w] < i and plan.alias(w) is None and any(r > i for r, _ in readers.get(w, ()))
        ]  # fmt: skip
        whole = [version, *[w for w in by_version.get(version, ()) if plan.alias(w) is version]]
        if any(r > i for w in whole for r, _ in readers.get(w, ())) or _cost(late) > (_bound(version) or 0):
            continue  # a copy it is
        forced.update(late)
    return forced


def _may_be_written(plan: BlockPlan, version: Var, node: Node, indices: Sequence[Operand]) -> bool:
    """Whether a write may go into a version, unless its value, or somebody later, reads that."""
    if not _is_owned(plan, version) or version.type != node.outs[0].type:
        return False
    return not any(isinstance(a, Var) and version in plan.reads[a] for a in (*indices, *node.sizes))


def _parts_of_carried(plan: BlockPlan, i: int, node: Node) -> list[Var]:
    """Operands of a loop that read parts of an array that it carries too: made, the array itself is not copied."""
    parts = loop_parts(node)
    found: list[Var] = []
    for k in range(parts.first, parts.first + parts.carried):
        version = plan.alias(node.args[k]) if node.args[k].type.ndim else None
        if version is None or not _is_owned(plan, version) or plan.last.get(version, -1) > i:
            continue
        others = [a for j, a in enumerate(node.args) if j != k and isinstance(a, Var) and version in plan.reads[a]]
        lazy = [a for a in others if plan.kinds[a] in (Kind.LAZY, Kind.VIEW) and plan.alias(a) is None]
        if len(lazy) == len(others) and _cost(lazy) <= (_bound(version) or 0):
            found += lazy
    return found


def _aside(plan: BlockPlan, version: Var, reading: Sequence[Var], makers: dict[Var, Node]) -> list[Var]:
    """What is made so that these values do not read a version: they themselves, or what they read of it, if smaller."""
    lazy = (Kind.LAZY, Kind.VIEW)
    values = [v for v in dict.fromkeys(reading) if plan.kinds[v] in lazy and plan.alias(v) is None]
    seen: set[Operand] = set()
    pending: list[Operand] = list(values)
    parts: list[Var] = []
    while pending:
        x = pending.pop()
        if not isinstance(x, Var) or x in seen or plan.kinds[x] not in lazy or version not in plan.reads[x]:
            continue
        seen.add(x)
        node = makers[x]
        if node.op.name == "index" and plan.alias(node.args[0]) is version:
            parts.append(x)
        elif any(plan.alias(a) is version for a in node.args):
            return values
        pending.extend(node.args)
    return parts if parts and _cost(parts) <= _cost(values) else values


def _reads_what_it_writes(plan: BlockPlan, node: Node, version: Var) -> bool:
    """Whether the value of a store reads a version only at the very element that is written."""
    _, v, *arrays = node.args
    is_same = plan.reads[v][version] == _path(node)  # type: ignore[index]
    return is_same and access.is_basic(node.params["pattern"], tuple(arrays))


def _bound(v: Var) -> int | None:
    return access.byte_bound(v.type)


def _cost(values: Iterable[Var]) -> float:
    return sum(float("inf") if _bound(v) is None else _bound(v) for v in values)  # type: ignore[misc]


def _is_owned(plan: BlockPlan, version: Var) -> bool:
    return plan.kinds[version] is Kind.MADE


def _give_away(plan: BlockPlan) -> None:
    """Which operands of nodes with blocks are theirs to overwrite."""
    for i, node in enumerate(plan.block.nodes):
        if not node.blocks:
            continue
        candidates = range(len(node.args))
        if node.op.name in LOOPS:
            parts = loop_parts(node)
            candidates = range(parts.first, parts.first + parts.carried)
        read_by = Counter(v for a in node.args if isinstance(a, Var) for v in plan.reads[a])
        for k in candidates:
            version = plan.alias(node.args[k]) if node.args[k].type.ndim else None
            if version is None or not _is_owned(plan, version):
                continue
            if node.op.name in LOOPS and not node.outs[k - candidates.start].type.is_static:
                continue  # what is carried may become longer
            if plan.last.get(version, -1) <= i and read_by[version] == 1 and version.type.is_static:
                plan.taken[i, k] = version


# ------------------------------------------------------------------------------------------------- slots


def _assign_slots(plan: BlockPlan, native: Callable[[Node], bool]) -> None:
    slots = plan.slots
    slots.update(plan.owned)
    dying = _Dying(plan)
    for i, node in enumerate(plan.block.nodes):
        if node.blocks:
            _plan_inner(plan, i, node, native)
            continue
        for v in node.outs:
            if plan.kinds[v] is not Kind.MADE:
                continue
            if i in plan.in_place:
                slots[v] = slots[plan.alias(node.args[0])]  # type: ignore[index]
                dying.succeed(plan.alias(node.args[0]))
            else:
                donor = dying.donor(i, node, v, native)
                slots[v] = slots[donor] if donor is not None else Slot(v.type)


def _join_pieces(plan: BlockPlan) -> None:
    """Pieces that are put together one after the other, and first rows, are made where they will lie."""
    taken: set[int] = {id(slot) for slot in plan.owned.values()}
    for i, node in enumerate(plan.block.nodes):
        if node.op.name == "padded" and node.args[0].type.shape[1:] == node.outs[0].type.shape[1:]:
            version = plan.storage.get(node.args[0]) if isinstance(node.args[0], Var) else None
            if version is not None and plan.last.get(version, -1) == i:
                slot = plan.slots[version]
                if (
                    id(slot) not in taken
                    and slot.within is None
                    and _is_last(plan, version)
                    and slot.nbytes is not None
                ):
                    _put_into(slot, plan.slots[node.outs[0]], 0)
                    taken.add(id(slot))
            continue
        if node.op.name != "concatenate" or not all(v.type.is_static for v in (*node.args, *node.outs)):
            continue
        (out,) = node.outs
        if any(n != 1 for n in out.type.shape[: node.params["axis"]]):
            continue
        offset = 0
        for a in node.args:
            version = plan.storage.get(a) if isinstance(a, Var) else None
            if version is not None and a.type.dtype == out.type.dtype and plan.last.get(version, -1) == i:
                slot = plan.slots[version]
                if id(slot) not in taken and _is_last(plan, version):
                    _put_into(slot, plan.slots[out], offset)
                    taken.add(id(slot))
            offset += access.byte_bound(a.type) or 0


def _put_into(slot: Slot, whole: Slot, offset: int) -> None:
    slot.within = (whole, offset)
    whole.has_parts = True


def _is_last(plan: BlockPlan, version: Var) -> bool:
    """Whether a version is the last in its slot."""
    slot = plan.slots[version]
    later = [v for v, s in plan.slots.items() if s is slot]
    return later[-1] is version


class _Dying:
    """Elementwise results that are made may take the slot of an operand that is read for the last time."""

    def __init__(self, plan: BlockPlan):
        self.plan = plan
        self.gone: set[Var] = set()  # versions that have a successor in their slot

    def succeed(self, version: Var | None) -> None:
        if version is not None:
            self.gone.add(version)

    def donor(self, i: int, node: Node, v: Var, native: Callable[[Node], bool]) -> Var | None:
        plan = self.plan
        if not (access.is_elementwise(node) and native(node)) or not v.type.is_static:
            return None
        for version, path in merged_reads(plan, node).items():
            if (
                path == WHOLE
                and _is_owned(plan, version)
                and plan.last[version] <= i
                and version not in self.gone
                and version.type.shape == v.type.shape
                and version.type.dtype == v.type.dtype
            ):
                self.gone.add(version)
                return version
        return None


def _plan_inner(plan: BlockPlan, i: int, node: Node, native: Callable[[Node], bool]) -> None:
    name, slots = node.op.name, plan.slots
    if name == "cond":
        owned_slots = {k: slots[version] for (n, k), version in plan.taken.items() if n == i}
        for which in ("then", "orelse"):
            block = node.params[which]
            owned = {p: owned_slots[k] for k, p in enumerate(block.params, 1) if k in owned_slots}
            plan.inner[i, which] = _plan_block(block, owned, _in_order(plan, block.params, node.args[1:]), native)
        claimed: set[int] = set()
        for k, v in enumerate(node.outs):
            if plan.kinds[v] is Kind.SCALAR:
                continue
            slot = None
            for which in ("then", "orelse"):
                child = plan.inner[i, which]
                version = child.alias(child.block.results[k])
                found = child.slots.get(version) if version is not None else None
                if slot is None and found in owned_slots.values() and id(found) not in claimed and v.type.is_static:
                    slot = found
            slots[v] = slot or Slot(v.type)
            claimed.add(id(slots[v]))
        return
    parts = loop_parts(node)
    owned = {}
    for j, v in enumerate(parts.finals):
        if plan.kinds[v] is Kind.SCALAR:
            continue
        version = plan.taken.get((i, parts.first + j))
        slots[v] = slots[version] if version is not None else Slot(v.type)
        owned[parts.state[j]] = slots[v]
    plan.inner[i, "body"] = _plan_block(parts.body, owned, _in_order(plan, parts.inside, parts.consts), native)
    if parts.test is not None:
        looked_at = _in_order(plan, parts.test.params[parts.carried :], parts.consts)
        plan.inner[i, "test"] = _plan_block(parts.test, {}, looked_at, native)
    for v in node.outs[parts.carried :]:
        if plan.kinds[v] is not Kind.SCALAR:
            slots[v] = Slot(v.type)


def _in_order(plan: BlockPlan, params: Sequence[Var], operands: Sequence[Operand]) -> frozenset[Var]:
    return frozenset([p for p, a in zip(params, operands, strict=True) if _is_contiguous(plan, a)])


# ------------------------------------------------------------------------------------------------- lifetimes


def _number(plan: BlockPlan, counter: Iterable[int]) -> None:
    """Positions: a node with blocks spans all of theirs."""
    draw = iter(counter)
    plan.start = next(draw)
    for i, _ in enumerate(plan.block.nodes):
        start = next(draw)
        for child in _inner(plan, i):
            _number(child, draw)
        plan.positions.append((start, next(draw)))
    plan.end = next(draw)


def _lifetimes(plan: BlockPlan, slots: dict[int, Slot]) -> None:
    for i, node in enumerate(plan.block.nodes):
        start, end = plan.positions[i]
        for v in node.outs:
            slot = plan.slots.get(v)
            if slot is None:
                continue
            read = plan.last.get(v, i)
            until = plan.end if read >= len(plan.block.nodes) else plan.positions[max(read, i)][1]
            _live(slot, start, max(end, until), slots)
        for child in _inner(plan, i):
            _lifetimes(child, slots)


def _live(slot: Slot, start: int, end: int, slots: dict[int, Slot]) -> None:
    if id(slot) not in slots:
        slots[id(slot)] = slot
        slot.first = start
    slot.last = max(slot.last, end)
    if slot.within is not None:
        _live(slot.within[0], start, end, slots)


def _inner(plan: BlockPlan, i: int) -> list[BlockPlan]:
    """The plans of the blocks of a node, in the order in which they are written."""
    return [plan.inner[i, which] for which in ("test", "body", "then", "orelse") if (i, which) in plan.inner]


def lay_out(slots: list[Slot], alignment: int = 64) -> int:
    """Offsets in one arena for slots of bounded size; those that live at different times share memory.

    Returns the size of the arena. Slots that have an output, are part of another or have no bound get no offset.
    """
    total = 0
    placed: list[tuple[int, int, Slot]] = []  # from where to where, in order
    wanted = [s for s in slots if s.output is None and s.within is None and s.nbytes is not None and not s.on_stack]
    for slot in sorted(wanted, key=lambda s: -(s.nbytes or 0)):
        size = -(-max(slot.nbytes or 0, 1) // alignment) * alignment
        if size >= PAGE // 2:
            # A load waits for a store before it to an address that is the same but for a multiple of a page.
            size += (STAGGER - size) % PAGE
        at = 0
        first, last = slot.first, slot.last
        for begin, end, other in placed:
            if at + size <= begin:
                break
            if end > at and other.first <= last and first <= other.last:
                at = end
        slot.offset = at
        bisect.insort(placed, (at, at + size, slot), key=lambda place: place[0])
        total = max(total, at + size)
    return total
