"""What ufuncs are given besides operands: `np.add(x, y, out=z, where=mask, dtype=…)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, name_of
from wengert.box.functions.operands import array, operand
from wengert.box.functions.shapes import astype
from wengert.box.writing import HoldsNoDerivative, about_to_write, replace, settled
from wengert.errors import UnsupportedFunctionError
from wengert.ops import shape as s
from wengert.ops.index import index, split_index
from wengert.ops.op import Traced, call
from wengert.types import SCALARS, dtype_of, shape_of


def into(out: Any, result: Any, function: Any) -> Any:
    """`out=`: write a result into an array that can hold traced values."""
    if isinstance(out, tuple):
        if len(out) > 1:
            return tuple(into(o, r, function) if o is not None else r for o, r in zip(out, result, strict=True))
        (out,) = out
    if not isinstance(out, Traced):
        result = settled(result)
        if not isinstance(result, Traced):  # of cells only
            about_to_write(out)
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
    casting = options.pop("casting", "same_kind")
    for neutral in ("order", "subok"):
        options.pop(neutral, None)
    if options:
        raise UnsupportedFunctionError(
            f"{name_of(ufunc)} with {', '.join(options)}= on a traced value", remedy="leave the option out"
        )
    inputs = tuple([operand(x) for x in inputs])
    if dtype is not None:
        inputs = _of_loop(ufunc, inputs, dtype, casting)
    if mask is not True and out is not None and len(out) == 1:
        return _where(ufunc, op, inputs, out[0], dtype, mask, casting)
    y = op(*inputs)
    if dtype is not None:
        y = tuple([astype(part, dtype) for part in y]) if y.__class__ is tuple else astype(y, dtype)
    if mask is not True:
        if out is None:
            raise UnsupportedFunctionError(
                f"{name_of(ufunc)} with where= and without out= leaves elements undefined",
                remedy="use np.where(mask, result, other)",
            )
        y = tuple([FUNCTIONS[np.where](mask, part, o) for part, o in zip(y, out, strict=True)])
    return y if out is None else into(out, y, ufunc)


def _of_loop(ufunc: Any, inputs: tuple, dtype: Any, casting: Any) -> tuple:
    """The operands in the types in which NumPy computes a result of some dtype: `np.add(x, y, dtype=int)` of bytes does
    not overflow. Numbers of Python's take the type of the others."""
    outputs = ufunc.nout
    types = ufunc.resolve_dtypes(
        (*map(_type_of, inputs), *(None,) * outputs),
        signature=(*(None,) * ufunc.nin, *(np.dtype(dtype),) * outputs),
        casting=casting,
    )
    return tuple([
        x if _type_of(x).__class__ is type or dtype_of(x) == t else astype(x, t)
        for x, t in zip(inputs, types, strict=False)
    ])  # fmt: skip


def _type_of(x: Any) -> Any:
    """The dtype of an operand; of a number of Python's own its class."""
    is_pythons = x._is_python_number if isinstance(x, Traced) else x.__class__ in SCALARS  # type: ignore[attr-defined]
    return {"i": int, "f": float, "c": complex}.get(dtype_of(x).kind, dtype_of(x)) if is_pythons else dtype_of(x)


def _where(ufunc: Any, op: Any, inputs: tuple, out: Any, dtype: Any, mask: Any, casting: Any) -> Any:
    """`np.sqrt(x, out=y, where=x > 0)`: computed for the elements that are wanted, so others cannot spoil anything."""
    shape = shape_of(out)
    if not shape and not isinstance(settled(mask), Traced):
        y = op(*inputs) if settled(mask) else out
        return out if y is out else into(out, y if dtype is None else astype(y, dtype), ufunc)
    if not shape:  # one number, as the one element of an array
        inputs = tuple([s.reshape(x, shape=(1,)) if isinstance(x, Traced) else x for x in inputs])
        mask = s.reshape(mask, shape=(1,))
        one = _where(ufunc, op, inputs, s.copy(s.reshape(array(out), shape=(1,))), dtype, mask, casting)
        return into((out,), one[0], ufunc)
    broadcast, mask = FUNCTIONS[np.broadcast_to], np.broadcast_to(settled(array(mask)), shape)
    pattern, arrays = split_index(mask)
    chosen = [settled(broadcast(array(x), shape)) if shape_of(x) else x for x in inputs]
    y = op(*[call(index, x, *arrays, pattern=pattern) if shape_of(x) else x for x in chosen])
    if dtype is not None:
        y = astype(y, dtype)
    y = settled(y)
    if not np.can_cast(dtype_of(y), dtype_of(out), casting):
        raise TypeError(f"Cannot cast output from {dtype_of(y)!r} to {dtype_of(out)!r} with casting rule {casting!r}")
    if isinstance(y, Traced) and not isinstance(out, Traced):
        return into(out, y, ufunc)  # an error
    if not isinstance(out, Traced):
        about_to_write(out)
    out[mask] = y
    return out
