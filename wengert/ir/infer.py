"""The types of an op's results, without computing them.

Elementwise ops broadcast; their dtype is what NumPy makes of one element of each operand. Ops that state `shape=` are
asked. All others are tried out on arrays of ones, with numbers in place of the lengths that are not known yet: the same
numbers in the result's shape stand for the same lengths. (Two trials, with different numbers, tell lengths that depend
on them in another way; they are left open.) What is found is kept: programs repeat themselves.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.errors import StagingError, UnsupportedFunctionError
from wengert.ir.node import Dyn, Type, map_data
from wengert.ir.symbol import Dim, Sym
from wengert.ops.derive import Control, Zero
from wengert.ops.op import Op
from wengert.ops.traits import Dtype
from wengert.types import SCALARS, Aval, broadcast_shapes, dtype_of, is_inexact, shape_of


class DependsOnWhichNumber(StagingError):
    """The type of a result depends on whether a number is Python's or NumPy's, which differs between branches."""


class DependsOnWhetherInteger(DependsOnWhichNumber):
    """It is asked whether a number is an integer of Python's, which differs between branches."""


class Found(NamedTuple):
    """What is known of a result. A length `None` is known only when the program runs."""

    shape: tuple
    dtype: np.dtype
    weak: bool = False
    either: bool = False
    """It may be a number of Python's, or one of NumPy's (`Var.either`)."""
    mixed: bool = False
    """It is a float that may stand for an integer of Python's (`Var.mixed`)."""


def found(type: Type) -> Found:
    """A type, as what is known of a result."""
    return Found(type.shape, type.dtype, type.weak)


_MOST = 20_000
_kept: dict[Any, Any] = {}
_SAMPLES = {np.dtype(bool): True, np.dtype(np.int64): 1, np.dtype(float): 1.0, np.dtype(complex): 1.0 + 0j}
_OF_KINDS = {"b": 1, "i": 1, "u": 1, "f": 1.0, "c": 1.0 + 0j}
_PRIMES = tuple([n for n in range(61, 2000, 2) if all(n % d for d in range(3, 45, 2))])
"""Lengths to try out in place of those that are not known: no result has one of them by chance."""


def results(op: Op, args: Sequence[Any], params: dict) -> tuple[bool, list[Found]]:
    """Whether an op gives a tuple, and what is known of its results. Operands are symbols and plain values."""
    if isinstance(op, Control):
        return True, op.types(args, params)
    if op.name == "python_number":
        return False, [Found(shape_of(args[0]), dtype_of(args[0]), not shape_of(args[0]), mixed=_is_mixed(args[0]))]
    if op.elementwise:
        dtype, weak = _elementwise_dtype(op, args, params)
        either = any(map(is_either, args)) and not weak and _is_either_way(op, args, params, dtype)
        mixed = any(map(_is_mixed, args)) and _may_give_integer(op, args, params)
        return False, [Found(broadcast_shapes([shape_of(a) for a in args]), dtype, weak, either, mixed)]
    if op.shape is not None and op.dtype is not Dtype.TRIED:
        stated = _stated_dtype(op.dtype, args, params)
        if stated is not None:
            return False, [Found(tuple(op.shape(*args, **params)), stated)]
    if op.name == "size":
        return False, [Found((), np.dtype(np.int64), True)]
    if op.name == "iota":
        return False, [Found((params["n"],), np.dtype(np.int64))]
    if op.name == "shares" and is_inexact(dtype_of(args[1])):
        return False, [Found(shape_of(args[1]), dtype_of(args[1]))]
    if op.name == "require":
        return True, []
    if op.name == "act":
        return True, list(params["results"])
    if op.name == "true_positions":
        lengths = shape_of(args[0])
        bound = int(np.prod(lengths)) if all(n.__class__ is int for n in lengths) else None
        return False, [Found((Dyn(bound),), np.dtype(np.int64))]
    data = args[: op.data_count(args, params)]
    if op.shape is not None and not isinstance(op, Zero) and data and all(is_inexact(dtype_of(a)) for a in data):
        shape = op.shape(*[Aval((), dtype_of(a)) if a.__class__ in SCALARS else a for a in args], **params)
        return False, [Found(tuple(shape), np.result_type(*[_promoting(a) for a in data]))]
    if op.name == "concatenate":
        return False, [_at_most_all(_tried(op, args, params)[1][0], args, params["axis"])]
    return _tried(op, args, params)


def _at_most_all(found: Found, pieces: Sequence[Any], axis: int) -> Found:
    """What is known of pieces that are put together, with the largest length that they can have together."""
    lengths = [shape_of(a)[axis] for a in pieces]
    bounds = [n if n.__class__ is int else n.bound for n in lengths]
    if found.shape[axis] is not None or None in bounds:
        return found
    return found._replace(shape=(*found.shape[:axis], Dyn(sum(bounds)), *found.shape[axis + 1 :]))


