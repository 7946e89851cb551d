"""Threads: results that are the same, bit for bit, however many share the work; errors and signals as with one."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import wengert as wg
from wengert.backend.llvm.native import compile_program
from wengert.backend.llvm.threads import sharing
from wengert.ops.op import TABLE

NUMBERS = (1, 2, 3, 5)


@pytest.fixture(autouse=True)
def short_work_is_shared(monkeypatch):
    """Programs of a few thousand elements are cut and shared as long ones are."""
    monkeypatch.setenv("WENGERT_CACHE", "0")
    monkeypatch.setattr(sharing, "LARGE", 64)
    monkeypatch.setattr(sharing, "SHORTEST", 16)
    monkeypatch.setattr(sharing, "PAYS", 0)
    before = wg.get_num_threads()
    yield
    wg.set_num_threads(before)


def leaves(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def rows_written_one_by_one(x):
    out, both = np.zeros(40), np.zeros((len(x), 2))
    for i in range(40):
        out[i] = np.sum(np.exp(x[i]) * x[i]) + np.max(x[i])
        both[i, 0] = out[i] * 2
        both[i, 1] += np.sin(both[i, 0])
    return out, both


def rows_with_branches(x):
    out = np.ones((len(x), 11))
    for i in range(len(x)):
        total = 0.0
        for k in range(11):
            if x[i, k] > 0.4:
                total = total + np.sin(x[i, k])
            else:
                total = total - x[i, k] ** 2
        row = np.cumsum(x[i]) * total
        out[i] = row + row[::-1] + out[i]
    return out


def rows_that_need_the_one_before(x):
    out = np.ones((len(x), 11))
    last = np.zeros(len(x))
    for i in range(1, len(x)):
        out[i] = out[i - 1] * 0.5 + np.sin(x[i])
        last[i] = last[0] + np.sum(x[i])
        last[0] = last[i] * 0.5
    return out, last


def short_rows_in_few_iterations(x):
    out = np.zeros((3, 40, 11))
    for i in range(3):
        out[i] = np.exp(x[:40] * i)
    return out


def several_arrays_in_one_loop(x):
    y = np.tanh(x)
    z = y * x + 1
    return y, z, np.sum(z), np.max(y), np.min(z * z)


def stacks_of_matrices(x):
    a = x.ravel().reshape(-1, 4, 11)
    gram = np.einsum("nij,nkj->nik", a, a) + 3 * np.eye(4)
    b = np.linalg.solve(gram, a)
    w, v = np.linalg.eigh(gram)
    return b, np.linalg.det(gram), np.linalg.inv(gram), np.linalg.cholesky(gram), w, np.abs(v), gram @ a


def more_factorisations(x):
    a = x.ravel().reshape(-1, 11, 4)
    q, r = np.linalg.qr(a)
    return q @ r, np.linalg.svd(a, compute_uv=False), np.linalg.slogdet(np.swapaxes(a, 1, 2) @ a)[1]


def rows_and_columns(x):
    return (
        np.sum(np.cos(x), axis=1), np.sum(x, axis=0), np.max(x, axis=1), np.cumsum(x, axis=1),
        scipy.special.logsumexp(x, axis=1), scipy.special.logsumexp(x), scipy.special.softmax(x),
        scipy.special.softmax(x, axis=1), np.mean(x, axis=(0, 1)), x.T + x[:11, :1],
    )  # fmt: skip


def reductions_of_all(x):
    return (
        np.sum(np.sin(x)), np.prod(1 + x / 100), np.max(x), np.min(x), np.any(x > 0.99), np.all(x > 0),
        np.count_nonzero(x > 0.5), np.sum(x > 0.25), np.sum(x * 1j),
    )  # fmt: skip


def complex_and_single(x):
    z = np.exp(1j * x)
    return z, np.sum(z), np.sqrt(x.astype(np.float32)), np.sum(x.astype(np.float32))


def in_place(x):
    y = x.copy()
    for k in range(5):
        y[1:-1] = y[1:-1] + 0.1 * (y[2:] - 2 * y[1:-1] + y[:-2])
        y = y + k
    return y


def narrow_product(x):
    return x @ x[:11].T, x[:, :3] @ x[:3, :3]


PROGRAMS = [
    rows_written_one_by_one, rows_with_branches, rows_that_need_the_one_before, short_rows_in_few_iterations,
    several_arrays_in_one_loop, stacks_of_matrices, more_factorisations, rows_and_columns, reductions_of_all,
    complex_and_single, in_place, narrow_product,
]  # fmt: skip


def test_loops_are_cut():
    """The fixture does what it says, and only independent iterations are shared."""
    x = np.zeros((40, 11))
    for program in (rows_written_one_by_one, short_rows_in_few_iterations):
        assert "@unpack" in wg.jit(program).lower(x).llvm
    x = np.zeros((40, 3))
    before = sharing.LARGE
    try:
        sharing.LARGE = 200
        assert "@unpack" in wg.jit(lambda x: loop(x, 0)).lower(x).llvm
        assert "@unpack" not in wg.jit(lambda x: loop(x, 1)).lower(x).llvm
    finally:
        sharing.LARGE = before


def loop(x, distance):
    out = np.zeros((len(x), 3))
    for i in range(distance, len(x)):
        out[i] = out[i - distance] + x[i]
    return out


def as_reference(function, x):
    return [np.asarray(leaf) for leaf in leaves(function(x))]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("rows", [40, 44, 52])
def test_results_do_not_depend_on_the_number_of_threads(program, rows):
    x = np.random.default_rng(rows).random((rows, 11))
    if program is stacks_of_matrices or program is more_factorisations:
        x = np.random.default_rng(rows).random((rows, 44))
    expected = as_reference(program, x)
    compiled = wg.jit(program)
    found = []
    for n in NUMBERS:
        wg.set_num_threads(n)
        found.append([np.asarray(leaf) for leaf in leaves(compiled(x))])
    for own in found:
        for leaf, first, reference in zip(own, found[0], expected, strict=True):
            assert leaf.dtype == reference.dtype
            np.testing.assert_array_equal(leaf, first)
            np.testing.assert_allclose(leaf, reference, rtol=2e-6 if leaf.dtype.char == "f" else 1e-11, atol=1e-12)


def objective(x):
    y = np.tanh(x @ x[:11].T)
    total = np.sum(np.exp(-(y**2)))
    for k in range(40):
        total = total + np.max(x[k]) * np.sum(x[k] ** 2)
    return total


@pytest.mark.parametrize("operator", [wg.grad, wg.hessian, lambda f: wg.vmap(wg.grad(f))])
def test_derivatives(operator):
    x = np.random.default_rng(1).random((40, 11))
    if operator not in (wg.grad, wg.hessian):
        x = np.stack([x, 2 * x, x**2])
    expected = operator(objective)(x)
    compiled = wg.jit(operator(objective))
    found = []
    for n in NUMBERS:
        wg.set_num_threads(n)
        found.append(compiled(x))
    for own in found:
        np.testing.assert_array_equal(own, found[0])
        np.testing.assert_allclose(own, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("length", [4096, 4099])
def test_strips(length, monkeypatch):
    """Large arrays are done in strips, and these in groups: what is needed whole, and sums along the axis."""
    monkeypatch.setattr("wengert.passes.strip_mine.LARGE", 1 << 12)
    monkeypatch.setattr("wengert.passes.strip_mine.STRIP", 1 << 12)
    rng = np.random.default_rng(2)
    x, m, q = rng.random((length, 4)), rng.random((3, 4)), rng.random((3, 4, 4))

    def f(x, m, q):
        y = np.tanh(np.einsum("kij,nkj->nki", q, x[:, None] - m))
        return np.sum(np.exp(-np.sum(y * y, 2))), y * np.sum(y, axis=0), np.max(y, axis=0)

    expected = f(x, m, q)
    compiled = wg.jit(f)
    gradient = wg.grad(lambda x, m, q: f(x, m, q)[0], argnums=(0, 1, 2))
    expected_gradient, compiled_gradient = gradient(x, m, q), wg.jit(gradient)
    found = []
    for n in NUMBERS:
        wg.set_num_threads(n)
        found.append([*compiled(x, m, q), *compiled_gradient(x, m, q)])
    for own in found:
        for leaf, first, reference in zip(own, found[0], [*expected, *expected_gradient], strict=True):
            np.testing.assert_array_equal(leaf, first)
            np.testing.assert_allclose(leaf, reference, rtol=1e-10, atol=1e-12)


def test_the_first_of_several_faults_is_raised():
    def f(x, i):
        return np.exp(x)[i]

    compiled, x = wg.jit(f), np.arange(1000.0)
    i = np.arange(1000)
    i[[300, 517, 980]] = 1300, 1517, 1980
    for n in NUMBERS:
        wg.set_num_threads(n)
        for _ in range(20):
            with pytest.raises(IndexError, match="index 1300 is out of bounds"):
                compiled(x, i)
    i[[300, 517, 980]] = 1
    np.testing.assert_allclose(compiled(x, i), f(x, i))


def test_singular_matrix_in_a_stack():
    stack = np.random.default_rng(0).random((200, 4, 4)) + 4 * np.eye(4)
    stack[77] = 0
    compiled = wg.jit(np.linalg.inv)
    for n in NUMBERS:
        wg.set_num_threads(n)
        with pytest.raises(np.linalg.LinAlgError):
            compiled(stack)


def test_kernels_in_several_threads_at_once():
    """Only one has the threads at a time; the others work alone, with the same results."""
    compiled = wg.jit(wg.value_and_grad(lambda x: np.sum(np.tanh(x) * np.exp(-x))))
    inputs = [np.random.default_rng(k).random(5000) for k in range(4)]
    wg.set_num_threads(3)
    expected = [compiled(x) for x in inputs]
    wrong = []

    def work(k):
        for _ in range(200):
            value, gradient = compiled(inputs[k])
            if value != expected[k][0] or not np.array_equal(gradient, expected[k][1]):
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_what_goes_back_to_python_does_so_in_the_thread_that_called(monkeypatch):
    seen = set()
    expm = TABLE["expm"]
    monkeypatch.setattr(expm, "impl", lambda x, impl=expm.impl: (seen.add(threading.get_ident()), impl(x))[1])

    def f(x):
        out = np.zeros(30)
        for i in range(30):
            out[i] = np.sum(scipy.linalg.expm(x[i]))
        return out

    x = np.random.default_rng(3).random((30, 4, 4))
    wg.set_num_threads(3)
    np.testing.assert_allclose(wg.jit(f)(x), np.sum(scipy.linalg.expm(x), axis=(1, 2)))
    assert seen == {threading.get_ident()}


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
@pytest.mark.parametrize("threads", [1, 3])
def test_interrupt(threads):
    def f(x):
        out = np.zeros(len(x))
        for i in range(len(x)):
            y = x[i]
            for _ in range(1_000_000):
                y = np.sin(y) + 0.1
            out[i] = y
        return out

    x = np.zeros(4000)
    compiled = compile_program(wg.jit(f).lower(x).program)
    wg.set_num_threads(threads)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        compiled(x)
    assert time.perf_counter() - start < 20
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_the_number():
    wg.set_num_threads(3)
    assert wg.get_num_threads() == 3
    wg.set_num_threads(np.int64(1))
    assert wg.get_num_threads() == 1
    with pytest.raises(ValueError, match="at least one thread, not 0"):
        wg.set_num_threads(0)
    with pytest.raises(TypeError):
        wg.set_num_threads(1.5)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"WENGERT_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "2,1"}, 2),
        ({"WENGERT_NUM_THREADS": "4", "OMP_NUM_THREADS": "1"}, 4),
        ({"OMP_NUM_THREADS": "many"}, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None),
    ],
)
def test_the_number_at_the_start(variables, expected):
    if expected is None:
        pytest.skip("the number of processors is not known here")
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    code = "import wengert as wg; print(wg.get_num_threads())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | variables, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_works_alone():
    code = """
import os, numpy as np, wengert as wg
wg.set_num_threads(3)
f, x = wg.jit(lambda x: np.sum(np.exp(np.sin(x)))), np.arange(300_000.0)
expected = f(x)
child = os.fork()
if child == 0:
    good = wg.get_num_threads() == 1 and f(x) == expected
    wg.set_num_threads(2)
    os._exit(0 if good and f(x) == expected else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert f(x) == expected and wg.get_num_threads() == 3
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
