"""Branches, staged: both suites of an `if` become blocks, and a `cond` is recorded.

What the suites bind and write to are results of the `cond`. A name may afterwards stand for an array that has other
names too, in one branch or in both: `_same_arrays` finds out, and `ir/aliases.py` keeps them together.
"""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections import deque
from collections.abc import Callable, Sequence
from types import CellType
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.contents import Content
from wengert.box.writing import SETTLING, clone, own_array, settled
from wengert.capture.assuming import TELLS_INTEGERS_APART, TELLS_NUMBERS_APART, assumed, tells_apart
from wengert.capture.carried import cells_of, forget_variables
from wengert.capture.containers import (
    contents,
    depth,
    described_slot,
    freeze,
    held_elsewhere,
    hold_references,
    leaves_within,
    note_change,
    put_all,
)
from wengert.capture.counters import decided_by_few_iterations
from wengert.capture.exceptions import OWN_ERRORS, Fails, current_attempt, demand, raise_when_run
from wengert.capture.growing import Grows
from wengert.capture.identified import note_chosen
from wengert.capture.merging import Merger, finished
from wengert.capture.objects import Global, content, put
from wengert.capture.one_of import answer_in, knowing, negated, note_answer
from wengert.capture.opened import stand_for_others
from wengert.capture.opening import opening
from wengert.capture.outlived import note_standing
from wengert.capture.session import current
from wengert.capture.undefined import UNDEFINED, Perhaps, is_of_user, what_is_raised
from wengert.capture.undefined import defined as known_to_be_defined
from wengert.capture.values import (
    AxesDiffer,
    BranchesDiffer,
    arguments,
    assign,
    converted,
    is_symbolic,
    may_be_integer,
    note_either,
    note_mixed,
    truth,
    widened,
)
from wengert.control.cond import cond
from wengert.errors import ConcretizationError, StagingError, UnsupportedFunctionError
from wengert.ir.aliases import any_overlap, root_of
from wengert.ir.build import Capture, capturing, type_of_value
from wengert.ir.node import Block, Type
from wengert.ir.numbers import innermost
from wengert.ir.symbol import Sym
from wengert.ops import elementwise as e
from wengert.ops.op import Traced, call
from wengert.ops.shape import reshape
from wengert.ops.sizes import require
from wengert.packages import is_ours
from wengert.running import running
from wengert.types import SCALARS, dtype_of, shape_of

Facts = list[tuple[Any, Any]]
"""Arrays that a value may be the same as, each with the condition (`ir/aliases.py`)."""


REFUSED = (ConcretizationError, StagingError, UnsupportedFunctionError)
"""What is raised where something cannot be captured. (Classes derived from these say what can be done about it.)"""
_REFUSED_IN = "_refused_in"
"""The attribute of an error that says whether it was raised in the first branch, in the second, or because of both."""
_MANY = 20
"""Links between so many arrays are not looked at."""
_DEEPEST = 400
"""Branches are staged in each other to this depth: a function that calls itself until some value is reached is not."""


_SELDOM, _SURELY_ENDLESS = 16, 60
"""At every sixteenth branch inside of another it is asked how often a function calls itself; so many calls, each in a
branch of the one before, have no end that is known: to go on to the depth above takes ten seconds."""
_MOST = 600
"""So many branches are staged of functions that call themselves as data say: two calls each would be 2ⁿ."""


def _calls_of_itself(outermost: Any) -> int:
    """How many calls of one and the same function are under way in what is being captured, by the code `outermost`."""
    counts: dict[Any, int] = {}
    frame = sys._getframe(1)
    while frame is not None and frame.f_code is not outermost:
        if not is_ours(frame.f_code.co_filename):
            counts[frame.f_code] = counts.get(frame.f_code, 0) + 1
        frame = frame.f_back  # type: ignore[assignment]
    return max(counts.values(), default=0)


