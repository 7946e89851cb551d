"""Python's own numbers in compiled functions: they raise where Python raises, say the same, and never wrap around."""

import math
import operator

import numpy as np
import pytest

import wengert as wg

INF, NAN = math.inf, math.nan
LARGE = 1 << 62


def outcome(f, *args):
    """The value of a call with its exception, if there was one."""
    try:
        return f(*args), None
    except Exception as error:
        return None, error


def agree(f, *args, compiled=None):
    """A compiled function gives what the function gives: the number, or the exception with its text."""
    value, error = outcome(f, *args)
    got, raised = outcome(compiled or wg.jit(f), *args)
    if error is None:
        assert raised is None, raised
        np.testing.assert_allclose(got, value, rtol=1e-13)
    else:
        assert type(raised) is type(error), (got, raised, error)
        assert str(error).partition(", got ")[0] in str(raised)  # (Python 3.14 adds the number)
        assert isinstance(error, TypeError) or __file__ in str(raised)  # the user's line


@pytest.mark.parametrize("name", ["truediv", "floordiv", "mod", "pow"])
def test_operators_of_floats(name):
    apply = getattr(operator, name)
    f = lambda a, b: apply(a, b)
    compiled = wg.jit(f)
    for x in (0.0, 7.5, 1e200, 3):
        for y in (0.0, -0.0, 2.5, -1.0, 3.0, INF, 0, 3):
            agree(f, x, y, compiled=compiled)
    for y in (0.0, -1.0, 0):
        agree(lambda b: apply(7.5, b), y)
        agree(lambda a, y=y: apply(a, y), 0.0)


def test_operators_in_every_spelling():
    def augmented(x, y):
        x /= y
        return x

    agree(augmented, 1.0, 0.0)
    with pytest.raises(ZeroDivisionError):
        wg.jit(lambda x, y: divmod(x, y)[0])(1.0, 0.0)
    agree(lambda x, y: divmod(x, y)[1], 7.5, 2.0)
    agree(lambda x: sum([1.0, 1 / x]), 0.0)
    agree(lambda x: max([1 / v for v in (x, x - 1)]), 1.0)
    agree(lambda x: 0.0**x, -1.0)
    agree(lambda x: 10.0**x, 400.0)
    agree(lambda x: pow(x, -2), 0.0)


def test_a_root_that_would_be_complex():
    for function in (wg.jit(lambda x: x ** (1 / 3)), wg.grad(lambda x: x ** (1 / 3)), wg.jit(lambda x: x**0.5)):
        with pytest.raises(ValueError, match="complex in Python"):
            function(-8.0)
    assert wg.jit(lambda x: x**3)(-2.0) == -8.0
    assert wg.jit(lambda x: x**2.0)(-2.0) == 4.0
    assert np.isnan(wg.jit(lambda x: np.power(x, 1 / 3))(-8.0))


INTEGERS = {
    "sum": (lambda n: n + n, LARGE),
    "sum below": (lambda n: n - LARGE - LARGE - LARGE, -LARGE),
    "product": (lambda n: n * n, 1 << 32),
    "product by a constant": (lambda n: 3 * n, LARGE),
    "power": (lambda n: n**5, 1 << 13),
    "power of a constant": (lambda n: 10**n, 19),
    "shift": (lambda n: 1 << n, 63),
    "shift of much": (lambda n: n << 2, LARGE),
    "negative": (lambda n: -n, -(1 << 63)),
    "absolute": (lambda n: abs(n), -(1 << 63)),
    "sum of a list": (lambda n: sum([n, n, n]), LARGE),
    "factorial": (lambda n: math.prod([n + k for k in range(20)]), 10),
    "augmented": (lambda n: _augmented(n), LARGE),
}


