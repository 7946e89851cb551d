"""A program made ready for writing: a copy of which every part stands in one place only.

Blocks that the program shares are copied (or, called more than once, become functions of their own), calls that occur
once are put in place, what nobody uses is left out, and the stacked results of loops become steps right behind the
values they keep, so that an array can be written to in place as soon as its old value has been kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from wengert.ir.loops import LOOPS
from wengert.ir.node import Block, Const, Node, Operand, Source, Var, map_refs
from wengert.ops.op import Op


@dataclass(eq=False)
class Step:
    """A node, copied. `op` is `None` for `keep`, which appends its operand to the stacked result `kept`."""

    op: Op | None
    name: str
    args: list[Operand]
    params: dict[str, Any]
    outs: list[Var]
    sizes: list[Operand]
    source: Source | None
    codes: dict[str, Code] = field(default_factory=dict)
    kept: Var | None = None

    @property
    def operands(self) -> list[Operand]:
        """All operands, each as often as it is written: a size once for every place where it stands."""
        places: list[int] = []
        map_refs(self.params, lambda ref: places.append(ref.k))
        return [*self.args, *[self.sizes[k] for k in places]]


@dataclass(eq=False)
class Code:
    """A block, copied."""

    params: list[Var]
    steps: list[Step]
    results: list[Operand]


@dataclass(eq=False)
class Function:
    """A block that is called more than once."""

    name: str
    code: Code


def ready(block: Block) -> tuple[Code, dict[Block, Function]]:
    """A program's block made ready, and the functions it calls."""
    calls = Counter(_called(block))
    functions: dict[Block, Function] = {}
    code = _Copy(calls, functions).code(block, range(len(block.results)))
    return code, functions


def _called(block: Block, seen: set[Block] | None = None) -> Iterator[Block]:
    """The blocks that calls refer to, once for every place where a call stands."""
    seen = set() if seen is None else seen
    for node in block.nodes:
        for inner in node.blocks:
            if node.op.name == "call":
                yield inner
                if inner in seen:
                    continue
                seen.add(inner)
            yield from _called(inner, seen)


class _Copy:
    def __init__(self, calls: Counter[Block], functions: dict[Block, Function]):
        self.calls = calls
        self.functions = functions

    def code(self, block: Block, wanted: Sequence[int]) -> Code:
        """A copy of a block that gives those of its results that are wanted."""
        values: dict[Var, Operand] = {p: Var(p.type, p.hint) for p in block.params}
        results = [block.results[k] for k in wanted]
        steps = self._steps(block, values, results)
        return Code([values[p] for p in block.params], steps, [_get(values, r) for r in results])  # type: ignore[misc]

    def _steps(self, block: Block, values: dict[Var, Operand], results: Sequence[Operand]) -> list[Step]:
        used = {r for r in results if isinstance(r, Var)}
        needed: list[tuple[Node, set[Var]]] = []
        for node in reversed(block.nodes):
            if any(v in used for v in node.outs) or node.op.effect or _acts(node):
                needed.append((node, {v for v in node.outs if v in used}))
                used.update(a for a in (*node.args, *node.sizes) if isinstance(a, Var))
        steps: list[Step] = []
        for node, outs in reversed(needed):
            steps.extend(self._step(node, outs, values))
        return steps

    def _step(self, node: Node, used: set[Var], values: dict[Var, Operand]) -> list[Step]:
        name, args = node.op.name, [_get(values, a) for a in node.args]
        if name == "call" and self.calls[node.params["body"]] == 1:
            body = node.params["body"]
            inner: dict[Var, Operand] = dict(zip(body.params, args, strict=True))
            steps = self._steps(body, inner, body.results)
            for out, result in zip(node.outs, body.results, strict=True):
                values[out] = copied = _get(inner, result)
                if isinstance(copied, Var) and copied.hint is None and copied not in args:
                    copied.hint = out.hint
            return steps
        outs = [Var(v.type, v.hint) for v in node.outs]
        values.update(zip(node.outs, outs, strict=True))
        params = {k: p for k, p in node.params.items() if not isinstance(p, Block)}
        sizes = [_get(values, s) for s in node.sizes]
        step = Step(node.op, name, args, params, outs, sizes, node.source)
        if name == "call":
            body = node.params["body"]
            if body not in self.functions:
                code = self.code(body, range(len(body.results)))
                self.functions[body] = Function(node.params.get("name") or "f", code)
            step.params = {"function": self.functions[body]}
        elif name == "cond":
            wanted = [k for k, v in enumerate(node.outs) if v in used]
            step.outs = [outs[k] for k in wanted]
            step.codes = {key: self.code(node.params[key], wanted) for key in ("then", "orelse")}
            _drop_unused_arguments(step, 1)
        elif name in LOOPS:
            self._loop(step, node, used)
        return [step]

    def _loop(self, step: Step, node: Node, used: set[Var]) -> None:
        body, carried, is_while = node.params["body"], node.params["carried"], step.name == "while"
        first = carried + is_while  # the first stacked result
        ys = [k for k in range(len(body.results) - carried) if node.outs[first + k] in used]
        slots = _needed_slots(node, used, ys)
        code = self.code(body, [*slots, *[carried + k for k in ys]])
        for k, y in zip(ys, code.results[len(slots) :], strict=True):
            keep = Step(None, "keep", [y], {}, [], [], None, kept=step.outs[first + k])
            code.steps.insert(_after(code, y), keep)
        code.results = code.results[: len(slots)]
        step.codes = {"body": code}
        if is_while:
            step.codes = {"test": self.code(node.params["test"], [0]), "body": code}
        step.params = {"carried": len(slots), "counted": is_while and node.outs[carried] in used}
        step.outs = [
            *[step.outs[k] for k in slots],
            *step.outs[carried:first],
            *[step.outs[first + k] for k in ys],
        ]
        for k in reversed(range(carried)):
            if k not in slots:
                del step.args[k + (not is_while)]
                for inner in step.codes.values():
                    del inner.params[k + (not is_while and inner is code)]
        _drop_unused_arguments(step, len(slots) + (not is_while), len(slots) + (not is_while))


