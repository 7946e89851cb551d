"""Arrays with several names, and Python's own state: what a compiled function does to them is what Python does, or is
refused."""

from __future__ import annotations

import dataclasses
import types

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

X = np.arange(8.0) ** 2

# ---------------------------------------------------------------------------------------- arrays with several names


def ping_pong(a, steps):
    b = a.copy()
    for _ in range(steps):
        b[1:-1] = 0.5 * (a[2:] - a[:-2])
        a, b = b, a
    return a, b


def three_in_turn(a, b, c, steps):
    for k in range(steps):
        a[1:] = b[:-1] + c[1:] * k
        a, b, c = b, c, a
    return a


@pytest.mark.parametrize("steps", range(8))
def test_arrays_that_change_places(steps):
    """What the caller sees of them depends on the number of iterations."""
    for f, n in ((ping_pong, 1), (three_in_turn, 3)):
        args, compiled_args = [X + k for k in range(n)], [X + k for k in range(n)]
        expected, got = f(*args, steps), wg.jit(f)(*compiled_args, steps)
        np.testing.assert_allclose(got, expected)
        np.testing.assert_allclose(compiled_args, args)


def test_arrays_that_change_places_a_known_number_of_times():
    def f(a):
        first = a
        b = np.zeros(8)
        for _ in range(7):
            b[:] = a + 1
            a, b = b, a
        a[0] = 100.0
        return first.sum()

    x, y = X.copy(), X.copy()
    assert wg.jit(f)(x) == f(y)
    np.testing.assert_allclose(x, y)


def renamed(a, b, n):
    for i in range(n):
        b[i % 8] = a[i % 8] + 1
        a = b
        a[0] += 1
    return a


def rebound(a, n):
    for i in range(n):
        a[i % 8] = i
        a = a * 2
    return a


@pytest.mark.parametrize(("f", "count"), [(renamed, 2), (rebound, 1)])
def test_what_values_do_not_tell_is_unrolled(f, count):
    args, compiled_args = [X + k for k in range(count)], [X + k for k in range(count)]
    expected = f(*args, 6)
    np.testing.assert_allclose(wg.jit(f, static_argnums=count)(*compiled_args, 6), expected)
    np.testing.assert_allclose(compiled_args, args)


def test_or_compiled_for_one_number_of_iterations_or_refused():
    given, wanted = (X + 1, X + 2), (X + 1, X + 2)
    np.testing.assert_allclose(wg.jit(renamed)(*given, 6), renamed(*wanted, 6))
    np.testing.assert_allclose(given, wanted)
    with pytest.raises(StagingError, match="copy"):
        wg.jit(lambda a, b, n: renamed(a, b, int(n)))(X + 1, X + 2, 6.0)


@pytest.mark.parametrize("n", [0, 1, 2, 9, 1000])
def test_the_first_iteration_writes_to_what_the_caller_sees(n):
    x, y = X.copy(), X.copy()
    np.testing.assert_allclose(wg.jit(rebound)(x, n), rebound(y, n))
    np.testing.assert_allclose(x, y)


def test_views_that_are_kept():
    def f(A):
        tail, row, column = A[2:], A[1], A[:, 3]
        for i in range(6):
            tail[i] += row
            row[i % 8] = column[i]
            A[i, 3] *= 0.5
        return tail.sum() + column[2]

    A, B = np.arange(64.0).reshape(8, 8), np.arange(64.0).reshape(8, 8)
    assert wg.jit(f)(A) == pytest.approx(f(B))
    np.testing.assert_allclose(A, B)


# --------------------------------------------------------------------------------------------------- Python's own state

RESULTS: list = []
TABLE = {"a": 1.0}
COUNT = 0
module = types.ModuleType("settings_of_the_user")
module.__file__ = __file__
module.RATE = 2.0
module.ARRAY = np.ones(3)


class Counter:
    step = 1.0

    def __init__(self):
        self.total = 0.0
        self.values = np.zeros(3)

    def add(self, x):
        self.total = self.total + x
        return x


COUNTER = Counter()


def to_list(x):
    RESULTS.append(x)
    return x


def to_dict(x):
    TABLE["a"] = x
    return x


def to_global(x):
    global COUNT
    COUNT = COUNT + x
    return x


def to_attribute(x):
    return COUNTER.add(x)


@pytest.mark.parametrize("f", [to_list, to_dict, to_attribute], ids=lambda f: f.__name__)
def test_changes_outside_happen_at_each_call(f):
    compiled, seen = wg.jit(f), []
    for run in (f, compiled):
        RESULTS.clear()
        COUNTER.total, TABLE["a"] = 0.0, 1.0
        returned = [run(1.5), run(2.5)]
        seen.append((returned, list(RESULTS), COUNTER.total, dict(TABLE)))
    assert seen[0] == seen[1]
    assert all(x.__class__ in (float, np.float64) for x in [*RESULTS, COUNTER.total, *TABLE.values()])
    RESULTS.clear()
    COUNTER.total, TABLE["a"] = 0.0, 1.0


