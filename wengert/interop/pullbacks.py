"""The pullback of a function as a function of arrays: what other frameworks differentiate once more.

A function g of n arrays to a tuple of arrays has the pullback (x₁, …, xₙ, y₁_bar, …) ↦ (x₁_bar, …), again a function of
arrays to a tuple of arrays. So a framework that is told, for every such function, that its derivative is its pullback,
can differentiate to any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.api.products import vjp


def pullback_of(g: Callable[..., tuple], n: int) -> Callable[..., tuple]:
    """The pullback of a function of n arrays to a tuple of arrays.

    >>> pullback_of(lambda x, y: (x * y,), 2)(3.0, 5.0, 1.0)
    (5.0, 3.0)
    """

    def pullback(*given: Any) -> tuple:
        _, pull = vjp(g, *given[:n])
        return tuple(pull(tuple(given[n:])))

    return pullback
