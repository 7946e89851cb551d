"""scipy.stats.rv_discrete of a list of values with given probabilities, of which some are traced.

SciPy checks that probabilities add up to one; here they are taken as they are. Their last axis belongs to the values,
so that `P[z]`, rows of a transition matrix, are several distributions at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.box.dispatch import BLIND
from wengert.box.functions.operands import array
from wengert.errors import MismatchError
from wengert.imported import when_imported
from wengert.types import shape_of


class Categorical:
    """A distribution on a list of numbers."""

    name = "rv_discrete"

    def __init__(self, xk: Any, pk: Any):
        self.xk, self.pk = np.asarray(xk), array(pk)
        if self.xk.ndim != 1 or shape_of(self.pk)[-1:] != self.xk.shape:
            raise MismatchError(
                f"rv_discrete has {self.xk.size} values, but probabilities of shape {shape_of(self.pk)}",
                remedy="give a probability for each value, along the last axis",
            )

    def pmf(self, k: Any, loc: Any = 0) -> Any:
        """Probabilities of values; zero for others."""
        hits = np.expand_dims(array(k) - loc, -1) == self.xk
        return np.sum(np.where(hits, self.pk, 0.0), axis=-1)

    def logpmf(self, k: Any, loc: Any = 0) -> Any:
        hits = np.expand_dims(array(k) - loc, -1) == self.xk
        # Where a value is none of ours, the logarithm is −∞, and none of the probabilities counts.
        one = np.sum(np.where(hits, self.pk, 0.0), axis=-1)
        known = np.any(hits, axis=-1)
        return np.where(known, np.log(np.where(known, one, 1.0)), -math.inf)

    def support(self) -> tuple[Any, Any]:
        return np.min(self.xk), np.max(self.xk)

    def mean(self) -> Any:
        return np.sum(self.pk * self.xk, axis=-1)

    def var(self) -> Any:
        return np.sum(self.pk * self.xk**2, axis=-1) - self.mean() ** 2

    def __repr__(self) -> str:
        return "<rv_discrete with traced probabilities>"


def _rv_discrete(*args: Any, values: Any = None, **named: Any) -> Categorical:
    if values is None:
        raise MismatchError("rv_discrete of traced values without values=", remedy="write rv_discrete(values=(xk, pk))")
    return Categorical(*values)


@when_imported("scipy.stats")
def _fill_the_table(stats: Any) -> None:
    BLIND[stats.rv_discrete] = _rv_discrete
