"""Vector calculus: `laplacian`, `divergence`, `curl`, `curl_and_divergence`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.arguments import Argnums, Prepared
from wengert.api.basis import total_size, unit_vectors
from wengert.api.jacobian import jacobian
from wengert.api.operators import operation, result_of
from wengert.api.products import jvp
from wengert.errors import MismatchError
from wengert.ops.shape import sum
from wengert.types import aval_of, shape_of

_CHUNK = 64
"""So many directions at once: enough to use the hardware, few enough to bound memory."""


@operation
def laplacian(f: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The sum of the unmixed second derivatives, without forming the Hessian.

    Forward on forward mode along each coordinate, many coordinates at once: time proportional to the number of
    inputs, memory constant. The result has the shape of the result of `f`. With `has_aux`, `(laplacian, aux)`.

    >>> import numpy as np
    >>> laplacian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    np.float64(18.0)
    """

    @result_of("laplacian", f)
    def trace_of_hessian(*args: Any, **kwargs: Any) -> Any:
        prepared = Prepared(f, argnums, args, kwargs, has_aux)
        x = prepared.inputs(prepared.leaves)
        avals = [aval_of(leaf) for leaf in prepared.leaves]
        n = total_size(avals)
        total, aux = None, None
        for start in range(0, max(n, 1), _CHUNK):
            batch, vectors = unit_vectors(avals, start, min(start + _CHUNK, n))
            second, aux = _second_along(prepared.restricted, x, prepared.inputs(vectors), has_aux)
            part = tree.map(lambda d, batch=batch: sum(batch.unwrap(d), axis=(0,)), second)
            total = part if total is None else tree.map(operator.add, total, part)
        return (total, aux) if has_aux else total

    return trace_of_hessian


def _second_along(g: Callable, x: Any, v: Any, has_aux: bool) -> tuple[Any, Any]:
    """The second derivative of g at x along v, and the auxiliary data."""

    def first_along(x: Any) -> tuple[Any, Any]:
        _, y_dot, *aux = jvp(g, (x,), (v,), has_aux)
        return y_dot, aux

    _, second, aux = jvp(first_along, (x,), (v,), has_aux=True)
    return second, aux[0] if has_aux else None


@operation
def divergence(f: Callable, argnums: int = 0) -> Callable:
    """The trace of the Jacobian of a vector field: a function from n numbers to n numbers.

    >>> import numpy as np
    >>> divergence(lambda x: x**2)(np.array([1.0, 2.0, 3.0]))
    np.float64(12.0)
    """

    @result_of("divergence", f)
    def trace_of_jacobian(*args: Any, **kwargs: Any) -> Any:
        return _trace(_square_jacobian(f, argnums, args, kwargs))

    return trace_of_jacobian


@operation
def curl(f: Callable, argnums: int = 0) -> Callable:
    """The curl of a vector field in three dimensions.

    >>> import numpy as np
    >>> curl(lambda x: np.stack([-x[1], x[0], 0 * x[2]]))(np.array([1.0, 2.0, 3.0]))
    array([0., 0., 2.])
    """

    @result_of("curl", f)
    def rotation(*args: Any, **kwargs: Any) -> Any:
        return _rotation(_square_jacobian(f, argnums, args, kwargs))

    return rotation


@operation
def curl_and_divergence(f: Callable, argnums: int = 0) -> Callable:
    """`(curl, divergence)` of a vector field in three dimensions, from one Jacobian.

    >>> import numpy as np
    >>> curl_and_divergence(lambda x: x**2)(np.array([1.0, 2.0, 3.0]))
    (array([0., 0., 0.]), np.float64(12.0))
    """

    @result_of("curl_and_divergence", f)
    def both(*args: Any, **kwargs: Any) -> Any:
        J = _square_jacobian(f, argnums, args, kwargs)
        return _rotation(J), _trace(J)

    return both


def _square_jacobian(f: Callable, argnums: int, args: tuple, kwargs: dict) -> Any:
    J = jacobian(f, argnums)(*args, **kwargs)
    shape = shape_of(J) if not isinstance(J, (tuple, list, dict)) else None
    if shape is None or len(shape) != 2 or shape[0] != shape[1]:
        raise MismatchError(
            "a vector field maps an array of n numbers to an array of n numbers"
            + (f"; here the Jacobian has shape {shape}" if shape is not None else ""),
            remedy="take and return one 1-d array of the same length",
        )
    return J


def _trace(J: Any) -> Any:
    n = len(J)
    return sum(J[np.arange(n), np.arange(n)])


def _rotation(J: Any) -> Any:
    if len(J) != 3:
        raise MismatchError(
            f"the curl is defined in three dimensions, not {len(J)}",
            remedy="use wg.jacobian and its antisymmetric part",
        )
    return J[np.array([2, 0, 1]), np.array([1, 2, 0])] - J[np.array([1, 2, 0]), np.array([2, 0, 1])]
