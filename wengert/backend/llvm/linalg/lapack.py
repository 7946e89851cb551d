"""Linear systems, determinants and factorisations by LAPACK.

Where results are determined (solutions, inverses, determinants, Cholesky factors) matrices stored by rows are given to
LAPACK as they are: it sees their transposes, and that is taken into account. Where LAPACK chooses signs (qr, svd, eigh)
it gets what NumPy gives it, by the same routines, so that it makes the same choices.

Failures raise what NumPy raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import (
    I32,
    I64,
    Buffer,
    Scalar,
    known,
    load_element,
    minus,
    product,
    store_element,
)
from wengert.backend.llvm.linalg.blas import straight
from wengert.backend.llvm.linalg.contraction import matmul
from wengert.backend.llvm.linalg.matrices import (
    Info,
    Matrix,
    as_matrix,
    at_least_one,
    call,
    choose,
    copy,
    each,
    fill,
    fresh,
    letter,
    number,
    scratch,
    smaller,
    workspace,
)
from wengert.backend.llvm.scalars.values import real_dtype

RULES: dict[str, Callable] = {}
"""By name of the op: `(cx, inputs, outs, **params)`, whose result is `NotImplemented` where it has no code."""

_SINGULAR = "Singular matrix"


def _rule(function: Callable) -> Callable:
    RULES[function.__name__] = function
    return function


def _lead(out: Buffer, core: int) -> list[ir.Value]:
    return out.lengths[: out.ndim - core]


def _pivots(cx: Any, n: ir.Value) -> ir.Value:
    return scratch(cx, n, np.dtype(np.int32))


def _pivot(cx: Any, pivots: ir.Value, i: ir.Value) -> ir.Value:
    """The i-th pivot, counted from 0."""
    value = load_element(cx.builder, pivots, i, np.dtype(np.int32))
    return minus(cx.builder, cx.builder.sext(value, I64), I64(1))


def _getrf(cx: Any, x: Matrix, pivots: ir.Value) -> Info:
    """Factors of what Fortran sees in the memory of `x`, in place. Of a matrix by rows that is the transpose."""
    info = Info(cx)
    rows, columns = (x.rows, x.columns) if known(x.down) == 1 else (x.columns, x.rows)
    call(
        cx, "lapack", letter(x.dtype) + "getrf", rows, columns, x.pointer, at_least_one(cx, rows), pivots, info.place
    )  # fmt: skip
    return info


# --------------------------------------------------------------------------------------------------- linear systems


@_rule
def solve(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    """With Aᵀ = P L U, as Fortran sees it: Xᵀ P L U = Bᵀ. Columns of Fortran's Xᵀ are rows of X."""
    a, b = inputs
    (out,) = outs
    d, n = out.dtype, a.lengths[-1]
    if a.ndim < 2 or b.ndim < 2:
        return NotImplemented
    with each(cx, _lead(out, 2), (a, 2), (b, 2), (out, 2)) as (a1, b1, x):
        factors, pivots = fresh(cx, n, n, d), _pivots(cx, n)
        copy(cx, a1, factors)
        copy(cx, b1, x)
        _getrf(cx, factors, pivots).check(_SINGULAR)
        k, leading = x.columns, at_least_one(cx, n)
        if known(k) == 1:
            info = Info(cx)
            call(
                cx, "lapack", letter(d) + "getrs", "T", n, 1, factors.pointer, leading, pivots, x.pointer, leading,
                info.place,
            )  # fmt: skip
        else:
            one, wide = number(cx, 1, d), at_least_one(cx, k)
            for triangle, diagonal in (("U", "N"), ("L", "U")):
                call(
                    cx, "blas", letter(d) + "trsm", "R", triangle, "N", diagonal, k, n, one, factors.pointer, leading,
                    x.pointer, wide,
                )  # fmt: skip
            with cx.loop(n) as back:
                i = minus(cx.builder, minus(cx.builder, n, I64(1)), back)
                p = _pivot(cx, pivots, i)
                with cx.loop(k) as j:
                    upper, lower = x.load(cx, i, j), x.load(cx, p, j)
                    x.store(cx, lower, i, j)
                    x.store(cx, upper, p, j)
    return "lapack"


