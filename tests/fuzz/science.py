"""What scientific programs ask of NumPy and SciPy: transforms, factorisations, polynomials, splines, special functions,
integrals, roots, filters, distances, stacks of matrices."""

from __future__ import annotations

from fuzz.arrays import matrix, vector
from fuzz.expressions import atom, integer, scalar
from fuzz.scope import Scope


def with_transforms(s: Scope) -> list[str]:
    """Fourier transforms, factorisations, polynomials, histograms, windows."""
    k, q, w, m = s.fresh("u"), s.fresh("q"), vector(s), matrix(s)
    u, v = atom(scalar(s, 1)), atom(scalar(s, 1))
    n = len(s.names.get(w, [0, 0]))
    square = f"({m} @ {m}.T + np.diag(1.0 + np.arange(len({m}))))"
    return s.one_of([
        [f"{k} = np.fft.ifft(np.fft.fft({w}) * np.exp(-0.1 * np.arange({n}))).real"],
        [f"{k} = np.fft.irfft(np.fft.rfft({w}, {n + 3}) * np.fft.rfft(C[:3], {n + 3}), {n + 3})"],
        [f"{k} = np.abs(np.fft.rfft({w} * np.hanning({n}), norm='ortho')) ** 2"],
        [f"{q} = np.fft.fftfreq({n}, d=0.5)", f"{k} = np.fft.ifft(1j * {q} * np.fft.fft({w})).real"],
        [f"{k} = np.fft.fft2({m}).imag + np.fft.fftshift({m})"],
        [f"{k}, {q} = np.linalg.eigh({square})", f"s = np.tanh(s + np.sum({q}[:, 0] ** 2 * np.arange(len({m}))))"],
        [f"{q}, {k} = np.linalg.qr({square})", f"s = np.tanh(s + np.abs({q}[0, 0]))"],
        [f"{k} = np.linalg.svd({square}, compute_uv=False)"],
        [f"p, {k}, {q} = np.linalg.svd({square})", f"s = np.tanh(s + np.sum((p * {k}) @ {q}) * 0.1)"],
        [f"{k} = np.linalg.lstsq({m}.T @ {m} + np.eye({m}.shape[1]), {m}[0], rcond=None)[0]"],
        [f"{k} = np.linalg.solve({square}, {m})"], [f"{k} = np.linalg.inv({square}) @ {m}"],
        [f"{q} = np.linalg.cholesky({square})", f"{k} = np.linalg.solve({q}, {m}[:, 0])"],
        [f"{k} = np.linalg.solve(np.stack([{square}, np.eye(len({m}))]), np.ones((2, len({m}), 1)))[..., 0]"],
        [f"s = np.tanh(s + np.linalg.slogdet({square})[1] + np.linalg.cond({square}) * 0.01)"],
        [f"{k} = np.linalg.eigvals({square} + 0.1 * np.triu({square})).real"],
        [f"{k} = np.polyfit(np.arange({n}.0), {w}, 1)"], [f"s = np.tanh(s + np.polyval(np.polyder({w}), {u}))"],
        [f"{k} = np.polymul({w}, [1.0, {u}])"], [f"{k} = np.poly(np.array([{u}, {v}]))"],
        [f"{k} = np.roots([1.0, {u} * 0.1, 2.0 + {v} ** 2]).imag ** 2"],
        [f"{k} = np.convolve({w}, [0.5, {u}], mode={s.one_of(['same', 'valid', 'full'])!r})"],
        [f"{k} = np.correlate({w}, {w}[:2], mode='same')"], [f"{k} = np.gradient({w}, 0.5, edge_order=1)"],
        [f"{k} = np.gradient({w}, np.arange({n}) ** 1.5)"], [f"{k} = np.gradient({m})[1]"],
        [f"s = np.tanh(s + np.trapezoid({w}, x=np.arange({n}) ** 1.5))"],
        [f"{k} = np.unwrap({w} * 9.0)"], [f"{k} = np.sinc({w}) + np.i0(0.3 * {w})"],
        [f"{k} = np.cbrt(2.0 + {w} ** 2) + np.exp2({w}) + np.log2(2.0 + {w} ** 2) + np.log10(2.0 + {w} ** 2)"],
        [f"{k} = np.deg2rad({w}) + np.copysign({w} * {w}, {u} + 0.013) + np.arcsinh({w})"],
        [f"{k} = np.divmod({w} + 0.0113, 0.7)[1]"],
        [f"{k} = np.histogram(np.arange(5.0), bins=3, weights=C[:5] * {u})[0]"],
        [f"{k} = np.kron({m}, [1.0, {u}])"], [f"{k} = np.mgrid[0:2, 0:3] * {u}"], [f"{k} = np.r_[{w}, 0.5, [{u}]]"],
        [f"{k} = np.c_[{w}, {w} * {u}]"], [f"{q}, {k} = np.meshgrid({w}, [0.5, {u}], indexing='ij')",
                                           f"{k} = {q} * {k}"],
        [f"{q}, {k} = np.broadcast_arrays({w}, {u})", f"{k} = {q} * {k}"],
        [f"{k} = np.pad({w}, (1, 2), mode={s.one_of(['reflect', 'wrap', 'edge', 'symmetric', 'linear_ramp'])!r})"],
        [f"{k} = np.pad({m}, ((0, 1), (1, 0)), constant_values={u})"], [f"{k} = np.tri({n}) @ {w}"],
        [f"{k} = np.fromiter(({u} * i for i in range(4)), float)"], [f"{k} = np.indices((2, 3))[1] * {u}"],
        [f"{k} = np.array([e for e in {w}] + [{u}])[np.argsort(np.arange({n + 1})[::-1])]"],
        [f"{q}, {k} = np.unique(np.array([2, 0, 2, 1]), return_inverse=True)", f"{k} = {k} * {u}"],
        [f"{k} = np.isin(np.arange({n}), [0, 2]) * {w}"], [f"{k} = np.extract(np.arange({n}) > 0, {w})"],
        [f"{k} = np.resize({w}, 5)"], [f"{k} = np.trim_zeros(np.array([0, 0, 1, 2, 0])) * {u}"],
        [f"{k} = np.nanmean(np.where(np.arange({n}) < 2, {w}, np.nan)) * {w}"], [f"{k} = np.cumulative_sum({w})"],
        [f"{k} = np.linalg.matrix_power(0.3 * {square}, -1)"], [f"{k} = np.cross([1.0, {u}, 0.5], [{v}, 0.2, s])"],
        [f"{k} = np.einsum('ij,kj->ik', {m}, {m}, optimize=True)"], [f"{k} = np.atleast_3d({m})[..., 0]"],
        [f"{k} = np.rot90({m}, 2) + np.flipud({m})"], [f"{k} = np.polynomial.Polynomial([{u}, {v}, 0.5])({w})"],
        [f"{k} = np.polynomial.chebyshev.chebval({w}, [{u}, 0.5, {v}])"], [f"{k} = np.vecdot({m}, {m})"],
    ])  # fmt: skip


