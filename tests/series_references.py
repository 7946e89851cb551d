"""Elementwise ops as functions of mpmath, with points at which they are expanded, for `modes/test_series_order_30.py`.

An entry is (function of mpmath, points, options). A point is a tuple of operands, or one number. `vary` says in which
operands to expand (the last one if not said), `order` how far (30), `tol` how large an error may be,
`params` what else the op is given.

`python tests/series_references.py` computes the coefficients with hundreds of digits (it takes minutes), rounds them
and writes them to `data/series_order_30.json`; what is there already is kept.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import mpmath as mp

FILE = Path(__file__).parent / "data" / "series_order_30.json"
ORDER = 30

half = mp.mpf(1) / 2


def _ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _erfinv(y):
    """The real one continued: Newton's method, each step of which doubles the digits."""
    x = mp.erfinv(mp.re(y)) + mp.mpc(0, 0)
    for _ in range(8):
        x = x - (mp.erf(x) - y) * mp.exp(x * x) * mp.sqrt(mp.pi) / 2
    return x


def _sinc(x):
    return mp.sin(mp.pi * x) / (mp.pi * x) if x else mp.mpf(1)


def _exprel(x):
    return mp.expm1(x) / x if x else mp.mpf(1)


def _log1p(x):
    return mp.log(1 + x)


LINE = [-20.0, -1.0, 0.0, 1e-9, 0.3, 2.5, 12.0]
SMALL = [-2.5, -0.3, 0.0, 0.2, 1.0, 3.0]
POSITIVE = [1e-10, 1e-3, 0.3, 1.0, 4.0, 45.0, 1e6]
UNIT = [-0.99, -0.3, 0.0, 0.2, 0.9]
INSIDE = [1e-3, 0.2, 0.5, 0.9]

