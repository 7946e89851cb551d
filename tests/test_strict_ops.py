"""The walk over op × mode with arrays that refuse NumPy's: what CuPy's would do (`strict_array.py`).

Every op gives, on such arrays, what it gives on NumPy's, in forward, reverse, nested and batch mode, and what a rule or
a mode makes on the way (zeros, masks, positions) is made in the memory of the operands: nothing is transferred. What
CuPy has no function for is refused by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from op_calls import CALLS, Call, floats
from strict_array import counted, host, strict

import wengert as wg
from wengert.errors import UnsupportedFunctionError
from wengert.ops import library
from wengert.ops.derive import Zero
from wengert.ops.op import TABLE

library._COMPANIONS["strict_array"] = ("strict_special",)

_HOST_ONLY_TEXT = """
airy_ai airy_aip airy_bi airy_bip betainc betainc_by_ab betaincc betainccinv betaincinv continuous_riccati
conv conv_input conv_weight convolve
convolve_nd dawsn dct discrete_riccati dst eigh eigh_generalized eigh_repeated ellipe ellipk ellipkm1 elliptic erfi
eval_chebyt
eval_chebyu eval_gegenbauer eval_genlaguerre eval_hermite eval_hermitenorm eval_jacobi eval_laguerre eval_legendre
expm expm_frechet fresnel_c fresnel_s gammainc gammainc_by_a gammaincc gammainccinv gammaincinv hankel1 hankel1e
hankel2 hankel2e hyp0f1 hyp0f1_by_parameters hyp1f1 hyp1f1_by_parameters hyp2f1 hyp2f1_by_parameters hyperu
hyperu_by_parameters i0 i1 integral iv ive ive_by_order j0 j1 jacobi jv jv_by_order k0 k1 kv kve kve_by_order ldl
linear_solution logm lu matrix_derivative matrix_function ndtri_exp owens_t polar powm1 recursive_filter
refined_solution roots
solution solve_banded sparse_matmul sparse_solve spence spherical_in spherical_jn spherical_kn spherical_yn
spline_filter sqrtm student_cdf student_quantile svd_repeated sylvester wrightomega y0 y1 yv yv_by_order
"""
HOST_ONLY = frozenset(_HOST_ONLY_TEXT.split())
"""Ops whose value, or some derivative, is computed by functions of SciPy (or NumPy) that CuPy does not have."""


def as_function(name: str, c: Call, moved: Any) -> Any:
    """The call as a function of its floating-point operands, with the others moved to a device."""
    op, places = TABLE[name], floats(c)
    there = [a if moved is None or not isinstance(a, np.ndarray) else moved(a) for a in c.args]

    def f(*chosen: Any) -> Any:
        filled = list(there)
        for k, x in zip(places, chosen, strict=True):
            filled[k] = x if c.before is None else c.before(x)
        y = op(*filled, **c.params)
        y = y if c.after is None else c.after(y)
        total: Any = 0.0
        for k, part in enumerate(y if isinstance(y, tuple) else (y,)):
            total = total + (k + 1.5) * np.sum(np.real(part * part) if part.dtype.kind == "c" else part * part)
        return total

    return f


SMOOTH = [p for p in CALLS if not isinstance(TABLE[p.values[0]], Zero) and not TABLE[p.values[0]].marks]


@pytest.mark.parametrize(("name", "c"), SMOOTH)
def test_modes_on_strict_arrays(name, c):
    f, g = as_function(name, c, strict), as_function(name, c, None)
    xs = [np.asarray(c.args[k], float) for k in floats(c)]
    ds = [0.3 * np.cos(np.arange(x.size)).reshape(x.shape) for x in xs]
    try:
        with counted() as count:
            found = derivatives(f, [strict(x) for x in xs], [strict(d) for d in ds])
            assert count.transfers == 0
    except UnsupportedFunctionError as error:
        if name not in HOST_ONLY or "StrictArray" not in str(error):
            raise
        return
    for got, right in zip(found, derivatives(g, xs, ds), strict=True):
        np.testing.assert_allclose(host(got), right, rtol=1e-9, atol=1e-10)


def derivatives(f: Any, xs: list, ds: list) -> list:
    """Gradient, tangent, Hessian times vector, and the tangent for three vectors at once."""
    every = tuple(range(len(xs)))
    gradient = wg.grad(f, every)
    along = lambda *d: wg.jvp(f, tuple(xs), d)[1]
    stacked = [np.stack([d, 2.0 * d, -d]) for d in ds]
    return [*gradient(*xs), along(*ds), *wg.jvp(gradient, tuple(xs), tuple(ds))[1], wg.vmap(along)(*stacked)]
