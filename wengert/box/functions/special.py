"""Special functions: which op each ufunc of `scipy.special` is, and the functions that are compositions.

SciPy's ufuncs dispatch by themselves. Some public functions are thin wrappers of private ufuncs (`zeta`, `lambertw`,
`spherical_jn`), which are registered as well, so that these work without instrumentation too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.dispatch import NONDIFFERENTIABLE, UFUNCS, implements, implements_blind
from wengert.box.functions.operands import answer, operand, unsupported_option
from wengert.ops import bessel, elliptic, gamma, incomplete, special, student
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.op import TABLE, Traced
from wengert.types import dtype_of, shape_of

_SAME_NAME = """
    erf erfc erfi erfinv erfcinv ndtr ndtri log_ndtr ndtri_exp expit logit log_expit
    xlogy xlog1py entr rel_entr kl_div huber pseudo_huber
    exp10 sindg cosdg tandg cotdg cosm1 powm1 boxcox boxcox1p wrightomega exp1 expi spence owens_t
    gamma gammaln loggamma gammasgn digamma rgamma beta betaln poch binom
    gammainc gammaincc gammaincinv gammainccinv betainc betaincc betaincinv betainccinv
    jv yv iv kv hankel1 hankel2 hankel1e hankel2e j0 j1 y0 y1 i0 i1 k0 k1
    hyp2f1 hyp1f1 hyp0f1 hyperu ellipk ellipe ellipkm1
    eval_jacobi eval_gegenbauer eval_genlaguerre eval_laguerre eval_legendre eval_chebyt eval_chebyu
    eval_hermite eval_hermitenorm