def _augmented(n):
    for _ in range(3):
        n += n
    return n


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_never_wrap(name):
    f, n = INTEGERS[name]
    assert not -(1 << 63) <= f(n) < 1 << 63
    with pytest.raises(OverflowError, match="64 bits"):
        wg.jit(f)(n)
    small = 1 if name != "sum below" else LARGE
    if name != "factorial":
        assert wg.jit(f)(small) == f(small)
    assert wg.jit(lambda x: x + x)(np.int64(LARGE)) == np.int64(LARGE * 2 - (1 << 64))  # NumPy's integers do wrap


def test_integers_up_to_the_last_bit():
    for a, b, op in [
        (LARGE, LARGE - 1, operator.add), (-LARGE, LARGE, operator.sub), (3037000499, 3037000499, operator.mul),
        (-1, 63, operator.lshift), (1, 62, operator.lshift), (-(1 << 31), 1 << 32, operator.mul),
    ]:  # fmt: skip
        assert wg.jit(lambda x, y, op=op: op(x, y))(a, b) == op(a, b)
    for op in (operator.lshift, operator.rshift):
        agree(lambda n, op=op: op(5, n), -1)
    with pytest.raises(OverflowError):
        wg.jit(lambda n: n + 1)(1 << 70)


def test_a_counter_wraps_in_no_loop():
    @wg.jit
    def powers(n):
        k = 1
        for _ in range(n):
            k = k * 2
        return k

    assert powers(62) == 1 << 62
    with pytest.raises(OverflowError):
        powers(63)


MATH = {
    "sqrt": [-1.0, -0.0, 4.0, INF, NAN, -INF],
    **{name: [-1.0, 0.0, 2.0, INF, NAN] for name in ["log", "log2", "log10"]},
    "log1p": [-1.0, -2.0, 0.5, NAN],
    "acos": [2.0, -1.0, 0.5, NAN],
    "asin": [-2.0, 1.0, NAN],
    "acosh": [0.5, 1.0, 3.0, INF],
    "atanh": [1.0, -1.0, 2.0, 0.5],
    **{name: [INF, -INF, NAN, 1.0] for name in ["sin", "cos", "tan"]},
    **{name: [1e4, 1e308, -1e4, INF, -INF, NAN, 2.0] for name in ["exp", "expm1", "cosh", "sinh"]},
    "gamma": [0.0, -1.0, -1.5, 200.0, INF, -INF, NAN, 4.5],
    "lgamma": [0.0, -3.0, -2.5, 1e308, INF, -INF, 7.0],
    **{name: [INF, NAN, 0.5] for name in ["atan", "tanh", "asinh", "erf", "fabs", "degrees"]},
}


@pytest.mark.parametrize("name", MATH)
def test_functions_of_math(name):
    function = getattr(math, name)
    f = lambda v: function(v)
    compiled = wg.jit(f)
    for x in MATH[name]:
        agree(f, x, compiled=compiled)
    agree(f, np.float64(MATH[name][0]))  # math raises whatever it is given
    agree(lambda v: function(v[0]), np.array(MATH[name][:1]))


def test_functions_of_math_of_two_arguments():
    for x, y in [(-8.0, 1 / 3), (0.0, -1.0), (0.0, -2), (10.0, 400.0), (2.0, 3.0), (-2.0, 3.0), (INF, 2.0), (1.0, NAN)]:
        agree(lambda a, b: math.pow(a, b), x, y)
    for x, y in [(1.0, 0.0), (INF, 2.0), (NAN, 0.0), (7.0, 2.5), (7.0, INF)]:
        agree(lambda a, b: math.fmod(a, b), x, y)
    for x, y in [(8.0, 2.0), (-1.0, 2.0), (2.0, 1.0), (2.0, -3.0)]:
        agree(lambda a, b: math.log(a, b), x, y)


