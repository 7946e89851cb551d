"""From a user's function to a function of leaves, and back: what every operator does with its arguments.

`Prepared` takes apart the arguments that are differentiated (`argnums`), checks that they have derivatives, and gives a
function from leaves to leaves, which remembers the containers of the result and of the auxiliary data as they come by.
"""

from __future__ import annotations

import importlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.box import Box, plain
from wengert.box.cells import cell
from wengert.box.foreign import an, hides_traced, where_it_hides
from wengert.box.functions.lengths import agree
from wengert.box.subclasses import base_array
from wengert.box.withheld import Withheld
from wengert.box.writing import clone, settled
from wengert.capture import hooks
from wengert.capture.classes import meet_value
from wengert.capture.one_of import OneOf, known_one, numbers_in
from wengert.capture.snapshots import Reachable
from wengert.control.budget import Account, account, refuse_straight
from wengert.errors import MismatchError, NotDifferentiableInputError, NotDifferentiableOutputError
from wengert.modes.dual import push
from wengert.modes.held import bytes_of_nodes, hold_alone, memory_of
from wengert.modes.linear import Tangent
from wengert.modes.series import expand
from wengert.modes.tape import Recorded, record
from wengert.ops import library
from wengert.ops.shape import astype
from wengert.running import running
from wengert.strides import copy_as
from wengert.types import PLAIN, SCALARS, Aval, aval_of, dtype_of, is_inexact, shape_of

Argnums = int | Sequence[int]

_LEAF = object()
"""Stands for the structure of an argument that is a single array."""


def _owned(x: Any) -> Any:
    """An argument that can be written to without the caller seeing it; the arrays in containers too."""
    if isinstance(x, Box):
        x = settled(x)
        if isinstance(x, Box):
            return clone(x)
    if x.__class__ is np.ndarray or x.__class__ in PLAIN:
        return cell(x)
    return tree.map(lambda leaf: x if leaf is x else _owned(leaf), x)


def _is_container(x: Any) -> bool:
    """Whether an argument may hold arrays, rather than be one, or a number."""
    return not (x.__class__ in PLAIN or isinstance(x, (Box, np.ndarray)))


