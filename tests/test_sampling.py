"""`make test` takes a few cases of each test at each run, and all of them within a number of runs."""

from sampling import MOST_DRAWS, WHOLE_FILES, sample

TESTS = {"tests/a.py::plain": 0, "tests/a.py::few": 7, "tests/b.py::many": 1515, "tests/b.py::two": 2}
IDS = [f"{test}[{k}]" if n else test for test, n in TESTS.items() for k in range(max(n, 1))]


def test_all_cases_are_seen_after_so_many_draws():
    start = 133623419  # (a digest, under CI; each desk counts from 0)
    assert {one for k in range(MOST_DRAWS) for one in sample(IDS, 2, start + k)} == set(IDS)


def test_each_draw_takes_so_many_of_each_test_at_most():
    for draw in range(MOST_DRAWS):
        taken = [one.partition("[")[0] for one in sample(IDS, 2, draw)]
        assert taken.count("tests/a.py::plain") == 1
        assert taken.count("tests/b.py::two") == 2
        assert taken.count("tests/a.py::few") in (1, 2)
        assert taken.count("tests/b.py::many") in (75, 76)


def test_files_that_go_through_all_ops_are_not_sampled():
    ids = [f"{file}::one[{k}]" for file in WHOLE_FILES for k in range(50)]
    assert sample(ids, 2, 5) == ids
    assert len(sample(ids, 1, 5)) == len(WHOLE_FILES)
