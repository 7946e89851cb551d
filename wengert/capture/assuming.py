"""Branches that cannot be put together: the program is compiled for one of them.

    if failed:                          require(not failed)
        message = "no convergence"  ->
        root = None
    …

A variable that is a text in one branch and None in the other, a list of another length, an array with more axes or an
object with other attributes cannot be a value of the program; and a branch in which a text is looked at, or a function
without a rule is called, cannot be in one. If nothing else helps, the function is captured once more
with the assumption that such a branch is always taken, or never, and the program raises where that does not hold.
Whoever called it (`api/jit.py`) then has the function captured with the opposite assumption. So each call is right;
what goes both ways in one call is refused, with the error that was raised first.

A program that has done something which is seen outside cannot be begun again, so there are no assumptions in it. What
it only tells others (prints, logs, warns) is counted: a program that is begun again does not tell it twice (`Telling`).
What is raised while a function is captured under an assumption need not be raised when it runs: other assumptions are
tried, and if none helps it is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wengert.capture.session import current
from wengert.errors import WengertError, user_frame
from wengert.ir.infer import DependsOnWhetherInteger, DependsOnWhichNumber
from wengert.ir.node import Block, Node, all_nodes
from wengert.ops import elementwise as e
from wengert.ops.op import call
from wengert.ops.sizes import require

TELLS_NUMBERS_APART = "numbers of Python's and of NumPy's"
"""Assumed if it matters which of them a variable is: then no branches are put together in which that differs."""
TELLS_INTEGERS_APART = "integers and floats of Python's"
"""The same for these."""
TELLS_THINGS_APART = "texts, functions and objects"
"""The same for what is one of several things (`one_of.py`), where code is given it that asks which."""


class DependsOnWhichThing(DependsOnWhichNumber):
    """Code that is not followed asks which one of several things something is."""


def tells(error: DependsOnWhichNumber) -> str:
    """What has to be told apart, by an error that says so."""
    if isinstance(error, DependsOnWhichThing):
        return TELLS_THINGS_APART
    return TELLS_INTEGERS_APART if isinstance(error, DependsOnWhetherInteger) else TELLS_NUMBERS_APART


_OFTEN = 100
"""So often one may come to a branch that cannot be captured."""
_MARK = "a branch is taken for which the program was not compiled: "


class Assumptions:
    """Which branches are taken, by assumption, by the places of the `if`s, in the order in which they came up.

    Where a program was run, and one of them did not hold, the opposite is `known`.
    """

    def __init__(self, known: dict[str, bool]):
        self.known, self.taken = known, dict(known)
        self.only: dict[str, int] = {}
        """Places at which the other branch cannot be captured, and how often one came there."""
        self.refusal: WengertError | None = None
        """What is raised if the assumptions do not help: the error that would have been raised without the first."""

    @property
    def are_certain(self) -> bool:
        """Whether each of them is the only way: what goes wrong then is not due to them."""
        return self.taken.keys() - self.known.keys() <= self.only.keys()

    def change_one(self) -> bool:
        """Take the other branch at the last place where that was not tried yet; whether there is one.

        What went wrong while the function was captured may be due to an assumption that does not hold.
        """
        for place in reversed(list(self.taken)):
            if place not in self.known and not self.taken[place] and place not in self.only:
                self.taken[place] = True
                return True
            if place not in self.known:
                del self.taken[place]
        return False


def assumed(pred: Any, error: WengertError, only: bool | None = None) -> bool | None:
    """Which branch of an `if` is taken, by assumption; `None` if nothing is assumed. There may be `only` one."""
    session = current.session
    frame = user_frame()
    if session is None or session.assumed is None or frame is None:
        return None
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    taken = session.assumed.taken.setdefault(place, bool(only))
    if only is not None:
        times = session.assumed.only[place] = session.assumed.only.get(place, 0) + 1
        if taken is not only or times > _OFTEN:  # it may be what ends a loop
            raise error
    session.assumed.refusal = session.assumed.refusal or error
    call(require, pred if taken else e.logical_not(pred), error="RuntimeError", message=_MARK + place)
    return taken


def is_assumption(node: Node) -> bool:
    """Whether a node raises where an assumption does not hold: no handler of the user's is to catch that."""
    return node.op is require and node.params["message"].startswith(_MARK)


def tells_apart(what: str) -> bool:
    """Whether it matters which number or thing it is."""
    session = current.session
    return session is not None and session.assumed is not None and what in session.assumed.known


def refuted(error: BaseException) -> str | None:
    """The place of the assumption that did not hold, if that is what an error says."""
    text = str(error)
    return text[len(_MARK) :].partition(" (at ")[0] if text.startswith(_MARK) else None


class _Told(threading.local):
    """How much the program that runs in this thread has told, and how much of it was told before it was begun again."""

    now = 0
    before = 0


_told = _Told()


class Telling:
    """A function without a result that a program calls: what is done outside, and nothing in it depends on."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable):
        self._function = function

    def __call__(self, *values: Any) -> tuple:
        _told.now += 1
        if _told.now > _told.before:
            now = _told.now
            self._function(*values)  # which may call compiled functions
            _told.now = now
        return ()


@contextmanager
def begun() -> Iterator[Callable[[], None]]:
    """A program runs under assumptions; what it gives says that it is begun again."""
    outer = _told.now, _told.before
    _told.now = _told.before = 0

    def again() -> None:
        _told.now, _told.before = 0, max(_told.now, _told.before)

    try:
        yield again
    finally:
        _told.now, _told.before = outer


def can_begin_again(block: Block) -> bool:
    """Whether nothing that a program does is seen outside before it ends, but for what it tells."""
    effects = (node for node in all_nodes(block) if node.op.effect and node.op is not require)
    return all(node.params.get("function").__class__ is Telling for node in effects)