class _Branch:
    """One branch of an `if` that has been run."""

    def __init__(self, function: Callable | None, state: tuple, get: Callable, set: Callable):
        self.capture = Capture()
        self.ends = True
        self.error: Exception | None = None
        self.fails: Fails | None = None
        """Set if the branch is in a statement of a `try` that is to begin again, on a condition."""
        self.value: Any = None
        self.state = state
        """Whether the branch gets to its end: it does not if it reads a variable that has no value."""
        self.objects: dict[int, tuple[Any, Content]] = {}
        """Lists, dicts and instances that are changed in the branch, with what they hold at its end."""
        try:
            with capturing(self.capture):
                try:
                    self._run(function, state, get)
                except Fails as fails:
                    if fails.depth != depth():
                        raise
                    mine = not fails.attempt.cells.isdisjoint(cells_of(get)) or get.__code__.co_names
                    bound = bool(mine) and any(map(operator.is_not, get(), state))
                    fails.more = fails.more or bound or bool(self.capture.written) or bool(self.capture.objects)
                    self.fails, self.value, self.state = fails, fails.ok, state
                self._note_arrays()
        finally:
            self.changed = self.capture.restore()
            forget_variables(self.capture, get)
            set(state)
            now = contents(self.capture.objects)
            put_all(self.capture.objects)
            kept, self.state, self.value = [*self.state, self.value], (), None  # (references to them are counted)
            held = held_elsewhere(self.capture.objects, now, kept)
            self.value, self.state = kept.pop(), tuple(kept)
            self.objects = {key: found for key, found in now.items() if key in held}
            put_all({key: found for key, found in now.items() if key not in held})  # they were made in the branch
            self.capture.objects.clear()

    def _run(self, function: Callable | None, state: tuple, get: Callable) -> None:
        try:
            self.value = None if function is None else function()
            self.state = get()
        except NameError as error:
            if not is_of_user(error):
                raise
            self.ends, self.value, self.state = False, UNDEFINED, state
            self.error = error
            self.capture.process(require, (False,), {"error": type(error).__name__, "message": str(error)})
        except Exception as error:  # in Python it is raised only if the branch is taken
            if isinstance(error, OWN_ERRORS):
                raise
            self.ends, self.value, self.state, self.error = False, UNDEFINED, state, error
            raise_when_run(error)

    def _note_arrays(self) -> None:
        """Note what arrays that are written to in the branch, and views of them, hold at its end; and which arrays
        they may be the same as."""
        self._at_end: dict[int, tuple[Any, Any]] = {}
        self._facts: dict[int, Facts] = {}
        held = [value for thing, _ in self.capture.objects.values() for value in content(thing).values()]
        for leaf in leaves_within((self.value, self.state, held)):
            if not isinstance(leaf, Box) or id(leaf) in self._facts:
                continue
            root = root_of(leaf)
            if id(root) in self.capture.written or leaf._owner is SETTLING:
                now = settled(leaf)
                self._at_end[id(leaf)] = (leaf, clone(now) if isinstance(now, Traced) else now)
            if leaf.shape or leaf._is_array:
                made = self.capture.made(root)
                self._facts[id(leaf)] = self.capture.links.reached_from(leaf, self.capture) if made else [(leaf, True)]

    def at_end(self, x: Any) -> Any:
        """What a value is at the end of the branch; also an array from outside, in an object that only the other branch
        changes."""
        if id(x) in self._at_end or not isinstance(x, Box):
            return self._at_end.get(id(x), (None, x))[1]
        for root, new in self.changed:
            if root is root_of(x):
                return new if root is x else self._part(new, x._view_of)
        return x

    def _part(self, root: Any, view: Any) -> Any:
        """What a view of an array shows at the end of the branch."""
        self.capture.alive = True
        with capturing(self.capture):
            return view.function(root if shape_of(root) == view.shape else call(reshape, root, shape=view.shape))

    def _facts_of(self, x: Any) -> Facts:
        """Which arrays a value may be; one from outside is itself, whoever has it."""
        known = self._facts.get(id(x))
        if known is None and isinstance(x, Box) and (x.shape or x._is_array) and not self.capture.made(root_of(x)):
            return [(x, True)]
        return known or []

    def same(self, values: Sequence[Any]) -> dict[tuple[int, Any], tuple[Any, Any]]:
        """Which values may be the same as an array from outside, or as another one of them: for the number of the
        value and the id of the array, or the number of the other value, the array and the condition."""
        found: dict[tuple[int, Any], tuple[Any, Any]] = {}
        facts = [self._facts_of(x) for x in values]
        for i, x in enumerate(values):
            for other, holds in facts[i]:
                if not self.capture.made(root_of(other)):
                    found[i, ("outside", id(other))] = (other, holds)
            for j in [j for j in range(i) if facts[j]] if facts[i] else ():
                y = values[j]
                if root_of(x) is root_of(y):
                    if self.capture.made(root_of(x)):
                        found[i, j] = (None, True if x is y else None)
                    continue
                for other, holds in facts[i]:
                    if root_of(other) is root_of(y):
                        found[i, j] = (None, holds if other is y else None)
        return found

    def reopened(self, values: Sequence[Any], types: Sequence[Type]) -> list[Any]:
        """These values, in these types, as operands of the block."""
        self.capture.alive = True
        with capturing(self.capture):
            return [self.capture.operand(converted(v, t)) for v, t in zip(values, types, strict=True)]