"""


def _register(names: str, meaning: Any) -> None:
    """Say what ufuncs mean; a private one may be missing in another version of SciPy."""
    for name in names.split():
        for module in (sc, sc._ufuncs):
            ufunc = getattr(module, name, None)
            if isinstance(ufunc, np.ufunc):
                UFUNCS[ufunc] = meaning


def _count(n: Any) -> Any:
    """The whole number that SciPy makes of a parameter which should be one."""
    return n if dtype_of(n).kind in "biu" else e.trunc(n)


for _name in _SAME_NAME.split():
    _register(_name, TABLE[_name])
_register("psi", gamma.digamma)
_register("jn", bessel.jv)
_register("yn", lambda n, x: bessel.yv(_count(n), x))
_register("kn", lambda n, x: bessel.kv(_count(n), x))
_register("expn", lambda n, x: special.expn(_count(n), x))
_register("_riemann_zeta", gamma.zeta)
for _name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
    _register("_" + _name, TABLE[_name])

# Ops with parameters.
_register("erfcx", lambda x: special.erfcx(x, n=0))
_register("wofz", lambda z: special.erfcx(-1j * z, n=0))
_register("dawsn", lambda x: special.dawsn(x, n=0))
_register("exprel", lambda x: special.exprel(x, n=0))
_register("_zeta", lambda x, q: gamma.hurwitz(x, q, n=0))
_register("ive", lambda v, x: bessel.ive(v, x, n=0))
_register("kve", lambda v, x: bessel.kve(v, x, n=0))
_register("i0e", lambda x: bessel.ive(0, x, n=0))
_register("i1e", lambda x: bessel.ive(1, x, n=0))
_register("k0e", lambda x: bessel.kve(0, x, n=0))
_register("k1e", lambda x: bessel.kve(1, x, n=0))
_register("ellipkinc", lambda phi, m: elliptic.elliptic(phi, m, p=0, q=1))
_register("ellipeinc", lambda phi, m: elliptic.elliptic(phi, m, p=0, q=-1))


def _unscaled(op: Any, name: str) -> Callable:
    """jve and yve: of real numbers they are jv and yv."""

    def function(v: Any, x: Any) -> Any:
        if dtype_of(x).kind == "c":
            raise unsupported_option(f"scipy.special.{name}", "a complex number", "it is not analytic; scale jv or yv")
        return op(v, x)

    return function


_register("jve", _unscaled(bessel.jv, "jve"))
_register("yve", _unscaled(bessel.yv, "yve"))

# Several results.
_register("sici", lambda x: (special.sinint(x), special.cosint(x)))
_register("shichi", lambda x: (special.sinhint(x), special.coshint(x)))
_register("fresnel", lambda x: (special.fresnel_s(x), special.fresnel_c(x)))
_register("ellipj", lambda u, m: tuple([elliptic.jacobi(u, m, k=k) for k in range(4)]))
_register("airy", lambda x: (bessel.airy_ai(x), bessel.airy_aip(x), bessel.airy_bi(x), bessel.airy_bip(x)))

# Compositions.
_register("exp2", e.exp2)
_register("expm1", e.expm1)
_register("log1p", e.log1p)
_register("cbrt", e.cbrt)
_register("chdtr", lambda v, x: incomplete.gammainc(v * 0.5, x * 0.5))
_register("chdtrc", lambda v, x: incomplete.gammaincc(v * 0.5, x * 0.5))
_register("chdtri", lambda v, p: 2 * incomplete.gammainccinv(v * 0.5, p))
_register("gdtr", lambda a, b, x: _where(x >= 0, incomplete.gammainc(b, a * x)))
_register("gdtrc", lambda a, b, x: _where(x >= 0, incomplete.gammaincc(b, a * x)))
_register("gdtrix", lambda a, b, p: incomplete.gammaincinv(b, p) / a)


def _where(is_defined: Any, y: Any) -> Any:
    """A distribution function where SciPy has one; elsewhere it is not a number."""
    return y if _is_certain(is_defined) else e.where(is_defined, y, math.nan)


def _is_certain(condition: Any) -> bool:
    return not isinstance(condition, Traced) and bool(np.all(condition))


def _of_successes(of: Any, at_end: float, below: float = math.nan) -> Callable:
    """A distribution function of k successes in n trials, which is `of` k + 1, n − k and a probability."""

    def function(k: Any, n: Any, p: Any) -> Any:
        k, n = e.floor(k), _count(n)
        rest = n - k
        inside = e.logical_and(k >= 0, rest > 0)
        if _is_certain(inside):
            return of(k + 1, rest, p)
        y = of(e.where(inside, k + 1, 1.0), e.where(inside, rest, 1.0), p)
        end = e.where(e.logical_and(k >= 0, e.equal(rest, 0)), at_end, e.where(k < 0, below, math.nan))
        return e.where(inside, y, end + 0 * y)

    return function


_register("bdtr", _of_successes(incomplete.betaincc, 1.0))
_register("bdtrc", _of_successes(incomplete.betainc, 0.0, below=1.0))
_register("bdtri", _of_successes(incomplete.betainccinv, math.nan))


def _of_failures(of: Any) -> Callable:
    """A distribution function of k failures before n successes, which is `of` n, k + 1 and a probability."""

    def function(k: Any, n: Any, p: Any) -> Any:
        k, n = _count(k), _count(n)
        return _where(e.logical_and(k >= 0, n > 0), of(n, k + 1, p))

    return function


_register("nbdtr", _of_failures(incomplete.betainc))
_register("nbdtrc", _of_failures(incomplete.betaincc))
_register("nbdtri", _of_failures(incomplete.betaincinv))
_register("pdtr", lambda k, m: _where(k >= 0, incomplete.gammaincc(e.floor(k) + 1, m)))
_register("pdtrc", lambda k, m: _where(k >= 0, incomplete.gammainc(e.floor(k) + 1, m)))
_register("pdtri", lambda k, y: _where(e.logical_and(_count(k) >= 0, y < 1), incomplete.gammainccinv(_count(k) + 1, y)))


def _ratios(of: Callable) -> Callable:
    """A distribution function of ratios of variances, `of` halves of degrees of freedom d and b."""

    def function(d: Any, b: Any, x: Any) -> Any:
        return _where(e.logical_and(e.logical_and(d > 0, b > 0), x >= 0), of(d, b, d * x))

    return function


_register("fdtr", _ratios(lambda d, b, s: incomplete.betainc(d * 0.5, b * 0.5, s / (b + s))))
_register("fdtrc", _ratios(lambda d, b, s: incomplete.betainc(b * 0.5, d * 0.5, b / (b + s))))


def _ratio_of(d: Any, b: Any, p: Any) -> Any:
    d, b = d * 0.5, b * 0.5
    return b * incomplete.betaincinv(d, b, p) / (d * incomplete.betainccinv(b, d, p))


_register("fdtri", _ratio_of)


def _or_normal(student: Callable, normal: Callable) -> Callable:
    """Student's distribution, whose limit for infinitely many degrees of freedom is the normal one."""

    def function(df: Any, x: Any) -> Any:
        endless = e.equal(df, math.inf)
        if not isinstance(endless, Traced) and not np.any(endless):
            return student(df, x)
        return e.where(endless, normal(x), student(e.where(endless, 1.0, df), x))

    return function


