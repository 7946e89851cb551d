"""Instrumentation follows into the user's functions, of whatever kind, also those that library code calls."""

import contextlib
import dataclasses
import functools
import itertools
import math
import sys
from abc import ABC, abstractmethod
from collections import namedtuple

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
from programs import check_program

import wengert as wg

T = np.array([1.3, 0.7, 2.1])


def cut(t):
    """Something that only instrumented code can do with a traced number."""
    return math.sin(t) * float(t)


def total(x):
    return sum(cut(t) for t in x)


# ----------------------------------------------------------------------------------------------- functions of all kinds


def by_lambda(x):
    f = lambda t: math.sin(t) * float(t)
    return f(x[0]) + (lambda t: math.cos(t))(x[1])


def lambdas_on_one_line(x):
    f, g, h = lambda t: math.sin(t), lambda t: math.cos(t), lambda t: math.exp(t) * (lambda u: math.log(u))(t)
    return f(x[0]) * g(x[1]) + h(x[2])


def comprehensions(x):
    squares = [math.sin(t) for t in x if math.cos(t) < 2.0]
    table = {k: math.exp(t) for k, t in enumerate(x)}
    nested = [[math.sin(s) * math.cos(t) for s in x] for t in x]
    return sum(squares) + table[1] + sum(math.tanh(t) for t in x) + sum(map(sum, nested)) + len({k % 2 for k in table})


def generators(x):
    def running():
        value = 0.0
        for t in x:
            value += math.sin(t)
            yield value

    def delegated():
        yield math.exp(x[0])
        yield from running()
        return math.cos(x[1])

    def with_send():
        got = yield math.sin(x[0])
        while True:
            got = yield math.sin(got)

    echo = with_send()
    first = next(echo)
    return sum(delegated()) + first * echo.send(x[2])


def nested(x):
    def outer(t):
        def inner(s):
            return math.sin(s) * t

        return inner(t) + (lambda s: math.cos(s) * inner(s))(t)

    return outer(x[0]) * outer(x[1])


def recursive(x):
    def power(t, n):
        if n == 0:
            return 1.0
        return math.sin(t) * power(t, n - 1)

    def even(n):
        return math.cos(x[0]) if n == 0 else odd(n - 1)

    def odd(n):
        return math.exp(x[1]) if n == 0 else even(n - 1)

    return power(x[0], 5) + even(7) * odd(2) + module_level_recursion(x, 2)


def module_level_recursion(x, k):
    return math.sin(x[k]) * (1.0 if k == 0 else module_level_recursion(x, k - 1))


def partials(x):
    def f(a, b, *, c):
        return math.sin(a) * b + math.exp(c)

    g = functools.partial(f, x[0], c=x[1])
    h = functools.partial(functools.partial(f, x[1]), c=x[2])
    return g(x[2]) * h(2.0) + functools.partial(math.pow, x[0])(2.0)


def decorated(x):
    return doubled(x[0]) * thrice_called(x[1]) + by_factory(x[2])


