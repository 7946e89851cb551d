"""Every enclosure of the table contains what the op computes at points of the intervals, eagerly and compiled."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.special

import wengert as wg
from tests.op_calls import EXAMPLES
from wengert.errors import UndecidedError, UnsupportedFunctionError
from wengert.modes.interval import Enclosure, make
from wengert.ops import rectangles
from wengert.ops.derive import Control
from wengert.ops.op import TABLE, call

ELEMENTWISE = sorted(
    op.name
    for op in TABLE.values()
    if op.elementwise
    and (op.bounds or op.moves)
    and op.name not in ("by_numpy", "by_numpy_of_two", "step", "real", "conjugate", "lambertw")
    and op.name not in ("cosm1", "cotdg", "tandg", "powm1", "pseudo_huber")  # SciPy's own errors are larger than bounds
)
PARAMETERS = {
    "astype": {"dtype": np.dtype(np.float32)},
    "as_integer": {"dtype": np.dtype(np.int64)},
    "nan_to_num": {"nan": 0.0, "posinf": 1.0, "neginf": 1.0},
    "power_log": {"n": 1},
    "undifferentiable": {"what": "x", "why": "y"},
    **{key: {"n": 0} for key in ("sinc", "exprel", "erfcx", "dawsn")},
}
OPERANDS = {
    "where": 3,
    **dict.fromkeys(
        [
            "power_log",
            "ldexp",
            "remainder",
            "fmod",
            "floor_divide",
            "copysign",
            "heaviside",
            "guarded_product",
            "isclose",
        ],
        2,
    ),
}


NUMBERS = {"jv": (3,), "yv": (1.5,), "kve": (2.5,), "expn": (2,), "hyp2f1": (0.5, 1.5, 2.5), "hyp1f1": (0.5, 1.5)}
NUMBERS |= {"hyp0f1": (1.5,), "ive": (1,), "eval_jacobi": (4, 0.5, 1.5), "eval_gegenbauer": (4, 1.5)}
NUMBERS |= {"eval_genlaguerre": (4, 0.5), "spherical_jn": (3,), "spherical_yn": (2,), "spherical_in": (2,)}
NUMBERS |= {
    "spherical_kn": (1,),
    "eval_laguerre": (5,),
    "eval_legendre": (6,),
    "eval_chebyt": (5,),
    "eval_chebyu": (4,),
}
NUMBERS |= {"eval_hermite": (5,), "eval_hermitenorm": (4,)}
"""First operands that are numbers, whatever the last one is."""
PARAMETERS |= {key: {"n": 0} for key in ("polygamma_step", "hurwitz", "kve", "ive", "student_cdf")}
PARAMETERS |= {"elliptic": {"p": 0, "q": 1}}

MASKS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "logical_and", "logical_or", "logical_xor")
MASKS += ("logical_not", "where")
"""Ops whose operands, of `where` the first, are conditions."""


def number_of_operands(op):
    if op.name in OPERANDS:
        return OPERANDS[op.name]
    return getattr(op.impl, "nin", None) or len(getattr(op, "partials", (0,)))


def random_intervals(rng, n):
    """Around zero, tiny, huge, narrow, wide, points, and with bounds at zero and at whole numbers."""
    centre = rng.normal(size=n) * 10.0 ** rng.choice([-200, -8, -1, 0, 0, 0, 1, 2], size=n)
    radius = np.abs(rng.normal(size=n)) * 10.0 ** rng.choice([-12, -3, -1, 0, 0, 1], size=n)
    radius = np.where(rng.random(n) < 0.1, 0.0, np.minimum(radius, 1e3 + np.abs(centre)))
    low, high = centre - radius, centre + radius
    low = np.where(rng.random(n) < 0.1, 0.0, low)
    high = np.where((rng.random(n) < 0.1) & (low <= 0), 0.0, high)
    whole = rng.random(n) < 0.2
    low, high = np.where(whole, np.floor(low), low), np.where(whole, np.ceil(high), high)
    return np.minimum(low, high), np.maximum(low, high)


def points_in(rng, low, high, count):
    t = rng.random((count, *low.shape))
    t[0], t[1 % count] = 0.0, 1.0
    return np.clip(low + t * (high - low), low, high) + 0.0  # a zero has no sign


def bounds_of(y):
    return (y.lo, y.hi) if isinstance(y, Enclosure) else (y, y)


def contains(name, y, values, *points):
    """Values that are NaN are not defined; infinite ones are too large for a float."""
    low, high = bounds_of(y)
    if np.asarray(values).dtype.kind == "b":
        inside = (np.asarray(low) <= values) & (values <= np.asarray(high))
    else:
        most = np.finfo(float).max
        inside = ~np.isfinite(values) | ((np.asarray(low, float) <= values) & (values <= np.asarray(high, float)))
        inside |= (np.abs(values) > most) & True
    if not np.all(inside):
        k = np.argwhere(~np.asarray(inside))[0]
        found = [np.broadcast_to(p, np.shape(inside))[tuple(k)] for p in (low, high, values, *points)]
        raise AssertionError(f"{name}: [low, high], value, points = {found}")


def check_elementwise(name, rng, intervals, count, compiled=False):
    op = TABLE[name]
    params, k = PARAMETERS.get(name, {}), number_of_operands(op)
    operands = [random_intervals(rng, intervals) for _ in range(k)]
    args = [make(low, high) for low, high in operands]
    points = [points_in(rng, low, high, count) for low, high in operands]
    if name in MASKS:
        for i in range(1 if name == "where" else k):
            args[i], points[i] = args[i] > 0, points[i] > 0
    if name == "ldexp":
        args[1] = points[1] = rng.integers(-20, 20, size=intervals)
    for i, number in enumerate(NUMBERS.get(name, ())):
        args[i] = points[i] = number
    if name == "polygamma":
        args[0] = points[0] = rng.integers(0, 5, size=intervals)

    if name in ("binom", "poch"):
        args[1] = points[1] = rng.choice([0.0, 0.5, 1.0, 2.0, 2.5, 7.0, -1.5], size=intervals)

    numbers = NUMBERS.get(name, ())

    def f(*xs):
        return call(op, *numbers, *xs[len(numbers) :], **params)

    with np.errstate(all="ignore"):
        values = op.impl(*points, **params)
        y = wg.jit(f)(*args) if compiled else wg.enclose(f)(*args)
        if name in ("remainder", "fmod", "floor_divide"):
            # where the quotient is huge, or next to a whole number, the rounded one is another
            q = points[0] / points[1]
            values = np.where((np.abs(q) < 1e6) & (np.abs(q - np.round(q)) > 1e-6), values, np.nan)
        if name in ("power", "powm1", "arctan2"):  # not defined there, whatever NumPy says
            undefined = points[0] < 0 if name != "arctan2" else (points[0] == 0) & (points[1] == 0)
            values = np.where(undefined, np.nan, values)
        if name == "gamma_density":  # it underflows a little early
            values = np.where(np.abs(values) < np.finfo(float).tiny, np.nan, values)
        if name in ("gammaincinv", "gammainccinv"):  # SciPy's values for what is no probability
            values = np.where((points[1] < 0) | (points[1] > 1) | (points[0] <= 0), np.nan, values)
        if name in ("gammainc", "gammaincc", "betainc", "betaincc"):  # SciPy may give 1 + 1.5e-14
            values = np.clip(values, 0.0, 1.0)
    contains(name, y, values, *points)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_points_are_contained(name, rng):
    check_elementwise(name, rng, 300, 30)


@pytest.mark.slow
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_a_million_points_are_contained(name, rng):
    for _ in range(10):
        check_elementwise(name, rng, 1000, 100)


COMPILED = [
    n for n in ELEMENTWISE if n not in ("undifferentiable", "python_number", "positive", "copy", "stop_gradient")
]


QUICK = ("add", "multiply", "divide", "sqrt", "sin", "exp", "power", "less", "where")


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in COMPILED])
def test_points_are_contained_in_compiled_bounds(name, rng):
    check_elementwise(name, rng, 200, 20, compiled=True)


# ------------------------------------------------------------------------------------------- against many digits

EXACT = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "exp10": lambda x: mpmath.mpf(10) ** x,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": mpmath.log10,
    "log1p": mpmath.log1p,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "arcsin": mpmath.asin,
    "arccos": mpmath.acos,
    "arctan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "arcsinh": mpmath.asinh,
    "arccosh": mpmath.acosh,
    "arctanh": mpmath.atanh,
    "sqrt": mpmath.sqrt,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "expit": lambda x: 1 / (1 + mpmath.exp(-x)),
    "log_expit": lambda x: -mpmath.log1p(mpmath.exp(-x)),
    "sech_squared": lambda x: mpmath.sech(x) ** 2,
    "cosm1": lambda x: mpmath.cos(x) - 1,  # SciPy's is not good far out
    "degrees": lambda x: x * 180 / mpmath.pi,
    "radians": lambda x: x * mpmath.pi / 180,
}
LOOSE = {"erfc": 4200, "erf": 8, "expit": 8, "log_expit": 8, "sech_squared": 12, "cosm1": 12}
"""Of how many units in the last place they may miss, where that is not four."""


def arguments(name, rng, n):
    x = rng.normal(size=n) * 10.0 ** rng.choice([-9, -2, 0, 0, 0, 1], size=n)
    if name in ("arcsin", "arccos", "arctanh"):
        return np.clip(np.tanh(x), -0.999999, 0.999999)
    if name == "arccosh":
        return 1 + np.abs(x)
    return np.abs(x) + 1e-30 if name in ("log", "log2", "log10", "sqrt", "log1p") else x


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", sorted(EXACT))
def test_values_to_many_digits_are_contained_tightly(name, compiled, rng):
    """An interval of one number: its bounds contain the true value, and are a few numbers apart."""
    x = arguments(name, rng, 60)
    f = lambda x: call(TABLE[name], x)
    y = (wg.jit(f) if compiled else wg.enclose(f))(wg.interval(x))
    with mpmath.workprec(200):
        for k, v in enumerate(x):
            true = EXACT[name](mpmath.mpf(float(v)))
            assert mpmath.mpf(float(y.lo[k])) <= true <= mpmath.mpf(float(y.hi[k])), (name, v)
    assert np.all(y.hi - y.lo <= 2 * LOOSE.get(name, 4) * np.spacing(np.abs(y.hi))), name


# ------------------------------------------------------------------------------------------------ the whole table

IN_WORDS = ("eig", "eigvals", "svd", "qr", "lu")
"""What has no enclosure, and says what has one."""
OTHERS = sorted(
    op.name
    for op in TABLE.values()
    if not op.elementwise
    and not isinstance(op, Control)
    and (op.bounds or op.moves)
    and not op.effect
    and op.name not in ("solution", "refined_solution", "linear_solution")  # tests/solvers/test_proved.py
    and op.name not in ("true_positions", "slogdet", *IN_WORDS)  # (two results: tests/modes/test_interval.py)
)


@pytest.mark.parametrize("name", OTHERS)
def test_results_of_other_ops_are_contained(name, rng):
    """Calls of the table, with intervals for their operands."""
    op, tried = TABLE[name], 0
    for example in EXAMPLES.get(name, []):
        if example.before is not None or name == "shares":  # (of an extreme: see the derivatives of extremes)
            continue
        args = [np.asarray(a) if isinstance(a, float) else a for a in example.args]
        data = op.data_count(args, example.params)
        chosen = [
            k < data and isinstance(a, np.ndarray) and a.dtype.kind == "f" and a.ndim >= 0 for k, a in enumerate(args)
        ]
        if not any(chosen) or any(np.asarray(a).dtype.kind == "c" for a in args[:data]):
            continue
        for radius in (0.0, 1e-3, 0.2):
            boxes = [make(a - radius, a + radius) if c else a for a, c in zip(args, chosen, strict=True)]
            try:
                y = wg.enclose(lambda *xs: call(op, *xs, **example.params))(*boxes)  # noqa: B023
            except (UndecidedError, UnsupportedFunctionError):
                undecided = (
                    "index",
                    "store",
                    "det",
                    "solve",
                    "solve_triangular",
                    "inv",
                    "cholesky",
                    "astype",
                    "searchsorted",
                    "observe",
                    "recursive_filter",
                )
                assert name in undecided or "arg" in name, name
                continue
            for _ in range(20):
                at = [a + rng.uniform(-radius, radius, a.shape) if c else a for a, c in zip(args, chosen, strict=True)]
                value = op.impl(*at, **example.params)
                slack = 1e-12 * np.nanmax(np.abs(value), initial=1.0)  # the value is rounded, the bounds are not
                low, high = bounds_of(y)
                inside = np.isnan(value) | ((low - slack <= value) & (value <= high + slack))
                assert np.all(inside), (name, example)
                tried += 1
    assert tried or name == "shares" or all(e.before for e in EXAMPLES.get(name, []))


REFUSED = sorted(
    op.name
    for op in TABLE.values()
    if not (op.bounds or op.moves or isinstance(op, Control) or op.effect or op.name in ("iota", "size", "step"))
    and op.name not in rectangles.COMPLEX_OF_REAL  # (test_rectangles.py)
)


@pytest.mark.parametrize("name", REFUSED)
def test_ops_without_enclosure_say_so(name):
    op = TABLE[name]
    for example in EXAMPLES.get(name, [])[:1]:
        args = [np.asarray(a) if isinstance(a, float) else a for a in example.args]
        boxes = [make(a, a) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args]
        if not any(isinstance(b, Enclosure) for b in boxes):
            continue
        with pytest.raises(UnsupportedFunctionError, match=f"no enclosure is known of {name}"):
            call(op, *boxes, **example.params)


def test_complex_results_have_no_enclosure_and_say_what_has_one():
    with pytest.raises(UnsupportedFunctionError, match=r"lambertw(.|\n)*wrightomega\(np\.log\(x\)\)"):
        scipy.special.lambertw(make(1.0, 2.0))
    y = scipy.special.wrightomega(np.log(make(1.0, 2.0)))
    assert y.lo < scipy.special.lambertw(1.0).real < scipy.special.lambertw(2.0).real < y.hi


@pytest.mark.parametrize("name", IN_WORDS)
def test_ops_without_enclosure_name_what_has_one(name):
    a = np.array([[2.0, 1.0], [0.5, 3.0]])
    functions = {"lu": scipy.linalg.lu}
    with pytest.raises(UnsupportedFunctionError, match="no enclosure is known of") as error:
        wg.enclose(functions.get(name) or getattr(np.linalg, name))(make(a, a + 0.1))
    assert "take" in str(error.value) or "multiply" in str(error.value)


SPECIAL = {
    "gamma": (mpmath.gamma, 0.05, 30.0), "gammaln": (mpmath.loggamma, 0.05, 30.0),
    "digamma": (mpmath.digamma, 0.05, 30.0),
    "j0": (mpmath.j0, -30.0, 30.0), "j1": (mpmath.j1, -30.0, 30.0), "i0": (lambda x: mpmath.besseli(0, x), -9.0, 9.0),
    "i1": (lambda x: mpmath.besseli(1, x), -9.0, 9.0), "k0": (lambda x: mpmath.besselk(0, x), 0.01, 9.0),
    "k1": (lambda x: mpmath.besselk(1, x), 0.01, 9.0), "erfi": (mpmath.erfi, -4.0, 4.0),
    "expi": (mpmath.ei, 0.01, 20.0),
    "exp1": (mpmath.e1, 0.01, 20.0), "erfinv": (mpmath.erfinv, -0.99, 0.99), "zeta": (mpmath.zeta, 1.05, 9.0),
    "airy_bi": (mpmath.airybi, -4.0, 3.0), "ellipk": (mpmath.ellipk, -9.0, 0.99), "ellipe": (mpmath.ellipe, -9.0, 0.99),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_against_many_digits(name, rng):
    """The true value, not only SciPy's; narrow intervals are enclosed narrowly."""
    function, first, last = SPECIAL[name]
    low = rng.uniform(first, last, 25)
    high = np.minimum(low + rng.choice([0.0, 1e-9, 0.1, 3.0], 25), last)
    y = call(TABLE[name], make(low, high))
    with mpmath.workdps(30):
        for a, b, least, most in zip(low, high, y.lo, y.hi, strict=True):
            for x in (a, b, a + (b - a) * rng.random()):
                assert least <= mpmath.re(function(mpmath.mpf(float(x)))) <= most, (name, a, b, x)
            if a == b:
                assert most - least <= 1e-11 * max(1.0, abs(most))


