"""Programs as NumPy source, compared with the interpreter, and programs with a trap in them, in their printed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.backend.python import python_source
from wengert.ir.build import Capture, capturing, type_of_value
from wengert.ir.interpret import run
from wengert.ir.node import Program, all_nodes
from wengert.ir.parse import parse


def compiled(source: str, name: str) -> Callable:
    assert "wengert" not in source
    namespace: dict[str, Any] = {}
    exec(compile(source, "<generated>", "exec"), namespace)
    return namespace[name]


def copies(args: Sequence[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def compare(program: Program, *args: Any, rtol: float = 1e-12) -> str:
    """The source of a program, after checking that it gives what the interpreter gives, and leaves arguments alone."""
    source = python_source(program)
    expected = run(program.block, copies(args))
    given = copies(args)
    got = compiled(source, program.name)(*given)
    got = got if len(expected) != 1 else (got,)
    assert isinstance(got, tuple)
    assert len(got) == len(expected), source
    for g, e in zip(got, expected, strict=True):
        assert np.shape(g) == np.shape(e), source
        assert np.asarray(g).dtype == np.asarray(e).dtype, source
        np.testing.assert_allclose(g, e, rtol=rtol, atol=1e-14, err_msg=source)
    for g, a in zip(given, args, strict=True):
        np.testing.assert_array_equal(g, a, err_msg=source)
    return source


def program(text: str) -> Program:
    found = parse(text)
    assert isinstance(found, Program)
    return found


def captured(name: str, function: Callable, *args: Any, hints: str = "") -> Program:
    """The program of a function of values like these."""
    capture = Capture()
    with capturing(capture):
        names = hints.split() or [None] * len(args)
        symbols = [capture.formal(type_of_value(a), hint=name) for a, name in zip(args, names, strict=True)]
        block = capture.block(function(*symbols))
    for node in all_nodes(block):
        node.source = None  # lines of this file
    return Program(name, block)


V = np.array([0.3, -0.7, 0.55])
M = np.array([[0.5, -1.2, 2.0], [1.1, 0.3, -0.4]])

TRAPS: dict[str, tuple[str, list]] = {
    "the old version is read after a store": (
        """program f(%x: f64[3]) {
             %a: f64[3] = multiply(%x, 2.0)
             %b: f64[3] = store(%a, 5.0, pattern=(0,))
             %c: f64[3] = add(%a, %b)
             return %c
           }""",
        [V],
    ),
    "a view of the old version is read after a store": (
        """program f(%x: f64[3]) {
             %a: f64[3] = multiply(%x, 2.0)
             %v: f64[2] = index(%a, pattern=(1:,))
             %b: f64[3] = store(%a, 5.0, pattern=(1,))
             return %b, %v
           }""",
        [V],
    ),
    "a nameless view waits while its array is written to": (
        """program f(%x: f64[3]) {
             %a: f64[3] = multiply(%x, 2.0)
             %0: f64[2] = index(%a, pattern=(1:,))
             %1: f64[2] = multiply(%0, 3.0)
             %b: f64[3] = store(%a, 5.0, pattern=(1,))
             %2: f64 = sum(%1, axis=(0,))
             %3: f64[3] = multiply(%b, %2)
             return %3
           }""",
        [V],
    ),
    "an argument is not written to": (
        """program f(%x: f64[3]) {
             %y: f64[3] = store(%x, 5.0, pattern=(0,))
             %z: f64[3] = store(%y, 6.0, pattern=(1,))
             return %z
           }""",
        [V],
    ),
    "nor through a view": (
        """program f(%x: f64[2, 3]) {
             %r: f64[3] = index(%x, pattern=(0,))
             %y: f64[3] = store(%r, 5.0, pattern=(0,))
             %t: f64[3, 2] = transpose(%x, axes=(1, 0))
             %z: f64[3, 2] = add_at(%t, 1.0, pattern=(:, 0))
             return %y, %z, %x
           }""",
        [M],
    ),
    "a constant is not written to": (
        """program f(%n: i64~) {
             %a: f64[3] = store(f64[3](1.0, 2.0, 3.0), 5.0, pattern=(0,))
             %b: f64[3] = store(f64[3](1.0, 2.0, 3.0), 6.0, pattern=(1,))
             return %a, %b
           }""",
        [1],
    ),
    "a part is moved within its array": (
        """program f(%x: f64[3]) {
             %a: f64[3] = multiply(%x, 2.0)
             %0: f64[2] = index(%a, pattern=(:2,))
             %b: f64[3] = store(%a, %0, pattern=(1:,))
             %1: f64[2] = index(%b, pattern=(1:,))
             %c: f64[3] = add_at(%b, %1, pattern=(:2,))
             return %c
           }""",
        [V],
    ),
    "a loop fills an array": (
        """program f(%x: f64[3]) {
             %y: f64[3] = loop %k < 3 {
               carry %out: f64[3] = f64[3](0.0, 0.0, 0.0)
               given %x
               %0: f64 = index(%x, %k, pattern=(ARRAY,))
               %1: f64 = multiply(%0, %0)
               %2: f64[3] = store(%out, %1, %k, pattern=(ARRAY,))
               next %2
             }
             return %y
           }""",
        [V],
    ),
    "a loop writes to what it got": (
        """program f(%x: f64[3]) {
             %y: f64[3] = loop %k < 2 {
               carry %a: f64[3] = %x
               %2: f64[3] = store(%a, 7.0, %k, pattern=(ARRAY,))
               next %2
             }
             %z: f64[3] = add(%x, %y)
             return %y, %z
           }""",
        [V],
    ),
    "a loop writes to what it also looks at": (
        """program f(%x: f64[3]) {
             %s: f64[3] = multiply(%x, 2.0)
             %y: f64[3] = loop %k < 2 {
               carry %a: f64[3] = %s
               given %c: f64[3] = %s
               %0: f64 = index(%c, 0, pattern=(ARRAY,))
               %1: f64 = add(%0, 1.0)
               %2: f64[3] = store(%a, %1, %k, pattern=(ARRAY,))
               next %2
             }
             return %y
           }""",
        [V],
    ),
    "two arrays change places": (
        """program f(%x: f64[3]) {
             %p: f64[3] = multiply(%x, 2.0)
             %q: f64[3] = multiply(%x, 3.0)
             %y: f64[3], %z: f64[3] = loop %k < 3 {
               carry %a: f64[3] = %p
               carry %b: f64[3] = %q
               %2: f64[3] = store(%a, 7.0, %k, pattern=(ARRAY,))
               next %b, %2
             }
             %w: f64[3] = add(%p, %q)
             return %y, %z, %w
           }""",
        [V],
    ),
    "two carried values begin as one": (
        """program f(%x: f64[3]) {
             %p: f64[3] = multiply(%x, 2.0)
             %y: f64[3], %z: f64[3] = loop %k < 3 {
               carry %a: f64[3] = %p
               carry %b: f64[3] = %p
               %0: f64 = index(%b, %k, pattern=(ARRAY,))
               %1: f64 = add(%0, 1.0)
               %2: f64[3] = store(%a, %1, 0, pattern=(ARRAY,))
               %3: f64[3] = add(%b, %2)
               next %2, %3
             }
             return %y, %z
           }""",
        [V],
    ),
    "the old array goes on in another variable": (
        """program f(%x: f64[3]) {
             %p: f64[3] = multiply(%x, 2.0)
             %y: f64[3], %z: f64[3] = loop %k < 3 {
               carry %a: f64[3] = %p
               carry %b: f64[3] = %x
               %2: f64[3] = store(%a, 7.0, %k, pattern=(ARRAY,))
               next %2, %a
             }
             return %y, %z
           }""",
        [V],
    ),
    "fibonacci": (
        """program f(%n: i64~) {
             %y: f64, %z: f64 = loop %k < %n {
               carry %a: f64 = f64(0.0)
               carry %b: f64 = f64(1.0)
               %0: f64 = add(%a, %b)
               next %b, %0
             }
             return %y, %z
           }""",
        [7],
    ),
    "what is kept is written to afterwards": (
        """program f(%x: f64[3]) {
             %p: f64[3] = multiply(%x, 2.0)
             %y: f64[3], %all: f64[3, 3], %sums: f64[3] = loop %k < 3 {
               carry %a: f64[3] = %p
               %0: f64 = sum(%a, axis=(0,))
               %2: f64[3] = store(%a, %0, %k, pattern=(ARRAY,))
               next %2
               yield %a, %0
             }
             return %y, %all, %sums
           }""",
        [V],
    ),
    "a loop that runs not once": (
        """program f(%x: f64[3], %n: i64~) {
             %y: f64[3], %all: f64[?, 3] = loop %k < %n {
               carry %a: f64[3] = %x
               %2: f64[3] = store(%a, 1.0, %k, pattern=(ARRAY,))
               next %2
               yield %a
             }
             return %y, %all
           }""",
        [V, 0],
    ),
    "nested loops": (
        """program f(%x: f64[2, 3]) {
             %y: f64[2, 3], %s.2: f64 = loop %i < 2 {
               carry %out: f64[2, 3] = f64[2, 3]([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
               carry %s: f64 = f64(0.0)
               given %x
               %0: f64[2, 3], %1: f64 = loop %j < 3 {
                 carry %out.1: f64[2, 3] = %out
                 carry %s.1: f64 = %s
                 given %x, %i
                 %2: f64 = index(%x, %i, %j, pattern=(ARRAY, ARRAY))
                 %3: f64 = add(%s.1, %2)
                 %4: f64[2, 3] = store(%out.1, %3, %i, %j, pattern=(ARRAY, ARRAY))
                 next %4, %3
               }
               next %0, %1
             }
             return %y, %s.2
           }""",
        [M],
    ),
    "while with stacked values": (
        """program f(%x: f64) {
             %y: f64, %a: f64[3], %count: i64~, %xs: f64[?], %as: f64[?, 3] = while {
               carry %x.1: f64 = %x
               carry %a.1: f64[3] = f64[3](0.0, 0.0, 0.0)
               test {
                 %0: bool = greater(%x.1, 1.0)
                 return %0
               }
               %1: f64 = multiply(%x.1, 0.5)
               %2: f64[3] = add_at(%a.1, %1, pattern=(:2,))
               next %1, %2
               yield %x.1, %a.1
             }
             return %y, %a, %count, %xs, %as
           }""",
        [np.float64(9.0)],
    ),
    "a test that needs statements": (
        """program f(%x: f64[3]) {
             %y: f64[3], %count: i64~ = while {
               carry %a: f64[3] = %x
               test {
                 %n: f64 = norm(%a, axis=(0,))
                 %0: bool = less(%n, 10.0)
                 %1: f64 = sum(%a, axis=(0,))
                 %2: bool = greater(%1, %n)
                 %3: bool = logical_not(%2)
                 %4: bool = logical_and(%0, %3)
                 return %4
               }
               %5: f64[3] = multiply(%a, 2.0)
               next %5
             }
             return %y, %count
           }""",
        [V],
    ),
    "cond with writes": (
        """program f(%x: f64[3], %t: f64) {
             %a: f64[3] = multiply(%x, 2.0)
             %p: bool = greater(%t, 0.0)
             %b: f64[3], %c: f64 = cond %p {
               given %a, %t
               then {
                 %0: f64[3] = store(%a, %t, pattern=(0,))
                 return %0, %t
               }
               else {
                 %1: f64 = multiply(%t, 3.0)
                 return %a, %1
               }
             }
             return %b, %c
           }""",
        [V, np.float64(2.0)],
    ),
    "cond that writes to what is needed": (
        """program f(%x: f64[3], %t: f64) {
             %a: f64[3] = multiply(%x, 2.0)
             %p: bool = greater(%t, 0.0)
             %b: f64[3] = cond %p {
               given %a, %t
               then {
                 %0: f64[3] = store(%a, %t, pattern=(0,))
                 return %0
               }
               else {
                 return %a
               }
             }
             %c: f64[3] = subtract(%a, %b)
             return %b, %c
           }""",
        [V, np.float64(2.0)],
    ),
    "a choice": (
        """program f(%x: f64, %t: f64) {
             %p: bool = greater(%t, 0.0)
             %b: f64 = cond %p {
               given %x, %t
               then { return %x }
               else { return %t }
             }
             return %b
           }""",
        [np.float64(1.0), np.float64(-2.0)],
    ),
    "lengths of run time": (
        """program f(%x: f64[3], %n: i64~) {
             %y: f64[?<=3] = index(%x, pattern=(:%n,))
             %m: i64~ = size(%y, axis=0)
             %i: i64[?<=3] = iota(n=%m)
             %z: f64[?<=3] = multiply(%y, %i)
             %w: f64[3] = store(%x, %z, pattern=(:%n,))
             %b: f64[?<=3] = broadcast_to(f64(2.0), shape=(%n,))
             %p: f64[4] = padded(%z, shape=(4,))
             %q: f64[?<=3] = index(%p, pattern=(:%n,))
             return %z, %w, %b, %q
           }""",
        [V, 2],
    ),
    "index arrays with repetitions": (
        """program f(%x: f64[3], %i: i64[4]) {
             %a: f64[4] = index(%x, %i, pattern=(ARRAY,))
             %b: f64[3] = add_at(%x, %a, %i, pattern=(ARRAY,))
             %c: f64[3] = store(%b, %a, %i, pattern=(ARRAY,))
             %0: f64[2, 3] = scatter(%a, %i, patterns=((0, ARRAY),), shape=(2, 3))
             return %a, %b, %c, %0
           }""",
        [V, np.array([0, 2, 0, -1])],
    ),
    "a condition that must hold": (
        """program f(%x: f64) {
             %0: bool = greater(%x, 0.0)
             require(%0, error='ValueError', message='x must be "positive"')
             %1: f64 = sqrt(%x)
             return %1
           }""",
        [np.float64(4.0)],
    ),
    "single precision stays single": (
        """program f(%x: f32[3], %t: f32) {
             %0: f32[3] = multiply(%x, 2.5)
             %1: f32[3] = add(%0, f32(0.1))
             %2: f32[3] = multiply(%1, %t)
             %3: f64[3] = multiply(%2, f64(3.0))
             %4: f64[3] = astype(%x, dtype=f64)
             %5: f32 = astype(%t, dtype=f32)
             return %2, %3, %4, %5
           }""",
        [V.astype(np.float32), np.float32(0.3)],
    ),
    "python's own numbers": (
        """program f(%k: i64~, %x: f32[3]) {
             %0: f64~ = divide(%k, 2)
             %1: f32[3] = multiply(%x, %0)
             %2: i64~ = subtract(%k, 1)
             %3: f64~ = divide(%k, %2)
             %4: f32[3] = multiply(%1, %3)
             %5: bool = less(%k, 3)
             %6: bool = logical_not(%5)
             %7: f32[3] = multiply(%x, %6)
             return %1, %4, %7
           }""",
        [5, V.astype(np.float32)],
    ),
    "operators and their precedence": (
        """program f(%a: f64[3], %b: f64[3], %c: f64[3]) {
             %0: f64[3] = subtract(%b, %c)
             %1: f64[3] = subtract(%a, %0)
             %2: f64[3] = negative(%1)
             %3: f64[3] = power(%2, 2)
             %4: f64[3] = multiply(%b, %c)
             %5: f64[3] = divide(%3, %4)
             %6: f64[3] = negative(%5)
             %7: f64[3] = power(2.0, %6)
             %8: f64[3] = power(%7, -1.0)
             %9: bool[3] = less(%8, %a)
             %10: bool[3] = greater(%b, 0.0)
             %11: bool[3] = logical_and(%9, %10)
             %12: bool[3] = logical_not(%11)
             %13: bool[3] = equal(%12, %10)
             %14: f64 = matmul(%a, %b)
             %15: f64[3] = multiply(%c, %14)
             %16: f64[3] = add(%15, %6)
             %17: f64[3] = subtract(-2.0, %16)
             return %13, %8, %17
           }""",
        [V, V + 2, V * V],
    ),
}
