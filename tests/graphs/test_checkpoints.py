"""Schedules of checkpoints: they reverse every step once, in order, within their states, with the fewest repeats."""

import json
from functools import cache
from pathlib import Path

import pytest

import wengert as wg
from wengert.graphs.checkpoints import least_evaluations

DATA = Path(__file__).parents[3] / "shared" / "testdata" / "checkpointing" / "revolve.json"


def carried_out(schedule):
    """Do what a schedule says; the number of steps that were repeated."""
    kept, at, repeated, done = set(), 0, 0, []
    for what, start, end in schedule:
        if what == "store":
            assert at == start
            kept = {k for k in kept if k < start} | {start}
            assert len(kept) <= schedule.checkpoints
        elif what == "restore":
            assert start in kept
            at = start
        elif what == "advance":
            assert at == start < end
            repeated, at = repeated + end - start, end
        else:
            assert at == start
            done.append(start)
    assert done == list(range(schedule.turns - 1, -1, -1))
    return repeated


@cache
def least(steps, checkpoints):
    """By dynamic programming."""
    if steps <= 1:
        return 0
    if checkpoints == 1:
        return steps * (steps - 1) // 2
    return min(m + least(steps - m, checkpoints - 1) + least(m, checkpoints) for m in range(1, steps))


@pytest.mark.parametrize("checkpoints", [1, 2, 3, 4, 7, 12])
def test_optimal(checkpoints):
    for steps in [*range(41), 64, 100]:
        schedule = wg.checkpoint_schedule(turns=steps, checkpoints=checkpoints)
        assert carried_out(schedule) == schedule.evaluations == least(steps, checkpoints)


def test_published_counts():
    if not DATA.exists():
        pytest.skip("revolve's counts are not here")
    for steps, checkpoints, _, evaluations in json.loads(DATA.read_text())["rows"]:
        assert least_evaluations(steps, checkpoints) == evaluations
        if steps <= 1000:
            assert carried_out(wg.checkpoint_schedule(steps, checkpoints)) == evaluations


def test_mistakes():
    with pytest.raises(ValueError, match="at least one checkpoint"):
        wg.checkpoint_schedule(10, 0)
