"""Functions that solvers are given depend on traced values through objects of all kinds, and change objects."""

import collections
import dataclasses
import functools
import typing

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg as sparse_linalg
from scipy import integrate, interpolate, optimize, stats
from scipy.spatial.transform import Rotation

import wengert as wg
from wengert.errors import UnsupportedFunctionError

AT = np.array([1.3, 2.1])
XS = np.array([0.0, 1.0, 2.0, 3.5, 4.0, 5.0])


class Pair(typing.NamedTuple):
    a: float
    b: float


@dataclasses.dataclass(slots=True)
class Slots:
    a: float
    b: float


class Entries(dict):
    __getattr__ = dict.__getitem__


def with_attributes(p):
    return lambda x: p.a * np.exp(-p.b * x)


def with_items(p):
    return lambda x: p["a"] * np.exp(-p["b"] * x)


def data(t):
    return np.sin(t[0] * XS) + t[1] * XS


def first_of_system(solve):
    return lambda x: solve(np.array([x, 1.0]))[0]


def by_iterations(t):
    A = sparse_linalg.LinearOperator((2, 2), matvec=lambda v: t * v, dtype=float)
    return lambda b: sparse_linalg.cg(A, b, rtol=1e-13)[0]


def decaying(t):
    return integrate.solve_ivp(
        lambda s, y: -t[0] * y, (0, 3), [t[1]], dense_output=True, rtol=1e-9, atol=1e-11
    ).sol  # fmt: skip


FUNCTIONS = {
    "a named tuple": lambda t: with_attributes(Pair(t[0], t[1])),
    "slots": lambda t: with_attributes(Slots(t[0], t[1])),
    "a class of dicts": lambda t: with_attributes(Entries(a=t[0], b=t[1])),
    "a result": lambda t: with_attributes(optimize.OptimizeResult(a=t[0], b=t[1])),
    "an ordered dict": lambda t: with_items(collections.OrderedDict(a=t[0], b=t[1])),
    "a default dict": lambda t: with_items(collections.defaultdict(float, a=t[0], b=t[1])),
    "a deque": lambda t: (lambda d: lambda x: d[0] * np.exp(-d[1] * x))(collections.deque([t[0], t[1]])),
    "an attribute of a function": lambda t: with_attributes(_with_attributes_of_function(t)),
    "a cache": lambda t: functools.lru_cache(lambda x: t[0] * np.exp(-t[1] * x)),
    "vectorize": lambda t: np.vectorize(lambda x: t[0] * np.exp(-t[1] * x)),
    "poly1d": np.poly1d,
    "Polynomial": np.polynomial.Polynomial,
    "Chebyshev": np.polynomial.Chebyshev,
    "CubicSpline": lambda t: interpolate.CubicSpline(XS, data(t)),
    "interp1d": lambda t: interpolate.interp1d(XS, data(t)),
    "make_interp_spline": lambda t: interpolate.make_interp_spline(XS, data(t)),
    "a frozen distribution": lambda t: stats.norm(t[0], t[1]).pdf,
    "a distribution in a variable": lambda t: (lambda d: lambda x: d.cdf(x))(stats.norm(t[0], t[1])),
    "a rotation": lambda t: (lambda r: lambda x: r.apply(np.array([x, 0, 1.0]))[0])(Rotation.from_euler("z", t[0])),
    "a matrix in an operator": lambda t: first_of_system(by_iterations(t)),
    "factors": lambda t: first_of_system(sparse_linalg.splu(scipy.sparse.csc_array(np.diag(t) + 0.1)).solve),
}


def _with_attributes_of_function(t):
    def p():
        return 0.0

    p.a, p.b = t
    return p


def integral(f):
    return integrate.quad(f, 0.1, 1.5)[0]


def root(f):
    return optimize.brentq(lambda x: f(x) + 3 * x - 2.5, 0, 3, xtol=1e-14)


def differences(f, x, h=1e-4):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


