"""Lengths that are known only at run time, and errors of native code."""

import ctypes
import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
from backend.building import ARRAY, Builder, Dyn, Ref, Type, Var, compile_program, constant

from wengert.ir.node import Block, Node, Program
from wengert.ops.op import TABLE

rng = np.random.default_rng(3)


def test_iota_and_size():
    b = Builder(7)
    (n,) = b.params
    i = b.op("iota", n=Ref(0), sizes=[n], dyn={0: None})
    x = b.op("multiply", i, 0.5)
    m = b.op("size", x, axis=0)
    native = b.check(x, b.op("sum", x, axis=(0,)), m)
    assert native(0)[0].shape == (0,)
    with pytest.raises(ValueError, match="negative"):
        native(-1)
    with pytest.raises(MemoryError):
        native(2**62)


@pytest.mark.parametrize("bound", [10, None])
def test_slices_with_run_time_bounds(bound):
    b = Builder(np.arange(10.0), 3, 8)
    x, i, j = b.params
    part = b.op("index", x, pattern=(slice(Ref(0), Ref(1)),), sizes=[i, j], dyn={0: bound})
    y = b.op("exp", b.op("negative", part))
    s = b.op("sum", b.op("multiply", y, part), axis=(0,))
    z = b.op("concatenate", y, x, axis=0, dyn={0: None if bound is None else 20})
    native = b.check(y, s, z, b.op("flip", y, axis=(0,), dyn={0: bound}))
    for a, c in [(0, 0), (5, 2), (-3, 10), (0, 100), (-100, 4)]:
        np.testing.assert_allclose(native(np.arange(10.0), a, c)[0], np.exp(-np.arange(10.0)[a:c]))


def test_slices_with_steps():
    for step in (1, 2, 3, -1, -2, -3):
        b = Builder(np.arange(10.0), 1, 8)
        x, i, j = b.params
        part = b.op("index", x, pattern=(slice(Ref(0), Ref(1), step),), sizes=[i, j], dyn={0: 10})
        other = b.op("index", x, pattern=(slice(Ref(0), None, step),), sizes=[i], dyn={0: 10})
        native = b.check(part, other)
        for a in (-12, -3, 0, 2, 9, 15):
            for c in (-12, -4, 0, 3, 10, 11):
                got = native(np.arange(10.0), a, c)
                np.testing.assert_array_equal(got[0], np.arange(10.0)[a:c:step])
                np.testing.assert_array_equal(got[1], np.arange(10.0)[a::step])


def test_triangular_loop():
    """A[i, :i] is an array of i elements."""
    n = 6
    b = Builder(rng.random((n, n)))
    (a,) = b.params

    def body(c, i, s, a):
        row = c.op("index", a, i, pattern=(ARRAY, slice(None, Ref(0))), sizes=[i], dyn={0: n})
        return [c.op("add", s, c.op("sum", c.op("multiply", row, row), axis=(0,)))]

    b.check(*b.loop(n, [0.0], [a], body))


def test_store_of_a_run_time_length():
    n = 6
    b = Builder(rng.random(n), 2)
    x, i = b.params
    part = b.op("index", x, pattern=(slice(Ref(0), None),), sizes=[i], dyn={0: n})
    y = b.op("store", b.op("exp", x), b.op("negative", part), pattern=(slice(Ref(0), None),), sizes=[i])
    native = b.check(y)
    for k in range(-n, n + 1):
        native(b.samples[0], k)


def test_lengths_must_agree():
    b = Builder(np.arange(10.0), 3, 8)
    x, i, j = b.params
    p = b.op("index", x, pattern=(slice(None, Ref(0)),), sizes=[i], dyn={0: 10})
    q = b.op("index", x, pattern=(slice(5, Ref(0)),), sizes=[j], dyn={0: 5})
    native = b.check(b.op("add", p, q, dyn={0: 10}, line=3))
    with pytest.raises(ValueError, match="broadcast.*user.py:3"):
        native(np.arange(10.0), 1, 8)  # a length of one is not stretched if it was not known


def test_reshape_of_run_time_length():
    b = Builder(np.arange(12.0), 6, 3)
    x, n, m = b.params
    p = b.op("index", x, pattern=(slice(None, Ref(0)),), sizes=[n], dyn={0: 12})
    q = b.op("reshape", p, shape=(Ref(0), 2), sizes=[m], dyn={0: 6})
    native = b.check(q, b.op("transpose", q, axes=(1, 0), dyn={1: 6}))
    with pytest.raises(ValueError, match="reshape"):
        native(np.arange(12.0), 5, 3)