class Prepared:
    """A call of a user's function, seen as a function of the leaves that are differentiated."""

    __slots__ = ("_args", "_aux_structure", "_count", "_function", "_kwargs", "_writes", "_written_names", "argnums",
                 "aux", "has_aux", "in_structure", "leaves", "out_structure")  # fmt: skip

    def __init__(self, function: Callable, argnums: Argnums, args: tuple, kwargs: dict, has_aux: bool):
        self._function = twin = hooks.resolve(function)
        self._args, self._kwargs = args, kwargs
        named = {name: _is_container(a) for name, a in kwargs.items()} if kwargs else {}
        self._writes, self._written_names = hooks.written_arguments(twin, tuple(map(_is_container, args)), named)
        for a in args:
            if a.__class__ not in PLAIN:
                meet_value(a)
        for a in kwargs.values():
            meet_value(a)
        self.has_aux = has_aux
        self.argnums = argnums
        if argnums.__class__ is not int:
            argnums = _normalised(argnums, len(args))
            self.argnums = argnums
        if argnums.__class__ is int:
            x = _argument(function, args, argnums)
            if x.__class__ is np.ndarray or x.__class__ is float or isinstance(x, Box):
                self.in_structure: Any = _LEAF
                self.leaves = [x]
            else:
                self.leaves, self.in_structure = tree.flatten_values(x)
        else:
            chosen = tuple([_argument(function, args, k) for k in argnums])  # type: ignore[union-attr]
            self.leaves, self.in_structure = tree.flatten_values(chosen)
        for k, leaf in enumerate(self.leaves):
            if leaf.__class__ is not float:
                self._check_input(leaf, k)

    def _check_input(self, leaf: Any, k: int) -> None:
        if isinstance(leaf, (dict, list, tuple)):  # of a class of the user's, whose attributes may be its items
            raise _not_differentiable(leaf, None, self, k)
        try:
            dtype = dtype_of(leaf)
            known = is_inexact(dtype)
        except (TypeError, ValueError, AttributeError):
            dtype, known = None, False
        if known:
            if leaf.__class__ is not np.ndarray:
                shared = shared_array(leaf)
                self.leaves[k] = base_array(leaf) if shared is None else shared
            return
        shared = shared_array(leaf) if dtype is None or dtype.kind == "O" else None
        if shared is None:
            raise _not_differentiable(leaf, dtype, self, k)
        self.leaves[k] = shared
        self._check_input(shared, k)

    def restricted(self, chosen: Any) -> Any:
        """The user's function of the differentiated arguments only."""
        args = list(self._args)
        for k in self._writes:  # anew for each call: the caller's arrays, and what another call sees, stay as they are
            args[k] = _owned(args[k])
        if self.argnums.__class__ is int:
            args[self.argnums] = chosen
        else:
            for k, x in zip(self.argnums, chosen, strict=True):  # type: ignore[arg-type]
                args[k] = x
        kwargs = self._kwargs
        if self._written_names:
            kwargs = kwargs | {name: _owned(kwargs[name]) for name in self._written_names}
        return numbers_in(self._function(*args, **kwargs))

    def __call__(self, *leaves: Any) -> list[Any]:
        """The user's function of leaves: those of its result, followed by those of the auxiliary data."""
        out = self.restricted(self.inputs(leaves))
        extra: list[Any] = []
        if out is None:
            raise NotDifferentiableOutputError(
                "the differentiated function returned None", remedy="is a `return` missing at its end?"
            )
        if self.has_aux:
            if not isinstance(out, (tuple, list)) or len(out) != 2:
                raise NotDifferentiableOutputError(
                    "with has_aux=True the function must return a pair (result, auxiliary data)",
                    remedy="return (y, aux), or leave has_aux out",
                )
            out, aux = out
            extra, self._aux_structure = tree.flatten(aux)
        if isinstance(out, Box):
            self.out_structure = _LEAF
            found = [out]
        else:
            if out.__class__ is OneOf:  # data decide what it is: each case needs a program of its own
                out = known_one(out)
            found, self.out_structure = tree.flatten(out)
        for k, y in enumerate(found):
            if not isinstance(y, Box) or y.dtype.kind not in "fc":
                _check_output(y, out, k)
        self._count = len(found)
        return found + extra if extra else found

    def _keep_aux(self, results: list[Any]) -> list[Any]:
        """The results proper; what follows them is auxiliary data."""
        self.aux = None
        if self.has_aux:
            self.aux = tree.unflatten(self._aux_structure, results[self._count :])
            return results[: self._count]
        return results

    def record(self, keep: bool = False) -> tuple[list[Any], Recorded]:
        """The leaves of the function's value, and the linear program of its tangent.

        A program that is kept must not change when the caller writes to his arrays, which may be its coefficients.
        """
        if keep:
            self.leaves = [snapshot(x) for x in self.leaves]
        budget = account()
        if budget is None or budget.memory is None or budget.inner or running.state.capture is not None:
            values, program = record(self, self.leaves)
        else:
            values, program = self._record_within(budget, budget.memory)
        program.outputs = program.outputs[: self._count]
        if keep:
            hold_alone(program.nodes, self.leaves)
        return self._keep_aux(values), program

    def _record_within(self, budget: Account, memory: int) -> tuple[list[Any], Recorded]:
        """The same, where arrays that are there before, and results, do not count."""
        there = Reachable((self._function, self._args, self._kwargs, self.leaves))
        budget.known.update(memory_of([*there.arrays, *there.boxes]))
        values, program = record(self, self.leaves)
        size = bytes_of_nodes(program.nodes, {*budget.known, *memory_of(values)})
        if size > memory:
            refuse_straight("the function", size, memory, memory, size)
        return values, program

    def push(self, tangents: Sequence[Any], warns: bool = False) -> tuple[list[Any], list[Any]]:
        """The leaves of the function's value, and their tangents (`None` is zero); `warns` if all are constant."""
        values, dots = push(self, self.leaves, tangents, warns)
        return self._keep_aux(values), dots[: self._count]

    def expand(self, curves: Sequence[Sequence[Any]], order: int) -> list[list[Any]]:
        """Taylor coefficients 0 … order of the leaves of the function's value, for curves through the arguments."""
        found = expand(self, curves, order)
        self._keep_aux([y for y, _ in found])
        return [[y, *rest] for y, rest in found[: self._count]]

    def coefficients(self, series: Sequence[Sequence[Any]], k: int, given: Sequence[Any] = ()) -> Any:
        """Coefficient k of each leaf, in the containers of the function's value; of Python's numbers, Python's."""
        if k == 0:
            return self.outputs(owned([x[0] for x in series], self.leaves))
        found = zip([x[0] for x in series], owned([x[k] for x in series], given), strict=True)
        return self.outputs([number_like(y, result_like(y, c)) for y, c in found])

    def cotangents(self, cts: Sequence[Any], given: Sequence[Any] = ()) -> Any:
        """Cotangents of the differentiated leaves, in the containers of the arguments, made from those `given`."""
        if self.in_structure is _LEAF and not given:
            (ct,) = cts
            is_numpy = isinstance(self.leaves[0], _NUMPY) or isinstance(plain(self.leaves[0]), _NUMPY)
            if is_numpy and (
                ct.__class__ is np.float64
                or (ct.__class__ is np.ndarray and ct.shape and ct.flags.writeable and ct.dtype.isnative)
            ):
                return ct
        return self.inputs([result_like(x, ct) for x, ct in zip(self.leaves, owned(cts, given), strict=True)])

    def tangents(self, values: Sequence[Any], dots: Sequence[Any], given: Sequence[Any] = ()) -> Any:
        """Tangents of the function's value, in its containers, made from those `given`."""
        return self.outputs([result_like(y, dot) for y, dot in zip(values, owned(dots, given), strict=True)])

    def inputs(self, leaves: Sequence[Any]) -> Any:
        """One thing for each differentiated leaf, in the containers of the arguments."""
        return leaves[0] if self.in_structure is _LEAF else tree.unflatten(self.in_structure, leaves)

    def outputs(self, leaves: Sequence[Any]) -> Any:
        """One thing for each leaf of the function's result, in its containers."""
        return leaves[0] if self.out_structure is _LEAF else tree.unflatten(self.out_structure, leaves)

    def input_leaves(self, container: Any, what: str) -> list[Any]:
        """Leaves of tangents that belong to the arguments."""
        return _matching_leaves(container, self.in_structure, [aval_of(x) for x in self.leaves], what)

    def output_leaves(self, container: Any, avals: Sequence[Aval]) -> list[Any]:
        """Leaves of cotangents that belong to the result."""
        return _matching_leaves(container, self.out_structure, avals, "the cotangent")


