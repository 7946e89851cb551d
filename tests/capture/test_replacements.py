"""What instrumented code calls instead of constructors, `math`, `cmath` and builtins, on traced and on plain values."""

import cmath
import math
import numbers

import numpy as np
import pytest
import scipy.special
from cases import traced
from programs import check_program

import wengert as wg
from wengert.errors import ConcretizationError
from wengert.ops.op import Traced

X = np.array([[1.5, -0.5, 2.5], [0.7, -1.2, 3.1]])

# --------------------------------------------------------------------------------------------------------- constructors


def of_traced_scalars(x):
    a, b = x[0, 0], x[1, 2]
    return np.array([a, b, a * b]), np.array([[a, 1.0], [2, b]]), np.asarray((a, b)), np.array(a * b)


def of_nested_lists(x):
    rows = [[x[i, j] * x[j % 2, i] for j in range(3)] for i in range(2)]
    return np.array(rows), np.array([x[0], x[1] ** 2]), np.asarray([list(x[0]), [1.0, 2.0, x[1, 0]]]), np.array([[x]])


def of_traced_arrays(x):
    return np.array(x), np.asarray(x), np.asanyarray(x), np.copy(x), np.ascontiguousarray(x), np.array(x, ndmin=3)


def of_tuples_and_generators(x):
    return np.array(tuple(v * v for v in x[0])), np.array(list(map(np.sin, x[1]))), np.array([*x[0], *x[1]])


def full(x):
    return (
        np.full(3, x[0, 0]),
        np.full((2, 3), x[0] * x[1]),
        np.full_like(x, x[1, 1]),
        np.full((2, 2), fill_value=x[0, 2]),
    )


def like(x):
    a, b, c = np.zeros_like(x), np.ones_like(x), np.empty_like(x)
    a[0], b[1], c[...] = x[1], x[0], x * x
    return a, b, c


def written_after(x):
    a, b, c, d = np.zeros(3), np.ones((2, 3)), np.empty(2), np.full(3, 2.0)
    a[1], b[0], c[:], d[2] = x[0, 0], x[1], x[:, 0], x[0, 1]
    e, f, g = np.eye(3), np.identity(2), np.arange(3.0)
    e[0] = x[0]
    f[1, 0] = x[1, 1]
    g *= x[1]
    return a, b, c, d, e, f, g


def spaced(x):
    a, b = x[0, 1], x[0, 2]
    return np.linspace(a, b, 5), np.arange(a, b, 0.7), np.arange(b), np.geomspace(x[0, 0], b, 4), np.arange(3) * a


def joined(x):
    a = np.zeros(3)
    parts = np.stack([a, x[0]]), np.concatenate([x, np.ones((1, 3))]), np.vstack([a, x]), np.hstack([x, x])
    parts[0][0, 1] = x[0, 0]
    return *parts, np.block([[x], [a]]), np.column_stack([x[0], a]), np.tile(x[0], 2), np.append(a, x[1])


def of_constants(x):
    a = np.diag([1.0, 2.0, 3.0])
    a[0, 2] = x[0, 0]
    b = np.array([1.0, 2.0])
    b[0] = x[0, 1]
    c = np.asarray([1.0, 2.0])
    c[1] = x[0, 2]
    d = np.repeat(1.5, 3)
    d[0] = x[1, 0]
    e = np.where([True, False], 1.0, 2.0)
    e[1] = x[1, 1]
    f = np.triu(np.ones((2, 2)))
    f[1, 0] = x[1, 2]
    return a, b, c, d, e, f


def with_dtype(x):
    a = np.array(x, dtype=float)
    b = np.array([x[0, 0], 1], dtype=np.float64)
    c = np.zeros(2, dtype=np.float64)
    c[0] = x[0, 1]
    d = np.array([x[0, 0], x[0, 1]], dtype=complex) * 1j
    return a, b, c, d.imag, np.asarray(x, float), np.array([x[0, 0], 2])


CONSTRUCTORS = [
    of_traced_scalars, of_nested_lists, of_traced_arrays, of_tuples_and_generators, full, like, written_after, spaced,
    joined, of_constants, with_dtype,
]  # fmt: skip


