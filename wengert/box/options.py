"""What ufuncs are given besides operands: `np.add(x, y, out=z, where=mask, dtype=…)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, name_of
from wengert.box.functions.operands import array, operand
from wengert.box.functions.shapes import astype
from wengert.box.writing import HoldsNoDerivative, replace, settled
from wengert.errors import UnsupportedFunctionError
from wengert.ops.index import index, split_index
from wengert.ops.op import Traced, call
from wengert.types import shape_of


def into(out: Any, result: Any, function: Any) -> Any:
    """`out=`: write a result into an array that can hold traced values."""
    if isinstance(out, tuple):
        if len(out) > 1:
            return tuple(into(o, r, function) if o is not None else r for o, r in zip(out, result, strict=True))
        (out,) = out
    if not isinstance(out, Traced):
        result = settled(result)
        if not isinstance(result, Traced):  # of cells only
            np.copyto(out, result)
            return out
        raise HoldsNoDerivative(
            f"{name_of(function)} writes a traced result into a plain array (out=)",
            remedy="create the array in the differentiated function with np.zeros or np.empty, "
            "or use the returned result instead of out=",
        )
    return replace(out, result)


def ufunc_with_options(ufunc: Any, op: Any, inputs: tuple, options: dict) -> Any:
    """`np.add(x, y, out=z, where=mask, dtype=…)`."""
    options = dict(options)
    out, dtype, mask = options.pop("out", None), options.pop("dtype", None), options.pop("where", True)
    for neutral in ("casting", "order", "subok"):
        options.pop(neutral, None)
    if options:
        raise UnsupportedFunctionError(
            f"{name_of(ufunc)} with {', '.join(options)}= on a traced value", remedy="leave the option out"
        )
    if mask is not True and out is not None and len(out) == 1:
        return _where(ufunc, op, inputs, out[0], dtype, mask)
    y = op(*[operand(x) for x in inputs])
    if dtype is not None:
        y = astype(y, dtype)
    if mask is not True:
        if out is None:
            raise UnsupportedFunctionError(
                f"{name_of(ufunc)} with where= and without out= leaves elements undefined",
                remedy="use np.where(mask, result, other)",
            )
        y = tuple([FUNCTIONS[np.where](mask, part, o) for part, o in zip(y, out, strict=True)])
    return y if out is None else into(out, y, ufunc)


def _where(ufunc: Any, op: Any, inputs: tuple, out: Any, dtype: Any, mask: Any) -> Any:
    """`np.sqrt(x, out=y, where=x > 0)`: computed for the elements that are wanted, so others cannot spoil anything."""
    shape = shape_of(out)
    broadcast, mask = FUNCTIONS[np.broadcast_to], np.broadcast_to(settled(array(mask)), shape)
    pattern, arrays = split_index(mask)
    chosen = [settled(broadcast(array(x), shape)) if shape_of(x) else x for x in inputs]
    y = op(*[call(index, x, *arrays, pattern=pattern) if shape_of(x) else x for x in chosen])
    if dtype is not None:
        y = astype(y, dtype)
    y = settled(y)
    if isinstance(y, Traced) and not isinstance(out, Traced):
        return into(out, y, ufunc)  # an error
    out[mask] = y
    return out
