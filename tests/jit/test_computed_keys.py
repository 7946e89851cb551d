"""Dicts and sets with keys that data decide: bins, cells of a grid, states of dynamic programs, what was seen."""

import math
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest
from jit.everywhere import agrees

import wengert as wg
from wengert.errors import WengertError


def bins(x):
    sums = defaultdict(float)
    for k in range(24):
        sums[int(x * k)] += math.exp(-0.2 * x * k)
    total = sum(sums.values()) + len(sums) + max(sums) + max(sums.values()) * sums.get(3, 0.0)
    for k in sums:
        total += k * sums[k]
    return total + sum(v * v for k, v in sums.items() if k > 2)


def where_the_most_are(x):
    found = {}
    for k in range(24):
        b = int(3 * math.sin(k))
        if b in found:
            found[b] += x * k
        else:
            found[b] = x**2
    best = max(found, key=found.get)
    return sum(found[b] * (b + 0.5) for b in sorted(found)) + best + found[best]


def in_the_order_of_insertion(x):
    last = {}
    for k in range(5):
        last[math.floor(x * k)] = last.get(math.floor(x * k), 0) + x**k
    values = list(last.values())
    return list(last)[-1] + values[0] * x + values[-1]


def cells(x):
    grid = defaultdict(float)
    for k in range(20):
        grid[math.floor(x * k), k % 2] += math.sin(k * x)
    return sum(a * v * (1 + b) for (a, b), v in grid.items()) + grid[0, 0] + grid.get((1, 1), 3.0)


class Tally:
    def __init__(self):
        self.sums, self.n = {}, 0

    def add(self, key, value):
        self.sums[key] = self.sums.setdefault(key, 0.0) + value
        self.n += 1


def in_an_object(x):
    tally = Tally()
    for k in range(24):
        tally.add(int(x * k) % 4, x * k)
    return sum(tally.sums.values()) / tally.n + tally.sums[2] ** 2


def remembered(x):
    known = {}

    def rabbits(n):
        if n < 2:
            return x * n
        if n not in known:
            known[n] = rabbits(n - 1) + 0.9 * rabbits(n - 2)
        return known[n]

    return rabbits(int(12 * x))


def known_keys(x):
    sums = {0: 0.0, 1: 0.0, 2: 0.0}
    for k in range(24):
        sums[int(x * k) % 3] += x * k
    return sums[0] + 2 * sums[1] + 3 * sums[2]


def counted(x):
    counts = Counter(int(x * k) for k in range(8))
    for k in range(30):
        counts[int(2 * x * k)] += 1
    [first, second] = counts.most_common(2)
    return x * sum(n * n for n in counts.values()) + first[0] + second[1] * x + counts[1000]


def taken_out(x):
    held = OrderedDict()
    for k in range(10):
        held[int(10 * x) + k] = x * k
    del held[int(10 * x) + 3]
    taken = held.pop(int(10 * x) + 4)
    more = dict(held)
    more[-int(10 * x)] = x
    return sum(held.values()) + 2 * taken + (5 if int(10 * x) + 3 in held else 0) + len(more) + held.pop(1, x)


def in_order(x):
    sums = defaultdict(float)
    for k in range(24):
        sums[int(x * k) % 5] += x * math.sin(k)
    by_key = sorted(sums.items())
    by_value = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))
    back = sorted(sums.items(), reverse=True)
    return by_key[0][1] + 2 * by_key[-1][1] + by_value[0][0] + by_value[0][1] * back[0][0]


def what_is_missing(x):
    held = {}
    held[int(10 * x)] = x
    held[int(20 * x)] = 2 * x
    try:
        return held[int(30 * x)]
    except KeyError:
        return 7 * x * held[int(10 * x)]


def seen_before(x):
    seen, total = set(), 0.0
    for k in range(24):
        if (int(x * k), k % 2) in seen:
            continue
        seen.add((int(x * k), k % 2))
        total += (x * k) ** 2
    return total * len(seen)


def pair_of(a, b):
    return [a, b]


