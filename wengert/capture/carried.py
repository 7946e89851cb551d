"""What a loop carries from one iteration to the next: the variables that its suite binds, the arrays that it writes to.

Which these are, and their types, is found by running the suite again until nothing new turns up: a number may turn out
to become a float, an array that was only read may be written to further down. Variables are carried by value; which
arrays they stand for is looked at by `identity.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert import tree
from wengert.box.box import Box
from wengert.box.writing import SETTLING, clone, settled
from wengert.capture.branching import Perhaps
from wengert.capture.containers import noted, refilled
from wengert.capture.identity import Again, Identity, Key
from wengert.capture.undefined import UNDEFINED
from wengert.capture.values import assign, converted, described, equal, is_number, widened
from wengert.errors import StagingError
from wengert.ir.build import Capture, capturing, type_of_value
from wengert.ir.node import Type, Var
from wengert.ir.symbol import Sym
from wengert.ops.op import Traced
from wengert.running import running


class Carried:
    """What a loop carries from one iteration to the next: variables that are bound, and arrays that are written to."""

    def __init__(self, get: Callable, set: Callable, names: tuple, stores: tuple, temporaries: tuple):
        self.get, self.set, self.names = get, set, names
        self.tag = running.state.capture.tag
        self.may_not_run = True
        """Whether it may be that there is no iteration at all."""
        self.state = get()
        self.bound: list[int] = []
        self.roots: dict[int, Any] = {}
        self.root_names: dict[int, str] = {}
        self.types: dict[Any, Type] = {}
        self.structures: dict[int, Any] = {}
        self.opened: dict[Key, tuple[Any, Var]] = {}
        self.adopted: dict[int, Var] = {}
        self.identity = Identity()
        self.local = [k for k, name in enumerate(names) if name in temporaries]
        for k, (name, value) in enumerate(zip(names, self.state, strict=True)):
            if k in self.local:
                continue
            if name in stores:
                if isinstance(value, Box) and (value.shape or value._view_of is not None):
                    self.root_names.setdefault(id(value), name)
                    self.add_root(value)
                    continue
            if value is not UNDEFINED and self._numeric(value):
                self.bound.append(k)

    def _numeric(self, value: Any) -> bool:
        leaves = tree.leaves(value)
        return bool(leaves) and any(is_number(leaf) for leaf in leaves)

    def _perhaps(self, k: int, now: Any) -> Any:
        """The value of a variable that gets one in the loop: afterwards it has none if the loop does not run."""
        if not self.may_not_run or self.names[k].startswith("_wengert") or now.__class__ is Perhaps:
            return now
        return Perhaps(now, True)

    def add_root(self, box: Any) -> None:
        """Carry an array that is written to."""
        root = box if box._view_of is None else box._view_of.root
        if not root._is_cell or root._value.ndim:
            self.roots[id(root)] = root

    def open(self, capture: Capture) -> list[Sym]:
        """Put parameters of a block in place of what is carried."""
        values = list(self.state)
        formals: list[Sym] = []
        self.opened.clear()
        for k in self.bound:
            leaves, structure = self.leaves(k)
            new: list[Any] = []
            for j, leaf in enumerate(leaves):
                if leaf is not UNDEFINED and not is_number(leaf):
                    new.append(leaf)
                    continue
                type = self.types.get((k, j)) or type_of_value(leaf)
                symbol = capture.formal(type, hint=self.names[k] if not self.names[k].startswith("_wengert") else None)
                formals.append(symbol)
                new.append(clone(symbol))
                if type.shape:
                    self.opened[k, j] = (new[-1], symbol._node)
            values[k] = noted(tree.unflatten(structure, new), capture)
        for k in self.local:
            values[k] = UNDEFINED
        for root in self.roots.values():
            formals.append(clone(capture.adopt(root, self.root_names.get(id(root)))))
            self.adopted[id(root)] = formals[-1]._node
        self.set(tuple(values))
        return formals + self.identity.open(capture)

    def leaves(self, k: int) -> tuple[list[Any], Any]:
        if self.state[k] is UNDEFINED:
            structure = self.structures[k]
            return [UNDEFINED] * structure.num_leaves, structure
        return tree.flatten(self.state[k])

    def close(self, capture: Capture) -> list[Any]:
        """What is carried after an iteration; raise `Again` if more has to be carried than was known."""
        after = self.get()
        again = capture.restart
        outputs: list[Any] = []
        for k, (before, now) in enumerate(zip(self.state, after, strict=True)):
            if k in self.local or k in self.bound or now is before:
                continue
            if now is UNDEFINED or (not self._numeric(now) and not self._numeric(before) and equal(before, now)):
                continue
            if before is UNDEFINED:
                leaves, structure = tree.flatten(self._perhaps(k, now))
                if not leaves or not all(is_number(leaf) for leaf in leaves):
                    self.local.append(k)  # cannot be used after the loop
                    continue
                self.structures[k] = structure
                self.types.update({(k, j): type_of_value(leaf) for j, leaf in enumerate(leaves)})
            elif not self._numeric(now):
                raise StagingError(f"{self.names[k]} becomes {described(now)} in a loop",
                                   remedy="use numbers and arrays")  # fmt: skip
            self.bound.append(k)
            again = True
        for root, _ in capture.written.values():
            if id(root) not in self.roots:
                self.roots[id(root)] = root
                again = True
        if again:
            raise Again
        for k in self.bound:
            leaves, structure = self.leaves(k)
            now = after[k]
            if now.__class__ is not Perhaps and (self.state[k].__class__ is Perhaps or self.state[k] is UNDEFINED):
                now = Perhaps(now, True) if self.state[k].__class__ is Perhaps else self._perhaps(k, now)
            new, new_structure = tree.flatten(now)
            if new_structure != structure:
                raise StagingError(
                    f"{self.names[k]} is {described(self.state[k])} before a loop and {described(after[k])} after an "
                    "iteration", remedy="let it be of one kind, with the same number of items",
                )  # fmt: skip
            for j, (old, value) in enumerate(zip(leaves, new, strict=True)):
                if old is not UNDEFINED and not is_number(old):
                    if not equal(old, value):
                        raise StagingError(f"{self.names[k]} changes in a loop, and holds {described(old)}",
                                           remedy="use numbers and arrays")  # fmt: skip
                    continue
                known = self.types.get((k, j)) or type_of_value(old)
                wide = known if value is UNDEFINED else widened(known, type_of_value(value), self.names[k])
                if wide != known:
                    self.types[(k, j)] = wide
                    again = True
                outputs.append((value, wide))
        if again:
            raise Again
        for root in self.roots.values():
            outputs.append((settled(root) if not isinstance(settled(root), Traced) else clone(settled(root)), None))
        return outputs

    def starts(self) -> list[Any]:
        """What is carried before the first iteration."""
        values: list[Any] = []
        for k in self.bound:
            for j, leaf in enumerate(self.leaves(k)[0]):
                if leaf is UNDEFINED or is_number(leaf):
                    values.append(converted(leaf, self.types.get((k, j)) or type_of_value(leaf)))
        return values + [settled(root) for root in self.roots.values()] + self.identity.starts()

    def finish(self, results: Sequence[Any], count: Any) -> None:
        """Bind what is carried after the last iteration, the `count`-th."""
        remaining = iter([SETTLING.wrap(x) for x in results])  # (plain arrays, if the loop has plain operands only)
        values = list(self.state)
        found: dict[Key, Any] = {}
        for k in self.bound:
            for j, leaf in enumerate(self.leaves(k)[0]):
                found[k, j] = next(remaining) if leaf is UNDEFINED or is_number(leaf) else leaf
        for k in self.local:
            values[k] = UNDEFINED
        for root in self.roots.values():
            assign(root, next(remaining))
        self.identity.settle(self, found, list(remaining), count)
        for k in self.bound:
            leaves, structure = self.leaves(k)
            new = tree.unflatten(structure, [found[k, j] for j in range(len(leaves))])
            values[k] = refilled(self.state[k], new)
        self.set(tuple(values))

    def run(self, function: Callable[[Capture], Any]) -> tuple[Capture, list[Any], Any]:
        """Capture a suite, as often as needed: the block, what is carried after it, and what the function returns."""
        for _ in range(12):
            capture = Capture(varying=True)
            try:
                with capturing(capture):
                    capture.links.states.append((self.tag, self.state))
                    try:
                        result = function(capture)
                    finally:
                        capture.links.states.pop()
                    try:
                        outputs = self.close(capture)
                        outputs += self.identity.look(self, capture, self.get())  # (not above, where names hold arrays)
                        ends = [v if t is None else converted(v, t) for v, t in outputs]
                        return capture, [capture.operand(v) for v in ends], result
                    except Again:
                        continue
            finally:
                capture.restore()
                capture.written.clear()  # a capture lives on in its symbols, and must not hold these arrays
                self.set(self.state)
        raise StagingError("what a loop carries changes its shape from iteration to iteration",
                           remedy="make arrays of their final shape before the loop")  # fmt: skip
