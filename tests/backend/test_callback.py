"""Ops that go back to Python from native code: views in, copies out, sizes known before or after, exceptions."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest
from kernels import Kernel

from wengert.backend.llvm.arrays.buffer import I32, I64, Buffer, store_element
from wengert.backend.llvm.calls import callback, faults
from wengert.ir.node import Const, Dyn, Node, Ref, Type, Var
from wengert.ops.op import TABLE, Op

INT64 = np.dtype(np.int64)


class Plain(Op):
    """An op that is not in the table."""

    def __init__(self, impl: Any):
        self.name, self.impl, self.batch, self.shape = "plain", impl, None, None


def kernel_of(node: Node, arrays: Any, sizes: Any = (), room: int = 64) -> Kernel:
    """A kernel whose pointers are the operands and, for each result, room for elements and lengths."""
    names = list(node.args)

    def write(cx, pointers, n):
        inputs = []
        for operand, a, p in zip(names, arrays, pointers, strict=False):
            strides = None if a.flags.c_contiguous else [I64(s // a.itemsize) for s in a.strides]
            inputs.append(Buffer(p, [I64(k) for k in a.shape], strides, operand.type.dtype))
        outs = callback.emit(cx, node, inputs, [I64(s) for s in sizes])
        memcpy = cx.declare("memcpy", pointers[0].type, [pointers[0].type] * 2 + [I64])
        for k, out in enumerate(outs):
            data, lengths = pointers[len(names) + 2 * k], pointers[len(names) + 2 * k + 1]
            total = I64(out.dtype.itemsize)
            for j, length in enumerate(out.lengths):
                store_element(cx.builder, length, lengths, I64(j), INT64)
                total = cx.builder.mul(total, length)
            cx.builder.call(memcpy, [data, out.pointer, total])

    return Kernel(write, len(names) + 2 * len(node.outs), speed=1)


def run(node: Node, arrays: Any, sizes: Any = ()) -> list[np.ndarray]:
    kernel = kernel_of(node, arrays, sizes)
    rooms = [(np.zeros(1000, v.type.dtype), np.zeros(8, np.int64)) for v in node.outs]
    kernel([*arrays, *[r for pair in rooms for r in pair]])
    found = []
    for v, (data, lengths) in zip(node.outs, rooms, strict=True):
        shape = tuple(lengths[: v.type.ndim])
        found.append(data[: int(np.prod(shape))].reshape(shape))
    return found


def var(a: Any, weak: bool = False) -> Var:
    a = np.asarray(a)
    return Var(Type(a.shape, a.dtype, weak))


def test_one_result():
    x = np.random.default_rng(0).standard_normal((3, 4))
    node = Node(TABLE["cumsum"], (var(x),), {"axis": 1}, (var(x),))
    np.testing.assert_array_equal(run(node, [x])[0], np.cumsum(x, 1))


def test_strided_operands_are_views():
    base = np.arange(60.0).reshape(5, 12)
    for x in (base[:, ::3], base.T, base[::-1, ::-2], np.broadcast_to(base[0], (2, 12)), base[1:3, 4]):
        seen = []
        node = Node(Plain(lambda a, seen=seen: (seen.append((a.ctypes.data, a.strides, a.flags.writeable)), a * 2)[1]),
                    (var(x),), {}, (var(x),))  # fmt: skip
        np.testing.assert_array_equal(run(node, [x])[0], 2 * x)
        assert seen == [(x.ctypes.data, x.strides, False)]


def test_several_results_and_dtypes():
    x = np.random.default_rng(0).standard_normal((4, 3))
    y = TABLE["qr"].impl(x)
    found = run(Node(TABLE["qr"], (var(x),), {}, tuple(var(v) for v in y)), [x])
    for f, w in zip(found, y, strict=True):
        np.testing.assert_array_equal(f, w)
    for dtype in ("f", "F", "D", "?", "b", "u8", "f2", "g"):
        z = np.array([1, 0, 1], dtype)
        node = Node(Plain(lambda a: a[::-1]), (var(z),), {}, (var(z),))
        (found,) = run(node, [z])
        assert found.dtype == z.dtype
        np.testing.assert_array_equal(found, z[::-1])


def test_scalars_are_scalars():
    kinds = []
    x, n = np.array(2.5), np.array(3)
    op = Plain(lambda *a: (kinds.extend(v.__class__ for v in a), np.float64(a[0] + a[1] + a[2]))[1])
    node = Node(op, (var(x), var(n, weak=True), Const(1, Type((), INT64, True))), {}, (var(x),))
    assert run(node, [x, n, np.array(7)])[0] == 6.5
    assert kinds == [np.float64, int, int]


def test_sizes_known_only_afterwards():
    x = np.array([3.0, -1.0, 2.0, -5.0])
    out = Var(Type((Dyn(),), x.dtype))
    node = Node(Plain(lambda a: a[a > 0]), (var(x),), {}, (out,))
    kernel = kernel_of(node, [x])
    for values in ([3.0, -1.0, 2.0, -5.0], [1.0, 2.0, 3.0, 4.0], [-1.0] * 4):
        x[:] = values
        data, lengths = np.zeros(10), np.zeros(8, np.int64)
        kernel([x, data, lengths])
        np.testing.assert_array_equal(data[: lengths[0]], x[x > 0])


def test_parameters_with_references():
    x = np.arange(10.0)
    node = Node(
        Plain(lambda a, part: a[part]),
        (var(x),),
        {"part": slice(Ref(0), Ref(1))},
        (Var(Type((Dyn(10),), x.dtype)),),
        sizes=(var(1), var(1)),
    )
    np.testing.assert_array_equal(run(node, [x], sizes=(2, 7))[0], x[2:7])


class Special(Exception):
    pass


@pytest.mark.parametrize("shape", [(3,), (Dyn(),)])
def test_exceptions_pass_unchanged(shape):
    error = Special("as it is")

    def fail(a):
        raise error

    x = np.zeros(3)
    node = Node(Plain(fail), (var(x),), {}, (Var(Type(shape, x.dtype)),))
    with pytest.raises(Special) as caught:
        run(node, [x])
    assert caught.value is error
    assert caught.value.__traceback__ is not None


def test_what_does_not_fit_is_refused():
    x = np.zeros(3)
    for wrong in (lambda a: a[:2], lambda a: a + 1j, lambda a: (a, a), lambda a: a[None]):
        with pytest.raises(TypeError):
            run(Node(Plain(wrong), (var(x),), {}, (var(x),)), [x])


def test_what_callers_functions_get_they_may_keep():
    kept = []
    x = np.arange(3.0)
    node = Node(
        Plain(lambda a, function: function(a)), (var(x),), {"function": lambda a: (kept.append(a), a)[1]}, (var(x),)
    )
    run(node, [x])
    x[:] = 9
    np.testing.assert_array_equal(kept[0], [0, 1, 2])


def test_callbacks_inside_callbacks_and_threads():
    x = np.array([1.0, 2.0, -3.0])
    inner = Node(Plain(lambda a: a[a > 0]), (var(x),), {}, (Var(Type((Dyn(),), x.dtype)),))
    outer = Node(Plain(lambda a: run(inner, [a.copy()])[0] * 2), (var(x),), {}, (Var(Type((Dyn(),), x.dtype)),))
    found: list[Any] = []
    kernel = kernel_of(outer, [x])

    def work():
        for _ in range(20):
            data, lengths = np.zeros(10), np.zeros(8, np.int64)
            kernel([x, data, lengths])
            found.append(list(data[: lengths[0]]))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [[2.0, 4.0]] * 40


def test_nothing_is_left_behind():
    x = np.zeros(3)
    node = Node(Plain(lambda a: a + 1), (var(x),), {}, (var(x),))
    kernel = kernel_of(node, [x])
    data, lengths = np.zeros(10), np.zeros(8, np.int64)
    before = sys.getrefcount(x)
    for _ in range(100):
        kernel([x, data, lengths])
    assert sys.getrefcount(x) == before
    assert I32(faults.OK).constant == 0
