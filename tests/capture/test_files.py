"""Compiled functions that read files: what is in them is part of the program, as long as it stays the same."""

import array
import contextlib
import csv
import io
import json
import os
import queue

import numpy as np
import pytest

import wengert as wg
from wengert.capture import guards
from wengert.errors import StagingError


def by_lines(x, file):
    with open(file) as lines:
        head, *rest = lines.readlines()
    return sum(float(a) * x ** int(head) for a in rest)


def by_iterating(x, file):
    total, lines = 0.0, open(file, encoding="utf-8")  # noqa: SIM115
    for k, line in enumerate(lines):
        total += float(line) * np.sin(k * x)
    lines.close()
    return total


def by_numpy(x, file):
    return np.sum(np.loadtxt(file)[1:] * x**2) + np.genfromtxt(file)[0] * x


def by_path(x, file):
    with file.open() as lines:
        first = float(next(lines))
    return first * x + sum(x**2 * float(a) for a in file.read_text().split()[1:])


def by_json(x, file):
    with open(file) as text:
        return x * json.loads("[" + ",".join(text.read().split()) + "]")[2]


@pytest.mark.parametrize("f", [by_lines, by_iterating, by_numpy, by_path, by_json])
@pytest.mark.parametrize("is_old", [True, False], ids=["old", "new"])
def test_reads(f, is_old, tmp_path, monkeypatch):
    if is_old:  # dates are enough
        monkeypatch.setattr(guards, "_TICK", -(10**20))
    file = tmp_path / "table.txt"
    of_file = lambda x: f(x, file)
    compiled, slope = wg.jit(of_file), wg.jit(wg.grad(of_file))
    for n, text in enumerate(("2\n0.5\n0.25\n", "3\n0.5\n0.75\n", "3\n0.5\n0.7\n")):
        file.write_text(text)
        os.utime(file, (1e9 + n, 1e9 + n))
        for x in (1.3, 0.4):
            np.testing.assert_allclose(compiled(x), of_file(x), rtol=1e-12)
            want = (of_file(x + 1e-5) - of_file(x - 1e-5)) / 2e-5
            np.testing.assert_allclose(slope(x), want, rtol=1e-8)
            np.testing.assert_allclose(wg.grad(compiled)(x), want, rtol=1e-8)


def test_files_that_are_not_there(tmp_path):
    file = tmp_path / "scale.txt"

    @wg.jit
    def f(x):
        try:
            with open(file) as text:
                scale = float(text.read())
        except FileNotFoundError:
            scale = 1.0
        return scale * x

    assert f(3.0) == 3.0
    file.write_text("2.0")
    assert f(3.0) == 6.0
    file.unlink()
    assert f(3.0) == 3.0


def test_files_that_are_written(tmp_path):
    file = tmp_path / "log.txt"
    file.write_text("1.0")

    def appends(x):
        with open(file, "a") as log:
            log.write("again")
        return x

    def reads_on(x, given=None):
        return x * float(given.read(1))

    with pytest.raises(StagingError, match="open in a compiled function"):
        wg.jit(appends)(1.0)
    assert file.read_text() == "1.0"
    with open(file) as given, pytest.raises(StagingError, match="in a compiled function"):
        wg.jit(lambda x: reads_on(x, given))(1.0)


def characters(x):
    stream, count = io.StringIO("((A:0.1,B:0.2):0.3,C:0.5);" * 2), 0
    while True:
        if stream.read(1) == "":
            break
        count += 1
    return x * count


def lines(x):
    stream, total = io.StringIO("\n".join(map(str, range(30)))), 0.0
    while line := stream.readline():
        total += float(line)
    return x * total


def written(x):
    stream = io.StringIO()
    for _ in range(40):
        stream.write("ab")
    return x * len(stream.getvalue())


def rows(x):
    stream = io.StringIO()
    table = csv.writer(stream)
    for _ in range(40):
        table.writerow([1, 2])
    return x * len(stream.getvalue())


def queued(x):
    numbers, total = array.array("d", range(40)), 0.0
    while numbers:
        total += numbers.pop()
    return x * total


def printed(x):
    stream = io.StringIO()
    for k in range(40):
        print("ab", k, file=stream, end="")
    return x * len(stream.getvalue())


def directed(x):
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        print("abc")
    return x * len(stream.getvalue())


def waiting(x):
    jobs, total = queue.Queue(), 0.0
    for k in range(40):
        jobs.put(x * k)
    while not jobs.empty():
        total = total + jobs.get()
    return total


@pytest.mark.parametrize("f", [characters, lines, written, rows, queued, printed, directed, waiting])
def test_what_keeps_a_place_goes_on_in_each_iteration(f):
    np.testing.assert_array_equal([wg.jit(f)(1.5), wg.jit(wg.grad(f))(1.5)], [f(1.5), f(1.0)])


@pytest.mark.parametrize("into", [lambda s, x: print(x, file=s), lambda s, x: s.write(f"{x:.3f}")])
def test_numbers_of_the_program_in_a_stream(into):
    def f(x):
        stream = io.StringIO()
        into(stream, x)
        return x * len(stream.getvalue())

    with pytest.raises(StagingError, match="written into a stream that was made inside"):
        wg.jit(f)(2.0)


def test_a_stream_in_a_branch_that_data_decide():
    def f(x):
        stream = io.StringIO("12345")
        return x * float(stream.read(1) if x > 1.0 else stream.read(2))

    np.testing.assert_array_equal(wg.grad(f)(2.0), 1.0)
    with pytest.raises(StagingError, match="a stream or file"):
        wg.jit(f)(2.0)