def branch(pred: Any, then: Callable, orelse: Callable | None, get: Callable, set: Callable, names: Sequence[str],
           temporaries: Sequence[str] = (), opens: bool = True) -> Any:  # fmt: skip
    """Stage a branch; bind what it binds; return what it returns. Unless it `opens` lists that become longer in it,
    that is up to a branch around it."""
    if depth() > _DEEPEST:
        raise RecursionError
    session = current.session
    if session is not None and session.deepest is None and depth() % _SELDOM == _SELDOM - 1:
        if _calls_of_itself(session.code) > _SURELY_ENDLESS:
            raise RecursionError
    if session is not None and session.deepest is not None:
        session.branches += 1
        if session.branches > _MOST:
            raise RecursionError
        if _calls_of_itself(session.code) > session.deepest:  # which the branch around turns into what the program does
            raise RuntimeError(
                f"a function calls itself more than {session.deepest} times in a compiled function: write a loop, or "
                "call it without wg.jit"
            )
    attempt = current_attempt()
    checks = 0 if attempt is None else attempt.checks
    answer = answer_in(pred)
    then, orelse = knowing(answer, True, then), knowing(answer, False, orelse)  # type: ignore[assignment]
    try:
        return _opening(lambda: _staged(pred, then, orelse, get, set, names, temporaries), opens)
    except REFUSED as error:
        if isinstance(error, Grows) and (error.is_for_loops or not opens):
            raise
        refused_in = error.__dict__.pop(_REFUSED_IN, "elsewhere")
        if not isinstance(error, BranchesDiffer) and (refused_in == "elsewhere" or type(error) not in REFUSED):
            raise
        only = None if refused_in in ("elsewhere", "both") else not refused_in
        if attempt is not None:
            attempt.checks = checks
        is_taken = assumed(truth(pred), error, only)
        if is_taken is None:
            error.is_in_branch = True  # type: ignore[union-attr]
            raise
    function = then if is_taken else orelse
    return None if function is None else function()


def _opening(stage: Callable[[], Any], opens: bool) -> Any:
    """Stage a branch, in which lists may become longer; but where the program is for one of the branches anyway, that
    is all right, unless it is in a loop."""
    session = current.session
    if session is not None and session.assumed is not None:
        if not any(t.varying for t in running.state.traces if t.__class__ is Capture):
            return opening(stage, placed_only=True)
    return opening(stage, placed_only=not opens)


def _staged(pred: Any, then: Callable, orelse: Callable | None, get: Callable, set: Callable, names: Sequence[str],
            temporaries: Sequence[str]) -> Any:  # fmt: skip
    attempt = current_attempt()
    number, taken = (0, None) if attempt is None else attempt.enter()
    if taken is not None:
        function = then if taken else orelse
        return None if function is None else function()
    state = get()
    answer = answer_in(pred)
    pred = truth(pred)
    states = running.state.capture.links.states
    states.append((running.state.capture.tag, state))
    try:
        branches = []
        for f in (then, orelse):
            checks = 0 if attempt is None else attempt.enter_branch()
            try:
                branches.append(_Branch(f, state, get, set))
            except REFUSED as error:
                if type(error) in REFUSED:
                    error.__dict__[_REFUSED_IN] = f is then
                raise
            if branches[-1].fails is not None:
                raise _failing(pred, branches[-1], (number, len(branches) == 1, checks))
    finally:
        states.pop()
    try:
        return _joined(pred, answer, branches, state, set, names, temporaries)
    except ConcretizationError as error:  # examples of a batch cannot go different ways
        error.__dict__[_REFUSED_IN] = "both"
        raise


