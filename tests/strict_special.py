"""The functions of `scipy.special` that CuPy has (in `cupyx.scipy.special`), for `StrictArray`."""

from __future__ import annotations

from typing import Any

import scipy.special
from strict_array import _refuse_numpy, _unwrapped, _wrapped

_NAMES_TEXT = """
i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e y0 y1 yn bdtr bdtrc bdtri btdtr btdtri fdtr fdtrc fdtri gdtr gdtrc nbdtr nbdtrc
nbdtri pdtr pdtrc pdtri chdtr chdtrc chdtri ndtr log_ndtr ndtri logit expit log_expit boxcox boxcox1p inv_boxcox
inv_boxcox1p entr huber kl_div pseudo_huber rel_entr gamma gammaln loggamma gammasgn gammainc gammaincinv gammaincc
gammainccinv beta betaln betainc betaincinv digamma rgamma polygamma multigammaln poch erf erfc erfcx erfinv erfcinv
lpmv binom exp1 expi expn softmax log_softmax zeta zetac lambertw sici shichi cbrt exp10 exp2 radian cosdg sindg tandg
cotdg log1p expm1 exprel cosm1 round xlogy xlog1py logsumexp sinc ellipk ellipkm1 ellipj ellipkinc ellipeinc psi
"""
NAMES = frozenset(_NAMES_TEXT.split())


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(name)

    def function(*args: Any, **kwargs: Any) -> Any:
        _refuse_numpy([args, kwargs])
        if name == "zeta" and len(args) != 2:
            raise TypeError("Wrong number of arguments for 'cupyx_scipy_special_zeta'. It must be either 2 or 3")
        return _wrapped(getattr(scipy.special, name)(*_unwrapped(args), **kwargs))

    return function
