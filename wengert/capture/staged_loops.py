"""Loops of users' functions, staged: what `lower.py` makes of `for` and `while`.

A suite is run once, in a capture, and a `loop` or `while` is recorded (`carried.py`). A suite that cannot be staged (it
indexes a Python list, or changes one) is unrolled if the number of iterations is known and not large.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.box.box import Box
from wengert.box.functions.operands import demand
from wengert.box.writing import settled
from wengert.capture.carried import Carried, Variables, forget_variables
from wengert.capture.closures import variables_of
from wengert.capture.containers import about_to_iterate, about_to_leave, note_created, put_all
from wengert.capture.counters import decided_by_few_iterations, note_counter
from wengert.capture.deciding import condition
from wengert.capture.each_of import gone_through
from wengert.capture.exceptions import OWN_ERRORS, Fails, RaisesInLoop, current_attempt, settle_all
from wengert.capture.growing import Grows
from wengert.capture.growing import run as run_growing
from wengert.capture.iteration import PUSHED, DataChoose, Items, items_of, listed_numbers
from wengert.capture.leaving import Leaving
from wengert.capture.one_of import NOT_ITERABLE, not_none
from wengert.capture.opened import is_open
from wengert.capture.opening import Placed, opening
from wengert.capture.session import current, demand_value
from wengert.capture.stage import Thunk, and_, if_
from wengert.capture.tables import keys_of
from wengert.capture.values import DtypeDiffers, FirstDiffers, arguments, formals, is_symbolic, truth
from wengert.control.loop import loop as loop_op
from wengert.control.while_ import while_
from wengert.errors import ConcretizationError, EscapedValueError, Signal, StagingError, UnsupportedFunctionError
from wengert.ir.build import Capture, capturing
from wengert.ir.node import Block, Type, all_nodes
from wengert.ir.symbol import Sym
from wengert.ops import elementwise as e
from wengert.ops.op import Op, Traced, call
from wengert.running import running

UNROLLED = 4
"""Loops of at most so many iterations are unrolled."""


_UNROLLED_IF_NEED_BE = 512


_IN_PYTHON = 8
"""A `while` whose test is known runs in Python for so many iterations; then staging it is tried."""


_SHORT = 20
"""A suite of fewer operations may be in the program twice. A first iteration of its own is worth some percent of the
time of a gradient, since what it starts from is known; and in loops inside loops, each doubles all that is in it."""


_INT = Type((), np.dtype(np.int64), True)


class Loop(NamedTuple):
    """A loop as `lower.py` gives it.

    `body(item)` runs the suite of a `for`, `body()` that of a `while`. `go_on()` is the test of a `while`; for a `for`
    it says whether a `break` or `return` has not come up, and is `None` if there is none.
    """

    body: Callable
    go_on: Thunk | None
    variables: Variables

    def if_(self, test: Any, then: Thunk, opens: bool = True) -> None:
        """Stage iterations that may not come."""
        v = self.variables
        if_(test, then, None, v.get, v.set, v.names, v.temporaries, opens)


def _staged_for(items: Items, loop: Loop, carried: Carried) -> None:
    count = items.count

    def iteration(capture: Capture) -> None:
        k = capture.formal(_INT, (), (0, _last(count)))
        note_counter(k, _last(count))
        carried.open(capture)
        loop.body(items.item(k))

    capture, outputs, _ = carried.run(iteration)
    own = formals(capture)
    values, [params] = arguments([capture])
    block = Block([*own, *params], capture.nodes, outputs)
    n = len(own) - 1
    carried.finish(_run(loop_op, [count, *carried.starts(), *values], body=block, carried=n), count)


class _RaisedAtOnce(Signal):
    """Something is raised in a loop of numbers that are known: Python's own iterations raise it where it belongs, after
    the effects of those before."""


def _run(op: Op, operands: Sequence[Any], **params: Any) -> Any:
    """The results of a loop; at once, if it depends on nothing that only the program knows."""
    try:
        return call(op, *operands, **params)
    except Exception as error:
        if isinstance(error, OWN_ERRORS) or any(isinstance(x, Traced) for x in operands):
            raise
        raise _RaisedAtOnce from error


class _ConditionWrites(StagingError):
    """The condition of a `while` has an effect, which the block that decides cannot have."""


def _last(count: Any) -> int | None:
    """The number of the last of so many iterations, counted from zero, or a larger one, if it is known."""
    if isinstance(count, Sym) and count._span and count._span[1] is not None:
        return count._span[1] - 1
    return None if isinstance(count, Traced) else count - 1


def _staged_while(loop: Loop, carried: Carried, items: Items | None = None) -> None:
    """A `while`; with `items`, a `for` that may end early."""
    counts = items is not None
    go_on: Any = loop.go_on

    def iteration(capture: Capture) -> None:
        k = None if items is None else capture.formal(_INT, (), (0, _last(items.count)))
        if items is not None:
            note_counter(k, _last(items.count))
        carried.open(capture)
        loop.body(*([] if items is None else [items.item(k)]))

    capture, outputs, _ = carried.run(iteration)
    if counts:
        capture.alive = True
        with capturing(capture):
            number = Sym(capture, formals(capture)[0], (), (0, None))
            outputs = [capture.operand(number + 1), *outputs]
    tested = Capture(varying=True)
    try:
        with capturing(tested):
            k: Any = tested.formal(_INT, (), (0, None)) if counts else None
            carried.open(tested)
            opened = carried.versions(tested)
            answer: Any = condition(go_on())
            if items is not None:
                answer = and_(lambda: k < items.count, lambda: answer)
            decision = tested.operand(truth(answer) if is_symbolic(answer) else bool(settled(answer)))
            if carried.versions(tested) != opened:
                raise _ConditionWrites("the condition of a while loop changes an array or an object",
                                       remedy="write while True: …, with an if and a break")  # fmt: skip
    finally:
        tested.restore()
        put_all(tested.objects)
        tested.objects.clear()
        carried.set(carried.state)
    values, params = arguments([capture, tested])
    body_block = Block([*formals(capture), *params[0]], capture.nodes, outputs)
    test_block = Block([*formals(tested), *params[1]], tested.nodes, [decision])
    starts = [*([0] if counts else []), *carried.starts()]
    results = _run(while_, [*starts, *values], test=test_block, body=body_block, carried=len(starts))
    carried.finish(results[1 if counts else 0 : len(starts)], results[len(starts)])


_CANNOT_BE_STAGED = (StagingError, ConcretizationError, EscapedValueError, UnsupportedFunctionError)


def for_(iterable: Any, body: Callable, go_on: Thunk | None, get: Callable, set: Callable, names: tuple,
         stores: tuple = (), temporaries: tuple = ()) -> None:  # fmt: skip
    """`for item in iterable: …`."""
    loop = Loop(body, go_on, Variables(get, set, names, stores, temporaries))
    iterable = keys_of(gone_through(not_none(iterable, NOT_ITERABLE)))
    if any(push(iterable, loop) for push in PUSHED):
        return
    items = items_of(iterable)
    if items is None and body.__code__ in _raising():
        items = listed_numbers(iterable)
    if items is None:
        _python_for(_Fetched(_from_outside(about_to_iterate(iterable))), loop)
    else:
        _for(items, loop, False)


def _for(items: Items, loop: Loop, is_rest: bool) -> None:
    """A `for` over counted items; `is_rest` says that the first iteration was taken out of it."""
    try:
        _staged_or_not(items, loop, is_rest)
    except _RaisedAtOnce:
        _python_for(items, loop)
    except Exception as error:
        if isinstance(error, OWN_ERRORS) or not isinstance(items.count, Traced):
            raise
        rest = None if is_rest else functools.partial(_for_others, items, loop)
        _raised(error, loop, e.greater(items.count, 0), lambda: loop.body(items.item(0)), rest)


def _raised(error: Exception, loop: Loop, runs: Any, first: Thunk, rest: Thunk | None) -> None:
    """A loop whose suite raises as soon as it is run: for all that is known it does not run."""

    def iterations() -> None:
        first()
        if rest is None:
            raise error
        rest()

    loop.if_(runs, iterations)


def _staged_or_not(items: Items, loop: Loop, is_rest: bool) -> None:
    known = not isinstance(items.count, Traced)
    if known and items.count <= UNROLLED:
        _python_for(items, loop)
        return
    try:
        _stage_for(items, loop, is_rest)
        return
    except _CANNOT_BE_STAGED as refusal:
        if isinstance(refusal, Placed) and not refusal.is_here():
            raise  # to the suite that the list is of
        error: Exception = refusal
        if isinstance(refusal, Grows) and not known and not is_open(refusal.after) and (last := _last(items.count)):
            if decided_by_few_iterations(items.count, last + 1):
                refusal.is_for_loops = True
                raise
        if known and items.count <= _UNROLLED_IF_NEED_BE and _is_better_unrolled(refusal, loop):
            ways: list[Thunk] = [functools.partial(_python_for, items, loop)]
        else:
            ways = _ways_to_grow(refusal, items, loop, is_rest)
        for way in ways:
            try:
                way()
                return
            except _CANNOT_BE_STAGED as other:
                error = other
                if isinstance(other, FirstDiffers) and not is_rest:
                    break
        if isinstance(error, DtypeDiffers) and not known:
            demand_value(items.count)
            raise error from None
        apart = isinstance(error, FirstDiffers) and not is_rest
        if not apart and (not known or items.count > _UNROLLED_IF_NEED_BE):
            raise error from None
        del error
    if apart:
        _first_apart(items, loop)
    else:
        _python_for(items, loop)


def _is_better_unrolled(refusal: Exception, loop: Loop) -> bool:
    """Whether the length of a list that grows in a loop is known if the loop is unrolled, and not otherwise."""
    if isinstance(refusal, Grows) and refusal.is_for_loops:
        return True
    return isinstance(refusal, (Grows, Placed)) and _is_settled(loop)


def _is_settled(loop: Loop) -> bool:
    """Whether the suite of a loop reads nothing that only the program knows. A list that grows in it then has a length
    that is known, and may be what sizes depend on: `if n > sizes[-1]: sizes.append(n)`."""
    return all(_is_known(value) for _, value in variables_of([loop.body]))


def _is_known(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return type(x) in (list, tuple) and all(map(_is_known, x))
    return x is None or isinstance(x, (int, float, complex, str, np.generic, ModuleType, FunctionType, type)) or (
        type(x) is np.ndarray and x.dtype != object
    )  # fmt: skip


def _ways_to_grow(grows: Exception, items: Items, loop: Loop, is_rest: bool) -> list[Thunk]:
    """How a loop may be staged in which a list grows: with a list of known length, if it is one, or of any length."""
    if isinstance(grows, Placed):
        exact = not isinstance(items.count, Traced) and items.count <= _UNROLLED_IF_NEED_BE
        return [lambda: opening(lambda: _stage_for(items, loop, is_rest), grows, exact=exact)]
    if not isinstance(grows, Grows):
        return []
    known = not isinstance(items.count, Traced) and loop.go_on is None and not is_open(grows.after)
    ways: list[Thunk] = [lambda: _growing(grows, items, loop)] if known else []
    if not known or items.count > _UNROLLED_IF_NEED_BE:
        ways.append(lambda: opening(lambda: _stage_for(items, loop, is_rest), grows))
    return ways


def _stage_for(items: Items, loop: Loop, is_rest: bool) -> None:
    """A `for` as a loop of the program; where something that is raised in it is caught outside, it ends there."""

    def stage(loop: Loop) -> None:
        carried = Carried(loop.variables)
        carried.may_not_run = isinstance(items.count, Traced)
        carried.is_rest = is_rest
        if loop.go_on is None:
            _staged_for(items, loop, carried)
        else:
            _staged_while(loop, carried, items)

    def leaving() -> None:
        leaving, go_on = Leaving(loop.variables), loop.go_on
        stage(Loop(
            lambda item: leaving.run(lambda: loop.body(item)),
            leaving.goes_on if go_on is None else lambda: and_(leaving.goes_on, go_on),
            leaving.variables,
        ))  # fmt: skip
        leaving.finish()

    _stage(loop, stage, leaving)


def _stage_while(loop: Loop, is_rest: bool, answer: Any) -> None:
    """A `while` as a loop of the program, likewise; its condition has been evaluated, to the given answer."""

    def stage(loop: Loop) -> None:
        carried = Carried(loop.variables, is_rest)
        carried.may_not_run = is_symbolic(answer)
        _staged_while(loop, carried)

    def leaving() -> None:
        again = _rotated(loop, answer)
        leaving, go_on = Leaving(again.variables), again.go_on
        assert go_on is not None
        goes_on = functools.partial(and_, leaving.goes_on, go_on)
        stage(Loop(lambda: leaving.run(again.body), goes_on, leaving.variables))
        leaving.finish()

    _stage(loop, stage, leaving)


def _raising() -> set[Any]:
    """The code of loops that end where something is raised."""
    return current.session.raising if current.session is not None else set()


def _stage(loop: Loop, stage: Callable[[Loop], None], leaving: Thunk) -> None:
    settle_all()
    raising, code = _raising(), loop.body.__code__
    if code not in raising:
        try:
            stage(loop)
            return
        except RaisesInLoop:
            raising.add(code)
    leaving()


def _growing(grows: Grows, items: Items, loop: Loop) -> None:
    """A loop of known length in which a list grows; several do if there are more inside."""

    def stage(body: Callable) -> None:
        numbered = Items(items.count, lambda k: (k, items.item(k)))
        again = loop._replace(body=body)
        try:
            carried = Carried(loop.variables)
            carried.may_not_run = False
            _staged_for(numbered, again, carried)
        except Grows as another:
            if another.thing is grows.thing:
                raise
            _growing(another, numbered, again)

    run_growing(grows, items.count, loop.body, loop.variables.get, stage)


def _for_others(items: Items, loop: Loop) -> None:
    """The iterations after the first one."""
    _for(Items(items.count - 1, lambda k: items.item(k + 1)), loop, True)


def _first_apart(items: Items, loop: Loop) -> None:
    """The first iteration of a `for`, and a loop for the others: in these no name stands for what it was before."""

    def all_of_them() -> None:
        loop.body(items.item(0))
        if loop.go_on is None:
            _for_others(items, loop)
        else:
            loop.if_(loop.go_on(), functools.partial(_for_others, items, loop))

    if isinstance(items.count, Traced):
        loop.if_(e.greater(items.count, 0), all_of_them)
    else:
        all_of_them()


class _Fetched:
    """The items of a Python iterable, fetched when their iteration comes, as Python does it: the suite may write to
    what they are read from. They are kept, since an iteration in a branch may be run again, in another way."""

    def __init__(self, iterable: Any):
        self.iterable = iterable
        self._iterator, self._found = iter(iterable), list[Any]()

    def may_have(self, k: int) -> bool:
        """Whether there is a k-th item, so far as that can be told without fetching it."""
        return k < len(self._found) or operator.length_hint(self._iterator, 1) > 0

    def item(self, k: int) -> Any:
        if k == len(self._found):
            item = next(self._iterator)
            if self.iterable.__class__ is itertools.groupby:
                note_created(item[1])
            self._found.append(item)
        return self._found[k]


def _python_for(items: Items | _Fetched, loop: Loop, k: int = 0, is_inside: bool = False) -> None:
    """Iterations from the k-th on one by one; once it depends on a symbol whether to go on, the rest is a branch.

    The outermost of these branches opens lists that become longer: if each did, it would stage twice what is inside.
    """
    while items.may_have(k):
        try:
            item = items.item(k)
        except StopIteration:
            return
        k += 1
        try:
            loop.body(item)
        except Fails:
            _raising().add(loop.body.__code__)
            raise
        if loop.go_on is None:
            continue
        answer = condition(loop.go_on())
        if is_symbolic(answer):
            if items.may_have(k):
                if isinstance(items, _Fetched):
                    about_to_leave(items.iterable)
                try:
                    loop.if_(answer, functools.partial(_python_for, items, loop, k, True), not is_inside)
                except Grows:
                    if is_inside or _many_left(items, k):
                        raise
                    loop.if_(answer, functools.partial(_python_for, items, loop, k))
            return
        if not settled(answer):
            return


def _many_left(items: Items | _Fetched, k: int) -> bool:
    return isinstance(items, Items) and items.count - k > _SHORT


def while_statement(test: Thunk, body: Thunk, get: Callable, set: Callable, names: tuple, stores: tuple = (),
                    temporaries: tuple = ()) -> None:  # fmt: skip
    """`while test(): …`."""
    _while(Loop(body, test, Variables(get, set, names, stores, temporaries)), False)


def _while(loop: Loop, is_rest: bool) -> None:
    iterations = 0
    raising, code = _raising(), loop.body.__code__
    limit = 0 if code in raising else _IN_PYTHON
    test: Any = loop.go_on
    while True:
        answer = condition(test())
        if is_symbolic(answer):
            try:
                opening(functools.partial(_stage_while, loop, is_rest, answer))
                return
            except _ConditionWrites:
                if is_rest:
                    raise
                _while(_rotated(loop, answer), True)
                return
            except FirstDiffers as error:
                if is_rest or isinstance(error, DtypeDiffers):
                    raise
            except Exception as error:
                if isinstance(error, OWN_ERRORS):
                    raise
                _raised(error, loop, answer, loop.body, None if is_rest else functools.partial(_while, loop, True))
                return
            loop.if_(answer, functools.partial(_once_more, loop))
            return
        if not settled(answer):
            return
        if iterations == 0 and _is_open_after_one(loop):
            try:
                opening(functools.partial(_stage_while, loop, False, answer))
                return
            except _RaisedAtOnce:
                pass
            except _CANNOT_BE_STAGED as error:
                if isinstance(error, Placed) and not error.is_here():
                    raise
        if iterations == limit:
            stage = functools.partial(_stage_while, loop, False, answer)
            try:
                if _has_open_lists():  # each further iteration would copy them in code of its own
                    opening(stage)
                else:
                    opening(stage, placed_only=True)
                return
            except _RaisedAtOnce:
                limit = -1  # to the end in Python
            except _CANNOT_BE_STAGED as error:
                if isinstance(error, Placed) and not error.is_here():
                    raise
                if iterations > _UNROLLED_IF_NEED_BE:
                    raise
                limit = 4 * limit if code not in raising else 2 * limit or 1
        try:
            loop.body()
        except Fails:  # each iteration would begin all of it again
            raising.add(code)
            raise
        iterations += 1


def _is_open_after_one(loop: Loop) -> bool:
    """Whether the test of a `while`, which holds, depends on symbols after one iteration: `error = np.inf` before
    `while error > tol`. Then the first iteration is one like the others, and needs no code of its own, unless that is
    short. It is tried out, and undone; a loop in which that was of no use is not tried again."""
    session, v, code = current.session, loop.variables, loop.body.__code__
    if session is None or code in session.one_by_one or code in session.raising or current_attempt() is not None:
        return False
    session.one_by_one.add(code)
    state, capture = v.get(), Capture(varying=True)
    assert loop.go_on is not None
    try:
        with capturing(capture):
            loop.body()
            depends = is_symbolic(condition(loop.go_on()))
        if not depends or sum(1 for _ in all_nodes(Block([], capture.nodes, []))) < _SHORT:
            return False
    except (*OWN_ERRORS, Exception):
        return False
    finally:
        capture.restore()
        capture.written.clear()
        forget_variables(capture, v.get)
        v.set(state)
        put_all(capture.objects)
        capture.objects.clear()
    session.one_by_one.discard(code)
    return True


def _has_open_lists() -> bool:
    """Whether there are lists of which only the program knows how many items they have."""
    capture = running.state.capture
    return capture is not None and any(is_open(thing) for thing in capture.created.values())


def _rotated(loop: Loop, answer: Any) -> Loop:
    """A `while` whose condition has been evaluated, to the given answer, and changes something: from here on that is
    the last thing an iteration does. What the condition binds is needed by the next."""
    v = loop.variables
    test: Any = loop.go_on

    def body() -> None:
        nonlocal answer
        loop.body()
        answer = condition(test())

    def bind(values: tuple) -> None:
        nonlocal answer
        v.set(values[:-1])
        answer = values[-1]

    variables = Variables(lambda: (*v.get(), answer), bind, (*v.names, "the condition of a while"), v.stores)
    return Loop(body, lambda: answer, variables)


def _once_more(loop: Loop) -> None:
    """One iteration of a `while`, and all after it: in these no name stands for what it was before."""
    loop.body()
    _while(loop, True)


def iterate(iterable: Any, reads: Sequence[Sequence[str] | None] | None = None) -> Any:
    """What a comprehension iterates over, or an assignment takes apart, which Python does.

    `reads` are of the names in `a, b = iterable` the attributes that are read if nothing but items is.
    """
    iterable = keys_of(gone_through(not_none(iterable, NOT_ITERABLE)))
    items = items_of(iterable)
    has_places = isinstance(iterable, Box) or is_open(iterable)
    if isinstance(items, Items) and isinstance(items.count, Traced) and reads is not None and has_places:
        demand(e.less_equal(items.count, len(reads)), f"too many values to unpack (expected {len(reads)})")
        demand(e.greater_equal(items.count, len(reads)), f"not enough values to unpack (expected {len(reads)})")
        return [iterable[k] if isinstance(iterable, Box) else items.item(k) for k in range(len(reads))]
    if isinstance(items, Items) and isinstance(items.count, Traced):
        raise DataChoose("a comprehension, or an assignment to several names, over a number of items that is known "
                           "only when the compiled program runs",
                           remedy="use a list comprehension or a for loop, and items by their places")  # fmt: skip
    if is_open(iterable) and items is not None:
        return list(items)
    iterable = about_to_iterate(iterable)
    if reads is None or current.session is None:
        return _from_outside(iterable)
    return current.session.unpacked(iterable, reads)


def _from_outside(iterable: Any) -> Any:
    """A list or tuple from outside with what stands for its items."""
    return iterable if current.session is None else current.session.items(iterable)
