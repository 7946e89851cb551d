"""scipy.fftpack, scipy.optimize.rosen, private methods of distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fftpack as fp
import scipy.optimize as opt
import scipy.stats as st
from harness import has_derivatives_of_differences

import wengert as wg

X = np.array([0.3, 1.2, -0.7, 0.5, 0.9, 1.4])

PROGRAMS = {
    "fft": lambda x: fp.ifft(fp.fft(x) * np.arange(6)).imag,
    "fft 8": lambda x: np.abs(fp.fft(x, 8)),
    "fft2": lambda x: np.abs(fp.fft2(x.reshape(2, 3))),
    "fftn shape": lambda x: np.abs(fp.fftn(x.reshape(2, 3), shape=(2, 2))),
    "rfft": lambda x: fp.rfft(x) ** 2,
    "rfft odd": lambda x: fp.rfft(x[:5]) ** 2,
    "irfft": lambda x: fp.irfft(x) ** 2,
    "irfft odd": lambda x: fp.irfft(x[:5]) ** 2,
    **{f"{name} {t}": (lambda x, name=name, t=t: getattr(fp, name)(x, t) ** 2)
       for name in ("dct", "idct", "dst", "idst") for t in (1, 2, 3, 4)},
    "idct ortho": lambda x: fp.idct(x, norm="ortho") ** 2,
    "idctn": lambda x: fp.idctn(x.reshape(2, 3)) ** 2,
    "rosen": lambda x: opt.rosen(x),
    "rosen_der": lambda x: opt.rosen_der(x),
    "rosen_hess": lambda x: opt.rosen_hess(x),
    "rosen_hess_prod": lambda x: opt.rosen_hess_prod(x, x**2),
    "rosen of two": lambda x: opt.rosen_der(x[:2]) + opt.rosen_hess(x[:2]) @ x[2:4],
    "_cdf": lambda x: st.norm._cdf(x) + st.norm._logcdf(x),
    "_pdf": lambda x: st.norm._pdf(x) + st.norm._logpdf(x),
    "_ppf": lambda x: st.norm._ppf(x**2 / 3),
    "t._cdf": lambda x: st.t._cdf(x, 3.0),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    has_derivatives_of_differences(PROGRAMS[name], X, value=1e-11, rtol=1e-4, atol=1e-5)


def test_the_second_derivative_of_rosen_is_its_hessian() -> None:
    np.testing.assert_allclose(wg.hessian(opt.rosen)(X), opt.rosen_hess(X), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(wg.jit(wg.grad(lambda x: opt.rosen(x)))(X), opt.rosen_der(X), rtol=1e-12)


REFUSED = {
    "scipy.fftpack.hilbert": lambda x: fp.hilbert(x),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("how", [wg.jacrev, wg.jacfwd, wg.jit])
def test_what_has_no_rule_is_refused_by_name(name: str, how: Any) -> None:
    with pytest.raises(wg.errors.UnsupportedFunctionError, match=name.replace(".", r"\.")):
        how(REFUSED[name])(X)


def test_a_traced_array_is_not_masked():
    def f(x):
        x = x if np.ma.is_masked(x) or np.ma.isMaskedArray(x) else np.ma.getdata(x) ** 2
        x = np.ma.filled(x, 0.0) * ~np.ma.getmaskarray(x)
        return np.sum(x) if np.ma.getmask(x) is np.ma.nomask else 0.0

    x = np.array([1.0, 2.0])
    for g in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(g(x), 2 * x)