def with_cubes(s: Scope) -> list[str]:
    """Arrays of three axes: stacks of matrices, images with channels, batches."""
    k, q, m, w = s.fresh("u"), s.fresh("q"), matrix(s), vector(s)
    u, i = atom(scalar(s, 1)), atom(integer(s))
    rows, columns = s.names[m].shape if m in s.names else (2, 2)
    start = [f"{q} = np.stack([{m}, {m} * 0.5, np.sin({m})])"]
    use = s.one_of([
        [f"{k} = {q} @ {q}.transpose(0, 2, 1)"], [f"{k} = {q}.sum(axis=(0, 2))"], [f"{k} = {q}[:, 0] @ {m}[0]"],
        [f"{k} = np.swapaxes({q}, 0, 2)[..., {i} % 3]"], [f"{q}[1] = {q}[0] * {u}", f"{k} = {q}[..., -1]"],
        [f"{q}[:, 0, :] = {m}[0]", f"{k} = {q}.max(axis=0)"], [f"{q}[..., 0] += {u}", f"{k} = {q}.reshape(3, -1)"],
        [f"{q}[{i} % 3, 1:] *= 0.5", f"{k} = {q}.mean(axis=1)"], [f"{k} = np.einsum('bij,bkj->bik', {q}, {q})"],
        [f"{k} = np.einsum('bij,j->bi', {q}, {m}[0])"], [f"{k} = np.einsum('bij,b->ij', {q}, [1.0, {u}, 0.5])"],
        [f"{k} = np.tensordot({q}, {m}, axes=([1, 2], [0, 1]))"], [f"{k} = np.concatenate([{q}, {q}[:1]], axis=0)[-1]"],
        [f"{k} = {q} - {q}.mean(axis=(1, 2), keepdims=True)"], [f"{k} = {q}[[0, 2], :, 0]"],
        [f"{k} = {q}[:, [0, 1], [1, 0]]"], [f"{k} = {q}[{q} > 0.1].sum() * {w}"], [f"{q}[{q} < 0] = {u}",
                                                                                   f"{k} = {q}[0]"],
        [f"{q}[{q}.argmax(axis=0), 0, 0] = {u}" if s.chance(0.1) else f"{q}[:, ::-1][0] = {u}", f"{k} = {q}.sum(0)"],
        [f"{k} = np.cumsum({q}, axis=0)[-1] * np.prod({q} * 0.5 + 1.0, axis=0)"],
        [f"{k} = np.linalg.norm({q}, axis=(1, 2))"],
        ["for b in range(3):", f"    for i in range({rows}):", f"        {q}[b, i] = {q}[b, i] * 0.5 + {q}[b - 1, i]",
         f"{k} = {q}[2]"],
        [f"for e in {q}:", "    e *= 0.5", "    e[0] = " + u, f"{k} = {q}[1]"],
        [f"for e, o in zip({q}, {q}[1:]):", "    o += 0.3 * e", f"{k} = {q}[-1]"],
        [f"{k} = np.array([[e.sum() for e in row] for row in {q}])"], [f"{k} = {q}.T[0] + {q}.T[-1]"],
        [f"{k} = np.zeros((3, {rows + 1}, {columns + 1}))", f"{k}[:, 1:, 1:] = {q}",
         f"{k} = {k}[:, :-1, :-1] + {k}[:, 1:, 1:]"],
        [f"{k} = np.lib.stride_tricks.sliding_window_view({q}, (2, 2), axis=(1, 2)).mean(axis=(-1, -2))"],
        [f"{k} = np.take({q}, [0, {i} % 3], axis=0)"], [f"{k} = np.repeat({q}, 2, axis=1)[:, {i} % {2 * rows}]"],
        [f"{k} = np.moveaxis({q}, 0, -1).reshape(-1, 3).mean(axis=0)"], [f"{k} = np.split({q}, 3)[1][0]"],
        [f"{k} = np.diff({q}, axis=1)" if rows > 1 else f"{k} = {q}[0]"], [f"{k} = np.sort({q}, axis=-1)[0]"],
        [f"{k} = np.outer({q}[:, 0, 0], {q}[0, :, 0])"], [f"{k} = {q}.copy()", f"{k}.ravel()[::2] = {u}"],
        [f"{k} = np.linalg.inv({q} @ {q}.transpose(0, 2, 1) + np.eye({rows}))[0]"],
        [f"{k} = {q}.squeeze()[None, 1, ..., :]"],
        [f"{k} = np.where({q} > 0.1, {q}, {m}[None])[1]"], [f"{k} = np.trace({q}, axis1=1, axis2=2)"],
        [f"{k} = {q}[np.arange(3)[:, None], np.arange({rows}), 0]"],
        [f"{k} = np.average({q}, axis=0, weights=[1, 2, 3.0])"],
    ])  # fmt: skip
    return [*start, *use]


