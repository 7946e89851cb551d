"""Native scalar code for an elementwise op: its `impl`, run on lanes.

A short formula is written where it is used. A long one becomes a function of the module, which all its uses call; to
know, it is first written into a module that is thrown away. What has no scalar code (`impl` asks something of whole
arrays, a dtype has no registers, NumPy refuses the operands) gives `NotImplemented`: the op is then a callback.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import Complex, Scalar, is_native, register_type
from wengert.backend.llvm.machine.internal import internal_function
from wengert.backend.llvm.scalars import arithmetic, comparison, complexes, elementary, integers  # noqa: F401  (their rules)
from wengert.backend.llvm.scalars.lane import Lane, Unsupported, apply_loop, lane_of, select
from wengert.backend.llvm.scalars.values import constant, convert, known_number, real_dtype
from wengert.ops.op import TABLE

_INLINE = 60
"""Formulas of up to so many instructions are written out at each use."""
_LONGEST = 6000
"""Longer ones are not worth the time to compile them."""

_uf = scipy.special._ufuncs
_LONG = np.dtype("long")


def _spherical(ufunc: np.ufunc) -> Callable:
    return lambda n, x: ufunc(n.astype(_LONG) if isinstance(n, Lane) else _LONG.type(n), x)


def _polygamma(n: Any, x: Any) -> Any:
    if not isinstance(n, Lane):
        return TABLE["polygamma"].impl(n, x)
    up = n + 1.0
    sign = np.where(np.equal(np.remainder(up, 2.0), 0.0), 1.0, -1.0)
    return np.where(np.equal(n, 0), scipy.special.psi(x), sign * scipy.special.gamma(up) * scipy.special.zeta(up, x))


def _accumulate(x: Any, y: Any) -> Any:
    """A sum that may be done in parts, which are added up in the end: so LLVM makes vectors of a loop."""
    if not (isinstance(x, Lane) and isinstance(y, Lane) and x.dtype.kind == "f" and x.dtype == y.dtype):
        return x + y
    return x.like(x.b.fadd(x.value, y.value, flags=("reassoc", "nsz")))


def _fits(x: Any, y: Any, operation: str) -> Any:
    """Whether a result fits into 64 bits: the processor says so."""
    cx = next(v.cx for v in (x, y) if isinstance(v, Lane))
    a, b = (lane_of(cx, v, np.dtype(np.int64)) for v in (x, y))
    if operation == "left_shift":
        moved = np.left_shift(a, np.minimum(np.maximum(b, 0), 63))
        back = np.right_shift(moved, np.minimum(np.maximum(b, 0), 63))
        return np.logical_or(np.equal(a, 0), np.logical_and(np.less_equal(b, 63), np.equal(back, a)))
    name = {"add": "sadd", "subtract": "ssub", "multiply": "smul"}[operation]
    both = getattr(cx.builder, f"{name}_with_overflow")(a.value, b.value)
    return Lane(cx, cx.builder.not_(cx.builder.extract_value(both, 1)), np.dtype(bool))


def _by_numpy(*xs: Any, name: str) -> Any:
    impl = TABLE[name].impl
    return apply_loop(impl if isinstance(impl, np.ufunc) else getattr(np, name), xs)


_INSTEAD: dict[str, Callable] = {
    "where": select,
    "by_numpy": _by_numpy,
    "by_numpy_of_two": _by_numpy,
    "fits": _fits,
    "accumulate": _accumulate,
    "polygamma": _polygamma,
    "spherical_jn": _spherical(_uf._spherical_jn),
    "spherical_yn": _spherical(_uf._spherical_yn),
    "spherical_in": _spherical(_uf._spherical_in),
    "spherical_kn": _spherical(_uf._spherical_kn),
}
"""What to run instead of an `impl` that makes arrays of its operands before anything else."""


# -------------------------------------------------------------------------------------- a function that stands alone


class _Alone:
    """What rules need of a context, for a function that is not part of a kernel: it cannot fail."""

    def __init__(self, module: ir.Module, function: ir.Function, addresses: dict[str, int]):
        self.module = module
        self.function = function
        self.addresses = addresses
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.may_fail = False
        self.long_calls = 0

    def fail_if(self, condition: ir.Value, kind: str, message: str, *values: ir.Value) -> None:
        self.may_fail = True

    def declare(
        self, name: str, result: ir.Type, arguments: Sequence[ir.Type], address: int | None = None
    ) -> ir.Function:
        if address is not None:
            self.addresses[name] = address
        known = self.module.globals.get(name)
        return known or ir.Function(self.module, ir.FunctionType(result, list(arguments)), name)


def _registers(dtypes: Sequence[np.dtype]) -> list[ir.Type]:
    return [t for d in dtypes for t in [register_type(real_dtype(d))] * (2 if d.kind == "c" else 1)]


def _gathered(values: Sequence[ir.Value], dtypes: Sequence[np.dtype]) -> list[Scalar]:
    """Values with pairs made into complex numbers."""
    flat = iter(values)
    return [Complex(next(flat), next(flat)) if d.kind == "c" else next(flat) for d in dtypes]


def _flat(values: Sequence[Scalar]) -> list[ir.Value]:
    return [part for v in values for part in (v if isinstance(v, Complex) else (v,))]


# ------------------------------------------------------------------------------------------------------------ emit


class _Use:
    """One use of an op: everything that its code depends on, but the registers that its operands are in."""

    def __init__(
        self, name: str, params: dict, out: np.dtype, dtypes: Sequence[np.dtype], weak: Sequence[bool], known: Sequence
    ):
        self.name = name
        self.params = params
        self.out = out
        self.dtypes = list(dtypes)
        self.weak = list(weak)
        self.known = list(known)

    @property
    def short_key(self) -> Any:
        """A key that is found sooner, by which uses differ as by the other."""
        if self.params or any(n is not None for n in self.known):
            return self.key
        return self.name, self.out, tuple(self.dtypes), tuple(self.weak)

    @property
    def key(self) -> str:
        """Uses with the same key have the same code."""
        known = [(n.__class__.__name__, n) for n in self.known]
        dtypes = [d.str for d in self.dtypes]
        return repr((self.name, sorted(self.params.items()), self.out.str, dtypes, self.weak, known))

    def write(self, cx: Any, values: Sequence[Scalar]) -> Scalar:
        """Run the op's `impl` on lanes."""
        operands: list[Any] = []
        for value, dtype, weak, number in zip(values, self.dtypes, self.weak, self.known, strict=True):
            if number is None:
                operands.append(Lane(cx, value, dtype, weak))
            else:
                operands.append(number if weak else dtype.type(number))
        impl = _INSTEAD.get(self.name, TABLE[self.name].impl)
        if all(n is not None for n in self.known):
            impl = TABLE[self.name].impl
        with np.errstate(all="ignore"):
            y = impl(*operands, **self.params)
        if isinstance(y, Lane):
            return convert(cx, y.value, y.dtype, self.out)
        if isinstance(y, (np.generic, np.ndarray)) and y.ndim == 0:
            y = y.item()
        return constant(y, self.out)

    def alone(self, module: ir.Module, name: str, addresses: dict[str, int]) -> _Alone:
        """Its code as a function of a module."""
        result = ir.LiteralStructType(_registers([self.out]))
        open_places = [d for d, n in zip(self.dtypes, self.known, strict=True) if n is None]
        pure = ("nounwind", "willreturn", "memory(none)")
        function = internal_function(module, name, result, _registers(open_places), *pure)
        cx = _Alone(module, function, addresses)
        given = iter(_gathered(function.args, open_places))
        y = self.write(cx, [next(given) if n is None else None for n in self.known])
        whole: ir.Value = ir.Constant(result, ir.Undefined)
        for k, part in enumerate(_flat([y])):
            whole = cx.builder.insert_value(whole, part, k)
        cx.builder.ret(whole)
        return cx


