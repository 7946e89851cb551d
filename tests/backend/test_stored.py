"""Compiled code on disk: found again, told apart, and never trusted when something is wrong with it."""

import json
import linecache
import os
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.integrate
from backend.building import ARRAY, Builder, Ref

import wengert as wg
from wengert import disk
from wengert.backend import execute
from wengert.backend.llvm.cache import kept, stored
from wengert.backend.llvm.cache.digest import digest
from wengert.backend.llvm.cache.plain import NotPlain, as_plain, from_plain
from wengert.backend.llvm.machine.engine import MachineCode, Object
from wengert.backend.llvm.scalars.lane import RULES
from wengert.capture import instrument
from wengert.ir.node import Block, Const, Node, Type, Var
from wengert.ops.op import TABLE


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Path:
    """A folder for code, and the cache turned on."""
    monkeypatch.setenv("WENGERT_CACHE", "1")
    monkeypatch.setenv("WENGERT_CACHE_DIR", str(tmp_path / "code"))
    return tmp_path / "code"


@pytest.fixture
def compilations(monkeypatch) -> list[str]:
    """The names of the programs that are compiled, not found."""
    seen: list[str] = []
    real = execute.compiled
    monkeypatch.setattr(execute, "compiled", lambda program: seen.append(program.name) or real(program))
    return seen


def model(x):
    """A loop, a table, a library's function, and something that can go wrong."""
    table = np.arange(1000.0)
    s = np.zeros(3)
    for k in range(x.shape[0]):
        s[k % 3] += np.sin(x[k]) * table[int(wg.stop_gradient(x[k]))]
    return s @ s


X = np.array([1.5, 2.5, 700.5, 4.0])


def files(folder: Path) -> list[Path]:
    """Files of compiled code, without those of rewritten code."""
    return [path for path in sorted(folder.glob("*.wgc")) if b"has_entry" in path.read_bytes()]


def test_found_again(folder, compilations):
    first, second = wg.jit(model), wg.jit(model)
    assert first(X) == second(X) == pytest.approx(model(X), rel=1e-14)
    assert first(X) == second(X)  # by the quick entry
    assert compilations == ["model"]
    assert len(files(folder)) == 1
    for f in (first, second):
        with pytest.raises(IndexError, match=r"1000.*test_stored\.py"):
            f(X + 999.0)
    assert second.lower(X).report == first.lower(X).report
    assert "define" in second.lower(X).llvm


@pytest.mark.parametrize(("variable", "first", "then"), [("WENGERT_OPT", "0", "1"), ("WENGERT_POISON", "0", "1")])
def test_what_the_environment_says_about_code_is_part_of_its_key(folder, compilations, monkeypatch, variable, first,
                                                                  then):  # fmt: skip
    for said in (first, then, first, then):
        monkeypatch.setenv(variable, said)
        assert wg.jit(model)(X) == pytest.approx(model(X), rel=1e-14)
    assert compilations == ["model", "model"]
    assert len(files(folder)) == 2


def test_code_that_is_found_is_verified_all_the_same(folder, compilations, monkeypatch):
    def arctangent(x):
        return np.sum(np.arctan(x) * x)

    with monkeypatch.context() as wrong:
        wrong.setitem(RULES, (np.arctan, "f"), lambda x: x + x)
        wg.jit(arctangent)(X)
    monkeypatch.setenv("WENGERT_VERIFY", "1")
    with pytest.raises(wg.errors.VerificationError):
        wg.jit(arctangent)(X)
    assert compilations == ["arctangent"]


def test_derivatives_are_found_too(folder, compilations):
    expected = wg.grad(model)(X)
    for _ in range(2):
        np.testing.assert_allclose(wg.grad(wg.jit(model))(X), expected, rtol=1e-13)
        np.testing.assert_allclose(wg.jit(wg.grad(model))(X), expected, rtol=1e-13)
    assert len(compilations) == len(set(files(folder))) == 3  # two sweeps, and both in one


def test_who_calls_does_not_count(folder, compilations):
    here = wg.jit(wg.grad(model))(X)
    there = wg.jit(wg.grad(model))(X)
    np.testing.assert_array_equal(here, there)
    assert len(compilations) == 1


