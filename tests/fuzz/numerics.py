"""What NumPy is asked for besides: mixed dtypes, several axes at once, orders in memory, broadcasting in place, sums of
products by letters, cumulative functions, places found by sorting."""

from __future__ import annotations

from fuzz.expressions import atom, condition, integer, scalar
from fuzz.scope import Scope


def _vector(s: Scope) -> str:
    return s.one_of(s.arrays(1, "f") or ["x"])


def _matrix(s: Scope) -> str:
    return s.one_of(s.arrays(2, "f") or ["A"])


def with_mixed_dtypes(s: Scope) -> list[str]:
    """Arrays and numbers of several dtypes that meet, and what a store makes of them."""
    k, q, w, m = s.fresh("u"), s.fresh("u"), _vector(s), _matrix(s)
    u, i = atom(scalar(s, 1)), atom(integer(s))
    single, double = f"{w}.astype(np.float32)", f"{w}.astype(np.complex64)"
    return s.one_of([
        [f"{k} = np.where({w} > 0.1, {single}, {w})"], [f"{k} = np.where({w} > 0.1, {w} * 1j, {single})"],
        [f"{k} = np.where(np.arange(len({w})) % 2 == 0, np.arange(len({w})), {w})"],
        [f"{k} = np.where({w} > {u}, 1, np.float32(0.5))"], [f"{k} = np.where({w} > 0.1, {w}, {i})"],
        [f"{k} = {single}", f"{k} += {w}"], [f"{k} = {single}", f"{k}[0] = {u}", f"{k} = {k} * {u}"],
        [f"{k} = {single}", f"{k} *= np.float32(0.5)", f"{k}[1:] -= {k}[:-1]"],
        [f"{k} = {double} * np.float32(0.5)", f"{k} = {k}.real + {k}.imag"], [f"{k} = {double} + {w}"],
        [f"{k} = np.zeros(len({w}), complex)", f"{k}.real = {w}", f"{k}.imag[1:] = {u}",
         f"s = s + np.sum(np.abs({k} + 1j))"],
        [f"{k} = np.zeros(len({w}), complex)", f"{k}[:] = {w}", f"{k}[0] *= 1j", f"{k} = np.abs({k} + 2j)"],
        [f"{k} = np.zeros(len({w}), np.complex64)", f"{k} += {w}", f"{k} *= 1 + 0.5j"],
        [f"{k} = np.empty(len({w}), np.float32)", f"for i in range(len({w})):", f"    {k}[i] = {w}[i] * i"],
        [f"{k} = np.zeros(len({w}), dtype={w}.dtype)", f"{k} += np.float32(0.5)"],
        [f"{k} = np.array([{u}, 1, True])"], [f"{k} = np.array([1, 2, 3], dtype=np.float32) * {u}"],
        [f"{k} = np.int32(3) * {w}"], [f"{k} = np.uint8(3) * {single}"], [f"{k} = np.float32({u}) * np.arange(3)"],
        [f"{k} = (K * np.float32(0.5))[:2] * {u}"], [f"{k} = np.full(3, {u}, dtype=np.float32)"],
        [f"{k} = np.concatenate([{single}, {w}])"], [f"{k} = np.stack([{w} * 1j, {w}]).sum(0)"],
        [f"{k} = np.array([{single}[0], {u}])"], [f"{k} = {m}.astype(np.float32) @ {m}.T"],
        [f"{k} = np.sum({single}, dtype=np.float64)", f"s = s + {k}"], [f"{k} = np.mean({single}) * {w}"],
        [f"{k} = np.cumsum({w} > 0.1) * {w}"], [f"{k} = np.add({w}, 1, dtype=np.float32)"],
        [f"{k} = np.sum(np.exp(1j * {w}) * np.conj(np.exp(0.5j * {w})))", f"s = s + {k}.real - {k}.imag"],
        [f"{q} = np.exp(1j * {w})", f"{q}[1:] *= {q}[:-1]", f"{k} = np.angle({q} + 3)",
         f"s = s + ({q} @ {q}.conj()).real"],
        [f"{q} = np.linalg.solve(np.eye(2) * (2 + 1j) + {u}, np.array([1, 1j]))", f"s = s + {q}[0].real + {q}[1].imag"],
        [f"{k} = {single} * 2.0 + 1", f"{k}[0] = {u}", f"{k} = {k} / 3 + {single}.sum() * 2"],
        [f"{k} = {w} ** 2.0 + np.abs({w}) ** 3.0 + {w} ** 3.0 + (1.5 + {w} * {w}) ** -2.0 + {w} ** 0.0 + {w} ** 1.0"],
        [f"{k} = np.power({w}, 2.0) * np.float_power(1.5 + {w} ** 2, -1.0)",
         f"s = np.tanh(s + {u} ** 2.0 + {u} ** 3.0)"],
        [f"{q} = {w} + 1j * {u}", f"{q} *= 2", f"{q}[1:] = {q}[:-1].conj() * 0.5", f"{q}.real[0] = {u}",
         f"{q}.imag[-1] *= 3.0", f"{k} = np.abs({q} + 3) + ({q} * {q}).imag"],
        [f"{q} = np.fft.fft({w})", f"{q}[1:] *= np.exp(1j * {u})", f"{k} = ({q} * {q}.conj()).real * 0.1"],
        [f"{k} = {w}.real * 2 + {w}.imag"], [f"{k} = np.sqrt({w} + 0.2j)", f"s = s + np.sum(np.abs({k}) ** 2)"],
    ])  # fmt: skip


