"""Control flow of users' functions, staged: what `lower.py` makes of `if`, `for`, `while`, `and`, `or` and their like.

On ordinary Python values each of these does what Python does. On values of the program that is being captured the
suites become blocks: they are run once, in a capture, and a `cond`, `loop` or `while` is recorded (`branching.py`,
`carried.py`). A suite that cannot be staged (it indexes a Python list, or changes one) is unrolled if the number of
iterations is known and not large.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.writing import settled
from wengert.capture.branching import branch
from wengert.capture.carried import Carried
from wengert.capture.identity import SharedAtStart
from wengert.capture.iteration import Items, items_of
from wengert.capture.session import current
from wengert.capture.values import arguments, formals, is_symbolic, truth
from wengert.control.loop import loop
from wengert.control.while_ import while_
from wengert.errors import ConcretizationError, EscapedValueError, StagingError, UnsupportedFunctionError
from wengert.ir.build import Capture, capturing
from wengert.ir.node import Block, Type
from wengert.ir.symbol import Sym
from wengert.ops import elementwise as e
from wengert.ops.op import Traced, call
from wengert.ops.sizes import require
from wengert.running import running
from wengert.types import dtype_of, shape_of

UNROLLED = 4
"""Loops of at most so many iterations are unrolled."""
_UNROLLED_IF_NEED_BE = 512
_PYTHON_ROUNDS = 8
"""A `while` whose test is known runs in Python for so many rounds; then staging it is tried."""
_INT = Type((), np.dtype(np.int64), True)

Thunk = Callable[[], Any]


def if_(test: Any, then: Callable, orelse: Callable | None, get: Callable, set: Callable, names: tuple,
        temporaries: tuple = ()) -> None:  # fmt: skip
    """`if test: … else: …`."""
    if not is_symbolic(test):
        if settled(test):
            then()
        elif orelse is not None:
            orelse()
        return
    branch(test, then, orelse, get, set, names, temporaries)


def ifexp(test: Any, then: Thunk, orelse: Thunk) -> Any:
    """`a if test else b`."""
    if not is_symbolic(test):
        return then() if settled(test) else orelse()
    return branch(test, then, orelse, lambda: (), lambda values: None, ())


def and_(first: Thunk, *rest: Thunk) -> Any:
    """`a and b`."""
    value = first()
    if not rest:
        return value
    if not is_symbolic(value):
        return and_(*rest) if settled(value) else value
    return ifexp(value, lambda: _comparable(and_(*rest)), lambda: _comparable(value))


def or_(first: Thunk, *rest: Thunk) -> Any:
    """`a or b`."""
    value = first()
    if not rest:
        return value
    if not is_symbolic(value):
        return value if settled(value) else or_(*rest)
    return ifexp(value, lambda: _comparable(value), lambda: _comparable(or_(*rest)))


def _comparable(x: Any) -> Any:
    return truth(x) if is_symbolic(x) and not shape_of(x) and dtype_of(x).kind == "b" else x


def not_(x: Any) -> Any:
    """`not x`."""
    return e.logical_not(truth(x)) if is_symbolic(x) else not settled(x)


_COMPARE: dict[str, Callable] = {
    **{name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne", "is_", "is_not")},
    "contains": lambda a, b: a in b,
    "not_contains": lambda a, b: a not in b,
}


def chain(first: Any, ops: tuple[str, ...], *rest: Thunk) -> Any:
    """`a < b <= c`."""
    second = rest[0]()
    result = _COMPARE[ops[0]](first, second)
    if len(ops) == 1:
        return result
    return and_(lambda: result, lambda: chain(second, ops[1:], *rest[1:]))


def test(x: Any) -> Any:
    """The condition of a comprehension, which Python decides."""
    return x


def assert_(condition: Any, message: Thunk | None) -> None:
    """`assert condition, message`."""
    if is_symbolic(condition):
        text = "" if message is None else str(message())
        call(require, truth(condition), error="AssertionError", message=text)
    elif not settled(condition):
        raise AssertionError(*([] if message is None else [message()]))


def raise_(exception: Thunk, cause: Thunk | None) -> None:
    """`raise exception from cause`."""
    error = exception()
    if stages():  # it depends on the program whether this is reached
        kind = error if isinstance(error, type) else type(error)
        text = "" if isinstance(error, type) else str(error)
        if kind.__name__ not in _EXCEPTIONS:
            text = f"{kind.__name__}: {text}"
        name = kind.__name__ if kind.__name__ in _EXCEPTIONS else "RuntimeError"
        running.state.capture.process(require, (False,), {"error": name, "message": text})
        return
    if cause is None:
        raise error
    raise error from cause()


_EXCEPTIONS = frozenset(
    (
        "ValueError", "TypeError", "RuntimeError", "ArithmeticError", "ZeroDivisionError", "OverflowError",
        "FloatingPointError", "IndexError", "KeyError", "AssertionError", "NotImplementedError", "LinAlgError",
        "StopIteration", "Exception",
    )
)  # fmt: skip


def stages() -> bool:
    """Whether a suite is being staged: it may or may not run."""
    capture = running.state.capture
    return capture is not None and len([t for t in running.state.traces if t.__class__ is Capture]) > 1


# ------------------------------------------------------------------------------------------------------------- loops


def _staged_for(items: Items, body: Callable, carried: Carried) -> None:
    count = items.count
    high = None if isinstance(count, Traced) else count - 1
    if isinstance(count, Sym) and count._tangent and count._tangent[1] is not None:
        high = count._tangent[1] - 1

    def iteration(capture: Capture) -> None:
        k = capture.formal(_INT, (), (0, high))
        carried.open(capture)
        body(items.item(k))

    capture, outputs, _ = carried.run(iteration)
    own = formals(capture)
    values, [params] = arguments([capture])
    block = Block([*own, *params], capture.nodes, outputs)
    n = len(own) - 1
    carried.finish(call(loop, count, *carried.starts(), *values, body=block, carried=n), count)


def _staged_while(go_on: Thunk, body: Callable[[Any], Any], carried: Carried, count: Any = None) -> None:
    """A `while`; with `count`, a `for` that may end early: `body(k)` is then given the number of the iteration."""
    counts = count is not None

    def iteration(capture: Capture) -> None:
        k = capture.formal(_INT, (), (0, None)) if counts else None
        carried.open(capture)
        body(k)

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
            answer: Any = go_on()
            if counts:
                answer = and_(lambda: k < count, lambda: answer)
            decision = tested.operand(truth(answer) if is_symbolic(answer) else bool(settled(answer)))
    finally:
        tested.restore()
        carried.set(carried.state)
    values, params = arguments([capture, tested])
    body_block = Block([*formals(capture), *params[0]], capture.nodes, outputs)
    test_block = Block([*formals(tested), *params[1]], tested.nodes, [decision])
    starts = [*([0] if counts else []), *carried.starts()]
    results = call(while_, *starts, *values, test=test_block, body=body_block, carried=len(starts))
    carried.finish(results[1 if counts else 0 : len(starts)], results[len(starts)])


_CANNOT_BE_STAGED = (StagingError, ConcretizationError, EscapedValueError, UnsupportedFunctionError)


def for_(iterable: Any, body: Callable, go_on: Thunk | None, get: Callable, set: Callable, names: tuple,
         stores: tuple = (), temporaries: tuple = (), is_rest: bool = False) -> None:  # fmt: skip
    """`for item in iterable: …`; `go_on()` says whether a `break` or `return` has not come up."""
    items = items_of(iterable)
    if items is None:
        _python_for(iter(_from_outside(iterable)), body, go_on, get, set, names, temporaries)
        return
    known = not isinstance(items.count, Traced)
    if known and items.count <= UNROLLED:
        _python_for(iter(items), body, go_on, get, set, names, temporaries)
        return
    try:
        carried = Carried(get, set, names, stores, temporaries)
        state = carried.state
        carried.may_not_run = not known
        if go_on is None:
            _staged_for(items, body, carried)
        else:
            _staged_while(go_on, lambda k: body(items.item(k)), carried, items.count)
        return
    except _CANNOT_BE_STAGED as error:
        set(state)
        apart = isinstance(error, SharedAtStart) and not is_rest
        if not apart and (not known or items.count > _UNROLLED_IF_NEED_BE):
            raise
    del carried, state
    if apart:
        _first_apart(items, body, go_on, get, set, names, stores, temporaries)
    else:
        _python_for(iter(items), body, go_on, get, set, names, temporaries)


def _first_apart(items: Items, body: Callable, go_on: Thunk | None, get: Callable, set: Callable, names: tuple,
                 stores: tuple, temporaries: tuple) -> None:  # fmt: skip
    """The first iteration of a `for`, and a loop for the others: in these no name stands for what it was before."""

    def others() -> None:
        rest = Items(items.count - 1, lambda k: items.item(k + 1))
        for_(rest, body, go_on, get, set, names, stores, temporaries, is_rest=True)

    def all_of_them() -> None:
        body(items.item(0))
        if go_on is None:
            others()
        else:
            if_(go_on(), others, None, get, set, names)

    if isinstance(items.count, Traced):
        if_(e.greater(items.count, 0), all_of_them, None, get, set, names)
    else:
        all_of_them()


def _python_for(iterator: Any, body: Callable, go_on: Thunk | None, get: Callable, set: Callable, names: tuple,
                temporaries: tuple) -> None:  # fmt: skip
    """Iterations one by one; once it depends on a symbol whether to go on, each is a branch."""
    for item in iterator:
        body(item)
        if go_on is None:
            continue
        answer = go_on()
        if is_symbolic(answer):
            rest = list(iterator)
            if rest:
                go = functools.partial(_the_rest, rest, body, go_on, get, set, names, temporaries)
                if_(answer, go, None, get, set, names)
            return
        if not settled(answer):
            return


def _the_rest(items: list, *others: Any) -> None:
    _python_for(iter(items), *others)


def while_statement(test: Thunk, body: Thunk, get: Callable, set: Callable, names: tuple, stores: tuple = (),
                    temporaries: tuple = (), is_rest: bool = False) -> None:  # fmt: skip
    """`while test(): …`."""
    rounds = 0
    limit = _PYTHON_ROUNDS
    while True:
        answer = test()
        if is_symbolic(answer):
            try:
                _staged_while(test, lambda k: body(), Carried(get, set, names, stores, temporaries))
                return
            except SharedAtStart:
                if is_rest:
                    raise
            if_(answer, functools.partial(_once_more, test, body, get, set, names, stores, temporaries), None,
                get, set, names)  # fmt: skip
            return
        if not settled(answer):
            return
        if rounds == limit:
            state = get()
            try:
                _staged_while(test, lambda k: body(), Carried(get, set, names, stores, temporaries))
                return
            except _CANNOT_BE_STAGED:
                if rounds > _UNROLLED_IF_NEED_BE:
                    raise
                set(state)
                limit = 4 * limit
            del state
        body()
        rounds += 1


def _once_more(test: Thunk, body: Thunk, get: Callable, set: Callable, names: tuple, stores: tuple,
               temporaries: tuple) -> None:  # fmt: skip
    """One iteration of a `while`, and all after it: in these no name stands for what it was before."""
    body()
    while_statement(test, body, get, set, names, stores, temporaries, is_rest=True)


def iterate(iterable: Any) -> Any:
    """What a comprehension iterates over, which Python does."""
    items = items_of(iterable)
    if isinstance(items, Items) and isinstance(items.count, Traced):
        raise StagingError("a comprehension over a number of items that is known only when the compiled program runs",
                           remedy="fill an array in a for loop instead")  # fmt: skip
    return _from_outside(iterable)


def _from_outside(iterable: Any) -> Any:
    """A list or tuple from outside with what stands for its items."""
    return iterable if current.session is None else current.session.items(iterable)