@pytest.mark.parametrize("solver", [integral, root])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_objects(name, solver):
    def f(t):
        return solver(FUNCTIONS[name](t))

    slope = differences(f, AT)
    value, gradient = wg.value_and_grad(f)(AT)
    np.testing.assert_allclose(value, f(AT), rtol=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6)
    if solver is root:
        np.testing.assert_allclose(wg.jit(wg.grad(f))(AT), slope, rtol=1e-6, atol=1e-6)


def test_the_solution_of_a_differential_equation():
    def f(t):
        sol = decaying(t)
        return root(lambda x: sol(x)[0])

    np.testing.assert_allclose(wg.grad(f)(AT), differences(f, AT), rtol=1e-6)


class Counting:
    def __init__(self, a):
        self.a, self.calls, self.last = a, 0, None

    def __call__(self, x):
        self.calls += 1
        self.last = self.a * x
        return self.last - 1 + x**3


def counted_by_object(t):
    m = Counting(t)
    return optimize.brentq(m, -2, 2) * m.calls


def counted_by_variable(t):
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return t * x

    return integrate.quad(f, 0, 1)[0] * n


@pytest.mark.parametrize("f", [counted_by_object, counted_by_variable])
def test_what_a_function_counts_is_counted(f):
    value, slope = wg.value_and_grad(f)(2.0)
    np.testing.assert_allclose(value, f(2.0), rtol=1e-12)
    np.testing.assert_allclose(slope, (f(2 + 1e-6) - f(2 - 1e-6)) / 2e-6, rtol=1e-6)
    with pytest.raises(UnsupportedFunctionError, match="changes a"):
        wg.jit(f)(2.0)


def test_numbers_that_a_function_leaves_behind_have_no_derivative():
    def f(t):
        m = Counting(t)
        return optimize.brentq(m, -2, 2) + m.last

    with pytest.raises(UnsupportedFunctionError, match="has left in an object of class Counting"):
        wg.grad(f)(2.0)


def test_what_is_not_found_is_refused():
    def f(t):
        class Parameters:
            a = t

        return optimize.brentq(lambda x: x**3 + Parameters.a * x - 1, -2, 2)

    for run in (wg.grad(f), wg.jit(f)):
        with pytest.raises(UnsupportedFunctionError, match="neither in args= nor in a variable around it"):
            run(2.0)


def integrated(f, p):
    return integrate.solve_ivp(lambda t, y: f(y[0]), (0, 0.2), [0.5], t_eval=[0.2], rtol=1e-10, atol=1e-10).y[0, -1]


SOLVERS = {
    "brentq": lambda f, p: optimize.brentq(f, 0, 3),
    "fsolve": lambda f, p: optimize.fsolve(f, 1.0)[0],
    "minimize": lambda f, p: optimize.minimize(lambda x: (x[0] - p) ** 2 + 0 * f(x[0]), [1.0]).x[0],
    "quad": lambda f, p: integrate.quad(f, 0, p)[0],
    "dblquad": lambda f, p: integrate.dblquad(lambda x, y: f(x) * y, 0, 1, 0, 1)[0],
    "solve_ivp": integrated,
}
of_solvers = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
kept: list = []


def history(p, solve):
    kept.clear()

    def f(x):
        kept.append(x * p)
        return x * x - p

    return solve(f, p)


def table(p, solve):
    """What is made at the first call is a constant, or depends on p alone."""
    made = {}

    def f(x):
        if "a" not in made:
            made.update(a=np.sqrt(2.0), b=3.0 * p, c=[p, 1.0])
        return x * x * made["a"] - made["b"] / 3 - 0 * made["c"][0]

    return solve(f, p) + made["b"] * made["a"] + made["c"][0] ** 2


def variable(p, solve):
    twice = 0.0

    def f(x):
        nonlocal twice
        twice = p * 2
        return x * x - p

    return solve(f, p) + twice


OUR_OWN = {"wg.root": lambda f, p: wg.root(f, 1.0), "wg.argmin": lambda f, p: wg.argmin(lambda x: f(x) ** 2 + x, 2.0)}


