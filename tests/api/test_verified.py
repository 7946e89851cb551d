"""Roots and minima with proof: none is lost, none is claimed that is not there."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert as wg
from wengert.errors import MismatchError

I = wg.interval


def check_roots(found, expected, tol=1e-12):
    """The roots are these, each in an interval of its own, narrow and around it; nothing is undecided."""
    assert found.undecided == []
    assert len(found.roots) == len(expected)
    for r, x in zip(found.roots, sorted(expected), strict=True):
        assert r.lo - 1e-15 <= x <= r.hi + 1e-15
        assert r.width <= tol * max(1.0, abs(x))


def test_roots_of_polynomials(rng):
    for _ in range(4):
        roots = np.sort(rng.uniform(-2, 2, 4))
        if np.min(np.diff(roots)) < 0.05:
            continue
        found = wg.verified_roots(lambda x: np.prod(x - roots), I(-3.0, 3.0))  # noqa: B023
        check_roots(found, roots.tolist())


def test_many_roots_of_a_wave():
    found = wg.verified_roots(lambda x: np.sin(20 * x), I(0.01, 3.0))
    check_roots(found, [k * math.pi / 20 for k in range(1, 20)])


def test_roots_on_the_boundary():
    check_roots(wg.verified_roots(np.sin, I(0.0, 7.0)), [0.0, math.pi, 2 * math.pi])
    check_roots(wg.verified_roots(lambda x: x - 1, I(1.0, 2.0)), [1.0])
    beside = wg.verified_roots(lambda x: x * x - 2, I(-1.0, 1.414))
    assert beside.roots == []
    assert beside.undecided == []


def test_a_root_that_bisection_hits():
    check_roots(wg.verified_roots(lambda x: x**3 - x, I(-2.0, 2.0)), [-1.0, 0.0, 1.0])


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_systems(compiled):
    def f(x):
        return np.stack([x[0] ** 3 - 3 * x[0] * x[1] ** 2 - 1, 3 * x[0] ** 2 * x[1] - x[1] ** 3])

    found = wg.verified_roots(wg.jit(f) if compiled else f, I(np.full(2, -2.0), np.full(2, 2.0)))
    h = math.sqrt(0.75)
    assert found.undecided == []
    assert len(found.roots) == 3
    for x in ([-0.5, -h], [-0.5, h], [1.0, 0.0]):
        assert sum(bool(np.all((r.lo - 1e-15 <= x) & (np.array(x) <= r.hi + 1e-15))) for r in found.roots) == 1


def test_containers():
    f = lambda p: (p["a"] + p["b"] - 3, p["a"] * p["b"] - 2)
    found = wg.verified_roots(f, {"a": I(-5.0, 5.0), "b": I(-5.0, 5.0)})
    assert sorted(round(float(r["a"].mid)) for r in found.roots) == [1, 2]


def test_no_roots():
    for f in (lambda x: x * x + 1, lambda x: np.exp(x), lambda x: np.log(x) - 10, lambda x: np.sqrt(x) + 1):
        found = wg.verified_roots(f, I(-3.0, 5.0))
        assert found.roots == []
        assert found.undecided == []


def covered(found, x):
    return any(r.lo <= x <= r.hi for r in [*found.roots, *found.undecided])


def test_double_roots_are_undecided_not_lost():
    for f, x in [(lambda x: x * x, 0.0), (lambda x: (x - 0.3) ** 2, 0.3), (lambda x: 1 - np.cos(x), 0.0)]:
        found = wg.verified_roots(f, I(-1.0, 1.0))
        assert found.roots == []
        assert covered(found, x)
        assert all(u.width < 1e-3 for u in found.undecided)


def test_close_roots_are_told_apart():
    found = wg.verified_roots(lambda x: (x - 1) * (x - 1.00001), I(0.0, 3.0))
    check_roots(found, [1.0, 1.00001], tol=1e-9)


@pytest.mark.parametrize(
    ("f", "place"),
    [
        (lambda x: np.where(x > 0.5, x - 1.5, x + 2.0), 0.5),
        (lambda x: np.floor(2 * x) - 0.5, 0.5),
        (lambda x: np.sign(x - 0.25) + 0 * x, 0.25),
        (lambda x: 1 / (x - 0.25), 0.25),
        (lambda x: wg.stop_gradient(x) - 0.2 + 1e-30 * x, 0.2),
        (lambda x: x - 2 if x > 0.1 else x + 1.5, 0.1),
    ],
)
def test_a_jump_through_zero_is_no_root(f, place):
    """The sign changes and the derivative does not vanish; yet nothing is claimed."""
    found = wg.verified_roots(f, I(-1.0, 1.0))
    assert found.roots == []
    assert covered(found, place)
    assert all(abs(u.mid - place) < 1e-3 for u in found.undecided)


def test_a_kink_is_no_obstacle():
    check_roots(wg.verified_roots(lambda x: np.abs(x) - 0.5, I(-1.0, 1.0)), [-0.5, 0.5])
    check_roots(wg.verified_roots(lambda x: np.maximum(x, 2 * x) - 0.5, I(-1.0, 0.7)), [0.25])
    assert covered(wg.verified_roots(lambda x: np.maximum(x, 2 * x), I(-1.0, 0.7)), 0.0)


def test_roots_where_a_function_is_defined():
    check_roots(wg.verified_roots(lambda x: np.sqrt(x) - 1, I(-3.0, 5.0)), [1.0])
    check_roots(wg.verified_roots(lambda x: np.log(x), I(-1.0, 5.0)), [1.0])


def test_an_unbounded_box():
    check_roots(wg.verified_roots(lambda x: x**3 - 8, I(-math.inf, math.inf)), [2.0])


def test_what_is_left_after_so_many_boxes_is_undecided():
    found = wg.verified_roots(lambda x: np.sin(50 * x), I(0.1, 30.0), max_boxes=20)
    assert found.undecided
    for k in range(2, 470):
        assert covered(found, k * math.pi / 50)


def test_no_root_is_lost(rng):
    """Random sums of waves: every change of sign on a fine grid is near a root, or in an undecided box."""
    for _ in range(3):
        a, b, c = rng.normal(size=3), rng.uniform(0.5, 6, 3), rng.uniform(0, 6, 3)
        f = lambda x: a[0] * np.sin(b[0] * x + c[0]) + a[1] * np.sin(b[1] * x + c[1]) + a[2] * np.cos(b[2] * x + c[2])  # noqa: B023
        found = wg.verified_roots(f, I(-4.0, 4.0))
        x = np.linspace(-4, 4, 20001)
        y = np.array([f(v) for v in x])
        for k in np.flatnonzero(np.sign(y[:-1]) != np.sign(y[1:])):
            assert any(r.lo <= x[k + 1] and x[k] <= r.hi for r in [*found.roots, *found.undecided])
        for r in found.roots:
            assert np.sign(f(r.lo - 1e-9)) != np.sign(f(r.hi + 1e-9))


def test_what_is_no_system_is_refused():
    with pytest.raises(MismatchError, match="as many equations"):
        wg.verified_roots(lambda x: np.sum(x), I(np.zeros(2), np.ones(2)))
    with pytest.raises(MismatchError, match=r"wg\.interval"):
        wg.verified_roots(np.sin, 3.0)


# -------------------------------------------------------------------------------------------------------------- minima


def six_humps(x):
    return (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (-4 + 4 * x[1] ** 2) * x[1] ** 2


MINIMA = {
    "six humps": (six_humps, ([-3, -2], [3, 2]), -1.0316284534898774, [[0.0898420131, -0.7126564030]]),
    "rosenbrock": (
        lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2,
        ([-5, -5], [5, 5]),
        0.0,
        [[1.0, 1.0]],
    ),
    "at a corner": (lambda x: x[0] + x[1], ([-1, 2], [1, 3]), 1.0, [[-1.0, 2.0]]),
    "on an edge": (lambda x: (x[0] - 0.3) ** 2 + x[1], ([-1, 2], [1, 3]), 2.0, [[0.3, 2.0]]),
    "a kink": (lambda x: np.abs(x[0] - 0.25) + np.abs(x[1]), ([-1, -1], [1, 1]), 0.0, [[0.25, 0.0]]),
}


@pytest.mark.parametrize("name", MINIMA)
def test_minima(name, rng):
    f, (low, high), value, places = MINIMA[name]
    low, high = np.array(low, float), np.array(high, float)
    found = wg.verified_minimum(f, I(low, high))
    assert found.value.lo - 1e-12 <= value <= found.value.hi + 1e-12
    assert found.value.width < 1e-6
    for x in places:
        assert any(np.all((b.lo - 1e-8 <= x) & (np.array(x) <= b.hi + 1e-8)) for b in found.boxes)
    for _ in range(200):
        x = rng.uniform(low, high)
        assert f(x) >= found.value.lo - 1e-12


def test_all_minimisers_are_in_the_boxes():
    found = wg.verified_minimum(lambda x: np.cos(3 * x), I(-3.2, 3.2))
    assert found.value.lo <= -1 <= found.value.hi
    assert found.value.width < 1e-7
    for x in (-math.pi, -math.pi / 3, math.pi / 3, math.pi):
        assert any(b.lo - 1e-9 <= x <= b.hi + 1e-9 for b in found.boxes)


def test_the_minimum_of_a_function_that_jumps():
    f = lambda x: np.where(x > 0.5, x - 1, x + 1)
    found = wg.verified_minimum(f, I(-1.0, 1.0))
    assert found.value.lo <= -0.5 <= found.value.hi + 1e-9
    assert any(b.lo - 1e-8 <= 0.5 <= b.hi + 1e-8 for b in found.boxes)


def test_the_minimum_where_a_function_is_defined():
    found = wg.verified_minimum(lambda x: np.sqrt(x) + (x - 1) ** 2, I(-2.0, 3.0))
    grid = np.linspace(0, 3, 20001)
    assert found.value.lo <= np.min(np.sqrt(grid) + (grid - 1) ** 2) <= found.value.hi + 1e-6


def test_a_minimum_that_the_first_step_finds():
    """Of a parabola Krawczyk's operator finds the point at once; the value there counts."""
    found = wg.verified_minimum(lambda x: (x - 1) ** 2 + 3, wg.interval(-3.0, 3.0))
    assert 3.0 in found.value
    assert found.value.width < 1e-9
    assert any(1.0 in box for box in found.boxes)


def test_minimum_at_a_branch():
    """Boxes that leave the branch open are bounded by both of its ways."""
    found = wg.verified_minimum(lambda x: x**2 + 1 if x > 0 else 1 - x, wg.interval(-1.0, 2.0))
    assert 1.0 in found.value
    assert found.value.width < 1e-8


def test_boxes_around_a_root_without_proof_are_one():
    """A line that touches a circle: no Jacobian is regular there, and small boxes with gaps between them are left."""
    box = wg.interval(np.array([-2.0, -2.0]), np.array([2.0, 2.0]))
    found = wg.verified_roots(lambda v: np.array([v[0] ** 2 + v[1] ** 2 - 1, v[0] - 1]), box)
    assert found.roots == []
    assert len(found.undecided) == 1
    assert np.array([1.0, 0.0]) in found.undecided[0]