UNARY = {
    "exp": (mp.exp, [-700.0, *LINE, 600.0]),
    "exp2": (lambda x: mp.power(2, x), LINE),
    "exp10": (lambda x: mp.power(10, x), LINE),
    "expm1": (mp.expm1, LINE),
    "log": (mp.log, [1e-300, *POSITIVE, 1e300]),
    "log2": (lambda x: mp.log(x) / mp.log(2), POSITIVE),
    "log10": (lambda x: mp.log(x) / mp.log(10), POSITIVE),
    "log1p": (_log1p, [-0.999, -0.3, 0.0, 1e-12, 0.3, 50.0]),
    "sqrt": (mp.sqrt, POSITIVE),
    "cbrt": (lambda x: mp.sign(mp.re(x)) * mp.cbrt(mp.sign(mp.re(x)) * x), [*POSITIVE, -2.0]),
    "square": (lambda x: x * x, LINE),
    "reciprocal": (lambda x: 1 / x, [*POSITIVE, -2.0]),
    "negative": (lambda x: -x, SMALL),
    "positive": (lambda x: x, SMALL),
    "absolute": (lambda x: x * mp.sign(mp.re(x)), [-2.5, 0.3, 1e9]),
    "degrees": (lambda x: x * 180 / mp.pi, SMALL),
    "radians": (lambda x: x * mp.pi / 180, SMALL),
    "sin": (mp.sin, [*LINE, 1e5]),
    "cos": (mp.cos, [*LINE, 1e5]),
    "tan": (mp.tan, [-1.0, 0.0, 0.3, 1.4, 12.0]),
    "arcsin": (mp.asin, UNIT),
    "arccos": (mp.acos, UNIT),
    "arctan": (mp.atan, [*LINE, 1e6]),
    "sinh": (mp.sinh, LINE),
    "cosh": (mp.cosh, LINE),
    "tanh": (mp.tanh, [-20.0, -1.0, 0.0, 0.3, 2.5, 12.0]),
    "sech_squared": (lambda x: 1 / mp.cosh(x) ** 2, [-20.0, -1.0, 0.0, 0.3, 2.5, 12.0]),
    "one_minus_square": (lambda x: 1 - x * x, [*UNIT, 1 - 1e-9, 40.0]),
    "arcsinh": (mp.asinh, [*LINE, 1e6]),
    "arccosh": (mp.acosh, [1.001, 1.5, 40.0, 1e6]),
    "arctanh": (mp.atanh, UNIT),
    "sindg": (lambda x: mp.sin(x * mp.pi / 180), LINE),
    "cosdg": (lambda x: mp.cos(x * mp.pi / 180), LINE),
    "tandg": (lambda x: mp.tan(x * mp.pi / 180), [-20.0, 0.0, 0.3, 45.0]),
    "cotdg": (lambda x: mp.cot(x * mp.pi / 180), [-20.0, 0.5, 3.0, 45.0, 100.0]),
    "cosm1": (lambda x: mp.cos(x) - 1, SMALL),
    "erf": (mp.erf, [-5.0, *SMALL, 5.0]),
    "erfc": (mp.erfc, [-5.0, *SMALL, 9.0]),
    "erfi": (mp.erfi, SMALL),
    "erfinv": (_erfinv, [-0.9, 0.0, 0.3, 0.99]),
    "erfcinv": (lambda x: _erfinv(1 - x), [0.01, 0.5, 1.2, 1.9]),
    "ndtr": (_ndtr, [-9.0, *SMALL, 5.0]),
    "ndtri": (lambda p: mp.sqrt(2) * _erfinv(2 * p - 1), [0.01, 0.5, 0.9]),
    "log_ndtr": (lambda x: mp.log(_ndtr(x)), [-12.0, -2.0, 0.5, 3.0]),
    "ndtri_exp": (lambda y: mp.sqrt(2) * _erfinv(2 * mp.exp(y) - 1), [-3.0, -1.0, -0.3]),
    "mills": (lambda x: mp.sqrt(2 / mp.pi) * mp.exp(-x * x / 2) / mp.erfc(-x / mp.sqrt(2)), [-9.0, -1.0, 0.0, 2.0]),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), [-20.0, -1.0, 0.0, 0.3, 2.5, 12.0]),
    "logit": (lambda x: mp.log(x / (1 - x)), INSIDE),
    "log_expit": (lambda x: -mp.log(1 + mp.exp(-x)), [-20.0, -1.0, 0.0, 0.3, 2.5, 12.0]),
    "entr": (lambda x: -x * mp.log(x), POSITIVE),
    "wrightomega": (lambda x: mp.lambertw(mp.exp(x)), SMALL),
    "exp1": (mp.e1, [1e-3, 0.3, 4.0, 45.0]),
    "expi": (mp.ei, [0.2, 3.0, 30.0]),
    "sinint": (mp.si, [0.2, 3.0, 12.0]),
    "cosint": (mp.ci, [0.2, 3.0, 12.0]),
    "sinhint": (mp.shi, [0.2, 3.0, 12.0]),
    "coshint": (mp.chi, [0.2, 3.0, 12.0]),
    "fresnel_s": (mp.fresnels, [0.0, 0.3, 2.0]),
    "fresnel_c": (mp.fresnelc, [0.0, 0.3, 2.0]),
    "spence": (lambda x: mp.polylog(2, 1 - x), [0.3, 0.9, 1.5]),
    "j0": (mp.j0, [0.0, 0.7, 12.0]),
    "j1": (mp.j1, [0.0, 0.7, 12.0]),
    "y0": (lambda x: mp.bessely(0, x), [0.3, 2.0, 12.0]),
    "i0": (lambda x: mp.besseli(0, x), [0.0, 0.7, 12.0]),
    "i1": (lambda x: mp.besseli(1, x), [0.0, 0.7, 12.0]),
    "k0": (lambda x: mp.besselk(0, x), [0.3, 2.0]),
    "k1": (lambda x: mp.besselk(1, x), [0.3]),
    "airy_ai": (mp.airyai, [-3.0, 0.0, 2.0]),
    "airy_aip": (lambda x: mp.airyai(x, derivative=1), [-3.0, 0.0, 2.0]),
    "airy_bi": (mp.airybi, [-3.0, 0.0, 2.0]),
    "airy_bip": (lambda x: mp.airybi(x, derivative=1), [-3.0, 0.0, 2.0]),
    "ellipk": (mp.ellipk, [-2.0, 0.0, 0.1, 0.3, 0.9]),
    "ellipe": (mp.ellipe, [-2.0, 0.0, 0.1, 0.3, 0.9]),
    "ellipkm1": (lambda p: mp.ellipk(1 - p), [0.95]),
    "gamma": (mp.gamma, [-0.5, 0.2, 1.4616, 4.0, 30.5]),
    "gammaln": (mp.loggamma, [0.2, 1.3, 30.5, 1e5]),
    "loggamma": (mp.loggamma, [0.2, 1.3, 30.5, 1e5]),
    "digamma": (mp.digamma, [0.2, 1.0, 30.5, 1e5]),
    "rgamma": (mp.rgamma, [-2.0, -0.5, 0.2, 4.0]),
    "zeta": (mp.zeta, [3.0]),
    "python_number": (lambda x: x, [0.3]),
}
SEVERAL = {
    "add": (lambda x, y: x + y, [(0.3, 2.0)], {"vary": (0, 1)}),
    "subtract": (lambda x, y: x - y, [(0.3, 2.0)], {"vary": (0, 1)}),
    "multiply": (lambda x, y: x * y, [(0.3, 2.0)], {"vary": (0, 1)}),
    "divide": (lambda x, y: x / y, [(0.3, 2.0), (1e9, -0.01)], {"vary": (0, 1)}),
    "power": (lambda x, p: mp.power(x, p), [(0.3, 2.5), (7.0, -0.3), (2.0, 5.0), (1e-3, 0.5)], {"vary": (0, 1)}),
    "power_log": (
        lambda x, p: mp.power(x, p) * mp.log(x),
        [(0.3, 2.5), (7.0, -0.3)],
        {"vary": (0, 1), "params": {"n": 1}, "order": 12},
    ),
    "arctan2": (lambda y, x: mp.atan(y / x), [(0.3, 2.0), (-5.0, 0.1)], {"vary": (0, 1)}),
    "hypot": (lambda x, y: mp.sqrt(x * x + y * y), [(0.3, 2.0), (1e6, 0.1)], {"vary": (0, 1)}),
    "logaddexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), [(0.3, 2.0), (-20.0, 3.0)], {"vary": (0, 1)}),
    "logaddexp2": (lambda x, y: mp.log(mp.power(2, x) + mp.power(2, y)) / mp.log(2), [(0.3, 2.0)], {"vary": (0, 1)}),
    "xlogy": (lambda x, y: x * mp.log(y), [(0.3, 2.0)], {"vary": (0, 1)}),
    "xlog1py": (lambda x, y: x * _log1p(y), [(0.3, 2.0)], {"vary": (0, 1)}),
    "rel_entr": (lambda x, y: x * mp.log(x / y), [(0.3, 2.0)], {"vary": (0, 1)}),
    "kl_div": (lambda x, y: x * mp.log(x / y) - x + y, [(0.3, 2.0)], {"vary": (0, 1)}),
    "pseudo_huber": (lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), [(0.7, 2.0)], {"vary": (0, 1)}),
    "boxcox": (lambda x, p: (mp.power(x, p) - 1) / p, [(0.3, 2.5)], {"vary": (0, 1)}),
    "boxcox1p": (lambda x, p: (mp.power(1 + x, p) - 1) / p, [(0.3, 2.5)], {"vary": (0, 1)}),
    "powm1": (lambda x, p: mp.power(x, p) - 1, [(0.3, 2.5)], {"vary": (0,)}),
    "owens_t": (
        lambda h, a: mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi),
        [(0.4, 1.3)],
        {"vary": (1,), "order": 12},
    ),
    "sinc": (_sinc, [0.0, 0.3, 1.0, 8.5], {"params": {"n": 0}}),
    "exprel": (_exprel, [-3.0, 0.0, 0.3, 12.0], {"params": {"n": 0}}),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [-1.0, 0.3, 5.0], {"params": {"n": 0}}),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), [-1.0, 0.3, 5.0], {"params": {"n": 0}}),
    "lambertw": (mp.lambertw, [0.3, 4.0], {"params": {"k": 0, "tol": 1e-8}}),
    "jv": (mp.besselj, [(2, 0.7), (0.5, 12.0)], {}),
    "yv": (mp.bessely, [(2, 0.7), (0.5, 12.0)], {}),
    "iv": (mp.besseli, [(2, 0.7), (0.5, 12.0)], {}),
    "kv": (mp.besselk, [(1.5, 0.7), (0.5, 12.0)], {}),
    "spherical_jn": (lambda n, x: mp.sqrt(mp.pi / (2 * x)) * mp.besselj(n + half, x), [(2, 0.7), (1, 12.0)], {}),
    "spherical_yn": (lambda n, x: mp.sqrt(mp.pi / (2 * x)) * mp.bessely(n + half, x), [(2, 0.7), (1, 12.0)], {}),
    "spherical_in": (lambda n, x: mp.sqrt(mp.pi / (2 * x)) * mp.besseli(n + half, x), [(2, 0.7), (1, 12.0)], {}),
    "spherical_kn": (lambda n, x: mp.sqrt(mp.pi / (2 * x)) * mp.besselk(n + half, x), [(2, 0.7), (1, 12.0)], {}),
    "ive": (lambda v, x: mp.exp(-x) * mp.besseli(v, x), [(2, 0.7), (1, 12.0)], {"params": {"n": 0}}),
    "kve": (lambda v, x: mp.exp(x) * mp.besselk(v, x), [(1.5, 0.7), (0.5, 12.0)], {"params": {"n": 0}}),
    "polygamma": (mp.polygamma, [(1, 0.7), (2, 12.0)], {}),
    "beta": (mp.beta, [(0.4, 1.3), (4.0, 9.0)], {"vary": (0, 1)}),
    "betaln": (lambda a, b: mp.log(mp.beta(a, b)), [(0.4, 1.3), (4.0, 9.0)], {"vary": (0, 1)}),
    "poch": (mp.rf, [(0.4, 1.3)], {"vary": (0, 1)}),
    "binom": (mp.binomial, [(4.5, 1.3)], {"vary": (0, 1)}),
    "hurwitz": (mp.zeta, [(2.5, 0.7)], {"params": {"n": 0}}),
    "hyp2f1": (mp.hyp2f1, [(1, 2, 3, 0.3), (0.5, 1.5, 2.5, -0.7)], {}),
    "hyp1f1": (mp.hyp1f1, [(1, 3, 0.7), (0.5, 1.5, -4.0)], {}),
    "hyp0f1": (mp.hyp0f1, [(2, 0.7), (1.5, -4.0)], {}),
    "hyperu": (mp.hyperu, [(1, 2, 0.7)], {}),
    "gammainc": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), [(0.4, 1.3), (4.0, 9.0)], {}),
    "gammaincc": (lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), [(0.4, 1.3), (4.0, 9.0)], {}),
    "gamma_density": (
        lambda a, x: mp.power(x, a - 1) * mp.exp(-x) / mp.gamma(a),
        [(0.4, 1.3), (4.0, 9.0)],
        {"vary": (0, 1)},
    ),
    "betainc": (lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), [(0.4, 1.3, 0.2), (4.0, 2.0, 0.6)], {}),
    "betaincc": (lambda a, b, x: mp.betainc(a, b, x, 1, regularized=True), [(0.4, 1.3, 0.2), (4.0, 2.0, 0.6)], {}),
    "beta_density": (
        lambda a, b, x: mp.power(x, a - 1) * mp.power(1 - x, b - 1) / mp.beta(a, b),
        [(0.4, 1.3, 0.2), (4.0, 2.0, 0.6)],
        {"vary": (0, 1, 2)},
    ),
    "elliptic": (mp.ellipf, [(0.7, 0.3), (2.0, 0.5)], {"vary": (0,), "params": {"p": 0, "q": 1}}),
    "eval_legendre": (mp.legendre, [(4, 0.3)], {}),
    "eval_chebyt": (mp.chebyt, [(4, 0.3)], {}),
    "eval_chebyu": (mp.chebyu, [(4, 0.3)], {}),
    "eval_hermite": (mp.hermite, [(4, 0.3)], {}),
    "eval_hermitenorm": (lambda n, x: mp.power(2, -half * n) * mp.hermite(n, x / mp.sqrt(2)), [(4, 0.3)], {}),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), [(4, 0.3)], {}),
    "eval_genlaguerre": (mp.laguerre, [(4, 2, 0.3)], {}),
    "eval_gegenbauer": (mp.gegenbauer, [(4, 2, 0.3)], {}),
    "jacobi": (lambda u, m: mp.ellipfun("sn", u, m=m), [(0.6, 0.4)], {"params": {"k": 0}, "vary": (0,)}),
    "eval_jacobi": (mp.jacobi, [(4, 1, 2, 0.3)], {}),
}
# Those that say nothing new: choices and masks, and derivatives in parameters, which are numerical themselves.
OTHERS = [
    "accumulate",
    "by_numpy",
    "by_numpy_of_two",
    "step",
    "expn",
    "y1",
    "betainc_by_ab",
    "betaincinv",
    "betainccinv",
    "copysign",
    "fmax",
    "fmin",
    "fmod",
    "gammainc_by_a",
    "gammaincinv",
    "gammainccinv",
    "hankel1",
    "hankel1e",
    "hankel2",
    "hankel2e",
    "heaviside",
    "huber",
    "hyp0f1_by_parameters",
    "hyp1f1_by_parameters",
    "hyp2f1_by_parameters",
    "hyperu_by_parameters",
    "ive_by_order",
    "jv_by_order",
    "kve_by_order",
    "ldexp",
    "maximum",
    "minimum",
    "nan_to_num",
    "polygamma_step",
    "remainder",
    "student_cdf",
    "student_quantile",
    "undifferentiable",
    "where",
    "yv_by_order",
]


