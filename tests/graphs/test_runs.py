"""Lists of places as runs: written out again, they are the same."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wengert.graphs.runs import MOST_RUNS, periodic_runs


def written_out(runs):
    parts = [np.add.outer(np.arange(r.repeats), np.zeros(len(r.starts), int)) * r.steps + r.starts for r in runs]
    return np.concatenate([p.ravel() for p in parts]) if parts else np.zeros(0, int)


def test_a_band():
    n = 1000
    rows = [[(j - i + 1) * n + i for j in range(max(i - 1, 0), min(i + 2, n))] for i in range(n)]
    places = np.concatenate(rows)
    runs = periodic_runs(places, np.array([len(r) for r in rows]))
    assert runs is not None
    assert len(runs) <= 3
    np.testing.assert_array_equal(written_out(runs), places)


def test_what_is_irregular_is_no_run():
    places = np.random.default_rng(0).permutation(1000)
    assert periodic_runs(places, np.full(250, 4)) is None


def test_nothing_and_long_rows():
    assert periodic_runs(np.zeros(0, int), np.zeros(3, int)) == []
    assert periodic_runs(np.arange(1000), np.full(10, 100)) is None


periods = st.integers(1, 6)


@settings(max_examples=200)
@given(st.lists(st.tuples(periods, st.integers(1, 30), st.integers(0, 2**30)), max_size=6))
def test_whatever_is_found_is_the_same(segments):
    places, lengths = [], []
    for period, count, seed in segments:
        random = np.random.default_rng(seed)
        starts, steps = random.integers(-1, 50, period), random.integers(-1, 3, period)
        for i in range(count):
            places += [max(int(a + i * s), -1) if a >= 0 else -1 for a, s in zip(starts, steps, strict=True)]
            lengths.append(period)
    whole = np.array(places, int)
    runs = periodic_runs(whole, np.array(lengths, int))
    if runs is not None:
        np.testing.assert_array_equal(written_out(runs), whole)
        assert len(runs) <= MOST_RUNS
        for run in runs:
            assert all(
                step >= 0 and (start >= 0 or step == 0) for start, step in zip(run.starts, run.steps, strict=True)
            )
