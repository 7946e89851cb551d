"""Which arrays are written to in place: who may share memory with whom, and who is needed when.

Every variable has *roots*: the allocations it may be a view of. A root is *owned* if the generated function made it and
nobody outside knows it. `store` and `add_at` write in place if all roots of the array are owned and nothing that shares
one of them is needed afterwards; otherwise they write into a copy, which is owned. Arguments, constants, and results of
ops of which it is not known whether they are views, are not owned.

What a loop carries gets roots of its own in the body, first taken to be owned; if the value at the end of the body
turns out not to be, the body is looked at again without that assumption. The initial value is copied before the loop
if the body writes to it and somebody else may see that.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import count

from wengert.backend.python.code import Code, Step
from wengert.ir.loops import LOOPS
from wengert.ir.node import Const, Operand, Var
from wengert.ops.index import _Mark

Roots = frozenset[int]


class Memory:
    """What is written in place in a function, found by looking through its code once."""

    def __init__(self, code: Code):
        self.roots: dict[Var, Roots] = {}
        self.in_place: set[Step] = set()
        self.copied: set[tuple[Step, int]] = set()
        """Values that are copied before a loop: the loop and which of the values that it carries."""
        self.writes: dict[Code, list[tuple[int, Roots]]] = {}
        """For each code, which roots its steps write to."""
        self._fresh = count()
        self._owned: set[int] = set()
        for p in code.params:
            self.roots[p] = self._root(owned=False)
        self._look(code, frozenset())

    def _root(self, owned: bool) -> Roots:
        root = next(self._fresh)
        if owned:
            self._owned.add(root)
        return frozenset((root,))

    def of(self, operand: Operand) -> Roots:
        """The roots of an operand; constants have none."""
        return self.roots[operand] if isinstance(operand, Var) else frozenset()

    def _look(self, code: Code, frozen: Roots) -> None:
        """Go through a code. Roots that are frozen are needed after it, or again."""
        last = _last_reads(code)
        writes: list[tuple[int, Roots]] = []
        for k, step in enumerate(code.steps):
            # What else is needed after this step: roots of variables that are read later.
            needed = set(frozen)
            if step.codes or (step.op is not None and step.op.writes):
                for var, when in last.items():
                    if when > k and var in self.roots and var not in step.outs:
                        needed |= self.roots[var]
            written = self._look_at(step, frozenset(needed))
            if written:
                writes.append((k, written))
        self.writes[code] = writes

    def _look_at(self, step: Step, needed: Roots) -> Roots:
        """Give the results of a step their roots; say what it writes to."""
        if step.name in LOOPS:
            return self._loop(step, needed)
        if step.name == "cond":
            return self._cond(step, needed)
        if step.name in ("store", "add_at"):
            return self._store(step, needed)
        for out in step.outs:
            self.roots[out] = self._result(step, out)
        return frozenset()

    def _result(self, step: Step, out: Var) -> Roots:
        if step.op is not None and step.op.view:
            if step.name == "index" and _copies(step, out):
                return self._root(owned=bool(out.type.shape))
            return self.of(step.args[0]) or self._root(owned=False)
        if (
            step.name == "broadcast_to"
        ):  # of a number it is a filled array, otherwise a view that is not to be written to
            return self._root(owned=False) | self.of(step.args[0]) if step.args[0].type.ndim else self._root(owned=True)
        if step.op is not None and not step.op.view:
            return self._root(owned=bool(out.type.shape))
        return self._root(owned=False).union(*[self.of(a) for a in step.args])

    def _store(self, step: Step, needed: Roots) -> Roots:
        x, (out,) = step.args[0], step.outs
        roots = self.of(x)
        others: Roots = frozenset().union(*[self.of(a) for a in step.args[1:]])
        overlaps = bool(roots & others) and any(isinstance(item, _Mark) for item in step.params["pattern"])
        if roots and roots <= self._owned and not roots & needed and not overlaps and out.type.shape:
            self.in_place.add(step)
            self.roots[out] = roots
            return roots
        self.in_place.discard(step)
        self.roots[out] = self._root(owned=bool(out.type.shape))
        return frozenset()

    def _cond(self, step: Step, needed: Roots) -> Roots:
        written: Roots = frozenset()
        for code in step.codes.values():
            for p, a in zip(code.params, step.args[1:], strict=True):
                self.roots[p] = self.of(a)
            self._look(code, needed)
            written = written.union(*[roots for _, roots in self.writes[code]])
        for k, out in enumerate(step.outs):
            results = [code.results[k] for code in step.codes.values()]
            roots = frozenset().union(*[self.of(r) for r in results])
            if any(isinstance(r, Const) for r in results):
                roots |= self._root(owned=False)
            self.roots[out] = roots
        return written

    def _loop(self, step: Step, needed: Roots) -> Roots:
        carried = step.params["carried"]
        body = step.codes["body"]
        skipped = step.name == "loop"  # the count, the counter
        inits, consts = step.args[skipped : skipped + carried], step.args[skipped + carried :]
        given = {p: self._root(owned=False) for p in body.params[skipped + carried :]}
        own, after = self._slots_of(step, body.params[skipped : skipped + carried], given)
        # What the memory of an initial value can become in later iterations, and so what writes can reach it.
        written: Roots = frozenset().union(*[roots for _, roots in self.writes[body]])
        reach = [_closure(k, own, after) for k in range(carried)]
        outside: set[int] = set()
        for k in range(carried):
            fed = frozenset().union(*[own[j] for j in range(carried) if own[k] <= reach[j]])
            self.copied.discard((step, k))
            if not fed & written:
                continue
            roots = self.of(inits[k])
            shared = frozenset().union(*[self.of(a) for a in (*inits[:k], *inits[k + 1 :], *consts)])
            if roots and roots <= self._owned and not roots & (needed | shared):
                outside |= roots
            else:
                self.copied.add((step, k))
        outer = dict(zip(given.values(), consts, strict=True))
        for k, out in enumerate(step.outs[:carried]):
            self.roots[out] = frozenset().union(*[self._after(step, root, own, inits, outer) for root in reach[k]])
        for out in step.outs[carried:]:
            self.roots[out] = self._root(owned=bool(out.type.shape))
        return frozenset(outside)

    def _slots_of(self, step: Step, slots: list[Var], given: dict[Var, Roots]) -> tuple[list[Roots], list[Roots]]:
        """The roots of carried values before an iteration and after it. Each slot that hands on its own memory, or new
        memory, to one slot only is taken to be owned, until nothing speaks against it."""
        body = step.codes["body"]
        owned = [bool(p.type.shape) for p in slots]
        while True:
            own = [self._root(owned=o) for o in owned]
            self.roots |= given | dict(zip(slots, own, strict=True))
            if step.name == "loop":
                self.roots[body.params[0]] = frozenset()
            if step.name == "while":
                test = step.codes["test"]
                self.roots |= {p: self._root(owned=False) for p in test.params}
                self._look(test, frozenset())
            self._look(body, frozenset().union(*given.values()) if given else frozenset())
            after = [self.of(r) for r in body.results]
            still = [
                o and bool(after[k]) and after[k] <= self._owned and not any(
                    after[k] & after[j] for j in range(len(slots)) if j != k
                )
                for k, o in enumerate(owned)
            ]  # fmt: skip
            if still == owned:
                return own, after
            owned = still

    def _after(self, step: Step, root: int, own: list[Roots], inits: list, outer: dict[Roots, Operand]) -> Roots:
        """What a root inside a loop is for those outside, once the loop has ended."""
        const = next((a for roots, a in outer.items() if root in roots), None)
        source = next((j for j, roots in enumerate(own) if root in roots), None)
        if const is not None:
            return self.of(const) or self._root(owned=False)
        if source is None:
            return frozenset([root])
        copied = (step, source) in self.copied
        found = self._root(owned=True) if copied else self.of(inits[source]) or self._root(owned=False)
        is_constant = isinstance(step.codes["body"].results[source], Const)
        return found | self._root(owned=False) if is_constant else found


def _closure(k: int, own: list[Roots], after: list[Roots]) -> Roots:
    """The roots that slot k can have before, between and after the iterations."""
    reached = set(own[k])
    while True:
        more = set(reached)
        for j, root in enumerate(own):
            if root & reached:
                more |= after[j]
        if more == reached:
            return frozenset(reached)
        reached = more


def _copies(step: Step, out: Var) -> bool:
    """Whether an index gives a copy: one element, or elements named by arrays."""
    pattern = step.params["pattern"]
    return (not out.type.shape and Ellipsis not in pattern) or any(a.type.shape for a in step.args[1:])


def _last_reads(code: Code) -> dict[Var, int]:
    last: dict[Var, int] = defaultdict(lambda: -1)
    for k, step in enumerate(code.steps):
        last.update((a, k) for a in step.operands if isinstance(a, Var))
    last.update((r, len(code.steps)) for r in code.results if isinstance(r, Var))
    return dict(last)