@pytest.mark.parametrize("f", CONSTRUCTORS, ids=lambda f: f.__name__)
def test_constructors(f):
    check_program(f, X)


def test_single_precision():
    def f(x):
        a = np.array([x[0], x[1] * 2], dtype=np.float32)
        b = np.zeros(2, np.float32)
        b[0] = x[0]
        c = np.array([x[0], x[1]])
        return a, b, c

    x = np.ones(2, np.float32)
    values, dots = wg.jvp(f, (x,), (x,))
    assert [y.dtype for y in (*values, *dots)] == [np.float32] * 6
    values, _ = wg.jvp(f, (np.ones(2),), (np.ones(2),))
    assert [y.dtype for y in values] == [np.float32, np.float32, np.float64]


def test_arrays_of_integers_stay_plain():
    def f(x):
        return [
            np.zeros(3, int),
            np.arange(4),
            np.array([1, 2]),
            np.zeros(2, bool),
            np.full(2, 7),
            np.eye(2, dtype=int),
        ]

    for y in traced(f, np.ones(2)):
        assert type(y) is np.ndarray


def test_constructors_of_constants_are_those_of_numpy():
    def f(x):
        return [
            np.zeros((2, 3), np.float32), np.ones(3), np.full(2, 1.5), np.arange(2.0, 5.0, 0.5), np.linspace(0, 1, 4),
            np.eye(2, 3, 1), np.array([[1.0, 2.0]], ndmin=3), np.zeros_like(X), np.empty((2, 0)), np.tri(3),
            np.array([1.0, 2.0], dtype=complex), np.asarray(2.5), np.array(1.0), np.zeros(()),
            np.linspace(0.0, 1.0, 3, retstep=True)[1], np.meshgrid([1.0, 2.0], [3.0])[0],
        ]  # fmt: skip

    for y, expected in zip(traced(f, np.ones(2)), f(None), strict=True):
        assert not isinstance(y, Traced) or y._is_cell
        assert y.dtype == expected.dtype
        assert y.shape == expected.shape
        np.testing.assert_array_equal(np.asarray(y), expected)


def test_errors_of_constructors_are_those_of_numpy():
    def ragged(x):
        return np.array([[x[0]], [x[0], x[1]]])

    def negative(x):
        return np.zeros(-1) * x[0]

    for f in (ragged, negative):
        with pytest.raises(ValueError):
            f(np.ones(2))
        with pytest.raises(ValueError):
            wg.jvp(f, (np.ones(2),), (np.ones(2),))


# ---------------------------------------------------------------------------------------------------------- math, cmath

MATH = {
    "sin": np.cos, "cos": lambda t: -np.sin(t), "tan": lambda t: 1 / np.cos(t) ** 2, "exp": np.exp,
    "exp2": lambda t: np.exp2(t) * np.log(2), "expm1": np.exp, "log": lambda t: 1 / t,
    "log2": lambda t: 1 / (t * np.log(2)), "log10": lambda t: 1 / (t * np.log(10)), "log1p": lambda t: 1 / (1 + t),
    "sqrt": lambda t: 0.5 / np.sqrt(t), "cbrt": lambda t: np.cbrt(t) / (3 * t),
    "asin": lambda t: 1 / np.sqrt(1 - t * t),
    "acos": lambda t: -1 / np.sqrt(1 - t * t), "atan": lambda t: 1 / (1 + t * t), "sinh": np.cosh, "cosh": np.sinh,
    "tanh": lambda t: 1 / np.cosh(t) ** 2, "asinh": lambda t: 1 / np.sqrt(1 + t * t),
    "atanh": lambda t: 1 / (1 - t * t), "fabs": lambda t: 1.0, "degrees": lambda t: 180 / np.pi,
    "radians": lambda t: np.pi / 180, "erf": lambda t: 2 / np.sqrt(np.pi) * np.exp(-t * t),
    "erfc": lambda t: -2 / np.sqrt(np.pi) * np.exp(-t * t), "gamma": lambda t: math.gamma(t) * scipy.special.psi(t),
    "lgamma": scipy.special.psi,
}  # fmt: skip


