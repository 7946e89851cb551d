"""Loops of users' functions, as they stand, reversed with few states kept.

Under a budget a loop in a differentiated function is run iteration by iteration, each recorded on a tape of its own,
which is dropped. What is kept are snapshots of everything that the loop can reach (`snapshots.py`), as many as there
may be; in the reverse sweep iterations are run again from these, recorded, and pulled back one after the other. To the
tape around it the loop is one linear map: from all traced arrays that it can reach before, to those that it changed.

Where the number of iterations is known, the states to keep are those of binomial checkpointing
(`graphs/checkpoints.py`). Where it is not, states give way to later ones as it goes on (`least_useful` there).

Code that is run again may do something else: an iterator inside of it has moved on, a file was read. So a fingerprint
of the results of each iteration is kept, and another result is an error.

A call that is to be run again (`checkpoint`) is a loop of one iteration of which nothing but the state before is kept.
Within a number of bytes all calls outside of loops are such units, of which everything is kept while there is room for
it: divide and conquer over the tree of calls (Siskind and Pearlmutter 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from wengert.box.writing import become, clone, make_views_stale, plain
from wengert.capture.snapshots import Reachable, Snapshot
from wengert.control.budget import Account, LoopSizes, account, inside
from wengert.control.states_on_disk import StatesOnDisk
from wengert.errors import BudgetError, InPlaceError, UnsupportedFunctionError, WengertError
from wengert.graphs.checkpoints import Segments, best_split, least_useful
from wengert.identical import fingerprint
from wengert.modes.held import bytes_of_nodes, memory_of
from wengert.modes.tape import Recorded, ResultsOfOps, Tape, TapeTrace, record
from wengert.types import aval_of

_OWN = 8
"""The part of what is left that a call gets for what it keeps outside of the calls that it makes."""


class _Kept:
    """A state: everything as it is before an iteration, and the arrays that are traced there."""

    def __init__(self, at: int, roots: Sequence[Any], active: Sequence[Any]):
        self.at = at
        self.snapshot = Snapshot(roots)
        self.active = list(active)
        self.nbytes = sum(getattr(plain(box), "nbytes", 8) for box in self.active)
        self.start = 0
        """Where in the file the state begins, if it lies on disk."""

    def move_to(self, disk: StatesOnDisk, first: _Kept) -> None:
        """Let the state lie on disk, without what it shares with the first one."""
        self.start = disk.end
        self.snapshot.move_to(disk, {id(getattr(held, "_value", None)) for _, held in first.snapshot.boxes})

    def restore(self) -> list[Any]:
        self.snapshot.restore()
        return list(self.active)


class RepeatingLoop:
    """A loop while it is run for the first time, and afterwards what is needed to go backwards through it.

    `iterate(k)` runs iteration k and says whether there is another one; `count` is how many there are, if that is
    known. `roots` are the functions that it consists of.
    """

    def __init__(self, trace: TapeTrace, iterate: Callable[[int], bool], count: int | None, roots: Sequence[Any]):
        self.trace, self.iterate, self.count = trace, iterate, count
        reached = Reachable(roots)
        self.roots = [*roots, *reached.boxes, *reached.things]
        self.arrays = [x for x in reached.arrays if x.flags.writeable]
        self.stack: list[_Kept] = []
        self.active = [box for box in reached.boxes if _is_of(box, trace)]
        self.what = ""
        """What it is, for messages, if it is no loop."""
        self.results: ResultsOfOps | None = None
        """Of a call: which results of ops are kept all the same."""
        self.done = 0
        """How many iterations there were."""
        self.at = 0
        self.prints: list[int] = []
        self.last: list[Recorded] = []
        """The programs of the last iterations, from the first sweep."""
        self.inner_memory = 0
        self.is_call = False
        """Whether it is a call, in which calls are kept or run again, too."""
        self.spent = 0
        """What the last iteration keeps inside of loops and calls."""
        self.taken_inside = 0
        """What loops inside of the last iteration keep, which may be more than there was for them."""
        self.least = 0
        """What running the last iteration takes inside of calls at least."""
        self.taken = 0
        """What a call that is kept has taken of the budget."""
        self.plan: Segments | None = None
        """With how many states, and how many iterations at a time; None if everything is kept."""
        self.disk: StatesOnDisk | None = None
        """Where states go but the first, if they are to lie on disk."""

    # ------------------------------------------------------------------------------------------------ one iteration

    def _step(self) -> tuple[Recorded, bool]:
        """Run the next iteration, recorded."""
        k, boxes, found = self.at, self.active, []
        before = len(self.trace.nodes)

        def function(*inputs: Any) -> list[Any]:
            for box, x in zip(boxes, inputs, strict=True):
                become(box, x)
                make_views_stale(box)
            found.append(self._iterate(k))
            self.active = [box for box in Reachable(self.roots).boxes if _is_of(box, inputs[0]._owner)]
            return [clone(box) for box in self.active]

        values = [box._value for box in boxes]
        now = account()
        if now is not None and now.left is not None:
            with inside(self.inner_memory, self.is_call) as given:
                results, program = record(function, values, self._results_of_ops())
            self.spent, self.least = self.inner_memory - (given.left or 0), given.least
            self.taken_inside = given.taken
        else:
            results, program = record(function, values, self._results_of_ops())
        if self.trace.alive and len(self.trace.nodes) != before:
            raise UnsupportedFunctionError(
                "a loop uses a traced value that it cannot be seen to use, so that it cannot be run again",
                remedy="hold it in a variable, a list, a dict or an object of your own, or leave checkpoints= out",
            )
        self._compare(k, results)
        self.at += 1
        return program, found[0]

    def _iterate(self, k: int) -> bool:
        try:
            return self.iterate(k)
        except WengertError:
            raise
        except Exception as error:
            if k >= len(self.prints):
                raise
            raise self._other(k, f"raised {type(error).__name__}") from error

    def _other(self, k: int, did: str) -> UnsupportedFunctionError:
        return UnsupportedFunctionError(
            f"{self.what or f'iteration {k} of a loop'} {did} when it was run again for the reverse sweep",
            remedy="what has checkpoints must compute the same again: let it use no iterators, files or clocks, "
            "only variables, containers, objects and random generators",
        )

    def _results_of_ops(self) -> ResultsOfOps | None:
        """What the first run keeps of ops, or what there is of it when it is run again."""
        if self.results is None or not self.results.kept or not self.prints:
            return self.results
        return self.results.again()

    def _compare(self, k: int, results: Sequence[Any]) -> None:
        new = fingerprint([plain(y) for y in results])
        if k == len(self.prints):
            self.prints.append(new)
        elif self.prints[k] != new:
            raise self._other(k, "gave other numbers")

    # ------------------------------------------------------------------------------------------------ the first sweep

    def run(self) -> None:
        """Run the loop; let the tape around it have its linear map."""
        now = account()
        assert now is not None
        try:
            self._run(now)
        except WengertError:
            raise
        except Exception:  # what was changed up to there stays changed, and may be used by who catches it
            self._run_as_it_is(now)

    def _run(self, now: Account) -> None:
        begin = [(box, clone(box)) for box in self.active]
        written = fingerprint(self.arrays)
        self.inner_memory = (now.left or 0) // 4
        self._keep()
        first, goes_on = self._step()
        sizes = self._sizes(first)
        if self.taken_inside and now.left is not None and sizes.least > now.left:  # loops inside have to do with less
            self.active, self.at, self.inner_memory = self.stack[0].restore(), 0, 0
            first, goes_on = self._step()
            sizes = self._sizes(first)
        if now.spill is None:
            plan = now.segments(sizes)
        else:
            plan, self.disk = now.segments_on_disk(sizes), StatesOnDisk(now.spill)
        self.plan = plan
        self.last = [first]
        if plan is None:
            while goes_on and self.at != self.count:
                program, goes_on = self._step()
                self.last.append(program)
        else:
            if self.count is None:
                self._online(goes_on)
            else:
                self._descend(-(-self.count // plan.length) - 1)
                if self.at < self.count:
                    self.last = self._segment(self.count)
        self.done = self.at
        if self.count is None and now.loops:  # now it is known
            now.loops[-1] = now.loops[-1]._replace(iterations=self.done)
        if fingerprint(self.arrays) != written:
            raise UnsupportedFunctionError(
                "a loop with checkpoints writes into an array from outside, which would be seen when it is run again",
                remedy="copy the array before the loop, inside of the function",
            )
        self._finish(begin)

    def _sizes(self, first: Recorded) -> LoopSizes:
        """What is known of the loop after its first iteration, which keeps what loops inside of it keep, too."""
        return LoopSizes(self.count, self.stack[0].nbytes, bytes_of_nodes(first.nodes) + self.taken_inside)

    def run_once(self) -> None:
        """Run a loop of one iteration, of which only the state before is kept."""
        begin = [(box, clone(box)) for box in self.active]
        self.plan = Segments(1, 1)
        self._keep()
        self._step()
        self.done = 1
        self._finish(begin)

    def run_call(self) -> None:
        """Run a call, of which the state before is kept, and what it has recorded if there is room for it."""
        begin = [(box, clone(box)) for box in self.active]
        now = account()
        assert now is not None
        assert now.left is not None
        now.make_room(now.largest)
        self.plan, self.is_call = Segments(1, 1), True
        self.inner_memory = now.left - now.left // _OWN
        self._keep()
        try:
            program, _ = self._step()
        except BudgetError:
            raise
        except Exception:  # as in `run`: then nothing is repeated
            self._run_as_it_is(now)
            return
        own = bytes_of_nodes(program.nodes, now.known)
        states = {key: n for key, n in memory_of(self.stack[0].active).items() if key not in now.known}
        now.known.update(states)
        size = own + self.spent
        self.last, self.taken = [program], size
        if not now.keep_call(self, self.what, sum(states.values()), size, own + self.least):
            self.drop()
        self.done = 1
        self._finish(begin)

    def _run_as_it_is(self, now: Account) -> None:
        """Run what raises, or cannot be run again, on the tape around it, where it has its effects."""
        self.stack[0].restore()
        self.stack.clear()
        calls, now.calls = now.calls, False
        k = 0
        try:
            while self.iterate(k):
                k += 1
                if k == self.count:
                    return
        finally:
            now.calls = calls

    def drop(self) -> int:
        """Keep a call no longer: it will be run again."""
        freed, self.last, self.taken = self.taken, [], 0
        return freed

    @contextmanager
    def _room_for(self, programs: Sequence[Recorded]) -> Iterator[None]:
        """While the programs of a call that was run again are pulled back, calls inside of it have less room."""
        now = account()
        if not self.is_call or now is None or now.left is None:
            yield
            return
        size = self.spent + sum(bytes_of_nodes(program.nodes, now.known) for program in programs)
        now.make_room(size)
        taken = min(size, now.left)
        now.left -= taken
        try:
            yield
        finally:
            now.left += taken

    def _segment(self, end: int) -> list[Recorded]:
        """The programs of the iterations from here on."""
        programs = []
        while self.at < end:
            programs.append(self._step()[0])
        return programs

    def _keep(self) -> None:
        self.stack.append(_Kept(self.at, self.roots, self.active))
        if self.disk is not None:
            self.stack[-1].move_to(self.disk, self.stack[0])
            if len(self.stack) > 1:
                self.stack[-2].snapshot.let_go(self.stack[-1].snapshot)

    def _descend(self, last: int) -> None:
        """Go from the topmost state that is kept to the start of the segment `last`, keeping states on the way."""
        assert self.plan is not None
        length, states = self.plan.length, self.plan.states
        while (at := -(-self.stack[-1].at // length)) < last:
            left, free = last + 1 - at, states + 1 - len(self.stack)
            there = at + (best_split(left, free) if free > 1 else left - 1)
            while self.at < there * length:
                self._step()
            if there >= last or free <= 1:
                break
            self._keep()

    def _online(self, goes_on: bool) -> None:
        """The rest of a loop that ends when it ends."""
        assert self.plan is not None
        length, states = self.plan.length, self.plan.states
        while goes_on:
            if self.at % length == 0:
                self._keep_online(states)
                self.last = []
            program, goes_on = self._step()
            self.last.append(program)

    def _keep_online(self, states: int) -> None:
        if len(self.stack) >= states:
            assert self.plan is not None
            length = self.plan.length
            dropped = least_useful([kept.at // length for kept in self.stack], self.at // length, states)
            if dropped is None:
                return
            del self.stack[dropped]
        self._keep()

    def _finish(self, begin: Sequence[tuple[Any, Any]]) -> None:
        """Let the arrays belong to the tape around the loop again."""
        trace = self.trace
        before = {id(box): held for box, held in begin}
        ends = self.active
        changed = [id(box) not in before or box._value is not before[id(box)]._value for box in ends]
        values = [box._value for box, c in zip(ends, changed, strict=True) if c]
        inputs = [held._node for _, held in begin]
        avals = [aval_of(held._value) for _, held in begin]

        def all_of_them(given: Sequence[Any]) -> list[Any]:
            rest = iter(given)
            return [next(rest) if c else None for c in changed]

        def pull(cts: Sequence[Any]) -> list[Any]:
            found = self._backward(all_of_them(cts))
            return [np.zeros(*aval) if ct is None else ct for ct, aval in zip(found, avals, strict=True)]

        def push(dots: Sequence[Any]) -> list[Any]:
            found = self._forward(dots)
            return [np.zeros(*aval_of(box._value)) if dot is None else dot
                    for box, dot, c in zip(ends, found, changed, strict=True) if c]  # fmt: skip

        outputs = trace.custom(inputs, values, pull, push=push, selects=True) if values else []
        self.ends = [clone(box) for box in ends]
        for box, y in zip([box for box, c in zip(ends, changed, strict=True) if c], outputs, strict=True):
            become(box, y)
            make_views_stale(box)
        kept = {id(box) for box, c in zip(ends, changed, strict=True) if c}
        for box, held in begin:
            if id(box) not in kept:
                become(box, held)
                make_views_stale(box)

    # ------------------------------------------------------------------------------------------------- the two maps

    def _backward(self, cts: list[Any]) -> list[Any]:
        """Cotangents of what was traced before the loop, from those of what is afterwards."""
        if self.plan is None:  # everything is kept
            for program in reversed(self.last):
                cts = program.pull(cts)
            return cts
        stack, programs, self.last = self.stack[:1], self.last, []
        end, now, budget = self.done, Snapshot(self.roots), account()
        if self.is_call and budget is not None and budget.left is not None:
            if self in budget.kept:
                budget.kept.remove(self)
                budget.left += self.taken
            else:
                budget.make_room(budget.largest)
            self.taken = 0
            self.inner_memory = max(self.inner_memory, budget.left - budget.left // _OWN)
        try:
            while end > 0:
                if not programs:
                    length = self.plan.length
                    begin = (end - 1) // length * length
                    while self.stack[-1].at > begin:
                        dropped = self.stack.pop()
                        if self.disk is not None:
                            self.disk.end = dropped.start
                    self.active, self.at = self.stack[-1].restore(), self.stack[-1].at
                    self._descend(begin // length)
                    programs = self._segment(end)
                end -= len(programs)
                with self._room_for(programs):
                    for program in reversed(programs):
                        cts = program.pull(cts, consume=True)
                programs = []
        finally:
            self.stack = stack  # from which it can be run again, as often as it is asked for
            now.restore()
        return cts

    def _forward(self, dots: Sequence[Any]) -> list[Any]:
        now = Snapshot(self.roots)
        found = list(dots)
        try:
            self.active, self.at = self.stack[0].restore(), 0
            while self.at < self.done:
                program, _ = self._step()
                found = program.push(found)
        finally:
            now.restore()
        return found


def call_again(
    trace: TapeTrace, function: Callable, args: tuple, kwargs: dict, name: str, keep: frozenset[str] = frozenset()
) -> Any:
    """What a function returns, of which the reverse sweep of `trace` runs the call once more; `keep` names ops whose
    results are kept."""
    loop, result = _as_loop(trace, function, args, kwargs, f"{name}, which is checkpointed,")
    loop.results = ResultsOfOps(keep) if keep else None
    return _result(loop, RepeatingLoop.run_once, result)


def call_within(trace: TapeTrace, function: Callable, args: tuple, kwargs: dict, name: str) -> Any:
    """What a function returns, of which the reverse sweep of `trace` runs the call once more if there is no room to
    keep what it has recorded."""
    loop, result = _as_loop(trace, function, args, kwargs, name)
    return _result(loop, RepeatingLoop.run_call, result)


def _as_loop(trace: TapeTrace, function: Callable, args: tuple, kwargs: dict, what: str) -> tuple:
    """A call as a loop of one iteration, and the list that it leaves its result in."""
    result: list[Any] = [None]
    arrays: list[np.ndarray] = []  # (not by way of the loop: a cycle would keep it longer than needed)

    def iterate(k: int) -> bool:
        with _held_read_only(arrays, what):
            result[0] = function(*args, **kwargs)
        return False

    loop = RepeatingLoop(trace, iterate, 1, [function, args, kwargs, result])
    arrays += loop.arrays
    loop.what = what
    return loop, result


def _result(loop: RepeatingLoop, run: Callable, result: list[Any]) -> Any:
    if loop.active:
        run(loop)
    else:
        loop.iterate(0)
    found, result[0] = result[0], None
    return found


@contextmanager
def _held_read_only(arrays: Sequence[np.ndarray], name: str) -> Iterator[None]:
    """While arrays from outside must not be written to, for what is run again would write once more."""
    for x in arrays:
        x.flags.writeable = False
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise InPlaceError(
            f"{name} is run again in the reverse sweep and writes into an array from outside",
            remedy="write into a copy, x = x.copy(), and return it",
        ) from None
    finally:
        for x in reversed(arrays):  # views after what they are views of
            x.flags.writeable = True


def _is_of(box: Any, trace: TapeTrace) -> bool:
    return box.__class__ is Tape and box._owner is trace
