"""Ops that a library's routine computes: products by BLAS, linear algebra by LAPACK (SciPy's, through its capsules),
Fourier transforms by pocketfft (NumPy's, through its ufuncs).
Small matrices have code of their own, as calls would take longer than the work.

`emit` writes one node whose operands and results lie in memory. What it has no code for is `NotImplemented`: empty
matrices, unusual dtypes, parameters that lead elsewhere.
"""

from __future__ import annotations

from typing import Any

from wengert.backend.llvm.arrays.buffer import Buffer, known
from wengert.backend.llvm.linalg import (
    contraction,
    convolution,
    direct_convolution,
    filters,
    fourier,
    lapack,
    repeated,
    small,
)
from wengert.ir.node import Node, map_refs

PRODUCTS = frozenset(["matmul", "einsum"])
NAMES = (
    PRODUCTS
    | convolution.NAMES
    | frozenset(lapack.RULES)
    | frozenset(fourier.RULES)
    | {"convolve"}
    | frozenset(repeated.RULES)
    | frozenset(filters.RULES)
)
"""Ops that may have code here."""


def emit(cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    """Code that fills `outs`, which are C-contiguous: how it is done, or `NotImplemented` with nothing written."""
    name = node.op.name
    if name not in NAMES or any(_is_empty(b) for b in (*inputs, *outs)):
        return NotImplemented
    refs: list[Any] = []
    params = map_refs(node.params, refs.append)
    if refs:
        return NotImplemented
    if name == "matmul":
        return contraction.matmul(cx, inputs, outs[0])
    if name == "einsum":
        return contraction.einsum(cx, inputs, outs[0], **params)
    if name in repeated.RULES:
        return repeated.RULES[name](cx, node, inputs, outs)
    if any(out.dtype.char not in "fdFD" for out in outs):
        return NotImplemented
    if name in convolution.NAMES:
        return convolution.emit(cx, name, inputs, outs[0], params)
    if name == "convolve":
        return direct_convolution.convolve(cx, inputs, outs, **params)
    if name in filters.RULES:
        return filters.RULES[name](cx, inputs, outs, **params)
    if name in fourier.RULES:
        return fourier.RULES[name](cx, inputs, outs, **params)
    how = small.RULES[name](cx, inputs, outs, **params) if name in small.RULES else NotImplemented
    return how if how is not NotImplemented else lapack.RULES[name](cx, inputs, outs, **params)


def _is_empty(buffer: Buffer) -> bool:
    return any(known(n) == 0 for n in buffer.lengths)
