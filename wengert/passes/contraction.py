"""Identities of contractions: sums of products are brought into the order in which they take the least work.

They hold for exact numbers; of floating-point numbers they change the order in which terms are added, as BLAS and
`np.einsum(..., optimize=True)` do. So they are said of floating-point and complex numbers only where a sum is involved
anyway, and integers obey all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from wengert.ir.node import Node, Operand, Type, Var
from wengert.passes.scope import Rewritten, Scope, changed

_MOST = 5
"""So many factors at most: all orders of products are looked at."""


def _terms(node: Node) -> tuple[list[str], str]:
    left, result = node.params["subscripts"].split("->")
    return left.split(","), result


def _sizes(terms: list[str], args: tuple[Operand, ...]) -> dict[str, int] | None:
    """The length of each letter; `None` if one is not known, or lengths of one broadcast."""
    sizes: dict[str, int] = {}
    for letters, a in zip(terms, args, strict=True):
        for c, n in zip(letters, a.type.shape, strict=True):
            if n.__class__ is not int or sizes.setdefault(c, n) != n:
                return None
    return sizes


def _einsum(node: Node, scope: Scope) -> Rewritten:
    terms, result = _terms(node)
    (out,) = node.outs
    sizes = _sizes(terms, node.args)
    if sizes is None or 0 in sizes.values() or any(len(set(t)) != len(t) for t in (*terms, result)):
        return None
    if any(a.type.dtype != out.type.dtype for a in node.args) or out.type.dtype.kind not in "fc":
        return None
    if len(node.args) == 1:
        return None
    alone = _summed_alone(node, terms, result, sizes, scope)
    if alone is not None:
        return alone
    if len(node.args) > 2:
        return _pairwise(node, terms, result, sizes, scope) if len(node.args) <= _MOST else None
    if len(node.args) == 2 and set(result) == set(terms[0]) | set(terms[1]):
        return _elementwise(node, terms, result, sizes, scope)
    return None


def _summed_alone(
    node: Node, terms: list[str], result: str, sizes: dict[str, int], scope: Scope
) -> Rewritten:  # fmt: skip
    """A letter that one factor alone has, and that is summed, is summed in that factor before."""
    args = list(node.args)
    found = list(terms)
    for k, own in enumerate(terms):
        elsewhere = set(result).union(*[t for j, t in enumerate(terms) if j != k])
        axes = tuple([i for i, c in enumerate(own) if c not in elsewhere])
        if axes:
            found[k] = "".join([c for c in own if c in elsewhere])
            type = Type(tuple([sizes[c] for c in found[k]]), args[k].type.dtype)
            args[k] = scope.new("sum", (args[k],), {"axis": axes, "keepdims": False}, type, node.source)
    if found == terms:
        return None
    return changed(node, args=args, params={"subscripts": ",".join(found) + "->" + result})


def _pairwise(
    node: Node, terms: list[str], result: str, sizes: dict[str, int], scope: Scope
) -> Rewritten:  # fmt: skip
    """A product of many factors as products of two, in the order that takes the fewest multiplications."""
    _, order = _best(tuple(terms), result, sizes)
    args, terms = list(node.args), list(terms)
    for i, j in order[:-1]:
        new = _joint(terms, i, j, result)
        type = Type(tuple([sizes[c] for c in new]), node.outs[0].type.dtype)
        params = {"subscripts": f"{terms[i]},{terms[j]}->{new}"}
        made = scope.new("einsum", (args[i], args[j]), params, type, node.source)
        args = [a for k, a in enumerate(args) if k not in (i, j)] + [made]
        terms = [t for k, t in enumerate(terms) if k not in (i, j)] + [new]
    return changed(node, args=args, params={"subscripts": ",".join(terms) + "->" + result})


def _joint(terms: list[str] | tuple[str, ...], i: int, j: int, result: str) -> str:
    """The letters of the product of two factors: those that are summed later first, then those of the result."""
    others = set(result).union(*[t for k, t in enumerate(terms) if k not in (i, j)])
    letters = [c for c in dict.fromkeys(terms[i] + terms[j]) if c in others]
    return "".join([c for c in letters if c not in result] + [c for c in letters if c in result])


def _best(terms: tuple[str, ...], result: str, sizes: dict[str, int]) -> tuple[int, list[tuple[int, int]]]:
    """The least work for a product, and in which order: pairs of positions, whose product comes to the end.

    All orders are looked at. `np.einsum_path` counts a sum twice and does not look where nothing is summed: of random
    products every eighth would take more multiplications, and none fewer.
    """
    found: tuple[int, list[tuple[int, int]]] | None = None
    for i, j in itertools.combinations(range(len(terms)), 2):
        new = result if len(terms) == 2 else _joint(terms, i, j, result)
        work = math.prod([sizes[c] for c in set(terms[i] + terms[j])])
        rest: list[tuple[int, int]] = []
        if len(terms) > 2:
            more, rest = _best((*[t for k, t in enumerate(terms) if k not in (i, j)], new), result, sizes)
            work += more
        if found is None or work < found[0]:
            found = work, [(i, j), *rest]
    assert found is not None
    return found


def _elementwise(
    node: Node, terms: list[str], result: str, sizes: dict[str, int], scope: Scope
) -> Rewritten:  # fmt: skip
    """A product without a sum is a multiplication of arrays that broadcast."""
    args = []
    for letters, a in zip(terms, node.args, strict=True):
        wanted = [c for c in result if c in letters]
        axes = tuple([letters.index(c) for c in wanted])
        if axes != tuple(range(len(axes))):
            type = Type(tuple([sizes[c] for c in wanted]), a.type.dtype)
            a = scope.new("transpose", (a,), {"axes": axes}, type, node.source)
        shape = tuple([sizes[c] if c in letters else 1 for c in result])
        if shape != a.type.shape:
            a = scope.new("reshape", (a,), {"shape": shape}, Type(shape, a.type.dtype), node.source)
        args.append(a)
    return changed(node, "multiply", args, {})


def _sum(node: Node, scope: Scope) -> Rewritten:
    """A sum of a contraction is a contraction; a sum of negated numbers is negated, and one of doubled numbers doubled
    (as exactly: the derivative of a square adds a number to itself)."""
    (x,), (out,) = node.args, node.outs
    axis = node.params.get("axis")
    if not isinstance(x, Var) or out.type.dtype != x.type.dtype or x.type.dtype.kind not in "fc":
        return None
    if node.params.get("keepdims") or not x.type.is_static or 0 in x.type.shape or node.sizes or axis == ():
        return None
    maker = scope.maker(x, "add")
    if maker is not None and maker.args[0] is maker.args[1] and maker.args[0].type == x.type:
        total = Var(out.type)
        scope.add(Node(node.op, maker.args[:1], node.params, (total,), (), node.source))
        return changed(node, "add", (total, total), {})
    if scope.uses[x] > 1:
        return None
    maker = scope.maker(x, "negative")
    if maker is not None:
        total = Var(out.type)
        scope.add(Node(node.op, maker.args, node.params, (total,), (), node.source))
        return changed(node, "negative", (total,), {})
    maker = scope.maker(x, "einsum")
    if maker is None or len(maker.args) < 2:
        return None
    terms, result = _terms(maker)
    if _sizes(terms, maker.args) is None or len(set(result)) != len(result):
        return None
    axes = range(x.type.ndim) if axis is None else [a % x.type.ndim for a in axis]
    left = "".join([c for k, c in enumerate(result) if k not in axes])
    return changed(node, "einsum", maker.args, {"subscripts": ",".join(terms) + "->" + left})


RULES: dict[str, Callable[[Node, Scope], Rewritten]] = {"einsum": _einsum, "sum": _sum}
"""By op, the rule that may concern it."""