def _joined(pred: Any, answer: Any, branches: list[_Branch], state: tuple, set: Callable, names: Sequence[str],
            temporaries: Sequence[str]) -> Any:  # fmt: skip
    """Record the `cond` of two branches that were captured; let variables, objects and arrays be what it gives."""
    _follow_the_other(state, *branches)
    ends = [b.objects for b in branches]
    merger = Merger([b.capture for b in branches], ends, not all(b.ends for b in branches))
    merged = [
        UNDEFINED if name in temporaries else merger.merge(branches[0].state[k], branches[1].state[k], name)
        for k, name in enumerate(names)
    ]
    result = merger.merge(branches[0].value, branches[1].value, "the value")
    objects = _merged_objects(branches, merger, pred)
    outputs = merger.outputs
    links = _same_arrays(branches, outputs)
    bare = [k for k, (a, b, _) in enumerate(outputs) if _has_no_axes(a, b, [each.capture for each in branches])]
    outputs = [(branches[0].at_end(a), branches[1].at_end(b), name) for a, b, name in outputs]
    roots = {id(root): root for b in branches for root, _ in b.changed}
    contents = [{id(root): new for root, new in b.changed} for b in branches]
    for key, root in roots.items():
        outputs.append((contents[0].get(key, root), contents[1].get(key, root), "an array"))
    found = _recorded(pred, answer, branches, outputs)
    for k in bare:
        found[k] = own_array(found[k])
    set(tuple([finished(m, found) for m in merged]))
    for thing, slots in objects:
        note_change(thing)
        put(thing, {slot: finished(m, found) for slot, m in slots.items()})
    value = finished(result, found)
    note_chosen(merger.chosen, pred)
    note_standing(merger.chosen)
    for thing, why in merger.originals:
        freeze(thing, why)
    merger.forget()
    for root, new in zip(roots.values(), found[len(found) - len(roots) :], strict=True):
        assign(root, new)
    for each in links:
        each.make(pred, found)
    for b in branches:
        for kept in (b.capture.written, b.capture.objects, b.capture.created):
            kept.clear()  # a capture lives on in its symbols, and must not hold these
    return value


def _recorded(pred: Any, answer: Any, branches: Sequence[_Branch], outputs: Sequence[tuple]) -> list[Any]:
    """The results of the `cond` of two branches: one for each of `outputs`, which are what it is in either, and a name.

    `answer` is what the condition says of one of several things, if anything.
    """
    types = []
    for a, b, name in outputs:
        known = [type_of_value(v) for v in (a, b) if v is not UNDEFINED]
        types.append(known[0] if len(known) == 1 else _common(known[0], known[1], name))
        if len(known) > 1:
            _check_numbers(a, b, types[-1], name)
    results = [b.reopened([o[k] for o in outputs], types) for k, b in enumerate(branches)]
    values, params = arguments([b.capture for b in branches])
    blocks = [Block(params[k], b.capture.nodes, results[k]) for k, b in enumerate(branches)]
    found = list(call(cond, pred, *values, then=blocks[0], orelse=blocks[1]))
    for y, (a, b, _), type in zip(found, outputs, types, strict=True):
        note_either(y, a, b, is_chosen=True)
        if answer is not None and {a.__class__, b.__class__} == {bool} and a is not b:
            note_answer(y, answer if a else negated(answer))
        if type.dtype.kind == "f" and not type.shape:
            note_mixed(y, any(map(may_be_integer, (a, b))))
    return found


def _common(a: Type, b: Type, name: str) -> Type:
    """The type of what is a value of one type or of the other: dtypes do not depend on values."""
    if len(a.shape) != len(b.shape):
        raise AxesDiffer(
            f"{_called(name)} is {_with_axes(a)} in one branch and {_with_axes(b)} in the other of an if that depends "
            "on a value known only when the compiled program runs",
            remedy="let it have as many axes in both, for instance by np.full(shape, value)",
        )
    truth = not a.shape and not b.shape and "b" in (a.dtype.kind, b.dtype.kind)  # `x != y and x` is asked, not computed
    if a.dtype != b.dtype and not a.weak and not b.weak and not truth:
        raise BranchesDiffer(
            f"{_called(name)} is of type {a.dtype} in one branch and of type {b.dtype} in the other of an if that "
            "depends on a value known only when the compiled program runs",
            remedy=f"convert it in one of them: .astype(np.{np.result_type(a.dtype, b.dtype)})",
        )
    return widened(a, b, name)


