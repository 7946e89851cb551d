"""Loops in which something may be raised that a `try` around the loop catches: they end there.

    try:                                 raised = 0
        for i in range(n):               for i in range(n):
            y = y + 1 / (x - i)              if x - i != 0: y = y + 1 / (x - i)         (`retrying.py`)
    except ZeroDivisionError:                else: raised = 1; break
        y = 0.0                          if raised == 1: y = 0.0

The suite of the loop is a statement that may fail by itself, like those of the `try`: `raised` is carried, and says
which exception came up. When the loop is over, the statement that the loop is in fails on that condition. So loops
inside of loops, and in functions that are called in the `try`, need nothing more. The test of a `while` may raise as
well, so it is the last thing that an iteration does.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from wengert.capture.carried import Variables, cells_of
from wengert.capture.exceptions import Trying, fail_unless, same_error
from wengert.capture.retrying import attempted
from wengert.capture.syntax import OURS
from wengert.capture.texts import Piece, TracedText
from wengert.capture.values import is_symbolic
from wengert.ops import elementwise as e

_RAISED = f"{OURS}raised_in_loop"


class _Leaving(Trying):
    """The suite of a loop: it may fail, and catches nothing."""

    def __init__(self, variables: Variables) -> None:
        super().__init__(lambda: ())
        self.cells = cells_of(variables.get)

    def note(self, error: BaseException) -> int:
        for code, known in self.raised.items():  # the suite is captured more than once
            if same_error(known, error):
                return code
        return super().note(error)


class Leaving:
    """A loop that ends where its suite fails: what it is instead."""

    def __init__(self, variables: Variables):
        self._inner = variables
        self._trying = _Leaving(variables)
        self._raised: Any = 0
        names = (*variables.names, _RAISED)
        self.variables = variables._replace(get=self._get, set=self._set, names=names)

    def _get(self) -> tuple:
        return (*self._inner.get(), self._raised)

    def _set(self, values: tuple) -> None:
        *others, self._raised = values
        self._inner.set(tuple(others))

    def _fail(self) -> None:
        self._raised = self._trying.code

    def run(self, suite: Callable[[], Any]) -> None:
        """One iteration."""
        v = self.variables
        with self._trying:
            attempted(self._trying, suite, None, self._fail, v.get, v.set, v.names, v.temporaries)

    def goes_on(self) -> Any:
        return e.equal(self._raised, 0)

    def finish(self) -> None:
        """The loop is over: what was raised in it is raised here."""
        kinds: dict[Any, dict[int, BaseException]] = {}
        for code, error in self._trying.raised.items():
            is_plain = len(error.args) == 1 and isinstance(error.args[0], str) and not vars(error)
            kinds.setdefault((type(error), is_plain or code), {})[code] = error
        for errors in kinds.values():
            ok: Any = True
            for code in errors:
                ok = e.logical_and(ok, e.not_equal(self._raised, code))
            if is_symbolic(ok) or not ok:
                fail_unless(ok, _one_of(errors, self._raised))


def _one_of(errors: dict[int, BaseException], raised: Any) -> BaseException:
    """One exception for several of a class: its message is known only when the program runs."""
    first, *others = errors.values()
    if not others:
        return first
    texts = {code: error.args[0] for code, error in errors.items()}
    symbols = [x for text in texts.values() if isinstance(text, TracedText) for x in text.symbols]
    either = copy.copy(first)
    either.args = (TracedText([Piece(lambda code, *_: str.__str__(texts[int(code)]), (raised, *symbols))]),)
    return either
