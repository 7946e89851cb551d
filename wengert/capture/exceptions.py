"""Exceptions in staged code: what is raised, and what a `try` around it would catch (`attempts.py` has the syntax).

A `raise` in a suite that is staged is reached or not when the program runs. If a `try` in the same function catches it,
it is a jump; the number that says so is a value of the program. If nothing catches it, the program raises (`require`).
Otherwise a function that is called in the `try` raises, or an operation does; that is refused.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.box.writing import settled
from wengert.capture.containers import depth, stages
from wengert.capture.optional import condition as what_decides
from wengert.capture.session import WrittenTo, current
from wengert.capture.values import is_symbolic, truth
from wengert.errors import StagingError, WengertError
from wengert.ir.analysis.raising import may_raise
from wengert.ir.node import Node, all_nodes
from wengert.ops import elementwise as e
from wengert.ops.op import call
from wengert.ops.sizes import require
from wengert.ops.traits import Raises
from wengert.running import running

Thunk = Callable[[], Any]
OWN_ERRORS = (WengertError, WrittenTo, RecursionError)
"""Exceptions that no handler of the user's may catch while a program is captured."""


class Trying:
    """One execution of a `try`, while its suite runs; `number` is that of the statement if it catches jumps."""

    def __init__(self, number: int | None, kinds: Thunk):
        self.number, self.kinds, self.depth = number, kinds, depth()
        self.raised: dict[int, BaseException] = {}
        """Exceptions that were raised by jumps, or caught, by their codes."""
        self._capture, self._nodes = running.state.capture, 0

    def __enter__(self) -> Trying:
        _attempts().append(self)
        self._nodes = len(self._capture.nodes) if self._capture is not None else 0
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _attempts().pop()
        if self.number is not None and current.session is not None:
            current.session.caught[self.number] = self
        if error is None and self._capture is not None:
            for node in self._capture.nodes[self._nodes :]:
                for inner in _with_those_inside(node):
                    self._refuse_if_caught(inner)

    def would_catch(self, *errors: type) -> bool:
        """Whether there is a handler for one of these classes of exceptions."""
        return any(issubclass(error, _flat(self.kinds())) for error in errors)

    def _refuse_if_caught(self, node: Node) -> None:
        errors = _errors_of(node)
        if errors and self.would_catch(*errors):
            names = " or ".join(sorted({error.__name__ for error in errors}))
            where = f" in line {node.source.line}" if node.source is not None else ""
            raise StagingError(
                f"{node.op.name}{where} may raise a {names} when the compiled program runs, and a try around it would "
                "catch that", remedy="test before whether it will raise, with an if, or use jit(f, fallback=True)",
            )  # fmt: skip


def _attempts() -> list[Trying]:
    return current.session.attempts if current.session is not None else []


def _with_those_inside(node: Node) -> Iterator[Node]:
    yield node
    for block in node.blocks:
        yield from all_nodes(block)


def _errors_of(node: Node) -> Sequence[type]:
    """What a node may raise when the program runs."""
    if node.op is require:
        return (_class_named(node.params["error"]) or RuntimeError,)
    when = node.op.raises
    if when is Raises.BODY or not may_raise(node):
        return ()
    if when is Raises.PLACE:
        return (IndexError,)
    if when is Raises.VALUES and not node.blocks:
        return (np.linalg.LinAlgError,)
    return (ValueError,) if when in (Raises.INTEGERS, Raises.LENGTHS) else ()


def _class_named(name: str) -> Any:
    return np.linalg.LinAlgError if name == "LinAlgError" else getattr(builtins, name, None)


def trying(number: int | None, kinds: Thunk) -> Trying:
    """`try: …`."""
    return Trying(number, kinds)


def raised_here(number: int, exception: Thunk, cause: Thunk | None) -> int:
    """`raise exception from cause` in the suite of a `try` of the same function: a code for it."""
    attempt = next(a for a in reversed(_attempts()) if a.number == number)
    error = _made(exception, cause)
    if depth() == attempt.depth:
        raise error
    for inner in reversed(_attempts()):
        if inner is attempt:
            break
        if inner.would_catch(type(error)):
            raise _refused(error)
    return _noted(attempt, error)


def _noted(attempt: Trying, error: BaseException) -> int:
    session = current.session
    assert session is not None
    session.codes += 1
    attempt.raised[session.codes] = error
    return session.codes


def caught(number: int, error: BaseException) -> int:
    """The code of an exception that was raised while the program is captured, if there is a handler for it."""
    attempt = current.session.caught[number] if current.session is not None else None
    if attempt is None or isinstance(error, OWN_ERRORS) or not attempt.would_catch(type(error)):
        raise error
    return _noted(attempt, error)


def _possible(number: int, raised: Any, before: Thunk) -> dict[int, BaseException]:
    """The exceptions that may have been raised, but for those that a handler before has caught."""
    assert current.session is not None
    known = current.session.caught[number].raised
    raised = settled(raised)
    if not is_symbolic(raised):
        known = {int(raised): known[int(raised)]} if raised else {}
    return {code: error for code, error in known.items() if not isinstance(error, _flat(before()))}


def catches(number: int, raised: Any, kind: Thunk, before: Thunk) -> Any:
    """Whether a handler is the one for what was raised, given the kinds of exceptions that those before it catch."""
    possible = _possible(number, raised, before)
    found = [code for code, error in possible.items() if isinstance(error, kind())]
    if len(found) in (0, len(possible)):
        return bool(found)
    answer: Any = False
    for code in found:
        answer = e.logical_or(answer, e.equal(raised, code))
    return answer


def error_of(number: int, raised: Any, kind: Thunk, before: Thunk) -> BaseException:
    """The exception that was raised."""
    found = [error for error in _possible(number, raised, before).values() if isinstance(error, kind())]
    if any(type(error) is not type(found[0]) or error.args != found[0].args for error in found[1:]):
        raise StagingError(
            "which one of several exceptions was raised is known only when the compiled program runs",
            remedy="catch them without a name, one class each",
        )
    return found[0] if found else RuntimeError("nothing was raised")


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
    for attempt in reversed(_attempts()):
        if attempt.would_catch(type(error)):
            if attempt.depth == depth():
                raise error
            raise _refused(error)
    name, text = type(error).__name__, str.__str__(str(error))
    if _class_named(name) is not type(error):
        name, text = "RuntimeError", f"{name}: {text}"
    running.state.capture.process(require, (False,), {"error": name, "message": text})


def assert_(condition: Any, message: Thunk | None) -> None:
    """`assert condition, message`."""
    condition = what_decides(condition)
    if is_symbolic(condition):
        text = "" if message is None else str.__str__(str(message()))
        if any(attempt.would_catch(AssertionError) for attempt in _attempts()):
            raise _refused(AssertionError(text))
        call(require, truth(condition), error="AssertionError", message=text)
    elif not settled(condition):
        raise_(lambda: AssertionError(*([] if message is None else [message()])), None)
