"""Exceptions that Python's numbers raise by themselves, in a `try`: compiled code does what Python does."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest
from jit.everywhere import close, value

import wengert as wg
from wengert.errors import StagingError


def returns(x):
    try:
        return math.exp(x)
    except Exception:
        return 1e308


def divides(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = x * 3 + 1
    return y


def several(x):
    try:
        y = 1.0 / x
        z = math.log(y)
    except ZeroDivisionError:
        z = 5.0
    except ValueError:
        z = x * 3
    return z


def in_one_statement(x):
    try:
        return math.exp(1 / x) + math.sqrt(x) * math.log(x - 2.0)
    except ZeroDivisionError:
        return x + 1
    except OverflowError:
        return x + 2
    except ValueError:
        return x + 3


def several_kinds_in_one_clause(x):
    try:
        y = math.exp(1 / x)
    except (ZeroDivisionError, OverflowError):
        y = x * x
    return y


def with_else_and_finally(x):
    total = 0.0
    try:
        y = math.log(x)
    except ValueError:
        y = x * 3
    else:
        total = total + x * x
    finally:
        total = total + 1.0
    return y + total


def effects_come_first(x):
    a, seen = np.zeros(3), [0.0, 1.0]
    try:
        a[0] = x
        seen[0] = x
        a[1] = 1 / x
        seen[1] = 2 * x
    except ZeroDivisionError:
        a[2] = 3 * x + 1
    return a.sum() + seen[0] * seen[1] + len(a)


def augments(x):
    total = x
    try:
        total += 2.0
        total /= x
        total *= 3.0
    except ZeroDivisionError:
        total = total + x + 7.0
    return total


def nested(x):
    try:
        try:
            y = math.log(x)
        except ZeroDivisionError:
            y = 100.0
        y = 1 / (x - 1)
    except ValueError:
        y = x * 3
    except ZeroDivisionError:
        y = x * 7
    return y


def again(x):
    try:
        try:
            y = math.log(x)
        except ValueError:
            y = 5.0 * x
            raise
    except ValueError:
        y = x * 3
    return y


def another(x):
    try:
        try:
            y = 1 / x
        except ZeroDivisionError as e:
            raise KeyError("b") from e
    except KeyError:
        y = x * 3 + 2
    return y


def text_of_the_error(x):
    try:
        y = 1 / x
    except ZeroDivisionError as e:
        y = x + len(str(e))
    return y


def in_a_loop(x):
    total = 0.0
    for i in range(10):
        try:
            total = total + 1 / (x - i) + math.sqrt(x - i)
        except ZeroDivisionError:
            total = total + 10.0 * x
        except ValueError:
            total = total - x * x
    return total


def in_a_while(x):
    y, n = x, 0
    while n < 6:
        n += 1
        try:
            y = math.sqrt(y - 1.03)
        except ValueError:
            y = y + 3.0 * x
            continue
    return y


def in_a_branch(x):
    y = x
    if x > -1:
        try:
            y = y / x
        except ZeroDivisionError:
            y = y * 3 + 2
    return y


def branch_inside(x):
    try:
        if 1 / x > 0.5:
            y = math.log(x - 1.0)
        else:
            y = x
    except ZeroDivisionError:
        y = 3 * x + 4
    except ValueError:
        y = 5 * x
    return y


def conditional_expression(x):
    try:
        return math.log(x - 1.0) if x > 0 else 1 / x
    except ValueError:
        return x * 3
    except ZeroDivisionError:
        return x + 9


def and_or(x):
    try:
        if x > 0 and math.log(x - 1.0) < 0:
            return x * x
    except ValueError:
        return x * 3
    return x


def helper(x):
    y = math.sqrt(x)
    return math.log(y) * x


def in_a_function(x):
    try:
        return helper(x) + 1
    except ValueError:
        return 2 * x


def raising(x):
    if x > 1:
        raise ValueError("too large")
    if x == 0:
        return 5.0
    return 1 / x


def raises_in_a_function(x):
    try:
        y = raising(x)
    except ValueError:
        y = 3 * x
    return y


def deeper(x):
    if x > 0:
        if x > 2:
            raise KeyError("large")
        return raising(x)
    return x


def raises_deeper(x):
    try:
        return deeper(x) * x
    except ValueError:
        return 3 * x
    except KeyError:
        return 7 * x


def with_effects_in_a_function(x):
    seen = [0.0, 1.0]

    def inner(y):
        seen[0] += y
        seen[1] = y
        z = np.zeros(2)
        z[0] = y
        z[1] = 1 / y
        return z.sum()

    try:
        out = inner(x)
    except ZeroDivisionError:
        out = 3 * x + 4
        seen[0] += 1.0
    return out + seen[0] * seen[1]


def with_effects_in_a_branch(x):
    seen = [0.0, 1.0]
    count = 0

    def inner(y):
        nonlocal count
        seen[0] = 2.0
        if y < 1:
            seen[0] += y
            count += 1
            if y > -1:
                seen[1] = 3.0
                try:
                    return 1 / y
                finally:
                    seen[1] += 2.0
        else:
            seen[1] = math.log(y - 1.0)
        return y

    try:
        out = inner(x)
    except ZeroDivisionError:
        out = 3 * x + 4
        seen[0] += 1.0
    except ValueError:
        out = x * x
    return out + seen[0] * seen[1] + count


def swallows(x):
    def inner(y):
        with contextlib.suppress(ZeroDivisionError):
            return 1 / y
        return 5.0

    try:
        return inner(x)
    except ZeroDivisionError:
        return 2 * x - 1


def catches_inside(x):
    def inner(y):
        try:
            return math.log(y)
        except ValueError:
            return 1 / y

    try:
        return inner(x)
    except ZeroDivisionError:
        return 2 * x - 1


def asserts(x):
    try:
        assert x < 1, "large"
        return x
    except AssertionError:
        return x * 3


def power(x):
    try:
        return x**-2
    except ZeroDivisionError:
        return x + 1


def whole(x):
    try:
        return x * int(1 / x)
    except (ZeroDivisionError, ValueError):
        return x - 1


def one_after_the_other(x):
    try:
        y = 1 / x
    except ZeroDivisionError:
        y = 1.0 + x
    try:
        z = math.log(y)
    except ValueError:
        z = y * x
    return y + z


def with_a_context(x):
    try:
        with np.errstate(all="ignore"):
            y = 1 / x
            y = math.sqrt(y)
    except ArithmeticError:
        y = x + 1
    except ValueError:
        y = x * 2
    return y


class Point:
    def __init__(self, v):
        self.v = v

    @property
    def inverse(self):
        return 1 / self.v

    def move(self):
        self.v = self.v + 1.0
        self.v = self.v / (self.v - 2.0)
        return self.v


def attributes(x):
    p = Point(x)
    try:
        p.v = p.inverse
    except ZeroDivisionError:
        p.v = p.v + 3.0
    return p.v


def changes_before_it_raises(x):
    p = Point(x)
    try:
        p.v = p.v * 3
        y = p.inverse
    except ZeroDivisionError:
        y = p.v + x
    return y + p.v


def any_exception(x):
    try:
        y = 1 / x
    except Exception:
        y = 2 + x
    try:
        z = math.log(y)
    except Exception:
        z = y * x
    return y + z


def starts_before(x):
    y = x * 4
    try:
        y = 1 / x
        y = math.log(y)
    except (ZeroDivisionError, ValueError):
        y = y * 2 + x
    return y


PROGRAMS = [
    returns, divides, several, in_one_statement, several_kinds_in_one_clause, with_else_and_finally,
    effects_come_first, augments, nested, again, another, text_of_the_error, in_a_loop, in_a_while, in_a_branch,
    branch_inside, conditional_expression, and_or, in_a_function, raises_in_a_function, raises_deeper, catches_inside,
    asserts, power, one_after_the_other, with_a_context, attributes, changes_before_it_raises, starts_before,
    with_effects_in_a_function, with_effects_in_a_branch, any_exception,
]  # fmt: skip
ONLY_VALUES = [whole]
POINTS = [-1.5, 0.0, 0.001, 0.5, 1.0, 1.7, 2.5, 3.0, 800.0]


@pytest.mark.parametrize("f", PROGRAMS + ONLY_VALUES, ids=lambda f: f.__name__)
def test_values(f):
    compiled = wg.jit(f)
    for x in POINTS:
        close(value(compiled, x), f(x))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    compiled, outside, second = wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.jit(wg.grad(wg.grad(f)))
    forward = wg.jit(lambda x: wg.jvp(f, (x,), (1.0,))[1])
    for x in POINTS:
        expected = wg.grad(f)(x)  # without compilation: Python raises
        assert math.isfinite(expected)
        close(compiled(x), expected)
        close(outside(x), expected)
        close(forward(x), expected)
        close(second(x), wg.grad(wg.grad(f))(x))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_batches(f):
    points = np.array(POINTS)
    with np.errstate(all="ignore"):  # what a batch holds are NumPy's numbers
        expected = np.array([float(f(x)) for x in points])
    close(wg.jit(wg.vmap(f))(points), expected)


def no_handler_matches(x):
    try:
        y = math.log(1 / x)
    except KeyError:
        y = 3.0
    except ValueError as error:
        raise RuntimeError("negative") from error
    return y


def test_what_nobody_catches():
    compiled = wg.jit(no_handler_matches)
    close(value(compiled, 2.0), no_handler_matches(2.0))
    with pytest.raises(ZeroDivisionError):
        compiled(0.0)
    with pytest.raises(RuntimeError, match="negative"):
        compiled(-1.0)


def long_loop(x):
    total = 0.0
    for i in range(2000):
        total = total + 1 / (x - i)
    return total


def around_a_long_loop(x):
    try:
        return long_loop(x)
    except ZeroDivisionError:
        return -1.0


def loop_in_the_suite(x):
    total = 0.0
    try:
        for i in range(2000):
            total = total + 1 / (x - i)
    except ZeroDivisionError:
        return -1.0
    return total


def in_the_test_of_a_loop(x):
    n = 0
    try:
        while 1 / (x - n) < 0.4 and n < 10:
            n += 1
    except ZeroDivisionError:
        return -1.0
    return n * x


def prints_before(x):
    def shown(y):
        print("shown")
        return 1 / y

    try:
        return shown(x)
    except ZeroDivisionError:
        return -1.0


@pytest.mark.parametrize(
    "f",
    [swallows, around_a_long_loop, loop_in_the_suite, in_the_test_of_a_loop, prints_before],
    ids=lambda f: f.__name__,
)
def test_right_or_refused(f):
    for x in POINTS:
        try:
            got = wg.jit(f)(x)
        except StagingError as error:
            assert "test_exceptions_implicit.py" in str(error)  # noqa: PT017
            assert "remedy" in str(error)  # noqa: PT017
        else:
            close(got, f(x))
