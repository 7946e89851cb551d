"""Exceptions in staged code: what is raised, and what a `try` around it would catch (`attempts.py` has the syntax).

A `raise` in a suite that is staged is reached or not when the program runs. If a `try` in the same function catches it,
it is a jump; the number that says so is a value of the program. If nothing catches it, the program raises (`require`).
A function that is called in the `try` may raise, too, or an operation by itself, as Python's numbers do: then the
statement of the `try` that does so fails (`Attempt`), and is a jump. A staged loop that raises ends there, and then the
statement that it is in fails (`leaving.py`). So does one with an op that raises for some values, such as a matrix that
is singular: the program asks before whether it will (`ops/succeeds.py`). Other exceptions of NumPy's are refused.
"""

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert import raised, tree
from wengert.box.writing import settled
from wengert.capture.assuming import is_assumption
from wengert.capture.containers import depth, stages
from wengert.capture.deciding import condition as what_decides
from wengert.capture.one_of import OneOf
from wengert.capture.session import current
from wengert.capture.values import as_number, is_symbolic, truth
from wengert.errors import Signal, StagingError, WengertError
from wengert.ir.analysis.raising import may_raise
from wengert.ir.build import Capture
from wengert.ir.node import Node, all_nodes
from wengert.ir.numbers import innermost
from wengert.ops import elementwise as e
from wengert.ops.op import Traced, call
from wengert.ops.sizes import require
from wengert.ops.succeeds import Handlers
from wengert.ops.traits import Raises
from wengert.packages import is_ours
from wengert.running import running

Thunk = Callable[[], Any]
OWN_ERRORS = (WengertError, Signal, RecursionError)
"""Exceptions that no handler of the user's may catch while a program is captured."""


Path = tuple[tuple[int, bool, int], ...]
"""Where in a statement something is: in which `if`, by number, in which branch of it, how many conditions have been
checked before that branch, and so on inside it."""


class Fails(Signal):
    """A statement of a `try` fails unless a condition holds, which only the program knows: begin it again
    (`retrying.py`), in a branch in which the condition holds, and in one in which it does not."""

    def __init__(self, attempt: Attempt, ok: Any, error: BaseException, path: Path = (), more: bool = False):
        self.attempt, self.ok, self.error, self.path, self.depth = attempt, ok, error, path, depth()
        self.more = more
        """Whether more may happen until it fails, and on the way out, than that variables are bound."""
        self.state: tuple | None = None
        """The variables where it fails, if nothing more happens."""
        self.parts: tuple[Fails, ...] = (self,)
        """The conditions that `ok` is made of, in order."""
        self.demands: list[tuple[Any, str, str]] = []
        """What is raised, and caught by nobody, unless a condition holds, if it does not fail before."""


class RaisesInLoop(StagingError):
    """Something may be raised in a loop, and caught outside of it: the loop is to end there (`leaving.py`)."""


def code_of(fails: Fails, trying: Trying) -> Any:
    """The code of the exception that is raised: that of the first condition that does not hold."""
    code: Any = None
    for part in reversed(fails.parts):
        own = next((c for c, error in trying.raised.items() if same_error(error, part.error)), None)
        own = trying.note(part.error) if own is None or not _is_plain(part.error) else own
        code = own if code is None or code is own else call(e.where, part.ok, code, own)
    return as_number(code, np.dtype(np.int64)) if is_symbolic(code) else code


def _is_plain(error: BaseException) -> bool:
    """Whether all that an exception says is known."""
    return all(x.__class__ in (str, int, float) for x in error.args) and not vars(error)