def with_axes(s: Scope) -> list[str]:
    """Reductions and products over several axes, by letters, by tuples, with all their options."""
    k, m, w = s.fresh("u"), _matrix(s), _vector(s)
    u = atom(scalar(s, 1))
    three = f"({m}[:, :, None] * {w})"
    rows, columns = s.names[m].shape if m in s.names else (2, 2)
    if rows * columns * len(s.names.get(w, [0] * 99)) > 200:
        three = f"({m}[:, :, None] * C[:2])"
    reduced = s.one_of(["np.sum", "np.mean", "np.max", "np.min", "np.prod", "np.var", "np.std"])
    return s.one_of([
        [f"{k} = {reduced}(0.5 * {three}, axis=(0, 2))"],
        [f"{k} = {reduced}(0.5 * {three}, axis=(0, -1), keepdims=True)"],
        [f"{k} = {three}.sum(axis=(1, 2))"], [f"{k} = {three}.mean(axis=1)[0]"],
        [f"{k} = np.sum({m}, axis=0, initial=2.0)"], [f"{k} = np.max({m}, axis=1, initial={u}, where={m} > 0.2)"],
        [f"{k} = np.prod({m}, axis=0, where={m} > 0.2)"],
        [f"{k} = np.mean({m}, axis=1, where=np.arange({columns}) < 1)"],
        [f"{k} = np.std({m}, axis=0, ddof=1)"], [f"{k} = np.linalg.norm({m}, axis=(0, 1))", f"s = s + {k}"],
        [f"{k} = np.linalg.norm({m}, ord={s.one_of(['1', 'np.inf', chr(39) + 'fro' + chr(39)])})", f"s = s + {k}"],
        [f"{k} = np.linalg.norm({w}, {s.one_of(['1', 'np.inf', '3', '-np.inf'])})", f"s = s + {k}"],
        [f"{k} = np.einsum('ij,jk', {m}, {m}.T)"], [f"{k} = np.einsum('...j,j->...', {three}, C[: {three}.shape[-1]])"],
        [f"{k} = np.einsum('ii', {m} @ {m}.T)", f"s = s + {k}"], [f"{k} = np.einsum('ii->i', {m} @ {m}.T)"],
        [f"{k} = np.einsum('ij,ik,il->jkl', {m}[:, :2], {m}[:, :2], {m}[:, :1])"],
        [f"{k} = np.einsum(({m}), [0, 1], [1, 0])"], [f"{k} = np.einsum('i,i', {w}, {w})", f"s = s + np.tanh({k})"],
        [f"{k} = {m} @ {m}.T @ {m}"], [f"{k} = np.linalg.multi_dot([{m}, {m}.T, {m}])"],
        [f"{k} = ({three} @ np.ones(({three}.shape[-1], 2))).sum(0)"],
        [f"{k} = np.matmul({three}, {three}.swapaxes(1, 2))[0]"],
        [f"{k} = np.tensordot({three}, {m}, axes=([0, 1], [0, 1]))"], [f"{k} = np.tensordot({m}, {w}, 0)[0]"],
        [f"{k} = np.transpose({three}, (2, 0, 1))[0]"], [f"{k} = np.moveaxis({three}, (0, 1), (1, 2))[0]"],
        [f"{k} = np.cumsum({m}, axis=1)[:, ::-1]"], [f"{k} = np.cumprod(1 + 0.1 * {m}, axis=0)"],
        [f"{k} = np.minimum.accumulate({w})"], [f"{k} = np.add.accumulate({w})[::-1]"],
        [f"{k} = np.multiply.reduce(0.5 + 0.1 * {m}, axis=1)"], [f"{k} = np.add.reduceat({w}, [0, 1])"],
        [f"{k} = np.subtract.outer({w}, {w})"], [f"{k} = np.diff({w}, n=2)", f"s = s + np.sum({k})"],
        [f"{k} = np.average({m}, axis=0, weights=np.arange({rows}) + 1.0)"],
        [f"{k} = np.average({w}, weights=0.1 + {w} ** 2)", f"s = s + {k}"],
        [f"{k} = np.quantile({m}, [0.2, 0.7], axis=0)"], [f"{k} = np.median({m}, axis=1, keepdims=True)"],
        [f"{k} = np.nanmax({m}, axis=0)"], [f"{k} = np.ptp({m}, axis=1)"],
        [f"{k} = np.sum({m}, axis=())"], [f"{k} = np.max(np.abs({m}).sum(axis=1))", f"s = s + {k}"],
        [f"{k} = np.count_nonzero({m} > 0.1, axis=1) * {u}"], [f"{k} = np.all({m} > -0.5, axis=0) * {u}"],
        [f"{k} = np.argmax({m}, axis=0) * {u}"], [f"{k} = np.corrcoef({m} + np.arange({columns}))"],
        [f"{k} = np.linalg.eigvalsh({m} @ {m}.T + np.diag(np.arange({rows}) * 3.0))"],
        [f"{k} = np.trace({m} @ {m}.T) + np.linalg.det({m} @ {m}.T + np.eye({rows}))", f"s = np.tanh(s + {k})"],
        [f"{k} = np.vdot({m}, {m}) + np.inner({w}, {w})", f"s = np.tanh(s + {k})"],
        [f"{k} = np.einsum('ij,kj->ik', {m}[::-1], {m}[:, ::-1][:, ::-1])", f"{k}.T[0] = {u}"],
        [f"{k} = np.tensordot({m}.T[::-1], {m}[:, 1:], axes=([1], [0]))"],
        [f"{k} = np.einsum('ijk,ik->ij', {three}[::-1], {three}[:, 0, ::-1])"],
        [f"{k} = {three}[:, ::-1] @ {three}.swapaxes(-1, -2)[:, ::-1]", f"{k} = {k}[0] + {k}[-1].T"],
        [f"{k} = np.cumprod(1 + 0.1 * {w})", f"{k}[::2] *= np.cumsum({m}, axis=1)[0, -1]",
         f"{k} = np.cumprod({k}[::-1])[::-1]"],
        [f"np.cumsum({w}, out={w})", f"{w} *= 0.5"], [f"np.cumsum({m}[::-1], axis=0, out={m})", f"{m} *= 0.5"],
        [f"{k} = np.apply_over_axes(np.sum, {m}, [0])[0]"],
        [f"{k} = np.outer({w}, {w})[np.triu_indices({len(s.names.get(w, [0]))}, 1)]"],
    ])  # fmt: skip