_register("stdtr", _or_normal(lambda df, t: student.student_cdf(0.5 * df, t / e.sqrt(df), n=0), special.ndtr))
_register("stdtrit", _or_normal(lambda df, p: student.student_quantile(0.5 * df, p) * e.sqrt(df), special.ndtri))


def _zetac(x: Any) -> Any:
    """ζ(x) − 1: from one on the sum that begins with the second term, where the difference has no digits left."""
    right = x > 1
    if _is_certain(right):
        return gamma.hurwitz(x, 2.0, n=0)
    return e.where(right, gamma.hurwitz(e.where(right, x, 2.0), 2.0, n=0), gamma.zeta(e.where(right, 0.0, x)) - 1)


_register("zetac", _zetac)


def _voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    """A normal density folded with Cauchy's. Without width, the former leaves the latter."""
    normal = e.not_equal(sigma, 0)
    width = e.where(normal, sigma, 1.0) * math.sqrt(2)
    z = (x + 1j * gamma) / width
    both = s.real(special.erfcx(-1j * z, n=0)) / (width * math.sqrt(math.pi))
    if _is_certain(normal):
        return both
    cauchy = e.where(normal, 1.0, gamma)
    return e.where(normal, both, cauchy / (math.pi * (x * x + cauchy * cauchy)))


_register("voigt_profile", _voigt)


def _log_inv_boxcox(y: Any, p: Any) -> Any:
    """log(1 + p·y)/p, smooth at p = 0."""
    return y / special.exprel(e.log1p(p * y), n=0)


_register("inv_boxcox", lambda y, p: e.exp(_log_inv_boxcox(y, p)))
_register("inv_boxcox1p", lambda y, p: e.expm1(_log_inv_boxcox(y, p)))
_register("agm", lambda a, b: 0.25 * math.pi * (a + b) / elliptic.ellipkm1(4 * (a / (a + b)) * (b / (a + b))))
_register(
    "eval_sh_jacobi",
    lambda n, p, q, x: TABLE["eval_jacobi"](n, p - q, q - 1, 2 * x - 1) / gamma.binom(2 * n + p - 1, n),
)
_register("eval_sh_legendre", lambda n, x: TABLE["eval_legendre"](n, 2 * x - 1))
_register("eval_sh_chebyt", lambda n, x: TABLE["eval_chebyt"](n, 2 * x - 1))
_register("eval_sh_chebyu", lambda n, x: TABLE["eval_chebyu"](n, 2 * x - 1))
_register("eval_chebyc", lambda n, x: 2 * TABLE["eval_chebyt"](n, 0.5 * x))
_register("eval_chebys", lambda n, x: TABLE["eval_chebyu"](n, 0.5 * x))


def _lambertw(z: Any, k: Any, tol: Any) -> Any:
    """The branch k, of which there may be one for each element."""
    first, *others = np.unique(k).tolist()
    if others:
        z = s.broadcast_to(z, shape=np.broadcast_shapes(shape_of(z), np.shape(k)))
    y = special.lambertw(z, k=first, tol=tol)
    for branch in others:
        y = e.where(np.equal(k, branch), special.lambertw(z, k=branch, tol=tol), y)
    return y


_register("_lambertw", _lambertw)

# -------------------------------------------------------------------------------------------------- other functions


@implements(np.i0)
def i0(x: Any) -> Any:
    return bessel.i0(x)


@implements_blind(sc.lambertw)
def lambertw(z: Any, k: Any = 0, tol: float = 1e-8) -> Any:
    return _lambertw(operand(z), k, tol)


@implements_blind(sc.zeta)
def zeta(x: Any, q: Any = None, out: Any = None) -> Any:
    if out is not None:
        raise unsupported_option("scipy.special.zeta", "out=", "use the returned result")
    return gamma.zeta(operand(x)) if q is None else gamma.hurwitz(operand(x), operand(q), n=0)


@implements_blind(sc.polygamma)
def polygamma(n: Any, x: Any) -> Any:
    return gamma.polygamma(operand(n), operand(x))


@implements_blind(sc.multigammaln)
def multigammaln(a: Any, d: int) -> Any:
    total = d * (d - 1) / 4 * math.log(math.pi)
    for j in range(d):
        total = total + gamma.gammaln(operand(a) - j / 2)
    return total


