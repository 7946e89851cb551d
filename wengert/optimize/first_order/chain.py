"""First-order methods as pairs of functions: `init(params)` makes the state, `update(grads, state, params)` steps.

A method is a chain of transformations, which turn gradients into steps that are added to the parameters. Each is a pair
of functions on containers, and states are containers of arrays, so that a whole training step compiles:

    opt = optimize.adam(1e-2)
    state = opt.init(params)

    @wg.jit
    def step(params, state, batch):
        return opt.update(wg.grad(loss)(params, batch), state, params)

`wengert.optimize.first_order` is followed like users' code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.errors import MismatchError

Schedule = float | Callable[[Any], Any]
"""A number, or a function of the number of updates that were done before."""


class FirstOrder:
    """A method, or one link of a chain; made by `adam`, `clip_by_norm`, `chain`, …

    `init(params)` gives the state before the first update; `update(grads, state, params)` gives new parameters and the
    next state. Methods that need more than gradients say which keyword arguments their `update` takes.
    """

    def __init__(self, name: str, start: Callable[[Any], Any], change: Callable[..., tuple[Any, Any]]):
        self.name = name
        self.start = start
        self.change = change

    def __repr__(self) -> str:
        return f"<optimize.{self.name}>"

    def init(self, params: Any) -> dict[str, Any]:
        """The state before the first update."""
        return {"count": np.zeros((), np.int64), "inner": self.start(params)}

    def update(self, grads: Any, state: dict[str, Any], params: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
        """New parameters and the next state, from gradients in the containers of `params`."""
        _demand_alike(grads, params)
        steps, inner = self.change(grads, state["inner"], params, state["count"], **more)
        return tree.map(_moved, params, steps), {"count": state["count"] + 1, "inner": inner}


def _moved(p: Any, step: Any) -> Any:
    """Parameters keep their type: half of a float32 network must not become float64."""
    moved = p + step
    dtype = getattr(p, "dtype", None)
    return moved if dtype is None or moved.dtype == dtype else moved.astype(dtype)


def _demand_alike(grads: Any, params: Any) -> None:
    if tree.flatten(grads)[1] != tree.flatten(params)[1]:
        raise MismatchError(
            "the gradients have other containers than the parameters",
            remedy="pass opt.update(grads, state, params), in this order, with grads = wg.grad(loss)(params, …)",
        )


def chain(*links: FirstOrder) -> FirstOrder:
    """One method of several: each turns what the one before it gives into steps.

    >>> import numpy as np, wengert as wg
    >>> opt = wg.optimize.chain(wg.optimize.clip_by_norm(1.0), wg.optimize.gradient_descent(0.1))
    >>> params, state = opt.update(np.array([30.0, 40.0]), opt.init(np.zeros(2)), np.zeros(2))
    >>> params
    array([-0.06, -0.08])
    """

    def start(params: Any) -> tuple:
        return tuple([link.start(params) for link in links])

    def change(steps: Any, state: tuple, params: Any, count: Any, **more: Any) -> tuple[Any, tuple]:
        after = []
        for link, inner in zip(links, state, strict=True):
            steps, inner = link.change(steps, inner, params, count, **more)
            after.append(inner)
        return steps, tuple(after)

    return FirstOrder("chain", start, change)


def at(schedule: Schedule, count: Any) -> Any:
    """What a schedule is at an update."""
    return schedule(count) if callable(schedule) else schedule


def nothing(params: Any) -> tuple:
    """The state of a link that has none."""
    return ()


def zeros(params: Any) -> Any:
    """Zeros like the parameters."""
    return tree.map(np.zeros_like, params)