@pytest.mark.parametrize("convert", [int, round, math.floor, math.ceil, math.trunc], ids=lambda f: f.__name__)
def test_whole_numbers(convert):
    for x in (2.5, -2.5, 1e18, -1e18):
        assert wg.jit(lambda v: convert(v))(x) == convert(x)
    agree(lambda v: convert(v), NAN)
    agree(lambda v: convert(v), INF)
    agree(lambda v: convert(v[0]), np.array([-INF]))
    with pytest.raises(OverflowError, match="64 bits"):
        wg.jit(lambda v: convert(v))(1e19)
    assert wg.jit(lambda n: convert(n))(LARGE + 1) == LARGE + 1


def test_numbers_of_numpy_are_not_checked():
    zero = np.float64(0.0)
    with np.errstate(all="ignore"):
        for f in (lambda x: 1 / x, lambda x: x // 0, lambda x: x % 0, lambda x: x**-1, lambda x: np.log(x - 1)):
            np.testing.assert_equal(wg.jit(f)(zero), f(zero))
        np.testing.assert_equal(wg.jit(lambda x: 1 / x)(np.zeros(3)), np.full(3, INF))
        np.testing.assert_equal(wg.jit(lambda x: 1 / x[0])(np.zeros(3)), INF)
        np.testing.assert_equal(wg.jit(lambda x: 1 / np.sum(x))(np.zeros(3)), INF)
        np.testing.assert_equal(wg.jit(lambda x: np.divide(1.0, x))(0.0), INF)


def test_only_what_runs_raises():
    assert wg.jit(lambda x: x / 0 if x < 0 else x)(1.0) == 1.0
    safe = wg.jit(lambda x: 1 / x if x != 0 else 0.0)
    assert safe(0.0) == 0.0
    assert safe(4.0) == 0.25

    @wg.jit
    def first(x, n):
        s = 0.0
        for k in range(n):
            s = s + x / (n - k - 1.0)
        return s

    assert first(1.0, 0) == 0.0
    with pytest.raises(ZeroDivisionError):
        first(1.0, 3)

    def caught(x):
        return 1.0 if x <= 0 else math.log(x)

    x = np.array([-1.0, 1.0, 2.0])
    np.testing.assert_allclose(wg.vmap(wg.jit(caught))(x), [1.0, 0.0, math.log(2.0)])
    np.testing.assert_allclose(wg.jit(wg.vmap(caught))(x), [1.0, 0.0, math.log(2.0)])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(caught)))(x), [0.0, 1.0, 0.5])


def test_derivatives_raise_where_the_function_does():
    for f, x, error in [
        (lambda x: 1 / x, 0.0, ZeroDivisionError), (lambda x: x**-2, 0.0, ZeroDivisionError),
        (lambda x: math.log(x), -1.0, ValueError), (lambda x: math.exp(x), 1e4, OverflowError),
        (lambda x: x * int(1 / x), 0.0, ZeroDivisionError), (lambda x: x**400, 10.0, OverflowError),
        (lambda x: 10 ** (40 * x), 10.0, OverflowError), (lambda x: (1j / complex(x)).imag, 0.0, ZeroDivisionError),
        (lambda x: abs(complex(x) ** -1), 0.0, ZeroDivisionError),
    ]:  # fmt: skip
        for derivative in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
            with pytest.raises(error):
                derivative(x)
    # and rules of derivatives do not
    for f in (lambda x: math.sqrt(x), lambda x: x**0.5, lambda x: np.sqrt(x)):
        for derivative in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
            assert derivative(0.0) == INF
    assert wg.jit(wg.grad(lambda x: abs(x)))(0.0) == 0.0


def stored(x):
    y = np.zeros(2)
    y[0] = 1j * x[0]
    return y


OF_COMPLEX_NUMBERS = [
    lambda x: (1 + 1j) / x[0], lambda x: (1 + 1j) / x[1],
    lambda x: 1j * x[0] / (x[1] * 2), lambda x: (x[0] * 1j) / x[1],
    lambda x: complex(x[1]) ** -1, lambda x: complex(x[1]) ** (1j * x[0]), lambda x: complex(x[1]) ** x[0],
    lambda x: (2j - x[0]) * np.ones(2, np.complex64), lambda x: (x[0] - 2j) * np.ones(2, np.complex64),
    lambda x: (1j * np.array(x[0])) * np.ones(2, np.complex64), lambda x: float(1j * x[0]), lambda x: int(1j + x[0]),
    stored,
]  # fmt: skip