def with_scipy(s: Scope) -> list[str]:
    """Functions of SciPy that have derivatives."""
    k, q, w, m = s.fresh("u"), s.fresh("q"), vector(s), matrix(s)
    u, v = atom(scalar(s, 1)), atom(scalar(s, 1))
    n = len(s.names.get(w, [0, 0]))
    square = f"({m} @ {m}.T + 2.0 * np.eye(len({m})))"
    shape, close = f"np.zeros({len(s.names.get(m, [0, 0]))})", "rtol=1e-10, atol=1e-12"
    valley = f"lambda p: np.sum((p - {w}) ** 4 + (p - {u}) ** 2)"
    return s.one_of([
        [f"{k} = scipy.special.expit({w}) + scipy.special.erf({w})"], [f"{k} = scipy.special.gammaln(2.5 + {w} ** 2)"],
        [f"s = s + scipy.special.logsumexp({w}) + scipy.special.logsumexp({m}, axis=0, b=0.5)[0]"],
        [f"{k} = scipy.special.softmax({m}, axis=1)"], [f"{k} = scipy.special.log_softmax({w})"],
        [f"{k} = scipy.special.xlogy({w} ** 2, 2.0 + {u} ** 2)"],
        [f"{k} = scipy.special.j0({w}) + scipy.special.jv(1, {w} ** 2 + 0.5)"],
        [f"{k} = scipy.special.digamma(1.5 + {w} ** 2) + scipy.special.ndtr({w})"],
        [f"s = s + scipy.special.betainc(1.5, 2.0, 0.5 + 0.3 * np.sin({u}))",
         f"s = s + scipy.special.gammainc(1.5, 1.0 + {v} ** 2)"],
        [f"{k} = scipy.linalg.expm(0.3 * {square})"], [f"{k} = scipy.linalg.solve({square}, {m}, assume_a='pos')"],
        [f"{k} = scipy.linalg.cho_solve(scipy.linalg.cho_factor({square}), {m}[:, 0])"],
        [f"{k} = scipy.linalg.solve_triangular({square}, {m}[:, 0], lower=True)"],
        [f"{q} = scipy.linalg.lu_factor({square})", f"{k} = scipy.linalg.lu_solve({q}, {m})"],
        [f"{k} = scipy.linalg.sqrtm({square}).real"], [f"{k} = scipy.linalg.block_diag({m}, [[{u}]])"],
        [f"{k} = scipy.linalg.toeplitz({w}) @ {w}"], [f"s = np.tanh(s + scipy.linalg.det({square}) * 0.1)"],
        [f"{k} = scipy.linalg.solve_banded((1, 1), np.stack([0.3 * {w}, 2.0 + {w} ** 2, 0.2 * {w}]), {w})"],
        [f"{k} = scipy.linalg.eigvalsh({square} + np.diag(np.arange(len({m})) * 2.0))"],
        [f"s = np.tanh(s + scipy.stats.norm.logpdf({u}, 0.1, 1.0 + {v} ** 2) + scipy.stats.norm.cdf({v}))"],
        [f"s = np.tanh(s + np.sum(scipy.stats.norm.logpdf({w}, {u}, 1.5)) * 0.1)"],
        [f"s = np.tanh(s + scipy.stats.multivariate_normal.logpdf({m}[:, 0], {shape}, {square}))"],
        [f"s = np.tanh(s + scipy.stats.t.logpdf({u}, 3.5) + scipy.stats.gamma.logpdf(1.0 + {v} ** 2, 2.0))"],
        [f"s = np.tanh(s + scipy.integrate.quad(lambda p: np.exp(-p * p) * {u}, 0.0, 1.0 + {v} ** 2)[0])"],
        [f"s = np.tanh(s + scipy.integrate.simpson({w}, dx=0.5) + scipy.integrate.trapezoid({w}))"],
        [f"{k} = scipy.integrate.cumulative_trapezoid({w}, initial=0.0)"],
        [f"{q} = scipy.interpolate.CubicSpline(np.arange({n}.0), {w})",
         f"s = np.tanh(s + {q}(1.37) + {q}({u} ** 2 % 1.0, 1))"]
        if n > 3 else [f"s = s + {u}"],
        [f"s = np.tanh(s + scipy.interpolate.interp1d(np.arange({n}.0), {w})(0.5 + 0.3 * np.sin({u})))"],
        [f"q = scipy.interpolate.PchipInterpolator(np.arange({n}.0), {w})",
         "s = np.tanh(s + q(0.61))"] if n > 2 else [f"s = s + {u}"],
        [f"s = np.tanh(s + scipy.optimize.brentq(lambda p: p ** 3 + p - {u}, -5.0, 5.0))"],
        [f"s = np.tanh(s + scipy.optimize.root(lambda p: p + 0.1 * p ** 3 - {w}, {w}).x[0])"],
        [f"s = np.tanh(s + scipy.optimize.minimize({valley}, np.zeros({n}), tol=1e-12).x[0])"]
        if s.chance(0.3) else
        [f"s = np.tanh(s + scipy.optimize.newton(lambda p: p + 0.1 * p ** 3 - {u}, 0.5, tol=1e-13))"],
        [f"{k} = scipy.signal.lfilter([0.5, {u}], [1.0, 0.2], {w})"],
        [f"{k} = scipy.signal.convolve({w}, [0.5, {u}], mode='same')"],
        [f"{k} = scipy.signal.fftconvolve({w}, {w})"], [f"{k} = scipy.signal.detrend({w})"],
        [f"{k} = scipy.ndimage.gaussian_filter({m}, 1.0)"],
        [f"{k} = scipy.ndimage.convolve({m}, np.ones((2, 2)) * {u})"],
        [f"{k} = scipy.ndimage.uniform_filter1d({w}, 3)"], [f"{k} = scipy.fft.dct({w}, norm='ortho')"],
        [f"{k} = scipy.spatial.distance.cdist({m}, {m} + 0.5)"],
        [f"{k} = scipy.spatial.distance.pdist({m} * [1.0, *[2.0] * ({m}.shape[1] - 1)])"],
        [f"{q} = scipy.integrate.solve_ivp(lambda t, y: -y * {u} ** 2 + {v} * 0.1, (0.0, 1.0), [1.0, 0.5], "
         f"t_eval=[0.5, 1.0], {close})",
         f"{k} = {q}.y[:, -1]"],
        [f"{k} = scipy.integrate.odeint(lambda y, t: -y * {u} ** 2, [1.0, {v}], [0.0, 0.5, 1.0], {close})[-1]"],
        [f"{q} = scipy.sparse.csr_matrix(np.array([[1.0, 0, 2], [0, 3, 0]]))", f"{k} = {q} @ np.array([{u}, {v}, s])"],
        [f"{k} = scipy.spatial.transform.Rotation.from_rotvec([{u}, {v}, 0.3]).apply([1.0, 0.5, s])"],
    ])  # fmt: skip
