"""Functions as odd as users' may be: lowered, with hooks that do what Python does, they do what they did."""

# ruff: noqa: B007, B012, B023, C416, F401, F811, F821, F841, F842, UP037

import contextlib
import inspect
import itertools
import math

import numpy as np
import plain_hooks
import pytest

from wengert.capture.instrument import staged
from wengert.capture.lower import LOWERED_HOOKS


@pytest.fixture(autouse=True)
def hooks():
    plain_hooks.seen.clear()
    with plain_hooks.installed():
        yield


zoo = []
"""Pairs of a function and the arguments to try it on. Every function returns all that can be seen of it."""


def case(*arguments):
    def add(f):
        zoo.append((f, arguments))
        return f

    return add


def say(log, x):
    log.append(x)
    return x


NUMBERS = tuple((n,) for n in range(-1, 8))

# ----------------------------------------------------------------------------------------------------------- branches


@case(*NUMBERS)
def if_alone(x):
    y = 0
    if x > 3:
        y = x
    return y


@case(*NUMBERS)
def if_elif_else(x):
    if x > 5:
        y = "large"
    elif x > 2:
        y = "medium"
    else:
        y = "small"
        if x < 0:
            y = y + "!"
    return y


@case(*NUMBERS)
def early_return(x):
    if x > 3:
        return "a"
    x += 1
    if x > 2:
        return "b"
    return "c", x


@case(*NUMBERS)
def return_without_value(x):
    if x > 3:
        return
    if x > 2:
        return None
    if x > 1:
        return 1


@case(*NUMBERS)
def returns_deep_inside(x):
    if x > 1:
        if x > 2:
            y = 1
            if x > 3:
                return "deep", y
            y += 1
        else:
            y = 7
        y *= 2
    else:
        y = -1
    return y


@case(*NUMBERS)
def both_branches_return(x):
    if x > 3:
        return 1
    else:
        return 2
    return 3  # never


@case(*NUMBERS)
def unbound_in_one_branch(x):
    if x > 3:
        y = x
    return y


@case(*NUMBERS)
def unbound_and_used(x):
    if x > 3:
        y = x
    if x > 1:
        y += 1
    return y + 1


@case(*NUMBERS)
def never_bound_where_it_is_read(x):
    if x > 3:
        return z
    return 0
    z = 1


@case(*NUMBERS)
def walrus_in_a_test(x):
    if (y := x * 2) > 6 and (z := y + 1):
        return y, z
    return y


# -------------------------------------------------------------------------------------------------------------- loops


@case(*NUMBERS)
def break_continue_else(n):
    log = []
    for i in range(n):
        if i == 1:
            continue
        log.append(i)
        if i * n > 20:
            break
        log.append(-i)
    else:
        log.append("else")
    return log


@case(*NUMBERS)
def nested_loops(n):
    log = []
    for i in range(n):
        for j in range(i, n):
            if (i + j) % 3 == 0:
                continue
            if j > 4:
                log.append("break")
                break
            if i * j == 12:
                return log, i, j
            log.append((i, j))
        else:
            log.append("inner else")
            if i == 2:
                continue
        log.append(i)
        if i > 3:
            break
    else:
        return "outer else", log
    return log


@case(*NUMBERS)
def else_that_returns(n):
    for i in range(n):
        if i == 4:
            break
    else:
        return "none"
    return i


@case(*NUMBERS)
def else_that_breaks_the_outer_loop(n):
    log = []
    for i in range(5):
        for j in range(i):
            if j == n:
                break
        else:
            if i > 2:
                break
            continue
        log.append((i, j))
    return log


@case(*NUMBERS)
def last_value_of_the_variable(n):
    for i in range(n):
        pass
    return i


@case(*NUMBERS)
def while_true(n):
    k = 0
    while True:
        k += 1
        if k > n:
            break
        if k == 5:
            return "five"
    return k


@case(*NUMBERS)
def while_true_that_returns(n):
    while True:
        n += 1
        if n % 3 == 0:
            return n