def demand_positions(argnums: Any, example: str = "wg.grad(f)(x)") -> None:
    """Refuse what does not say which arguments are meant; `example` shows where an argument belongs."""
    try:
        for k in argnums if np.ndim(argnums) else (argnums,):
            operator.index(k)
    except (TypeError, ValueError):
        raise NotDifferentiableInputError(
            f"argnums={shortened(argnums)} is neither an int nor a sequence of ints",
            remedy="count the positional arguments from 0: argnums=0, or argnums=(0, 2); an argument of the function "
            f"goes to what comes back: {example}",
        ) from None


def shortened(x: Any) -> str:
    """A value as it is shown where it was given for another."""
    text = " ".join(repr(x).split())
    return text if len(text) < _LONG else text[:_LONG] + " …"


_LONG = 60


def _normalised(argnums: Any, count: int) -> Argnums:
    """`argnums` as an int or a tuple of ints, none twice: the second would hide the first."""
    demand_positions(argnums)
    if np.ndim(argnums) == 0:
        return operator.index(argnums)
    chosen = tuple([operator.index(k) for k in argnums])
    if len({k % count if -count <= k < count else k for k in chosen}) != len(chosen):
        raise NotDifferentiableInputError(f"argnums={chosen} names an argument twice", remedy="name each argument once")
    return chosen


def _argument(function: Callable, args: tuple, k: int) -> Any:
    try:
        return args[k]
    except IndexError:
        name = getattr(function, "__name__", "the function")
        raise NotDifferentiableInputError(
            f"argnums={k}, but {name} was called with {len(args)} positional argument(s)",
            remedy="pass the arguments to differentiate by position, and count them from 0",
        ) from None


def _name_of_leaf(prepared: Prepared, k: int) -> str:
    if prepared.in_structure is _LEAF:
        return f"argument {prepared.argnums}"
    container = tree.unflatten(prepared.in_structure, prepared.leaves)
    return f"argument {prepared.argnums}{tree.paths(container)[k]}"


def _not_differentiable(leaf: Any, dtype: Any, prepared: Prepared, k: int) -> NotDifferentiableInputError:
    where = _name_of_leaf(prepared, k)
    if dtype is None or dtype.kind not in "iub":
        kind = f"an array of type {leaf.dtype}" if isinstance(leaf, np.ndarray) else an(type(leaf).__name__)
        return NotDifferentiableInputError(
            f"{where} is {kind}, which has no derivative",
            remedy=f"{_what_to_pass(leaf)}; choose others by argnums",
        )
    remedy = f"pass {float(leaf)!r}" if np.ndim(leaf) == 0 else "pass x.astype(float)"
    if re.search(r"\.\w+$", where):
        remedy += ", say that the field is no data, dataclasses.field(metadata={'static': True})"
    return NotDifferentiableInputError(
        f"{where} is of integer type {dtype}, which has no derivative",
        remedy=f"{remedy}, or choose another argument with argnums",
    )