class Attempt:
    """One execution of a statement of a `try`, given that the first conditions that it checks hold: `known`.

    With `last`, it is known that the next one does not hold, and that this is how one gets there.

    Conditions that follow each other, and that fail in the same state, are one: after the first the statement goes on
    as if it held, until something is to be computed that may raise or have an effect, or that decides. So a sum of
    quotients is one branch, and not one in the other for each term. What is computed in the meantime serves for nothing
    but the conditions.
    """

    def __init__(self, known: Sequence[BaseException], cells: frozenset[int] = frozenset(), last: Fails | None = None,
                 state: Callable[[], tuple] | None = None):  # fmt: skip
        self.known, self.last, self.depth, self.cells = known, last, depth(), cells
        self.checks = 0
        self.state = state
        """Gives the variables that somebody may need after a failure."""
        self.waiting: list[Fails] = []
        """Conditions that are taken for granted until `settle`."""
        self._holds: Any = True
        self._branches: dict[int, int] = {}
        """How many `if`s there were so far, by the depth at which they stand."""
        self._way = [] if last is None else list(last.path)

    def check(self, ok: Any, error: BaseException) -> None:
        """Fail unless the condition holds, or is known to."""
        inside = [t for t in running.state.traces if t.__class__ is Capture][self.depth :]
        if any(capture.varying for capture in inside):
            raise RaisesInLoop(
                f"a {type(error).__name__} may be raised in a loop when the compiled program runs, and a try around "
                "the loop would catch it", remedy="put the try into the loop, test before with an if, or use "
                "jit(f, fallback=True)",
            )  # fmt: skip
        self.checks += 1
        if self.checks <= len(self.known):
            _must_be_the_same(self.known[self.checks - 1], error)
        elif self.last is not None:
            _must_be_the_same(self.last.error, error)
            raise self.last.error
        elif not isinstance(ok, Traced) and depth() == self.depth:
            self.settle()
            raise error
        else:
            self._wait(Fails(self, ok, error, (), _is_handled()))

    def _wait(self, fails: Fails) -> None:
        """Go on as if a condition held, if it can be one with others; otherwise fail."""
        capture = running.state.capture
        if self.state is None or fails.more or capture.journal or depth() != self.depth:
            self.settle()
            raise fails
        fails.state = self.state()
        first = self.waiting[0] if self.waiting else fails
        assert first.state is not None
        if any(map(operator.is_not, first.state, fails.state)):
            self.settle()
        capture.taken_for_granted = self.settle
        self._holds = fails.ok if not self.waiting else call(e.logical_and, self._holds, fails.ok)
        self.waiting.append(fails)

    def demand(self, ok: Any, error: str, message: str) -> bool:
        """Note something that nobody catches, and that would come up while conditions are taken for granted: the
        statement will demand it when it is executed again, and the branch that fails if it did not fail before."""
        if not self.waiting or depth() != self.depth or not isinstance(ok, Traced):
            return False
        self.waiting[0].demands.append((call(e.logical_or, ok, call(e.logical_not, self._holds)), error, message))
        return True

    def settle(self) -> None:
        """Fail, if there are conditions that were taken for granted."""
        if not self.waiting:
            return
        together, self.waiting = self.waiting, []
        running.state.capture.taken_for_granted = None
        first = together[0]
        whole = Fails(self, self._holds, first.error)
        whole.state, whole.parts, whole.demands = first.state, tuple(together), first.demands
        raise whole

    def needed(self) -> tuple | None:
        """The variables that somebody may need after a failure here."""
        return None if self.state is None else self.state()

    def run(self, statement: Thunk) -> None:
        try:
            statement()
        except Exception as error:
            if not isinstance(error, OWN_ERRORS):  # it is raised only if the conditions hold
                self.settle()
            raise
        self.settle()

    def enter(self) -> tuple[int, bool | None]:
        """An `if` that is to be staged: its number, and which branch is taken, if that is known."""
        self.settle()
        here = depth()
        number = self._branches[here] = self._branches.get(here, 0) + 1
        if here != self.depth or not self._way or self._way[0][0] != number:
            return number, None
        self._branches.pop(here)
        _, taken, self.checks = self._way.pop(0)
        return number, taken

    def enter_branch(self) -> int:
        """A branch of an `if` that is staged: how many conditions have been checked before."""
        self._branches.pop(depth() + 1, None)
        return self.checks


