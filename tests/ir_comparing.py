"""Running programs before and after a pass, and comparing the results bit by bit."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.api.jit import jit
from wengert.control.call import execute
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import Block, Program, all_nodes
from wengert.ir.show import show
from wengert.types import SCALARS


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """Calls inside are interpreted, not compiled."""
    before = execute[0]
    execute[0] = lambda body, name, args: run(body, args)
    try:
        yield
    finally:
        execute[0] = before


def outcome(block: Block, args: list[Any]) -> Any:
    """The results of a block, or the error it raises."""
    with interpreted(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run(block, args)
        except (ValueError, IndexError) as error:
            return error


def assert_same(before: Any, after: Any) -> None:
    """That two outcomes are the same: types, shapes, numbers, also of zeros the sign."""
    if isinstance(before, Exception):
        assert isinstance(after, Exception), f"raised {before!r} before, but not any more"
        assert (type(after), str(after)) == (type(before), str(before))
        return
    assert not isinstance(after, Exception), f"raises now: {after!r}"
    assert len(before) == len(after)
    for x, y in zip(before, after, strict=True):
        assert (x.__class__ in SCALARS) == (y.__class__ in SCALARS), (x, y)
        x, y = np.asarray(x), np.asarray(y)
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        np.testing.assert_array_equal(x, y)
        for part in (np.real, np.imag) if x.dtype.kind in "fc" else ():
            numbers = ~np.isnan(part(x))
            np.testing.assert_array_equal(np.signbit(part(x))[numbers], np.signbit(part(y))[numbers])


def kept_by(change: Callable[[Block], Block], program: Program, args: list[Any]) -> Block:
    """What a pass makes of a random program: a valid one with the same outcome, while the program stays as it is."""
    before = show(program)
    block = change(program.block)
    check(block)
    assert show(program) == before, "the program was changed"
    assert_same(outcome(program.block, args), outcome(block, args))
    return block


def number_of(op: str, f: Callable, *args: Any) -> int:
    """How many nodes of an op there are in the optimised program of a function, which is a valid one."""
    program = jit(f).lower(*args).program
    check(program)
    return sum(node.op.name == op for node in all_nodes(program.block))


def number_of_nodes(block: Block) -> int:
    return sum(1 for _ in all_nodes(block))
