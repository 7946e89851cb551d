"""Whole Jacobians: `jacobian`, `jacfwd`, `jacrev`, `value_and_jacobian`.

A Jacobian is as many products as its smaller side has entries, computed all at once with a hidden axis. In automatic
mode the function is run once, recorded as a linear program, and that is pushed or pulled, whichever takes fewer
vectors. The result has the containers of the function's value, each leaf holding the containers of the argument,
with arrays of shape `value.shape + argument.shape`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.api.arguments import Argnums, Prepared, demand_complex, owned
from wengert.api.basis import split_rows, total_size, unit_vectors
from wengert.api.operators import result_of
from wengert.errors import UnsupportedFunctionError
from wengert.ops.shape import transpose
from wengert.types import Aval, aval_of

MODES = ("auto", "forward", "reverse")
_NAMES = {"auto": "jacobian", "forward": "jacfwd", "reverse": "jacrev"}


def value_and_jacobian(
    f: Callable, argnums: Argnums = 0, mode: str = "auto", has_aux: bool = False, holomorphic: bool = False
) -> Callable:
    """A function that returns the value of `f` and its Jacobian.

    Arguments as for `jacobian`. Returns `(value, jacobian)`; with `has_aux`, `((value, aux), jacobian)`.

    >>> import numpy as np
    >>> value_and_jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    (array([1., 4.]), array([[2., 0.],
           [0., 4.]]))
    """
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")

    @result_of("value_and_jacobian", f)
    def value_and_derivatives(*args: Any, **kwargs: Any) -> Any:
        prepared = Prepared(f, argnums, args, kwargs, has_aux)
        ins = [aval_of(x) for x in prepared.leaves]
        if holomorphic:
            demand_complex(prepared.leaves, "argument")
        else:
            _demand_real(ins)
        if mode == "forward":
            batch, vectors = unit_vectors(ins, 0, total_size(ins))
            values, dots = prepared.push(vectors)
            outs = [aval_of(y) for y in values]
            blocks = _from_columns(batch, dots, ins, outs)
        else:
            values, program = prepared.record()
            outs = [aval_of(y) for y in values]
            complex_result = any(aval.dtype.kind == "c" for aval in outs)
            fewer_inputs = total_size(ins) < total_size(outs)
            if mode == "auto" and (fewer_inputs or (complex_result and not holomorphic)):
                batch, vectors = unit_vectors(ins, 0, total_size(ins))
                blocks = _from_columns(batch, program.push(vectors), ins, outs)
            else:
                if not holomorphic:
                    _demand_real(outs)
                batch, vectors = unit_vectors(outs, 0, total_size(outs))
                cts = program.pull(vectors, consume=True)
                blocks = _from_rows(batch, cts, ins, outs)
        if holomorphic:
            demand_complex(values, "result")
        result = prepared.outputs([prepared.inputs([_scalar_or_array(b) for b in row]) for row in blocks])
        value = prepared.outputs(values)
        return ((value, prepared.aux), result) if has_aux else (value, result)

    return value_and_derivatives


def jacobian(
    f: Callable, argnums: Argnums = 0, mode: str = "auto", has_aux: bool = False, holomorphic: bool = False
) -> Callable:
    """All first derivatives of a function.

    Args:
        f: a function of numbers, arrays and containers of them, with a result of the same kind.
        argnums: which positional argument to differentiate, or a tuple of several.
        mode: "forward" (one tangent per input), "reverse" (one cotangent per output), or "auto": run once, then
            whichever is fewer.
        has_aux: whether `f` returns `(result, aux)`.
        holomorphic: whether `f` is a holomorphic function of complex numbers; the Jacobian is then complex.

    Returns:
        A function with the arguments of `f` that returns the Jacobian: in the containers of the result, each leaf in
        the containers of the argument, with arrays of shape `result.shape + argument.shape`. With `has_aux`,
        `(jacobian, aux)`.

    Cost: min(inputs, outputs) products, all at once.

    >>> import numpy as np
    >>> jacobian(lambda x: np.stack([x[0] * x[1], x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    """
    both = value_and_jacobian(f, argnums, mode, has_aux, holomorphic)

    @result_of(_NAMES[mode], f)
    def derivatives(*args: Any, **kwargs: Any) -> Any:
        value, result = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return derivatives


def jacfwd(f: Callable, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Callable:
    """`jacobian` by forward mode: constant memory, best for few inputs.

    >>> import numpy as np
    >>> jacfwd(np.sin)(0.0)
    np.float64(1.0)
    """
    return jacobian(f, argnums, "forward", has_aux, holomorphic)


def jacrev(f: Callable, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Callable:
    """`jacobian` by reverse mode: best for few outputs.

    >>> import numpy as np
    >>> jacrev(lambda x: x @ x)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return jacobian(f, argnums, "reverse", has_aux, holomorphic)


def _from_columns(batch: Any, dots: list[Any], ins: list[Aval], outs: list[Aval]) -> list[list[Any]]:
    """Blocks [output][input] from tangents of the outputs, whose hidden axis runs over the inputs."""
    blocks = []
    for stacked, out in zip(_stacked(batch, dots, outs), outs, strict=True):
        columns = split_rows(stacked, ins)
        blocks.append([_inputs_last(c, len(x.shape), len(out.shape)) for c, x in zip(columns, ins, strict=True)])
    return blocks


def _scalar_or_array(block: Any) -> Any:
    """What is 0-d as a scalar, as NumPy's own functions give it."""
    return block[()] if block.__class__ is np.ndarray and not block.shape else block


def _stacked(batch: Any, derivatives: list[Any], avals: list[Aval]) -> list[Any]:
    """One array per leaf, with the hidden axis first; no two share memory."""
    return owned([
        np.zeros((batch.size, *aval.shape), aval.dtype) if d is None else batch.unwrap(d)
        for d, aval in zip(derivatives, avals, strict=True)
    ])  # fmt: skip


def _inputs_last(block: Any, inputs: int, outputs: int) -> Any:
    if not outputs or not inputs:
        return block
    return transpose(block, axes=(*range(inputs, inputs + outputs), *range(inputs)))


def _from_rows(batch: Any, cts: list[Any], ins: list[Aval], outs: list[Aval]) -> list[list[Any]]:
    """Blocks [output][input] from cotangents of the inputs, whose hidden axis runs over the outputs."""
    by_input = [split_rows(stacked, outs) for stacked in _stacked(batch, cts, ins)]
    return [[pieces[k] for pieces in by_input] for k in range(len(outs))]


def _demand_real(avals: list[Aval]) -> None:
    if any(aval.dtype.kind == "c" for aval in avals):
        raise UnsupportedFunctionError(
            "the Jacobian of a function of complex numbers",
            remedy="say holomorphic=True if the function is holomorphic; for the general case use wg.wirtinger",
        )
