"""Gradients by reverse mode: `grad` and `value_and_grad`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Literal, Unpack, overload

import numpy as np

from wengert.api.arguments import Argnums, Prepared, demand_complex
from wengert.api.budget import Budgeted, Memory, budget_of
from wengert.api.operators import Operated, operation, result_of
from wengert.api.signatures import A, P, R, X
from wengert.errors import NonScalarOutputError
from wengert.types import dtype_of, shape_of

_ONES = {np.dtype(np.float64): np.float64(1), np.dtype(np.float32): np.float32(1)}


@overload
def value_and_grad(
    f: Callable[Concatenate[X, P], R],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    **budget: Unpack[Budgeted],
) -> Operated[Concatenate[X, P], tuple[R, X]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[X, P], tuple[R, A]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    **budget: Unpack[Budgeted],
) -> Operated[Concatenate[X, P], tuple[tuple[R, A], X]]: ...
@overload
def value_and_grad(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    **budget: Unpack[Budgeted],
) -> Operated[P, Any]: ...
@operation
def value_and_grad(f: Callable, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False, *,
                   checkpoints: int | None = None, memory: Memory = None,
                   spill: str | None = None) -> Callable:  # fmt: skip
    """A function that returns the value of `f` and its gradient, at the cost of the gradient.

    Arguments as for `grad`. Returns `(value, gradient)`; with `has_aux`, `((value, aux), gradient)`.

    >>> import numpy as np
    >>> value_and_grad(np.sin)(0.0)
    (np.float64(0.0), np.float64(1.0))
    """

    @result_of("value_and_grad", f, budget_of(checkpoints, memory, spill))
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        value, gradient, aux = _value_gradient_and_aux(f, argnums, has_aux, holomorphic, args, kwargs)
        return ((value, aux), gradient) if has_aux else (value, gradient)

    return value_and_gradient


@overload
def grad(
    f: Callable[Concatenate[X, P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    **budget: Unpack[Budgeted],
) -> Operated[Concatenate[X, P], X]: ...
@overload
def grad(
    f: Callable[Concatenate[X, P], tuple[Any, A]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    **budget: Unpack[Budgeted],
) -> Operated[Concatenate[X, P], tuple[X, A]]: ...
@overload
def grad(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    **budget: Unpack[Budgeted],
) -> Operated[P, Any]: ...
@operation
def grad(f: Callable, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False, *,
         checkpoints: int | None = None, memory: Memory = None, spill: str | None = None) -> Callable:  # fmt: skip
    """The gradient of a function with one real result, by reverse mode.

    Args:
        f: a function of numbers, arrays and containers of them. It returns one real number, or with `has_aux` a pair
            of that and any auxiliary data.
        argnums: which positional argument to differentiate, or a tuple of several.
        has_aux: whether `f` returns `(result, aux)`.
        holomorphic: whether `f` is a holomorphic function of complex numbers; its result is then one complex number,
            and the gradient the complex derivative f'(z).
        checkpoints: how many states of each loop are kept for the reverse sweep, the first one included, instead of
            what all its iterations computed; the others are computed again, with the fewest repetitions.
        memory: how much may be kept of loops, "200MB" or a number of bytes; more is computed again the less it is.
        spill: a folder for states of loops. All of them are kept there, each iteration is run once more, and memory is
            for what some iterations keep. Where other operators go through a loop, its states stay in memory.

    The gradient of a real function of complex numbers x + iy is ∂f/∂x − i ∂f/∂y; its conjugate points uphill.

    Returns:
        A function with the arguments of `f` that returns the gradient, in the containers of the argument (a tuple of
        gradients if `argnums` is a tuple); with `has_aux`, `(gradient, aux)`.

    Cost: a small multiple of the cost of `f` in time (2 to 4), memory proportional to its number of operations.

    >>> import numpy as np
    >>> grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> grad(lambda p: p["a"] * p["b"])({"a": 2.0, "b": 3.0})
    {'a': np.float64(3.0), 'b': np.float64(2.0)}
    """

    @result_of("grad", f, budget_of(checkpoints, memory, spill))
    def gradient(*args: Any, **kwargs: Any) -> Any:
        _, result, aux = _value_gradient_and_aux(f, argnums, has_aux, holomorphic, args, kwargs)
        return (result, aux) if has_aux else result

    return gradient


def _value_gradient_and_aux(
    f: Callable, argnums: Argnums, has_aux: bool, holomorphic: bool, args: tuple, kwargs: dict
) -> tuple:
    prepared = Prepared(f, argnums, args, kwargs, has_aux)
    if holomorphic:
        demand_complex(prepared.leaves, "argument")
    values, program = prepared.record()
    value = _the_scalar(values, holomorphic)
    program.warn_if_constant()
    dtype = dtype_of(value)
    one = _ONES.get(dtype)
    gradient = prepared.cotangents(program.pull([dtype.type(1) if one is None else one], consume=True))
    return value, gradient, prepared.aux


def _the_scalar(values: list[Any], holomorphic: bool) -> Any:
    """The one number that a function returned, or an error."""
    if len(values) != 1:
        problem = f"grad of a function that returns {len(values)} values"
    elif shape_of(values[0]):
        problem = f"grad of a function that returns an array of shape {shape_of(values[0])}"
    elif holomorphic:
        demand_complex(values, "result")
        return values[0]
    elif dtype_of(values[0]).kind == "c":
        raise NonScalarOutputError(
            "grad of a function that returns a complex number",
            remedy="return a real number, for instance np.abs(y)**2; if the function is holomorphic, say "
            "holomorphic=True; for the general case use wg.wirtinger",
        )
    else:
        return values[0]
    raise NonScalarOutputError(
        problem,
        remedy="return one number, for instance np.sum(y); for all derivatives use wg.jacobian, "
        "for products with them wg.vjp; return anything else as auxiliary data with has_aux=True",
    )