def _stated_dtype(stated: Any, args: Sequence[Any], params: dict) -> np.dtype | None:
    """The dtype that a row states for its result."""
    if stated is Dtype.FIRST:
        return dtype_of(args[0])
    if stated is Dtype.DOUBLE:
        return np.dtype(np.float64)
    if stated is Dtype.REAL:
        first = dtype_of(args[0])
        return np.empty(0, first).real.dtype if is_inexact(first) else None
    return None if stated.__class__ is Dtype else stated(*args, **params)


def is_weak(x: Any) -> bool:
    """Whether NumPy promotes a value weakly."""
    return x.__class__ in SCALARS or (x.__class__ is Sym and x._node.type.weak)


def is_either(x: Any) -> bool:
    """Whether a symbol is a number of Python's in some cases, and one of NumPy's in others."""
    return x.__class__ is Sym and x._node.either


def demand_which(x: Any, what: str) -> None:
    """Where the answer depends on whether a number is Python's or NumPy's: have branches told apart."""
    if is_either(x):
        raise DependsOnWhichNumber(
            f"{what} of a number that is Python's own in one branch, or before a loop, and NumPy's otherwise",
            remedy="convert it first: float(x) for a number of Python's, np.float64(x) for one of NumPy's",
        )


def _is_mixed(x: Any) -> bool:
    return x.__class__ is Sym and x._node.mixed


def _may_give_integer(op: Op, args: Sequence[Any], params: dict) -> bool:
    """Whether a result is an integer if operands are that may be one."""
    return _elementwise_dtype(op, [1 if _is_mixed(a) else a for a in args], params)[0].kind in "iu"


def _is_either_way(op: Op, args: Sequence[Any], params: dict, dtype: np.dtype) -> bool:
    """Whether a result is a number of Python's if operands are that may be one. Its dtype must not depend on that."""
    if op.compares:
        return all(is_either(a) or is_weak(a) for a in args)
    numbers = [_OF_KINDS[dtype_of(a).kind] if is_either(a) else a for a in args]
    other, weak = _elementwise_dtype(op, numbers, params)
    if other != dtype:
        raise DependsOnWhichNumber(
            "a number is Python's own in one branch, or before a loop, and NumPy's otherwise, and meets "
            f"{' and '.join(sorted({str(dtype_of(a)) for a in args if not is_either(a)}))}: the result would be of "
            f"type {other} or {dtype}, depending on which it is",
            remedy="convert it first: float(x) for a number of Python's, np.float64(x) for one of NumPy's",
        )
    return weak


def _promoting(x: Any) -> Any:
    """What stands for an operand when dtypes are promoted."""
    return _SAMPLES[dtype_of(x)] if is_weak(x) else dtype_of(x)


def _key(value: Any) -> Any:
    """Something that can be a key, and tells parameters apart."""
    if value.__class__ in (tuple, list):
        return tuple([_key(v) for v in value])
    if value.__class__ is dict:
        return tuple([(k, _key(v)) for k, v in sorted(value.items())])
    if value.__class__ is slice:
        return ("slice", _key(value.start), _key(value.stop), _key(value.step))
    if value is None or value.__class__ in (int, str, bool, float) or isinstance(value, np.dtype):
        return (value.__class__, value)
    return id(value)


def _elementwise_dtype(op: Op, args: Sequence[Any], params: dict) -> tuple[np.dtype, bool]:
    kinds = [(dtype_of(a), is_weak(a), a if a.__class__ in SCALARS else None) for a in args]
    key = (op.name, tuple([(d, w, v.__class__, v) for d, w, v in kinds]), _key(params) if params else ())
    found = _kept.get(key)
    if found is None:
        sample = [v if v is not None else _SAMPLES[d] if w else np.ones(1, d) for d, w, v in kinds]
        y = _quietly(op, sample, params)
        found = _keep(key, (dtype_of(y), y.__class__ in SCALARS))
    return found


def _keep(key: Any, value: Any) -> Any:
    if len(_kept) > _MOST:
        _kept.clear()
    _kept[key] = value
    return value


def _quietly(op: Op, args: Sequence[Any], params: dict) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return op.impl(*args, **params)


def _tried(op: Op, args: Sequence[Any], params: dict) -> tuple[bool, list[Found]]:
    dims: dict[Any, Dim] = {}
    static: set[int] = set()
    for n in (n for a in args for n in shape_of(a)):
        if n.__class__ is Dim:
            dims[n] = n
        else:
            static.add(n)
    dims |= _dims_among(params)
    key = None
    if not dims and op.name != "observe" and not any(_is_structure(a) for a in args):
        key = (op.name, tuple([(shape_of(a), dtype_of(a), is_weak(a)) for a in args]), _key(params))
        if key in _kept:
            return _kept[key][0]
    kinds = _QUESTIONED if op.name == "observe" else _KINDS  # what users ask may depend on the values in any way
    wanted = len(kinds) if op.name == "observe" else 2
    trials: list[tuple[Any, dict[int, Any]]] = []
    failure: Exception | None = None
    for k, dummy in enumerate(kinds):
        free = [p for p in _PRIMES[6 * (k % 2) :] if p not in static]
        numbers = dict(zip(dims, free, strict=False))
        try:
            y = _quietly(op, [_dummy(a, numbers, dummy) for a in args], _with_numbers(params, numbers))
        except Exception as error:  # these dummies may be none that the op takes: the next ones are tried
            failure = error
            continue
        trials.append((y, {n: dims[d] for d, n in numbers.items()}))
        if len(trials) == wanted:
            break
    if not trials:
        raise failure or AssertionError
    several = trials[0][0].__class__ is tuple
    found = [_agreed([(y[k] if several else y, back) for y, back in trials])
             for k in range(len(trials[0][0]) if several else 1)]  # fmt: skip
    if isinstance(op, Zero) and op.shape is not None and not several:  # it knows better, or that it cannot be known
        found = [found[0]._replace(shape=tuple(op.shape(*args, **params)))]
    if key is not None:
        _keep(key, ((several, found), params))  # keys may be identities of what is in params
    return several, found


