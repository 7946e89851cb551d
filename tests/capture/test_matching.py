"""`match`: traced numbers are of the classes they stand for, and what data decide is decided when a program runs."""

import dataclasses

import numpy as np
import pytest

import wengert as wg

X = np.sin(np.arange(7.0) * 2.1) + 0.06


@dataclasses.dataclass
class Point:
    a: float
    b: float


def of_classes(x):
    s = 0.0
    for v in x:
        match v:
            case int() | bool():
                s += 100 * v
            case float(w) if w > 0:
                s += w
            case float():
                s -= 2 * v
            case _:
                s += 1000 * v
    return s


def of_objects(x):
    s = 0.0
    for v in x:
        match Point(v, 2 * v):
            case Point(a=0.0) | Point(c=_):
                s += 100
            case Point(a, b) as p if a > 0:
                s += a * b + p.a
            case Point(b=b):
                s -= b
    return s


def of_sequences(x):
    s = 0.0
    for i, v in enumerate(x):
        match [("a", v), ("b", i, v), [i, v, 2 * v, 3.0]][i % 3]:
            case "a", w if w > 0:
                s += w
            case ["a", w]:
                s -= w * w
            case "b", k, w:
                s += k * w
            case [k, *rest, 3.0]:
                s += k * sum(rest)
    match x:
        case [_, *_]:
            return 0.0
        case str() | np.ndarray():
            return s


def of_mappings(x):
    match {"a": x[0], "b": x[1], "k": 3}:
        case {"a": a, "k": 4}:
            return a
        case {"a": a, "k": 3 | 5 as k, **rest} if a > x[2]:
            return a * k + rest["b"] * len(rest)
        case {"a": a}:
            return 7 * a


def of_jumps(x):
    s = 0.0
    for v in x:
        match v:
            case w if s < -0.7 < w:
                break
            case w if w > 0.8:
                continue
        s += v
        match s:
            case t if t > 1.2:
                return t * x[0]
    return s


def of_none(x):
    best = None
    for v in x:
        match best:
            case None:
                best = v
            case b if v < b:
                best = v
    return best


def of_effects(x):
    n = 0.0

    def f(v):
        nonlocal n
        n += v
        return v > 0.2

    s = 0.0
    for v in x:
        match v:
            case _ if f(v):
                s += v
            case _ if f(2 * v):
                s += 2 * v
            case _:
                s -= v
    return s + n


PROGRAMS = [of_classes, of_objects, of_sequences, of_mappings, of_jumps, of_none, of_effects]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_python(f):
    compiled, slope, both = wg.jit(f), wg.grad(f), wg.jit(wg.grad(f))
    for x in (X, -0.9 * X[::-1], np.roll(X, 2)):
        np.testing.assert_allclose(compiled(x), f(x), rtol=1e-13)
        steps = 1e-6 * np.eye(7)
        differences = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(slope(x), differences, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(both(x), slope(x), rtol=1e-12)


def test_names_are_bound_where_the_whole_pattern_matches():
    def f(x):
        a = 5.0
        match (x, 3):
            case (a, 2):
                return 0.0
        return a * x

    assert wg.grad(f)(2.0) == 5.0
    assert wg.jit(f)(2.0) == 10.0


def test_errors_of_patterns():
    def too_many(x):
        match Point(x, x):
            case Point(a, b, c):
                return a + b + c

    for f in (too_many, wg.grad(too_many), wg.jit(too_many)):
        with pytest.raises(TypeError, match=r"Point\(\) accepts 2 positional sub-patterns \(3 given\)"):
            f(1.0)
