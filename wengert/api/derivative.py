"""Derivatives of functions of one real number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.api.arguments import Prepared
from wengert.api.operators import result_of
from wengert.errors import NotDifferentiableInputError
from wengert.types import dtype_of, shape_of


def derivative(f: Callable, order: int = 1, argnums: int = 0, has_aux: bool = False) -> Callable:
    """The n-th derivative of a function of one real number, by nested forward mode.

    Args:
        f: a function of a number (and other arguments) whose result is a number, an array, or a container of them.
        order: how often to differentiate; 0 is the function itself.
        argnums: which positional argument is the number.
        has_aux: whether `f` returns `(result, aux)`.

    Returns:
        A function with the arguments of `f` that returns the derivative; with `has_aux`, `(derivative, aux)`.

    Cost: doubles with each order.

    >>> import numpy as np
    >>> derivative(np.sin)(0.0), derivative(np.exp, order=3)(0.0)
    (np.float64(1.0), np.float64(1.0))
    """
    if order < 0 or int(order) != order:
        raise ValueError(f"order is a whole number from 0 on, not {order!r}")
    if order == 0:
        return f
    inner = f if order == 1 else derivative(f, order - 1, argnums, has_aux)

    @result_of("derivative", f)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        prepared = Prepared(inner, argnums, args, kwargs, has_aux)
        if len(prepared.leaves) != 1 or shape_of(prepared.leaves[0]):
            raise NotDifferentiableInputError(
                "derivative is for functions of a single number",
                remedy="use wg.grad or wg.jacobian for arrays and containers",
            )
        y_dot = prepared.tangents(*prepared.push([dtype_of(prepared.leaves[0]).type(1)]))
        return (y_dot, prepared.aux) if has_aux else y_dot

    return differentiated
