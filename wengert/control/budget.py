"""What reverse mode may keep of a program's loops: a number of states, or a number of bytes.

The budget is that of the operator that runs in this thread (`grad(f, checkpoints=5)`); what is done for it, also the
derivatives of blocks inside, finds it in `running.state.budget`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from wengert.running import running


class Budget(NamedTuple):
    """At most so many states of each loop, the first one included, or so many bytes for all of them."""

    checkpoints: int | None = None
    memory: int | None = None


class Account:
    """A budget while it is spent."""

    def __init__(self, budget: Budget):
        self.checkpoints = budget.checkpoints
        self.left = budget.memory

    @property
    def key(self) -> Any:
        """What a derivative that is made now depends on."""
        return self.checkpoints, self.left


def account() -> Account | None:
    """The budget of the operator that runs."""
    return running.state.budget


def key_of_budget() -> Any:
    """The same, as part of a key under which derivatives are kept."""
    now = account()
    return None if now is None else now.key


@contextmanager
def under(budget: Budget | None) -> Iterator[None]:
    """While this budget holds; if there is none, the one around it does."""
    if budget is None:
        yield
        return
    state = running.state
    outer, state.budget = state.budget, Account(budget)
    try:
        yield
    finally:
        state.budget = outer


@contextmanager
def without_budget() -> Iterator[None]:
    """While there is none: a program that is compiled does not depend on who called for it."""
    state = running.state
    outer, state.budget = state.budget, None
    try:
        yield
    finally:
        state.budget = outer
