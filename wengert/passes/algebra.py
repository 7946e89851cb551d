"""Identities of arithmetic and logic that hold bit by bit.

Floating-point numbers obey few: x·1, x/1, x − 0.0 and x + (−0.0) are x, but x + 0.0 is not (−0.0 + 0.0 is 0.0), 0·x is
not 0 (x may be infinite), and of complex numbers not even x·1 is x (its parts are multiplied by 0 and added). Integers
obey all, also when they overflow. The result must have the type of what stands for it; so NumPy's promotion is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ir.analysis.keys import operand_key
from wengert.ir.analysis.regions import region_of
from wengert.ir.node import Const, Node, Operand, Type
from wengert.ops.op import TABLE
from wengert.passes.rewrite import const
from wengert.passes.scope import Rewritten, Scope, changed, zeros

_INTEGERS = "iu"
_REALS = "biuf"


def _is(value: Any, number: Any) -> bool:
    return value is not None and bool(value == number)


def _is_plus_zero(value: Any) -> bool:
    return _is(value, 0) and not _signs(value)[0] and not _signs(value)[1]


def _is_minus_zero(value: Any, kind: str) -> bool:
    if not _is(value, 0):
        return False
    real, imag = _signs(value)
    return real and (kind != "c" or (imag and isinstance(value, (complex, np.complexfloating))))


def _signs(value: Any) -> tuple[bool, bool]:
    return math.copysign(1, value.real) < 0, math.copysign(1, value.imag) < 0


def _same(x: Operand, y: Operand) -> bool:
    return x is y or operand_key(x) == operand_key(y)


def _with_constant(node: Node, scope: Scope) -> list[tuple[Operand, Any]]:
    """Operand and number, for each way to see a node as an op that commutes with a number."""
    x, y = node.args
    found = [(x, scope.uniform(y)), (y, scope.uniform(x))]
    # An array of one number has a shape, which counts: the result must have the type of the other operand.
    return [(a, number) for a, number in found if number is not None]


def _add(node: Node, scope: Scope) -> Rewritten:
    (out,) = node.outs
    kind = out.type.dtype.kind
    for x, number in _with_constant(node, scope):
        if x.type == out.type and (_is(number, 0) if kind in "biu" else _is_minus_zero(number, kind)):
            return (x,)
    for x, y in (node.args, node.args[::-1]):
        maker = scope.maker(y, "negative")
        if maker is not None and y.type.dtype.kind in "ifc":
            return changed(node, "subtract", (x, maker.args[0]))
    return _shifted(node, scope)


def _subtract(node: Node, scope: Scope) -> Rewritten:
    (out,) = node.outs
    x, y = node.args
    kind = out.type.dtype.kind
    number = scope.uniform(y)
    if x.type == out.type and (_is(number, 0) if kind in "biu" else _is_plus_zero(number)):
        return (x,)
    if kind in _INTEGERS and _same(x, y) and out.type.is_static:
        return zeros(node)
    maker = scope.maker(y, "negative")
    if maker is not None and y.type.dtype.kind in "ifc":
        return changed(node, "add", (x, maker.args[0]))
    maker = scope.maker(x, "add")
    if maker is not None and _is_python_int(out.type):  # (i + n) − i
        for a, b in (maker.args, maker.args[::-1]):
            if a is y and b.type == out.type:
                return (b,)
    return _shifted(node, scope)


def _is_python_int(type: Type) -> bool:
    return type.weak and type.dtype.kind == "i"


def _shifted(node: Node, scope: Scope) -> Rewritten:
    """(i + a) + b is i + (a + b), for Python's integers."""
    if not _is_python_int(node.outs[0].type):
        return None
    here = _shift(node)
    if here is None or (maker := scope.maker(here[0], "add", "subtract")) is None:
        return None
    inner = _shift(maker)
    if inner is None or not _is_python_int(inner[0].type) or not _is_python_int(here[0].type):
        return None
    total = here[1] + inner[1]
    return changed(node, "add", (inner[0], const(total))) if abs(total) < 2**62 else None


def _shift(node: Node) -> tuple[Operand, int] | None:
    """What a node adds to what, if it adds a Python int."""
    x, y = node.args
    if isinstance(y, Const) and y.value.__class__ is int:
        return x, y.value if node.op.name == "add" else -y.value
    if isinstance(x, Const) and x.value.__class__ is int and node.op.name == "add":
        return y, x.value
    return None