def _needed_slots(node: Node, used: set[Var], ys: list[int]) -> list[int]:
    """Which of the values that a loop carries somebody needs in the end."""
    body, carried, before = node.params["body"], node.params["carried"], node.op.name == "loop"
    needed = {k for k in range(carried) if node.outs[k] in used}
    if node.op.name == "while":
        test = node.params["test"]
        looked_at = _needed_vars(test, test.results)
        needed |= {k for k in range(carried) if test.params[k] in looked_at}
    while True:
        looked_at = _needed_vars(body, [body.results[k] for k in (*needed, *[carried + k for k in ys])])
        more = needed | {k for k in range(carried) if body.params[before + k] in looked_at}
        if more == needed:
            return sorted(needed)
        needed = more


def _needed_vars(block: Block, results: Sequence[Operand]) -> set[Var]:
    used = {r for r in results if isinstance(r, Var)}
    for node in reversed(block.nodes):
        if any(v in used for v in node.outs) or node.op.effect or _acts(node):
            used.update(a for a in (*node.args, *node.sizes) if isinstance(a, Var))
    return used


def _acts(node: Node) -> bool:
    """Whether there is a step inside that must stay, used or not."""
    return any(n.op.effect or _acts(n) for b in node.blocks for n in b.nodes)


def _get(values: dict[Var, Operand], operand: Operand) -> Operand:
    return operand if isinstance(operand, Const) else values[operand]


def _after(code: Code, y: Operand) -> int:
    """The first place at which a value is there."""
    for k, step in enumerate(code.steps):
        if y in step.outs:
            return k + 1
    return 0


def _drop_unused_arguments(step: Step, start: int, first: int = 0) -> None:
    """Leave out arguments, from `start` on, that no code looks at; they are its parameters from `first` on."""
    codes = list(step.codes.values())
    used = [{a for s in every_step(c) for a in s.operands} | set(c.results) for c in codes]
    for k in reversed(range(start, len(step.args))):
        # A test has no counter: its parameters are counted from the end.
        at = k - start + first - max(len(c.params) for c in codes)
        if not any(c.params[at] in u for c, u in zip(codes, used, strict=True)):
            del step.args[k]
            for c in codes:
                del c.params[at]


def every_step(code: Code) -> Iterator[Step]:
    """The steps of a code and of those inside it."""
    for step in code.steps:
        yield step
        for inner in step.codes.values():
            yield from every_step(inner)


def count_reads(code: Code) -> Counter[Var]:
    """How often each variable is read, where it is written down."""
    reads: Counter[Var] = Counter()
    for step in every_step(code):
        reads.update(a for a in step.operands if isinstance(a, Var))
        for inner in step.codes.values():
            reads.update(r for r in inner.results if isinstance(r, Var))
    reads.update(r for r in code.results if isinstance(r, Var))
    return reads
