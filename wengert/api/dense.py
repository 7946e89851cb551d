"""Whole Jacobians as dense arrays: as many products as the smaller side has entries.

In automatic mode the function is run once, recorded as a linear program, and that is pushed or pulled, whichever takes
fewer vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.api.arguments import Argnums, Prepared, demand_complex, owned
from wengert.api.basis import split_rows, total_size, unit_vectors
from wengert.api.directed import directed
from wengert.api.operators import result_of
from wengert.box.writing import as_scalar
from wengert.errors import UnsupportedFunctionError
from wengert.ops.library import near, zeros
from wengert.ops.shape import transpose
from wengert.types import Aval, aval_of


def value_and_dense(f: Callable, argnums: Argnums, mode: str, has_aux: bool, holomorphic: bool) -> Callable:
    """`value_and_jacobian`, of dense arrays."""

    @result_of("value_and_jacobian", f)
    def value_and_derivatives(*args: Any, **kwargs: Any) -> Any:
        prepared = Prepared(f, argnums, args, kwargs, has_aux)
        ins = [aval_of(x) for x in prepared.leaves]
        like = near(*prepared.leaves)
        if holomorphic:
            demand_complex(prepared.leaves, "argument")
        else:
            demand_real(ins)
        if mode == "forward":
            batch, vectors = unit_vectors(ins, 0, total_size(ins), like)
            values, dots = prepared.push(vectors, warns=True)
            outs = [aval_of(y) for y in values]
            blocks = _from_columns(batch, dots, ins, outs, like)
        else:
            values, program = prepared.record()
            program.warn_if_constant()
            outs = [aval_of(y) for y in values]
            complex_result = any(aval.dtype.kind == "c" for aval in outs)
            fewer_inputs = total_size(ins) < total_size(outs)
            if mode == "auto" and (fewer_inputs or (complex_result and not holomorphic)):
                found = directed(program, ins, outs)
                if found is not None:
                    blocks = _of_columns(found, ins, outs)
                else:
                    batch, vectors = unit_vectors(ins, 0, total_size(ins), like)
                    blocks = _from_columns(batch, program.push(vectors), ins, outs, like)
            else:
                if not holomorphic:
                    demand_real(outs)
                batch, vectors = unit_vectors(outs, 0, total_size(outs), like)
                cts = program.pull(vectors, consume=True)
                blocks = _from_rows(batch, cts, ins, outs, like)
        if holomorphic:
            demand_complex(values, "result")
        result = prepared.outputs([prepared.inputs([as_scalar(b) for b in row]) for row in blocks])
        value = prepared.outputs(values)
        return ((value, prepared.aux), result) if has_aux else (value, result)

    return value_and_derivatives


def dense_jacobian(f: Callable, argnums: Argnums = 0, mode: str = "auto") -> Callable:
    """The Jacobian alone."""
    both = value_and_dense(f, argnums, mode, False, False)

    @result_of("jacobian", f)
    def derivatives(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return derivatives


def _from_columns(batch: Any, dots: list[Any], ins: list[Aval], outs: list[Aval], like: Any) -> list[list[Any]]:
    """Blocks [output][input] from tangents of the outputs, whose hidden axis runs over the inputs."""
    return _of_columns(_stacked(batch, dots, outs, like), ins, outs)


def _of_columns(columns_of: Sequence[Any], ins: list[Aval], outs: list[Aval]) -> list[list[Any]]:
    """Blocks [output][input] from one array for each output, with a first axis that runs over the inputs."""
    blocks = []
    for stacked, out in zip(columns_of, outs, strict=True):
        columns = split_rows(stacked, ins)
        blocks.append([_inputs_last(c, len(x.shape), len(out.shape)) for c, x in zip(columns, ins, strict=True)])
    return blocks


def _stacked(batch: Any, derivatives: list[Any], avals: list[Aval], like: Any) -> list[Any]:
    """One array per leaf, with the hidden axis first; no two share memory."""
    return owned([
        zeros((batch.size, *aval.shape), aval.dtype, like) if d is None else batch.unwrap(d)
        for d, aval in zip(derivatives, avals, strict=True)
    ])  # fmt: skip


def _inputs_last(block: Any, inputs: int, outputs: int) -> Any:
    if not outputs or not inputs:
        return block
    return transpose(block, axes=(*range(inputs, inputs + outputs), *range(inputs)))


def _from_rows(batch: Any, cts: list[Any], ins: list[Aval], outs: list[Aval], like: Any) -> list[list[Any]]:
    """Blocks [output][input] from cotangents of the inputs, whose hidden axis runs over the outputs."""
    by_input = [split_rows(stacked, outs) for stacked in _stacked(batch, cts, ins, like)]
    return [[pieces[k] for pieces in by_input] for k in range(len(outs))]


def demand_real(avals: Sequence[Aval]) -> None:
    """Refuse what only a holomorphic function has."""
    if any(aval.dtype.kind == "c" for aval in avals):
        raise UnsupportedFunctionError(
            "the Jacobian of a function of complex numbers",
            remedy="say holomorphic=True if the function is holomorphic; for the general case use wg.wirtinger",
        )
