"""`checkpoint`: run a function again in the reverse sweep instead of keeping what it computed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from wengert import tree
from wengert.api.operators import demand_function
from wengert.box.dispatch import UFUNCS
from wengert.box.functions.lifted import Lifted
from wengert.box.writing import settled
from wengert.capture.hooks import instrument
from wengert.capture.repeating import call_again
from wengert.capture.snapshots import Snapshot
from wengert.control.checkpoint import checkpoint as op
from wengert.control.checkpoint import read_only
from wengert.errors import InPlaceError, UnsupportedFunctionError, told
from wengert.ops.derive import Control
from wengert.ops.op import TABLE, call
from wengert.running import running


@told
def checkpoint(f: Callable | None = None, *, keep: Any = ()) -> Callable:
    """A function whose inside is not kept for the reverse sweep: it is run again there.

    Use it as a decorator, or where it is called: `wg.checkpoint(layer)(x)`. Of a chain of n such functions reverse mode
    keeps the n states between them, and the inside of one at a time, for one more evaluation of each. Checkpointed
    functions may call others: of a binary tree of calls only the way from the root is kept.

    The function is differentiated with respect to its arguments and to what it closes over. It must compute the same
    again: variables and objects that it changes, and random generators, are set back for the second time; other numbers
    are an error. Compiled it must not change what is outside, nor write into its arguments. In every mode but reverse
    it is just the function.

    Args:
        f: the function; without it the result is a decorator, `@wg.checkpoint(keep="matmul")`.
        keep: what is stored all the same, since it is expensive to compute again: names of operations as `wg.trace`
            shows them ("matmul", "eigh"), functions of NumPy that are one of them (`np.matmul`, `np.linalg.solve`), or
            a list of these. It concerns what f does outside of loops that are compiled; the rest is computed again.

    >>> import numpy as np, wengert as wg
    >>> step = wg.checkpoint(lambda y: y + 0.1 * np.sin(y))
    >>> def simulate(y):
    ...     for _ in range(100):
    ...         y = step(y)
    ...     return y
    >>> wg.grad(simulate)(1.0).round(6)
    np.float64(0.000136)
    """

    if f is None:
        return lambda f: checkpoint(f, keep=keep)
    demand_function("checkpoint", f)
    kept = _names_of(keep)

    @told
    @functools.wraps(f)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        state = running.state
        if not state.depth:
            return f(*args, **kwargs)
        name, function = getattr(f, "__name__", "f"), instrument(f)
        if state.capture is None and not state.tapes:
            return function(*args, **kwargs)
        if state.capture is None and state.traces[-1] is state.tapes[-1]:
            return call_again(state.tapes[-1], function, args, kwargs, name, kept)
        return _as_op(name, function, args, kwargs, kept)

    return checkpointed


def _as_op(name: str, function: Callable, args: tuple, kwargs: dict, keep: frozenset[str]) -> Any:
    """The call as the op `checkpoint`: in a program that is captured, or inside of another transformation than reverse
    mode. There the function must leave alone what is outside."""
    lifted = Lifted((function, args, kwargs))
    if not lifted.values:
        return function(*args, **kwargs)
    staged = running.state.capture is not None
    structure: list[Any] = [None]
    before: list[Snapshot] = []

    def on_values(values: Sequence[Any]) -> list[Any]:
        function, args, kwargs = lifted.with_values([read_only(v) for v in values])
        roots = (function, args, kwargs)
        now = Snapshot(roots)
        if before and not staged:
            before[0].restore_generators()
        try:
            leaves, structure[0] = tree.flatten(_writing_nowhere(function, args, kwargs))
        finally:
            if before and not staged:
                now.restore_generators()
        if now.has_changed():
            raise UnsupportedFunctionError(
                f"{name} is checkpointed and changes a variable or an object from outside, in a compiled function",
                remedy="return what it computes instead, or leave wg.checkpoint out",
            )
        before.append(now)
        return [settled(leaf) for leaf in leaves]

    results = call(op, *lifted.values, name=name, function=on_values, keep=keep)
    return tree.unflatten(structure[0], results)


_SEVERAL = {
    "dot": ("matmul", "multiply"),
    "solve": ("solve", "factors", "solve_factored"),
    "outer": ("multiply",),
    "tensordot": ("matmul",),
    "abs": ("absolute",),
}
"""Functions by whose names other ops are meant."""


def _names_of(keep: Any) -> frozenset[str]:
    """The names of ops, from what a user says."""
    names: set[str] = set()
    for thing in keep if isinstance(keep, (list, tuple, set, frozenset)) else (keep,):
        name = thing if isinstance(thing, str) else getattr(UFUNCS.get(thing), "name", getattr(thing, "__name__", ""))
        found = _SEVERAL.get(name, (name,))
        if any(one not in TABLE or isinstance(TABLE[one], Control) for one in found):
            raise ValueError(
                f"keep={thing!r} is no operation: name one that wg.trace shows, keep='matmul' for instance, or several "
                "in a list"
            )
        names.update(found)
    return frozenset(names)


def _writing_nowhere(function: Callable, args: tuple, kwargs: dict) -> Any:
    try:
        return function(*args, **kwargs)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise InPlaceError(
            f"{getattr(function, '__name__', 'a function')} is checkpointed and writes into an array that it is given",
            remedy="write into a copy, x = x.copy(), and return it",
        ) from None