_HEAP_TYPE = 1 << 9
"""The flag of classes that are made by a `class` statement."""


def _what_to_pass(leaf: Any) -> str:
    """What may be differentiated in place of this, as advice."""
    kind = next((c for c in (dict, list, tuple) if isinstance(leaf, c)), dict if isinstance(leaf, Mapping) else None)
    if kind is not None:
        return f"pass {kind.__name__}(x), or a dataclass"
    if isinstance(leaf, (set, frozenset, Iterator)):
        return "pass list(x)"
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "O":
        return "pass x.astype(float)"
    is_of_user = type(leaf).__flags__ & _HEAP_TYPE != 0
    if not isinstance(leaf, (np.ndarray, np.generic)) and is_of_user and not callable(leaf):
        return "use a dataclass in its place, or give the operator a function of the numbers in it"
    return "differentiate floating-point numbers and arrays, and containers of them"


def _check_output(y: Any, out: Any, k: int) -> None:
    if callable(y) and not hasattr(y, "dtype"):
        raise NotDifferentiableOutputError(
            "the differentiated function returned a function; a closure over traced values has no meaning outside",
            remedy="return the value: differentiate lambda x: f(x)(y), not f",
        )
    if isinstance(y, Withheld):
        bool(y)  # raises what is wrong with it
    if not isinstance(y, Box) and hides_traced(y):
        raise NotDifferentiableOutputError(
            f"the result{tree.paths(out)[k]} is a {type(y).__name__} in which there is a traced value: its derivative "
            "would be lost",
            remedy=where_it_hides(y),
        )
    try:
        dtype = dtype_of(y)
    except (TypeError, ValueError):
        dtype = np.dtype(object)
    if dtype.kind in "fc":
        return
    path = tree.paths(out)[k]
    if dtype.kind in "iub":
        raise NotDifferentiableOutputError(
            f"the result{path} is of integer type {dtype}, which has no derivative",
            remedy="return a floating-point value, or return the integer as auxiliary data with has_aux=True",
        )
    if isinstance(y, Box):
        raise NotDifferentiableOutputError(
            f"the result{path} is of type {dtype}, which has no derivative",
            remedy="numbers of another library (SymPy, mpmath) have met traced ones: make them float(r)",
        )
    raise NotDifferentiableOutputError(
        f"the result{path} is {an(type(y).__name__)}, which has no derivative",
        remedy="return numbers or arrays, and everything else as auxiliary data with has_aux=True",
    )


def _matching_leaves(container: Any, structure: Any, avals: Sequence[Aval], what: str) -> list[Any]:
    if structure is _LEAF:
        found = [container]
        if container.__class__ in (list, tuple, dict):
            raise MismatchError(f"{what} is a {type(container).__name__} where one array is expected",
                                remedy=f"pass an array of shape {avals[0].shape}")  # fmt: skip
    else:
        found, given = tree.flatten_values(container)
        if given != structure:
            raise MismatchError(
                f"{what} has the containers {given}, the values it belongs to have {structure}",
                remedy=f"give {what} the same containers",
            )
    return [fit_to(x, aval, what) for x, aval in zip(found, avals, strict=True)]


def fit_to(x: Any, aval: Aval, what: str) -> Any:
    """A tangent or cotangent, checked against the value it belongs to, in its dtype."""
    shape = shape_of(x)
    if shape != aval.shape and any(n.__class__ is not int for n in (*shape, *aval.shape)):
        agree(
            shape,
            aval.shape,
            ValueError,
            f"{what} has another shape than the value it belongs to, in a compiled function",
        )
    elif shape != aval.shape:
        raise MismatchError(
            f"{what} has shape {shape}, the value it belongs to has shape {aval.shape}",
            remedy=f"pass {what} of shape {aval.shape}",
        )
    dtype = dtype_of(x)
    if dtype == aval.dtype:
        return x
    if dtype.kind not in "iubfc" or (dtype.kind == "c" and aval.dtype.kind != "c"):
        raise MismatchError(
            f"{what} is of type {dtype}, the value it belongs to is of type {aval.dtype}",
            remedy=f"pass {what} of type {aval.dtype}",
        )
    return astype(x if hasattr(x, "dtype") else np.asarray(x), dtype=aval.dtype)


_CUDA = 2
"""DLPack's number for memory of NVIDIA's devices."""