_sizes: dict[Any, int] = {}
"""By key: how many instructions the code has; −1 if there is none, 0 if it may fail and must be written in place."""


def _size(use: _Use) -> int:
    key = use.short_key
    if key not in _sizes:
        if len(_sizes) > 10_000:
            _sizes.clear()
        try:
            cx = use.alone(ir.Module(), "trial", {})
        except Exception:  # whatever it is, the callback will raise it if it is an error
            _sizes[key] = -1
        else:
            count = sum(len(block.instructions) for block in cx.function.blocks)
            _sizes[key] = 0 if cx.may_fail else count if count <= _LONGEST else -1
    return _sizes[key]


_DIRECT = (np.ufunc, type(operator.add))


def emit(
    cx: Any,
    op_name: str,
    params: dict[str, Any],
    out_dtype: np.dtype,
    values: Sequence[Scalar],
    dtypes: Sequence[np.dtype],
    weak: Sequence[bool],
) -> Any:
    """The result of an elementwise op for scalars of these dtypes, or `NotImplemented`."""
    if not (is_native(out_dtype) and all(map(is_native, dtypes)) and TABLE[op_name].elementwise):
        return NotImplemented
    known = [known_number(v, d) for v, d in zip(values, dtypes, strict=True)]
    use = _Use(op_name, params, out_dtype, dtypes, weak, known)
    if isinstance(TABLE[op_name].impl, _DIRECT) and not all(n is not None for n in known):
        try:
            return use.write(cx, values)
        except (TypeError, OverflowError):
            return NotImplemented
    size = _size(use)
    if size < 0:
        return NotImplemented
    if size <= _INLINE:
        return use.write(cx, values)
    name = f"wg_op_{op_name}_{hashlib.sha256(use.key.encode()).hexdigest()[:16]}"
    function = cx.module.globals.get(name)
    if function is None:
        alone = use.alone(cx.module, name, cx.addresses)
        function, function.has_long_calls = alone.function, alone.long_calls > 0
    cx.long_calls += function.has_long_calls
    result = cx.builder.call(function, _flat([v for v, n in zip(values, known, strict=True) if n is None]))
    parts = [cx.builder.extract_value(result, k) for k in range(1 + (out_dtype.kind == "c"))]
    return _gathered(parts, [out_dtype])[0]


def supports(
    op_name: str,
    params: dict[str, Any],
    out_dtype: np.dtype,
    dtypes: Sequence[np.dtype],
    weak: Sequence[bool],
    constants: Sequence[Any] | None = None,
) -> bool:
    """Whether `emit` would give code. `constants` are the numbers of those operands that are constant, else `None`.

    >>> supports("sin", {}, np.dtype(float), [np.dtype(float)], [False])
    True
    """
    if not (is_native(out_dtype) and all(map(is_native, dtypes)) and TABLE[op_name].elementwise):
        return False
    known = [None] * len(dtypes) if constants is None else list(constants)
    return _size(_Use(op_name, params, out_dtype, dtypes, weak, known)) >= 0


__all__ = ["Unsupported", "emit", "supports"]
