"""What a compiled function does and asks outside: at every call, in order, with the values of that call."""

import contextlib
import datetime
import logging
import math
import os
import shutil
import subprocess
import tempfile
import time
import uuid
import warnings

import numpy as np
import pytest

import wengert as wg


def test_printing_happens_at_every_call_in_order(capsys):
    def f(x, flag):
        print("start", x)
        for i in range(20):
            x = x * 1.5
            if x > 100.0:
                print("large", i, x, sep=":")
        if flag:
            print("done", [x, 1], end="!\n")
        return x

    def printed(g, *args):
        g(*args)
        return capsys.readouterr().out

    compiled, gradient = wg.jit(f), wg.jit(wg.grad(f))
    for x, flag in ((2.0, True), (0.01, True), (2.0, False)):
        want = printed(f, x, flag)
        assert printed(compiled, x, flag) == want
        assert printed(gradient, x, flag) == want
    assert printed(wg.jit(lambda a: print(a)), np.arange(3.0)) == "[0. 1. 2.]\n"


def test_what_is_printed_in_a_try_and_in_its_handlers(capsys):
    def inner(x, p):
        try:
            return x / p
        except (ZeroDivisionError, ValueError):
            print(f"[Error] x: {x!s}")
            return 1.0

    def f(x, p):
        try:
            print(f"x = {x:.2f}")
            for i in range(3):
                print(f"step {i:d}: {x:g}")
            y = inner(x, p)
            return math.log(y)
        except Exception:
            print("failed", x)
            return 0.5 * x

    for args in ((2.0, 3.0), (2.0, 0.0), (-2.0, 3.0)):
        assert wg.jit(f)(*args) == f(*args)
        lines = capsys.readouterr().out.splitlines()
        assert lines[: len(lines) // 2] == lines[len(lines) // 2 :] != []

    def waits(x):
        try:
            time.sleep(x)
        except ValueError:
            return 0.0
        return x

    with pytest.raises(wg.errors.StagingError, match="what is called in line"):
        wg.jit(waits)(0.001)


def test_a_branch_or_a_loop_chooses_between_texts_with_values(capsys):
    def f(x, k):
        where = "the start" if k == 0 else f"segment {k - 1} at {x:.2f}"
        for i in range(4):
            if x * i > 5:
                where = f"item {i}: " + where
            elif x < 0:
                where = "below"
        print(where)
        if x > 5:
            raise ValueError(f"{where} is too large")
        return x * k

    compiled, gradient = wg.jit(f), wg.jit(wg.grad(f))
    for x, k in ((2.0, 0), (2.5, 3), (4.0, 1), (-1.0, 2)):
        f(x, k)
        want = capsys.readouterr().out
        assert compiled(x, k) == x * k
        assert capsys.readouterr().out == want
        assert gradient(x, k) == k
        assert capsys.readouterr().out == want
    with pytest.raises(ValueError, match="is too large"):
        compiled(6.0, 1)


def test_text_of_values_is_printed_when_the_program_runs(capsys):
    def f(x):
        for i in range(20):
            x = x * 1.1
            print(f"{i}: {x:.3f}", str(x))
        return x

    f(1.0)
    want = capsys.readouterr().out
    wg.jit(f)(1.0)
    assert capsys.readouterr().out == want


def test_warnings_and_logging(caplog):
    def f(x):
        if x < 0:
            warnings.warn("negative", RuntimeWarning, stacklevel=2)
        logging.getLogger("model").warning("x is %.2f", x)
        return np.abs(x)

    compiled = wg.jit(f)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for x in (-1.0, 2.0, -3.0):
            compiled(x)
    assert [str(w.message) for w in seen] == ["negative", "negative"]
    assert [r.getMessage() for r in caplog.records] == ["x is -1.00", "x is 2.00", "x is -3.00"]


def test_the_time(tmp_path):
    def f(x):
        start = time.perf_counter()
        time.sleep(0.01)
        return x + (time.perf_counter() - start)

    compiled = wg.jit(f)
    assert 0.01 <= compiled(0.0) < 5.0
    now = wg.jit(lambda x: x + time.time())
    first = now(0.0)
    time.sleep(0.01)
    assert first < now(0.0) <= time.time()
    assert wg.jit(lambda x: time.time_ns())(0.0) > 1e18


def test_files_are_written_at_every_call(tmp_path):
    with (tmp_path / "log").open("w") as file:

        def f(x):
            file.write("called\n")
            return x

        compiled = wg.jit(f)
        for _ in range(3):
            compiled(1.0)
    assert (tmp_path / "log").read_text() == "called\n" * 3


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * float(input()),
        lambda x: x * open(os.devnull, "w").fileno(),  # noqa: SIM115
        lambda x: x * datetime.datetime.now().second,
        lambda x: x * datetime.date.today().day,
        lambda x: x * len(os.urandom(3)),
        lambda x: x * uuid.uuid4().int,
        lambda x: x * np.memmap("nothing"),
    ],
)
def test_what_would_be_frozen_is_refused(f):
    with pytest.raises(wg.errors.StagingError, match=r"(?s)only once.*outside"):
        wg.jit(f)(1.0)


