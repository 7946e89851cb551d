"""Which arrays the variables stand for that a loop carries.

A loop carries variables by value. That is all there is to it unless an array has two names, of which one is written
through: then the other must see it. `Identity.look` finds out, from one iteration, which arrays each variable may stand
for at the head of the loop: the one that it stood for before the loop, another variable's, one from outside. Where the
suite writes to one of them and another one is used, values do not tell what happens. That is an error, or, if it
concerns only the arrays from before the loop, a reason to take the first iteration out of it (`FirstDiffers`). Arrays
that only change their names, as in `a, b = b, a`, are followed. After the loop `settle` says what is known by then.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.box.box import Box
from wengert.box.writing import settled
from wengert.capture.session import current
from wengert.capture.values import FirstDiffers, assign
from wengert.counted import all_count
from wengert.errors import Signal, StagingError
from wengert.ir import garbage
from wengert.ir.aliases import both, either, is_usable, root_of
from wengert.ir.build import Capture, type_of_value
from wengert.ir.node import Type
from wengert.ir.symbol import Sym
from wengert.ops import elementwise as e
from wengert.ops.op import Traced
from wengert.running import running

if TYPE_CHECKING:
    from wengert.capture.carried import Carried

Key = tuple[int, int]
"""A variable, by its number, and which of the arrays in it."""
Pair = tuple[Key, Key]
Facts = list[tuple[Any, Any]]
"""Arrays, and the conditions under which something is the same as them."""

_BOOL = Type((), np.dtype(bool))

_REMEDY = "make a copy: .copy()"


class Again(Signal):
    """A loop carries more than was known, or values of other types."""


def is_seen_outside(x: Any) -> bool:
    """Whether an array is an argument, or was found outside of the function."""
    session = current.session
    return isinstance(x, Box) and session is not None and session.is_from_outside(root_of(x))


class Identity:
    """See the module's text. It must not refer to the loop: reference counts tell who holds an array."""

    def __init__(self) -> None:
        self._starts: dict[Key, Any] = {}
        self._ends: dict[Key, Any] = {}
        self._moves: dict[Key, Key] = {}
        """Which variable's array, of the head of the loop, a variable stands for after an iteration."""
        self._heads: dict[Key, set[Key]] = {}
        """Those whose arrays it may stand for then."""
        self._outside: dict[Key, list[Any]] = {}
        """Arrays from outside that it may stand for then."""
        self._ever: dict[Key, list[Any]] = {}
        """Those that it may stand for after any number of iterations."""
        self._pairs: set[Pair] = set()
        """Variables that may stand for the same array, or for parts of one, after any number of iterations."""
        self.flags: dict[tuple[Key, int], Any] = {}
        """Arrays from outside for which the loop carries whether a variable stands for them."""
        self._said: dict[tuple[Key, int], Any] = {}
        self._unknown: set[tuple[Key, int]] = set()

    def open(self, capture: Capture) -> list[Sym]:
        """Parameters of a block that say which variable stands for which array."""
        self._said = {key: capture.formal(_BOOL) for key in self.flags}
        return list(self._said.values())

    def starts(self) -> list[Any]:
        """What these say before the loop."""
        return [np.bool_(self._starts[key] is box) for (key, _), box in self.flags.items()]

    # ------------------------------------------------------------------------------------------- what can be the case

    def look(self, carried: Carried, capture: Capture, after: Sequence[Any]) -> list[tuple[Any, Type]]:
        """Find out, at the end of an iteration, and refuse what values alone do not tell.

        Returns what the parameters of `open` are at the end.
        """
        opened = carried.opened
        names = {id(box): key for key, (box, _) in opened.items()}
        self._starts = {key: _array(carried.leaves(key[0])[0], key[1]) for key in opened}
        self._ends = {key: _array(carried.leaves_at_end(key[0], after[key[0]]), key[1]) for key in opened}
        self._moves = {key: names[id(now)] for key, now in self._ends.items() if id(now) in names}
        facts = {key: _facts(now, capture) for key, now in self._ends.items()}
        reached = {key: [x for x, _ in found] for key, found in facts.items()}
        self._heads = {
            key: {names[id(root_of(x))] for x in xs if id(root_of(x)) in names} for key, xs in reached.items()
        }
        self._outside = {key: [x for x in xs if not capture.made(root_of(x))] for key, xs in reached.items()}
        self._ever = {key: [*xs, *_unless_none(self._starts[key])] for key, xs in self._outside.items()}
        self._pairs = {
            (a, b) for a in opened for b in opened
            if a < b and (_meet(reached[a], reached[b]) or self._meet_at_start(a, b))
        }  # fmt: skip
        self._propagate()
        self._check(carried, capture)
        return self._flagged(facts, names, capture)

    def _flagged(self, facts: dict[Key, Facts], names: dict[int, Key], capture: Capture) -> list[tuple[Any, Type]]:
        """Whether variables stand for arrays, where that depends on the program.

        Raises `Again` if less has to be carried for that than was thought.
        """
        asked: dict[tuple[Key, int], Any] = {}
        for key, boxes in self._ever.items():
            for box in boxes:
                about = self._about(box, facts[key], names, capture)
                if not about or (len(about) == 1 and about[0][0] is box and about[0][1] is True):
                    continue  # it is the same whatever the program does
                if box._view_of is None or any(box is start for start in self._starts.values()):
                    asked[key, id(box)] = box
        waiting = list(asked)
        while waiting:  # what a variable stands for depends on what others stood for before
            question = waiting.pop()
            key, box = question[0], asked[question]
            for x, _ in self._about(box, facts[key], names, capture):
                head = names.get(id(root_of(x)))
                if head is not None and (head, id(box)) not in asked:
                    asked[head, id(box)] = box
                    waiting.append((head, id(box)))
        while unknown := {
            key for key, box in asked.items()
            if key not in self._unknown and not self._can_tell(box, facts[key[0]], names, capture)
        }:  # fmt: skip
            self._unknown |= unknown
        flags = {key: box for key, box in asked.items() if key not in self._unknown}
        if not self.flags.keys() <= flags.keys():
            self.flags = flags
            raise Again
        for flag in [f for f in flags if f not in self.flags]:  # no code inside has asked for them: they may join now
            self._said[flag] = capture.formal(_BOOL)
            self.flags[flag] = flags[flag]
        return [
            (self._stands_for(box, facts[key[0]], names, capture), _BOOL) for key, box in self.flags.items()
        ]  # fmt: skip

    def _about(self, box: Any, facts: Facts, names: dict[int, Key], capture: Capture) -> Facts:
        """The facts that say something about an array."""
        found: Facts = []
        for x, condition in facts:
            head = names.get(id(root_of(x)))
            if head is None:
                if not capture.made(root_of(x)) and root_of(x) is root_of(box):
                    found.append((x, condition))
            elif any(box is other for other in self._ever[head]):
                found.append((x, condition))
        return found

    def _can_tell(self, box: Any, facts: Facts, names: dict[int, Key], capture: Capture) -> bool:
        """Whether it can be said if a variable stands for an array from outside at the end of an iteration."""
        is_sure, can_tell = False, True
        for x, condition in self._about(box, facts, names, capture):
            head = names.get(id(root_of(x)))
            if head is not None and (id(x) not in names or (head, id(box)) in self._unknown):
                return False
            if condition is None or (head is None and x is not box):
                can_tell = False
            elif condition is True and head is None:
                is_sure = True
        return is_sure or can_tell

    def _stands_for(self, box: Any, facts: Facts, names: dict[int, Key], capture: Capture) -> Any:
        """Whether it does."""
        holds: Any = False
        for x, condition in self._about(box, facts, names, capture):
            head = names.get(id(root_of(x)))
            if head is None:
                holds = _or(holds, condition if x is box else None)
            else:
                holds = _or(holds, both(condition, self._said[head, id(box)]))
        return holds

    def _meet_at_start(self, a: Key, b: Key) -> bool:
        """Whether two variables may stand for the same array, or for parts of one, before the loop."""
        x, y = self._starts[a], self._starts[b]
        return x is not None and y is not None and running.state.capture.links.connects(x, y)

    def _propagate(self) -> None:
        """What may be the case at the head of an iteration may be so at its end, under other names, and so on."""
        changed = True
        while changed:
            changed = False
            for key, others in self._heads.items():
                for other in others:
                    for box in self._ever[other]:
                        if not any(box is known for known in self._ever[key]):
                            self._ever[key].append(box)
                            changed = True
            for a, b in [(a, b) for a in self._heads for b in self._heads if a < b and (a, b) not in self._pairs]:
                if any(p == q or _pair(p, q) in self._pairs for p in self._heads[a] for q in self._heads[b]):
                    self._pairs.add((a, b))
                    changed = True

    # --------------------------------------------------------------------------------------------- what is not allowed

    def _check(self, carried: Carried, capture: Capture) -> None:
        # (A variable of `lower.py` holds what is returned: afterwards nothing is written any more.)
        opened = {k: v for k, v in carried.opened.items() if not carried.names[k[0]].startswith("_wengert")}
        used = {id(a) for node in capture.nodes for a in (*node.args, *node.sizes)}
        read = {key for key, (_, var) in opened.items() if id(var) in used} | set(self._moves.values())
        written = {key for key, (box, var) in opened.items() if settled(box)._node is not var}
        roots = {
            key for key, root in carried.roots.items()
            if not isinstance(settled(root), Sym) or settled(root)._node is not carried.adopted.get(key)
        }  # fmt: skip
        for a, b in self._pairs:
            if (a in written and b in read) or (b in written and a in read):
                names = [carried.names[k] for k, _ in (a, b)]
                at_start = self._meet_at_start(a, b)
                raise (FirstDiffers if at_start else StagingError)(
                    f"in a loop {names[0]} and {names[1]} may be names of one array, and it is written to",
                    remedy=_REMEDY,
                )
        rotating = self._rotating()
        read_roots = {key for key, var in carried.adopted.items() if id(var) in used}
        for key in opened:
            for box in self._ever[key]:
                is_read = id(root_of(box)) in read_roots or _is_taken(root_of(box), capture)
                self._check_one(key, box, carried, capture, read, written, roots, rotating, is_read)

    def _check_one(self, key: Key, box: Any, carried: Carried, capture: Capture, read: set, written: set,
                   roots: set[int], rotating: set[Key], is_read: bool) -> None:  # fmt: skip
        name = carried.names[key[0]]
        is_start = any(box is start for start in self._starts.values())
        kind = FirstDiffers if is_start else StagingError
        if key in written:
            follows = key in rotating and any(box is self._starts[other] for other in rotating)
            follows = follows and not capture.links.concern(box)
            if not follows and (is_seen_outside(box) or self._is_held(box, carried, capture)):
                raise kind(f"a loop writes to {name}, which may be one of several names of an array, and lets it stand "
                           "for another array", remedy=_REMEDY)  # fmt: skip
            if follows and is_read:  # under a name that the loop does not carry
                if is_seen_outside(box) or self._is_held(box, carried, capture):
                    raise kind(f"a loop writes to {name}, and reads the same array under another name", remedy=_REMEDY)
        if id(root_of(box)) in roots and key in read:
            raise kind(f"in a loop {name} may be another name of an array that the loop writes to", remedy=_REMEDY)

    def _is_held(self, box: Any, carried: Carried, capture: Capture) -> bool:
        """Whether somebody has an array besides the variable that stood for it before the loop."""
        if box._view_of is not None:
            return True
        own = [*self._starts.values(), *self._ends.values(), *carried.roots.values()]
        own += [x for xs in (*self._outside.values(), *self._ever.values(), self.flags.values()) for x in xs]
        known = sum(x is box for x in own) + (id(box) in capture.written) + capture.links.in_states(box, capture)
        del own
        for look_again in (True, False):
            if not capture.links.count(box) and sys.getrefcount(box) - known <= _OF_THE_CHECK:
                return False
            if look_again:
                garbage.collect()  # what only a cycle holds nobody has
        return True

    # --------------------------------------------------------------------------------------------- arrays that rotate

    def _rotating(self) -> set[Key]:
        """The variables whose arrays, all of one type, only change places among them."""
        keys = {key for key, other in self._moves.items() if self._are_alike(key, other)}
        while {self._moves[key] for key in keys} != keys:
            keys = {key for key in keys if self._moves[key] in keys} & {self._moves[key] for key in keys}
        return keys

    def _are_alike(self, a: Key, b: Key) -> bool:
        """Whether two variables had arrays of one type before the loop. (Of a length that is known only when the
        program runs, it is not known afterwards that it still is the same.)"""
        x, y = self._starts[a], self._starts[b]
        if x is None or y is None:
            return x is y
        return _fits(x, y) and all(n.__class__ is int for n in x.shape)

    def _rotate(self, values: dict[Key, Any], count: Any) -> set[Key]:
        """Give arrays that have changed places what the names hold that stand for them after so many iterations.

        Names get the arrays themselves where it is known which they mean; these names are returned.
        """
        keys = self._rotating()
        means = {key: key for key in keys}  # which array each name means after some iterations
        rounds: list[dict[Key, Key]] = []
        while not rounds or any(means[key] != key for key in keys):
            rounds.append({array: key for key, array in means.items()})
            means = {key: means[self._moves[key]] for key in keys}
        found: dict[Key, Any] = {}
        for key in keys:
            start = self._starts[key]
            if start is None or not _fits(start, values[key]):
                continue
            if not isinstance(count, Traced) or len(rounds) == 1:
                name = rounds[0 if isinstance(count, Traced) else count % len(rounds)][key]
                _fill(start, values[name])
                found[name] = start
            else:
                names = [chosen[key] for chosen in rounds]
                content = values[names[-1]]
                for r in range(len(names) - 2, -1, -1):
                    content = e.where(e.equal(e.remainder(count, len(rounds)), r), values[names[r]], content)
                _fill(start, content)
        values.update(found)
        return set(found)

    # ------------------------------------------------------------------------------------------------- after the loop

    def settle(self, carried: Carried, values: dict[Key, Any], said: Sequence[Any], count: Any) -> None:
        """After the loop: let variables stand for the arrays that they share with others, or note that they may.

        `said` is what the parameters of `open` have become.
        """
        self._said = dict(zip(self.flags, said, strict=True))
        done = self._rotate(values, count) if self._moves else set()
        ran: Any = not carried.may_not_run or e.greater(count, 0)
        for key, boxes in self._outside.items():
            now = self._ends[key]
            if ran is True and any(now is box for box in boxes) and is_usable(now) and _fits(now, values[key]):
                values[key] = now
                done.add(key)
        for a, b in self._pairs:
            if a in done and b in done:
                continue
            same: Any = None
            if self._ends[a] is self._ends[b] and _fits(values[a], values[b]):
                if ran is True or self._starts[a] is self._starts[b]:
                    same = True
                elif not self._meet_at_start(a, b):
                    same = ran
            if same is True:
                values[b] = values[a]
            else:
                _link(values[a], values[b], same, any(carried.names[k].startswith("_wengert") for k, _ in (a, b)))
        for key in [key for key in self._ever if key not in done and key in values]:
            for box in self._ever[key]:
                same = self._when(key, box, ran)
                if same is not False:
                    _link(values[key], box, same, carried.names[key[0]].startswith("_wengert"))

    def _when(self, key: Key, box: Any, ran: Any) -> Any:
        """When a variable stands for an array from outside, after the loop."""
        if (key, id(box)) in self._said:
            return self._said[key, id(box)]
        if self._heads[key]:
            return None
        if any(box is x for x in self._outside[key]):
            return ran if box is self._ends[key] else None
        return False if ran is True else e.logical_not(ran)  # what it stood for before the loop


