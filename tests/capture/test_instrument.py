"""Instrumentation follows the user's code, wherever it goes, and leaves everything else as it was."""

import contextlib
import dataclasses
import functools
import itertools
import linecache
import math
import sys
import time
import traceback
from abc import ABC, abstractmethod
from collections import namedtuple

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
from programs import check_program

import wengert as wg
from wengert.capture import instrument as instrumentation
from wengert.capture.hooks import instrument

T = np.array([1.3, 0.7, 2.1])


def cut(t):
    """Something that only instrumented code can do with a traced number."""
    return math.sin(t) * float(t)


def total(x):
    return sum(cut(t) for t in x)


# ------------------------------------------------------------------------------------------------ functions of all kinds


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
    return sum(squares) + table[1] + sum(math.tanh(t) for t in x) + sum(map(sum, nested)) + len({k for k in table})


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

    return fibonacci(6) + sum(table(1)) + sum(table(1))


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
        area(("circle", x[0])) + area({"kind": "square", "side": x[1]}) + area(Pair(x[0], x[2])) + area([x[0], x[1], x[2]])
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
        assert not (x[0] == "a")
        assert x[0] != "a"
        assert not (x[0] == None)  # noqa: E711
        assert x[0] not in ("a", None)
        assert not np.any(x == None)  # noqa: E711
        assert np.all(x != "a")
        return x

    check_program(f, T)


# -------------------------------------------------------------------------------------- functions handed to library code


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


# ------------------------------------------------------------------------------------------ where there is nothing to do


def test_functions_without_source_run_as_they_are():
    scope = {"np": np, "math": math}
    exec("def f(x):\n    return np.sin(x) * x\ndef g(x):\n    return math.sin(x)", scope)
    f, g = scope["f"], scope["g"]
    np.testing.assert_allclose(wg.grad(f)(0.7), np.sin(0.7) + 0.7 * np.cos(0.7))
    assert instrument(f) is f
    with pytest.raises(wg.errors.ConcretizationError, match="np.sin"):
        wg.grad(g)(0.7)
    np.testing.assert_allclose(wg.grad(lambda x: f(x) * math.sin(x))(0.7), wg.numerical.derivative(
        lambda x: f(x) * math.sin(x))(0.7), rtol=1e-7)  # fmt: skip
    h = eval("lambda x: np.sin(x) * x", scope)
    assert instrument(h) is h


def test_source_that_was_entered_at_a_prompt():
    """IPython, doctest and pdb put what was typed into `linecache`."""
    source = "def f(x):\n    out = np.zeros(2)\n    out[0] = math.sin(x)\n    return out[0] * x\n"
    linecache.cache["<prompt-1>"] = (len(source), None, source.splitlines(True), "<prompt-1>")
    scope = {"np": np, "math": math}
    exec(compile(source, "<prompt-1>", "exec"), scope)
    np.testing.assert_allclose(wg.grad(scope["f"])(0.7), np.sin(0.7) + 0.7 * np.cos(0.7))


def test_source_that_was_edited_since(tmp_path):
    """A file that no longer fits the code is not used."""
    path = tmp_path / "edited_module.py"
    path.write_text("import numpy as np\n\ndef f(x):\n    return np.sin(x)\n")
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    path.write_text("import numpy as np\n\n\n\ndef g(x):\n    return np.cos(x)\n")
    linecache.checkcache(str(path))
    assert wg.grad(scope["f"])(0.0) == 1.0


def test_library_code_is_not_rewritten():
    for f in (np.linspace, scipy.optimize.minimize, functools.wraps, dataclasses.replace, wg.grad, contextlib.suppress):
        assert instrument(f) is f
    for f in (len, math.sin, np.sin, np.sum, [].append, "a".join, np.random.default_rng, type, object, dict):
        assert instrument(f) is f


def test_functions_are_called_normally_as_before():
    def f(x, out):
        out[0] = math.sin(x)
        return np.zeros(2), type(x), isinstance(out, np.ndarray)

    wg.grad(lambda x: f(x, np.zeros(1))[0].sum() + x)(1.0)
    out = np.zeros(1)
    zeros, kind, is_array = f(0.5, out)
    assert type(zeros) is np.ndarray
    assert kind is float
    assert is_array
    assert out[0] == math.sin(0.5)
    assert "_wengert_call" not in f.__code__.co_freevars
    assert f.__name__ == "f"


def test_the_twin_looks_like_the_function():
    def f(x: float, *, scale: float = 2.0) -> float:
        """What it does."""
        return math.sin(x) * scale

    f.note = "kept"
    twin = instrument(f)
    assert twin is not f
    assert (twin.__name__, twin.__qualname__, twin.__module__) == (f.__name__, f.__qualname__, f.__module__)
    assert twin.__doc__ == "What it does."
    assert twin.note == "kept"
    assert twin.__kwdefaults__ == {"scale": 2.0}
    assert twin.__code__.co_filename == __file__
    assert twin.__code__.co_firstlineno == f.__code__.co_firstlineno


# ----------------------------------------------------------------------------------------------- the user's lines


def raises_in_line_three(x):
    y = math.sin(x)
    z = y * 2.0
    raise KeyError("here")
    return z


