"""Builtins that compare Python values, on values that are known only when the compiled program runs."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import heapq
import itertools

import numpy as np
import pytest
from jit.everywhere import agrees, close, value

import wengert as wg
from wengert.errors import StagingError

X = np.array([3.2, 2.1, 1.0, 2.6, -0.5])
WEIGHTS = np.array([1.0, -2.0, 3.0, 0.5, 4.0])


def dot(items):
    total = 0.0
    for w, item in zip(WEIGHTS, items, strict=False):
        total = total + w * item
    return total


def sorted_in_place(x):
    items = [x[2], x[0], x[1] * 2]
    items.sort(key=lambda v: -v)
    return dot(items)


def place_of_the_largest(x):
    items = [v * (1 + k) for k, v in enumerate(x)]
    k = items.index(max(items))
    return k + items[k] ** 2 + 10 * items.index(items[2], 1) + (x[0], x[1], 2.1).index(2.1) + items.count(x[0])


def sorted_pairs(x):
    pairs = sorted([(x[k], x[k] * k) for k in range(4)], key=lambda p: p[0])
    return dot([b for _, b in pairs])


def sorted_dicts(x):
    rows = sorted([{"a": v, "b": v * w} for v, w in zip(x, WEIGHTS, strict=True)], key=lambda r: r["b"], reverse=True)
    return dot([r["a"] for r in rows])


def by_tuples(x):
    rows = sorted([(1, x[0], x[1]), (0, x[2], x[3]), (1, x[3], x[4])])
    return dot([r[2] for r in rows])


def rows_of_arrays(x):
    rows = sorted([x[:2], x[2:4], x[3:]], key=lambda r: r[1])
    return dot(rows)


class Ranked:
    """Which comes first is said by a method."""

    def __init__(self, v, name):
        self.v, self.name = v, name

    def __lt__(self, other):
        return self.v * len(self.name) < other.v * len(other.name)

    def __contains__(self, v):
        return v < self.v and v > 1.5


def of_a_class(x):
    things = [Ranked(v, name) for v, name in zip(x, ["a", "bb", "ccc", "dd", "a"], strict=True)]
    ordered = sorted(things, reverse=True)
    inside = sum(1.0 if v in things[0] else 0.5 for v in x)
    return dot([t.v for t in ordered]) + max(things).v * 2 + min(things).v * len(ordered[0].name) * inside


@dataclasses.dataclass(order=True)
class Item:
    cost: float
    weight: float = 1.0
    name: str = dataclasses.field(default="", compare=False)


def of_a_dataclass(x):
    items = sorted(Item(v * v, v, name) for v, name in zip(x, "pqrst", strict=True))
    first = {"p": 1.0, "q": 2.0, "r": 3.0, "s": 4.0, "t": 5.0}[items[0].name]
    return dot([t.weight for t in items]) + first * min(items).cost + (x[0] if items[1] > items[0] else x[1])


def names_by_values(x):
    d = dict(zip(["a", "b", "cc", "d", "ee"], x, strict=True))
    total = dot([len(name) * v for name, v in sorted(d.items(), key=lambda p: -p[1])])
    return total * len(sorted(d, key=d.get)[0])


def functions_by_values(x):
    pairs = sorted(zip(x[:3], [np.sin, np.exp, np.sqrt], strict=True), key=lambda p: p[0])
    return dot([f(v) for v, f in pairs])


def in_a_loop(x):
    total = 0.0
    for i in range(6):
        low, *_, high = sorted([x[0], x[1] * i, x[2] + i, x[4]])
        total += high - 2 * low
    return total


def median(x):
    items = sorted(x)
    return items[len(items) // 2]


def inserted(x):
    items = [-1.0, 1.5, 2.0, 2.5]
    bisect.insort(items, x[1])
    bisect.insort_left(items, x[2])
    return dot(items)


def found(x):
    place = bisect.bisect([0.0, 1.0, 2.0, 2.5], x[1])
    return x[place] * (bisect.bisect_left([0.0, 2.1, 3.0], x[3]) + 1)


def table(x):
    grid = [0.0, 1.0, 2.0, 4.0]
    k = min(max(bisect.bisect_right(grid, x[1]) - 1, 0), len(grid) - 2)
    t = (x[1] - grid[k]) / (grid[k + 1] - grid[k])
    return (1 - t) * WEIGHTS[k] + t * WEIGHTS[k + 1]


PROGRAMS = [
    lambda x: dot(sorted(x)),
    lambda x: dot(sorted(x, reverse=True)),
    lambda x: dot(sorted(x, key=lambda v: (v - 2) ** 2)),
    lambda x: dot(sorted([x[2], 1.7, x[0], 2])),
    lambda x: 100 * sorted([x[2], x[0]])[0] + min(x, key=lambda v: (v - 2) ** 2),
    lambda x: max(x, key=lambda v: v * v) + max(x) - 2 * min(x),
    lambda x: max(v * v for v in x) * min(v for v in x),
    lambda x: max([], default=x[0]) + min([x[1], x[2]], default=0.0),
    lambda x: max((v, v * w) for v, w in zip(x, WEIGHTS, strict=True))[1],
    lambda x: min([x[:2], x[2:4]], key=lambda r: r.sum())[1],
    lambda x: min({"p": x[0], "q": x[1]}.values()),
    lambda x: sum([x, x * 2], x),
    lambda x: sum(sorted([v * v for v in x])[:3]),
    lambda x: dot(heapq.nsmallest(3, x)) + dot(heapq.nlargest(2, x)),
    lambda x: functools.reduce(lambda a, b: a if a > b else b, x),
    lambda x: dot(list(itertools.accumulate(x, max))),
    lambda x: x[0] if any(v > 2.9 for v in x) else x[1],
    lambda x: x[0] if all(v > 0.0 for v in x) else x[1],
    sorted_in_place, place_of_the_largest, sorted_pairs, sorted_dicts, by_tuples, rows_of_arrays, in_a_loop, median,
    inserted, found, table,
    lambda x: dot([v for _, v in sorted({"q": x[0], "p": x[1], "r": x[2] * x[0]}.items())]),
    lambda x: dot([np.sum(v) for _, v in sorted({"q": x[0] * np.ones(2), "p": x[1:]}.items(), reverse=True)]),
    lambda x: dot([ord(n) * v for n, v in sorted([("b", x[0]), ("a", x[1]), ("b", x[2]), ("a", -x[0])], reverse=True)]),
    lambda x: dot([v * k for k, _, v in sorted([(2, "b", x[0]), (1, "q", x[1]), (2, "b", x[2]), (2, "a", x[3])])]),
    lambda x: max([("b", x[0]), ("a", x[1]), ("b", x[2])])[1] * min([("b", x[0]), ("a", x[1]), ("a", x[2])])[1],
    of_a_class, of_a_dataclass, names_by_values, functions_by_values,
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(PROGRAMS)))
def test_programs(k):
    agrees(PROGRAMS[k], X, eager=k != 26)


def test_equal_items_keep_their_order():
    def f(x):
        pairs = [(x[k], float(k)) for k in range(4)]
        return [b for _, b in sorted(pairs, key=lambda p: p[0])] + [
            b for _, b in sorted(pairs, key=lambda p: p[0], reverse=True)
        ]

    x = np.array([2.0, 1.0, 2.0, 1.0])
    close(value(wg.jit(f), x), f(x))


def test_places_at_equal_items():
    def f(v):
        items = [0.0, 1.0, 1.0, 2.0]
        return bisect.bisect_left(items, v), bisect.bisect_right(items, v), bisect.bisect(items, v)

    for v in (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0):
        assert wg.jit(f)(v) == f(v)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: sorted([(x[0], x[:1]), (x[1], x[:2])], key=lambda p: p[0])[0][0], "no number"),
        (lambda x: sorted([x[0], "a"])[0], "sorted"),
    ],
)
def test_what_is_refused(f, words):
    with pytest.raises((StagingError, TypeError), match=words):
        wg.jit(f)(X)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sorted(x),
        lambda x: sorted(x, key=lambda v: -v, reverse=True),
        lambda x: [min(x), max(x), min(x, key=abs), max(x[1], x[0], x[2])],
        lambda x: [bisect.bisect_left([x[0], x[1], x[2]], 0.5), bisect.bisect_right([x[0], x[1], x[2]], 0.5)],
    ],
)
def test_nan_stands_where_python_puts_it(f):
    compiled = wg.jit(f)
    for row in itertools.product([float("nan"), 1.0, -2.0, 0.5], repeat=4):
        x = np.array(row)
        np.testing.assert_array_equal(compiled(x), f(x))


def test_nan_in_orders_that_are_not_known():
    for f in (lambda x: sorted([(x[0], 1.0), (x[1], 2.0)]), lambda x: heapq.nsmallest(1, x)):
        np.testing.assert_array_equal(wg.jit(f)(np.array([2.0, 1.0])), f(np.array([2.0, 1.0])))
        with pytest.raises(ValueError, match="NaN"):
            wg.jit(f)(np.array([2.0, float("nan")]))


def test_nan_in_generated_source():
    x = np.array([3.0, float("nan"), 1.0, 2.0])
    found: dict = {}
    exec(wg.jit(lambda x: sorted(x)).python(x), found)
    name = next(k for k, v in found.items() if callable(v) and not k.startswith("_"))
    np.testing.assert_array_equal(found[name](x), sorted(x))


# -------------------------------------------------------------------------------------------------------------- heaps


def sorted_by_a_heap(x):
    heap = []
    for k in range(6):
        heapq.heappush(heap, np.sin(k * x))
    total, weight = 0.0, 1.0
    while heap:
        total, weight = total + weight * heapq.heappop(heap), weight * 0.5
    return total


def huffman(x):
    """The cost of a code: the two rarest are joined until one is left."""
    heap, cost = [x, 0.4, 0.3 * x * x, 0.2], 0.0
    heapq.heapify(heap)
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        cost += both
        heapq.heappush(heap, both)
    return cost


def layout(x):
    """All of the heap is seen."""
    heap = [x, 0.3, x * x, 0.1 * x, 2.0, -x]
    heapq.heapify(heap)
    first = heapq.heapreplace(heap, 0.2 * x)
    second = heapq.heappushpop(heap, x - 1.0)
    return first + 2 * second + sum(w * v for w, v in enumerate(heap))


def of_pairs(x):
    heap = [(2 * x, 1), (x * x, 2), (0.5, 3)]
    heapq.heapify(heap)
    heapq.heappush(heap, (1.5 * x, 4))
    time, who = heapq.heappop(heap)
    return time * who + heap[0][0] * heap[0][1]


def events(x):
    """A queue that goes on until some time."""
    queue, total = [x], 0.0
    while queue and queue[0] < 4.0:
        t = heapq.heappop(queue)
        total += t * t
        heapq.heappush(queue, t + x)
        if t < 2.0:
            heapq.heappush(queue, 1.7 * t)
    return total + len(queue)


def kept_in_order(x):
    """A list that is kept sorted, until it is as long as data say."""
    items, y = [0.5], x
    while y < 3.0:
        bisect.insort(items, np.sin(5 * y))
        y = y + 0.3 * x
    return sum(w * v for w, v in enumerate(items)) + bisect.bisect_left(items, 0.1) + bisect.bisect(items, 0.5)


@pytest.mark.parametrize(
    "f", [sorted_by_a_heap, huffman, layout, of_pairs, events, kept_in_order], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("x", [0.7, 1.21])
def test_heaps(f, x):
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert wg.jit(f)(x) == pytest.approx(f(x), rel=1e-14)
    assert wg.jit(lambda x: wg.jvp(f, (x,), (1.0,))[1])(x) == pytest.approx(slope, rel=1e-7)
    assert wg.jit(wg.grad(f))(x) == pytest.approx(slope, rel=1e-7)


def test_heaps_in_batches_and_twice_differentiated():
    x = np.array([0.7, 1.21])
    np.testing.assert_allclose(wg.jit(wg.vmap(layout))(x), [layout(v) for v in x])
    h = 1e-4
    second = (layout(1.21 + h) - 2 * layout(1.21) + layout(1.21 - h)) / h**2
    assert wg.jit(wg.hessian(layout))(1.21) == pytest.approx(second, rel=1e-6)


def test_a_heap_outside():
    heap = [3.0, 5.0]

    def f(x):
        heapq.heappush(heap, 2 * x)
        return heapq.heappop(heap)

    assert wg.jit(f)(1.0) == 2.0
    assert heap == [3.0, 5.0]
    assert wg.jit(f)(10.0) == 3.0
    assert heap == [5.0, 20.0]


def test_objects_in_which_smaller_is_no_order():
    def f(x):
        return sorted([Ranked(v, "a") for v in x])[0].v

    assert wg.jit(f)(X) == f(X)
    with pytest.raises(ValueError, match="no order"):
        wg.jit(f)(np.array([1.0, np.nan, 0.5]))


def test_an_empty_heap():
    with pytest.raises(IndexError):
        wg.jit(lambda x: heapq.heappop([]) + x)(1.0)
    with pytest.raises(IndexError):
        wg.jit(lambda x: heapq.heappop([x, 2 * x][2:]) + x)(1.0)


class Job:
    def __init__(self, duration, weight):
        self.duration, self.weight, self.done = duration, weight, 0.0


def jobs_of(x):
    return [Job(x, 1.0), Job(2.0, 3.0), Job(x * x, 2.0)]


def done_in_order(x):
    """Nobody has the objects under another name: each of the sorted ones may be changed."""
    jobs, clock = jobs_of(x), 0.0
    jobs.sort(key=lambda j: j.weight / j.duration)
    for job in jobs:
        clock += job.duration
        job.done = clock
    jobs.sort(key=lambda j: -j.done)
    return sum(j.done * j.weight * (k + 1) for k, j in enumerate(jobs))


def test_objects_that_are_sorted_in_place_may_be_changed():
    for x in (1.3, 2.4):
        assert wg.jit(done_in_order)(x) == pytest.approx(done_in_order(x))
        assert wg.jit(wg.grad(done_in_order))(x) == pytest.approx(wg.grad(done_in_order)(x))


def changed_under_one_name(x):
    jobs, clock = jobs_of(x), 0.0
    for job in sorted(jobs, key=lambda j: j.weight / j.duration):
        clock += job.duration
        job.done = clock
    return jobs[0].done + 2 * jobs[1].done


def changed_under_the_other(x):
    jobs = jobs_of(x)
    ranked = sorted(jobs, key=lambda j: j.weight / j.duration)
    for job in jobs:
        job.done = job.weight * x
    return ranked[0].done


def one_has_a_name(x):
    jobs = jobs_of(x)
    first = jobs[0]
    jobs.sort(key=lambda j: j.weight / j.duration)
    jobs[0].done = x
    return first.done


def rows(x):
    table = [[x, 1.0], [2.0, x], [x * x, 3.0]]
    sorted(table, key=lambda row: row[0])[0][1] = 10.0
    return table[0][1] + 2 * table[1][1]


@pytest.mark.parametrize("f", [changed_under_one_name, changed_under_the_other, one_has_a_name, rows])
def test_objects_that_are_sorted_and_changed_under_two_names_are_refused(f):
    with pytest.raises(StagingError, match="sorted under another name"):
        wg.jit(f)(1.3)
