"""Parameters of ops as plain data, and back: what a node needs to be made again in another process.

What JSON has stands for itself; everything else is an object with one entry, whose name says what it is. What is no
data raises `NotPlain`.
"""

from __future__ import annotations

import base64
import struct
from typing import Any

import numpy as np

from wengert.ir.node import Const, Dyn, Node, Ref, Type, Var
from wengert.ops.index import ARRAY, FLAG
from wengert.ops.op import TABLE


class NotPlain(Exception):
    """Something that is no data."""


def as_plain(value: Any) -> Any:
    """A parameter, or a constant, as JSON has it.

    >>> as_plain((1, slice(None, Ref(0)), ARRAY))
    {'tuple': [1, {'slice': [None, {'ref': 0}, None]}, {'mark': 'ARRAY'}]}
    """
    kind = value.__class__
    if value is None or kind is bool or kind is int or kind is str:
        return value
    if kind is float:
        return {"float": struct.pack("<d", value).hex()}
    if kind is complex:
        return {"complex": struct.pack("<2d", value.real, value.imag).hex()}
    if kind is tuple or kind is list:
        return {kind.__name__: [as_plain(v) for v in value]}
    if kind is dict and all(key.__class__ is str for key in value):
        return {"dict": [[key, as_plain(v)] for key, v in value.items()]}
    if kind is slice:
        return {"slice": [as_plain(v) for v in (value.start, value.stop, value.step)]}
    if kind is Ref:
        return {"ref": value.k}
    if isinstance(value, np.dtype) and value.kind in "biufc":
        return {"dtype": value.char}
    if value is Ellipsis:
        return {"ellipsis": None}
    if value is ARRAY or value is FLAG:
        return {"mark": value.name}
    if (kind is np.ndarray or isinstance(value, np.generic)) and value.dtype.kind in "biufc" and value.dtype.isnative:
        text = base64.b64encode(value.tobytes()).decode("ascii")
        return {"array" if kind is np.ndarray else "scalar": [value.dtype.char, list(value.shape), text]}
    raise NotPlain


def from_plain(data: Any) -> Any:
    """What `as_plain` was given."""
    if data.__class__ is not dict:
        return data
    ((kind, inside),) = data.items()
    return _READERS[kind](inside)


def _array(inside: list) -> np.ndarray:
    char, shape, text = inside
    found = np.frombuffer(base64.b64decode(text), np.dtype(char)).reshape(shape).copy()
    found.flags.writeable = False
    return found


_READERS: dict[str, Any] = {
    "float": lambda text: struct.unpack("<d", bytes.fromhex(text))[0],
    "complex": lambda text: complex(*struct.unpack("<2d", bytes.fromhex(text))),
    "tuple": lambda inside: tuple([from_plain(v) for v in inside]),
    "list": lambda inside: [from_plain(v) for v in inside],
    "dict": lambda inside: {key: from_plain(v) for key, v in inside},
    "slice": lambda inside: slice(*[from_plain(v) for v in inside]),
    "ref": Ref,
    "dtype": np.dtype,
    "ellipsis": lambda _: Ellipsis,
    "mark": {"ARRAY": ARRAY, "FLAG": FLAG}.__getitem__,
    "array": _array,
    "scalar": lambda inside: _array(inside)[()],
}


def type_as_plain(type: Type) -> list[Any]:
    """A type as JSON has it."""
    return [[n if isinstance(n, int) else [n.bound] for n in type.shape], type.dtype.char, type.weak]


def type_from_plain(data: list[Any]) -> Type:
    """What `type_as_plain` was given."""
    shape, char, weak = data
    return Type(tuple([n if isinstance(n, int) else Dyn(n[0]) for n in shape]), np.dtype(char), weak)


def node_as_plain(node: Node) -> dict[str, Any]:
    """A node without blocks: its op by name, constants, types of all else."""
    if TABLE.get(node.op.name) is not node.op:
        raise NotPlain
    return {
        "op": node.op.name,
        "args": [
            [type_as_plain(a.type), {"constant": as_plain(a.value)} if isinstance(a, Const) else None]
            for a in node.args
        ],
        "params": as_plain(node.params),
        "sizes": [type_as_plain(s.type) for s in node.sizes],
        "outs": [type_as_plain(v.type) for v in node.outs],
    }


def node_from_plain(data: dict[str, Any]) -> Node:
    """A node like the one that `node_as_plain` was given."""
    args = [
        Var(type_from_plain(t)) if c is None else Const(from_plain(c["constant"]), type_from_plain(t))
        for t, c in data["args"]
    ]
    outs, sizes = [[Var(type_from_plain(t)) for t in data[key]] for key in ("outs", "sizes")]
    return Node(TABLE[data["op"]], tuple(args), from_plain(data["params"]), tuple(outs), tuple(sizes))