def with_places(s: Scope) -> list[str]:
    """Places that were found: by sorting, by comparison, by arithmetic; also many at once, and masks in two axes."""
    k, i, m, w = s.fresh("u"), s.fresh("k"), _matrix(s), _vector(s)
    u, j = atom(scalar(s, 1)), atom(integer(s))
    n = len(s.names.get(w, [0, 0]))
    return s.one_of([
        [f"{i} = np.argsort({w})[::-1]", f"{k} = {w}[{i}]", f"{k}[{i}] = {w}"],
        [f"{i} = np.argsort({w})", f"{k} = np.empty_like({w})", f"{k}[{i}] = np.cumsum({w}[{i}])"],
        [f"{i} = np.argsort({m}, axis=1)", f"{k} = np.take_along_axis({m}, {i}, axis=1)[:, ::-1]"],
        [f"{i} = np.argsort({m}[:, 0])", f"{k} = {m}[{i}]"], [f"{k} = {m}[np.lexsort(({m}[:, 1], {m}[:, 0]))]"],
        [f"{i} = np.argpartition({w}, 1)[:2]", f"s = s + np.sum({w}[{i}])"],
        [f"{i} = (np.arange({n}) * 2 + {j}) % {n}", f"{k} = {w}[{i}] * np.arange({n})"],
        [f"{i} = np.arange({n})", f"{i}[1:] += {i}[:-1]", f"{k} = {w}[{i} % {n}]"],
        [f"{i} = np.where({w} > {u}, 0, {n - 1})", f"{k} = {w}[{i}]"],
        [f"{i} = np.flatnonzero({w} > -9)", f"{k} = {w}[{i}]"],
        [f"{i} = np.arange({n})[{w} > 0.1]", f"{w}[{i}] *= 0.5"], [f"{m}[{m} > {u}] = 0.5"],
        [f"{m}[{m}[:, 0] > 0.1, 1] = {u}"], [f"{m}[:, {m}[0] > 0.1] *= 0.5"], [f"{m}[{m} < 0] *= -0.5"],
        [f"{m}[np.arange(len({m})), 0] += {u}"], [f"{m}[[0, 1], [1, 0]] = {u}"],
        [f"np.add.at({m}, ([0, 0, 1], [1, 1, 0]), {u})"],
        [f"{m}[np.ix_([0, 1], [1, 0])] *= 0.5"], [f"{m}[np.triu_indices(2)] = {u}"],
        [f"{m}[np.diag_indices(2)] += {u}"],
        [f"{m}[..., [0, -1]] = {u}"], [f"{m}[[0], :] = {u}"], [f"{m}[[[0], [1]], [0, 1]] -= {u}"],
        [f"{m}[:2, :2][[0, 1], [0, 1]] = {u}"], [f"{m}.T[0][1:] = {u}"], [f"{m}.flat[::2] = {u}"],
        [f"{m}.ravel()[{j} % {m}.size] = {u}"], [f"{w}[{j} % {n} : {j} % {n} + 2] += {u}"],
        [f"{w}[max(0, {j} % {n} - 1) : min({n}, {j} % {n} + 2)] *= 0.5"],
        [f"{k} = {w}[{j} % {n} :: -1]", f"s = s + np.sum({k})"],
        [f"{k} = {w}[: {j} % {n} + 1][::-1]", f"s = s + {k}[0] - {k}[-1]"], [f"{w}[{j} % {n} ::2] -= {u}"],
        [f"{w}[-({j} % {n}) - 1] = {u}"], [f"{i} = slice({j} % {n}, None)", f"{w}[{i}] += {u}"],
        [f"{i} = np.unravel_index(np.argmax({m}), {m}.shape)", f"s = s + {m}[{i}]", f"{m}[{i}] = {u}"],
        [f"{i} = np.ravel_multi_index((1, 0), {m}.shape)", f"s = s + {m}.ravel()[{i}]"],
        [f"{i} = np.searchsorted(np.sort({w}), {u})", f"s = s + {w}[{i} % {n}]"],
        [f"{k} = np.take({w}, np.argsort({w})[:2])"], [f"{k} = np.choose(np.argsort({w}) % 2, [{w}, {u}])"],
        [f"for i in range({n}):",
         f"    {w}[i] = 0.5 * {w}[(i - 1) % {n}] + 0.3 * {w}[(i + 1) % {n}] - 0.1 * {w}[i // 2]"],
        [f"for i in range({n}):", f"    {w}[(i * 3 + {j}) % {n}] -= 0.2 * {w}[-1 - i // 2]"],
        ["for p in range(2):", f"    chosen = {w} > {u}", f"    {w}[chosen] *= 0.5", "    for row in " + m + ":",
         f"        row[row < {u}] += 0.1 * (p + 1)", f"    {w}[~chosen] -= 0.1"],
        [f"{k} = np.zeros((3, {n}))", f"np.add.at({k}, ({i} := np.arange({n}) % 3, np.arange({n})[::-1]), {w})"],
        [f"{k} = np.zeros({n})", f"np.add.at({k}, np.argsort({w}), {w})", f"np.maximum.at({k}, [0, 1, 0], {u})"],
        [f"{k} = np.zeros(3)", f"np.add.at({k}, np.searchsorted([-0.4, 0.3], {w}), {w} * {u})"],
        [f"{i} = np.argsort({w})", f"{k} = {w}[{i}]", f"{k}[1:] -= {k}[:-1]", f"{w}[{i}] = {k}"],
        [f"{i} = np.argmax({m}, axis=1)", f"{k} = np.take_along_axis({m}, {i}[:, None], axis=1)[:, 0]",
         f"{m}[np.arange(len({m})), {i}] = {u}"],
        [f"{i} = np.abs({w}[:, None] - {w}[None]).argmax(axis=0)", f"{k} = {w}[{i}] * {w}"],
        [f"for i in np.argsort({w}):", f"    s = np.tanh(s + {w}[i])"],
        [f"for i in np.flatnonzero({w} > {u}):", f"    s = s + {w}[i]"],
        [f"for i, j in zip(*np.nonzero({m} > 0.2)):", f"    s = s + 0.1 * {m}[i, j] * i"],
        [f"for i in np.where({w} > 0.1)[0][::-1]:", f"    {w}[i] *= 0.5"],
    ])  # fmt: skip