def _multiply(node: Node, scope: Scope) -> Rewritten:
    (out,) = node.outs
    kind = out.type.dtype.kind
    for x, number in _with_constant(node, scope):
        if x.type == out.type and kind in _REALS and _is(number, 1):
            return (x,)
        if x.type == out.type and kind in "if" and _is(number, -1):
            return Node(TABLE["negative"], (x,), {}, node.outs, (), node.source)
        if kind in "biu" and _is(number, 0) and out.type.is_static:
            return zeros(node)
        if _is_python_int(out.type) and number.__class__ is int and (maker := scope.maker(x, "multiply")) is not None:
            for i, a in (maker.args, maker.args[::-1]):
                if isinstance(a, Const) and a.value.__class__ is int and _is_python_int(i.type):
                    if abs(a.value * number) < 2**62:
                        return changed(node, args=(i, const(a.value * number)))
        if kind == "f" and x.type == out.type and (joined := _scaled_twice(x, number, scope)) is not None:
            return changed(node, args=joined)
    return None


def _scaled_twice(x: Operand, number: Any, scope: Scope) -> tuple[Operand, Operand] | None:
    """c·(p·z) as (c·p)·z, where p is ±2ᵏ, k ≥ 0, and |c| ≥ 1: p·z is exact, or both are infinite."""
    maker = scope.maker(x, "multiply")
    if maker is None or x.type.weak:
        return None
    real = x.type.dtype.type
    for z, power in _with_constant(maker, scope):
        if z.type == x.type and isinstance(power, _NUMBERS) and isinstance(number, _NUMBERS):
            with np.errstate(over="ignore"):
                c, p = real(number), real(power)
                product = c * p
            if abs(c) >= 1 and abs(p) >= 1 and math.frexp(abs(p))[0] == 0.5 and np.isfinite(product):
                return z, const(product)
    return None


_NUMBERS = (int, float, np.floating, np.integer)


def _divide(node: Node, scope: Scope) -> Rewritten:
    (out,) = node.outs
    x, y = node.args
    return (x,) if x.type == out.type and out.type.dtype.kind == "f" and _is(scope.uniform(y), 1) else None


def _floor_divide(node: Node, scope: Scope) -> Rewritten:
    (out,) = node.outs
    x, y = node.args
    return (x,) if x.type == out.type and out.type.dtype.kind in _INTEGERS and _is(scope.uniform(y), 1) else None


def _power(node: Node, scope: Scope) -> Rewritten:
    (out,) = node.outs
    x, y = node.args
    if x.type != out.type or out.type.dtype.kind not in "iuf":
        return None
    number = scope.uniform(y)
    if _is(number, 1):
        return (x,)
    if _is(number, 2) and x.type.shape:  # of one number, C's pow does not always round x² correctly
        return Node(TABLE["square"], (x,), {}, node.outs, (), node.source)
    return None


def _involution(node: Node, scope: Scope) -> Rewritten:
    """Twice is not at all."""
    maker = scope.maker(node.args[0], node.op.name)
    return _as_it_is(maker.args[0], node) if maker is not None and maker.params == node.params else None


def _as_it_is(x: Operand, node: Node) -> Rewritten:
    return (x,) if x.type == node.outs[0].type else None


def _real_as_it_is(node: Node, scope: Scope) -> Rewritten:
    """What does nothing to real numbers."""
    return _as_it_is(node.args[0], node) if node.args[0].type.dtype.kind in _REALS else None


def _absolute(node: Node, scope: Scope) -> Rewritten:
    x = node.args[0]
    if (maker := scope.maker(x, "absolute")) is not None and x.type == node.outs[0].type:
        return (x,)
    maker = scope.maker(x, "negative")
    return changed(node, args=maker.args) if maker is not None and maker.args[0].type.dtype.kind in "if" else None


def _idempotent(node: Node, scope: Scope) -> Rewritten:
    """x and x is x; of integers also (x and y) and y is x and y."""
    x, y = node.args
    if _same(x, y):
        return _as_it_is(x, node)
    if node.outs[0].type.dtype.kind in "biu":
        for a, b in (node.args, node.args[::-1]):
            maker = scope.maker(a, node.op.name)
            if maker is not None and any(_same(c, b) for c in maker.args):
                return _as_it_is(a, node)
    return None


