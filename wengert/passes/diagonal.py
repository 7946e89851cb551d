"""Products with matrices that are zero off the diagonal.

A Jacobian is computed with all unit vectors at once. So the first matrices of its program are the identity, and what
elementwise work makes of it: multiples of rows and columns. A product with one of them takes n times as long as
scaling the other factor, which is all it comes to:

    matmul(D, K)      becomes      cond(all numbers are finite, diagonal(D)[:, None] * K, matmul(D, K))

Where something is infinite or NaN, the zeros off the diagonal are no longer neutral, and the product is what it was.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wengert.ir.node import Block, Const, Node, Operand, Type, Var
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE
from wengert.passes.scope import Rewritten, Scope

SMALLEST = 16
"""Rows. Products of smaller matrices take no time."""

_DEEPEST = 20

_BOOL, _INT = np.dtype(bool), np.dtype(np.int64)


def _is_diagonal(operand: Operand, scope: Scope, depth: int = 0) -> bool:
    """Whether a matrix is zero off the diagonal wherever it is finite."""
    if isinstance(operand, Const):
        value = operand.value
        return isinstance(value, np.ndarray) and not np.any(value[~np.eye(len(value), dtype=bool)])
    maker = scope.maker(operand)
    if maker is None or depth > _DEEPEST or not maker.op.elementwise:
        return False
    parts = [a for a in maker.args if a.type.shape == operand.type.shape]
    name = maker.op.name
    if name == "multiply":
        return any(_is_diagonal(a, scope, depth + 1) for a in parts)
    if name == "divide":
        return maker.args[0] in parts and _is_diagonal(maker.args[0], scope, depth + 1)
    if name in ("negative", "add", "subtract"):
        return len(parts) == len(maker.args) and all(_is_diagonal(a, scope, depth + 1) for a in parts)
    return False


def _matmul(node: Node, scope: Scope) -> Rewritten:
    """A product with a diagonal matrix, unless something is not finite."""
    (out,) = node.outs
    dtype = out.type.dtype
    if dtype.kind != "f" or any(a.type.ndim != 2 or a.type.dtype != dtype or not a.type.is_static for a in node.args):
        return None
    for left in (True, False):
        diagonal, other = node.args if left else node.args[::-1]
        n = diagonal.type.shape[0]
        if diagonal.type.shape != (n, n) or n < SMALLEST or not _is_diagonal(diagonal, scope):  # type: ignore[operator]
            continue
        if isinstance(other, Const):
            continue
        return _unless_something_is_infinite(node, scope, diagonal, other, left)
    return None


def _unless_something_is_infinite(
    node: Node, scope: Scope, diagonal: Operand, other: Operand, left: bool
) -> Rewritten:  # fmt: skip
    (out,), n = node.outs, diagonal.type.shape[0]
    is_finite: Operand | None = None
    for value in (diagonal, other):
        if isinstance(value, Const):
            continue
        each = scope.new("isfinite", (value,), {}, Type(value.type.shape, _BOOL), node.source)
        all_ = scope.new("all", (each,), {"axis": (0, 1)}, Type((), _BOOL), node.source)
        if is_finite is None:
            is_finite = all_
        else:
            is_finite = scope.new("logical_and", (is_finite, all_), {}, Type((), _BOOL), node.source)
    assert is_finite is not None
    d, k, scaled = Var(diagonal.type), Var(other.type), Var(out.type)
    rows, factors = Var(Type((n,), _INT)), Var(Type((n,), out.type.dtype))
    then = [
        Node(TABLE["iota"], (), {"n": n}, (rows,), (), node.source),
        Node(TABLE["index"], (d, rows, rows), {"pattern": (ARRAY, ARRAY)}, (factors,), (), node.source),
    ]
    by: Operand = factors
    if left:
        by = Var(Type((n, 1), out.type.dtype))
        then.append(Node(TABLE["reshape"], (factors,), {"shape": (n, 1)}, (by,), (), node.source))
    then.append(Node(TABLE["multiply"], (by, k), {}, (scaled,), (), node.source))
    e, m, whole = Var(diagonal.type), Var(other.type), Var(out.type)
    # Another name for the product, so that the rule does not look at it again.
    product = {"subscripts": "ij,jk->ik"}
    orelse = [Node(TABLE["einsum"], (e, m) if left else (m, e), product, (whole,), (), node.source)]
    params = {"then": Block([d, k], then, [scaled]), "orelse": Block([e, m], orelse, [whole])}
    return Node(TABLE["cond"], (is_finite, diagonal, other), params, node.outs, (), node.source)


RULES: dict[str, Callable[[Node, Scope], Rewritten]] = {"matmul": _matmul}
"""By op, the rule that may concern it."""
