"""Dict and set comprehensions of which data decide what is in them."""

import math

import numpy as np
import pytest
from jit.everywhere import agrees

import wengert as wg
from wengert.errors import StagingError, WengertError

P = np.array([0.5, 0.05, 0.3, 0.15])
NAMES = "abcd"


def large(p):
    return {k: v for k, v in zip(NAMES, p, strict=True) if v > 0.1}


def entropy(p):
    kept = large(p)
    total = sum(kept.values())
    shares = {k: v / total for k, v in kept.items()}
    return -sum((v * math.log(v) for v in shares.values()), 0.0)


def a_loop(p):
    total = 0.0
    for k, v in large(p).items():
        total += v * (2 if k == "c" else 1)
    return total


def reads(p):
    kept = large(p)
    return kept["c"] + (1.0 if "b" in kept else 2.0) * kept.get("a") + kept.get("b", 5.0) * len(kept)


def the_best_one_and_the_rest(p):
    scores = {n: w * (i + 1) for i, (n, w) in enumerate(zip(NAMES, p, strict=True))}
    winner = max(scores, key=scores.get)
    rest = {k: v for k, v in scores.items() if k != winner}
    return scores[winner] - max(rest.values()) + rest[min(rest, key=rest.get)]


def places(p):
    active = {i for i in range(len(p)) if p[i] > 0.1}
    return sum(p[i] ** 2 for i in active) + 0.1 * len(active) + (0.5 if 3 in active else 0.0)


def what_may_raise(p):
    return sum({k: math.sqrt(v - 0.1) for k, v in zip(NAMES, p, strict=True) if v > 0.1}.values())


def arrays(p):
    kept = {k: np.array([v, 2 * v]) for k, v in zip(NAMES, p, strict=True) if v > 0.1}
    return sum((np.sum(v**2) for v in kept.values()), 0.0)


def changed(p):
    kept = large(p)
    kept["b"] = 7.0
    for k in kept:
        kept[k] = kept[k] * 2
    return sum(kept.values())


def in_a_loop(p):
    total = 0.0
    for _ in range(3):
        total = total + sum(v for v in large(p).values() if v < 0.4)
        p = p * 0.9
    return total


def as_an_array(p):
    return np.prod(np.array(list(large(p).values()))) if large(p) else p[0]


def what_it_is(p):
    kept = large(p)
    return p[0] * (isinstance(kept, dict) + 2 * (type(kept) is dict) + 4 * isinstance(kept, (list, set)))


PROGRAMS = [entropy, a_loop, reads, the_best_one_and_the_rest, places, what_may_raise, arrays, changed, in_a_loop,
            as_an_array, what_it_is]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_in_every_composition(f):
    agrees(f, P, batch=False)


@pytest.mark.parametrize("f", [a_loop, places, changed], ids=lambda f: f.__name__)
def test_in_a_batch(f):
    points = np.stack([P, P[::-1], 2 * P])
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(points), [f(p) for p in points])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(points), [wg.grad(f)(p) for p in points])


def test_what_is_not_there():
    f = wg.jit(lambda p: large(p)["b"])
    assert f(np.array([0.5, 0.2, 0.3, 0.0])) == 0.2
    with pytest.raises(KeyError):
        f(P)
    with pytest.raises(ValueError, match="empty"):
        wg.jit(lambda p: max(large(p).values()))(np.zeros(4))


@pytest.mark.parametrize("f", [
    lambda p: large(p), lambda p: p[0] * (large(p) == {}), lambda p: large(p).pop("a"), lambda p: f"{large(p)}",
    lambda p: len({0} & {i for i in range(4) if p[i] > 0.1}), lambda p: sum({**large(p)}.values()),
    lambda p: sum(dict(large(p)).values()), lambda p: {int(9 * v): v for v in p if v > 0.1},
])  # fmt: skip
def test_what_is_refused(f):
    with pytest.raises((WengertError, StagingError)):
        wg.jit(f)(P)


def test_what_python_decides_is_a_dict():
    def f(x, names):
        kept = {n: x * i for i, n in enumerate(names) if n != "b"}
        return kept, {n for n in names if n > "a"}

    assert wg.jit(f)(2.0, ("a", "b", "c")) == f(2.0, ("a", "b", "c"))
