"""Links of chains that are no methods by themselves: clipping, decay and noise of gradients, averages of weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import tree
from wengert.optimize.first_order.chain import FirstOrder, Schedule, at, nothing


def clip_by_value(most: float) -> FirstOrder:
    """Each component of the gradients is brought into [−most, most].

    >>> import numpy as np
    >>> clip_by_value(1.0).change(np.array([3.0, -0.5]), (), None, 0)[0]
    array([ 1. , -0.5])
    """

    def change(grads: Any, state: Any, params: Any, count: Any, **more: Any) -> tuple:
        return tree.map(lambda g: np.clip(g, -most, most), grads), state

    return FirstOrder("clip_by_value", nothing, change)


def clip_by_norm(most: float) -> FirstOrder:
    """Each array of the gradients is made shorter, if its norm is larger than `most`.

    >>> import numpy as np
    >>> clip_by_norm(1.0).change(np.array([3.0, 4.0]), (), None, 0)[0]
    array([0.6, 0.8])
    """

    def change(grads: Any, state: Any, params: Any, count: Any, **more: Any) -> tuple:
        return tree.map(lambda g: g * _shrink(np.sqrt(np.sum(g * g)), most), grads), state

    return FirstOrder("clip_by_norm", nothing, change)


def clip_by_global_norm(most: float) -> FirstOrder:
    """All gradients together are made shorter, if their norm as one vector is larger than `most` (Pascanu et al. 2013).

    >>> import numpy as np
    >>> clip_by_global_norm(1.0).change({"a": np.array([3.0]), "b": np.array([4.0])}, (), None, 0)[0]
    {'a': array([0.6]), 'b': array([0.8])}
    """

    def change(grads: Any, state: Any, params: Any, count: Any, **more: Any) -> tuple:
        factor = _shrink(global_norm(grads), most)
        return tree.map(lambda g: g * factor, grads), state

    return FirstOrder("clip_by_global_norm", nothing, change)


def _shrink(norm: Any, most: float) -> Any:
    return most / np.maximum(norm, most)


def global_norm(container: Any) -> Any:
    """The Euclidean norm of all numbers in a container.

    >>> import numpy as np
    >>> global_norm({"a": np.array([3.0]), "b": 4.0})
    np.float64(5.0)
    """
    total: Any = 0.0
    for leaf in tree.leaves(container):
        total = total + np.sum(leaf * leaf)
    return np.sqrt(total)


def add_weight_decay(rate: Schedule) -> FirstOrder:
    """The gradient of ½ rate |p|² is added: L2 regularisation.

    >>> import numpy as np
    >>> add_weight_decay(0.1).change(np.zeros(1), (), np.full(1, 2.0), 0)[0]
    array([0.2])
    """

    def change(grads: Any, state: Any, params: Any, count: Any, **more: Any) -> tuple:
        decay = at(rate, count)
        return tree.map(lambda g, p: g + decay * p, grads, params), state

    return FirstOrder("add_weight_decay", nothing, change)


class WeightAverage:
    """An average of parameters along the way; made by `exponential_average` and `polyak_average`.

    `init(params)` gives its state, `update(params, state)` the next; `.value(state)` is the average.
    """

    def __init__(self, weight: Any, corrected: bool):
        self._weight, self._corrected = weight, corrected

    def init(self, params: Any) -> dict[str, Any]:
        """The state before the first update."""
        return {"count": np.zeros((), np.int64), "mean": tree.map(np.zeros_like, params)}

    def update(self, params: Any, state: dict[str, Any]) -> dict[str, Any]:
        """The state after these parameters."""
        w = self._weight(state["count"])
        return {"count": state["count"] + 1, "mean": tree.map(lambda m, p: m + w * (p - m), state["mean"], params)}

    def value(self, state: dict[str, Any]) -> Any:
        """The average of the parameters so far."""
        if not self._corrected:
            return state["mean"]
        missing = (1 - self._weight(0)) ** state["count"]
        return tree.map(lambda m: m / (1 - missing), state["mean"])


def exponential_average(decay: float = 0.999) -> WeightAverage:
    """An average that forgets: m ← decay m + (1 − decay) p, corrected for its start.

    >>> import numpy as np
    >>> ema = exponential_average(0.9)
    >>> ema.value(ema.update(np.ones(2), ema.init(np.ones(2))))
    array([1., 1.])
    """
    return WeightAverage(lambda count: 1 - decay, True)


def polyak_average() -> WeightAverage:
    """The mean of all parameters along the way (Polyak and Juditsky 1992).

    >>> import numpy as np
    >>> mean = polyak_average()
    >>> state = mean.init(np.zeros(1))
    >>> for p in (1.0, 2.0, 6.0):
    ...     state = mean.update(np.array([p]), state)
    >>> mean.value(state)
    array([3.])
    """
    return WeightAverage(lambda count: 1 / (count + 1.0), False)
