"""Products and linear algebra by BLAS and LAPACK, against the ops themselves: ranks, strides, dtypes, failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels import Kernel
from ops.test_table import EXAMPLES

from wengert.backend.llvm.arrays.buffer import I64, Buffer
from wengert.backend.llvm.linalg import library
from wengert.backend.llvm.linalg.blas import SMALL
from wengert.ir.node import Node, Type, Var
from wengert.ops.op import TABLE


def run(name: str, *args: Any, **params: Any) -> Any:
    """The op by native code; `None` if there is none. Arrays are passed with the strides they have."""
    args = tuple(np.asarray(a) for a in args)
    y = TABLE[name].impl(*args, **params)
    wanted = [np.asarray(v) for v in (y if isinstance(y, tuple) else (y,))]
    outs = [np.full(v.shape, 7, v.dtype) for v in wanted]
    node = Node(
        TABLE[name],
        tuple(Var(Type(a.shape, a.dtype)) for a in args),
        params,
        tuple(Var(Type(v.shape, v.dtype)) for v in wanted),
    )
    said = []

    def write(cx, pointers, n):
        inputs = []
        for a, p in zip(args, pointers, strict=False):
            strides = None if a.flags.c_contiguous else [I64(s // a.itemsize) for s in a.strides]
            inputs.append(Buffer(p, [I64(k) for k in a.shape], strides, a.dtype))
        places = [
            Buffer(p, [I64(k) for k in v.shape], None, v.dtype, True)
            for v, p in zip(wanted, pointers[len(args) :], strict=True)
        ]
        said.append(library.emit(cx, node, inputs, places))

    kernel = Kernel(write, len(args) + len(outs), speed=1)
    if said[0] is NotImplemented:
        return None
    before = [a.copy() for a in args]
    kernel([*args, *outs])
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)  # operands are never written
    return outs, wanted


def check(name: str, *args: Any, tolerance: float = 1e-12, **params: Any) -> None:
    found = run(name, *args, **params)
    assert found is not None, f"no code for {name}"
    for y, w in zip(*found, strict=True):
        rounding = tolerance * (1e9 if w.dtype.char in "fF" else 1) ** 0.95
        size = np.abs(w[np.isfinite(w)]).max(initial=1)
        np.testing.assert_allclose(y, w, rtol=rounding, atol=rounding * size)


def random(*shape: int, dtype: Any = "d", seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    if np.dtype(dtype).kind in "iu":
        x = np.rint(5 * x)
    return x.astype(dtype)


# ---------------------------------------------------------------------------------------------------------- products

RANKS = [
    ((3, 4), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4, 5)),
    ((4,), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 3)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((1, 3, 4), (6, 4, 2)),
    ((3, 4), (6, 4, 2)),
    ((1, 1), (1, 1)),
    ((1, 4), (4, 1)),
]


@pytest.mark.parametrize("dtype", ["d", "f", "D", "F", "l", "i"])
@pytest.mark.parametrize(("x", "y"), RANKS)
def test_matmul_of_all_ranks(x, y, dtype):
    check("matmul", random(*x, dtype=dtype), random(*y, dtype=dtype, seed=1))


@pytest.mark.parametrize("dtype", ["d", "f", "D", "F"])
@pytest.mark.parametrize(
    ("x", "y"), [((40, 50), (50, 30)), ((300, 200), (200,)), ((300,), (300, 200)), ((2, 30, 30), (30, 30))]
)
def test_large_products(x, y, dtype):
    assert np.prod(x) * y[-1] >= SMALL
    check("matmul", random(*x, dtype=dtype), random(*y, dtype=dtype, seed=1))


@pytest.mark.parametrize(("n", "vector"), [(5, False), (5, True), (40, False), (250, True)])
def test_strides(n, vector):
    a, b = random(n, n), random(n) if vector else random(n, n, seed=1)
    others = [b, random(2 * n)[::2], random(n)[::-1]] if vector else [b, b.T, random(n, 2 * n)[:, :n], b[:, ::-1]]
    matrices = [a, a.T, random(n, 2 * n)[:, :n], random(2 * n, n)[::2], random(n, 2 * n)[:, ::2], a[::-1],
                np.broadcast_to(random(n), (n, n))]  # fmt: skip
    for k, x in enumerate(matrices):
        for y in (others[k % len(others)], others[(k + 1) % len(others)]):
            check("matmul", x, y)
            check("matmul", y.T, x)


def test_windows_overlap():
    windows = np.lib.stride_tricks.sliding_window_view(random(60), 30)
    check("matmul", windows, random(30, 30))
    check("matmul", random(30, 31), windows)


def test_mixed_dtypes():
    check("matmul", random(4, 5, dtype="l"), random(5, 3))
    check("matmul", random(30, 30, dtype="f"), random(30, 30, dtype="D"))
    check("matmul", random(3, 3) > 0, random(3, 3) > 0)


def test_nothing_to_multiply():
    assert run("matmul", np.ones((3, 0)), np.ones((0, 2))) is None


@pytest.mark.parametrize(
    "subscripts",
    ["ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "bij,bjk->bik", "ij,ij->", "ij->ji", "ij->i", "i,j->ij", "ij,j,k->ki"]
    + ["bij,bj->bi", "ijk,ijl->kl", "abc,acd->abd", "ij,jk,kl->il"],
)
@pytest.mark.parametrize("n", [3, 24])
def test_einsum(subscripts, n):
    operands = [
        random(*[n + (c in "jb") for c in x], seed=k) for k, x in enumerate(subscripts.split("->")[0].split(","))
    ]
    if n > 3 and subscripts in ("ijk,ijl->kl", "ij,jk,kl->il", "bij,bj->bi"):
        return  # too much for plain loops
    check("einsum", *operands, subscripts=subscripts)


# ---------------------------------------------------------------------------------------------------- linear algebra


def square(n: int, dtype: Any = "d", lead: tuple = ()) -> np.ndarray:
    return random(*lead, n, n, dtype=dtype) + np.eye(n, dtype=dtype) * 3


def positive(n: int, dtype: Any = "d", lead: tuple = ()) -> np.ndarray:
    x = random(*lead, n, n, dtype=dtype)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(n, dtype=dtype)


SIZES = [(1, ()), (5, (2, 3)), (40, ())]
ALL = pytest.mark.parametrize("dtype", ["d", "f", "D", "F"])


@ALL
@pytest.mark.parametrize(("n", "lead"), SIZES)
def test_systems(n, lead, dtype):
    a = square(n, dtype, lead)
    for k in (1, 3):
        check("solve", a, random(*lead, n, k, dtype=dtype), tolerance=1e-11)
        triangle = a / n + 2 * np.eye(n, dtype=dtype)
        for lower, unit in ((True, False), (False, True), (True, True), (False, False))[:: 3 - k or 1]:
            check("solve_triangular", triangle, random(*lead, n, k, dtype=dtype), lower=lower, unit=unit)
            transposed = np.swapaxes(triangle, -1, -2)
            check("solve_triangular", transposed, random(*lead, n, k, dtype=dtype), lower=lower, unit=unit)
    check("solve", np.swapaxes(a, -1, -2), random(n, 2, dtype=dtype), tolerance=1e-11)
    check("solve", a[..., ::-1, :], random(2, 1, n, 2, dtype=dtype), tolerance=1e-11)


@ALL
@pytest.mark.parametrize(("n", "lead"), SIZES)
def test_one_matrix(n, lead, dtype):
    a, s = square(n, dtype, lead), positive(n, dtype, lead)
    for x in (a, np.swapaxes(a, -1, -2)) if n == 5 else (a,):
        check("inv", x, tolerance=1e-11)
        check("det", x, tolerance=1e-11)
        check("slogdet", x, tolerance=1e-11)
        check("qr", x)
        check("lu", x)
        check("svdvals", x, tolerance=1e-11)
        if dtype in "dD":
            check("svd", x, tolerance=1e-11)
    check("cholesky", s)
    check("cholesky", np.conj(np.swapaxes(s, -1, -2)))
    for lower in (True, False):
        check("eigvalsh", s, lower=lower, tolerance=1e-11)
        if dtype in "dD":
            check("eigh", s, lower=lower, tolerance=1e-11)


@ALL
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 3), (2, 3, 4)])
def test_oblong(shape, dtype):
    a = random(*shape, dtype=dtype)
    if dtype in "dD":
        check("svd", a, tolerance=1e-11)
    check("svdvals", a, tolerance=1e-11)
    check("lu", a)
    if shape[-2] >= shape[-1]:
        check("qr", a)


@ALL
def test_factors(dtype):
    a, b = square(40, dtype), random(40, 3, dtype=dtype)
    check("factors", a)
    f = TABLE["factors"].impl(a)
    for transposed in (True, False):
        check("solve_factored", a, f, b, transposed=transposed, tolerance=1e-11)


def test_only_one_triangle_is_read():
    s = positive(6)
    check("cholesky", np.tril(s) + np.triu(np.full((6, 6), np.nan), 1))
    check("eigh", np.tril(s) + np.triu(np.full((6, 6), np.nan), 1), lower=True, tolerance=1e-11)
    check("solve_triangular", np.tril(s) + np.triu(np.full((6, 6), np.nan), 1), random(6, 2), lower=True, unit=False)


def native(name: str, *args: Any, **params: Any) -> Any:
    """Without asking the op, which raises."""
    node = Node(
        TABLE[name],
        tuple(Var(Type(a.shape, a.dtype)) for a in args),
        params,
        (Var(Type(args[-1].shape, args[-1].dtype)),),
    )

    def write(cx, pointers, n):
        buffers = [Buffer(p, [I64(k) for k in a.shape], None, a.dtype) for a, p in zip(args, pointers, strict=False)]
        out = Buffer(pointers[-1], [I64(k) for k in args[-1].shape], None, args[-1].dtype, True)
        assert library.emit(cx, node, buffers, [out]) in ("lapack", "native")

    out = np.empty_like(args[-1])
    Kernel(write, len(args) + 1, speed=1)([*args, out])
    return out


def test_failures():
    singular, b = np.ones((3, 3)), np.ones((3, 2))
    for name, args, params in [
        ("solve", (singular, b), {}),
        ("inv", (singular,), {}),
        ("cholesky", (-np.eye(3),), {}),
        ("cholesky", (np.stack([np.eye(2), -np.eye(2)]),), {}),
        ("solve_triangular", (np.diag([1.0, 0.0, 2.0]), b), {"lower": True, "unit": False}),
        ("factors", (np.zeros((3, 3)),), {}),
    ]:
        with pytest.raises(np.linalg.LinAlgError) as ours:
            native(name, *args, **params)
        with pytest.raises(np.linalg.LinAlgError) as theirs:
            TABLE[name].impl(*args, **params)
        assert str(ours.value) == str(theirs.value)


def test_singular_determinants():
    for a in (np.zeros((3, 3)), np.array([[1.0, 2.0], [2.0, 4.0]]), np.stack([np.eye(2), np.zeros((2, 2))])):
        check("det", a)
        check("slogdet", a)


@pytest.mark.parametrize("name", sorted(library.NAMES))
def test_examples(name):
    """Every op that claims to have code has it for most of its examples."""
    done = 0
    for c in EXAMPLES[name]:
        args = [c.before(a) if c.before and np.asarray(a).dtype.kind == "f" else a for a in c.args]
        found = run(name, *args, **c.params)
        if found is not None:
            done += 1
            for y, w in zip(*found, strict=True):
                np.testing.assert_allclose(y, w, rtol=1e-11, atol=1e-12)
    assert done or name == "solve_factored"