@_rule
def solve_triangular(cx: Any, inputs: list[Buffer], outs: list[Buffer], lower: bool, unit: bool) -> Any:
    """As Fortran sees it, Xᵀ Aᵀ = Bᵀ: in place, from the right."""
    a, b = inputs
    (out,) = outs
    if a.ndim < 2 or b.ndim < 2:
        return NotImplemented
    d = out.dtype
    alone = a.ndim == b.ndim == 2
    message = "singular matrix: resolution failed at diagonal {0}" if alone else _SINGULAR
    with each(cx, _lead(out, 2), (a, 2), (b, 2), (out, 2)) as (a1, b1, x):
        if not unit:
            with cx.loop(a1.rows) as i:
                nothing = cx.builder.not_(scalars.convert(cx, a1.load(cx, i, i), a1.dtype, np.dtype(bool)))
                cx.fail_if(nothing, "LinAlgError", message, *([i] if alone else []))
        copy(cx, b1, x)
        pointer, flag, leading = straight(cx, a1, d)
        # Stored by rows, Fortran sees the transpose, whose other triangle it is.
        triangle = "U" if lower == (flag == "N") else "L"
        call(
            cx, "blas", letter(d) + "trsm", "R", triangle, flag, "U" if unit else "N", x.columns, x.rows,
            number(cx, 1, d), pointer, leading, x.pointer, at_least_one(cx, x.columns),
        )  # fmt: skip
    return "lapack"