@pytest.mark.parametrize("name", MATH)
def test_math_functions(name):
    f = getattr(math, name)
    t = 0.37
    g = lambda x: f(x) * 1.0
    value, slope = wg.jvp(g, (t,), (1.0,))
    np.testing.assert_allclose(value, f(t), rtol=1e-14)
    np.testing.assert_allclose(slope, MATH[name](t), rtol=1e-12)
    np.testing.assert_allclose(wg.grad(g)(t), slope, rtol=1e-13)
    second = wg.numerical.derivative(lambda t: MATH[name](t) + 0.0 * t, method="richardson")(t)
    np.testing.assert_allclose(wg.hessian(g)(t), second, rtol=1e-7, atol=1e-7)
    assert type(f(t)) is float


def test_acosh():
    np.testing.assert_allclose(wg.grad(lambda x: math.acosh(x))(1.7), 1 / np.sqrt(1.7**2 - 1))


def hypotenuse(x):
    return math.hypot(x[0], x[1], x[2]), math.hypot(x[0], 2.0), math.dist([x[0], x[1]], (x[2], 1.0)), math.hypot(x[0])


def two_arguments(x):
    return math.atan2(x[0], x[1]), math.pow(x[0], x[2]), math.pow(x[0], 2), math.pow(2.0, x[1]), math.fmod(7.3, x[2])


def of_sequences(x):
    return math.fsum(x * x), math.fsum([x[0], 1.0, x[1]]), math.prod([x[0], x[1], 2.0]), math.prod(x, start=3.0)


def with_a_base(x):
    return math.log(x[0], 3.0), math.log(5.0, x[2]), math.log(x[0], x[2]), math.copysign(x[0], -1.0)


def by_module(x):
    total = 0.0
    for f in (math.sin, math.cos, math.exp):
        total += f(x[0]) * f(x[1])
    return total, sum(map(math.tanh, x))


@pytest.mark.parametrize(
    "f", [hypotenuse, two_arguments, of_sequences, with_a_base, by_module], ids=lambda f: f.__name__
)
def test_more_of_math(f):
    check_program(f, np.array([1.3, 0.7, 2.1]))


def test_questions_of_math():
    def f(x):
        assert math.floor(x[0]) == 1
        assert type(math.floor(x[0])) is int
        assert math.ceil(x[0]) == 2
        assert math.trunc(-x[0]) == -1
        assert math.isclose(x[0], 1.3, abs_tol=0.2)
        assert math.isfinite(x[0])
        assert not math.isnan(x[0])
        assert not math.isinf(x[0])
        return x[math.floor(x[0])] * x[math.ceil(x[0])] + x[0] - math.floor(x[0])

    check_program(f, np.array([1.3, 0.7, 2.1]))


def test_math_of_plain_numbers_is_unchanged():
    def f(x):
        assert type(math.sqrt(2)) is float
        assert math.factorial(5) == 120
        assert math.gcd(12, 18) == 6
        assert math.floor(2.7) == 2
        assert math.comb(5, 2) == 10
        assert type(math.prod([2, 3])) is int
        assert math.fsum([0.1] * 10) == 1.0
        assert math.dist([0.0], [2.0]) == 2.0
        assert math.log(8, 2) == 3.0
        assert cmath.sqrt(-1) == 1j
        return x

    check_program(f, 1.0)