def twice(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


@twice
def doubled(t):
    return math.sin(t)


@twice
@twice
@functools.wraps(cut)
def thrice_called(t):
    return math.cos(t)


def scaled(factor):
    def decorate(f):
        def wrapper(t):
            return factor * f(t)

        return wrapper

    return decorate


@scaled(3.0)
def by_factory(t):
    return math.exp(t)


def cached(x):
    @functools.lru_cache(maxsize=None)  # noqa: UP033
    def fibonacci(n):
        return math.sin(x[n]) if n < 2 else fibonacci(n - 1) + fibonacci(n - 2) * x[2]

    @functools.cache
    def table(n):
        out = np.zeros(3)
        out[n] = x[n]
        return out

    @functools.cache
    def of_several(pair, *, place):  # what is traced may be in a tuple, or a field
        return pair[0] * math.exp(pair[1]) + place.height**2

    held = of_several((x[0], 0.5), place=Place(x[1])) + of_several((2, 0.5), place=Place(1.0))
    return fibonacci(6) + sum(table(1)) + sum(table(1)) + held


@dataclasses.dataclass(frozen=True)
class Place:
    height: float


class Callable_:
    scale = 2.0

    def __init__(self, shift):
        self.shift = math.sin(shift)
        self.values = np.zeros(2)
        self.values[0] = shift

    def __call__(self, t):
        return math.exp(t) * self.shift + self.method(t)

    def method(self, t, power=2):
        return math.cos(t) ** power * self.scale + self.values[0]

    @staticmethod
    def static(t):
        return math.tanh(t)

    @classmethod
    def of_class(cls, t):
        return math.sin(t) * cls.scale

    @property
    def shifted(self):
        return self.shift + 1.0


def objects(x):
    f = Callable_(x[0])
    bound = f.method
    return f(x[1]) + bound(x[2]) + f.static(x[0]) + Callable_.of_class(x[1]) + f.shifted + Callable_.method(f, x[2], 3)


class Private:
    def __init__(self, t):
        self.__value = math.sin(t)
        self._Private__other = math.cos(t)

    def __hidden(self):
        return self.__value * self.__other

    def get(self):
        return self.__hidden() + math.exp(self.__value)


class Base(ABC):
    def __init__(self, t):
        super().__init__()
        self.t = math.sin(t)

    @abstractmethod
    def area(self): ...

    def twice(self):
        return 2.0 * self.area()


class Derived(Base):
    def __init__(self, t, u):
        super().__init__(t)
        self.u = math.exp(u)

    def area(self):
        return self.t * self.u + math.cos(self.t)

    def twice(self):
        return super().twice() + super(Derived, self).twice()  # noqa: UP008


@dataclasses.dataclass
class Point:
    x: float
    y: float = 1.0
    norm: float = dataclasses.field(init=False, default=0.0)

    def __post_init__(self):
        self.norm = math.hypot(self.x, self.y)

    def angle(self):
        return math.atan2(self.y, self.x)


Pair = namedtuple("Pair", "a b")


def classes(x):
    point = Point(x[0], y=x[1])
    pair = Pair(x[0], b=x[2])
    local = make_class()(x[1])
    return (
        Private(x[0]).get() + Derived(x[1], x[2]).twice() + point.norm * point.angle() + math.sin(pair.a * pair.b)
    ) * local.value()


def make_class():
    class Local:
        def __init__(self, t):
            self.t = t

        def value(self):
            return math.sin(self.t)

    return Local


def signatures(x):
    def f(a, /, b, c=2.0, *args, d, e=math.pi, **kwargs):
        return math.sin(a) + b * c + sum(map(math.cos, args)) + math.exp(d) * e + sum(kwargs.values())

    rest, named = [x[0], x[1]], {"g": x[2], "h": 1.0}
    default = lambda t, scale=x[0]: math.sin(t) * scale
    with_lambda_default = lambda t, g=lambda s: math.cos(s): g(t) * math.sin(t)
    return f(x[0], x[1], d=x[2]) * f(1.0, 2.0, x[0], *rest, d=0.5, **named) + default(x[1]) + with_lambda_default(x[2])


COUNTER = 0.0


def scopes(x):
    global COUNTER
    COUNTER = 0.0
    local = 0.0

    def add(t):
        global COUNTER
        nonlocal local
        COUNTER = COUNTER + 1.0
        local += math.sin(t)
        return local

    for t in x:
        add(t)
    found, COUNTER = COUNTER, 0.0
    return local * found


def exceptions(x):
    total = 0.0
    for t in (*x, None, "a"):
        try:
            total += math.sin(t)
            if total > 1.5:
                raise OverflowError(total)
        except TypeError as error:
            total += 0.5 * len(error.args)
        except (OverflowError, KeyError) as error:
            total = error.args[0] * 0.5
        else:
            total *= 1.1
        finally:
            total += math.cos(x[0])
    try:
        with contextlib.suppress(ZeroDivisionError):
            return total / (x[0] - x[0] if False else 1.0)
    finally:
        total = 7.0


class Scope:
    def __init__(self, t):
        self.t = t

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return True

    def value(self):
        return math.sin(self.t)


def contexts(x):
    total = 0.0
    with Scope(x[0]) as a, Scope(x[1]) as b:
        total += a.value() * b.value()
        raise ValueError
    with contextlib.nullcontext(x[2]) as t:
        total += math.exp(t)
    return total


def matching(x):
    def area(shape):
        match shape:
            case ("circle", r):
                return math.pi * math.pow(r, 2)
            case {"kind": "square", "side": a} if math.sin(a) > 0:
                return a * a
            case Pair(a, b):
                return math.sin(a) * b
            case [first, *rest]:
                return math.exp(first) + sum(map(math.sin, rest))
            case _:
                return 0.0

    return (
        area(("circle", x[0]))
        + area({"kind": "square", "side": x[1]})
        + area(Pair(x[0], x[2]))
        + area([x[0], x[1], x[2]])
    )


def expressions(x):
    if (t := math.sin(x[0])) > 0.5:
        t = t * 2.0
    first, *middle, last = [math.cos(s) for s in x]
    a = b = math.exp(x[1])
    values = {**{"p": t}, "q": a}  # noqa: PIE800
    chained = 0.0 < math.sin(x[0]) < 2.0
    picked = math.sin(x[1]) if chained else math.cos(x[1])
    total = 0.0
    k = 0
    while (k := k + 1) < 3:
        total += math.sin(k * x[2])
        if k == 5:
            break
    else:
        total += 1.0
    del b
    assert math.sin(x[0]) > 0, f"{math.sin(x[0])}"
    return first * last + sum(middle) + values["p"] * values["q"] + picked + total + (math.sin(x[0]) or 1.0)


FUNCTIONS = [
    total, by_lambda, lambdas_on_one_line, comprehensions, generators, nested, recursive, partials, decorated, cached,
    objects, classes, signatures, scopes, exceptions, contexts, matching, expressions,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_following(f):
    check_program(f, T)


def test_closures_see_what_changes_later():
    factor = 2.0

    def f(x):
        return math.sin(x) * factor

    assert wg.grad(f)(0.0) == 2.0
    factor = 5.0
    assert wg.grad(f)(0.0) == 5.0

    def late(x):
        def g():
            return math.sin(y)

        y = x * 3.0
        return g()

    assert wg.grad(late)(0.0) == 3.0


def test_globals_see_what_changes_later(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "cut", lambda t: math.exp(t), raising=True)
    np.testing.assert_allclose(wg.grad(total)(T), np.exp(T))


def test_defaults_that_change():
    def f(x, scale=2.0):
        return math.sin(x) * scale

    assert wg.grad(f)(0.0) == 2.0
    assert wg.grad(f)(0.0, 3.0) == 3.0


def test_mutable_defaults_are_shared():
    seen = []

    def f(x, calls=seen):
        calls.append(1)
        return math.sin(x)

    wg.grad(f)(0.0)
    f(0.0)
    assert len(seen) == 2


def test_two_functions_of_one_code_object():
    def make(scale):
        def f(x):
            return math.sin(x) * scale

        return f

    f, g = make(2.0), make(3.0)
    assert wg.grad(f)(0.0) == 2.0
    assert wg.grad(g)(0.0) == 3.0
    assert wg.grad(lambda x: f(x) * g(x))(0.5) == pytest.approx(12 * np.sin(0.5) * np.cos(0.5))


@pytest.mark.parametrize("kind", ["function", "lambda", "partial", "method", "callable", "class method", "decorated"])
def test_what_is_handed_to_an_operator(kind):
    f = {
        "function": cut,
        "lambda": lambda t: math.sin(t) * float(t),
        "partial": functools.partial(lambda s, t: math.sin(t) * float(t) + s, 0.0),
        "method": Callable_(0.0).static,
        "callable": Callable_(0.3),
        "class method": Callable_.of_class,
        "decorated": doubled,
    }[kind]
    t = 0.7
    np.testing.assert_allclose(wg.grad(f)(t), wg.numerical.derivative(f, method="richardson")(t), rtol=1e-8)
    np.testing.assert_allclose(wg.jvp(f, (t,), (1.0,))[1], wg.grad(f)(t))


def test_classes_as_functions():
    np.testing.assert_allclose(wg.grad(lambda p: Point(p[0], p[1]).norm)(np.array([3.0, 4.0])), [0.6, 0.8])


def test_frozen_dataclasses_and_slots():
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        x: float

        def value(self):
            return math.sin(self.x)

    @dataclasses.dataclass(slots=True)
    class Slotted:
        x: float

        def value(self):
            return math.exp(self.x)

    check_program(lambda t: Frozen(t).value() * Slotted(t * t).value(), 0.5)


def test_replaced_dataclass():
    @dataclasses.dataclass
    class Simple:
        x: float
        y: float

        def angle(self):
            return math.atan2(self.y, self.x)

    def f(x):
        p = dataclasses.replace(Simple(x[0], x[1]), y=x[2])
        return p.x * p.angle()

    check_program(f, T)


def test_comparison_with_what_is_no_number():
    def f(x):
        assert not bool(x[0] == "a")
        assert x[0] != "a"
        assert not bool(x[0] == None)  # noqa: E711
        assert x[0] not in ("a", None)
        assert not np.any(x == None)  # noqa: E711
        assert np.all(x != "a")
        return x

    check_program(f, T)


# ------------------------------------------------------------------------------------- functions handed to library code


def mapped(x):
    return sum(map(cut, x)) + sum(map(lambda s, t: math.sin(s) * t, x, reversed(x)))


def filtered(x):
    return sum(filter(lambda t: math.sin(t) > 0.7, x))


def reduced(x):
    return functools.reduce(lambda a, b: math.sin(a) * b, x) + functools.reduce(lambda a, b: a + cut(b), x, 0.0)


def sorted_by_key(x):
    a = sorted(x, key=lambda t: math.cos(t))
    b = list(x)
    b.sort(key=lambda t: -float(t), reverse=True)
    return a[0] * b[0] + max(x, key=lambda t: math.sin(t)) + min(x, key=cut)


def iterated(x):
    accumulated = list(itertools.accumulate(x, lambda a, b: math.sin(a) + b))
    starred = sum(itertools.starmap(lambda a, b: math.sin(a) * b, zip(x, x, strict=True)))
    taken = sum(itertools.takewhile(lambda t: math.sin(t) < 2.0, x))
    return accumulated[-1] + starred + taken


HANDED = [mapped, filtered, reduced, sorted_by_key, iterated]


@pytest.mark.parametrize("f", HANDED, ids=lambda f: f.__name__)
def test_functions_handed_to_library_code(f):
    check_program(f, T)


def test_vectorize():
    def f(x):
        g = np.vectorize(lambda t: math.sin(t) * float(t))
        return g(x) * g(np.array([1.0, 2.0, 3.0]))

    check_program(f, T)


def test_apply_along_axis():
    def norm(row):
        out = np.zeros(2)
        out[0] = math.sqrt(sum(row * row))
        out[1] = math.sin(row[0])
        return out

    def f(x):
        return np.apply_along_axis(norm, 1, np.stack([x, x * x]))

    check_program(f, T)


def test_a_solver_calls_back():
    seen = []

    def f(x):
        constant = float(wg.stop_gradient(x[0]))

        def residual(t):
            seen.append(sys._getframe().f_code)
            buffer = np.zeros(2)
            buffer[0] = t * t - constant
            return buffer[0]

        root = scipy.optimize.brentq(residual, 0.0, 5.0)
        area, _ = scipy.integrate.quad(lambda t: math.exp(-t) * constant, 0.0, 1.0)
        return x[1] * root + x[2] * area

    expected = [0.0, np.sqrt(1.3), 1.3 * (1 - np.exp(-1.0))]
    np.testing.assert_allclose(wg.grad(f)(T), expected, rtol=1e-9)
    assert all("_wengert_call" in code.co_freevars for code in seen)


@contextlib.contextmanager
def scratch(x):
    buffer = np.zeros(2)
    buffer[0] = math.sin(x)
    yield buffer


def test_context_managers():
    def f(x):
        with scratch(x) as buffer:
            buffer[1] = x * buffer[0]
        return buffer.sum()

    np.testing.assert_allclose(wg.grad(f)(0.7), 1.7 * np.cos(0.7) + np.sin(0.7), rtol=1e-14)
    assert wg.grad(f)(0.7) == wg.jacfwd(f)(0.7)


def takes_any_name(x, *, f=1.0, self=1.0, target=1.0, before=1.0, session=1.0, args=1.0, name=1.0, key=1.0, value=1.0):
    return x * f * self + target * before * session + args * name * key * value


class TakesAnyName:
    def __init__(here, x, *, self=1.0, f=1.0, make=1.0, session=1.0, twin=1.0, thing=1.0):
        here.y = x * self * f + make * session * twin * thing


def test_keywords_may_have_the_names_that_this_package_uses():
    def program(x):
        names = dict(f=x, self=2.0, target=x, before=3.0, session=x, args=x, name=x, key=x, value=x)
        made = TakesAnyName(x, self=x, f=x, make=x, session=x, twin=x, thing=x)
        print("{template} {f} {self} {session}".format(template=x, f=2, self=3, session=4))  # noqa: UP032
        return takes_any_name(x, **names) + takes_any_name(x, target=x, before=x) + made.y

    slope = wg.numerical.grad(program, method="richardson")(1.3)
    assert np.isclose(wg.jit(program)(1.3), program(1.3), rtol=1e-14)
    for derivative in wg.grad(program), wg.jit(wg.grad(program)), wg.grad(wg.jit(program)):
        assert np.isclose(derivative(1.3), slope, rtol=1e-8)