@_rule
def inv(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    """The inverse of the transpose is the transpose of the inverse: in place."""
    (a,), (out,) = inputs, outs
    d, n = out.dtype, a.lengths[-1]
    leading = at_least_one(cx, n)
    with each(cx, _lead(out, 2), (a, 2), (out, 2)) as (a1, x):
        pivots = _pivots(cx, n)
        copy(cx, a1, x)
        _getrf(cx, x, pivots).check(_SINGULAR)

        def getri(work: ir.Value, length: ir.Value, x: Matrix = x) -> None:
            info = Info(cx)
            call(cx, "lapack", letter(d) + "getri", n, x.pointer, leading, pivots, work, length, info.place)

        getri(*workspace(cx, d, getri))
    return "lapack"


@_rule
def factors(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (a,), (out,) = inputs, outs
    d = out.dtype
    if d.char not in "fdFD" or a.dtype != d:
        return NotImplemented
    with each(cx, _lead(out, 2), (a, 2), (out, 2)) as (a1, whole):
        n = a1.rows
        by_columns, pivots = fresh(cx, n, n, d, by_columns=True), _pivots(cx, n)
        copy(cx, a1, by_columns)
        _getrf(cx, by_columns, pivots).check(_SINGULAR)
        copy(cx, by_columns, Matrix(whole.pointer, n, n, whole.down, whole.right, d))
        with cx.loop(n) as j:
            whole.store(cx, scalars.convert(cx, _pivot(cx, pivots, j), np.dtype(np.int64), d), n, j)
    return "lapack"


@_rule
def solve_factored(cx: Any, inputs: list[Buffer], outs: list[Buffer], transposed: bool) -> Any:
    _, known_factors, b = inputs
    (out,) = outs
    d = out.dtype
    if b.ndim < 2 or not known(known_factors.lengths[-2]) or known_factors.dtype != d:
        return NotImplemented
    with each(cx, _lead(out, 2), (known_factors, 2), (b, 2), (out, 2)) as (whole, b1, x):
        n, k = b1.rows, b1.columns
        lu, rhs = fresh(cx, n, n, d, by_columns=True), fresh(cx, n, k, d, by_columns=True)
        copy(cx, Matrix(whole.pointer, n, n, whole.down, whole.right, d), lu)
        copy(cx, b1, rhs)
        pivots, part = _pivots(cx, n), real_dtype(d)
        with cx.loop(n) as j:
            stored = scalars.convert(cx, whole.load(cx, n, j), d, part)
            value = cx.builder.add(scalars.convert(cx, stored, part, np.dtype(np.int32)), I32(1))
            store_element(cx.builder, value, pivots, j, np.dtype(np.int32))
        info, leading = Info(cx), at_least_one(cx, n)
        call(
            cx, "lapack", letter(d) + "getrs", "T" if transposed else "N", n, k, lu.pointer, leading, pivots,
            rhs.pointer, leading, info.place,
        )  # fmt: skip
        copy(cx, rhs, x)
    return "lapack"


# ----------------------------------------------------------------------------------------------------- determinants


def _determinant(cx: Any, inputs: list[Buffer], outs: list[Buffer], finish: Callable) -> str:
    """Sign and logarithm, as NumPy does it: of a singular matrix 0 and −∞."""
    (a,) = inputs
    d, n = outs[0].dtype, a.lengths[-1]
    part, b = real_dtype(d), cx.builder

    def op(name: str, dtype: np.dtype, *values: Scalar, result: np.dtype | None = None) -> Scalar:
        return scalars.emit(cx, name, {}, result or dtype, values, [dtype] * len(values), [False] * len(values))

    with each(cx, outs[0].lengths, (a, 2), *[(out, 0) for out in outs]) as (a1, *results):
        lu, pivots = fresh(cx, n, n, d), _pivots(cx, n)
        log, sign = cx.scratch(part.itemsize), cx.scratch(d.itemsize)
        copy(cx, a1, lu)
        info = _getrf(cx, lu, pivots)
        store_element(b, scalars.constant(0, part), log, I64(0), part)
        store_element(b, scalars.constant(1, d), sign, I64(0), d)
        with cx.loop(n) as i:
            x = lu.load(cx, i, i)
            size = op("absolute", d, x, result=part)
            turn = op("sign", d, x) if d.kind == "f" else op("divide", d, x, scalars.convert(cx, size, part, d))
            swapped = b.icmp_unsigned("!=", _pivot(cx, pivots, i), i)
            turn = choose(cx, swapped, op("negative", d, turn), turn)
            store_element(b, op("multiply", d, load_element(b, sign, I64(0), d), turn), sign, I64(0), d)
            total = op("add", part, load_element(b, log, I64(0), part), op("log", part, size))
            store_element(b, total, log, I64(0), part)
        s = choose(cx, info.failed, scalars.constant(0, d), load_element(b, sign, I64(0), d))
        l = choose(cx, info.failed, scalars.constant(-np.inf, part), load_element(b, log, I64(0), part))
        for result, value in zip(results, finish(op, s, l, part), strict=True):
            store_element(b, value, result.pointer, I64(0), result.dtype)
    return "lapack"


@_rule
def slogdet(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    return _determinant(cx, inputs, outs, lambda op, sign, log, part: (sign, log))


@_rule
def det(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    d = outs[0].dtype

    def finish(op: Callable, sign: Scalar, log: Scalar, part: np.dtype) -> tuple[Scalar]:
        return (op("multiply", d, sign, scalars.convert(cx, op("exp", part, log), part, d)),)

    return _determinant(cx, inputs, outs, finish)


# --------------------------------------------------------------------------------------------------- factorisations


@_rule
def cholesky(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    """The lower triangle by rows is the upper one by columns; and a = (uᵀ)(uᵀ)ᴴ if Fortran sees aᵀ = uᴴ u."""
    (a,), (out,) = inputs, outs
    d, n = out.dtype, a.lengths[-1]
    with each(cx, _lead(out, 2), (a, 2), (out, 2)) as (a1, x):
        copy(cx, a1, x)
        info = Info(cx)
        call(cx, "lapack", letter(d) + "potrf", "U", n, x.pointer, at_least_one(cx, n), info.place)
        info.check("Matrix is not positive definite")
        zero = scalars.constant(0, d)
        with cx.loop(n) as i:
            rest = minus(cx.builder, minus(cx.builder, n, I64(1)), i)
            with cx.loop(rest) as j:
                x.store(cx, zero, i, cx.builder.add(cx.builder.add(i, j), I64(1)))
    return "lapack"


@_rule
def qr(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (a,), (q_out, r_out) = inputs, outs
    d, (m, n) = q_out.dtype, a.lengths[-2:]
    rows, columns = known(m), known(n)
    if rows is None or columns is None or rows < columns:
        return NotImplemented
    generate = letter(d) + ("orgqr" if d.kind == "f" else "ungqr")
    leading = at_least_one(cx, m)
    with each(cx, _lead(q_out, 2), (a, 2), (q_out, 2), (r_out, 2)) as (a1, q, r):
        x, tau = fresh(cx, m, n, d, by_columns=True), scratch(cx, n, d)
        copy(cx, a1, x)

        def geqrf(work: ir.Value, length: ir.Value) -> None:
            info = Info(cx)
            call(cx, "lapack", letter(d) + "geqrf", m, n, x.pointer, leading, tau, work, length, info.place)

        def form(work: ir.Value, length: ir.Value) -> None:
            info = Info(cx)
            call(cx, "lapack", generate, m, n, n, x.pointer, leading, tau, work, length, info.place)

        geqrf(*workspace(cx, d, geqrf))
        zero = scalars.constant(0, d)
        fill(cx, r, lambda i, j: choose(cx, cx.builder.icmp_signed("<=", i, j), x.load(cx, i, j), zero))
        form(*workspace(cx, d, form))
        copy(cx, x, q)
    return "lapack"


@_rule
def lu(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (a,), (p_out, l_out, u_out) = inputs, outs
    d, (m, n) = l_out.dtype, a.lengths[-2:]
    long = np.dtype(np.int64)
    b = cx.builder
    zero, one = scalars.constant(0, d), scalars.constant(1, d)
    with each(cx, _lead(l_out, 2), (a, 2), (p_out, 2), (l_out, 2), (u_out, 2)) as (a1, p, l, u):
        x, pivots, order = fresh(cx, m, n, d, by_columns=True), _pivots(cx, m), scratch(cx, m, long)
        copy(cx, a1, x)
        _getrf(cx, x, pivots)
        fill(
            cx,
            l,
            lambda i, j: choose(
                cx, b.icmp_signed(">", i, j), x.load(cx, i, j), choose(cx, b.icmp_signed("==", i, j), one, zero)
            ),
        )
        fill(cx, u, lambda i, j: choose(cx, b.icmp_signed("<=", i, j), x.load(cx, i, j), zero))
        with cx.loop(m) as i:
            store_element(b, i, order, i, long)
        with cx.loop(smaller(cx, m, n)) as i:
            other = _pivot(cx, pivots, i)
            first, second = load_element(b, order, i, long), load_element(b, order, other, long)
            store_element(b, second, order, i, long)
            store_element(b, first, order, other, long)
        fill(cx, p, lambda i, j: scalars.constant(0, p.dtype))
        with cx.loop(m) as i:
            p.store(cx, scalars.constant(1, p.dtype), load_element(b, order, i, long), i)
    return "lapack"


# ---------------------------------------------------------------------------------------------------------- spectra

_SAME_SIGNS = "dD"
"""In single precision the builds of LAPACK that NumPy and SciPy bring choose different signs of vectors."""


def _symmetric(cx: Any, a: Buffer, w_out: Buffer, v_out: Buffer | None, lower: bool) -> str:
    d, n = a.dtype, a.lengths[-1]
    part = real_dtype(d)
    leading, complex_ = at_least_one(cx, n), d.kind == "c"
    name = letter(d) + ("heevd" if complex_ else "syevd")
    stacks = [(a, 2), (w_out, 1)] + ([(v_out, 2)] if v_out is not None else [])
    with each(cx, _lead(w_out, 1), *stacks) as (a1, w, *vectors):
        x, values = fresh(cx, n, n, d, by_columns=True), scratch(cx, n, part)
        copy(cx, a1, x)
        info = Info(cx)
        job, triangle = "V" if vectors else "N", "L" if lower else "U"
        sizes = [cx.scratch(16), cx.scratch(16), cx.scratch(16)]  # of work, rwork, iwork

        def run(works: list[Any], lengths: list[Any]) -> None:
            pairs = [p for pair in zip(works, lengths, strict=True) for p in pair]
            call(cx, "lapack", name, job, triangle, n, x.pointer, leading, values, *pairs, info.place)

        used = sizes if complex_ else [sizes[0], sizes[2]]
        run(used, [-1] * len(used))
        int32 = np.dtype(np.int32)
        kinds = [d, part, int32] if complex_ else [d, int32]
        long = np.dtype(np.int64)
        lengths = [
            scalars.convert(cx, load_element(cx.builder, s, I64(0), t), t, long)
            for s, t in zip(used, kinds, strict=True)
        ]
        run([scratch(cx, n_, t) for n_, t in zip(lengths, kinds, strict=True)], lengths)
        info.check("Eigenvalues did not converge")
        with cx.loop(n) as i:
            store_element(cx.builder, load_element(cx.builder, values, i, part), w.pointer, i, w.dtype)
        for v in vectors:
            copy(cx, x, v)
    return "lapack"


@_rule
def eigh(cx: Any, inputs: list[Buffer], outs: list[Buffer], lower: bool, driver: str | None = None) -> Any:
    if driver is not None or inputs[0].dtype != outs[1].dtype or outs[1].dtype.char not in _SAME_SIGNS:
        return NotImplemented
    return _symmetric(cx, inputs[0], outs[0], outs[1], lower)


@_rule
def eigvalsh(cx: Any, inputs: list[Buffer], outs: list[Buffer], lower: bool) -> Any:
    if inputs[0].dtype.kind not in "fc":
        return NotImplemented
    return _symmetric(cx, inputs[0], outs[0], None, lower)


def _singular(cx: Any, a: Buffer, u_out: Buffer | None, s_out: Buffer, v_out: Buffer | None) -> Any:
    d, (m, n) = a.dtype, a.lengths[-2:]
    rows, columns = known(m), known(n)
    if d.kind not in "fc" or rows is None or columns is None:
        return NotImplemented
    part, k = real_dtype(d), smaller(cx, m, n)
    small, large = min(rows, columns), max(rows, columns)
    stacks = [(a, 2), (s_out, 1)]
    if u_out is not None and v_out is not None:
        stacks += [(u_out, 2), (v_out, 2)]
    with each(cx, _lead(s_out, 1), *stacks) as (a1, values, *vectors):
        x, s = fresh(cx, m, n, d, by_columns=True), scratch(cx, k, part)
        u, vh = fresh(cx, m, k, d, by_columns=True), fresh(cx, k, n, d, by_columns=True)
        integers = scratch(cx, I64(8 * max(small, 1)), np.dtype(np.int32))
        reals = []
        if d.kind == "c":
            length = small * max(5 * small + 7, 2 * large + 2 * small + 1) + 1
            reals = [scratch(cx, I64(length), part)]
        copy(cx, a1, x)
        info = Info(cx)

        def gesdd(work: ir.Value, length: ir.Value) -> None:
            call(
                cx, "lapack", letter(d) + "gesdd", "S" if vectors else "N", m, n, x.pointer, at_least_one(cx, m), s,
                u.pointer, at_least_one(cx, m), vh.pointer, at_least_one(cx, k), work, length, *reals, integers,
                info.place,
            )  # fmt: skip

        gesdd(*workspace(cx, d, gesdd))
        info.check("SVD did not converge")
        with cx.loop(k) as i:
            store_element(cx.builder, load_element(cx.builder, s, i, part), values.pointer, i, part)
        for source, target in zip((u, vh), vectors, strict=False):
            copy(cx, source, target)
    return "lapack"


@_rule
def svd(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    if inputs[0].dtype != outs[0].dtype or outs[0].dtype.char not in _SAME_SIGNS:
        return NotImplemented
    return _singular(cx, inputs[0], outs[0], outs[1], outs[2])


@_rule
def svdvals(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    return _singular(cx, inputs[0], None, outs[0], None)


@_rule
def pinv(cx: Any, inputs: list[Buffer], outs: list[Buffer], rcond: float, hermitian: bool) -> Any:
    """vᵀ (uᵀ / s), as NumPy has it: without the singular values that are not larger than rcond times the largest."""
    (a,), (out,) = inputs, outs
    if hermitian or a.ndim != 2 or a.dtype != out.dtype or a.dtype.kind != "f" or None in map(known, a.lengths):
        return NotImplemented
    d, (m, n) = a.dtype, a.lengths
    k = smaller(cx, m, n)
    u, s, vh = (
        Buffer(scratch(cx, product(cx.builder, lengths), d), lengths, None, d) for lengths in ([m, k], [k], [k, n])
    )
    _singular(cx, a, u, s, vh)
    b = cx.builder
    largest = load_element(b, s.pointer, I64(0), d)  # the first
    cutoff = b.fmul(largest, scalars.constant(rcond, d))
    with cx.loop(k) as i:
        b = cx.builder
        value = load_element(b, s.pointer, i, d)
        inverse = b.select(
            b.fcmp_ordered(">", value, cutoff), b.fdiv(scalars.constant(1, d), value), scalars.constant(0, d)
        )
        with cx.loop(m) as j:
            row = as_matrix(Buffer(u.pointer, [m, k], [k, I64(1)], d))
            row.store(cx, cx.builder.fmul(row.load(cx, j, i), inverse), j, i)
    transposed = [
        Buffer(vh.pointer, [n, k], [I64(1), n], d),
        Buffer(u.pointer, [k, m], [I64(1), k], d),
    ]
    return "lapack" if matmul(cx, transposed, out) is not NotImplemented else NotImplemented


__all__ = ["RULES"]