ERRORS = {
    "sqrt": (lambda t: math.sqrt(-t), ValueError),
    "log": (lambda t: math.log(t - t), ValueError),
    "asin": (lambda t: math.asin(2 * t), ValueError),
    "exp": (lambda t: math.exp(1000 * t), OverflowError),
    "pow": (lambda t: math.pow(-t, 0.5), ValueError),
    "array": (lambda t: math.sin(np.stack([t, t])), TypeError),
    "arguments": (lambda t: math.sin(t, t), TypeError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_math(name):
    f, error = ERRORS[name]
    with pytest.raises(error):
        f(np.float64(1.0))
    with pytest.raises(error):
        wg.jvp(f, (1.0,), (1.0,))


def test_a_domain_error_is_caught():
    def f(x):
        try:
            return math.sqrt(x)
        except ValueError:
            return x * 2.0

    assert wg.grad(f)(4.0) == 0.25
    assert wg.grad(f)(-4.0) == 2.0


CMATH = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log",
         "log10", "sqrt"]  # fmt: skip


@pytest.mark.parametrize("name", CMATH)
def test_cmath_functions(name):
    f = getattr(cmath, name)

    def g(x):
        z = f(x[0] + 1j * x[1])
        return z.real, z.imag

    check_program(g, np.array([0.4, 0.3]))

    def of_a_real_number(x):
        z = f(x)
        return z.real, z.imag

    x = -0.4
    z = f(x)
    value, slope = wg.jvp(of_a_real_number, (x,), (1.0,))
    np.testing.assert_allclose(value, (z.real, z.imag), rtol=1e-13, atol=1e-15)


def test_more_of_cmath():
    def f(x):
        z = complex(x[0], x[1])
        r, angle = cmath.polar(z)
        w = cmath.rect(x[0], x[1])
        return cmath.phase(z), abs(z), z.real, z.imag, r, angle, w.real, w.imag, cmath.log(z, 2.0).real

    check_program(f, np.array([0.4, 0.3]))


# ------------------------------------------------------------------------------------------------------------- builtins


def arithmetic(x):
    return (
        abs(x[0]),
        abs(-x),
        pow(x[0], 2),
        pow(x[1], x[2]),
        pow(2.0, x[0]),
        sum(x),
        sum([x[0], 1.0]),
        sum(x, start=x[0]),
    )


def extremes(x):
    return (
        min(x),
        max(x),
        min(x[0], x[1]),
        max(x[0], 5.0, x[2]),
        max([x[1], x[2]], key=lambda v: -v),
        min([], default=x[0]),
    )


def sorting(x):
    a = sorted(x)
    b = sorted([x[2], 1.0, x[0]], reverse=True)
    c = list(x)
    c.sort(key=lambda v: -v)
    return np.array(a), np.array(b), np.array(c), np.array(sorted(x, key=lambda v: v * v))


def numbers_of_traced(x):
    return float(x[0]) * 2.0, complex(x[0], x[1]).imag, float(x.sum()), np.float64(x[1]) ** 2, float(x[:1][0])


def division(x):
    whole, rest = divmod(x[2], 0.8)
    return rest, x[2] % 0.8, whole * x[0]


def containers(x):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, reversed(x), strict=True)):
        total += i * a * b
    assert len(x) == 3
    assert all(v > 0 for v in x)
    assert any(x > 2)
    assert bool(x[0])
    return total, sum(v for v in x if v > 1), list(map(lambda v: v * v, x))[1]  # noqa: C417


@pytest.mark.parametrize(
    "f", [arithmetic, extremes, sorting, numbers_of_traced, division, containers], ids=lambda f: f.__name__
)
def test_builtins(f):
    check_program(f, np.array([1.3, 0.7, 2.1]))


def test_round():
    def f(x):
        assert round(x[0]) == 1
        assert type(round(x[0])) is int
        return x[round(x[0])] * x + round(x[2], 1)

    check_program(f, np.array([1.3, 0.7, 2.13]))


def test_types_of_what_traced_values_stand_for():
    def f(x, t):
        assert isinstance(x, np.ndarray)
        assert not isinstance(x, (float, int, list))
        assert isinstance(t, float)
        assert isinstance(t, numbers.Real)
        assert isinstance(t, numbers.Number)
        assert isinstance(x[0], np.floating)
        assert isinstance(x[0], (int, float))
        assert isinstance(x[0], float | int)
        assert not isinstance(t, (str, np.ndarray))
        assert type(x) is np.ndarray
        assert type(x[0]) is np.float64
        assert type(np.zeros(2)) is np.ndarray
        assert isinstance(np.zeros(2), np.ndarray)
        assert isinstance(np.zeros(2)[0], float)
        assert np.isscalar(x[0])
        assert np.isscalar(t)
        assert not np.isscalar(x)
        assert np.ndim(x) == 1
        assert np.ndim(t) == 0
        assert np.shape(x) == (3,)
        assert np.size(x) == 3
        assert hasattr(x, "shape")
        assert hasattr(x, "__len__")
        assert not hasattr(x, "nonsense")
        assert callable(getattr(x, "sum"))  # noqa: B009
        assert np.iterable(x)
        assert not callable(x)
        assert isinstance(f, type(lambda: 0))
        match x[0]:
            case bool():
                raise AssertionError
            case _:
                pass
        return x * t

    check_program(f, np.array([1.3, 0.7, 2.1]), 1.5)