def _check_numbers(a: Any, b: Any, type: Type, name: str) -> None:
    """Refuse to put numbers of Python's and of NumPy's together where that matters, or where digits would be lost."""
    kinds = [type_of_value(x) for x in (a, b)]
    if kinds[0].weak and kinds[1].weak and type.dtype.kind == "f" and tells_apart(TELLS_INTEGERS_APART):
        if any(map(may_be_integer, (a, b))):
            raise BranchesDiffer(
                f"{_called(name)} is an integer in one branch and a float in the other of an if that depends on a "
                "value known only when the compiled program runs, and it is asked which",
                remedy="convert it in one of them: float(x), or int(x)",
            )
    if type.shape or kinds[0].weak == kinds[1].weak:
        return
    number = a if kinds[0].weak else b
    own = dtype_of(number)
    other = kinds[kinds[0].weak].dtype
    wraps = other.kind in "iu" and other != np.dtype(int)  # and numbers of Python's do not
    if (
        not wraps
        and not tells_apart(TELLS_NUMBERS_APART)
        and (np.can_cast(own, type.dtype) or _keeps_its_digits(number, type.dtype))
    ):
        return
    raise BranchesDiffer(
        f"{_called(name)} is a number of Python's in one branch and a {kinds[kinds[0].weak].dtype} of NumPy's in "
        "the other of an if that depends on a value known only when the compiled program runs",
        remedy=f"convert it in one of them: float(x), or np.{kinds[kinds[0].weak].dtype}(x)",
    )


def _keeps_its_digits(number: Any, dtype: np.dtype) -> bool:
    """Whether a constant is one of a dtype. Of what a loop carries, only its start need be one."""
    if number.__class__ in SCALARS:
        return bool(dtype.type(number) == number)
    symbol = innermost(number)
    return symbol.__class__ is not Sym or not symbol._node.stable


def _called(name: str) -> str:
    return "what the function returns" if name.startswith("_wengert") else name


def _with_axes(t: Type) -> str:
    n = len(t.shape)
    return "a number" if not n else f"an array of {n} {'axis' if n == 1 else 'axes'}"


def _failing(pred: Any, failing: _Branch, place: tuple[int, bool, int]) -> Fails:
    """The condition on which a statement of a `try` goes on, if one branch of an `if` inside it checks something."""
    other = Capture()
    boolean = Type((), np.dtype(bool), False)
    with capturing(other):
        holds = other.operand(converted(True, boolean))
    results = [failing.reopened([failing.value], [boolean]), [holds]]
    values, params = arguments([failing.capture, other])
    blocks = [Block(params[k], c.nodes, results[k]) for k, c in enumerate((failing.capture, other))]
    then, orelse = blocks if place[1] else blocks[::-1]
    assert failing.fails is not None
    (ok,) = call(cond, pred, *values, then=then, orelse=orelse)
    return Fails(failing.fails.attempt, ok, failing.fails.error, (place, *failing.fails.path), failing.fails.more)


def _merged_objects(branches: Sequence[_Branch], merger: Merger, pred: Any) -> list[tuple[Any, Content]]:
    """Objects that one of the branches changes, with what they hold afterwards."""
    merged: list[tuple[Any, Content]] = []
    for key, (thing, _) in {**branches[1].objects, **branches[0].objects}.items():
        a, b = (dict(branch.objects[key][1]) if key in branch.objects else content(thing) for branch in branches)
        for branch, slots in zip(branches, (a, b), strict=True):
            if not branch.ends:
                slots.update(dict.fromkeys({**a, **b}, UNDEFINED))
        if thing.__class__ in (list, deque):
            items = [[v for (kind, _), v in slots.items() if kind == "item"] for slots in (a, b)]
            is_other = stand_for_others(*items) and not hold_references(*items)
            if is_other and all(branch.ends for branch in branches):
                grows = Grows(thing, len(thing), [*items[0], *items[1]])
                grows.is_for_loops = decided_by_few_iterations(pred)
                raise grows
        if list(a) != list(b):
            raise BranchesDiffer(
                f"in one branch of an if that depends on a value known only when the compiled program runs an object "
                f"becomes {_held(thing, a)}, in the other {_held(thing, b)}",
                remedy="let it hold the same number of things, under the same names, in both branches",
            )
        merged.append((thing, {slot: merger.merge(a[slot], b[slot], described_slot(thing, slot)) for slot in a}))
    return merged


def _held(thing: Any, slots: Content) -> str:
    if isinstance(thing, (CellType, Global)):
        return "a variable with a value" if slots else "a variable without one"
    names = [str(key) if kind != "key" else repr(key) for kind, key in slots if kind in ("key", "attribute")]
    items = sum(kind in ("item", "element") for kind, _ in slots)
    if names:
        return f"a {type(thing).__name__} with {', '.join(names)}"
    return f"a {type(thing).__name__} of {items} item{'' if items == 1 else 's'}"


