"""Products with Jacobians: `jvp` (forward mode), `vjp` (reverse mode), `directional`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack, overload

from wengert.api.arguments import Argnums, Prepared
from wengert.api.budget import Budgeted, Memory, budget_of, under
from wengert.api.operators import operation, result_of
from wengert.api.signatures import A, R
from wengert.errors import MismatchError
from wengert.types import aval_of


@overload
def jvp(
    f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp(
    f: Callable[..., tuple[R, A]], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool) -> Any: ...
@operation
def jvp(f: Callable, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """A function's value and its Jacobian times a vector, by forward mode.

    Args:
        f: a function of as many arguments as there are `primals`.
        primals: the arguments at which to differentiate.
        tangents: one for each primal, of the same shape and containers.

    Returns:
        `(y, y_dot)`, or `(y, y_dot, aux)` with `has_aux`.

    Cost: about twice that of `f` in time, constant in memory.

    >>> import numpy as np
    >>> jvp(lambda x: x**3, (2.0,), (1.0,))
    (8.0, np.float64(12.0))
    """
    primals, tangents = _sequence(primals, "primals"), _sequence(tangents, "tangents")
    prepared = Prepared(f, tuple(range(len(primals))), primals, {}, has_aux)
    if len(primals) != len(tangents):
        raise MismatchError(
            f"{len(tangents)} tangents for {len(primals)} primals", remedy="pass one tangent for each primal"
        )
    given = prepared.input_leaves(tangents, "a tangent")
    values, dots = prepared.push(given, warns=True)
    result = (prepared.outputs(values), prepared.tangents(values, dots, given))
    return (*result, prepared.aux) if has_aux else result


def _sequence(x: Any, what: str) -> tuple:
    if not isinstance(x, (tuple, list)):
        raise MismatchError(
            f"{what} must be a tuple with one item for each argument, not a {type(x).__name__}",
            remedy=f"write wg.jvp(f, (x,), (v,)): {what} is a tuple also for one argument",
        )
    return tuple(x)


@overload
def vjp(
    f: Callable[..., R],
    *primals: Any,
    has_aux: Literal[False] = False,
    **budget: Unpack[Budgeted],
) -> tuple[R, Callable[[R], tuple[Any, ...]]]: ...
@overload
def vjp(
    f: Callable[..., tuple[R, A]],
    *primals: Any,
    has_aux: Literal[True],
    **budget: Unpack[Budgeted],
) -> tuple[R, Callable[[R], tuple[Any, ...]], A]: ...
@overload
def vjp(
    f: Callable[..., Any],
    *primals: Any,
    has_aux: bool,
    **budget: Unpack[Budgeted],
) -> Any: ...
@operation
def vjp(
    f: Callable,
    *primals: Any,
    has_aux: bool = False,
    checkpoints: int | None = None,
    memory: Memory = None,
    spill: str | None = None,
) -> Any:
    """A function's value and its pullback: cotangent of the result to cotangents of the arguments.

    Returns:
        `(y, pullback)`, or `(y, pullback, aux)` with `has_aux`. `pullback(ct)` returns a tuple with one cotangent for
        each primal. It may be called any number of times; what it needs is kept until it is dropped.

    `checkpoints` and `memory` say what may be kept of loops, as for `grad`.

    Cost: the record takes about twice the time of `f`, each pullback about as long again.

    >>> import numpy as np
    >>> y, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> pullback(1.0)
    (3.0, 2.0)
    """
    budget = budget_of(checkpoints, memory, spill)
    with under(budget):
        prepared = Prepared(f, tuple(range(len(primals))), primals, {}, has_aux)
        values, program = prepared.record(keep=True)
    program.prune()
    avals = [aval_of(y) for y in values]

    def pullback(ct: Any) -> Any:
        given = prepared.output_leaves(ct, avals)
        with under(budget):
            return prepared.cotangents(program.pull(given), given)

    result = (prepared.outputs(values), pullback)
    return (*result, prepared.aux) if has_aux else result


@operation
def directional(f: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The derivative along a vector: `directional(f)(x, v)` is J(x) v, by forward mode.

    The vector is the last positional argument, in the containers of the differentiated argument.

    >>> import numpy as np
    >>> directional(lambda x: np.sum(x**2))(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    np.float64(2.0)
    """

    @result_of("directional", f)
    def along(*args: Any, **kwargs: Any) -> Any:
        *args_of_f, v = args
        prepared = Prepared(f, argnums, tuple(args_of_f), kwargs, has_aux)
        given = prepared.input_leaves(v, "the vector")
        y_dot = prepared.tangents(*prepared.push(given), given)
        return (y_dot, prepared.aux) if has_aux else y_dot

    return along
