"""`checkpoint`: run a function again in the reverse sweep instead of keeping what it computed."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.functions.lifted import Lifted, is_filled
from wengert.box.writing import settled
from wengert.capture.draws import GENERATORS
from wengert.capture.hooks import instrument
from wengert.capture.snapshots import set_state, state_of
from wengert.control.checkpoint import checkpoint as op
from wengert.control.checkpoint import read_only
from wengert.errors import InPlaceError
from wengert.ops.op import call
from wengert.running import running


def checkpoint(f: Callable) -> Callable:
    """A function whose inside is not kept for the reverse sweep: it is run again there.

    Use it as a decorator, or where it is called: `wg.checkpoint(layer)(x)`. Of a chain of n such functions reverse mode
    keeps the n states between them, and the inside of one at a time, for one more evaluation of each. Checkpointed
    functions may call others: of a binary tree of calls only the way from the root is kept.

    The function is differentiated with respect to its arguments and to what it closes over. It must compute the same
    again: random generators that it is given or finds outside are set back for the second time. It must not write into
    its arguments. In every mode but reverse it is just the function.

    >>> import numpy as np, wengert as wg
    >>> step = wg.checkpoint(lambda y: y + 0.1 * np.sin(y))
    >>> def simulate(y):
    ...     for _ in range(100):
    ...         y = step(y)
    ...     return y
    >>> wg.grad(simulate)(1.0).round(6)
    np.float64(0.000136)
    """

    @functools.wraps(f)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        function = instrument(f)
        lifted = Lifted((function, args, kwargs))
        if not lifted.values:
            return f(*args, **kwargs)
        states = None if running.state.capture is not None else _states((f, args, kwargs))
        structure: list[Any] = [None]
        first = [True]

        def on_values(values: Sequence[Any]) -> list[Any]:
            function, args, kwargs = lifted.with_values([read_only(v) for v in values])
            with _set_back(None if first[0] else states):
                first[0] = False
                leaves, structure[0] = tree.flatten(_writing_nowhere(function, args, kwargs))
            return [settled(leaf) for leaf in leaves]

        results = call(op, *lifted.values, name=getattr(f, "__name__", "f"), function=on_values)
        return tree.unflatten(structure[0], results)

    return checkpointed


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


@contextmanager
def _set_back(states: list[tuple[Any, Any]] | None):
    """While random generators are what they were; afterwards they go on from where they are."""
    if not states:
        yield
        return
    now = [(generator, state_of(generator)) for generator, _ in states]
    try:
        for generator, state in states:
            set_state(generator, state)
        yield
    finally:
        for generator, state in now:
            set_state(generator, state)


def _states(thing: Any) -> list[tuple[Any, Any]]:
    """The random generators that a function may use, and their states: the global ones, and those that it reaches."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    waiting = [thing, np.random.mtrand._rand, random._inst]
    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, GENERATORS):
            found[id(x)] = x
        elif x.__class__ is FunctionType:
            waiting += [c.cell_contents for c in x.__closure__ or () if is_filled(c)]
            waiting += [x.__globals__[name] for name in x.__code__.co_names if name in x.__globals__]
            waiting += [x.__defaults__, x.__kwdefaults__]
        elif x.__class__ is MethodType:
            waiting += [x.__func__, x.__self__]
        elif x.__class__ in (list, tuple):
            waiting += x
        elif x.__class__ is dict:
            waiting += x.values()
        elif x.__class__ is functools.partial:
            waiting += [x.func, x.args, x.keywords]
        elif hasattr(x, "__dict__") and not isinstance(x, type) and x.__class__.__module__ not in ("builtins", "numpy"):
            waiting += vars(x).values()
    return [(generator, state_of(generator)) for generator in found.values()]