def _agreed(trials: list[tuple[Any, dict[int, Any]]]) -> Found:
    """What all trials say of a result."""
    first, back = trials[0]
    if dtype_of(first).kind not in "biufc" or len({len(shape_of(y)) for y, _ in trials}) > 1:
        raise UnsupportedFunctionError(
            "a question about values that are known only when the compiled program runs",
            remedy="compute it outside of the compiled function, or use jit(f, fallback=True)",
        )
    shape = list(shape_of(first))
    for axis, n in enumerate(shape):
        lengths = [_length(n, shape_of(y)[axis], back, other) for y, other in trials]
        shape[axis] = lengths[0] if all(m is lengths[0] or m == lengths[0] for m in lengths) else None
    return Found(tuple(shape), np.result_type(*[dtype_of(y) for y, _ in trials]), first.__class__ in SCALARS)


def _length(n: int, m: int, back: dict[int, Any], other_back: dict[int, Any]) -> Any:
    """A length of the result: one that is known, one of the operands, or `None`, if the trials do not agree."""
    if n in back and m in other_back and back[n] is other_back[m]:
        return back[n]
    return n if n == m else None


def _is_structure(a: Any) -> bool:
    """Whether the result's shape may depend on the value of an operand: on integers that are known, or on a mask."""
    return isinstance(a, np.ndarray) and (a.dtype.kind == "b" or (a.dtype.kind in "iu" and a.ndim > 0))


def _dims_among(params: Any) -> dict:
    """The lengths and integers in parameters that only the program knows, by what they are."""
    dims: dict = {}

    def note(value: Any) -> None:
        if value.__class__ is Dim:
            dims[value] = value
        elif value.__class__ is Sym:
            dims[value._node] = value

    map_data(params, note)
    return dims


def _with_numbers(params: Any, numbers: dict) -> Any:
    def number(value: Any) -> Any:
        return numbers[value] if value.__class__ is Dim else numbers[value._node] if value.__class__ is Sym else value

    return map_data(params, number)


def _dummy(a: Any, numbers: dict, values: Any) -> Any:
    if a.__class__ in SCALARS or (not isinstance(a, Sym) and dtype_of(a).kind in "iub"):
        return a
    dtype = dtype_of(a)
    if is_weak(a):
        return _SAMPLES[dtype]
    shape = tuple([numbers[n] if n.__class__ is Dim else n for n in shape_of(a)])
    if dtype.kind not in "iub" or values in (_alternating, _large):
        return values(shape).astype(dtype)
    return np.full(shape, values is _equal, dtype)


# What the trials are made with. They must not fail, so matrices are regular, and no two elements of a vector equal.


def _rising(shape: tuple) -> np.ndarray:
    n = int(np.prod(shape))
    return (1 + np.arange(n) / max(n, 1)).reshape(shape)


def _falling(shape: tuple) -> np.ndarray:
    return -_rising(shape)[..., ::-1] if shape else np.asarray(0.5)


def _mixed(shape: tuple) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).round(1)


def _identity(shape: tuple) -> np.ndarray:
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        return np.broadcast_to(np.diag(np.arange(1.0, shape[-1] + 1)), shape).copy()
    return _rising(shape)


def _definite(shape: tuple) -> np.ndarray:
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        n = shape[-1]
        i = np.arange(n)
        return np.broadcast_to(1.0 / (1 + np.abs(i[:, None] - i)) + np.diag(i + 1.0), shape).copy()
    return _rising(shape)


def _equal(shape: tuple) -> np.ndarray:
    return np.ones(shape)


def _alternating(shape: tuple) -> np.ndarray:
    """Zeros and ones: some elements count, some are equal."""
    return (np.arange(int(np.prod(shape))) % 2).reshape(shape)


def _large(shape: tuple) -> np.ndarray:
    """For what counts up to the largest."""
    return 1000 + np.arange(int(np.prod(shape))).reshape(shape)


_KINDS = (_identity, _rising, _definite, _falling, _mixed)
_QUESTIONED = (*_KINDS, _equal, _alternating, _large)