@case(*NUMBERS)
def while_with_everything(n):
    log = []
    while n > 0:
        n -= 1
        if n == 5:
            continue
        log.append(n)
        if n == 3:
            break
    else:
        log.append("else")
    return log, n


@case(*NUMBERS)
def while_with_walrus(n):
    log = []
    values = iter(range(n))
    while (x := next(values, None)) is not None:
        if x == 4:
            break
        log.append(x)
    return log, x


@case(*NUMBERS)
def no_test_after_break(n):
    log = []
    k = 0
    while say(log, k < 10):
        k += 1
        if k > n:
            break
    return log


@case(*NUMBERS)
def tuple_and_star_targets(n):
    log = []
    for i, (a, *b) in enumerate([range(k, k + n) for k in range(3)]):
        log.append((i, a, b))
    return log


@case(*NUMBERS)
def subscript_and_attribute_targets(n):
    class Holder:
        pass

    a, holder = np.zeros(3), Holder()
    for a[1], holder.b in zip(range(n), range(n, 2 * n), strict=True):
        a[2] += holder.b
        a[0], c = a[1], holder.b
    return a.tolist(), getattr(holder, "b", None)


@case(*NUMBERS)
def closures_over_loop_variables(n):
    functions = []
    for i in range(n):
        square = i * i
        functions.append(lambda: (i, square))
        functions.append(lambda i=i: i)
        if i == 3:
            break
    return [f() for f in functions]


@case(*NUMBERS)
def changes_what_is_iterated(n):
    items = list(range(n))
    for i in items:
        if i < 3:
            items.append(i + 3)
    return items


@case(*NUMBERS)
def exhausts_an_iterator_once(n):
    values = iter(range(10))
    for x in values:
        if x == n:
            break
    return list(values)


@case(*NUMBERS)
def annotated(n):
    total: int = 0
    other: "str"
    for i in range(n):
        square: int = i * i
        total += square
    return total


# ------------------------------------------------------------------------------------------------ try, with and match


@case(*NUMBERS)
def finally_sees_every_way_out(n):
    log = []
    for i in range(4):
        try:
            log.append(i)
            if i == n:
                break
            if i == n - 1:
                continue
            if i == n - 2:
                return log
            if i == n - 4:
                1 / 0
        except ZeroDivisionError as e:
            log.append(str(e))
            if n == 5:
                return log, "handler"
        else:
            log.append("else")
        finally:
            log.append("finally")
        log.append("after")
    return log, "end"


@case(*NUMBERS)
def with_inside_a_loop(n):
    log = []

    @contextlib.contextmanager
    def context(name):
        log.append(f"enter {name}")
        try:
            yield name
        finally:
            log.append(f"exit {name}")

    for i in range(5):
        with context(i) as k, context("b"):
            if k == n:
                return log
            if k == n - 2:
                break
            if k == n - 3:
                continue
            log.append(k)
        log.append("after")
    return log, "end"


@case(*NUMBERS)
def with_that_swallows(n):
    with contextlib.suppress(ZeroDivisionError):
        y = 12 / n
        if y > 3:
            return y
        y = 1 / (n - 6)
    return "swallowed", y


@case(*NUMBERS)
def return_that_is_undone(n):
    @contextlib.contextmanager
    def raises():
        yield
        raise ValueError

    try:
        with raises():
            if n > 3:
                return "not this"
    except ValueError:
        n += 100
    if n > 3:
        return n
    return "small"


@case(*NUMBERS)
def only_try_and_with_return(n):
    with contextlib.nullcontext():
        try:
            return 1 / n
        except ZeroDivisionError:
            return "zero"


@case(*NUMBERS)
def exception_variable(n):
    e = "before"
    for i in range(n):
        try:
            if i == 2:
                raise KeyError(i)
        except KeyError as e:
            message = repr(e)
        if i == 1:
            e = "again"
    if n > 4:
        return message
    return e


