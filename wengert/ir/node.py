"""The program as data: what the IR is made of.

A `Program` is a `Block` with a name. A block has parameters, nodes and results; it is closed: everything it uses is a
parameter, a result of an earlier node of its own, or a constant. A node applies one op of the table to operands and
has one `Var` per result. Ops that hold code (loop, while, cond, call; see `control/`) have blocks among their
parameters; they are nodes like all others.

    %3: f64[10] = multiply(%1, 2.0)                                  # file.py:12

Values are functional: no node changes an operand. `store` and `add_at` give new arrays; the backend writes in place
where nobody needs the old one any more.

**Types.** A `Type` is a shape, a dtype, and whether the value is weak, as Python's own numbers are when NumPy promotes
them. An axis whose length is known only at run time is a `Dyn`, with the largest length it can have, if that is known.
Array values carry their lengths with them; `size(x, axis=k)` reads one.

**Parameters of ops** may depend on values of the program: a slice bound, a length in `shape=`. There, in the node's
`params`, stands a `Ref(k)` (in place of an int, at any depth of tuples and slices), which means: the integer value of
`node.sizes[k]`.

This file holds the data only. `build.py` makes programs, `show.py` prints them, `parse.py` reads them back, `check.py`
says whether they are well formed, `interpret.py` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert.ops.op import Op


class Dyn(NamedTuple):
    """The length of an axis that is known only at run time; `bound` is the largest it can be, `None` if unknown."""

    bound: int | None = None


class Ref(NamedTuple):
    """In the parameters of a node: the value of `node.sizes[k]`."""

    k: int


class Type(NamedTuple):
    """The type of a value.

    >>> Type((3, Dyn(5)), np.dtype(float))
    f64[3, ?<=5]
    """

    shape: tuple[int | Dyn, ...]
    dtype: np.dtype
    weak: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        for n in self.shape:  # noqa: SIM110  (asked very often)
            if n.__class__ is not int:
                return False
        return True

    def __repr__(self) -> str:
        lengths = [str(n) if n.__class__ is int else f"?<={n.bound}" if n.bound is not None else "?"  # type: ignore[union-attr]
                   for n in self.shape]  # fmt: skip
        name = f"{self.dtype.kind}{8 * self.dtype.itemsize}" if self.dtype.kind != "b" else "bool"
        return name + ("~" if self.weak else "") + (f"[{', '.join(lengths)}]" if lengths else "")


class Var:
    """A value of the program: a parameter of a block or a result of a node. It is what it is by identity.

    `hint` is the name the user gave it, if any: for people who read the program, of no meaning otherwise. `span` is the
    smallest and the largest value that an integer can have, as far as known. It is `stable` if no loop around changes
    it. `order` is how NumPy would lay it out in memory (`orders.py`), while a program is captured. It is `mixed` if
    it is a float that stands for an integer of Python's in some cases, and `either` if it stands for a number of
    Python's in some cases and for one of NumPy's in others. It is `demanded` if the user's own code computes
    it, so that what is raised there must be raised though nobody may use it (`passes/keep_raising.py`).
    """

    __slots__ = ("demanded", "either", "hint", "mixed", "order", "span", "stable", "type")

    def __init__(
        self,
        type: Type,
        hint: str | None = None,
        span: tuple[int | None, int | None] | None = None,
        stable: bool = True,
    ):
        self.type = type
        self.hint = hint
        self.span = span
        self.stable = stable
        self.order: Any = None
        self.mixed = False
        self.demanded = False
        self.either = False

    def __repr__(self) -> str:
        return f"%{self.hint or hex(id(self))[-5:]}: {self.type}"


class Const:
    """A constant operand: a Python number (weak), a NumPy scalar, or an array, which must not be written to."""

    __slots__ = ("type", "value")

    def __init__(self, value: Any, type: Type):
        self.value = value
        self.type = type

    def __repr__(self) -> str:
        return f"{self.value!r}" if not self.type.shape else f"<{self.type}>"


Operand = Var | Const


class Source(NamedTuple):
    """A place in the user's source."""

    file: str
    line: int


class Node:
    """One operation. Like all of a program, it is never changed: `blocks` are those among its parameters, in the order
    of the parameters' names."""

    __slots__ = ("args", "blocks", "op", "outs", "params", "sizes", "source")

    def __init__(
        self,
        op: Op,
        args: tuple[Operand, ...],
        params: dict[str, Any],
        outs: tuple[Var, ...],
        sizes: tuple[Operand, ...] = (),
        source: Source | None = None,
    ):
        self.op = op
        self.args = args
        self.params = params
        self.outs = outs
        self.sizes = sizes
        self.source = source
        self.blocks: tuple[Block, ...] = ()
        for p in params.values():
            if p.__class__ is Block:
                self.blocks = tuple([p for _, p in sorted(params.items()) if p.__class__ is Block])
                break

    def __repr__(self) -> str:
        return f"{', '.join(map(repr, self.outs))} = {self.op.name}({', '.join(map(repr, self.args))})"


class Block:
    """Parameters, nodes in order, results. See the module's text."""

    __slots__ = ("__weakref__", "derived", "nodes", "params", "results")

    def __init__(self, params: list[Var], nodes: list[Node], results: list[Operand]):
        self.params = params
        self.nodes = nodes
        self.results = results
        self.derived: dict[Any, Any] = {}
        """What others have made of this block (its derivatives, native code): they need not be made twice."""


class Program:
    """A block with a name: what `jit` compiles."""

    __slots__ = ("block", "name")

    def __init__(self, name: str, block: Block):
        self.name = name
        self.block = block


def map_refs(params: Any, function: Callable[[Ref], Any]) -> Any:
    """Parameters with every `Ref` in them, at any depth, replaced.

    >>> map_refs({"pattern": (slice(None, Ref(0)), 1)}, lambda ref: 7)
    {'pattern': (slice(None, 7, None), 1)}
    """
    return map_data(params, lambda p: function(p) if p.__class__ is Ref else p)


def map_data(data: Any, function: Callable[[Any], Any]) -> Any:
    """Data with what is in tuples, slices and dicts, at any depth, replaced by what the function makes of it."""
    kind = data.__class__
    if kind is tuple or kind is list:
        return tuple([map_data(d, function) for d in data])
    if kind is slice:
        return slice(*[map_data(d, function) for d in (data.start, data.stop, data.step)])
    if kind is dict:
        return {k: map_data(d, function) for k, d in data.items()}
    return function(data)


def all_nodes(block: Block) -> Iterator[Node]:
    """The nodes of a block and of the blocks inside it, outer ones first."""
    stack = [iter(block.nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            continue
        yield node
        for inner in node.blocks:
            stack.append(iter(inner.nodes))
