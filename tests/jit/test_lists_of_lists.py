"""Lists of lists that are read, written and swapped at places which only the compiled program knows."""

import copy

import numpy as np
import pytest

import wengert as wg

rng = np.random.default_rng(11)
A = rng.normal(size=(5, 5))
B = rng.normal(size=5)


def solve(a, b):
    """Gaussian elimination with partial pivoting."""
    n = len(b)
    rows = [[a[i, j] for j in range(n)] for i in range(n)]
    right = [b[i] for i in range(n)]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(rows[i][k]) > abs(rows[p][k]):
                p = i
        rows[k], rows[p] = rows[p], rows[k]
        right[k], right[p] = right[p], right[k]
        for i in range(k + 1, n):
            row, f = rows[i], rows[i][k] / rows[k][k]
            for j in range(k, n):
                row[j] -= f * rows[k][j]
            right[i] -= f * right[k]
    x = [0.0] * n
    for i in range(n - 1, -1, -1):
        x[i] = (right[i] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return sum(x)


def test_elimination():
    for a in (A, A[::-1].copy()):
        x, adjoint = np.linalg.solve(a, B), np.linalg.solve(a.T, np.ones(5))
        assert np.isclose(wg.jit(solve)(a, B), np.sum(x))
        for gradient in (wg.jit(wg.grad(solve, argnums=(0, 1))), wg.grad(wg.jit(solve), argnums=(0, 1))):
            for found, expected in zip(gradient(a, B), (-np.outer(adjoint, x), adjoint), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    both = np.stack([A, A.T])
    found = wg.jit(wg.vmap(solve, in_axes=(0, None)))(both, B)
    np.testing.assert_allclose(found, [np.sum(np.linalg.solve(a, B)) for a in both])


def shortest(w):
    """Floyd and Warshall."""
    n = len(w)
    d = [[w[i, j] if i != j else 0.0 for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
    return d[0][n - 1] + d[3][1]


def test_shortest_paths():
    w = np.random.default_rng(5).uniform(1, 9, size=(6, 6))
    assert np.isclose(wg.jit(shortest)(w), shortest(w))
    np.testing.assert_array_equal(wg.jit(wg.grad(shortest))(w), wg.grad(shortest)(w))
    assert set(np.unique(wg.grad(shortest)(w))) <= {0.0, 1.0, 2.0}  # the edges of two paths


def place(x):
    """Zero, one or two, as a number that only the program knows."""
    k = 0
    while x > 1:
        k, x = k + 1, x / 2
    return k


def same_row_three_times(x):
    rows = [[0.0] * 3] * 3
    rows[place(x)][1] = x
    return rows


def row_with_a_name(x):
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    first = rows[0]
    row = rows[place(x)]
    row[0] = x
    first[1] = 2 * x
    return first, row, rows


def put_twice(x):
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    k = place(x)
    rows[0] = rows[k]
    rows[k][1] += x
    rows[0][0] = -1.0
    return rows


def put_twice_at_a_computed_place(x):
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    rows[place(x)] = rows[2]
    rows[2][1] += x
    rows[0][0] = -1.0
    return rows


def shallow_and_deep_copies(x):
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    shallow, deep = rows[:], [row[:] for row in rows]
    k = place(x)
    copies = [list(rows[k]), rows[k].copy(), [*rows[k], 9.0]]
    for i in range(6):
        rows[(k + i) % 3][i % 2] += x * i
    shallow[0], shallow[k] = shallow[k], shallow[0]
    return rows, shallow, deep, copies


def of_an_argument(x, rows):
    k = place(x)
    for i in range(5):
        rows[(k + i) % 3][0] += x
    return rows[k][0]


def column_sums(x):
    rows = [[x * i + j for j in range(3)] for i in range(6)]
    for i in range(5):
        rows[i + 1][i % 3] = rows[i][2] + 1.0
    return [sum(column) for column in zip(*rows, strict=True)], max(rows[place(x)]), sorted(rows[5])


def one_of_them_alone_and_as_one_of_several(x):
    rows = [[1.0, 2.0], [3.0, 4.0]]
    row, k = rows[0], place(x) % 2
    if x > 1:
        row[k] = x
        rows[k][1 - k] = 2 * x
    rows[0][k] += 1.0
    return rows, row


TABLE = [[1.0, 0.5, 0.2], [0.3, 0.7, 0.1], [0.9, 0.8, 0.4]]


def of_a_global_table(x):
    total, state = 0.0, 0
    for i in range(7):
        total += TABLE[state][i % 3] * x
        state = (state + place(x)) % 3
    return total


PROGRAMS = [(same_row_three_times,), (row_with_a_name,), (put_twice,), (put_twice_at_a_computed_place,),
            (shallow_and_deep_copies,), (of_an_argument, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), (column_sums,),
            (of_a_global_table,), (one_of_them_alone_and_as_one_of_several,)]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[0].__name__)
def test_which_list_is_written_to(program):
    f, *others = program
    compiled, table = wg.jit(f), copy.deepcopy(TABLE)
    for x in (0.5, 1.5, 3.0):
        ours, theirs = copy.deepcopy(others), copy.deepcopy(others)
        assert compiled(x, *ours) == f(x, *theirs)
        assert ours == theirs
    assert table == TABLE


def test_rows_that_are_made_in_a_loop():
    def f(x):
        y = [0.6, 0.5]
        for _ in range(7):
            rows = [[0.0] * 2 for _ in range(2)]
            rows[0][0] += x
            rows[0][1] += 2.0
            rows[1][0] += y[0]
            rows[1][1] += x * x
            p = 0 if abs(rows[0][0]) > abs(rows[1][0]) else 1
            rows[0], rows[p] = rows[p], rows[0]
            factor = rows[1][0] / rows[0][0]
            last = (x - factor) / (rows[1][1] - factor * rows[0][1])
            y = [(1.0 - rows[0][1] * last) / rows[0][0], last]
        return y[0] + 2 * y[1]

    for x in (0.3, 3.0):
        assert wg.jit(f)(x) == pytest.approx(f(x), rel=1e-12)
        assert wg.jit(wg.grad(f))(x) == pytest.approx(wg.grad(f)(x), rel=1e-9)


def test_a_row_that_becomes_longer():
    def f(x):
        rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        rows[place(x)].append(x)
        return rows

    for x in (0.2, 1.5, 2.5):
        assert wg.jit(f)(x) == f(x)


def test_empty_lists_are_filled_at_computed_places():
    def f(x):
        buckets = [[] for _ in range(2)]
        for i, e in enumerate(x):
            buckets[i % 2].append(e)
        return sum(buckets[0]) - 0.5 * sum(buckets[1])

    x = np.arange(1.0, 9.0)
    assert wg.jit(f)(x) == f(x)
    np.testing.assert_array_equal(wg.jit(wg.grad(f))(x), [1.0, -0.5] * 4)