def _logical(neutral: bool) -> Callable[[Node, Scope], Rewritten]:
    """`and` with True is the other; with False it is False. `or` the other way round."""

    def rule(node: Node, scope: Scope) -> Rewritten:
        (out,) = node.outs
        for x, number in _with_constant(node, scope):
            if x.type.dtype.kind != "b":
                continue
            if bool(number) is neutral:
                if x.type == out.type:
                    return (x,)
            elif not out.type.shape and not out.type.weak:
                return (const(np.bool_(not neutral)),)
        return _idempotent(node, scope) if node.args[0].type.dtype.kind == "b" else None

    return rule


def _where(node: Node, scope: Scope) -> Rewritten:
    (out,) = node.outs
    mask, x, y = node.args
    if _same(x, y) and x.type == out.type:
        return (x,)
    if (chooses := scope.uniform(mask)) is not None:
        chosen = x if chooses else y
        if chosen.type == out.type:
            return (chosen,)
        if chosen.type.dtype == out.type.dtype and out.type.is_static and out.type.shape:
            return Node(TABLE["broadcast_to"], (chosen,), {"shape": out.type.shape}, node.outs, (), node.source)
    maker = scope.maker(mask, "logical_not")
    return changed(node, args=(maker.args[0], y, x)) if maker is not None else None


def _compare(answer: bool) -> Callable[[Node, Scope], Rewritten]:
    """An integer compared with itself."""

    def rule(node: Node, scope: Scope) -> Rewritten:
        (out,) = node.outs
        x, y = node.args
        if x is y and x.type.dtype.kind in "biu" and not out.type.shape and not out.type.weak:
            return (const(np.bool_(answer)),)
        return None

    return rule


def _is_twice(x: Operand, y: Operand, scope: Scope) -> bool:
    """Whether two operands are one number, perhaps read twice at one place."""
    a, b = scope.maker(x, "index"), scope.maker(y, "index")
    if a is None or b is None:
        return _same(x, y)
    return region_of(a) == region_of(b) and _same(a.args[0], b.args[0]) and x.type == y.type


def _is_never_negative(x: Operand, scope: Scope, depth: int = 8) -> bool:
    """Whether a real floating-point number is surely not below zero; it may be NaN."""
    if isinstance(x, Const):
        return not np.ndim(x.value) and x.type.dtype.kind in _REALS and bool(x.value >= 0)
    maker = scope.maker(x)
    if maker is None or not depth or x.type.dtype.kind != "f":
        return False
    if any(a.type.dtype.kind not in _REALS for a in maker.args):
        return False
    name = maker.op.name
    if name in ("exp", "sqrt", "square", "absolute") or (
        name == "multiply" and _is_twice(maker.args[0], maker.args[1], scope)
    ):
        return True
    if name in ("add", "multiply"):
        return all(_is_never_negative(a, scope, depth - 1) for a in maker.args)
    return False


def _less(node: Node, scope: Scope) -> Rewritten:
    x, y = node.args
    (out,) = node.outs
    if not (out.type.shape or out.type.weak) and _is(scope.uniform(y), 0) and _is_never_negative(x, scope):
        return (const(np.bool_(False)),)
    return _compare(False)(node, scope)


RULES: dict[str, Callable[[Node, Scope], Rewritten]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "floor_divide": _floor_divide,
    "power": _power,
    "negative": _involution,
    "logical_not": lambda node, scope: (
        _involution(node, scope)
        if (maker := scope.maker(node.args[0], "logical_not")) and maker.args[0].type.dtype.kind == "b"
        else None
    ),
    "invert": _involution,
    "conjugate": lambda node, scope: _involution(node, scope) or _real_as_it_is(node, scope),
    "real": _real_as_it_is,
    "positive": lambda node, scope: _as_it_is(node.args[0], node),
    "absolute": _absolute,
    "maximum": _idempotent,
    "minimum": _idempotent,
    "fmax": _idempotent,
    "fmin": _idempotent,
    "bitwise_and": _idempotent,
    "bitwise_or": _idempotent,
    "logical_and": _logical(True),
    "logical_or": _logical(False),
    "where": _where,
    "equal": _compare(True),
    "less_equal": _compare(True),
    "greater_equal": _compare(True),
    "not_equal": _compare(False),
    "less": _less,
    "greater": _compare(False),
}
"""By op, the rule that may concern it."""