def test_inputs_of_run_time_length():
    x = Var(Type((Dyn(None), 3), np.dtype(float)))
    y = Var(Type((Dyn(None), 3), np.dtype(float)))
    s = Var(Type((3,), np.dtype(float)))
    nodes = [
        Node(TABLE["exp"], (x,), {}, (y,)),
        Node(TABLE["sum"], (x,), {"axis": (0,), "keepdims": False}, (s,)),
    ]
    native = compile_program(Program("f", Block([x], nodes, [y, s])))
    for n in (0, 1, 5, 100):
        a = rng.random((n, 3))
        got = native(a)
        np.testing.assert_allclose(got[0], np.exp(a))
        np.testing.assert_allclose(got[1], a.sum(0))


def test_carried_length_changes():
    """A carried array whose length shrinks from iteration to iteration."""
    x0 = Var(Type((Dyn(8),), np.dtype(float)))
    k, a, h = (
        Var(Type((), np.dtype(int), True)),
        Var(Type((Dyn(8),), np.dtype(float))),
        Var(Type((Dyn(8),), np.dtype(float))),
    )
    body = Block([k, a], [Node(TABLE["index"], (a,), {"pattern": (slice(1, None),)}, (h,))], [h])
    out = Var(Type((Dyn(8),), np.dtype(float)))
    n = Var(Type((), np.dtype(int), True))
    node = Node(TABLE["loop"], (n, x0), {"body": body, "carried": 1}, (out,))
    native = compile_program(Program("f", Block([x0, n], [node], [out])))
    x = np.arange(8.0)
    for iterations in range(10):
        np.testing.assert_array_equal(native(x, iterations)[0], x[iterations:])


# ----------------------------------------------------------------------------------------------------------- errors


def test_index_out_of_range():
    b = Builder(np.arange(5.0), 2)
    x, i = b.params
    native = b.check(b.op("index", x, i, pattern=(ARRAY,), line=7))
    assert native(b.samples[0], -5)[0] == 0
    for bad in (5, -6, 2**62, -(2**63)):
        with pytest.raises(IndexError, match=rf"index {bad} is out of bounds for axis 0 with size 5 \(at user.py:7\)"):
            native(b.samples[0], bad)
    b = Builder(np.arange(5.0), np.array([0, 1]))
    x, i = b.params
    native = b.check(b.index(x, i), b.store(x, 0.0, i), b.store(x, 0.0, i, name="add_at"))
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 5"):
        native(b.samples[0], np.array([0, 9]))


def test_index_that_is_wrong_for_sure():
    b = Builder(np.arange(5.0), True)
    x, p = b.params
    block = b.inner(x)
    wrong = Var(Type((), np.dtype(float)))
    block.nodes.append(Node(TABLE["index"], (block.params[0],), {"pattern": (7,)}, (wrong,)))
    native = compile_program(Program("f", Block(b.params, [
        Node(TABLE["cond"], (p, x), {"then": block.block(wrong), "orelse": b.inner(x).block(0.0)},
             (out := Var(Type((), np.dtype(float))),)),
    ], [out])))  # fmt: skip
    assert native(b.samples[0], False) == [0.0]
    with pytest.raises(IndexError):
        native(b.samples[0], True)


def test_arguments_are_checked():
    b = Builder(np.arange(5.0), 1.0)
    native = b.check(b.op("multiply", *b.params))
    with pytest.raises(ValueError, match="shape"):
        native(np.arange(4.0), 1.0)
    with pytest.raises(TypeError, match="dtype"):
        native(np.arange(5), 1.0)
    with pytest.raises(TypeError, match="arguments"):
        native(np.arange(5.0))
    np.testing.assert_array_equal(native(np.arange(10.0)[::2], 2)[0], np.arange(10.0)[::2] * 2)
    np.testing.assert_array_equal(native(np.arange(5.0)[::-1], np.float64(2))[0], np.arange(5.0)[::-1] * 2)
    np.testing.assert_array_equal(native(np.arange(5.0).astype(">f8"), 2.0)[0], np.arange(5.0) * 2)


def test_max_of_nothing():
    b = Builder(np.arange(5.0), 3)
    x, n = b.params
    p = b.op("index", x, pattern=(slice(None, Ref(0)),), sizes=[n], dyn={0: 5})
    native = b.check(b.op("max", p, axis=(0,)), b.op("argmin", p, axis=0))
    with pytest.raises(ValueError, match="zero-size"):
        native(b.samples[0], 0)


def endless():
    b = Builder(0.5, 2)
    x, n = b.params
    (s,) = b.loop(n, [x], [], lambda c, k, s: [c.op("sin", c.op("add", s, 0.1))])
    return b.check(s)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