@case(*NUMBERS)
def jumps_out_of_finally(n):
    for i in range(n):
        try:
            1 / (i - 2)
        finally:
            if i > 1:
                return "discarded", i
    return n


@case(*NUMBERS)
def raises_and_asserts(n):
    assert n >= 0, f"negative: {n}"
    assert n != 1
    if n == 2:
        raise ValueError("two")
    try:
        if n == 3:
            raise ValueError("three") from KeyError(3)
        if n == 4:
            raise KeyError
    except ValueError as e:
        return str(e), repr(e.__cause__)
    except KeyError:
        if n == 4:
            raise
    return n


@case((1,), (1.5,), ((1, 2),), ({"a": 3},), ("x",), ((5,),), (7,))
def matches(x):
    match x:
        case 1:
            return "one"
        case (a, b) if a < b < 5:
            y = a, b
        case {"a": value, **rest}:
            y = value, rest
        case float() as number:
            y = number
        case (first, *others):
            return first, others
        case int(k):
            for i in range(k):
                if i == 3:
                    return "three"
        case _:
            y = "other"
    return y


# -------------------------------------------------------------------------------------------------------- expressions


@case(*itertools.product((0, 1, 2), (0, 3), ("", "a")))
def boolean_operators(x, y, z):
    log = []
    return (
        (say(log, x) and say(log, y) and say(log, z), say(log, x) or say(log, y) or say(log, z)),
        (not x, not (x and y) or z, x if y else z, (say(log, 1) if x else say(log, 2)) if z else 3),
        log,
    )


@case(*itertools.product((0, 1, 2), (0, 1, 2), (0, 1, 2)))
def chains(x, y, z):
    log = []
    return (
        (say(log, x) < say(log, y) <= say(log, z), x == y != z, x > y >= z, 0 <= x < 2),
        (x is y is not z, x in [y, z] not in [[1]], x not in (y,) in [(0,)]),
        log,
    )


@case(*NUMBERS)
def comprehensions(n):
    k = 5
    lists = [k + i if i else k for i in range(n) if i % 2 and i > 1]
    nested = [(i, j) for i in range(n) for j in range(i) if i != j + 1 if j]
    sets = {i % 3 for i in range(n)}
    dicts = {i: [j for j in range(i)] for i in range(n)}
    lazy = (i * k for i in range(n) if not i % 2)
    k = 6
    last = [y := i for i in range(n)]
    return lists, nested, sets, dicts, list(lazy), k, last, y


@case(*NUMBERS)
def walrus_in_operands(n):
    a = n > 2 and (y := n)
    b = (z := 3) if n > 3 else (z := 4)
    c = 0 < (w := n) < 5
    return a, b, c, z, w, n > 2 and y


@case(*NUMBERS)
def formatted(n):
    return f"{n if n > 2 else 'small':>{n + 2 if n > 0 else 4}} {n!r} {', '.join(str(i) for i in range(n))}"


# ---------------------------------------------------------------------------------------------------- names and scopes

counter = 0


@case(*NUMBERS)
def globals_are_shared(n):
    global counter
    counter = 0
    for i in range(n):
        if i % 2:
            counter += i
    return counter


@case(*NUMBERS)
def global_that_does_not_exist_yet(n):
    globals().pop("late", None)
    if n > 3:
        global late
        late = n
    for _ in range(n):
        if n > 5:
            del late
            break
    return late


@case(*NUMBERS)
def nonlocals(n):
    total = 0

    def add(x):
        nonlocal total
        if x > 2:
            total += x
            return True
        return False

    added = [add(i) for i in range(n)]
    for i in range(n):
        if add(i):
            break
    return total, added


@case(*NUMBERS)
def deleted(n):
    x = 1
    if n > 3:
        del x
    if n > 4:
        x = 2
    for i in range(2):
        if n == 1:
            del i
    if n == 0:
        del n, x
    return x, i


@case(*NUMBERS)
def parameter_deleted(n):
    if n > 3:
        del n
    return n


