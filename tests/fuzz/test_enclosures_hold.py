"""Random programs, run on intervals: what they give at points inside is inside, or they are refused."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest

import wengert as wg
from fuzz.program import generated, text_of
from wengert.errors import WengertError

CHUNK = 20


def moved(v, by):
    """A point nearby that lies in memory as the bounds do: views and copies depend on that."""
    y = v + 0.0
    y += by
    return y


def check(seed: int, compiled: bool = False) -> str:
    program = generated(seed)
    x, A, a, n = program.points[0].arguments()
    if program.is_single:
        return "single precision"
    module, rng = program.module, np.random.default_rng(seed)
    radius = 10.0 ** rng.integers(-9, -2)
    boxes = [wg.interval(v - radius, v + radius) for v in (x, A, a)]
    points = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            at = [moved(v, rng.uniform(-radius, radius, np.shape(v))) for v in (x, A, a)]
            try:
                points.append(np.asarray(module.flat(at[0], at[1], float(at[2]), n)))
            except Exception:
                return "not a program"
        try:
            f = module.jitted_flat if compiled else module.flat
            y = wg.enclose(f, branch="both")(*boxes, n)
        except (WengertError, ValueError, TypeError, IndexError) as error:
            return f"refused: {type(error).__name__}"
    if any(value.shape != y.shape or value.dtype.kind != "f" for value in points):
        return "other shapes"
    for value in points:
        slack = 1e-11 * (1 + np.abs(value))  # programs are rounded; bounds are not
        inside = ~np.isfinite(value) | ((y.lo - slack <= value) & (value <= y.hi + slack))
        assert np.all(inside), f"seed {seed}, radius {radius}\n{text_of(program)}\n{value}\n{y}"
    return "contained"


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100, CHUNK))
def test_points_are_inside(start):
    seen = Counter(check(seed).split(":")[0] for seed in range(start, start + CHUNK))
    assert seen["contained"] >= CHUNK // 10


def test_points_are_inside_of_a_few():
    seen = Counter(check(seed).split(":")[0] for seed in range(1004, 1016))
    assert seen["contained"]


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, CHUNK])
def test_points_are_inside_of_compiled_enclosures(start):
    seen = Counter(check(seed, compiled=True).split(":")[0] for seed in range(start, start + CHUNK))
    assert seen["contained"]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "order"), [("mean-value", 1), ("taylor", 2)])
@pytest.mark.parametrize("start", [0, CHUNK])
def test_values_are_inside_of_centred_forms(start, method, order):
    """Functions with branches, kinks and jumps of every kind, on wide boxes."""
    held = 0
    for seed in range(start, start + CHUNK):
        program = generated(seed)
        x, A, a, n = program.points[0].arguments()
        rng = np.random.default_rng(seed)
        radius = 10.0 ** rng.uniform(-3, -0.3)
        f = lambda x, a: program.module.total(x.copy(), A.copy(), a, n)  # noqa: B023
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                at = [[v + rng.uniform(-radius, radius, np.shape(v)) for v in (x, a)] for _ in range(20)]
                values = np.array([float(f(u, float(v))) for u, v in at])
                boxes = [wg.interval(v - radius, v + radius) for v in (x, a)]
                y = wg.enclose(f, method=method, order=order, branch="both")(*boxes)
            except Exception:
                continue
        slack = 1e-11 * (1 + np.abs(values))
        inside = ~np.isfinite(values) | ((y.lo - slack <= values) & (values <= y.hi + slack))
        assert program.is_single or np.all(inside), f"seed {seed}\n{text_of(program)}\n{values}\n{y}"
        held += 1
    assert held >= CHUNK // 3