def test_global_variables_are_bound_at_each_call():
    global COUNT
    f = wg.jit(to_global)
    for total in (1.5, 3.0):
        assert f(1.5) == 1.5
        assert total == COUNT
    COUNT = 0


def test_variables_around_are_bound_at_each_call():
    last = 0.0

    @wg.jit
    def f(x):
        nonlocal last
        last = x
        return x

    for x in (1.5, 2.5):
        assert f(x) == last == x


@dataclasses.dataclass
class Motion:
    speed: float
    phase: str
    path: list


def replaced(state, x):
    state["v"], state["w"] = state["w"], state["v"] * x
    state["n"] += 1
    for k in range(6):
        state["inner"][1] += k * x
    state["array"] *= 2
    return state["v"]


def added(state, x):
    state["new"] = state.pop("w") * x
    state["inner"].insert(0, x)
    del state["inner"][-1]
    return x


def in_a_dataclass(state, x):
    motion = state["motion"]
    motion.speed *= x
    motion.path.append(motion.speed)
    if x > 1:
        motion.phase = "fast"
    return motion.speed


@pytest.mark.parametrize("f", [replaced, added, in_a_dataclass], ids=lambda f: f.__name__)
def test_containers_that_are_given_are_changed(f):
    def fresh():
        return {"v": 1.0, "w": 2.0, "n": 3, "inner": [1.0, 2.0], "array": np.ones(3), "motion": Motion(1.0, "slow", [])}

    compiled, ours, theirs = wg.jit(f), fresh(), fresh()
    inner, array, motion = ours["inner"], ours["array"], ours["motion"]
    for x in (0.5, 2.0) if f is not added else (0.5,):
        assert compiled(ours, x) == f(theirs, x)
        assert str(ours) == str(theirs)
        assert [type(v) for v in ours.values()] == [type(v) for v in theirs.values()]
        assert ours["inner"] is inner
        assert ours["array"] is array
        assert ours["motion"] is motion


def test_one_container_that_is_given_twice():
    def f(a, b, x):
        a["t"] += x
        b["t"] *= 2
        return a["t"]

    both = {"t": 1.0}
    assert wg.jit(f)(both, both, 2.0) == 6.0
    assert both == {"t": 6.0}


def test_arrays_in_attributes_are_written_to():
    counter = Counter()

    @wg.jit
    def f(x):
        counter.values[1] = x
        counter.values += 1.0
        return counter.values.sum()

    assert f(2.0) == 5.0
    assert f(5.0) == 10.0
    np.testing.assert_array_equal(counter.values, [2, 6, 2])


def test_attributes_are_looked_at_again(monkeypatch):
    @wg.jit
    def f(x):
        return x * module.RATE + module.ARRAY[0] + Counter.step

    assert f(1.0) == 4.0
    monkeypatch.setattr(module, "RATE", 3.0)
    assert f(1.0) == 5.0
    module.ARRAY[0] = 10.0
    assert f(1.0) == 14.0
    monkeypatch.setattr(Counter, "step", 5.0)
    assert f(1.0) == 18.0


def test_objects_made_inside_are_no_reason_to_compile_again():
    @wg.jit
    def f(x):
        counter = Counter()
        for _ in range(3):
            counter.add(x)
            counter.n = getattr(counter, "n", 0) + 1
        return counter.total + counter.n

    for x in (1.0, 2.0, 3.0):
        assert f(x) == 3 * x + 3
    assert sum(len(found) for found in f._versions.values()) == 1


def test_a_variable_that_has_a_value_in_one_branch_only():
    @wg.jit
    def f(x):
        for k in range(7, -1, -1):
            y = x[k] if k == 7 else 0.5 * y + x[k]  # noqa: F821
        return y

    assert f(X) == pytest.approx(f._f(X))

    @wg.jit
    def g(x):
        if x > 0:
            y = x
        return y * 2

    assert g(1.5) == 3.0
    with pytest.raises(UnboundLocalError):
        g(-1.5)


def written_or_bound(a, d):
    w = np.zeros(6)
    if a > 0:
        if d > 1:
            w[d:] = 0.3
        else:
            w[1] = a
    elif a < -1:
        w = np.sin(w + a)
    return w


def view_or_copy(a, d):
    A = np.zeros((3, 4))
    row = A[0]
    if a > 0:
        A[1, d] = a
        row = A[1]
    else:
        row = row + 1.0
    return row, A


@pytest.mark.parametrize("f", [written_or_bound, view_or_copy], ids=lambda f: f.__name__)
def test_one_branch_writes_and_the_other_binds(f):
    compiled = wg.jit(f)
    for a in (0.5, 1.5, -0.5, -1.5):
        for d in (1, 2):
            for got, expected in zip(compiled(a, d), f(a, d), strict=True):
                np.testing.assert_allclose(got, expected)