_OF_THE_CHECK = 5
"""References to an array while `_is_held` looks: the variable's old value, `box` in three functions, an argument."""


def _is_taken(root: Any, capture: Capture) -> bool:
    """Whether the value of an array, or of a view of it, is used inside."""
    views = [ref() for ref in root._views or ()]
    return any(capture.has_taken(x) or capture.has_read(x) for x in (root, *views) if x is not None)


def _link(a: Any, b: Any, same: Any, is_to_be_returned: bool) -> None:
    capture = running.state.capture
    capture.links.add(a, b, same, capture, is_to_be_returned)


def _fits(a: Any, b: Any) -> bool:
    return type_of_value(a) == type_of_value(b)


def _array(leaves: Sequence[Any], j: int) -> Any:
    x = leaves[j] if j < len(leaves) else None
    return x if isinstance(x, Box) and x.shape else None


def _unless_none(x: Any) -> list[Any]:
    return [] if x is None else [x]


def _facts(now: Any, capture: Capture) -> Facts:
    """The arrays that a variable may stand for at the end of an iteration, with the conditions."""
    if now is None:
        return []
    if not capture.made(root_of(now)):
        return [(now, True)]
    return [(now, True), *capture.links.reached_from(now, capture)]


def _or(a: Any, b: Any) -> Any:
    return b if a is False else a if b is False else either(a, b)


def _meet(xs: Sequence[Any], ys: Sequence[Any]) -> bool:
    return any(root_of(x) is root_of(y) for x in xs for y in ys)


def _pair(a: Key, b: Key) -> Pair:
    return (a, b) if a < b else (b, a)


def _fill(array: Any, new: Any) -> None:
    """Let an array, or the part of one that a view shows, have a new content."""
    if array._view_of is None:
        assign(array, new)
    else:
        array[...] = new


all_count(globals())