def test_rewritten_code_is_found_again(folder, monkeypatch):
    code = compile("def f(x):\n    s = 0.0\n    for v in x:\n        s = s * v + 1.0\n    return s\n", "f.py", "exec")
    lines = "def f(x):\n    s = 0.0\n    for v in x:\n        s = s * v + 1.0\n    return s\n".splitlines(True)
    monkeypatch.setitem(linecache.cache, "f.py", (1, None, lines, "f.py"))
    seen = []
    real = instrument._rewritten
    monkeypatch.setattr(instrument, "_rewritten", lambda *args: seen.append(args) or real(*args))

    def value() -> float:
        space: dict = {}
        exec(code, space)  # a function, and code, of its own each time
        space["f"].__code__ = space["f"].__code__.replace()
        return wg.jit(space["f"])(np.array([1.0, 2.0, 3.0]))

    assert value() == value() == 10.0
    assert len(seen) == 1
    lines[3] = "        s = s * v + 2.0\n"
    assert value() == 20.0  # the text counts
    assert len(seen) == 2


def test_results_with_lengths_and_scalars(folder, compilations):
    def f(x, n, z, flag):
        return x[:n], x[n:].sum(), z * 1j, not flag, n + 1

    args = (np.arange(-2.0, 3.0), 3, 1 + 2j, True)
    for _ in range(2):
        got = wg.jit(f)(*args)
        for a, b in zip(got, f(*args), strict=True):
            np.testing.assert_array_equal(a, b)
    assert compilations == ["f"]


def test_linear_algebra_and_special_functions_are_linked_by_name(folder, compilations):
    scipy_special = pytest.importorskip("scipy.special")

    def f(a, b):
        return scipy_special.gammaln(np.linalg.solve(a, b) ** 2 + 1).sum() + np.linalg.det(a @ a.T)

    rng = np.random.default_rng(0)
    args = (rng.normal(size=(40, 40)), rng.normal(size=40))
    values = [wg.jit(f)(*args) for _ in range(2)]
    assert values[0] == values[1] == pytest.approx(f(*args), rel=1e-9)
    assert compilations == ["f"]


def test_callbacks_are_made_again(folder, compilations):
    def f(x, n):
        return (
            x[x > 1.5],
            np.sort(x[:n]) * 2.0,
            np.linalg.eigvals(np.outer(x, x) + np.diag([1j, 2.0, 3.0])).real.sum(),
        )

    x = np.array([3.0, 1.0, 2.0])
    first, second = wg.jit(f), wg.jit(f)
    assert "callback" in dict(first.lower(x, 2).report).values()
    for got, again, want in zip(first(x, 2), second(x, 2), f(x, 2), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)
        np.testing.assert_array_equal(got, again)
    assert len(compilations) == len(files(folder)) == 1


def test_callbacks_that_raise(folder, compilations):
    def f(x):
        return np.linalg.eigvals(x).real.sum() + x[0][x[1] > 0].sum()

    good, bad = np.diag([1.0, 2.0]), np.full((2, 2), np.nan)
    for g in (wg.jit(f), wg.jit(f)):
        assert g(good) == pytest.approx(f(good))
        with pytest.raises(np.linalg.LinAlgError):
            g(bad)
    assert len(compilations) == 1


def test_functions_of_the_users_own_are_not_kept(folder, compilations):
    def g(x):
        return scipy.integrate.quad(lambda t: np.exp(-t * x[0]), 0.0, 1.0)[0] * x.sum()

    x = np.ones(3)
    assert wg.jit(g)(x) == wg.jit(g)(x) == pytest.approx(g(x))
    assert len(compilations) == 2 - len(files(folder))


