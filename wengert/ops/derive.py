"""How a row of the table becomes each mode's rule.

Families of ops, by what their linear part looks like:

    Elementwise    y = f(x₁, …) broadcast     stated: ∂f/∂xᵢ            y_dot = Σ ∂f/∂xᵢ · xᵢ_dot
    Linear         y = L(x₁, …), jointly      stated: Lᵀ                y_dot = L(x₁_dot, …)
    Multilinear    y = B(x₁, …), in each      stated: transpose per arg y_dot = Σ B(…, xᵢ_dot, …)
    General        anything else              stated: y_dot, as an expression linear in x_dot
    Zero           locally constant           nothing: the derivative is exactly zero
    Control        holds code (loop, cond)    its own rules, in `control/`: the modes run over the code

From these the modes derive theirs: forward mode evaluates `tangent`; reverse mode evaluates the same `tangent` with
a symbol for x_dot, which leaves a linear program, and transposes that (Radul et al. 2023, "You Only Linearize
Once"). Partials and tangents are written in the vocabulary of the table, so they are themselves differentiable, to
any order. No rule is ever stated twice.

What may stand for a partial derivative: a number (the partial is that constant everywhere), `None` (the op has no
derivative in that argument: it is locally constant there, or it is a mask), or a function `(y, *args, **params)`
of the result and the arguments. An op with `selects=True` has masks for partials: `where` picks, it does not
multiply, so that an infinite cotangent is not spread by `0 * inf`.

The batch reading of an elementwise op is derived: operands are aligned at their last axes behind the hidden axis,
which is always axis 0. Other ops state `batch(args, mapped, params) -> y`, where `mapped[i]` tells whether args[i]
has the hidden axis and `y` has it. Without a rule the op is applied example by example, which is right but slow.

The few structural ops that the derivations themselves need (`where`, `sum`, `reshape`, `broadcast_to`, `astype`) are
looked up in the table by name, because their rows are made from the families below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wengert.ops.op import TABLE, Op, call
from wengert.ops.traits import BODY, CHEAP, DEAR, MORE, NEVER, Dtype
from wengert.types import SCALARS, Aval, aval_of, broadcast_shapes, dtype_of, is_inexact, shape_of

Partial = Callable | int | float | None


class Elementwise(Op):
    """An op that acts on each element and broadcasts: a row states its partial derivatives."""

    __slots__ = ("jointly", "linear_in", "partials", "selects")
    derived: ClassVar = {"elementwise": True, "raises": NEVER, "cost": DEAR}

    def __init__(
        self,
        name: str,
        impl: Callable,
        partials: Sequence[Partial],
        *,
        linear_in: Sequence[int] = (),
        jointly: bool = False,
        selects: bool = False,
        **stated: Any,
    ):
        super().__init__(name, impl, **stated)
        self.linear_in = frozenset(linear_in)
        mixes = len(partials) > len(self.linear_in) and len(partials) > 1
        differs = [p is not None for p in partials]
        self.partials = tuple([_in_one_precision(p, differs) if mixes and callable(p) else p for p in partials])
        self.jointly = jointly
        self.selects = selects
        self.batch = lambda args, mapped, params: call(self, *align(args, mapped), **params)

    def is_linear(self, i: int) -> bool:
        return i in self.linear_in

    def coefficient(self, i: int, y: Any, args: tuple, params: dict) -> Any:
        """∂y/∂args[i], in the vocabulary of the table."""
        partial = self.partials[i]
        if callable(partial):
            return partial(y, *args, **params)
        return partial

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        total = None
        for i, dot in enumerate(dots):
            if dot is None or self.partials[i] is None:
                continue
            term = self.scale(self.coefficient(i, y, args, params), dot)
            total = term if total is None else total + term
        return None if total is None else fit(total, y)

    def scale(self, c: Any, t: Any) -> Any:
        """c · t, where c is a coefficient of this op and t a tangent or cotangent."""
        if self.selects:
            return call(TABLE["where"], c, t, 0)
        if c.__class__ is int:
            return t if c == 1 else -t if c == -1 else c * t
        return c * t


def _in_one_precision(partial: Callable, differs: list[bool]) -> Callable:
    """A partial derivative that is computed in the precision of the result: 1 / y in that of y is not enough for a
    y of fewer digits than x. (A product needs nothing: its coefficients are its operands.)"""

    def precise(z: Any, *args: Any, **params: Any) -> Any:
        first, alike = None, True
        for a in args:
            if a.__class__ not in SCALARS:
                dtype = dtype_of(a)
                alike = alike and (first is None or dtype is first or dtype == first)
                first = dtype
        return partial(z, *(args if alike else _widened(z, args, differs)), **params)

    if len(differs) != 2:
        return precise

    def precise_in_two(z: Any, x: Any, y: Any, **params: Any) -> Any:
        """The same; what is common has a quick way."""
        kind, other = x.__class__, y.__class__
        if (kind is other and (kind is np.float64 or (kind is np.ndarray and x.dtype is y.dtype))) or other in SCALARS:
            return partial(z, x, y, **params)
        return precise(z, x, y, **params)

    return precise_in_two


def _widened(z: Any, args: tuple, differs: list[bool]) -> list[Any]:
    """Operands of several dtypes, those with fewer digits than the result, if it is known, in its real dtype."""
    dtypes = [dtype_of(a) for a, d in zip(args, differs, strict=True) if d and a.__class__ not in SCALARS]
    real = np.empty(0, np.result_type(*dtypes) if z is None else dtype_of(z)).real.dtype
    return [
        call(TABLE["astype"], a, dtype=real)
        if d and a.__class__ not in SCALARS and dtype_of(a).kind in "biuf" and dtype_of(a).itemsize < real.itemsize
        else a
        for a, d in zip(args, differs, strict=True)
    ]


class Linear(Op):
    """An op that is linear in all its data together: a row states the transpose.

    Structure, such as indices, stays as it is. The dtype does not tell: an integer that is written into an array is a
    constant of the program, with the tangent zero.
    """

    __slots__ = ("_transpose",)
    derived: ClassVar = {"data": 1}
    jointly = True

    def __init__(self, name: str, impl: Callable, transpose: Callable, **stated: Any):
        super().__init__(name, impl, **stated)
        self._transpose = transpose

    def is_linear(self, i: int) -> bool:
        return self.data.__class__ is not int or i < self.data

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        if not is_inexact(dtype_of(y)):
            return None  # rounded, to be written into an array of integers
        data = self.data_count(args, params)
        filled = [
            dot if dot is not None else zeros_like(a) if k < data else a
            for k, (a, dot) in enumerate(zip(args, dots, strict=True))
        ]
        return call(self, *filled, **params)

    def transpose(self, i: int, ct: Any, args: tuple, params: dict) -> Any:
        """The cotangent of args[i]. Of args[i] only shape and dtype may be used."""
        return self._transpose(ct, *args, **params)


class VariadicLinear(Linear):
    """A linear op of any number of arguments, such as `concatenate`; its transpose is told which one."""

    __slots__ = ()
    derived: ClassVar = {"data": None}

    def transpose(self, i: int, ct: Any, args: tuple, params: dict) -> Any:
        return self._transpose(i, ct, args, **params)  # not *args: n arguments would cost O(n) for each of them


class Multilinear(Op):
    """An op that is linear in each argument while the others are held: a row states a transpose for each."""

    __slots__ = ("_transposes",)

    def __init__(self, name: str, impl: Callable, transposes: Sequence[Callable] | Callable, **stated: Any):
        super().__init__(name, impl, **stated)
        self._transposes = transposes

    def is_linear(self, i: int) -> bool:
        return self.data.__class__ is not int or i < self.data

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        total = None
        for i, dot in enumerate(dots):
            if dot is None:
                continue
            term = call(self, *args[:i], dot, *args[i + 1 :], **params)
            total = term if total is None else total + term
        return total

    def transpose(self, i: int, ct: Any, args: tuple, params: dict) -> Any:
        """The cotangent of args[i]. Of args[i] only shape and dtype may be used."""
        if callable(self._transposes):
            return self._transposes(i, ct, *args, **params)
        return self._transposes[i](ct, *args, **params)


class General(Op):
    """Any other op: a row states, per argument, the tangent as an expression that is linear in x_dot.

    A rule is called as `rule(x_dot, y, *args, **params)`. `y` is a tuple where the op has several results; the rule
    then returns a tuple of tangents. Where the op is linear in argument i, `transposes={i: …}` says how to transpose
    it, so that the op may act on tangents itself (a linear solve is linear in its right-hand side).
    """

    __slots__ = ("tangents", "transposes")

    def __init__(
        self,
        name: str,
        impl: Callable,
        tangents: Sequence[Callable | None],
        *,
        transposes: dict[int, Callable] | None = None,
        **stated: Any,
    ):
        super().__init__(name, impl, **stated)
        self.tangents = tuple(tangents)
        self.transposes = transposes or {}

    def is_linear(self, i: int) -> bool:
        return i in self.transposes

    def transpose(self, i: int, ct: Any, args: tuple, params: dict) -> Any:
        """The cotangent of args[i], in which the op is linear."""
        return self.transposes[i](ct, *args, **params)

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        total = None
        for rule, dot in zip(self.tangents, dots, strict=True):
            if dot is None or rule is None:
                continue
            term = rule(dot, y, *args, **params)
            if total is None:
                total = term
            elif isinstance(term, tuple):
                total = tuple(a + b for a, b in zip(total, term, strict=True))
            else:
                total = total + term
        return total


class Zero(Op):
    """An op whose derivative is exactly zero wherever it has one: comparison, rounding, sorting order."""

    __slots__ = ()

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        return None


class Unmapped(NamedTuple):
    """Among the results of a batch rule: one that is the same for all examples, without the hidden axis."""

    value: Any


class Guarded(NamedTuple):
    """What `expansion` may return: where the mask holds, coefficient k > 0 is not that of the program but `fill(k)`."""

    program: Any
    mask: Any
    fill: Callable[[int], Any]


class Control(Op):
    """An op that holds code: blocks of IR among its parameters.

    `lift(mode, args, params)` is what it does on boxes of any mode that follows the protocol of `modes/mode.py`,
    `record(trace, args, params)` what reverse mode does, which has rules of its own here; both return boxed results.
    `types(args, params)` says what is known of the results without computing them. There are always several results.
    Where the code is Python, `stage(args, params)` gives the arguments and parameters of the op in a program. Where the
    derivative is stated by the code's author, `push(y, args, dots, params)` are the tangents of the results, as a
    program. If it `selects`, not all of its operands are used every time.
    """

    __slots__ = ("lift", "push", "record", "selects", "stage", "types")
    derived: ClassVar = {"raises": BODY, "cost": MORE}

    def __init__(
        self,
        name: str,
        impl: Callable,
        *,
        lift: Callable,
        record: Callable,
        types: Callable,
        stage: Callable | None = None,
        push: Callable | None = None,
        selects: bool = False,
        **stated: Any,
    ):
        super().__init__(name, impl, **stated)
        self.lift = lift
        self.selects = selects
        self.record = record
        self.types = types
        self.stage = stage
        self.push = push

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        assert self.push is not None, "other ops that hold code are lifted"
        return self.push(y, args, dots, params)


# ------------------------------------------------------------------------------------------ constructors for rows
#
# `**stated` are the things any row may state besides: `batch=` and `shape=` (see `Op`), and traits (`traits.py`). Rows
# that are not elementwise must state `raises=` and `cost=`.


def elementwise(name: str, impl: Callable, partials: Sequence[Partial], **stated: Any) -> Elementwise:
    """A row for an elementwise op.

    `linear_in` names the arguments in which it is linear; `jointly=True` says: in all of them together, as `add` is
    and `multiply` is not; `selects=True`: its partials are masks.
    """
    return Elementwise(name, impl, partials, **stated)


def linear(name: str, impl: Callable, transpose: Callable, **stated: Any) -> Linear:
    """A row for a linear op of one argument; `transpose(ct, x, **params)`."""
    op = Linear(name, impl, transpose, **stated)
    if op.elementwise and op.batch is None:
        op.batch = lambda args, mapped, params: call(op, *args, **params)
    return op


def variadic_linear(name: str, impl: Callable, transpose: Callable, **stated: Any) -> Linear:
    """A row for a linear op of any number of arguments; `transpose(i, ct, args, **params)`."""
    return VariadicLinear(name, impl, transpose, **stated)


def multilinear(name: str, impl: Callable, transposes: Sequence[Callable] | Callable, **stated: Any) -> Multilinear:
    """A row for a product; `transposes[i](ct, *args, **params)`, or one function `(i, ct, *args, **params)`."""
    return Multilinear(name, impl, transposes, **stated)


def general(name: str, impl: Callable, tangents: Sequence[Callable | None], **stated: Any) -> General:
    """A row for any other op; `tangents[i](x_dot, y, *args, **params)`, linear in x_dot."""
    return General(name, impl, tangents, **stated)


def zero(name: str, impl: Callable, *, elementwise: bool = False, **stated: Any) -> Zero:
    """A row for an op that is locally constant."""
    if elementwise:
        stated = {"raises": NEVER, "cost": CHEAP, **stated}
    op = Zero(name, impl, elementwise=elementwise, **stated)
    if elementwise:
        op.batch = lambda args, mapped, params: call(op, *align(args, mapped), **params)
    return op


# ------------------------------------------------------------------------------------------------- shape fitting


def zeros_like(x: Any) -> Any:
    """Zero for a tangent that is not there, in the dtype that `x` has among the operands of an op."""
    return x.__class__(0) if x.__class__ in SCALARS else np.zeros_like(x)


def fit(t: Any, y: Any) -> Any:
    """A tangent with the shape and dtype of the value it belongs to."""
    shape, dtype = shape_of(y), dtype_of(y)
    if dtype_of(t) != dtype:
        t = call(TABLE["astype"], t, dtype=dtype)
    if shape_of(t) != shape:
        t = call(TABLE["broadcast_to"], t, shape=shape)
    return t


def unfit(ct: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """The transpose of `fit`: a cotangent summed over broadcast axes, in the dtype of the value it belongs to."""
    ct_shape = shape_of(ct)
    if ct_shape != shape:
        extra = len(ct_shape) - len(shape)
        if ct.__class__ is np.ndarray and ct_shape[extra:] == shape and ct.dtype == dtype:
            return np.add.reduce(ct, axis=None if not shape else 0 if extra == 1 else tuple(range(extra)))
        axes = tuple(range(extra)) + tuple(
            k + extra for k, n in enumerate(shape) if n == 1 and ct_shape[k + extra] != 1
        )
        if axes:
            ct = call(TABLE["sum"], ct, axis=axes, keepdims=False)
        if shape_of(ct) != shape:
            ct = call(TABLE["reshape"], ct, shape=shape)
    if dtype_of(ct) != dtype:
        ct = call(TABLE["astype"], ct, dtype=dtype)
    return ct


def align(args: Sequence[Any], mapped: Sequence[bool]) -> list[Any]:
    """Operands of a broadcasting op with their hidden axis in front of the longest shape."""
    rank = max(len(shape_of(a)) - m for a, m in zip(args, mapped, strict=True))
    aligned = []
    for a, m in zip(args, mapped, strict=True):
        shape = shape_of(a)
        if m and len(shape) - 1 < rank:
            a = call(TABLE["reshape"], a, shape=(shape[0],) + (1,) * (rank - len(shape) + 1) + shape[1:])
        aligned.append(a)
    return aligned


def result_aval(op: Op, args: Sequence[Any], params: dict) -> Aval:
    """Shape and dtype of what a linear op will return, without computing it.

    Ops that do real work state `shape=`; the others only rearrange, and do that at no cost to an array whose
    elements all are one and the same zero.
    """
    if isinstance(op, Elementwise):
        shape = _broadcast_shape(args)
    elif op.shape is not None:
        shape = op.shape(*[aval_of(a) if a.__class__ in SCALARS else a for a in args], **params)
    else:
        return aval_of(op.impl(*[_zeros_at_no_cost(a) for a in args], **params))
    args = args[:1] if op.dtype is Dtype.FIRST else args[: op.data_count(args, params)]
    dtype: Any = None
    for a in args:
        if a.__class__ in SCALARS:
            alike = a.__class__ is not complex
        else:
            kind = a.dtype
            alike = dtype is None or kind is dtype or kind == dtype
            dtype = kind
        if not alike:
            break
    else:
        if dtype is not None and is_inexact(dtype):
            return Aval(shape, dtype)
    return Aval(shape, np.result_type(*[a if a.__class__ in SCALARS else dtype_of(a) for a in args]))


def _broadcast_shape(args: Sequence[Any]) -> tuple[int, ...]:
    shape: tuple[int, ...] = ()
    for a in args:
        other = shape_of(a)
        if other and other != shape:
            if shape:
                return broadcast_shapes([shape_of(a) for a in args])
            shape = other
    return shape


def _zeros_at_no_cost(a: Any) -> Any:
    dtype = dtype_of(a)
    return np.broadcast_to(np.zeros((), dtype), shape_of(a)) if is_inexact(dtype) else a