def _follow_the_other(state: tuple, first: _Branch, second: _Branch) -> None:
    """Let variables have no value after a branch that does not get to its end, if the other branch binds them."""
    if not first.ends and not second.ends:
        if isinstance(first.error, NameError):
            raise type(first.error)("a variable is read that has no value in either branch of an if")
        raise first.error or second.error or StagingError("neither branch of an if gets to its end")
    for a, b in ((first, second), (second, first)):
        if not a.ends:
            a.state = tuple([old if new is old else UNDEFINED for old, new in zip(state, b.state, strict=True)])


def _has_no_axes(a: Any, b: Any, captures: Sequence[Capture]) -> bool:
    """Whether a name stands for an array without axes, and not for a number, after both branches; or after one, and
    others may have the same array."""
    is_array = [isinstance(x, Box) and not x.shape and x._is_array for x in (a, b)]
    if all(is_array) or not any(is_array) or a is UNDEFINED or b is UNDEFINED:
        return all(is_array)
    return not captures[is_array.index(True)].made(root_of((a, b)[is_array.index(True)]))


@dataclasses.dataclass
class _SameArray:
    """A result of a `cond` may be the same array as another result, or one from outside."""

    result: int
    other: Any
    conditions: tuple[Any, Any]
    """In the two branches: `False`, `True`, or `None` (not known)."""
    told_by: int | None
    """The number of the result that says it, if it does not depend on the branch only."""
    is_to_be_returned: bool
    group: Any = None

    def make(self, pred: Any, found: list[Any]) -> None:
        capture = running.state.capture
        array = found[self.result]
        other = found[self.other] if self.other.__class__ is int else self.other
        same: Any = None
        if self.told_by is not None:
            same = found[self.told_by]
        elif self.conditions == (True, True):
            same = True
        elif self.conditions == (True, False):
            same = pred
        elif self.conditions == (False, True):
            same = e.logical_not(pred)
        capture.links.add(array, other, same, capture, self.is_to_be_returned, self.group)


def _same_arrays(branches: Sequence[_Branch], outputs: list[tuple[Any, Any, str]]) -> list[_SameArray]:
    """Find out which results may be the same arrays; conditions that are known in a branch only become results."""
    found = [b.same([o[k] for o in outputs]) for k, b in enumerate(branches)]
    links: list[_SameArray] = []
    for key in {**found[0], **found[1]}:
        others, conditions = zip(*[f.get(key, (None, False)) for f in found], strict=True)
        i, other = key
        internal = [outputs[k][2].startswith("_wengert") for k in (i, other) if k.__class__ is int]
        if other.__class__ is not int:
            other = others[0] if others[0] is not None else others[1]
        told_by = None
        if any(c is None for c in conditions):
            conditions = (None, None)
        elif any(c.__class__ is not bool for c in conditions):
            told_by = len(outputs)
            outputs.append((*conditions, "a condition"))
        links.append(_SameArray(i, other, conditions, told_by, any(internal)))
    _note_exchange(links)
    return links


def _note_exchange(links: Sequence[_SameArray]) -> None:
    """Put links into one group (`ir/aliases.py`) if no two results are one array in either branch: `u, v = v, u`."""
    outside = {id(link.other): link.other for link in links if link.other.__class__ is not int}
    is_clear = all(c.__class__ is bool for link in links for c in link.conditions)
    ways = [(id(link.other), k) for link in links for k, holds in enumerate(link.conditions) if holds is True]
    if is_clear and len(ways) == len(set(ways)) and len(outside) < len(links) < _MANY and len(outside) > 1:
        if not any(link.is_to_be_returned for link in links) and not any_overlap([*outside.values()]):
            group = object()
            for link in links:
                link.group = group


def defined(name: str, value: Any, is_free: bool = False) -> Any:
    """The value of a variable that may have none: where only the program knows, it raises."""
    if value.__class__ is not Perhaps:
        return known_to_be_defined(name, value, is_free)
    if is_symbolic(value.has):
        kind, text = what_is_raised(name, is_free)
        demand(value.has, kind.__name__, text)
    elif not value.has:
        return known_to_be_defined(name, UNDEFINED, is_free)
    return value.value