@pytest.mark.parametrize("solve", (SOLVERS | OUR_OWN).values(), ids=SOLVERS | OUR_OWN)
@pytest.mark.parametrize("f", [history, table, variable])
def test_what_functions_keep_is_what_plain_python_keeps(f, solve):
    g = lambda p: f(p, solve)
    value, slope = wg.value_and_grad(g)(2.0)
    np.testing.assert_allclose(value, g(2.0), rtol=1e-9)
    np.testing.assert_allclose(slope, differences(lambda p: g(p[0]), np.array([2.0]))[0], 1e-5, 1e-7)


@of_solvers
def test_a_number_that_depends_on_the_way_has_no_derivative(solve):
    def last(p):
        seen = []

        def f(x):
            seen.append(x)
            return x * x - p

        return solve(f, p) + seen[-1]

    with pytest.raises(UnsupportedFunctionError, match=r"has left in a list(.|\n)*seen\[-1\]"):
        wg.grad(last)(2.0)


@of_solvers
def test_calls_are_counted_as_in_plain_python_and_afterwards_there_are_plain_numbers(solve):
    history(2.0, solve)
    expected = np.array(kept)
    counted = []

    def f(p):
        y = history(p, solve)
        counted.append(len(kept))
        return y

    wg.grad(f)(2.0)
    assert counted == [len(expected)]
    assert all(isinstance(x, (float, np.ndarray)) for x in kept)
    np.testing.assert_allclose(np.array(kept), expected, rtol=1e-12)


def test_a_table_in_an_object_is_made_once():
    class Oscillator:
        def __init__(self, frequency):
            self.frequency, self.matrix, self.calls = frequency, None, 0

        def slope(self, t, y):
            self.calls += 1
            if self.matrix is None:
                self.matrix = np.array([[0.0, 1.0], [-1.0, 0.0]])
            return self.matrix @ y * self.frequency

        def end(self):
            return integrate.solve_ivp(self.slope, (0, 0.5), [1.0, 0.0], rtol=1e-10, atol=1e-10).y[0, -1]

    def twice(w):
        of = Oscillator(w)
        return of.end() + of.end()

    np.testing.assert_allclose(wg.grad(twice)(2.0), -np.sin(1.0), rtol=1e-7)


def kept_by_the_solver(p):
    """A list that is passed on by `args=`."""
    seen = []

    def f(x, a, seen):
        seen.append(1)
        return x * x - a

    return optimize.brentq(f, 0, 3, args=(p, seen)) * (1.0 if len(seen) > 3 else 0.0)


def cached_by_arguments(p):
    class Pendulum:
        def __init__(self):
            self.cache = {}

        def slope(self, t, y, k):
            return [y[1], -self.cache.setdefault("k", 2 * k) * np.sin(y[0])]

    of = Pendulum()
    y = integrate.solve_ivp(of.slope, (0, 1), [1.0, 0.0], args=(p,), t_eval=[1.0], rtol=1e-10, atol=1e-10).y[0, 0]
    return y + of.cache["k"]


def best_so_far(p):
    best = [np.inf]

    def f(x):
        y = (x[0] - p) ** 2 + 1 + 0.5 * p
        if y < best[0]:
            best[0] = y
        return y

    found = optimize.minimize(f, [0.0])
    return found.x[0] + found.fun


@pytest.mark.parametrize("f", [kept_by_the_solver, cached_by_arguments, best_so_far])
def test_each_call_for_a_derivative_finds_what_was_there_before(f):
    at = np.array([1.7, 1.9])
    slopes = [(f(p + 1e-4) - f(p - 1e-4)) / 2e-4 for p in at]
    np.testing.assert_allclose([wg.grad(f)(p) for p in at], slopes, rtol=1e-3)
    np.testing.assert_allclose(wg.vmap(f)(at), [f(p) for p in at], rtol=1e-9)
    np.testing.assert_allclose(wg.grad(lambda at: np.sum(wg.vmap(f)(at)))(at), slopes, rtol=1e-3)