def cases():
    """Name of the op, function of mpmath, operands, place of the one that varies, options, and a name for it all."""
    for name, (f, points) in UNARY.items():
        for x in points:
            yield name, f, (x,), 0, {}, f"{name}({x:g})"
    for name, (f, points, options) in SEVERAL.items():
        for x in points:
            args = x if isinstance(x, tuple) else (x,)
            for i in options.get("vary", (len(args) - 1,)):
                yield name, f, args, i, options, f"{name}({', '.join(f'{a:g}' for a in args)}) in {i}"


def coefficients(f, x, order):
    """By Cauchy's formula on a small circle, with so many digits that its radius does not matter."""
    away = abs(math.log10(abs(x))) if x else 0
    with mp.workdps(300 + round(order * min(4 + away, 16))):
        x = mp.mpf(x)
        r = mp.mpf(10) ** -4 * (min(1, abs(x)) if x else 1)
        n = order + 10
        values = [f(x + r * mp.expjpi(mp.mpf(2 * k) / n)) for k in range(n)]
        roots = [mp.expjpi(-mp.mpf(2 * k) / n) for k in range(n)]
        found = [mp.re(sum(v * roots[j * k % n] for k, v in enumerate(values))) / n / r**j for j in range(order + 1)]
        return [
            c if abs(c) > mp.mpf(10) ** (10 - mp.mp.dps) * r**-j * max(map(abs, values)) else mp.mpf(0)
            for j, c in enumerate(found)
        ]


def write():
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for _, f, args, place, options, key in cases():
        if key not in known:

            def reference(x, f=f, args=args, place=place):
                return f(*[mp.mpf(a) for a in args[:place]], x, *[mp.mpf(a) for a in args[place + 1 :]])

            found = coefficients(reference, args[place], options.get("order", ORDER))
            known[key] = [float(c) for c in found]
            FILE.write_text(json.dumps(known, separators=(",", ":")))


if __name__ == "__main__":
    write()