def shared_array(x: Any) -> Any:
    """An array of a library that speaks DLPack and not NumPy's protocols, in its own memory; `None` for all else."""
    if not hasattr(x, "__dlpack__") or hasattr(x, "__array_ufunc__"):
        return None
    if getattr(x, "requires_grad", False):
        x = x.detach()  # PyTorch does not hand out what it differentiates itself
    try:
        if x.__dlpack_device__()[0] == _CUDA:
            return _on_gpu(x)
        return np.from_dlpack(x)
    except (BufferError, ImportError, RuntimeError, TypeError, ValueError):  # not in a memory that we can read
        return None


def _on_gpu(x: Any) -> Any:
    """An array of CuPy's in the same memory of a GPU: by DLPack or, where a library does not hand out so what may not
    be written to, by CUDA's own interface. Nothing here writes to arguments."""
    cupy = importlib.import_module("cupy")
    try:
        return cupy.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError):
        if not hasattr(x, "__cuda_array_interface__"):
            raise
        return cupy.asarray(x)


def demand_complex(leaves: Sequence[Any], what: str) -> None:
    """With `holomorphic=True` everything is complex."""
    for x in leaves:
        if dtype_of(x).kind != "c":
            raise NotDifferentiableInputError(
                f"holomorphic=True, but an {what} is of type {dtype_of(x)}".replace("an result", "the result"),
                remedy="pass complex numbers, for instance x + 0j, or leave holomorphic out",
            )


def zeros_like(x: Any) -> Any:
    """Zeros of the kind of a value: of its shape, dtype and library."""
    value = plain(x)
    if isinstance(value, np.generic):
        return value.dtype.type(0)
    if shape_of(value) != shape_of(x):  # there is a hidden axis
        return library.zeros(shape_of(x), dtype_of(x), value)[()]
    if not dtype_of(value).isnative:
        return np.zeros(shape_of(value), _native(dtype_of(value)))
    return np.zeros_like(value) if hasattr(value, "shape") else np.result_type(dtype_of(value), np.float64).type(0)


def _native(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.isnative else dtype.newbyteorder("=")


_NUMPY = (np.ndarray, np.generic, *SCALARS)


def result_like(x: Any, derivative: Any) -> Any:
    """A tangent or cotangent as it is given to the caller: in the library of the value it belongs to, `None` as zeros.

    A cotangent of a linear function knows nothing of the arrays the function was applied to. What is computed has the
    processor's order of bytes, whatever that of the arguments.
    """
    if derivative is None:
        return zeros_like(x)
    dtype = _native(dtype_of(x))
    if derivative.__class__ is x.__class__ is np.ndarray and derivative.dtype == dtype:
        return derivative
    if dtype_of(derivative) != dtype:
        derivative = astype(derivative, dtype=dtype)
    if isinstance(x, _NUMPY) or isinstance(plain(x), _NUMPY) or not isinstance(plain(derivative), _NUMPY):
        return derivative
    return zeros_like(x) + library.moved(derivative, plain(x))


def number_like(x: Any, derivative: Any) -> Any:
    """A derivative of a number of Python's, as one of Python's."""
    return derivative.item() if x.__class__ in (float, complex) and isinstance(derivative, np.generic) else derivative


def owned(results: Sequence[Any], given: Sequence[Any] = ()) -> list[Any]:
    """Results that the caller may write to: no read-only arrays, and none that share memory with what he has given.

    Linear maps pass tangents on as they are, or as views. Views of an array all have the same `base`. What is 0-d
    becomes a scalar, as NumPy's own functions do it.
    """
    taken = {id(_memory_of(x)) for x in given if x.__class__ is np.ndarray or isinstance(x, Box)}
    kept = []
    for x in results:
        x = x if x.__class__ in PLAIN else settled(x)
        if x.__class__ is np.ndarray:
            memory = id(x if x.base is None else x.base)
            if not x.shape:
                x = x[()]
            elif memory in taken or not x.flags.writeable:
                x = x.copy()
                memory = id(x)
            taken.add(memory)
        elif isinstance(x, Box) and x.__class__ is not Tangent:
            if id(_memory_of(x)) in taken or (not x.shape and x._is_array):
                x = clone(x)
            taken.add(id(_memory_of(x)))
        kept.append(x)
    return kept


def _memory_of(x: Any) -> Any:
    if isinstance(x, Box):
        return x if x._view_of is None else x._view_of.root
    return x if x.base is None else x.base


def snapshot(x: Any) -> Any:
    """The same array, as it is now: what is written to it later is not seen."""
    x = settled(x)
    if isinstance(x, Box):
        return clone(x)
    return copy_as(x) if isinstance(x, np.ndarray) else x
