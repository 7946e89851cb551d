"""Methods that change one of several containers, where data decide which one: `rows[k].append(v)`."""

from collections import deque

import numpy as np
import pytest
from jit.everywhere import agrees

import wengert as wg


def bucket_sort(x):
    buckets = [[] for _ in range(4)]
    for v in x:
        buckets[int(4 * v)].append(v)
    out = []
    for bucket in buckets:
        bucket.sort()
        out.extend(bucket)
    return sum(k * v for k, v in enumerate(out))


def groups(x):
    found = {"low": [], "high": []}
    for v in x:
        found["high" if v > 0.5 else "low"].append(v)
    return sum(np.var(group) + np.mean(group) for group in found.values())


def clusters(x):
    centres = x[:2].copy()
    for _ in range(3):
        members = [[] for _ in range(2)]
        for i, p in enumerate(x):
            members[np.argmin([abs(p - c) for c in centres])].append(i)
        for j, m in enumerate(members):
            if m:
                centres[j] = np.mean(x[m])
    return centres[0] + 2 * centres[1]


def numbers_as_keys(x):
    found = {0: deque(), 1: deque(), 2: deque(), 3: deque()}
    for v in x:
        found[int(4 * v)].appendleft(v * v)
    return sum((k + 1) * sum(group) for k, group in found.items()) + len(found[3])


def what_is_given_back(x):
    rows = [[x[0], 1.0], [x[1], 2.0, x[2]]]
    return rows[int(2 * x[3])].pop() * 2 + sum(map(sum, rows))


def from_the_end(x):
    rows = [[1.0], [1.0], [1.0]]
    for v in x:
        rows[int(3 * v) - 3].insert(0, v)
    return rows[0][0] + 2 * rows[1][0] + 3 * rows[2][0]


X = np.array([0.9, 0.13, 0.4, 0.72, 0.55])


@pytest.mark.parametrize(
    "f", [bucket_sort, groups, clusters, numbers_as_keys, what_is_given_back, from_the_end], ids=lambda f: f.__name__
)
def test_in_every_composition(f):
    agrees(f, X, batch=f is not what_is_given_back)


@pytest.mark.parametrize(("key", "error"), [(2, IndexError), (-3, IndexError)])
def test_a_place_that_is_not_there(key, error):
    def f(x):
        rows = [[], []]
        rows[int(x)].append(x)
        return len(rows[0])

    with pytest.raises(error):
        wg.jit(f)(float(key))
    assert wg.jit(f)(-2.0) == f(-2.0) == 1


def test_a_key_that_is_not_there():
    def f(x):
        rows = {1: [], 4: []}
        rows[int(x)].append(x)
        return len(rows[4])

    assert wg.jit(f)(4.0) == 1
    with pytest.raises(KeyError):
        wg.jit(f)(2.0)
