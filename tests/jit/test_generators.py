"""Generators whose items data decide: in loops, in builtins, through each other; and the errors of what cannot be."""

import itertools
import math

import numpy as np
import pytest
from jit.everywhere import agrees

import wengert as wg
from wengert.errors import StagingError, WengertError

X = np.array([0.7, -1.2, 2.3, 0.4, -0.5])


def halves(x):
    while x > 0.1:
        yield x
        x = x * 0.5


def positive(x):
    for v in x:
        if v > 0:
            yield v


def newton(a):
    y = a
    while True:
        y = 0.5 * (y + a / y)
        yield y


def in_loops(x):
    total, n = 0.0, 0
    for k, h in enumerate(halves(x)):
        total, n = total + k * h * h, n + 1
    for y in newton(x):
        if abs(y * y - x) < 1e-12:
            break
    else:
        y = 0.0
    return total * n + y + sum(halves(x)) + max(map(math.sin, halves(x))) + sum(itertools.islice(newton(x), 3))


def in_builtins(x):
    first = next(i for i, v in enumerate(x) if v > 1)
    none = next((i for i, v in enumerate(x) if v > 100), None)
    small = [v for v in positive(x) if v < 2]
    result = x[first] * first + (x[0] if none is None else x[none]) + next((v for v in x if v < 0), 0.0)
    result += sum(small) * len(small) + min(v * v for v in positive(x)) + sorted(positive(x))[0]
    if any(v > 2 for v in positive(x)) and not all(v > 0.5 for v in positive(x)):
        result *= 2
    return result + sum(itertools.takewhile(lambda v: v > 0, x)) + sum(filter(lambda v: v < 0, x))


def through_each_other(x):
    def squares(items):
        for v in items:
            yield v * v

    def walk(tree):
        yield tree[0] * x[0]
        for branch in tree[1]:
            yield from walk(branch)

    total = 0.0
    for a in squares(positive(x)):
        for b in positive(x[::-1]):
            if b > a:
                total += a * b
    return total + sum(walk((1.0, [(2.0, []), (3.0, [(4.0, [])])])))


class Stepper:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for _ in range(8):
            if self.x > 2:
                self.x = self.x * 0.5
            else:
                self.x = self.x + 0.4
            yield self.x


def of_objects(x):
    stepper, total = Stepper(x), 0.0
    for v in stepper:
        total += v * v
        if total > 20.0:
            return total * stepper.x
    return total + stepper.x


@pytest.mark.parametrize(("f", "x"), [(in_loops, 1.3), (through_each_other, X), (of_objects, 1.3)])
def test_items_that_data_decide(f, x):
    agrees(f, x)


def test_builtins_that_go_through_items():
    agrees(in_builtins, X, batch=False)


def test_a_generator_that_is_used_again_goes_on_where_it_was():
    def f(x):
        items = (v * x for v in (1.0, 2.0, 3.0, 4.0))
        first = next(items)
        for v in items:
            if v is not first:
                break
        return first + 10 * v + 100 * sum(items)

    agrees(f, 1.3)


class Halves:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        if self.x < 0.1:
            raise StopIteration
        self.x = self.x / 2
        return self.x


def test_what_is_refused():
    def ends_by_itself(x):
        total = 0.0
        for h in Halves(x):
            total += h
        return total

    with pytest.raises(StagingError, match="generator function"):
        wg.jit(ends_by_itself)(1.3)
    with pytest.raises(StopIteration):
        wg.jit(lambda x: next(v for v in x if v > 100))(X)


def test_next_of_a_generator_with_a_name_is_refused_where_data_decide():
    def f(x):
        items = halves(x)
        return next(items) + next(items)

    with pytest.raises(WengertError):
        wg.jit(f)(1.3)


def with_a_count(x):
    return sum((u * k for u, k in zip(halves(x), itertools.count(1, 2))), 0.0)


def with_a_list_before(x):
    return sum((u * w for w, u in zip([1.0, x, 3.0], halves(x), strict=False)), 0.0)


def with_an_array_and_a_range(x):
    return sum((u * w + k for u, w, k in zip(halves(x), np.arange(100.0), range(3, 90, 2), strict=False)), 0.0)


def until_something(x):
    for k, u in zip(itertools.count(), halves(x)):
        if u < 0.5:
            return k * u
    return x


@pytest.mark.parametrize(
    "f", [with_a_count, with_a_list_before, with_an_array_and_a_range, until_something], ids=lambda f: f.__name__
)
def test_zip_of_a_generator_that_data_end(f):
    agrees(f, 5.3)


def test_texts_that_go_with_a_generator():
    def f(x):
        return [name for _, name in zip(halves(x), ["a", "b", "c"], strict=False)]

    assert [wg.jit(f)(x) for x in (0.3, 5.3)] == [f(0.3), f(5.3)] == [["a", "b"], ["a", "b", "c"]]