def calls_what_raises(x):
    a = np.zeros(2)
    a[0] = x
    return sum(
        raises_in_line_three(t)
        for t in a
    )  # fmt: skip


def test_tracebacks_point_at_the_users_lines():
    with pytest.raises(KeyError) as caught:
        wg.grad(calls_what_raises)(1.0)
    frames = [frame for frame in traceback.extract_tb(caught.tb) if frame.filename == __file__]
    assert [(frame.name, frame.line) for frame in frames[1:]] == [
        ("calls_what_raises", "return sum("),
        ("<genexpr>", "raises_in_line_three(t)"),
        ("raises_in_line_three", 'raise KeyError("here")'),
    ]
    first = raises_in_line_three.__code__.co_firstlineno
    assert frames[-1].lineno == first + 3


def test_there_are_no_frames_of_ours_between_the_users():
    with pytest.raises(KeyError) as caught:
        wg.grad(calls_what_raises)(1.0)
    files = [frame.filename for frame in traceback.extract_tb(caught.tb)]
    last_of_ours = max(k for k, name in enumerate(files) if "/wengert/" in name and "tests" not in name)
    assert files[last_of_ours + 1 :] == [__file__] * 3


def test_errors_in_stores_name_the_statement():
    def f(x):
        a = np.zeros(2)
        a[5] = x * x
        return a

    with pytest.raises(IndexError) as caught:
        wg.jvp(f, (1.0,), (1.0,))
    lines = [frame.line for frame in traceback.extract_tb(caught.tb) if frame.filename == __file__]
    assert lines[-1] == "a[5] = x * x"


def lines_run(f, *args):
    """The lines of this file that run, in order, as a debugger or a coverage tool sees them."""
    seen = []

    def local(frame, event, argument):
        if event == "line":
            seen.append((frame.f_code.co_name, frame.f_lineno))
        return local

    def trace(frame, event, argument):
        return local if frame.f_code.co_filename == __file__ and frame.f_code.co_name in NAMES else None

    old = sys.gettrace()
    sys.settrace(trace)
    try:
        f(*args)
    finally:
        sys.settrace(old)
    return seen


def stepping(x):
    a = np.zeros(3)
    for i in range(3):
        a[i] = stepping_inner(x, i)
        if i == 1:
            a[i] += 1.0
            continue
        a *= 2.0
    return np.sum(
        a
    )  # fmt: skip


def stepping_inner(x, i):
    if i == 0:
        return math.sin(x)
    return x * i


NAMES = {"stepping", "stepping_inner"}


def test_debuggers_and_coverage_see_the_users_lines():
    plain = lines_run(stepping, 0.5)
    assert len(plain) > 15
    assert lines_run(wg.grad(stepping), 0.5) == plain
    assert lines_run(lambda x: wg.jvp(stepping, (x,), (1.0,)), 0.5) == plain


def test_locals_in_a_debugger_are_the_users():
    seen = []

    def f(x):
        a = np.zeros(2)
        a[0] += x
        b = a[0] * 2.0
        seen.append(sorted(locals()))
        return b

    wg.grad(f)(1.0)
    assert [name for name in seen[0] if not name.startswith("_wengert")] == ["a", "b", "seen", "x"]


def test_frame_functions_work():
    def f(x):
        scale = 2.0  # noqa: F841
        assert "x" in locals()
        assert "T" in globals()
        assert set(vars()) >= {"x", "scale"}
        assert "scale" in dir()
        return eval("x * scale") * math.sin(x)

    check_program(f, 0.7)


# ---------------------------------------------------------------------------------------------------------------- cost


def test_a_function_is_compiled_once(monkeypatch):
    compiled = []
    original = instrumentation._compile_twin
    monkeypatch.setattr(instrumentation, "_compile_twin", lambda code, *rest: (compiled.append(code), original(code, *rest))[1])

    def make(scale):
        def helper(x):
            return math.sin(x) * scale

        return helper

    def f(x):
        return make(2.0)(x) * make(3.0)(x)

    for _ in range(5):
        wg.grad(f)(0.5)
        wg.jvp(f, (0.5,), (1.0,))
    assert len(compiled) == len({id(code) for code in compiled})
    assert [code.co_name for code in compiled].count("f") == 1


def test_what_instrumentation_costs():
    """A call of a user's function in instrumented code takes well under a microsecond more."""

    def helper(i):
        return i

    def loop(n):
        total = 0
        for i in range(n):
            total = helper(i)
        return total

    def seconds(f):
        best = np.inf
        for _ in range(7):
            start = time.perf_counter()
            f(20_000)
            best = min(best, time.perf_counter() - start)
        return best

    twin = instrument(loop)
    twin(10)
    assert seconds(twin) - seconds(loop) < 20_000 * 1.5e-6


def test_threads_instrument_a_function_together():
    from concurrent.futures import ThreadPoolExecutor

    def f(x):
        a = np.zeros(3)
        a[1] = math.sin(x)
        return a[1] * x

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(wg.grad(f), [0.7] * 32))
    np.testing.assert_allclose(found, np.sin(0.7) + 0.7 * np.cos(0.7))