def test_a_switch_by_type():
    def f(x):
        def double(v):
            if isinstance(v, np.ndarray):
                return v * 2.0
            if isinstance(v, (list, tuple)):
                return [double(item) for item in v]
            if isinstance(v, float):
                return v * 3.0
            raise TypeError(type(v))

        return double(x), double(x[0]), double([x[1], (x[2], 1.0)])[0]

    check_program(f, np.array([1.3, 0.7, 2.1]))


def test_what_is_shown(capsys):
    def f(x):
        print(x, f"{x[0]:.2f}", f"{float(x[0]):6.3f}", f"{x[0]}", "%.1f" % float(wg.stop_gradient(x[1])), repr(x[0]))  # noqa: UP031
        print(np.zeros(2), "{:.1f}".format(x[2]))  # noqa: UP032
        return np.sum(x)

    wg.grad(f)(np.array([1.25, 0.5, 2.0]))
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Traced([1.25 0.5  2.  ]) 1.25  1.250 Traced(1.25) 0.5")
    assert second == "[0. 0.] 2.0"


CUTS = {
    "range": lambda x: sum(range(x[0])) * x[1],
    "range of two": lambda x: sum(range(0, x[0])) * x[1],  # noqa: PIE808
    "index": lambda x: [1, 2, 3][x[0]],
    "array index": lambda x: np.zeros(3)[x[0]],
    "shape": lambda x: np.zeros(x[0]),
    "bit_length": lambda x: operator_index(x[0]),
}


def operator_index(x):
    return [0] * 3 if x.__index__() else []


@pytest.mark.parametrize("name", CUTS)
def test_what_would_cut_the_derivative_says_so(name):
    with pytest.raises((ConcretizationError, IndexError, TypeError), match="(?i)traced|indices"):
        wg.grad(CUTS[name])(np.array([2.0, 1.0]))


@pytest.mark.parametrize("name", ["range", "range of two"])
def test_the_remedy_is_to_stop_the_gradient(name):
    with pytest.raises(ConcretizationError, match=r"(?s)remedy: .*wg.stop_gradient.*test_replacements.py"):
        wg.grad(CUTS[name])(np.array([2.0, 1.0]))


def test_stopping_the_gradient_gives_numbers():
    def f(x):
        n = int(wg.stop_gradient(x[0]))
        return sum(x[1] ** k for k in range(n)) * np.zeros(n).size

    np.testing.assert_allclose(wg.grad(f)(np.array([3.2, 2.0])), [0.0, 3 * (1 + 2 * 2)])


def test_plain_values_are_as_ever():
    def f(x):
        assert type(float("1.5")) is float
        assert 0.0 == 0.0
        assert type(np.float64(2)) is np.float64
        assert np.float64() == 0.0
        assert int("7") == 7
        assert complex("1j") == 1j
        assert complex(real=1.0) == 1.0
        assert isinstance(1, int)
        assert type(3) is int  # noqa: UP003
        assert type("A", (), {})().__class__.__name__ == "A"
        assert sum([[1], [2]], start=[]) == [1, 2]  # noqa: RUF017
        assert list(range(3)) == [0, 1, 2]
        assert range(5)[::2] == range(0, 5, 2)
        assert bool([]) is False
        assert sorted("cab") == ["a", "b", "c"]
        assert max(1, 2) == 2
        assert min("b", "a", key=ord) == "a"
        assert list(map(str, [1])) == ["1"]
        assert isinstance(range(2), range)
        assert issubclass(float, numbers.Real)
        assert isinstance(True, int)
        return x

    check_program(f, 1.0)


# --------------------------------------------------------------------------------------- SciPy's plain Python functions

