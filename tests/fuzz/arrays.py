"""Arrays: elementwise work, reductions, products, gathers, joins, views, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.expressions import BINARY, ELEMENTWISE, KINKED, KINKED_BINARY, atom, below, condition, integer, scalar
from fuzz.scope import Scope, Unusable

MOST = 64
"""Elements of an array at most."""


def array(s: Scope, depth: int = 2, kinds: str = "f") -> str:
    """An array with at least one axis."""
    for _ in range(12):
        try:
            text = _array(s, depth)
            found = s.value(text)
        except Unusable:
            continue
        if not isinstance(found, np.ndarray) or not found.ndim or not 0 < found.size <= MOST or found.ndim > 4:
            continue
        kind = found.dtype.kind
        if kind == "c" and "c" not in kinds:
            text = s.one_of([f"{atom(text)}.real", f"np.imag({text})", f"np.abs({text})"])
        elif kind not in kinds:
            continue
        if not np.all(np.isfinite(found)):
            continue
        return text if np.max(np.abs(found)) < 20 else f"np.tanh({text})" if kind == "f" else f"0.01 * {atom(text)}"
    return s.one_of(s.arrays(kinds="f") or ["x"])


def vector(s: Scope) -> str:
    """The name of an array with one axis."""
    return s.one_of(s.arrays(1, "f") or ["x"])


def matrix(s: Scope) -> str:
    """The name of an array with two axes."""
    return s.one_of(s.arrays(2, "f") or ["A"])


def fitting(s: Scope, shape: tuple, depth: int = 1, kinds: str = "f") -> str:
    """What can be stored into an array of this shape: an array that broadcasts, or a number."""
    same = s.arrays(shape=shape, kinds=kinds)
    if same and s.chance(0.4):
        v = s.one_of(same)
        return v if s.chance(0.4) else s.one_of(ELEMENTWISE).format(v)
    for _ in range(4):
        text = array(s, depth, kinds)
        try:
            if np.broadcast_shapes(np.shape(s.value(text)), shape) == shape:
                return text
        except (ValueError, Unusable):
            pass
    if s.chance(0.2):
        return f"{atom(scalar(s, depth))} * np.ones({shape})"
    return scalar(s, depth) if s.chance(0.75) else s.one_of(["0.0", "1", "2", "True", "0.5", "-1"])


def view(s: Scope, name: str) -> str:
    """A view of an array (or, where NumPy must, a copy)."""
    value = s.names[name]
    choices = ["{}[:]", "{}[...]", "{}[::-1]", "{}.ravel()", "{}.reshape(-1)", "{}.T", "{}[None]", "{}[..., None]",
               "{}.copy()", "np.flip({})", "{}.flatten()", "np.ravel({})", "{}.squeeze()", "np.atleast_2d({})",
               "np.expand_dims({}, 0)", "{}.view()", "np.asarray({})", "np.array_split({}, 2)[0]",
               "{}.astype({}.dtype)", "{}.reshape(-1, 1)"]  # fmt: skip
    if value.ndim == 1:
        choices += ["{}[1:]", "{}[:-1]", "{}[::2]", "{}[-2:]", "{}[:, None]", "{}[::-2]", "{}[1::2]", "{}[" +
                    f"{below(s, len(value))} :]"]  # fmt: skip
        if len(value) % 2 == 0:
            choices += ["{}.reshape(2, -1)", "{}.reshape(-1, 2).T"]
    else:
        choices += [f"{{}}[{below(s, len(value))}]", "{}[:, 0]", "{}[:, ::-1]", "{}[1:, :-1]", "np.diagonal({})",
                    "np.swapaxes({}, 0, 1)", "{}.T.ravel()", "{}.T.reshape(-1)", "{}[::-1, 1:]",
                    "np.moveaxis({}, 0, -1)", "next(iter({}))",
                    "{}[..., -1]", "{}[" + f":, {below(s, value.shape[1])}]", "{}.transpose()",
                    "np.rot90({})"]  # fmt: skip
    if value.dtype.kind == "c":
        choices += ["{}.real", "{}.imag", "{}.real", "{}.imag"]
    return s.one_of(choices).replace("{}", name)


def _pair(s: Scope, u: str) -> str:
    """Another array that broadcasts with this one, or a number."""
    shape = np.shape(s.value(u))
    others = [v for v in s.arrays(kinds="fib") if _broadcasts(np.shape(s.names[v]), shape)]
    return s.one_of(others) if others and s.chance(0.7) else atom(scalar(s, 1))


def _broadcasts(a: tuple, b: tuple) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(a, b))) <= MOST
    except ValueError:
        return False


def _array(s: Scope, depth: int) -> str:
    names = s.arrays(kinds="fc") or ["x"]
    name = s.one_of(names)
    if not depth or s.chance(0.1):
        return name if s.chance(0.7) else view(s, name)
    u = atom(array(s, depth - 1, "fc") if s.chance(0.6) else name)
    value = s.value(u)
    v = _pair(s, u)
    table: list[tuple[str, float, Any]] = [
        ("elementwise", 3, lambda: s.one_of(ELEMENTWISE).format(u)),
        ("elementwise", 3, lambda: s.one_of(BINARY).format(u, v)),
        ("ties", 1, lambda: s.one_of(KINKED).format(u, u)),
        ("ties", 1, lambda: s.one_of(KINKED_BINARY).format(u, v)),
        ("views", 2, lambda: view(s, name)),
        ("reductions", 2, lambda: _reduced(s, u, value)),
        ("products", 2, lambda: _product(s, u, value)),
        ("gathers", 2, lambda: _gathered(s, u, value)),
        ("joins", 2, lambda: _joined(s, u, value)),
        ("dtypes", 1, lambda: _converted(s, u)),
        ("powers", 1.5, lambda: _to_a_power(s, u, value)),
        ("complex", 1, lambda: _complex(s, u)),
        ("constructors", 1, lambda: _constructed(s)),
        ("linalg", 1, lambda: _linear_algebra(s)),
        ("helpers", 1, lambda: s.one_of(["h_smooth({})", "h_apply(np.tanh, {})", "h_rows({})", "h_twice({})",
                                         "h_normal({}, axis=-1)", "h_normal({})"]).format(u)),
        ("rules", 1, lambda: s.one_of(["soft({})", "cube({})", "swish({}, 0.5)", "scaled({}, a)"]).format(u)),
        ("branches", 0.7, lambda: f"({u} if {condition(s, 0)} else {s.one_of(ELEMENTWISE).format(u)})"),
        ("closures", 0.7, lambda: s.one_of([
            f"np.array([q * {atom(scalar(s, 0))} for q in {u}])", f"(lambda u: u * u)({u})",
            f"np.stack([np.sin(q) for q in {u}])", f"np.array(list(map(np.sin, {u})))"])),
    ]  # fmt: skip
    return s.draw(table)()


def _to_a_power(s: Scope, u: str, value: Any) -> str:
    """Exponents that are computed: whole numbers for any base, others for positive ones."""
    n, v = atom(integer(s)), atom(scalar(s, 0))
    return s.one_of([
        f"{u} ** ({n} % 4)", f"np.power({u}, {n} % 3)", f"{u} ** (np.abs({u}) > {v})",
        f"{u} ** np.sum(np.abs({u}) > {v})",
        f"{u} ** (np.arange({value.shape[-1]}) % 3)", f"np.power({u}, np.arange({value.shape[-1]}, dtype=float) % 3)",
        f"(1.5 + np.abs(np.sin({u}))) ** {v}", f"(1.5 + np.abs({u})) ** -({n} % 3)", f"np.float_power({u}, {n} % 3)",
        f"(0.5 + np.abs({v})) ** {u}", f"0.5 * {u} ** (K[0] % 3)",
        f"np.square({u}) ** np.where(np.abs({u}) > {v}, 1.5, 2)",
    ])  # fmt: skip


def _reduced(s: Scope, u: str, value: Any) -> str:
    axis = s.rng.randrange(-value.ndim, value.ndim)
    keep = s.one_of(["", ", keepdims=True"])
    reduction = s.one_of(["np.sum", "np.mean", "np.max", "np.min", "np.var", "np.std", "np.prod"])
    last = s.one_of(["{}.sum({a}{k})", "np.cumsum({}, axis={a})", "np.diff({}, axis={a})", "np.sort({}, axis={a})",
                     "np.cumprod(0.7 + 0.1 * {}, axis={a})", "np.linalg.norm({}, axis={a}{k})", "{}.mean({a}{k})",
                     "np.cumsum({})", "np.maximum.accumulate({}, axis={a})", "np.add.reduce({}, axis={a}{k})",
                     "np.gradient({}, axis={a})", "np.median({}, axis={a}{k})",
                     reduction + "({}, axis={a}{k})", reduction + "({}, axis={a}{k})"])  # fmt: skip
    return last.format(u, a=axis, k=keep)


def _product(s: Scope, u: str, value: Any) -> str:
    others = s.arrays(kinds="f") or ["x"]
    w = s.one_of(others)
    choices = [f"np.outer({u}, {w})", f"0.3 * {u} * {w}", f"np.multiply.outer({u}, {w})", f"np.kron({u}, {w})"]
    if value.ndim == 1:
        choices += [f"np.einsum('i,j->ij', {u}, {w})", f"np.einsum('i,i->i', {u}, {u})", f"np.convolve({u}, {w})",
                    f"{u}[:, None] * {u}[None, :]", f"A[:, : {len(value)}] @ {u}", f"np.dot(A, {u})",
                    f"{u} @ {u}[:, None]",
                    f"A.T @ {u}", f"{u} @ A", f"np.einsum('ij,j->i', A, {u})",
                    f"np.interp({u}, C, C ** 2)"]  # fmt: skip
    elif value.ndim == 2:
        choices += [f"{u} @ {u}.T", f"{u}.T @ {u}", f"np.dot({u}, {w})", f"np.einsum('ij,kj->ik', {u}, {u})",
                    f"np.einsum('ij->j', {u})", f"np.einsum('ij->ji', {u})", f"np.tensordot({u}, {u}, axes=(0, 0))",
                    f"np.matmul({u}, {u}.T)", f"np.trace({u} @ {u}.T) * {u}", f"np.inner({u}, {u})",
                    f"np.einsum('ij,ij->i', {u}, {u})", f"np.einsum('ij,ik->jk', {u}, {w})",
                    f"np.cov({u} + C[: {value.shape[1]}])"]  # fmt: skip
    return s.one_of(choices)


def _gathered(s: Scope, u: str, value: Any) -> str:
    n = len(value)
    places = [s.rng.randrange(-n, n) for _ in range(s.rng.randint(1, 4))]
    axis = s.rng.randrange(value.ndim)
    length = value.shape[axis]
    choices = [
        f"{u}[{places}]", f"{u}[np.array({places})]", f"np.take({u}, {places}, axis=0)", f"{u}[K[:2] % {n}]",
        f"np.take({u}, K[:3] % {length}, axis={axis})", f"np.roll({u}, {s.rng.randint(-2, 2)}, axis={axis})",
        f"np.repeat({u}, 2, axis={axis})", f"np.repeat({u}, {s.rng.randint(1, 3)})", f"np.tile({u}, 2)",
        f"np.take({u}, [0, 9], mode='clip')", f"np.take({u}, [-1, 7], mode='wrap')", f"np.roll({u}, 1)",
        f"{u}[{atom(integer(s))} % {n} :]", f"{u}[: 1 + {atom(integer(s))} % {n}]", f"{u}[np.arange({n})[::-1]]",
        f"{u}[{below(s, n)}][None]", f"np.delete({u}, 0, axis={axis})", f"np.flip({u}, {axis})",
    ]  # fmt: skip
    if s.weights.get("masks"):
        mask = [bool(s.rng.getrandbits(1)) for _ in range(n - 1)] + [True]
        choices += [f"{u}[np.array({mask})]", f"np.compress({mask}, {u}, axis=0)", f"{u}[np.arange({n}) < 2]",
                    f"np.where({u} > 0.1, {u}, 0.0)",
                    f"np.where(np.arange({value.shape[-1]}) % 2 == 0, {u}, 0.5)"]  # fmt: skip
    if value.ndim == 2:
        choices += [f"{u}[[0, -1], [1, 0]]", f"{u}[:, [0, 0, -1]]", f"{u}[np.ix_([0, 1], [1, 0])]", f"np.triu({u})",
                    f"np.tril({u}, -1)", f"np.diag({u})", f"{u}[np.arange(2), 1]", f"{u}[np.array([[0], [1]]), [0, 1]]",
                    f"np.take_along_axis({u}, np.argsort({u}, axis=1), axis=1)"]  # fmt: skip
    else:
        choices += [f"np.diag({u})", f"np.argsort({u}) * 0.1 * {u}", f"{u}[np.argsort({u})]"]
    return s.one_of(choices)


def _joined(s: Scope, u: str, value: Any) -> str:
    same = [v for v in s.arrays(kinds="fc") if np.shape(s.names[v]) == value.shape]
    v = s.one_of([*same, u, u])
    w = s.one_of([u, v, f"2.0 * {u}", f"np.sin({v})"])
    axis = s.rng.randrange(-value.ndim, value.ndim)
    a, b = scalar(s, 1), scalar(s, 0)
    return s.one_of([
        f"np.stack([{u}, {v}, {w}])", f"np.stack(({u}, {u}), axis={axis})", f"np.concatenate([{u}, {v}], axis={axis})",
        f"np.concatenate([{w}, {u}, {w}])", f"np.hstack([{u}, {v}])", f"np.vstack([{u}, {u}])", f"np.array([{u}, {v}])",
        f"np.array([{a}, {b}, {a}])", f"np.array([{b}, {b}])", f"np.array([[{a}, 1.0], [2, {b}]])",
        f"np.block([{u}, {w}])", f"np.block([[{u}], [{u}]])", f"np.append({u}, {b})", f"np.r_[{u}, {b}, {u}]",
        f"np.pad({u}, 1)", f"np.pad({u}, 1, mode='edge')", f"np.column_stack([{u}, {u}])", f"np.insert({u}, 1, {b})",
        f"np.stack([{a} * np.ones(2), C[:2]])", f"np.concatenate([{u}[:1], {u}, {u}[-1:]])", f"np.dstack([{u}, {v}])",
    ])  # fmt: skip


def _converted(s: Scope, u: str) -> str:
    return s.one_of([
        f"{u}.astype(np.float32)", f"{u}.astype(np.float32) * 2", f"{u} * np.float32(0.5)", f"{u} * K[0]",
        f"{u}.astype(np.float64)", f"({u} > 0.1) * {u}", f"{u} * 1j", f"{u} + np.array([1])", f"{u} * np.int32(2)",
        f"{u} + (K[1] > 1)", f"np.asarray({u}, dtype=np.float32)", f"{u}.astype(complex)", f"{u} * True",
        f"{u} ** 2 + np.arange({s.one_of([1, 2])})[-1]", f"{u} * np.array(2)", f"np.float32(1.5) * {u}",
    ])  # fmt: skip


def _complex(s: Scope, u: str) -> str:
    return s.one_of([
        f"np.exp(1j * {u})", f"({u} + 0.5j) ** 2", f"{u} * (1 + 2j)", f"np.conj({u} * 1j)", f"np.abs({u} + 1j)",
        f"np.real(np.exp(1j * {u}))", f"np.imag({u} * (2 + 1j))", f"np.angle({u} + 3j)", f"np.sqrt({u} + 2j)",
        f"({u} + 0j).real", f"np.fft.fft({u}).real", f"np.abs(np.fft.rfft({u})) ** 2", f"np.sin({u} + 0.3j)",
    ])  # fmt: skip


def _constructed(s: Scope) -> str:
    n = s.rng.randint(2, 5)
    shape = s.one_of([str(n), f"({n},)", f"(2, {n})", "A.shape", "x.shape", "len(x)"])
    like = s.one_of(s.arrays(kinds="f") or ["x"])
    return s.one_of([
        f"np.zeros({shape})", f"np.ones({shape})", f"np.full({shape}, {scalar(s, 1)})", f"np.zeros_like({like})",
        f"np.arange({n}) * 0.5", f"np.arange(1.0, {n} + 0.5, 0.5)", f"np.linspace(0, {scalar(s, 0)}, {n})",
        f"np.eye({n})",
        f"np.ones_like({like}) * {atom(scalar(s, 0))}", f"np.full_like({like}, {scalar(s, 1)})",
        f"np.identity({n}) * 2.0",
        f"np.arange({n}.0)", f"np.array([1, 2.0, {scalar(s, 0)}])", "np.array(LIST)", f"np.zeros({shape}, np.float32)",
        f"np.fromfunction(lambda i, j: i + 0.5 * j, (2, {n}))", f"np.meshgrid(x, np.arange({n}.0))[0]",
        f"np.logspace(-1, 0, {n})", f"np.zeros({shape}, complex)",
    ])  # fmt: skip


def _linear_algebra(s: Scope) -> str:
    squares = [v for v in s.arrays(2, "f") if s.names[v].shape[0] == s.names[v].shape[1]]
    m = s.one_of([f"({v} + 4.0 * np.eye({len(s.names[v])}))" for v in squares] + ["(A @ A.T + 3.0 * np.eye(len(A)))"])
    rhs = f"C[: len({m})]"
    return s.one_of([
        f"np.linalg.solve({m}, {rhs})", f"np.linalg.inv({m})", f"np.linalg.det(0.3 * {m}) * x",
        f"np.linalg.slogdet({m})[1] * x",
        "np.linalg.cholesky(A @ A.T + 3.0 * np.eye(len(A)))",
        "np.linalg.eigvalsh(A @ A.T + np.diag(np.arange(len(A)) * 2.0))",
        f"np.linalg.matrix_power(0.2 * {m}, 3)", f"np.linalg.pinv({m})", f"np.linalg.norm({m}) * x",
    ])  # fmt: skip
