"""Iterators, and containers other than lists and dicts, that a compiled function finds outside and changes."""

import itertools
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

X = np.array([0.3, -0.8, 1.4])
_numbers = itertools.count(5, 2)
_others = itertools.count(5, 2)


def of_calls(f, calls=4):
    return [f(X * (1.0 + 0.1 * k)) for k in range(calls)]


def test_a_count_goes_on_at_each_call():
    def numbered(counter):
        return lambda x: x[0] * next(counter)

    np.testing.assert_allclose(of_calls(wg.jit(numbered(_numbers))), of_calls(numbered(_others)))
    slopes = of_calls(wg.jit(wg.grad(numbered(itertools.count()))))
    np.testing.assert_array_equal([slope[0] for slope in slopes], [0.0, 1.0, 2.0, 3.0])


def natural():
    k = 0
    while True:
        yield k
        k += 1


@pytest.mark.parametrize(
    "iterator",
    [
        itertools.cycle([1.0, -1.0]),
        iter([1.0, 2.0, 3.0]),
        natural(),
        zip([1.0], [2.0], strict=True),
        itertools.count(0.5),
    ],
    ids=lambda i: type(i).__name__,
)
def test_other_iterators_from_outside_are_refused(iterator):
    def taken(x):
        return x.sum() * np.sum(next(iterator))

    def gone_through(x):
        return x.sum() * sum(np.sum(k) for k in itertools.islice(iterator, 1))

    for f in (taken, gone_through, wg.grad(taken)):
        with pytest.raises(StagingError, match=r"uses up an iterator from outside[\s\S]*test_containers_outside"):
            wg.jit(f)(X)


def test_iterators_of_the_function_itself():
    def f(x):
        counter, signs, t = itertools.count(1), itertools.cycle([1.0, -1.0]), 0.0
        for v in x:
            t += v * next(counter) * next(signs)
        return t

    np.testing.assert_allclose(of_calls(wg.jit(f)), of_calls(f))


def counted():
    seen = Counter()

    def f(x):
        seen["calls"] += 1
        seen["sum"] += x[0]
        return seen["sum"] * seen["calls"] + seen["never"]

    return f


def by_default():
    memory = defaultdict(lambda: np.zeros(3))

    def f(x):
        memory["v"] = 0.9 * memory["v"] + x
        return memory["v"].sum()

    return f


def in_order():
    parameters = OrderedDict(w=np.arange(3.0), b=1.0)

    def f(x):
        parameters["b"] += 1
        return parameters["w"] @ x * parameters["b"] + sum(np.sum(v) for v in parameters.values())

    return f


def only_read():
    counts, table = Counter("aab"), defaultdict(float, a=2.0)

    def f(x):
        return x[0] * counts["a"] + x[1] * counts.most_common(1)[0][1] + sum(counts.values()) * table["a"] + table["q"]

    return f


@pytest.mark.parametrize("make", [counted, by_default, in_order, only_read], ids=lambda f: f.__name__)
def test_dicts_of_other_classes(make):
    np.testing.assert_allclose(of_calls(wg.jit(make())), of_calls(make()))


def test_an_array_in_a_dict_of_another_class_is_an_input():
    table = defaultdict(lambda: None, w=np.arange(3.0))
    f = wg.jit(lambda x: table["w"] @ x)
    assert f(X) == table["w"] @ X
    table["w"] = np.ones(3)
    assert f(X) == X.sum()
    table["w"][0] = 5.0
    assert f(X) == table["w"] @ X


def rotated():
    d = deque([1.0, 2.0, 5.0])

    def f(x):
        d.rotate(1)
        return x[0] * d[0]

    return f, d


def appended():
    d = deque([1.0], maxlen=2)

    def f(x):
        d.append(x[0])
        return sum(d)

    return f, d


def toggled():
    s = set()

    def f(x):
        s.symmetric_difference_update({1})
        return x[0] * (1 + len(s))

    return f, s


@pytest.mark.parametrize("make", [rotated, appended, toggled], ids=lambda f: f.__name__)
def test_deques_and_sets_change_at_each_call(make):
    (f, plain), (g, compiled) = make(), make()
    np.testing.assert_allclose(of_calls(wg.jit(g)), of_calls(f))
    assert compiled == plain


def test_a_set_of_what_was_seen():
    seen = set()

    def f(x):
        if x.shape not in seen:
            seen.add(x.shape)
        return x.sum() * len(seen)

    compiled = wg.jit(f)
    assert [compiled(X), compiled(X), compiled(X[:2])] == [X.sum(), X.sum(), 2 * X[:2].sum()]
    assert seen == {(3,), (2,)}


class Loader:
    def __init__(self):
        self.items = iter([1.0, 2.0, 3.0])
        self.parts = {"first": zip([1.0], [2.0], strict=True)}


loader = Loader()


def in_a_loop(x):
    for a in loader.items:
        return x * a


def unpacked(x):
    a, b, c = loader.items
    return x * (a + b + c)


def beside_others(x):
    return sum(a * v for a, v in zip(loader.items, x, strict=False))


def in_a_dict(x):
    return x * next(loader.parts["first"])[1]


def in_advance(x, items=loader.items):
    return x * next(items)


@pytest.mark.parametrize("f", [in_a_loop, unpacked, beside_others, in_a_dict, in_advance], ids=lambda f: f.__name__)
def test_wherever_iterators_are_found(f):
    for _ in range(2):
        with pytest.raises(StagingError, match="uses up an iterator from outside"):
            wg.jit(f)(X)
    assert next(iter(loader.items)) == 1.0
    loader.items = iter([1.0, 2.0, 3.0])