def _is_handled() -> bool:
    """Whether a function of the user's that is left by an exception handles some, or has a `with` or `finally`."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code is not Attempt.run.__code__:
        if frame.f_code.co_exceptiontable and not is_ours(frame.f_code.co_filename):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _must_be_the_same(before: BaseException, error: BaseException) -> None:
    if not same_error(before, error):
        raise StagingError(
            "a statement of a try does something else when it is executed again, to find out what it may raise",
            remedy="write it without a cache",
        )


def same_error(a: BaseException, b: BaseException) -> bool:
    """Whether exceptions are of one class, with the same message, but for what only the program knows."""
    return type(a) is type(b) and _known(a.args) == _known(b.args)


def _known(args: tuple) -> list[Any]:
    return [str.__str__(x) if isinstance(x, str) else type(x) if is_symbolic(x) else x for x in args]


class Trying:
    """One execution of a `try`, while its suite runs."""

    def __init__(self, kinds: Thunk):
        self.kinds, self.depth = kinds, depth()
        self.attempt: Attempt | None = None
        """The statement that runs, if it is one that may fail by itself."""
        self.raised: dict[int, BaseException] = {}
        """Exceptions that were raised by jumps, or caught, by their codes."""
        self.code = 0
        """That of the exception because of which there is a jump."""
        self.cells: frozenset[int] | None = None
        """The variables of the suite, if they are known."""
        self._capture, self._nodes = running.state.capture, 0

    def __enter__(self) -> Trying:
        _attempts().append(self)
        self._nodes = len(self._capture.nodes) if self._capture is not None else 0
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _attempts().pop()
        if error is None and self._capture is not None:
            for node in self._capture.nodes[self._nodes :]:
                for inner in _with_those_inside(node):
                    self._refuse_if_caught(inner)

    def would_catch(self, *errors: type) -> bool:
        """Whether there is a handler for one of these classes of exceptions."""
        return any(issubclass(error, _flat(self.kinds())) for error in errors)

    def note(self, error: BaseException) -> int:
        """A code for an exception."""
        self.raised[len(self.raised) + 1] = error
        return len(self.raised)

    def _refuse_if_caught(self, node: Node) -> None:
        errors = _errors_of(node)
        if errors and self.would_catch(*errors):
            names = " or ".join(sorted({error.__name__ for error in errors}))
            where = f" in line {node.source.line}" if node.source is not None else ""
            what = "what is called" if node.op.effect else node.op.name
            raise StagingError(
                f"{what}{where} may raise a {names} when the compiled program runs, and a try around it would "
                "catch that", remedy="test before whether it will raise, with an if, or use jit(f, fallback=True)",
            )  # fmt: skip


def _attempts() -> list[Trying]:
    return (current.session or current).attempts


def _with_those_inside(node: Node) -> Iterator[Node]:
    yield node
    for block in node.blocks:
        yield from all_nodes(block)


def _errors_of(node: Node) -> Sequence[type]:
    """What a node may raise when the program runs."""
    if node.op is require:
        if is_assumption(node):
            return ()
        return (raised.class_named(node.params["error"]),)
    when = node.op.raises
    if when is Raises.BODY or not may_raise(node):
        return ()
    asked = any(out.demanded for out in node.outs) or not node.op.pure  # and otherwise it is known to succeed
    if when is Raises.PLACE:
        return (IndexError,) if asked else ()
    if when is Raises.VALUES and not node.blocks:
        return [raised.class_named(name) for name in node.params.get("failures", node.op.failures)] if asked else ()
    return (ValueError,) if when in (Raises.INTEGERS, Raises.LENGTHS) else ()


def trying(kinds: Thunk) -> Trying:
    """`try: …`."""
    return Trying(kinds)


def somebody_catches(error: BaseException) -> bool:
    return any(attempt.would_catch(type(error)) for attempt in _attempts())


def _attempt_that_fails(kind: type) -> Attempt | None:
    """The innermost statement that may fail by itself, if there is a handler outside of it for such exceptions."""
    found: Attempt | None = None
    for trying in reversed(_attempts()):
        found = found or trying.attempt
        if trying.would_catch(kind):
            return found
    return None


def current_attempt() -> Attempt | None:
    """The innermost statement that may fail by itself."""
    return next((trying.attempt for trying in reversed(_attempts()) if trying.attempt is not None), None)


_UNKNOWN = "a text that only the program knows"


def settle_all() -> None:
    """No condition is taken for granted from here on: something begins that stands for itself."""
    for trying in _attempts():
        if trying.attempt is not None and trying.attempt.depth == depth():
            trying.attempt.settle()


def _catch(ok: Any, error: str, message: str | None) -> bool:
    kind = raised.class_named(error)
    attempt = _attempt_that_fails(kind)
    if attempt is not None:
        attempt.check(ok, raised.made(error, _UNKNOWN if message is None else message))
        return True
    around = current_attempt()
    return around is not None and message is not None and around.demand(ok, error, message)


def _catches(error: str) -> bool:
    return _attempt_that_fails(raised.class_named(error)) is not None


def fail_unless(ok: Any, error: BaseException) -> None:
    """Raise an exception here, which somebody catches, unless a condition holds."""
    attempt = _attempt_that_fails(type(error))
    assert attempt is not None
    attempt.check(ok, error)


Handlers.catch = _catch
Handlers.catches = _catches


def demand(ok: Any, error: str, message: str) -> None:
    """Raise when the program comes here unless a condition holds, which may be that of a batch."""
    if not _catch(ok, error, message):
        call(require, ok, error=error, message=message)


def failed(attempt: Trying) -> int:
    """The code of the exception because of which a statement fails."""
    return attempt.code


def raised_here(attempt: Trying, exception: Thunk, cause: Thunk | None) -> int:
    """`raise exception from cause` in the suite of a `try` of the same function: a code for it."""
    error = _made(exception, cause)
    if depth() == attempt.depth:
        raise error
    for inner in reversed(_attempts()):
        if inner is attempt:
            break
        if inner.would_catch(type(error)):
            raise _refused(error)
    return attempt.note(error)


def caught(attempt: Trying, error: BaseException) -> int:
    """The code of an exception that was raised while the program is captured, if there is a handler for it."""
    if isinstance(error, OWN_ERRORS) or not attempt.would_catch(type(error)):
        raise error
    return attempt.note(error)


def _possible(attempt: Trying, raised: Any, before: Thunk) -> dict[int, BaseException]:
    """The exceptions that may have been raised, but for those that a handler before has caught."""
    known = attempt.raised
    raised = settled(raised)
    if not is_symbolic(raised):
        known = {int(raised): known[int(raised)]} if raised else {}
    return {code: error for code, error in known.items() if not isinstance(error, _flat(before()))}


def catches(attempt: Trying, raised: Any, kind: Thunk, before: Thunk) -> Any:
    """Whether a handler is the one for what was raised, given the kinds of exceptions that those before it catch."""
    possible = _possible(attempt, raised, before)
    found = [code for code, error in possible.items() if isinstance(error, kind())]
    if len(found) in (0, len(possible)):
        return bool(found)
    answer: Any = False
    for code in found:
        answer = e.logical_or(answer, e.equal(raised, code))
    return answer


def error_of(attempt: Trying, raised: Any, kind: Thunk, before: Thunk) -> BaseException:
    """The exception that was raised."""
    found = [error for error in _possible(attempt, raised, before).values() if isinstance(error, kind())]
    if not all(same_error(found[0], error) for error in found[1:]):
        raise StagingError(
            "which one of several exceptions was raised is known only when the compiled program runs",
            remedy="catch them without a name, one class each",
        )
    if found and any(text is _UNKNOWN for text in found[0].args):
        raise StagingError(
            f"the text of a {type(found[0]).__name__} that is caught depends on values which only the compiled program "
            "knows", remedy="catch it without a name (except ValueError:), or use jit(f, fallback=True)",
        )  # fmt: skip
    if found and any(map(_has_ended, (*found[0].args, *vars(found[0]).values()))):
        raise StagingError(
            f"a {type(found[0]).__name__} that is caught holds a value of the branch or loop in which it was raised",
            remedy="give the value a name before the raise, and read that in the handler, or use jit(f, fallback=True)",
        )
    return found[0] if found else RuntimeError("nothing was raised")


def _has_ended(x: Any) -> bool:
    """Whether a value was made in a suite that has been captured: nobody outside can read it."""
    symbol = innermost(x) if isinstance(x, Traced) else None
    return isinstance(symbol, Traced) and symbol._owner.alive is False


def _flat(kinds: Sequence[Any]) -> tuple[type, ...]:
    return tuple(kind for item in kinds for kind in (item if isinstance(item, tuple) else (item,)))


def _made(exception: Thunk, cause: Thunk | None) -> BaseException:
    error = exception()
    error = error() if isinstance(error, type) else error
    if cause is not None:
        error.__cause__ = cause()
    return error


def _refused(error: BaseException) -> StagingError:
    return StagingError(
        f"whether a {type(error).__name__} is raised is known only when the compiled program runs, and a try around "
        "the function that raises it would catch it",
        remedy="raise it in the suite of the try itself, or let the function return a flag, or use "
        "jit(f, fallback=True)",
    )


def raise_(exception: Thunk, cause: Thunk | None) -> None:
    """`raise exception from cause`."""
    if not stages():
        raise _made(exception, cause)
    raise_when_run(_made(exception, cause))


def raise_when_run(error: BaseException) -> None:
    """An exception in a suite that is staged: the program raises it, if it gets there."""
    for trying in reversed(_attempts()):
        if trying.would_catch(type(error)):
            attempt = _attempt_that_fails(type(error))
            if depth() == (trying.depth if attempt is None else attempt.depth):
                raise error
            if attempt is None:
                raise _refused(error)
            attempt.check(False, error)
            return
    if isinstance(error, StopIteration):  # Python would look at it now, and not go on for ever
        raise StagingError(
            "an iterator ends where a value says so that is known only when the compiled program runs",
            remedy="write it as a generator function, with yield, whose items a for loop goes through",
        )
    message = error.args[0] if len(error.args) == 1 else None
    if message.__class__ is OneOf:
        *others, last = message.possible
        for code in others:
            name, text = raised.name_of(type(error)), str(_saying(error, message.alternative(code)))
            ok = e.logical_not(message.is_(code))
            running.state.capture.process(require, (ok,), {"error": name, "message": text})
        error = _saying(error, message.alternative(last))
    if len(error.args) > 1:
        error = _saying(error, *_shown(error.args))
    name, text = raised.name_of(type(error)), str.__str__(str(error))
    if raised.class_named(name) is not type(error):
        text = f"{type(error).__name__}: {text}"
    running.state.capture.process(require, (False,), {"error": name, "message": text})


def _saying(error: BaseException, *what: Any) -> BaseException:
    """The same exception with another message."""
    other = copy.copy(error)
    other.args = what
    return other


class _Unknown:
    """What stands in the text of an exception for a value that only the compiled program knows, as in other texts."""

    def __repr__(self) -> str:
        return "…"


_NOT_KNOWN = _Unknown()


def _shown(said: Any) -> Any:
    """What an exception says, if that is a container, without traced values."""
    if said.__class__ not in (list, tuple, dict):
        return said
    parts, structure = tree.flatten(said)
    return tree.unflatten(structure, [_NOT_KNOWN if isinstance(part, Traced) else part for part in parts])


def assert_(condition: Any, message: Thunk | None) -> None:
    """`assert condition, message`."""
    condition = what_decides(condition)
    if is_symbolic(condition):
        said = "" if message is None else message()
        if said.__class__ is OneOf:
            for code in said.possible:
                ok = e.logical_or(truth(condition), e.logical_not(said.is_(code)))
                demand(ok, "AssertionError", str(said.alternative(code)))
            return
        demand(truth(condition), "AssertionError", str.__str__(str(_shown(said))))
    elif not settled(condition):
        raise_(lambda: AssertionError(*([] if message is None else [message()])), None)
