"""`try` in compiled code: exceptions that are raised or not, depending on values that only the program knows."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest
from jit.everywhere import close, value

import wengert as wg
from wengert.errors import StagingError

POINTS = [-1.5, 0.5, 1.5, 2.5]


def simple(x):
    try:
        if x > 1:
            raise ValueError("too large")
        return x * 2
    except ValueError:
        return x * 3


def with_else_and_finally(x):
    total = 0.0
    try:
        if x > 1:
            raise ValueError("too large")
        y = x * 2
    except ValueError:
        y = x * 3
    else:
        total = total + x * x
    finally:
        total = total + 1.0
    return y + total


def several(x):
    try:
        if x > 2:
            raise KeyError("a")
        if x > 1:
            raise ValueError("b")
        if x < 0:
            raise ZeroDivisionError
        y = x
    except (KeyError, IndexError):
        y = x * 2
    except ValueError as error:
        y = x * 3 + len(str(error))
    except ArithmeticError:
        y = x * 5
    return y


def nested(x):
    try:
        try:
            if x > 1:
                raise ValueError("a")
            if x < 0:
                raise KeyError("b")
            y = x
        except KeyError:
            y = x * 7
        y = y + 1
    except ValueError:
        y = x * 3
    return y


def again(x):
    try:
        try:
            if x > 1:
                raise ValueError("a")
            y = x
        except ValueError:
            y = 5.0 * x
            raise
    except ValueError:
        y = x * 3
    return y


def another(x):
    try:
        try:
            if x > 1:
                raise ValueError("a")
            y = x
        except ValueError as e:
            raise KeyError("b") from e
    except KeyError:
        y = x * 3
    return y


def in_a_loop(x):
    total = 0.0
    for i in range(10):
        try:
            if total > x * 10:
                raise ValueError("enough")
            total = total + i * x * x
        except ValueError:
            total = total - 1.0
    return total


def out_of_a_loop(x):
    total = 0.0
    try:
        for i in range(10):
            total = total + i * x * x
            if total > 20.0:
                raise StopIteration
        total = total * 2.0
    except StopIteration:
        total = total + 0.5 * x
    return total


def out_of_a_while(x):
    y = x
    try:
        while abs(y) < 100.0:
            y = y * 2.0
            if y > 30.0:
                raise OverflowError("large")
    except OverflowError:
        return y + x
    return y


def break_in_try(x):
    total = 0.0
    for i in range(8):
        try:
            if total > 5 * x * x:
                break
            if i * x > 3.1:
                raise ValueError
            total = total + x * x
        except ValueError:
            continue
        total = total + 0.1 * x
    return total


def writes(x):
    a = np.zeros(3)
    try:
        a[0] = x
        if x > 1:
            raise ValueError
        a[1] = x * x
    except ValueError:
        a[2] = 3 * x
    return a.sum() + a[2]


def in_a_branch(x):
    y = x
    if x > 0:
        try:
            if x > 1:
                raise ValueError
            y = y * 2
        except ValueError:
            y = y * 3
    return y


def in_the_handler(x):
    try:
        if x > 1:
            raise ValueError
        y = x
    except ValueError:
        if x > 2:
            return x * 9
        y = x * 3
    return y


def checked(x):
    """What a decorator that validates its arguments does: every way out of the `try` is a return or a raise."""
    try:
        limits = {"low": 0.0}
        y = x * 2
        if y < limits["low"]:
            raise ValueError("%s is below %s" % (str(x), str(limits["low"])))  # noqa: UP031
        return {"value": y, **limits}
    except Exception as error:
        raise ValueError(f"not valid: {error!s}") from error


def returned_or_raised_again(x):
    def sign(v):
        try:
            w = v * 2
            return w / abs(w)
        except ZeroDivisionError:
            raise

    try:
        return checked(x)["value"] + sign(x)
    except ValueError as error:
        if "valid" not in error.args[0]:
            raise
        return -3 * x


def known(x):
    try:
        y = {"a": x}["b"]
    except KeyError:
        y = x * 2
    try:
        int("no number")
    except ValueError as e:
        y = y + len(e.args)
    return y


def everything(x):
    try:
        if x > 1:
            raise ValueError
        y = x
    except:  # noqa: E722
        y = x * 4
    return y


CAUGHT = [
    simple, with_else_and_finally, several, nested, again, another, in_a_loop, out_of_a_loop, out_of_a_while,
    break_in_try, writes, in_a_branch, in_the_handler, returned_or_raised_again, known, everything,
]  # fmt: skip


@pytest.mark.parametrize("f", CAUGHT, ids=lambda f: f.__name__)
def test_handlers(f):
    compiled, slope, inner = wg.jit(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))
    h = 1e-6
    for x in POINTS:
        if f is out_of_a_while and x < 0:
            continue
        close(value(compiled, x), f(x))
        expected = (f(x + h) - f(x - h)) / (2 * h)
        close(slope(x), expected, rtol=1e-5)
        close(inner(x), expected, rtol=1e-5)
        close(wg.grad(f)(x), expected, rtol=1e-5)
    points = np.array([x for x in POINTS if x > 0])
    close(wg.jit(wg.vmap(f))(points), np.array([f(x) for x in points]))


def test_what_nobody_catches():
    def f(x):
        try:
            if x > 1:
                raise ValueError("large")
            y = x
        except KeyError:
            y = 0.0
        return y

    assert wg.jit(f)(0.5) == 0.5
    with pytest.raises(ValueError, match="large"):
        wg.jit(f)(2.0)


def test_what_was_refused_before_is_forgotten():
    with pytest.raises(wg.errors.ConcretizationError):
        wg.grad(lambda x: x * int(1j * x))(1.5)
    assert wg.grad(known)(1.5) == 2.0


def test_values_in_what_an_exception_says():
    def f(x):
        if x[0] > 2:
            raise ValueError("too large", x[0], {"at": [x[1], 2]})
        assert x[0] > 0, ("negative", x[0])
        return x

    with pytest.raises(ValueError, match=r"\('too large', …, \{'at': \[…, 2\]\}\)"):
        wg.jit(f)(np.array([3.0, 1.0]))
    with pytest.raises(AssertionError, match=r"\('negative', …\)"):
        wg.jit(f)(np.array([-3.0, 1.0]))


def test_an_error_in_a_branch_that_is_not_taken():
    table = {"a": 1.0}

    def f(x):
        y = x
        if x > 1:
            y = table["b"] * x
        return y

    assert wg.jit(f)(0.5) == 0.5
    with pytest.raises(KeyError):
        wg.jit(f)(2.0)


def helper(x):
    if x > 1:
        raise ValueError("too large")
    return x


def calls(x):
    try:
        return helper(x)
    except ValueError:
        return x * 3


def decomposes(x):
    try:
        return np.linalg.cholesky(np.array([[x, 0.5], [0.5, 1.0]]))[1, 1]
    except np.linalg.LinAlgError:
        return np.inf


def looks_up(x):
    a = np.arange(3.0)
    try:
        return a[int(x)] * x
    except IndexError:
        return x


def looks_up_in_a_branch(x):
    table = {"a": 1.0}
    try:
        if x > 1:
            return table["b"]
        return x
    except KeyError:
        return x * 3


def asserts(x):
    try:
        assert x < 1
        return x
    except AssertionError:
        return x * 3


def divides(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return x * 3


def logarithm(x):
    try:
        return math.log(x)
    except ValueError:
        return -1e308 * x


@pytest.mark.parametrize(
    "f",
    [calls, decomposes, looks_up, looks_up_in_a_branch, asserts, divides, logarithm],
    ids=lambda f: f.__name__,
)
def test_right_or_refused(f):
    compiled = wg.jit(f)
    for x in (*POINTS, 0.0, 5.0):
        try:
            got = compiled(x)
        except StagingError as error:
            assert "test_exceptions.py" in str(error)  # noqa: PT017
            assert "remedy" in str(error)  # noqa: PT017
        else:
            close(got, f(x))


def test_refusals_are_not_swallowed():
    def f(x):
        try:
            return x * len({x, 1.0})
        except Exception:
            return x * 3

    with pytest.raises(TypeError):
        wg.jit(f)(2.0)


OUTSIDE = np.zeros(3)


class Counter:
    def __init__(self):
        self.state = np.zeros(2)


def _written_everywhere(x, thing):
    x *= 2
    OUTSIDE[0] = x[0]
    thing.state += 1
    for i in range(len(x)):
        x[i] += 1
        if x[i] > 100:
            raise ValueError("too large")
    return x


@pytest.mark.parametrize("size", [3, 100_000])
def test_a_call_that_raises_leaves_everything_as_it_was(size):
    thing, x = Counter(), np.ones(size)
    compiled = wg.jit(lambda x: _written_everywhere(x, thing))
    OUTSIDE[:] = 0.0
    x[-1] = 60.0
    with pytest.raises(ValueError, match="too large"):
        compiled(x)
    assert (x[:-1] == 1).all()
    assert x[-1] == 60
    assert not OUTSIDE.any()
    assert not thing.state.any()
    x[-1] = 1.0
    compiled(x)
    assert (x == 3).all()
    assert OUTSIDE[0] == 2
    assert (thing.state == 1).all()


def suppressed(x):
    y = 0.5 * x
    with contextlib.suppress(ValueError, ZeroDivisionError):
        y = math.log(x - 2.0)
        y = y + 1
    return y


def test_suppressed_exceptions():
    f = wg.jit(suppressed)
    for x in (1.3, 5.0, 1.3):
        np.testing.assert_allclose(f(x), suppressed(x))
        np.testing.assert_allclose(wg.jit(wg.grad(suppressed))(x), 0.5 if x < 2 else 1 / (x - 2.0))
    xs = np.array([1.3, 5.0])
    np.testing.assert_allclose(wg.jit(wg.vmap(suppressed))(xs), [suppressed(1.3), suppressed(5.0)])


def test_what_an_exception_holds_cannot_be_read_outside_of_its_branch():
    def f(x):
        try:
            if x > 1:
                raise ValueError(x * 2)
            y = x
        except ValueError as e:
            y = e.args[0] * x
        return y

    with pytest.raises(StagingError, match="before the raise"):
        wg.jit(f)(1.3)
