"""What tests of NumPy functions share: a case is a function of arrays and the shapes of those arrays.

A case is checked as a function of squares, so that second derivatives of linear functions are not zero.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import OLD_NUMPY, as_list, by_numpy_alone, check

import wengert as wg
from wengert.modes.batch import BatchTrace


def positive(*shapes: tuple[int, ...]) -> list:
    """Arrays of distinct positive numbers in no particular order."""
    rng = np.random.default_rng(1)
    return [np.asarray(0.5 + rng.permutation(int(np.prod(s))) / 7 + 0.01 * k).reshape(s) for k, s in enumerate(shapes)]


def squared(f: Callable) -> Callable:
    """The function of squares."""
    return lambda *xs: f(*[x * x for x in xs])


def check_case(f: Callable, *shapes: tuple[int, ...], **options: Any) -> None:
    """Values, first and second derivatives (see `harness.check`)."""
    check(squared(f), *positive(*shapes), **options)


def check_hidden_axis(f: Callable, *shapes: tuple[int, ...]) -> None:
    """A function of many examples at once gives what it gives one by one."""
    examples = [[x + 0.37 * k for x in positive(*shapes)] for k in range(3)]
    expected = zip(*[as_list(by_numpy_alone(f, *xs)) for xs in examples], strict=True)
    many = BatchTrace(3)
    found = as_list(f(*[many.wrap(np.stack(xs)) for xs in zip(*examples, strict=True)]))
    for y, ys in zip(found, expected, strict=True):
        np.testing.assert_allclose(many.unwrap(y), np.stack(ys), rtol=1e-12)


def traced(f: Callable, *args: Any) -> Any:
    """What f returns for traced arguments, as seen from inside the differentiation."""
    seen = []

    def function(*xs: Any) -> Any:
        seen.append(f(*xs))
        return sum(np.sum(x) for x in xs)

    wg.grad(function, argnums=tuple(range(len(args))))(*args)
    return seen[0]


def check_error(f: Callable, error: type[Exception], x: Any) -> None:
    """What NumPy refuses is refused for traced values, with the same kind of error."""
    try:
        f(x)
    except error:
        with pytest.raises(error):
            traced(f, x)
    except AttributeError:
        assert OLD_NUMPY
    else:
        assert OLD_NUMPY, "NumPy accepts it"