def test_interrupt():
    native = endless()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        native(0.5, 10**12)
    assert time.perf_counter() - start < 5
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_other_threads_run_meanwhile():
    native = endless()
    done = []
    worker = threading.Thread(target=lambda: done.append(native(0.5, 20_000_000)))
    worker.start()
    ticks = 0
    while worker.is_alive():
        ticks += 1
        time.sleep(0.001)
    worker.join()
    assert done
    assert ticks > 5


def test_threads_do_not_disturb_each_other():
    b = Builder(rng.random(3000), 3)
    x, n = b.params
    y = b.op("argsort", x, axis=0)
    (z,) = b.loop(n, [b.op("exp", x)], [y], lambda c, k, a, y: [c.store(c.index(a, y), 0.5, k)])
    native = b.check(z)
    samples = [rng.random(3000) for _ in range(4)]
    expected = [native(s, 50)[0] for s in samples]
    wrong = []

    def work(k):
        for _ in range(20):
            if not np.array_equal(native(samples[k], 50)[0], expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


# ----------------------------------------------------------------------------------------------------------- memory


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")


@needs_proc
def test_calls_do_not_leak():
    b = Builder(rng.random(1000), 1000)
    x, n = b.params
    p = b.op("index", x, pattern=(slice(None, Ref(0)),), sizes=[n], dyn={0: None})
    q = b.op("exp", p)
    i = b.index(q, constant(990))
    native = compile_program(b.program(q, b.op("add", q, q), i))
    good, bad = (b.samples[0], 1000), (b.samples[0], 900)

    def some(count):
        for _ in range(count):
            native(*good)
            with pytest.raises(IndexError):
                native(*bad)

    some(200)
    before = resident()
    some(5000)
    assert resident() - before < 4_000_000


@needs_proc
def test_compilations_do_not_leak():
    def some(count):
        for k in range(count):
            b = Builder(rng.random(5))
            y = b.op("multiply", b.op("sin", b.params[0]), float(k))
            compile_program(b.program(y))(b.samples[0])
        gc.collect()

    some(40)
    before = resident()
    some(60)
    assert resident() - before < 3_000_000


def test_results_belong_to_the_caller():
    b = Builder(rng.random(5), 3)
    x, n = b.params
    p = b.op("index", x, pattern=(slice(None, Ref(0)),), sizes=[n], dyn={0: 5})
    native = b.check(b.op("exp", x), p)
    one, two = native(*b.samples), native(*b.samples)
    one[0][:], one[1][:] = 0, 0
    np.testing.assert_allclose(two[0], np.exp(b.samples[0]))
    del native
    gc.collect()
    two[0] += 1
    assert two[1].flags.writeable
    assert ctypes.sizeof(ctypes.c_void_p) == 8


def carrying(bound, result):
    """A loop of n iterations that carries an array of any length; `result(nodes, k, a)` is what one makes of it."""
    kind = Type((Dyn(bound),), np.dtype(float))
    x, a, out = [Var(kind) for _ in range(3)]
    n, k = [Var(Type((), np.dtype(int), True)) for _ in range(2)]
    nodes = []

    def node(name, *args, **params):
        v = Var(kind)
        nodes.append(Node(TABLE[name], args, params, (v,)))
        return v

    body = Block([k, a], nodes, [result(node, a)])
    loop = Node(TABLE["loop"], (n, x), {"body": body, "carried": 1}, (out,))
    return compile_program(Program("f", Block([x, n], [loop], [out])))


@pytest.mark.parametrize("bound", [None, 5000])
def test_carried_array_grows_and_shrinks(bound):
    one = constant(np.array([1.0, 2.0]))
    cases = {
        "grows": (lambda node, a: node("concatenate", a, one, axis=0), lambda a: np.concatenate([a, [1.0, 2.0]])),
        "doubles": (lambda node, a: node("concatenate", a, a, axis=0), lambda a: np.concatenate([a, a])),
        "shrinks": (lambda node, a: node("index", a, pattern=(slice(1, None),)), lambda a: a[1:]),
        "turns": (lambda node, a: node("flip", a, axis=(0,)), lambda a: a[::-1]),
        "scales": (lambda node, a: node("multiply", a, constant(0.5)), lambda a: a * 0.5),
        "both": (
            lambda node, a: node("add", node("multiply", a, a), node("flip", a, axis=(0,))),
            lambda a: a * a + a[::-1],
        ),
    }
    for make, reference in cases.values():
        native = carrying(bound, make)
        for iterations in (0, 1, 2, 5):
            expected = x = np.array([0.5, -0.25, 0.125])
            for _ in range(iterations):
                expected = reference(expected)
            for _ in range(2):
                np.testing.assert_allclose(native(x, iterations)[0], expected)
