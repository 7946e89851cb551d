"""What a block is, in a few bytes: programs with the same digest compute the same, fault for fault.

Everything that code may come to depend on goes in, in full: ops, operands, parameters, types, what is known of the
range of integers, the bits of all constants, and the lines of the user's source, which messages name. The names of
values do not: they are for people. A block with a parameter that is no data (a function, a sparse matrix) has no
digest.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np

from wengert.backend.llvm.machine import poison
from wengert.ir.node import Block, Const, Dyn, Node, Operand, Ref, Type, Var
from wengert.ops.choice import choice
from wengert.ops.index import ARRAY, FLAG
from wengert.ops.op import TABLE

_LARGE = 256
"""Bytes of more constants than this go in as a digest of their own."""


class _NotData(Exception):
    """Something that cannot be told apart by its contents."""


def digest(block: Block) -> bytes | None:
    """The digest of a block, or `None` if it has none.

    >>> x = Var(Type((3,), np.dtype(float)), hint="x")
    >>> y = Var(Type((3,), np.dtype(float)), hint="y")
    >>> digest(Block([x], [], [x])) == digest(Block([y], [], [y]))
    True
    """
    try:
        said = (choice.kinks, choice.ties, poison.is_on(), _Blocks().block(block))
    except _NotData:
        return None
    # Nested tuples of numbers, texts and bytes only: what is printed can be read in one way.
    return hashlib.blake2b(repr(said).encode("utf-8", "surrogatepass"), digest_size=32).digest()


class _Blocks:
    """Blocks as plain data; one that occurs again is named by its number."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def block(self, block: Block) -> tuple:
        number = self._numbers.get(id(block))
        if number is not None:
            return ("again", number)
        self._numbers[id(block)] = len(self._numbers)
        values: dict[Var, int] = {}
        params = [_defined(v, values) for v in block.params]
        nodes = [self._node(node, values) for node in block.nodes]
        return (params, nodes, [_operand(r, values) for r in block.results])

    def _node(self, node: Node, values: dict[Var, int]) -> tuple:
        if TABLE.get(node.op.name) is not node.op:
            raise _NotData
        source = node.source
        args = [_operand(a, values) for a in node.args]
        sizes = [_operand(s, values) for s in node.sizes] if node.sizes else ()
        params = [(key, self._data(p)) for key, p in sorted(node.params.items())] if node.params else ()
        outs = [_defined(v, values) for v in node.outs]
        return (node.op.name, args, params, sizes, outs, source and (str(source.file), int(source.line)))

    def _data(self, value: Any) -> Any:
        kind = value.__class__
        if kind is tuple or kind is list:
            return (kind.__name__, [self._data(v) for v in value])
        if kind is Block:
            return ("block", self.block(value))
        if kind is slice:
            return ("slice", [self._data(v) for v in (value.start, value.stop, value.step)])
        if kind is dict and all(key.__class__ is str for key in value):
            return ("dict", [(key, self._data(v)) for key, v in value.items()])
        if kind is Ref:
            return ("ref", int(value.k))
        if kind is Dyn:
            return ("dyn", _number(value.bound))
        if kind is Type:
            return ("type", _type(value))
        return _constant(value)


def _defined(v: Var, values: dict[Var, int]) -> tuple:
    values[v] = len(values)
    return (_type(v.type), v.span and [_number(end) for end in v.span], bool(v.stable), bool(v.demanded))


def _type(type: Type) -> tuple:
    dtype = type.dtype
    shape = [("dyn", _number(n.bound)) if isinstance(n, Dyn) else int(n) for n in type.shape]
    return (shape, dtype.char, dtype.str, bool(type.weak))


def _number(n: Any) -> int | None:
    return None if n is None else int(n)


def _operand(operand: Operand, values: dict[Var, int]) -> Any:
    if isinstance(operand, Const):
        return (_type(operand.type), _constant(operand.value))
    number = values.get(operand)
    if number is None:
        raise _NotData  # a block that is not closed
    return number


def _constant(value: Any) -> Any:
    kind = value.__class__
    if kind is float:
        return ("float", struct.pack("<d", value))
    if kind is complex:
        return ("complex", struct.pack("<2d", value.real, value.imag))
    if value is None or kind is int or kind is bool or kind is str:
        return value
    if kind is np.ndarray or isinstance(value, np.generic):
        dtype = value.dtype
        if dtype.kind not in "biufc":
            raise _NotData
        data = value.tobytes()
        if len(data) > _LARGE:
            data = hashlib.blake2b(data, digest_size=32).digest()
        return ("array" if kind is np.ndarray else "scalar", dtype.char, dtype.str, value.shape, data)
    if isinstance(value, np.dtype) and value.kind in "biufc":
        return ("dtype", value.char, value.str)
    if value is Ellipsis:
        return ("...",)
    if value is ARRAY or value is FLAG:
        return ("mark", value.name)
    raise _NotData
