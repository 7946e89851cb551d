"""The printed form of a program, for people; `parse.py` reads it back.

    program mean_square(%x: f64[8], %n: i64) {
      %total: f64 = loop %k < %n {                          # example.py:3
        carry %s: f64 = f64(0.0)
        given %x
        %0: f64 = index(%x, %k, pattern=(ARRAY,))           # 4
        %1: f64 = multiply(%0, %0)                          # 4
        %2: f64 = add(%s, %1)                               # 4
        next %2
      }
      %3: f64 = divide(%total, 8)                           # 5
      return %3
    }

One line per node: results with their types, op, operands, parameters by name. A value of the program that stands in a
parameter (a `Ref`) is written where it stands: `pattern=(:, ARRAY, %lo:%hi)`. Names come from the user's source where
there are any, `%s.1` is the second `s`, and every name is given once; only a value that is handed into a block as it is
keeps its name there (`given %x`). The numbers at the right are lines of the source; the file is named where it changes.

Blocks of loop, while, cond and call say how their parameters begin: `carry` those that change from one iteration to the
next (`next` are their new values, `yield` what each iteration puts on a stack), `given` those that do not. Any other op
with blocks, and one of these that is not well formed, has them in the general form, `name(parameters) { …; return … }`.

Large constants stand at the end, as bytes. What is no data (a function, a sparse matrix) is shown as `<csr_array 0>`;
`objects_of` says what these are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.ir.literal import (
    INLINE,
    array_text,
    bytes_text,
    dtype_name,
    element_text,
    is_exact,
    is_uniform,
    number_text,
)
from wengert.ir.node import Block, Const, Node, Operand, Program, Ref, Source, Type, Var
from wengert.ops.index import ARRAY, FLAG
from wengert.types import SCALARS

COUNTER = Type((), np.dtype(np.int64), True)
"""The type of what counts the iterations of a loop: a Python int."""

_WIDEST = 100
"""Source lines stand in one column behind the longest line, not counting lines longer than this."""

Names = dict[Var, str]


def show(program: Program | Block) -> str:
    """The text of a program or block."""
    return _printed(program).text()


def objects_of(program: Program | Block) -> dict[str, Any]:
    """The parameters that are no data, by what stands for them in the text: what `parse` must be told."""
    return dict(_printed(program).objects.values())


def show_node(program: Program | Block, node: Node) -> str:
    """The line of one node, as it stands in the text of the program."""
    printer = _printed(program)
    return next((line.text.strip() for line in printer.lines if line.node is node), repr(node))


def names_of(program: Program | Block) -> Names:
    """The name that each value has in the text (its first one, if a block is there twice)."""
    return _printed(program).everyone


class _Line(NamedTuple):
    text: str
    node: Node | None = None


class _Printer:
    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self.everyone: Names = {}
        self.objects: dict[int, tuple[str, Any]] = {}
        self._arrays: dict[int, tuple[str, np.ndarray]] = {}
        self._used: dict[str, int] = {}
        self._unnamed = 0

    # -------------------------------------------------------------------------------------------------- whole texts

    def program(self, program: Program | Block) -> None:
        if isinstance(program, Program):
            block, title = program.block, f"program {_word(program.name)}"
        else:
            block, title = program, "block "
        names: Names = {}
        self._add(0, f"{title}({self._parameters(block.params, names)}) {{")
        self._nodes(block, names, 1)
        self._add(1, self._listed("return", block.results, names))
        self._add(0, "}")
        if self._arrays:
            self._add(0, "constants {")
            for label, array in self._arrays.values():
                self._add(1, f"{label}: {Type(array.shape, array.dtype)} =")
                for text in bytes_text(array):
                    self._add(2, f"'{text}'")
            self._add(0, "}")

    def text(self) -> str:
        lengths = [len(line.text) for line in self.lines if line.node is not None and line.node.source is not None]
        column = max([n for n in lengths if n <= _WIDEST], default=0) + 2
        file = None
        lines = []
        for text, node in self.lines:
            if node is not None and node.source is not None:
                source = node.source
                place = str(source.line) if source.file == file else f"{_file(source)}:{source.line}"
                file = source.file
                text = f"{text:<{column - 2}}  # {place}"
            lines.append(text)
        return "\n".join(lines) + "\n"

    def _add(self, indent: int, text: str, node: Node | None = None) -> None:
        self.lines.append(_Line("  " * indent + text, node))

    # -------------------------------------------------------------------------------------------------------- names

    def _define(self, var: Var, names: Names) -> str:
        hint = re.sub(r"\W", "_", var.hint or "", flags=re.ASCII)
        if not hint:
            name, self._unnamed = f"%{self._unnamed}", self._unnamed + 1
        else:
            if hint[0].isdigit():
                hint = "_" + hint
            count = self._used.get(hint, 0)
            self._used[hint] = count + 1
            name = f"%{hint}.{count}" if count else f"%{hint}"
        return self._name(var, name, names)

    def _name(self, var: Var, name: str, names: Names) -> str:
        names[var] = name
        self.everyone.setdefault(var, name)
        return name

    def _parameters(self, params: Sequence[Var], names: Names) -> str:
        return ", ".join([f"{self._define(p, names)}: {p.type}" for p in params])

    # -------------------------------------------------------------------------------------------------------- nodes

    def _nodes(self, block: Block, names: Names, indent: int) -> None:
        for node in block.nodes:
            self._node(node, names, indent)

    def _node(self, node: Node, names: Names, indent: int) -> None:
        # Operands and blocks see the names of what came before, results get theirs first, as they are read first.
        after = dict.fromkeys(node.outs, "")
        defined = ", ".join([f"{self._define(out, after)}: {out.type}" for out in node.outs])
        results = f"{defined} = " if defined else ""
        layout = _LAYOUTS.get(node.op.name)
        if layout is None or not layout(self, node, results, names, indent):
            self._general(node, results, names, indent)
        names.update(after)

    def _general(self, node: Node, results: str, names: Names, indent: int) -> None:
        inside = [self._operand(a, names) for a in node.args]
        inside += [
            f"{key}={self._data(p, node, names)}" for key, p in sorted(node.params.items()) if p.__class__ is not Block
        ]
        regions = [(key, p) for key, p in sorted(node.params.items()) if p.__class__ is Block]
        head = f"{results}{node.op.name}({', '.join(inside)})"
        self._add(indent, head + (" {" if regions else ""), node)
        for key, block in regions:
            inner: Names = {}
            self._add(indent + 1, f"{key}({self._parameters(block.params, inner)}) {{")
            self._nodes(block, inner, indent + 2)
            self._add(indent + 2, self._listed("return", block.results, inner))
            self._add(indent + 1, "}")
        if regions:
            self._add(indent, "}")

    def _listed(self, word: str, operands: Sequence[Operand], names: Names) -> str:
        return f"{word} {', '.join([self._operand(r, names) for r in operands])}".rstrip()

    # ---------------------------------------------------------------------------------------- ops that hold code
    #
    # Each gives False, and prints nothing, if the node is not what its layout can show without loss.

    def _loop(self, node: Node, results: str, names: Names, indent: int) -> bool:
        body, carried = _params(node, "body", "carried")
        if not (_is_regular(node, ("body", "carried"), 1, carried) and body.params[0].type == COUNTER):
            return False
        inner: Names = {}
        k = self._define(body.params[0], inner)
        self._add(indent, f"{results}loop {k} < {self._operand(node.args[0], names)} {{", node)
        self._entries(node.args[1:], [body.params[1:]], carried, names, [inner], indent + 1)
        self._iterated(body, carried, inner, indent + 1)
        self._add(indent, "}")
        return True

    def _while(self, node: Node, results: str, names: Names, indent: int) -> bool:
        body, carried, test = _params(node, "body", "carried", "test")
        if not _is_regular(node, ("body", "carried", "test"), 0, carried):
            return False
        self._add(indent, f"{results}while {{", node)
        in_test: Names = {}
        inner: Names = {}
        self._entries(node.args, [body.params, test.params], carried, names, [inner, in_test], indent + 1)
        self._region("test", test, in_test, indent + 1)
        self._iterated(body, carried, inner, indent + 1)
        self._add(indent, "}")
        return True

    def _cond(self, node: Node, results: str, names: Names, indent: int) -> bool:
        then, orelse = _params(node, "then", "orelse")
        if not _is_regular(node, ("orelse", "then"), 1):
            return False
        self._add(indent, f"{results}cond {self._operand(node.args[0], names)} {{", node)
        scopes: list[Names] = [{}, {}]
        self._entries(node.args[1:], [then.params, orelse.params], 0, names, scopes, indent + 1)
        self._region("then", then, scopes[0], indent + 1)
        self._region("else", orelse, scopes[1], indent + 1)
        self._add(indent, "}")
        return True

    def _call(self, node: Node, results: str, names: Names, indent: int) -> bool:
        body, name = _params(node, "body", "name")
        if not (_is_regular(node, ("body", "name"), 0) and isinstance(name, str)):
            return False
        self._add(indent, f"{results}call {_word(name)} {{", node)
        inner: Names = {}
        self._entries(node.args, [body.params], 0, names, [inner], indent + 1, keeps_names=False)
        self._nodes(body, inner, indent + 1)
        self._add(indent + 1, self._listed("return", body.results, inner))
        self._add(indent, "}")
        return True

    def _entries(
        self,
        args: Sequence[Operand],
        params: list[list[Var]],
        carried: int,
        names: Names,
        inner: list[Names],
        indent: int,
        keeps_names: bool = True,
    ) -> None:
        """What the parameters of blocks are bound to; the blocks have one list of parameters each, of like types."""
        waiting: list[str] = []

        def flush() -> None:
            if waiting:
                self._add(indent, f"given {', '.join(waiting)}")
                waiting.clear()

        kept = set()
        for i, arg in enumerate(args):
            own = [block[i] for block in params]
            if keeps_names and i >= carried and isinstance(arg, Var) and names.get(arg) and arg not in kept:
                if own[0].type == arg.type:
                    kept.add(arg)
                    waiting.append(names[arg])
                    for var, scope in zip(own, inner, strict=True):
                        self._name(var, names[arg], scope)
                    continue
            flush()
            name = self._define(own[0], inner[0])
            for var, scope in zip(own[1:], inner[1:], strict=True):
                self._name(var, name, scope)
            word = "carry" if i < carried else "given"
            self._add(indent, f"{word} {name}: {own[0].type} = {self._operand(arg, names)}")
        flush()

    def _region(self, word: str, block: Block, names: Names, indent: int) -> None:
        self._add(indent, f"{word} {{")
        self._nodes(block, names, indent + 1)
        self._add(indent + 1, self._listed("return", block.results, names))
        self._add(indent, "}")

    def _iterated(self, body: Block, carried: int, names: Names, indent: int) -> None:
        self._nodes(body, names, indent)
        if carried:
            self._add(indent, self._listed("next", body.results[:carried], names))
        if len(body.results) > carried:
            self._add(indent, self._listed("yield", body.results[carried:], names))

    # ------------------------------------------------------------------------------------- operands and parameters

    def _operand(self, operand: Operand, names: Names) -> str:
        if isinstance(operand, Const):
            return self._value(operand.value)
        return names.get(operand) or f"%?{operand.hint or ''}"

    def _value(self, value: Any) -> str:
        if value.__class__ in SCALARS:
            return number_text(value)
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
            if isinstance(value, np.ndarray):
                is_short = value.size <= INLINE or is_uniform(value)
                return array_text(value) if is_short and is_exact(value) else self._large(value)
            return f"{dtype_name(value.dtype)}({element_text(value)})"
        return self._object(value)

    def _large(self, value: np.ndarray) -> str:
        return self._arrays.setdefault(id(value), (f"@{len(self._arrays)}", value))[0]

    def _object(self, thing: Any) -> str:
        described = getattr(thing, "__name__", None) or type(thing).__name__
        label = f"{re.sub(r'[^A-Za-z0-9_]', '_', described)} {len(self.objects)}"
        return f"<{self.objects.setdefault(id(thing), (label, thing))[0]}>"

    def _data(self, p: Any, node: Node, names: Names) -> str:
        kind = p.__class__
        if kind is Ref:
            if not 0 <= p.k < len(node.sizes):
                return f"%?{p.k}"
            size = node.sizes[p.k]
            return number_text(int(size.value)) if isinstance(size, Const) else self._operand(size, names)
        if kind is tuple or kind is list:
            inside = ", ".join([self._data(x, node, names) for x in p])
            return f"[{inside}]" if kind is list else f"({inside},)" if len(p) == 1 else f"({inside})"
        if kind is dict and all(isinstance(key, str) for key in p):
            return "{" + ", ".join([f"{key!r}: {self._data(x, node, names)}" for key, x in p.items()]) + "}"
        if kind is slice:
            parts = ["" if x is None else self._data(x, node, names) for x in (p.start, p.stop, p.step)]
            return ":".join(parts if p.step is not None else parts[:2])
        if p is None or kind is str:
            return repr(p)
        if p is Ellipsis:
            return "..."
        if p is ARRAY or p is FLAG:
            return p.name
        if isinstance(p, np.dtype) and p.kind in "biufc":
            return dtype_name(p)
        return self._value(p)


_LAYOUTS = {"loop": _Printer._loop, "while": _Printer._while, "cond": _Printer._cond, "call": _Printer._call}


def _params(node: Node, *keys: str) -> list[Any]:
    return [node.params.get(key) for key in keys]


def _is_regular(node: Node, keys: tuple[str, ...], before: int, carried: Any = 0) -> bool:
    """Whether the blocks of a node take its operands from number `before` on, and return what is carried."""
    if node.sizes or tuple(sorted(node.params)) != keys or len(node.args) < before:
        return False
    if carried.__class__ is not int or not 0 <= carried <= len(node.args) - before:
        return False
    blocks = {key: p for key, p in node.params.items() if key not in ("carried", "name")}
    if not all(p.__class__ is Block for p in blocks.values()):
        return False
    own = before if node.op.name == "loop" else 0  # the counter
    types = [[p.type for p in block.params] for block in blocks.values()]
    return (
        all(len(t) == len(node.args) - before + own for t in types)
        and all(t == types[0] for t in types)
        and ("body" not in blocks or len(blocks["body"].results) >= carried)
    )


def _word(name: str) -> str:
    """A name of a program or function: in quotes where it is no plain word."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else repr(name)


def _file(source: Source) -> str:
    """A file name: in quotes where it would not be read back."""
    plain = source.file.isprintable() and source.file.strip() == source.file and source.file[:1] not in ("", "'", '"')
    return source.file if plain else repr(source.file)


def _printed(program: Program | Block) -> _Printer:
    printer = _Printer()
    printer.program(program)
    return printer
