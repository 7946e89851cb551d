"""What the planner and the emitters must know of each op: how it reads its operands.

The families of ops, seen from native code:

    elementwise   each element of the result from the elements at the same place of the operands
    views         the same elements under other indices: no work at all if the operand lies in memory
    everything else reads its operands in a way of its own, see `reads_each_once`
"""

from __future__ import annotations

import math

from wengert.ir.loops import LOOPS, loop_parts
from wengert.ir.node import Dyn, Node, Operand, Ref, Type
from wengert.ops.index import ARRAY, FLAG, explicit
from wengert.ops.traits import Cost, rearranges


def is_elementwise(node: Node) -> bool:
    return node.op.elementwise


def is_reduction(node: Node) -> bool:
    """Whether a node repeats an op of two operands along axes of its operands, in one pass."""
    return node.op.combine is not None and node.op.cost <= Cost.CHEAP


def is_basic_index(node: Node) -> bool:
    """Whether an `index` reads a strided part of its operand: ints, slices and integer scalars only."""
    return node.op.name == "index" and is_basic(node.params["pattern"], node.args[1:])


def is_basic(pattern: tuple, arrays: tuple[Operand, ...]) -> bool:
    return all(a.type.ndim == 0 and a.type.dtype.kind in "iu" for a in arrays) and is_supported(pattern)


def is_supported(pattern: tuple) -> bool:
    """Whether there is native code for a pattern: not for masks, nor for slices with a step that is a value."""
    return FLAG not in pattern and all(
        not isinstance(item, slice) or item.step is None or isinstance(item.step, int) for item in pattern
    )


def is_view(node: Node) -> bool:
    """Whether the result has the operand's elements under other indices."""
    return is_rearrangement(node) or is_identity(node) or is_basic_index(node)


def is_rearrangement(node: Node) -> bool:
    """Whether the result has the operand's elements at other places, which no operand names: `transpose`, `reshape`."""
    return rearranges(node.op)


def is_identity(node: Node) -> bool:
    """Whether the result is the operand, as it is."""
    return (
        node.op.elementwise
        and node.op.moves
        and len(node.args) == 1
        and node.args[0].type.dtype == node.outs[0].type.dtype
        and node.args[0].type.shape == node.outs[0].type.shape
    )


def without_ones(shape: tuple) -> tuple:
    return tuple([n for n in shape if n != 1])


def same_elements(a: Type, b: Type) -> bool:
    """Whether arrays of these types, broadcast against each other, are read element by element, each once."""
    return without_ones(a.shape) == without_ones(b.shape)


def reads_each_once(node: Node, k: int) -> bool:
    """Whether operand k is read in one pass, each element once, and may therefore be computed while it is read."""
    name, operand = node.op.name, node.args[k] if k < len(node.args) else node.sizes[k - len(node.args)]
    if name == "broadcast_to" or is_elementwise(node):
        return same_elements(operand.type, node.outs[0].type)
    if name == "weighted_sum":
        return same_elements(operand.type, node.args[1 - k].type)
    if is_rearrangement(node) or is_reduction(node) or node.op.one_pass:
        return True
    if name == "index":
        return k == 0 and is_basic_index(node)
    if node.op.writes:
        return k == 0 or (
            k == 1 and _fills(operand.type, node.args[0].type.ndim, node.params["pattern"], node.args[2:])
        )
    if name == "scatter":
        patterns = node.params["patterns"]
        basic = len(node.args) == len(patterns)
        return basic and k < len(patterns) and _fills(operand.type, node.outs[0].type.ndim, patterns[k], ())
    if name in LOOPS:
        parts = loop_parts(node)
        return 0 <= k - parts.first < parts.carried
    return False


def _fills(value: Type, ndim: int, pattern: tuple, arrays: tuple[Operand, ...]) -> bool:
    """Whether a value is written to a place without being broadcast."""
    if not is_basic(pattern, arrays) or 1 in value.shape:
        return False
    pattern = explicit(pattern, ndim)
    fixed = sum(item is ARRAY or item.__class__ is int or item.__class__ is Ref for item in pattern)
    return value.ndim == ndim - fixed + sum(item is None for item in pattern)


def element_bound(type: Type) -> int | None:
    """The largest number of elements a value of this type can have."""
    lengths = [n.bound if isinstance(n, Dyn) else n for n in type.shape]
    return None if None in lengths else math.prod(lengths)  # type: ignore[arg-type]


def byte_bound(type: Type) -> int | None:
    count = element_bound(type)
    return None if count is None else count * type.dtype.itemsize