def _regularized(a, b, x):
    return mpmath.betainc(a, b, 0, x, regularized=True)


SEVERAL = {
    # the op, its parameters, the true function, and between which numbers its operands are
    "sinc": ({"n": 0}, mpmath.sincpi, (-9.0, 9.0)),
    "slope of sinc": ({"n": 1}, lambda x: mpmath.diff(mpmath.sincpi, x), (-9.0, 9.0)),
    "exprel": ({"n": 0}, lambda x: mpmath.expm1(x) / x, (-90.0, 90.0)),
    "erfcx": ({"n": 0}, lambda x: mpmath.exp(x * x) * mpmath.erfc(x), (-9.0, 30.0)),
    "slope of erfcx": (
        {"n": 1}, lambda x: 2 * x * mpmath.exp(x * x) * mpmath.erfc(x) - 2 / mpmath.sqrt(mpmath.pi), (-9.0, 9.0)
    ),
    "dawsn": ({"n": 0}, lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x), (-9.0, 9.0)),
    "log_ndtr": ({}, lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2), (-30.0, 6.0)),
    "kl_div": ({}, lambda x, y: x * mpmath.log(x / y) - x + y, (0.01, 3.0), (0.01, 3.0)),
    "huber": ({}, lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2), (0.1, 3.0), (-5.0, 5.0)),
    "pseudo_huber": ({}, lambda d, r: d * d * (mpmath.sqrt(1 + (r / d) ** 2) - 1), (0.1, 3.0), (-5.0, 5.0)),
    "sindg": ({}, lambda x: mpmath.sin(x * mpmath.pi / 180), (-900.0, 900.0)),
    "cosdg": ({}, lambda x: mpmath.cos(x * mpmath.pi / 180), (-900.0, 900.0)),
    "tandg": ({}, lambda x: mpmath.tan(x * mpmath.pi / 180), (-89.0, 89.0)),
    "cotdg": ({}, lambda x: mpmath.cot(x * mpmath.pi / 180), (1.0, 170.0)),
    "boxcox": ({}, lambda x, p: (x**p - 1) / p, (0.01, 9.0), (-3.0, 3.0)),
    "boxcox1p": ({}, lambda x, p: ((1 + x) ** p - 1) / p, (-0.9, 9.0), (-3.0, 3.0)),
    "powm1": ({}, lambda x, p: x**p - 1, (0.01, 9.0), (-3.0, 3.0)),
    "beta": ({}, mpmath.beta, (0.05, 30.0), (0.05, 30.0)),
    "betaln": ({}, lambda a, b: mpmath.log(mpmath.beta(a, b)), (0.05, 30.0), (0.05, 30.0)),
    "gammainc": ({}, lambda a, x: mpmath.gammainc(a, 0, x, regularized=True), (0.05, 30.0), (0.0, 30.0)),
    "gammaincc": ({}, lambda a, x: mpmath.gammainc(a, x, regularized=True), (0.05, 30.0), (0.0, 30.0)),
    "betainc": ({}, _regularized, (0.05, 30.0), (0.05, 30.0), (0.0, 1.0)),
    "betaincc": ({}, lambda a, b, x: 1 - _regularized(a, b, x), (0.05, 30.0), (0.05, 30.0), (0.0, 1.0)),
    "iv": ({}, mpmath.besseli, (0.0, 8.0), (0.0, 30.0)),
    "kv": ({}, mpmath.besselk, (0.0, 8.0), (0.05, 30.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_functions_of_several_numbers_against_many_digits(name, rng):
    params, function, *ranges = SEVERAL[name]
    low = [rng.uniform(a, b, 12) for a, b in ranges]
    high = [np.minimum(x + rng.choice([0.0, 1e-9, 0.1], 12), b) for x, (_, b) in zip(low, ranges, strict=True)]
    y = call(TABLE[name.split()[-1]], *[make(a, b) for a, b in zip(low, high, strict=True)], **params)
    with mpmath.workdps(40):
        for k in range(12):
            for t in (0.0, 1.0, rng.random()):
                at = [float(a[k] + t * (b[k] - a[k])) if t < 1 else float(b[k]) for a, b in zip(low, high, strict=True)]
                true = mpmath.re(function(*[mpmath.mpf(x) for x in at]))
                assert y.lo[k] <= true <= y.hi[k], (name, at)
            if all(a[k] == b[k] for a, b in zip(low, high, strict=True)):
                assert y.hi[k] - y.lo[k] <= 1e-9 * max(1.0, abs(y.hi[k]))


def test_orders_of_polygamma(rng):
    x = rng.uniform(0.05, 20.0, 10)
    y = wg.enclose(lambda x: scipy.special.polygamma(np.arange(1, 11) % 4 + 1, x))(make(x, x + 0.1))
    with mpmath.workdps(40):
        for k, v in enumerate(x):
            true = mpmath.polygamma((k + 1) % 4 + 1, mpmath.mpf(float(v)))
            assert y.lo[k] <= true <= y.hi[k]


@pytest.mark.parametrize("name", ["gamma", "gammaln", "digamma", "zeta", "expi"])
def test_beyond_a_pole_it_may_be_anything(name):
    y = call(TABLE[name], make(np.array([-1.5]), np.array([3.0])))
    assert (y.lo[0], y.hi[0]) == (-np.inf, np.inf)


WITH_A_NUMBER = {
    # functions of an interval and a number, from which something is computed that is rounded
    "xlogy": (scipy.special.xlogy, lambda x, y: x * mpmath.log(y)),
    "xlog1py": (scipy.special.xlog1py, lambda x, y: x * mpmath.log1p(y)),
    "rel_entr": (scipy.special.rel_entr, lambda x, y: x * mpmath.log(x / y)),
    "slope of gammainc": (
        lambda x, a: wg.grad(lambda x: scipy.special.gammainc(a, x))(x),
        lambda x, a: mpmath.exp((a - 1) * mpmath.log(x) - x) / mpmath.gamma(a),
    ),
    "slope of betainc": (
        lambda x, a: wg.grad(lambda x: scipy.special.betainc(a, 50.0, x / 50))(x),
        lambda x, a: (x / 50) ** (a - 1) * (1 - x / 50) ** 49 / mpmath.beta(a, 50) / 50,
    ),
    "slope of a power": (lambda p, x: wg.grad(lambda p: x**p)(p), lambda p, x: x**p * mpmath.log(x)),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", WITH_A_NUMBER)
def test_what_is_computed_of_numbers_is_rounded_too(name, compiled, rng):
    f, exact = WITH_A_NUMBER[name]
    for y in (2.0, 40.3):
        enclosed = wg.enclose(lambda x, f=f, y=y: f(x, y))
        enclosed = wg.jit(enclosed) if compiled else enclosed
        for x in [1.0, 3.0, *np.exp(rng.uniform(-4, 3.5, 12))]:
            box = enclosed(wg.interval(x))
            with mpmath.workdps(40):
                assert box.lo <= exact(mpmath.mpf(float(x)), mpmath.mpf(y)) <= box.hi, (x, y)
            assert box.hi - box.lo <= 1e-9 * max(1.0, abs(box.hi))


def test_slopes_of_incomplete_gamma_functions():
    for order in (1, 2, 3):
        f = lambda x: scipy.special.gammainc(3.0, x)
        for _ in range(order):
            f = wg.grad(f)
        box = wg.enclose(f)(wg.interval(0.0, 0.7))
        for x in np.linspace(0.0, 0.7, 30):
            value = [x * x, 2 * x - x * x, 2 - 4 * x + x * x][order - 1] * np.exp(-x) / 2
            assert box.lo <= value <= box.hi