@case(*NUMBERS)
def imports(n):
    if n > 3:
        import math as m
        from os import path, sep
    else:
        import cmath as m
    import os.path

    return m.sqrt(n), n > 3 and path is os.path


@case(*NUMBERS)
def nested_functions(n):
    def factorial(k):
        """Nested docstring."""
        if k <= 1:
            return 1
        return k * factorial(k - 1)

    if n > 2:

        def g(x, *rest, scale=n, **options):
            for r in rest:
                if r > scale:
                    return r, options
            return x
    else:
        g = lambda *args, **options: (args, options if options else None)
    return factorial(n), g(1, 2, 5, a=3), g(0), factorial.__doc__


@case(*NUMBERS)
def classes_inside(n):
    class Base:
        limit = n

        def value(self, x):
            if x > self.limit:
                return "over"
            return x

    if n > 2:

        class Derived(Base):
            def value(self, x):
                for _ in range(2):
                    if x > 3:
                        return "derived", super().value(x)
                return super().value(x)

            @property
            def twice(self):
                return self.limit * 2 if self.limit > 4 else -1
    else:
        Derived = None
    return Base().value(3), Derived and (Derived().value(4), Derived().value(3), Derived().twice)


@case(*NUMBERS)
def generators_inside(n):
    def numbers():
        for i in range(n):
            if i == 2:
                continue
            if i == 5:
                return
            yield i

    total = 0
    for x in numbers():
        total += x
    return total, list(numbers())


@case(*NUMBERS)
def arrays(n):
    a, rows = np.zeros(8), [np.zeros(2), np.zeros(2)]
    for i in range(n):
        a[i] = i
        a[i] += 2
        a[1:3] *= 2
        rows[i % 2][0] = i
        if i > 3:
            a += 1
            np.add(a, 1, out=a)
    return a.tolist(), rows[0].tolist(), rows[1].tolist()


@case(*NUMBERS)
def star_arguments_and_keywords(n):
    def g(a, /, b=2, *rest, c, d=4, **more):
        if rest:
            return a, b, rest, c, d, more
        return a, c

    return g(n, *range(n), c=1, **{"e": 5} if n > 2 else {})


@pytest.mark.parametrize(("f", "arguments"), zoo, ids=[f.__name__ for f, _ in zoo])
def test_zoo(f, arguments):
    twin = staged(f)
    assert twin is not f
    for args in arguments:
        assert plain_hooks.outcome(twin, *args) == plain_hooks.outcome(f, *args)


@pytest.mark.parametrize(("f", "arguments"), zoo, ids=[f.__name__ for f, _ in zoo])
def test_zoo_is_lowered(f, arguments):
    codes = [staged(f).__code__]
    for code in codes:
        codes += [c for c in code.co_consts if hasattr(c, "co_freevars")]
    used = {name for code in codes for name in code.co_freevars}
    is_lowered = f is not jumps_out_of_finally
    assert bool(used.intersection(LOWERED_HOOKS)) is is_lowered


def test_messages_of_assertions():
    for n, message in ((-1, "^negative: -1$"), (1, "^$")):
        with pytest.raises(AssertionError, match=message):
            staged(raises_and_asserts)(n)


def test_variables_of_the_module_are_not_bound_but_loaded():
    loads = []
    plain_hooks.set_staged_hooks({"_wengert_load": lambda name, value: loads.append(name) or value})
    outside = 2.0

    def f(x):
        def g(y):
            return y + x + outside + counter

        return g(len([i for i in range(2)])) + math.pi

    assert staged(f)(1.0) == f(1.0)
    assert loads == ["outside", "counter", "math"]


def test_every_node_has_a_place():
    for f, _ in zoo:
        lines, first = inspect.getsourcelines(f)
        codes = [staged(f).__code__]
        for code in codes:
            codes += [c for c in code.co_consts if hasattr(c, "co_positions")]
            assert all(first <= line < first + len(lines) for line, *_ in code.co_positions() if line)