def test_errors_of_what_is_called_back_reach_the_caller():
    class Full:
        def write(self, text):
            raise OSError("no space left")

    target = Full()
    compiled = wg.jit(lambda x: print(x, file=target))
    with pytest.raises(OSError, match="no space"):
        compiled(1.0)


def test_files_that_libraries_read_by_name_are_guarded(tmp_path):
    """The table of the first call stayed part of the program."""
    io = pytest.importorskip("scipy.io")
    path = tmp_path / "table.mtx"
    compiled = wg.jit(lambda x: x * io.mmread(path)[0, 0])
    for value in (2.0, 5.0):
        io.mmwrite(path, np.array([[value, 1.0], [3.0, 4.0]]))
        assert compiled(3.0) == 3 * value


def test_tables_of_pandas_are_guarded(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "table.csv"
    compiled = wg.jit(lambda x: x * pd.read_csv(filepath_or_buffer=path)["a"].values.sum())
    for value in (2.0, 5.0):
        path.write_text(f"a,b\n{value},1.0\n3.0,4.0\n")
        assert compiled(3.0) == 3 * (value + 3)


def test_what_the_system_is_told_happens_at_each_call(tmp_path):
    """Not when the function is compiled, and only where the branch is taken."""
    folder = tmp_path / "made"

    def f(x):
        if x > 1:
            os.mkdir(folder)
        elif x < 0:
            os.rmdir(folder)
        return x * 2

    for g in (f, wg.jit(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        g(0.5)
        assert not folder.exists()
        g(2.0)
        assert folder.is_dir()
        g(-1.0)
        assert not folder.exists()


def test_what_the_system_is_asked_to_copy_or_run_is_refused(tmp_path):
    for act in (lambda: shutil.copy(__file__, tmp_path), lambda: subprocess.call(["true"]), lambda: tempfile.mkdtemp()):
        with pytest.raises(wg.errors.StagingError, match="would be called only once"):
            wg.jit(lambda x, act=act: (act(), x)[1])(1.0)


def test_files_are_written_through_paths_at_each_call(tmp_path):
    path = tmp_path / "result.txt"

    def f(x):
        written = 0
        if x > 1:
            written = path.write_text(f"{x:.2f}")
        elif x < 0:
            path.unlink()
        return x * 2 + written

    for g in (f, wg.jit(f), wg.jit(lambda x: f(x) + wg.grad(lambda y: y**2)(x))):
        g(0.5)
        assert not path.exists()
        g(2.0)
        assert path.read_text() == "2.00"
        g(-1.0)
        assert not path.exists()
    with pytest.raises(wg.errors.StagingError, match=r"Path\.rename in a compiled function"):
        wg.jit(lambda x: (path.rename(tmp_path / "other"), x)[1])(1.0)


def test_what_the_system_may_refuse_is_not_told_in_a_try(tmp_path):
    """The handler would have to run at each call; without one the error is the user's."""

    def handled(x):
        try:
            os.mkdir(tmp_path)
        except FileExistsError:
            x = x * 3
        return x

    def suppressed(x):
        with contextlib.suppress(FileNotFoundError):
            (tmp_path / "none").unlink()
        return x

    for f in (handled, suppressed):
        with pytest.raises(wg.errors.StagingError, match="FileExistsError or FileNotFoundError"):
            wg.jit(f)(1.0)
    with pytest.raises(FileNotFoundError):
        wg.jit(lambda x: (os.remove(tmp_path / "none"), x)[1])(1.0)
    assert wg.jit(lambda x: (os.makedirs(tmp_path, exist_ok=True), x)[1])(1.0) == 1.0