PLAIN = [
    None, True, 1, 1.5, -0.0, float("inf"), 1 - 2j, "text", (1, (2.0, [3])), [1, "a"], {"k": (1, None)},
    slice(None, Ref(1), -1), Ref(0), np.dtype(np.float32), np.dtype(bool), ..., ARRAY, np.float32(1.5), np.int64(7),
    np.arange(6.0).reshape(2, 3), np.array(2 + 1j), np.zeros((0, 3), np.uint8),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_data_and_back(value):
    got = from_plain(json.loads(json.dumps(as_plain(value))))
    assert got.__class__ is value.__class__
    assert repr(got) == repr(value)


def test_not_a_number_is_kept_bit_for_bit():
    for bits in (0x7FF8000000000001, 0xFFF8000000000000):
        nan = struct.unpack("d", struct.pack("Q", bits))[0]
        assert struct.pack("d", from_plain(as_plain(nan))) == struct.pack("Q", bits)


@pytest.mark.parametrize("value", [len, object(), np.array(["a"]), {1: 2}, (1, {2})])
def test_what_is_not_plain(value):
    with pytest.raises(NotPlain):
        as_plain(value)


# ------------------------------------------------------------------------------------------------------ bad files


def damaged(folder: Path, how) -> None:
    (path,) = files(folder)
    path.write_bytes(how(path.read_bytes()))


@pytest.mark.parametrize(
    "how",
    [
        lambda b: b[:-1],
        lambda b: b[: len(b) // 2],
        lambda b: b"",
        lambda b: b + b"\0",
        lambda b: b[:100] + bytes([b[100] ^ 1]) + b[101:],
        lambda b: b[:-50] + bytes([b[-50] ^ 128]) + b[-49:],
        lambda b: b"something else entirely",
    ],
)
def test_damaged_files_are_replaced(folder, compilations, how):
    expected = wg.jit(model)(X)
    whole = files(folder)[0].read_bytes()
    damaged(folder, how)
    assert wg.jit(model)(X) == expected
    assert len(compilations) == 2
    assert files(folder)[0].read_bytes()[:8] == whole[:8]
    assert len(files(folder)[0].read_bytes()) == len(whole)
    assert wg.jit(model)(X) == expected
    assert len(compilations) == 2


def test_a_file_in_anothers_place_is_not_taken(folder, compilations):
    wg.jit(lambda x: x * 2.0)(X)
    (other,) = files(folder)
    contents = other.read_bytes()
    wg.jit(lambda x: x * 3.0)(X)
    (mine,) = set(files(folder)) - {other}
    mine.write_bytes(contents)
    np.testing.assert_array_equal(wg.jit(lambda x: x * 2.0)(X), X * 2.0)


def test_symbols_that_are_not_there(folder, compilations, monkeypatch):
    wg.jit(model)(X)
    monkeypatch.setattr(stored, "symbols", SimpleNamespace(address=lambda name: None))
    assert wg.jit(model)(X) == pytest.approx(model(X))
    assert len(compilations) == 2


def test_code_is_not_loaded_without_its_symbols():
    with pytest.raises(LookupError, match="no_such_function"):
        MachineCode([Object(b"", ["no_such_function"], False)], {})


def test_a_folder_that_cannot_be_written_to(monkeypatch, tmp_path, compilations):
    monkeypatch.setenv("WENGERT_CACHE", "1")
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("WENGERT_CACHE_DIR", str(blocked / "code"))
    assert wg.jit(model)(X) == pytest.approx(model(X))
    readonly = tmp_path / "readonly"
    readonly.mkdir(mode=0o500)
    monkeypatch.setenv("WENGERT_CACHE_DIR", str(readonly))
    assert wg.jit(model)(X) == pytest.approx(model(X))
    assert len(compilations) == 2


def test_turned_off(monkeypatch, folder):
    monkeypatch.setenv("WENGERT_CACHE", "0")
    wg.jit(model)(X)
    assert not folder.exists()


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("WENGERT_CACHE", "1")
    monkeypatch.delenv("WENGERT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert disk.folder() is not None
    if sys.platform == "linux":
        assert disk.folder() == tmp_path / "wengert"


def test_the_oldest_go_first(folder, monkeypatch):
    monkeypatch.setattr(disk, "MOST", 10_000)
    monkeypatch.setattr(disk, "_written", 1)  # or one process in twenty-five looks while the files are being written
    keys = [bytes([k]) * 32 for k in range(10)]
    for k, key in enumerate(keys):
        disk.write(key, bytes(2000))
        os.utime(folder / f"{key.hex()}.wgc", (1000 + k, 1000 + k))
    disk.read(keys[0])  # used just now
    disk._tidy(folder)
    left = [key for key in keys if disk.read(key) is not None]
    assert left == [keys[0], *keys[-2:]]
    assert disk.usage()[0] == 3
    monkeypatch.setattr(disk, "LARGEST", 10)
    disk.write(b"x" * 32, bytes(11))
    assert disk.read(b"x" * 32) is None


# ------------------------------------------------------------------------------------------------------- what counts


def block_with(value, type=None, op="add", **attributes) -> Block:
    x = Var(Type((), np.dtype(float)), "x")
    y = Var(Type(np.shape(value), np.dtype(float)), attributes.pop("hint", "y"), **attributes)
    c = Const(value, type or Type(np.shape(value), np.asarray(value).dtype, not isinstance(value, np.ndarray)))
    return Block([x], [Node(TABLE[op], (x, c), {}, (y,))], [y])


def test_one_element_of_a_large_constant_counts():
    big = np.zeros(100_000)
    other = big.copy()
    other[77_777] = -0.0
    assert digest(block_with(big)) == digest(block_with(big.copy()))
    assert digest(block_with(big)) != digest(block_with(other))


def test_every_bit_of_a_number_counts():
    nan = np.array([0x7FF8000000000001], np.uint64).view(float)
    values = [0.0, -0.0, 1.0, 1, True, 1 + 0j, float("nan"), -float("nan"), 0.1, float(np.nextafter(0.1, 1)),
              np.float64(1.0), np.array([1.0]), np.array([[1.0]]), np.array([1.0], np.float32), np.array([1], "l"),
              np.array([1], "q"), nan, np.array([np.nan]), np.array([b"1.0"[0]], np.uint8)]  # fmt: skip
    digests = [digest(block_with(v)) for v in values]
    assert None not in digests
    assert len(set(digests)) == len(values)


def test_what_else_counts():
    found = digest(block_with(1.0))
    assert digest(block_with(1.0, op="subtract")) != found
    assert digest(block_with(1.0, span=(0, 4))) != found
    assert digest(block_with(1.0, stable=False)) != found
    assert digest(block_with(1.0, hint="z")) == found
    with wg.subgradient(ties="first"):
        assert digest(block_with(1.0)) != found


def test_parameters_count():
    b = Builder(np.ones((3, 4)))
    (x,) = b.params
    sums = [b.op("sum", x, axis=axes, keepdims=keep) for axes in ((0,), (1,), (0, 1)) for keep in (False, True)]
    digests = {digest(Block(b.params, b.nodes[k : k + 1], [s])) for k, s in enumerate(sums)}
    assert len(digests) == len(sums)


def test_what_is_no_data_has_no_digest():
    x = Var(Type((), np.dtype(float)))
    y = Var(Type((), np.dtype(float)))
    assert digest(Block([x], [Node(TABLE["add"], (x, x), {"function": len}, (y,))], [y])) is None
    assert digest(Block([], [], [x])) is None


def test_circumstances_count(folder, compilations, monkeypatch):
    wg.jit(model)(X)
    other = (kept, "host", lambda: ("other", "+none")), (disk, "state_of_package", lambda: (("a.py", 1, 2),))
    for module, name, value in other:
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            kept.circumstances.cache_clear()
            wg.jit(model)(X)
    kept.circumstances.cache_clear()
    wg.jit(model)(X)
    assert len(compilations) == 3
    assert len(files(folder)) == 3


# ------------------------------------------------------------------------------------------------- other processes

PROGRAM = """
import sys, time
import numpy as np, wengert as wg
from wengert.backend import execute
count = []
real = execute.compiled
execute.compiled = lambda program: count.append(1) or real(program)
def f(x, k):
    s = 0.0
    for v in x:
        s = s * 0.5 + np.exp(-v) * k
    return s
x = np.linspace(0, 1, 5000)  # whose residuals need memory of their own
print("ready", flush=True)
sys.stdin.readline()
for k in range(3):
    g = wg.jit(wg.value_and_grad(f), static_argnums=1)
    value, slope = g(x, k + 0.5)
    print(repr(float(value)), repr(float(slope.sum())))
print(len(count))
"""


def run_at_once(folder: Path, tmp_path: Path, how_many: int) -> list[list[str]]:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "WENGERT_CACHE": "1", "WENGERT_CACHE_DIR": str(folder)}
    processes = [
        subprocess.Popen(
            [sys.executable, script], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(how_many)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    answers = []
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        answers.append(process.communicate(timeout=120)[0].splitlines())
        assert process.returncode == 0
    return answers


def test_two_processes_at_once_and_one_afterwards(tmp_path):
    folder = tmp_path / "code"
    one, two = run_at_once(folder, tmp_path, 2)
    assert one[:-1] == two[:-1]
    assert len(files(folder)) == 3
    assert not list(folder.glob("*.part"))
    (three,) = run_at_once(folder, tmp_path, 1)
    assert three[:-1] == one[:-1]
    assert three[-1] == "0"