def with_layouts(s: Scope) -> list[str]:
    """Orders in memory, views made by reshape and ravel, arrays that broadcast into others in place."""
    k, m, w, q = s.fresh("u"), _matrix(s), _vector(s), s.fresh("u")
    u = atom(scalar(s, 1))
    rows, columns = s.names[m].shape if m in s.names else (2, 2)
    return s.one_of([
        [f"{k} = np.asfortranarray({m})", f"{k}[0] = {u}", f"s = s + {k}.ravel()[1]"],
        [f"{k} = {m}.copy(order='F')", f"{k}.T[0] *= 0.5"],
        [f"{k} = np.zeros(({rows}, {columns}), order='F')", f"{k} += {m}"],
        [f"{k} = {m}.ravel(order='F')"], [f"{k} = {m}.reshape(-1, order='F')[::-1]"],
        [f"{k} = {m}.T.copy()", f"{k}.ravel()[0] = {u}"],
        [f"{k} = {m} * 1.0", f"{q} = {k}.reshape(-1)", f"{q}[1] = {u}"],
        [f"{k} = {m}.T * 1.0", f"{q} = {k}.reshape(-1)", f"{q}[1] = {u}"],
        [f"{k} = {m} + {m}", f"{k}.ravel()[:2] = {u}"], [f"{k} = {m} @ {m}.T", f"{k}.ravel()[::{rows} + 1] += {u}"],
        [f"{k} = {m}.reshape({columns}, {rows})", f"{k}[0, 0] = {u}"],
        [f"{k} = {m}.copy()", f"{k}.shape = (-1,)", f"{k}[0] = {u}"],
        [f"{k} = np.ascontiguousarray({m}.T)", f"{k}.reshape(-1)[0] += {u}"],
        [f"{k} = {m}[1:].reshape(-1)", f"{k}[0] = {u}"],
        [f"{k} = {m}[:, 1:].reshape(-1)", f"{k}[0] = {u}"], [f"{k} = {m}[:, ::-1].ravel()", f"{k}[0] = {u}"],
        [f"{k} = np.sin({m})", f"{q} = {k}.T.ravel()", f"{q}[0] = {u}"], [f"{k} = {m}.flatten()", f"{k}[:2] = {u}"],
        [f"{k} = np.zeros(({rows}, {columns}))", f"{k} += {m}[0]", f"{k} *= {m}[:, :1]"], [f"{m} += {m}[0]"],
        [f"{m} *= {m}[:, :1] * 0.5"],
        [f"{m} -= {m}.mean(axis=0)"], [f"{m}[:] = {m}[:, :1]"], [f"{m}[1:] = {m}[:1] * 0.5"],
        [f"{w} += {u}", f"{w}[:] = {w}[:1]"],
        [f"{m} /= 1.5 + np.abs({m}).sum(axis=1, keepdims=True)"],
        [f"{k} = np.broadcast_to({w}, (2, len({w})))", f"{k} = {k} * {u}"],
        [f"{k} = np.broadcast_to({u}, (2, 3)).copy()", f"{k}[0, 0] = 1"],
        [f"{k} = np.tile({w}, (2, 1))", f"{k}[1] *= 0.5"],
        [f"{k} = np.lib.stride_tricks.sliding_window_view({w}, 2).sum(axis=-1)"],
        [f"{k} = np.repeat({m}, 2, axis=0)[1:]"],
        [f"{k}, {q} = np.split({m}, [1])", f"{k}[0] *= 0.5", f"s = s + np.sum({q})"],
        [f"{k} = np.hsplit({m}, [1])[0]", f"{k} += {u}"],
        [f"for row in {m}:", "    row *= 0.5", f"    row[0] = {u}"], [f"for row in {m}.T:", f"    row -= {u}"],
        [f"{k} = [row for row in {m}]", f"{k}[0][:] = {u}"], [f"{k}, *rest = {m}", f"{k} += {u}"],
        [f"{k} = {m}[0]", f"{m}[1] = {k}", f"{k} += {u}"], [f"{k} = {m}.squeeze()", f"{k}[0] = {u}"],
        [f"{k} = {m}.view()", f"{k}[-1] = {u}"], [f"{k} = np.array({m})", f"{k}[0] = {u}"],
        [f"{k} = np.array({m}, copy=False)", f"{k}[0] = {u}"],
        [f"{k} = np.asarray({m})", f"{k} *= 0.5"], [f"{k} = np.require({m}, requirements='C')", f"s = s + {k}[0, 0]"],
        [f"{k} = np.meshgrid({w}, {w})[1]", f"{k}[0] = {u}"], [f"{k} = np.atleast_2d({w})", f"{k}[0, 0] = {u}"],
        [f"{k} = np.concatenate([{m}, {m}], axis=1).reshape(-1)", f"{k}[0] = {u}"],
        [f"{k} = np.where({m} > 0.1, {m}, 0.5).ravel()", f"{k}[0] = {u}"],
        [f"{k} = ({m} if {condition(s, 0)} else {m} * 0.5).ravel()", f"s = s + {k}[0]"],
        [f"{k} = np.diagonal({m}) * {u}"], [f"{k} = np.diag({w})", f"{k}[0] = {u}"], [f"{k} = np.vander({w}, 3)"],
        [f"{k} = np.rollaxis({m}, 1)", f"{k}[0] = {u}"], [f"{k} = np.roll({m}, (1, 1), axis=(0, 1))"],
        [f"{k} = np.fliplr({m})", f"{k}[0] = {u}"],
    ])  # fmt: skip