def in_no_order(x):
    places, left = {-1}, set(pair_of(int(3 * x), int(30 * x)))
    for k in range(12):
        places.add(int(x * k) % 5)
        left.discard(k)
    if places and 4 not in places:
        places.remove(-1)
    return x * sum(places) + max(places) + sum(k * x**2 for k in sorted(places)) + (x if 9 in left else 2 * x)


def groups(x):
    held = defaultdict(list)
    for k in range(20):
        held[int(k * x)].append(k * x)
    total = sum(sum(v) / len(v) for v in held.values()) + held[2][0] * held[2][-1] + len(held[77])
    for key, found in held.items():
        total += key * max(found) if len(found) > 2 else key * x
    return total + np.mean(held[1]) + np.sum(np.array(held[3]) ** 2)


def groups_that_are_made_when_needed(x):
    held, other = {}, {}
    for k in range(16):
        b = int(x * k) % 3
        if b in held:
            held[b].append(k * x)
        else:
            held[b] = [k * x]
        other.setdefault((b, k % 2), []).append(x**2 + k)
        if k % 7 == 6:
            held[b] = []
    total = sum((len(v) * sum(v, x) for v in held.values()), x)
    return total + sum((a + 2 * b) * sum(v, x) for (a, b), v in other.items())


def sums_and_counts(x):
    held = defaultdict(lambda: [0.0, 0.0])
    for k in range(12):
        one = held[int(x * k)]
        one[0] += math.sin(x * k)
        one[1] += 1
    return sum((held[k][0] / held[k][1] for k in held), x)


def neighbours(x):
    near = defaultdict(list)
    places = [math.sin(3 * x * k) for k in range(5)]
    for i in range(5):
        for j in range(5):
            if i != j and abs(places[i] - places[j]) < 0.6:
                near[i].append(j)
    total = 0.0
    for i in range(5):
        for j in near[i]:
            total += places[i] * places[j]
    return total


def of_sets(x):
    one, other = set(), set()
    for k in range(9):
        one.add(int(x * k))
        other.add(int(x * k * k) % 5)
    both = one & other
    total = len(one | {7, 8}) + 10 * len(both) + 100 * len(one - other) + x * sum(one | other)
    total += (one <= other) + 2 * (both <= one) + 4 * (one == other) + 8 * one.isdisjoint({77})
    return total + max({0, 1} - both, default=x)


PROGRAMS = [
    groups, groups_that_are_made_when_needed, sums_and_counts, neighbours, of_sets,
    bins, where_the_most_are, in_the_order_of_insertion, cells, in_an_object, remembered, known_keys, counted,
    taken_out, in_order, what_is_missing, seen_before, in_no_order,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_everywhere(f):
    agrees(f, 0.33, eager=False, batch=f is not remembered)


@pytest.mark.parametrize("f", [bins, taken_out], ids=lambda f: f.__name__)
def test_examples_with_other_keys(f):
    points = np.array([0.33, 0.31, 0.49])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(points), [wg.grad(f)(x) for x in points])


def test_a_key_that_is_not_there():
    def f(x):
        held = {}
        held[int(10 * x)] = x
        return held[int(10 * x * x)]

    assert wg.jit(f)(1.0) == 1.0
    with pytest.raises(KeyError):
        wg.jit(f)(0.33)


def popped(x):
    held = defaultdict(list)
    held[int(10 * x)].append(x)
    return held[int(10 * x)].pop()


def apart(x):
    held = defaultdict(lambda: [0.0, 0.0])
    held[int(10 * x)][0] += x
    return sum(a - b for a, b in held.values())


def given(x):
    return {int(10 * x): x}


def shown(x):
    held = {}
    held[int(10 * x)] = x
    return len(str(held))


def compared(x):
    held = {}
    held[int(10 * x)] = x
    return 1.0 if held == {3: x} else 2.0


def gone_through(x):
    places, total = set(), 0.0
    for k in range(12):
        places.add(int(x * k))
    for k in places:
        total += k * x
    return total


@pytest.mark.parametrize("f", [popped, apart, given, shown, compared, gone_through], ids=lambda f: f.__name__)
def test_what_is_refused(f):
    with pytest.raises(WengertError):
        wg.jit(f)(0.33)
