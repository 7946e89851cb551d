"""Elements of arrays that a loop reads and that no later iteration overwrites: reverse mode need not save them.

A loop that fills a matrix, `L[i, j] = f(L[i, :j], L[j, :j])`, reads what is there to stay. Its backward loop can read
the same elements in the finished matrix, so there is nothing to save, where saving takes as much memory as the loop
takes time.

`stable_reads` looks at the body of an outermost loop, with all loops and branches inside. For each array that it
carries it follows the versions from the beginning of an iteration to its end: stores, inner loops that carry it on,
branches. A read of one of them lasts if no write after it, in the same iteration or in a later one, of any loop around
both, touches the same element. That is certain if along one axis the difference of the two places, which are sums of
counters (`affine.py`), is never zero.

In the body that is handed on, such a read is followed by `reread(value, end, *arrays; pattern)`, which is the value;
`end` stands for the finished array. The first loop does not have it: `without_rereads` takes it out again. But a
residual that is a `reread` can be computed again in the backward loop, which has it (`remat.py`). In the same way a
value that was stored, and is not overwritten, is followed by one that nobody uses: it says where the value is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from wengert.ir.analysis.affine import Affine, Atom
from wengert.ir.analysis.ranges import INT, Extents, NestBlock, disjoint, most_iterations, nest, new_counter, place_of
from wengert.ir.analysis.regions import region_of
from wengert.ir.infer import Found
from wengert.ir.node import Block, Node, Operand, Var
from wengert.modes.tape import Tape, TapeTrace
from wengert.ops.derive import Control
from wengert.ops.index import index
from wengert.ops.op import call
from wengert.ops.traits import FREE, NEVER
from wengert.types import dtype_of, shape_of

MOST = 4096
"""So many pairs of a read and a write are looked at for one array; there are more only in unrolled code."""


# --------------------------------------------------------------------------------------------------------- the op


def _record(trace: TapeTrace, args: tuple, params: dict) -> Any:
    """The tangent is that of the value."""
    values = [a._value if a.__class__ is Tape and a._owner is trace else a for a in args]
    (y,) = call(reread, *values, **params)
    return (Tape(trace, y, args[0]._node) if values[0] is not args[0] else y,)


reread = Control(
    "reread",
    lambda value, end, *arrays, pattern: (value,),
    lift=lambda mode, args, params: (args[0],),
    record=_record,
    types=lambda args, params: [Found(shape_of(args[0]), dtype_of(args[0]))],
    raises=NEVER,
    cost=FREE,
    view=True,
)


def read_at_end(node: Node) -> Node:
    """A reread as what it stands for in the backward loop."""
    return Node(index, node.args[1:], node.params, node.outs, node.sizes, node.source)


# ------------------------------------------------------------------------------------------- versions of an array


class _Version(NamedTuple):
    """An array before the step of this number, of those that make new versions of it in a block."""

    scope: NestBlock
    number: int


class _Write(NamedTuple):
    scope: NestBlock
    number: int
    place: Extents


class _Read(NamedTuple):
    scope: NestBlock
    i: int  # of the node
    version: _Version
    place: Extents


class _Array:
    """One array that a loop carries: its versions, its writes."""

    def __init__(self, scope: NestBlock, param: Var, result: Operand):
        self.versions: dict[tuple[NestBlock, Operand | None], _Version] = {}
        self.steps: dict[NestBlock, list[int]] = {}
        self.writes: list[_Write] = []
        self.is_known = self._follow(scope, param, result)

    def _follow(self, scope: NestBlock, param: Var, result: Operand) -> bool:
        """Find how a result of a block comes from a parameter."""
        made = {v: (i, k) for i, node in enumerate(scope.block.nodes) for k, v in enumerate(node.outs)}
        steps: list[tuple[int, Var]] = []  # backwards: the node, and the version before
        x = result
        while x is not param:
            if not isinstance(x, Var) or x not in made:
                return False
            i, k = made[x]
            before = self._before(scope, i, k)
            if before is None or not isinstance(before, Var):
                return False
            steps.append((i, before))
            x = before
        steps.reverse()
        self.steps[scope] = [i for i, _ in steps]
        for number, (i, before) in enumerate(steps):
            self.versions[scope, before] = _Version(scope, number)
            node = scope.block.nodes[i]
            if node.op.writes:
                self.writes.append(_Write(scope, number, place_of(scope, node)))
        self.versions[scope, result] = _Version(scope, len(steps))
        return True

    def _before(self, scope: NestBlock, i: int, k: int) -> Operand | None:
        """The version of which a result of a node is the next one."""
        node = scope.block.nodes[i]
        if node.op.writes:
            return node.args[0]
        if node.op.name == "loop" and k < node.params["carried"]:
            inner = scope.inner[i, "body"]
            known = self._follow(inner, inner.block.params[1 + k], inner.block.results[k])
            return node.args[1 + k] if known else None
        if node.op.name == "cond":
            sources = [_source(node.params[which], node.params[which].results[k]) for which in ("then", "orelse")]
            if sources[0] is None or sources[0] != sources[1]:
                return None
            for which in ("then", "orelse"):
                inner = scope.inner[i, which]
                if not self._follow(inner, inner.block.params[sources[0]], inner.block.results[k]):
                    return None
            return node.args[1 + sources[0]]
        return None

    def reads(self, scope: NestBlock) -> Iterator[_Read]:
        """All reads of versions, in a block and those inside."""
        for i, node in enumerate(scope.block.nodes):
            x = node.args[0] if node.args else None
            version = self.versions.get((scope, x))
            if node.op.name == "index" and version is not None and isinstance(x, Var):
                if all(not a.type.shape for a in node.args[1:]):
                    yield _Read(scope, i, version, place_of(scope, node))
                continue
            for which in ("body", "then", "orelse"):
                inner = scope.inner.get((i, which))
                if inner is None:
                    continue
                first = 1 + node.params["carried"] if which == "body" else 0
                args = node.args[1:] if which != "body" else node.args[1 + node.params["carried"] :]
                for p, a in zip(inner.block.params[first:], args, strict=True):
                    if (scope, a) in self.versions:
                        self.versions.setdefault((inner, p), self.versions[scope, a])
                yield from self.reads(inner)

    def stored(self) -> Iterator[_Read]:
        """All values that are stored as they are, as if they were read there at once."""
        for write in self.writes:
            i = self.steps[write.scope][write.number]
            node = write.scope.block.nodes[i]
            if node.op.name != "store" or not isinstance(node.args[1], Var):
                continue
            value, into = node.args[1].type, node.args[0].type
            if value.shape and value.dtype == into.dtype and value.shape == region_of(node).part:
                yield _Read(write.scope, i, _Version(write.scope, write.number + 1), write.place)


def _source(block: Block, result: Operand) -> int | None:
    """The parameter of a branch of which a result is a version, if it looks like one."""
    made = {v: (node, k) for node in block.nodes for k, v in enumerate(node.outs)}
    while isinstance(result, Var):
        if result in block.params:
            return block.params.index(result)
        node, k = made[result]
        name = node.op.name
        if node.op.writes:
            result = node.args[0]
        elif name == "loop" and k < node.params["carried"]:
            result = node.args[1 + k]
        elif name == "cond":
            inner = _source(node.params["then"], node.params["then"].results[k])
            if inner is None:
                return None
            result = node.args[1 + inner]
        else:
            return None
    return None


# --------------------------------------------------------------------------------------------- what comes after what


def _lasts(read: _Read, write: _Write, steps: dict[NestBlock, list[int]]) -> bool:
    """Whether a write leaves the element of a read alone whenever it comes after it."""
    ours, theirs = read.version.scope.path(), write.scope.path()
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] is theirs[common]:
        common += 1
    # In a later iteration of one of the loops around both.
    for p in range(common):
        if theirs[p].counter is not None:
            later = frozenset([s.counter.key for s in theirs[p:] if s.counter is not None])
            if not disjoint(read.place, read.scope, write.place, write.scope, later, theirs[p].counter):
                return False
    # In the same iteration.
    here = ours[common - 1]
    at = write.number if len(theirs) == common else _step_into(here, theirs[common], steps)
    comes_after = at >= read.version.number if len(ours) == common else at > _step_into(here, ours[common], steps)
    if not comes_after:
        return True
    inside = frozenset([s.counter.key for s in theirs[common:] if s.counter is not None])
    return disjoint(read.place, read.scope, write.place, write.scope, inside)


def _step_into(scope: NestBlock, inner: NestBlock, steps: dict[NestBlock, list[int]]) -> int:
    """The number of the step that is the node of an inner block."""
    i = next(i for (i, _), s in scope.inner.items() if s is inner)
    return steps[scope].index(i)


# ------------------------------------------------------------------------------------------------------ the new body


def stable_reads(body: Block, carried: int) -> tuple[Block, list[int]]:
    """The body of a loop with rereads, and of which carried arrays it takes the ends, as its last parameters."""
    counter = new_counter(0)
    integers = {body.params[0]: Affine.of(counter)}
    for k, p in enumerate(body.params[1 + carried :]):
        if not p.type.shape and p.type.dtype == INT:
            integers[p] = Affine.of(Atom(-1 - k, -1))
    outermost = NestBlock(body, None, 0, integers, most_iterations(body), counter)
    nest(outermost)
    marks: dict[tuple[NestBlock, int], int] = {}
    for c in range(carried):
        param = body.params[1 + c]
        if not param.type.shape or not param.type.is_static or body.results[c] is param:
            continue
        array = _Array(outermost, param, body.results[c])
        if not array.is_known:
            continue
        reads = list(array.reads(outermost))
        if (len(reads) + len(array.writes)) * len(array.writes) > MOST:
            continue
        for read in [*reads, *array.stored()]:
            if all(_lasts(read, write, array.steps) for write in array.writes):
                marks[read.scope, read.i] = c
    ends = sorted(set(marks.values()))
    if not ends:
        return body, []
    return _with_rereads(outermost, marks, [(c, body.params[1 + c]) for c in ends]), ends


def _with_rereads(scope: NestBlock, marks: dict[tuple[NestBlock, int], int], ends: Sequence[tuple[int, Var]]) -> Block:
    """A block with rereads; the finished arrays are parameters behind the others."""
    own = {c: Var(like.type, None, None, False) for c, like in ends}
    nodes: list[Node] = []
    for i, node in enumerate(scope.block.nodes):
        c = marks.get((scope, i))
        if c is not None and node.op.writes:
            value = node.args[1]
            nodes.append(node)
            outs = (Var(value.type, None, None, False),)
            nodes.append(Node(reread, (value, own[c], *node.args[2:]), node.params, outs, node.sizes, node.source))
            continue
        if c is not None:
            (out,) = node.outs
            value = Var(out.type, None, out.span, out.stable)
            nodes.append(Node(node.op, node.args, node.params, (value,), node.sizes, node.source))
            args = (value, own[c], *node.args[1:])
            nodes.append(Node(reread, args, node.params, (out,), node.sizes, node.source))
            continue
        inside = {which: s for (j, which), s in scope.inner.items() if j == i}
        used = {c for (s, _), c in marks.items() if any(b in s.path() for b in inside.values())}
        if used:
            wanted = [(c, like) for c, like in ends if c in used]
            blocks = {which: _with_rereads(s, marks, wanted) for which, s in inside.items()}
            args = (*node.args, *[own[c] for c, _ in wanted])
            node = Node(node.op, args, {**node.params, **blocks}, node.outs, node.sizes, node.source)
        nodes.append(node)
    return Block([*scope.block.params, *own.values()], nodes, list(scope.block.results))


def without_rereads(block: Block, dropped: int = 0) -> Block:
    """A block without rereads, without the last parameters, and without what blocks inside were given for them only."""
    same: dict[Operand, Operand] = {}
    nodes: list[Node] = []
    for node in block.nodes:
        args = tuple([same.get(a, a) for a in node.args])
        sizes = tuple([same.get(s, s) for s in node.sizes])
        if node.op is reread:
            same[node.outs[0]] = args[0]
            continue
        params = node.params
        if node.op.name in ("loop", "cond", "while") and node.blocks:
            args, params = _without_inside(node, args)
        if params is not node.params or args != node.args or sizes != node.sizes:
            node = Node(node.op, args, params, node.outs, sizes, node.source)
        nodes.append(node)
    params_ = block.params[: len(block.params) - dropped]
    return Block(params_, nodes, [same.get(r, r) for r in block.results])


def _without_inside(node: Node, args: tuple[Operand, ...]) -> tuple[tuple[Operand, ...], dict[str, Any]]:
    blocks = {name: without_rereads(p) for name, p in node.params.items() if isinstance(p, Block)}
    first = {"loop": 1, "while": 0, "cond": 0}[node.op.name] + node.params.get("carried", 0)
    used = [_used(b) for b in blocks.values()]
    n = len(next(iter(blocks.values())).params)
    keep = [k < first or any(b.params[k] in u for b, u in zip(blocks.values(), used, strict=True)) for k in range(n)]
    ahead = len(args) - n if node.op.name != "loop" else 0
    args = (*args[:ahead], *[a for a, k in zip(args[ahead:], keep, strict=True) if k])
    kept = {
        name: Block([p for p, k in zip(b.params, keep, strict=True) if k], b.nodes, b.results)
        for name, b in blocks.items()
    }
    return args, {**node.params, **kept}


def _used(block: Block) -> set[Operand]:
    found: set[Operand] = {a for node in block.nodes for a in (*node.args, *node.sizes)}
    found.update(block.results)
    return found