@pytest.mark.parametrize("f", OF_COMPLEX_NUMBERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_complex_numbers_of_python(f):
    """`1j * x` is Python's where x is a float64 of NumPy's, which is a float of Python's; `x * 1j` is NumPy's."""
    x = np.array([2.0, 0.0])
    agree(f, x)
    value, error = outcome(f, x)
    for forward in (lambda x: wg.jvp(f, (x,), (x,))[0], wg.jit(lambda x: wg.jvp(f, (x,), (x,))[0])):
        got, raised = outcome(forward, x)
        if error is None:
            np.testing.assert_allclose(got, value, rtol=1e-13)
            assert np.asarray(got).dtype == np.asarray(value).dtype
        else:
            assert type(raised) is type(error) or "int(x)" in str(raised)


def test_dtypes_follow_python():
    a = np.ones(2, np.float32)
    for f in (
        lambda x: math.sin(x) * a, lambda x: abs(x) * a, lambda x: x**2 * a, lambda x: x // 2 * a,
        lambda x: max(x, 2.0) * a, lambda x: float(x) * a, lambda x: round(x, 1) * a, lambda x: int(x) * a,
        lambda x: np.sin(x) * a,
    ):  # fmt: skip
        assert wg.jit(f)(1.0).dtype == f(1.0).dtype
    assert wg.jit(lambda x: np.zeros(2, np.result_type(x, a)))(1.0).dtype == np.float32
    assert wg.jit(lambda x: (x > 1) + (x > 0))(2.0) == 2
    assert wg.jit(lambda x: -(x > 1))(2.0) == -1


def test_settings_for_floating_point_errors():
    def quiet(x):
        with np.errstate(divide="ignore", invalid="warn"):
            return np.log(x)

    def loud(x):
        with np.errstate(divide="raise"):
            return np.log(x)

    def changing(x):
        np.seterr(all="raise")
        return np.log(x)

    np.testing.assert_array_equal(wg.jit(quiet)(np.zeros(2)), [-INF, -INF])
    for f in (loud, changing):
        with pytest.raises(wg.errors.StagingError, match="remedy"):
            wg.jit(f)(np.ones(2))


def test_math_of_single_precision():
    """`math` computes in double precision, whatever it is given."""
    f = lambda a: 0.25 + math.sin(np.float32(0.5) * a)
    assert wg.jit(f)(0.438) == f(0.438)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(0.438), 0.5 * math.cos(np.float32(0.5) * 0.438), rtol=1e-7)
    g = lambda a: math.atan2(a, np.float32(0.3)) + math.exp(a)
    assert wg.jit(g)(np.float32(0.1)) == g(np.float32(0.1))


@pytest.mark.parametrize("f", [
    lambda n: n**-1, lambda n: (n + 1) ** -2 * 0.5, lambda n: 2 ** (-3 - abs(n) % 2), lambda n: pow(n, -1),
    lambda n: (n > 2) ** -1, lambda n: sum(i**-1 + 2**-i for i in range(1, 4)) * n,
])  # fmt: skip
def test_integers_to_a_negative_power_are_floats(f):
    for n in (3, 0, -2):
        agree(f, n)
    with pytest.raises(ValueError, match=r"write float\(x\)"):
        wg.jit(lambda n: 2**n)(-1)


def test_powers_with_a_modulus():
    f = wg.jit(lambda n, m: (pow(n, 13, m), pow(n, 0, m), pow(7, 5, 3)))
    for n, m in ((123456789, 10**9 + 7), (7, -5), (-3, 10)):
        assert f(n, m) == (pow(n, 13, m), pow(n, 0, m), pow(7, 5, 3))
