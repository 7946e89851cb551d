"""Functions that call themselves until data say that it is enough: compiled, they are loops with stacks."""

import math

import numpy as np
import pytest

import wengert as wg


def halved(x):
    """x / 2ⁿ + n, where n is the number of halvings until it is below 1."""
    return x if x < 1 else halved(x / 2) + 1


def product(x):
    """x · x/2 · … · x/2ⁿ."""
    if x < 1:
        return x
    return x * product(x / 2)


def carried(x, so_far=1.0):
    """The same product, by a call whose result is returned."""
    return so_far * x if x < 1 else carried(x / 2, so_far * x)


def twice(x):
    """Two calls: a polynomial of x, whose terms are the ways down."""
    return x if x < 1 else math.sin(x) * twice(x / 2) + twice(x / 3)


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def to_its_size(x):
    return power(x, int(x))


def root(f, low, high):
    middle = 0.5 * (low + high)
    if high - low < 1e-13:
        return middle
    return root(f, low, middle) if f(middle) > 0 else root(f, middle, high)


def scaled_root(x):
    return x * root(lambda t: t * t - 2.0, 0.0, 2.0)


def simpson(f, a, b):
    return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))


def adaptive(f, a, b, tolerance, whole):
    c = (a + b) / 2
    left, right = simpson(f, a, c), simpson(f, c, b)
    difference = left + right - whole
    if abs(difference) <= 15 * tolerance:
        return left + right + difference / 15
    return adaptive(f, a, c, tolerance / 2, left) + adaptive(f, c, b, tolerance / 2, right)


def gaussian_integral(x):
    def g(t):
        return math.exp(-x * t * t)

    return adaptive(g, 0.0, 1.0, 1e-9, simpson(g, 0.0, 1.0))


def in_a_loop(x):
    def inner(y):
        total = 0.0
        for k in range(2, 4):
            if y <= 1:
                total += y
                continue
            total += inner(y / k) * y
        return total

    return inner(x)


def logistic(x):
    """By symmetry, as tables of special functions are used."""
    if x < 0:
        return 1.0 - logistic(-x)
    return 1 / (1 + np.exp(-x))


def rising(x):
    """By a recurrence, from either side."""
    if x < 1:
        return rising(x + 1) / x
    if x > 2:
        return (x - 1) * rising(x - 1)
    return 1 + 0.2 * (x - 1) * (x - 2)


def heron(x, guess=1.0):
    better = 0.5 * (guess + x / guess)
    if abs(better - guess) < 1e-8:
        return better
    return heron(x, better)


class Walk:
    least = 0.3

    def down(self, x, depth=0):
        if x < self.least:
            return x * depth
        return self.down(x / 2, depth + 1) + self.down(x / 3, depth=depth + 2) ** 2


def method(x):
    return Walk().down(x)


def of_arrays(x):
    def down(v):
        return v if v[0] < 1 else down(v / 2) + v * v

    return down(np.array([x, 2 * x, 1.0])).sum()


def of_pairs(x):
    def down(y):
        if y < 1:
            return y, 1.0
        a, b = down(y / 2)
        return a * b, a + y

    a, b = down(x)
    return a * b


EVERY = [halved, product, carried, twice, to_its_size, scaled_root, gaussian_integral, in_a_loop, method, of_arrays,
         of_pairs, logistic, rising, heron]  # fmt: skip
X = 5.3


def slope(f, x, h=1e-5):
    return (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h)


@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.__name__)
def test_value_and_derivatives(f):
    assert wg.jit(f)(X) == pytest.approx(f(X), rel=1e-13)
    expected = pytest.approx(slope(f, X), rel=1e-6, abs=1e-6)
    assert wg.jit(wg.grad(f))(X) == expected
    assert wg.grad(wg.jit(f))(X) == expected
    assert wg.jit(lambda x: wg.jvp(f, (x,), (1.0,))[1])(X) == expected


@pytest.mark.parametrize(("f", "x"), [(logistic, -0.7), (rising, -1.7)])
def test_from_the_other_side(f, x):
    assert wg.jit(wg.value_and_grad(f))(x) == pytest.approx((f(x), slope(f, x)), rel=1e-8)
    assert wg.vmap(wg.jit(wg.grad(f)))(np.array([x, 3.3]))[0] == pytest.approx(slope(f, x), rel=1e-8)


@pytest.mark.parametrize("f", [halved, carried, twice, of_arrays, of_pairs], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::wengert.errors.ConstantResultWarning")
def test_second_derivatives_and_batches(f):
    expected = pytest.approx(slope(wg.grad(f), X), rel=1e-6, abs=1e-6)
    assert wg.jit(wg.hessian(f))(X) == expected
    many = np.array([X, 0.4, 40.0])
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(many), [f(x) for x in many], rtol=1e-13)
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(many), [wg.grad(f)(x) for x in many], rtol=1e-12)