@implements_blind(sc.assoc_laguerre)
def assoc_laguerre(x: Any, n: Any, k: Any = 0.0) -> Any:
    return TABLE["eval_genlaguerre"](operand(n), operand(k), operand(x))


@implements_blind(sc.diric)
def diric(x: Any, n: Any) -> Any:
    """sin(n·x/2) / (n·sin(x/2)), a polynomial in cos(x/2): there is nothing special at multiples of 2π."""
    n, x = answer(lambda n: n, operand(n)), operand(x)
    if not np.all(np.equal(n, np.floor(n)) & (n > 0)):
        return e.where(np.logical_and(n > 0, n == np.floor(n)), diric(x, np.where(n > 0, np.ceil(n), 1)), math.nan)
    return TABLE["eval_chebyu"](np.asarray(n, int) - 1, e.cos(0.5 * x)) / n


@implements_blind(sc.factorial)
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """Γ(n + 1), and zero for negative n."""
    if exact or extend != "zero":
        raise unsupported_option("scipy.special.factorial", "exact= or extend=", "leave it out, or use gamma(n + 1)")
    n = operand(n)
    negative = e.less(n, 0)
    return e.where(negative, 0, gamma.gamma(e.where(negative, 0, n) + 1))


def _counting(function: Callable, name: str) -> Callable:
    """A number of selections of k from N: zero unless 0 ≤ k ≤ N."""

    def count(N: Any, k: Any, exact: bool = False, repetition: bool = False) -> Any:
        if exact:
            raise unsupported_option(
                f"scipy.special.{name}", "exact=True", "leave it out: integers have no derivatives"
            )
        N, k = operand(N), operand(k)
        if repetition:
            N = N + k - 1
        possible = e.logical_and(e.less_equal(k, N), e.greater_equal(k, 0))
        return e.where(possible, function(e.where(possible, N, 1), e.where(possible, k, 1)), 0)

    return count


implements_blind(sc.comb)(_counting(gamma.binom, "comb"))
implements_blind(sc.perm)(_counting(lambda N, k: gamma.poch(N - k + 1, k), "perm"))

if hasattr(sc, "softplus"):

    @implements_blind(sc.softplus)
    def softplus(x: Any, **options: Any) -> Any:
        if options:
            raise unsupported_option("scipy.special.softplus", ", ".join(options), "leave it out")
        return e.logaddexp(0, operand(x))


def _spherical(name: str) -> Callable:
    op: Any = TABLE[name]

    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        n = n if isinstance(n, Traced) else int(n) if np.ndim(n) == 0 else np.asarray(n, int)
        z = operand(z)
        return op.partials[1](None, n, z) if derivative else op(n, z)

    return function


for _name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
    implements_blind(getattr(sc, _name))(_spherical(_name))
    _register(f"_{_name}_d", lambda n, z, op=TABLE[_name]: op.partials[1](None, n, z))


def _repeated(name: str, op: Callable, sign: float, both: int) -> Callable:
    """The n-th derivative of a Bessel function, by DLMF 10.6.7 and 10.29.5."""

    def function(v: Any, z: Any, n: int = 1) -> Any:
        if n.__class__ is not int or n < 0:
            raise ValueError(f"scipy.special.{name}: n must be a non-negative integer")
        v, z = operand(v), operand(z)
        total: Any = 0.0
        for k in range(n + 1):
            total = total + (both**k * math.comb(n, k)) * op(v - n + 2 * k, z)
        return (0.5 * sign) ** n * total

    return function


for _name, _op, _sign, _both in (
    ("jvp", bessel.jv, 1.0, -1), ("yvp", bessel.yv, 1.0, -1), ("ivp", bessel.iv, 1.0, 1), ("kvp", bessel.kv, -1.0, 1),
    ("h1vp", bessel.hankel1, 1.0, -1), ("h2vp", bessel.hankel2, 1.0, -1),
):  # fmt: skip
    implements_blind(getattr(sc, _name))(_repeated(_name, _op, _sign, _both))

# ---------------------------------------------------------------------------------------------- without derivatives

_NOT_YET = "not yet; give it a rule with wg.custom_jvp"
for _name in dir(sc):
    _function = getattr(sc, _name)
    if isinstance(_function, np.ufunc) and _function not in UFUNCS:
        NONDIFFERENTIABLE[_function] = _NOT_YET