SCIPY = {
    "logsumexp": lambda x: scipy.special.logsumexp(x),
    "logsumexp axis": lambda x: scipy.special.logsumexp(x, axis=1),
    "logsumexp keepdims": lambda x: scipy.special.logsumexp(x, axis=0, keepdims=True),
    "logsumexp weights": lambda x: scipy.special.logsumexp(x, b=[[1.0, 2.0, 0.5]]),
    "logsumexp traced weights": lambda x: scipy.special.logsumexp(x, b=x * x),
    "softmax": lambda x: scipy.special.softmax(x),
    "softmax axis": lambda x: scipy.special.softmax(x, axis=1),
    "log_softmax": lambda x: scipy.special.log_softmax(x),
    "log_softmax axis": lambda x: scipy.special.log_softmax(x, axis=0),
}


@pytest.mark.parametrize("name", SCIPY)
def test_scipy_functions(name):
    check_program(SCIPY[name], X)


def test_scipy_of_large_numbers():
    x = np.array([1000.0, 1000.0])
    np.testing.assert_allclose(wg.grad(lambda x: scipy.special.logsumexp(x))(x), [0.5, 0.5])
    np.testing.assert_allclose(wg.jacobian(lambda x: scipy.special.softmax(x))(x), [[0.25, -0.25], [-0.25, 0.25]])


@pytest.mark.parametrize("x", [5.3, -5.3, 7.5, 2.5, -2.5, 1e6 + 0.25, 0.4])
@pytest.mark.parametrize("y", [3.0, 5.0, -3.0, 360.0])
def test_remainder_of_math(x, y):
    f = lambda x, y: math.remainder(x, y)
    n = round((x - math.remainder(x, y)) / y)
    for g in (wg.value_and_grad(f, (0, 1)), wg.jit(wg.value_and_grad(f, (0, 1)))):
        value, slopes = g(x, y)
        assert value == math.remainder(x, y)
        assert slopes == (1.0, -n)


def test_wofz():
    from scipy.special import wofz

    f = lambda x, s: wofz((x + 0.3j) / s).real
    x, s, h = 0.7, 1.3, 1e-5
    want = [(f(x + h, s) - f(x - h, s)) / (2 * h), (f(x, s + h) - f(x, s - h)) / (2 * h)]
    for g in (wg.grad(f, (0, 1)), wg.jit(wg.grad(f, (0, 1)))):
        np.testing.assert_allclose(g(x, s), want, rtol=1e-8)


def test_ndenumerate():
    def f(x):
        return sum(v * v * (i + 2 * j) for (i, j), v in np.ndenumerate(np.reshape(x, (2, 3))))

    x = np.linspace(0.1, 0.9, 6)
    expected = 2.0 * x * np.array([0.0, 2.0, 4.0, 1.0, 3.0, 5.0])
    for gradient in (wg.grad(f), wg.jit(wg.grad(f))):
        np.testing.assert_allclose(gradient(x), expected, rtol=1e-14)


def test_closeness_in_compiled_functions_and_batches():
    inf, nan = math.inf, math.nan
    pairs = [(0.7, 0.7), (0.7, 0.75), (inf, inf), (inf, -inf), (nan, nan), (1e300, inf), (0.0, 1e-12), (1.0, 1 + 1e-10)]
    a, b = np.array(pairs).T
    for options in ({}, {"rel_tol": 0.1}, {"rel_tol": 0.0, "abs_tol": 0.1}):
        f = lambda a, b, options=options: 1.0 if math.isclose(a, b, **options) else 2 * a
        want = [f(x, y) for x, y in pairs]
        for g in (wg.vmap(f), wg.jit(wg.vmap(f)), wg.vmap(wg.jit(f))):
            np.testing.assert_array_equal(g(a, b), want)
        compiled = wg.jit(f)
        np.testing.assert_array_equal([compiled(x, y) for x, y in pairs], want)
    with pytest.raises(ValueError, match="non-negative"):
        wg.jit(lambda a: math.isclose(a, 1.0, rel_tol=-1.0))(0.5)


def test_integers_written_in_a_base():
    def f(x):
        return x * int("1f", base=16) + int("101", 2)

    assert wg.grad(f)(2.0) == 31.0
    assert wg.jit(f)(2.0) == f(2.0) == 67.0