def test_many_calls():
    """Far more than could be written out; the product is x^(n+1) / 2^(n(n+1)/2)."""
    x, n = 3e6, 22
    assert wg.jit(product)(x) == pytest.approx(x ** (n + 1) / 2 ** (n * (n + 1) / 2), rel=1e-12)
    assert wg.jit(wg.grad(product))(x) == pytest.approx((n + 1) * product(x) / x, rel=1e-12)
    assert wg.jit(carried)(x) == pytest.approx(product(x), rel=1e-12)


def test_one_program_for_all_exponents():
    compiled, gradient = wg.jit(power), wg.jit(wg.grad(power))
    for n in range(1, 14):
        assert compiled(1.5, n) == 1.5**n
        assert gradient(1.5, n) == pytest.approx(n * 1.5 ** (n - 1), rel=1e-14)


def test_functions_that_are_compiled_themselves():
    @wg.jit
    def down(x):
        return x if x < 1 else x * down(x / 2)

    assert down(1e6) == product(1e6)
    assert wg.grad(down)(1e6) == pytest.approx(20 * product(1e6) / 1e6 * 1.05)
    assert wg.jit(lambda x: 2 * down(x))(1e6) == 2 * product(1e6)


@pytest.mark.parametrize("f", [product, carried], ids=lambda f: f.__name__)
def test_recursion_without_end(f):
    with pytest.raises(RecursionError):
        f(math.nan)
    with pytest.raises(RecursionError, match="test_recursion.py"):
        wg.jit(f)(math.nan)


def test_exceptions_and_effects(capsys):
    def down(x):
        if x < 0.1:
            raise ValueError("too small")
        if x < 1:
            return x
        print(x)
        return x * down(x / 2 - 0.5)

    assert wg.jit(down)(4.0) == down(4.0)
    assert capsys.readouterr().out == "4.0\n1.5\n" * 2
    with pytest.raises(ValueError, match="too small"):
        wg.jit(down)(1.1)


def test_variables_outside():
    def f(x):
        seen, count = [], 0

        def down(y):
            nonlocal count
            count += 1
            seen.append(y)
            return y if y < 1 else down(y / 2) + down(y / 3)

        return down(x) * count + sum(seen) + seen[-1]

    assert wg.jit(f)(30.0) == pytest.approx(f(30.0), rel=1e-14)
    assert wg.jit(wg.grad(f))(30.0) == pytest.approx(wg.grad(f)(30.0), rel=1e-14)


def test_arrays_that_are_written_to():
    def f(x):
        def down(v, k):
            if v[k] < 1:
                return 1.0
            w = v / 2
            below = down(w, (k + 1) % 3)
            w[k] = below
            return below * v[0] + w.sum()

        return down(x * np.ones(3), 0)

    assert wg.jit(f)(40.0) == pytest.approx(f(40.0), rel=1e-14)
    assert wg.jit(wg.grad(f))(40.0) == pytest.approx(slope(f, 40.0), rel=1e-6)


def test_another_function_of_the_same_name():
    """`down` in the function is not the function itself, so its calls end."""

    def make():
        def down(x):
            return x if x < 1 else down(x / 2) + 1

        return down

    first = make()

    def down(x):
        return first(x) * 2

    assert wg.jit(down)(1e4) == first(1e4) * 2


def test_what_is_not_cut_is_written_out_a_few_times():
    """Calls in a generator expression, or of two functions by each other."""

    def down(x):
        return x if x < 1 else sum(down(x / k) for k in (2, 3))

    def even(x):
        return 1.0 if x < 1 else x * odd(x - 1)

    def odd(x):
        return 0.5 if x < 1 else x + even(x - 1)

    assert wg.jit(down)(5.0) == down(5.0)
    compiled = wg.jit(even)
    assert compiled(5.5) == even(5.5)
    with pytest.raises(RuntimeError, match="write a loop"):
        compiled(50.5)


def _adds_itself(x):
    return _adds_itself(x) + 1


class _Operates:
    def __add__(self, other):
        return self + other

    def __getattr__(self, name):
        return getattr(self, name + "a")


@pytest.mark.parametrize("f", [_adds_itself, lambda x: _Operates() + x, lambda x: _Operates().b])
def test_recursion_that_nothing_ends(f):
    for g in (f, wg.grad(f), wg.jit(f), wg.jit(wg.grad(f))):
        with pytest.raises(RecursionError if f is _adds_itself else (RecursionError, wg.errors.StagingError)):
            g(1.0)
