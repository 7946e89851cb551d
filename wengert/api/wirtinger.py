"""`wirtinger`: the two derivatives of a function of complex numbers that need not be holomorphic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.api.arguments import Prepared, demand_complex
from wengert.api.basis import unit_vectors
from wengert.api.operators import operation, result_of
from wengert.errors import MismatchError
from wengert.ops.shape import transpose
from wengert.types import aval_of


@operation
def wirtinger(f: Callable, argnums: int = 0) -> Callable:
    """The Wirtinger derivatives (∂f/∂z, ∂f/∂z̄) of a function of a complex number or array.

    The differential of any real-differentiable function is df = ∂f/∂z dz + ∂f/∂z̄ dz̄. A function is holomorphic where
    the second vanishes; of a real function the second is the conjugate of the first, and points uphill.

    Returns:
        A function with the arguments of `f` that returns a pair of arrays of shape `f(z).shape + z.shape`.

    Cost: two tangents for each number in z, all at once.

    >>> import numpy as np
    >>> wirtinger(lambda z: z * np.conj(z))(2.0 + 1.0j)
    (np.complex128(2-1j), np.complex128(2+1j))
    """

    @result_of("wirtinger", f)
    def both(*args: Any, **kwargs: Any) -> Any:
        prepared = Prepared(f, argnums, args, kwargs, False)
        demand_complex(prepared.leaves, "argument")
        if len(prepared.leaves) != 1:
            raise MismatchError("wirtinger takes one complex array", remedy="stack the numbers into one array")
        (z,) = [aval_of(x) for x in prepared.leaves]
        along_real = _columns(prepared, z, 1)
        along_imaginary = _columns(prepared, z, 1j)
        return (along_real - 1j * along_imaginary) / 2, (along_real + 1j * along_imaginary) / 2

    return both


def _columns(prepared: Prepared, z: Any, unit: complex) -> Any:
    """The derivatives along `unit` times each unit vector, with the axes of z last."""
    batch, (vectors,) = unit_vectors([z], 0, z.size)
    values, (dot,) = prepared.push([vectors * unit])
    out = np.shape(values[0])
    if dot is None:
        return np.zeros(out + z.shape, z.dtype)
    stacked = batch.unwrap(dot).reshape((*z.shape, *out))
    order = (*range(z.ndim, z.ndim + len(out)), *range(z.ndim))
    return transpose(stacked, axes=order)[()]
