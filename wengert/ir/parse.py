"""Reading the printed form of a program back: `parse(show(p))` prints, and computes, as p does.

The grammar, in the order of the functions below (`show.py` says what it means; words in quotes stand for themselves):

    text      = ("program" word | "block") "(" params ")" "{" node* "return" operands "}" constants?
    constants = "constants" "{" ("@0" ":" type "=" string*)* "}"
    node      = (params "=")? (loop | while | cond | call | general)
    loop      = "loop" var "<" operand "{" entry* node* ("next" operands)? ("yield" operands)? "}"
    while     = "while" "{" entry* "test" region node* ("next" operands)? ("yield" operands)? "}"
    cond      = "cond" operand "{" entry* "then" region "else" region "}"
    call      = "call" word "{" entry* node* "return" operands "}"
    entry     = ("carry" | "given") var ":" type "=" operand  |  "given" var ("," var)*
    region    = "{" node* "return" operands "}"
    general   = op "(" operands ("," name "=" data)* ")" ("{" (name "(" params ")" region)* "}")?

Line breaks mean nothing, except that a comment which is a line number, or file:line, says where the node that begins
on its line comes from. Other comments are skipped.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from wengert import ops as _ops
from wengert.ir.literal import NUMBER, array_of, array_of_bytes, dtype_named, element, number
from wengert.ir.node import Block, Const, Dyn, Node, Operand, Program, Ref, Source, Type, Var
from wengert.ir.show import COUNTER
from wengert.ops import store as _store
from wengert.ops.index import ARRAY, FLAG
from wengert.ops.op import TABLE
from wengert.types import SCALARS, dtype_of

_ROWS = (_ops, _store)
"""The rows of the table that programs refer to by name (those of ops that hold code are made in `control/`)."""

T = TypeVar("T")


class ParseError(Exception):
    """The text is not a program. Says where, and what was expected."""

    def __init__(self, problem: str, text: str, line: int, column: int):
        self.line = line
        self.column = column
        lines = text.splitlines()
        shown = lines[line - 1] if line <= len(lines) else ""
        super().__init__(f"line {line}, column {column}: {problem}\n  {shown}\n  {' ' * (column - 1)}^")


def parse(text: str, objects: dict[str, Any] | None = None) -> Program | Block:
    """The program (or the block) that a text shows.

    `objects` says what is meant by parameters that are no data, such as `<csr_array 0>`: {"csr_array 0": …}.
    """
    return _Parser(text, objects or {}).text()


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    column: int


_PATTERNS = (
    ("space", re.compile(r"\s+")),
    ("comment", re.compile(r"#[^\n]*")),
    ("string", re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"")),
    ("var", re.compile(r"%[A-Za-z0-9_.?]*")),
    ("array", re.compile(r"@\d+")),
    ("object", re.compile(r"<[A-Za-z_][A-Za-z0-9_]* \d+>")),
    ("length", re.compile(r"\?(?:<=\d+)?")),
    ("number", NUMBER),
    ("word", re.compile(r"[A-Za-z_][A-Za-z0-9_]*")),
    ("mark", re.compile(r"\.\.\.|[()\[\]{},:=~<]")),
)
_PLACE = re.compile(r"#\s*(?:(?P<file>.+):)?(?P<line>\d+)\s*")
_HINT = re.compile(r"%([A-Za-z_][A-Za-z0-9_]*)(?:\.\d+)?")

VarsByName = dict[str, Var]


class _Parser:
    def __init__(self, text: str, objects: dict[str, Any]):
        self.source = text
        self.objects = objects
        self.tokens: list[_Token] = []
        self.places: dict[int, Source] = {}
        self.arrays: dict[str, Const] = {}
        self.next = 0
        self._split()

    # ------------------------------------------------------------------------------------------------------- tokens

    def _split(self) -> None:
        position, line, start, file = 0, 1, 0, "<text>"
        while position < len(self.source):
            matches = ((kind, pattern.match(self.source, position)) for kind, pattern in _PATTERNS)
            kind, found = next(((kind, found) for kind, found in matches if found), ("", None))
            if found is None:
                column = position - start + 1
                raise ParseError(f"{self.source[position]!r} means nothing here", self.source, line, column)
            if kind == "comment":
                place = _PLACE.fullmatch(found[0])
                if place:
                    if place["file"]:
                        file = ast.literal_eval(place["file"]) if place["file"][0] in "'\"" else place["file"]
                    self.places[line] = Source(file, int(place["line"]))
            elif kind != "space":
                self.tokens.append(_Token(kind, found[0], line, position - start + 1))
            breaks = found[0].count("\n")
            if breaks:
                line += breaks
                start = found.start() + found[0].rindex("\n") + 1
            position = found.end()
        self.tokens.append(_Token("end", "the end of the text", line, position - start + 1))

    def error(self, problem: str, token: _Token | None = None) -> ParseError:
        token = token or self.token
        return ParseError(problem, self.source, token.line, token.column)

    @property
    def token(self) -> _Token:
        return self.tokens[self.next]

    def take(self) -> _Token:
        self.next += 1
        return self.tokens[self.next - 1]

    def at(self, text: str) -> bool:
        return self.token.text == text and self.token.kind in ("mark", "word")

    def skip(self, text: str) -> bool:
        """Go past this mark or word, if it is the next."""
        found = self.at(text)
        self.next += found
        return found

    def expect(self, text: str) -> None:
        if not self.skip(text):
            raise self.error(f"expected {text!r}, found {self.token.text!r}")

    def kind(self, kind: str, what: str) -> _Token:
        if self.token.kind != kind:
            raise self.error(f"expected {what}, found {self.token.text!r}")
        return self.take()

    def separated(self, item: Callable[[], T], end: str) -> list[T]:
        """Items between commas up to a closing mark, which is gone past. A comma may follow the last."""
        items: list[T] = []
        while not self.skip(end):
            items.append(item())
            if not self.at(end):
                self.expect(",")
        return items

    # -------------------------------------------------------------------------------------------------------- texts

    def text(self) -> Program | Block:
        self._constants()
        is_program = self.at("program")
        if not is_program and not self.at("block"):
            raise self.error(f"expected 'program' or 'block', found {self.token.text!r}")
        self.take()
        name = self.word() if is_program else ""
        scope: VarsByName = {}
        params = self.params(scope)
        block = self.region(params, scope)
        if not self.at("constants") and self.token.kind != "end":
            raise self.error(f"expected the end of the text, found {self.token.text!r}")
        return Program(name, block) if is_program else block

    def _constants(self) -> None:
        """Read the constants, which stand at the end, before what refers to them."""
        depth = 0
        for position, token in enumerate(self.tokens):
            depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "mark" else 0
            if token.text == "constants" and depth == 0 and position and self.tokens[position - 1].text == "}":
                break
        else:
            return
        self.next = position + 1
        self.expect("{")
        while not self.skip("}"):
            label = self.kind("array", "the number of a constant")
            self.expect(":")
            type = self.type()
            self.expect("=")
            begin, pieces = self.token, []
            while self.token.kind == "string":
                pieces.append(self.string())
            try:
                value = array_of_bytes("".join(pieces), type.dtype, type.shape)  # type: ignore[arg-type]
            except ValueError as error:
                raise self.error(f"these are not the bytes of a {type}: {error}", begin) from None
            self.arrays[label.text] = Const(value, type)
        if self.token.kind != "end":
            raise self.error(f"expected the end of the text, found {self.token.text!r}")
        self.next = 0

    def word(self) -> str:
        return self.string() if self.token.kind == "string" else self.kind("word", "a name").text

    def string(self) -> str:
        return ast.literal_eval(self.kind("string", "a text in quotes").text)

    # ----------------------------------------------------------------------------------------------- values and types

    def define(self, type: Type, token: _Token, scope: VarsByName) -> Var:
        if token.text in scope:
            raise self.error(f"{token.text} is defined already", token)
        hint = _HINT.fullmatch(token.text)
        scope[token.text] = var = Var(type, hint[1] if hint else None)
        return var

    def param(self, scope: VarsByName) -> Var:
        token = self.kind("var", "the name of a value")
        self.expect(":")
        return self.define(self.type(), token, scope)

    def params(self, scope: VarsByName) -> list[Var]:
        self.expect("(")
        return self.separated(lambda: self.param(scope), ")")

    def var(self, scope: VarsByName) -> Var:
        token = self.kind("var", "the name of a value")
        if token.text not in scope:
            raise self.error(f"{token.text} is not defined here", token)
        return scope[token.text]

    def dtype(self) -> np.dtype:
        token = self.kind("word", "a type")
        dtype = dtype_named(token.text)
        if dtype is None:
            raise self.error(f"expected a type, found {token.text!r}", token)
        return dtype

    def type(self) -> Type:
        dtype = self.dtype()
        weak = self.skip("~")
        return Type(tuple(self.separated(self.length, "]")) if self.skip("[") else (), dtype, weak)

    def length(self) -> int | Dyn:
        if self.token.kind == "length":
            bound = self.take().text[3:]
            return Dyn(int(bound) if bound else None)
        return int(self.kind("number", "a length").text)

    def operand(self, scope: VarsByName) -> Operand:
        if self.token.kind == "var":
            return self.var(scope)
        if self.token.kind == "array":
            return self.array()
        value = self.value()
        return Const(value, Type(np.shape(value), dtype_of(value), value.__class__ in SCALARS))

    def operands(self, scope: VarsByName) -> list[Operand]:
        """Operands between commas, without a closing mark; there may be none."""
        found: list[Operand] = []
        while self.begins_operand():
            found.append(self.operand(scope))
            if not self.skip(","):
                break
        return found

    def begins_operand(self) -> bool:
        token = self.token
        if token.kind == "word":
            return token.text in ("True", "False") or dtype_named(token.text) is not None
        return token.kind in ("var", "array", "number", "object")

    def array(self) -> Const:
        token = self.take()
        if token.text not in self.arrays:
            raise self.error(f"{token.text} is not among the constants at the end", token)
        return self.arrays[token.text]

    def value(self) -> Any:
        """A constant: a number, a NumPy scalar, a small array, or an object."""
        token = self.take()
        if token.kind == "number":
            return number(token.text)
        if token.kind == "object":
            if token.text[1:-1] not in self.objects:
                raise self.error(f"{token.text} is no data: say what it is in parse(…, objects=…)", token)
            return self.objects[token.text[1:-1]]
        if token.text in ("True", "False"):
            return token.text == "True"
        self.next -= 1
        type = self.type()
        is_array = self.tokens[self.next - 1].text == "]"
        self.expect("(")
        numbers: list[_Token] = []
        while not self.skip(")"):
            inside = self.take()
            if inside.kind == "number" or inside.text in ("True", "False"):
                numbers.append(inside)
            elif inside.text not in ("[", "]", ","):
                raise self.error(f"expected a number, found {inside.text!r}", inside)
        try:
            elements = [element(n.text, type.dtype) for n in numbers]
            return array_of(elements, type.dtype, type.shape) if is_array else _only(elements)  # type: ignore[arg-type]
        except (ValueError, KeyError, OverflowError):
            raise self.error(f"these numbers are not a {type}", token) from None

    # -------------------------------------------------------------------------------------------------------- nodes

    def region(self, params: list[Var], scope: VarsByName) -> Block:
        self.expect("{")
        return self.rest_of_region(params, scope)

    def rest_of_region(self, params: list[Var], scope: VarsByName) -> Block:
        nodes = self.nodes(scope)
        self.expect("return")
        results = self.operands(scope)
        self.expect("}")
        return Block(params, nodes, results)

    def nodes(self, scope: VarsByName) -> list[Node]:
        found = []
        while self.token.kind == "var" or (
            self.token.kind == "word" and self.token.text not in ("return", "next", "yield", "test")
        ):
            found.append(self.node(scope))
        return found

    def node(self, scope: VarsByName) -> Node:
        place = self.places.get(self.token.line)
        own: VarsByName = {}
        outs: list[Var] = []
        if self.token.kind == "var":
            while True:
                if self.token.text in scope:
                    raise self.error(f"{self.token.text} is defined already")
                outs.append(self.param(own))
                if not self.skip(","):
                    break
            self.expect("=")
        token = self.kind("word", "an op")
        if token.text not in TABLE:
            raise self.error(f"there is no op named {token.text!r}", token)
        sizes: list[Operand] = []
        layout = None if self.at("(") else _LAYOUTS.get(token.text)
        args, params = layout(self, scope) if layout else self.general(scope, sizes)
        scope.update(own)
        return Node(TABLE[token.text], tuple(args), params, tuple(outs), tuple(sizes), place)

    def general(self, scope: VarsByName, sizes: list[Operand]) -> tuple[list[Operand], dict[str, Any]]:
        params: dict[str, Any] = {}
        args: list[Operand] = []

        def item() -> None:
            if self.token.kind == "word" and self.tokens[self.next + 1].text == "=":
                key = self.take().text
                self.expect("=")
                params[key] = self.data(scope, sizes)
            elif params:
                raise self.error("an operand must stand before the parameters")
            else:
                args.append(self.operand(scope))

        self.expect("(")
        self.separated(item, ")")
        if self.skip("{"):
            while not self.skip("}"):
                key = self.kind("word", "the name of a block").text
                inner: VarsByName = {}
                params[key] = self.region(self.params(inner), inner)
        return args, params

    def entries(self, scope: VarsByName, inner: list[VarsByName]) -> tuple[list[Operand], list[list[Var]], int]:
        """What `carry` and `given` say: the operands, the parameters of each block, how many are carried."""
        args: list[Operand] = []
        params: list[list[Var]] = [[] for _ in inner]
        carried = 0

        def bind(token: _Token, type: Type, operand: Operand) -> None:
            args.append(operand)
            for own, names in zip(params, inner, strict=True):
                own.append(self.define(type, token, names))

        while self.at("carry") or self.at("given"):
            word = self.take()
            token = self.kind("var", "the name of a value")
            if word.text == "carry" and carried < len(args):
                raise self.error("what is carried must stand before what is given", word)
            carried += word.text == "carry"
            if self.skip(":"):
                type = self.type()
                self.expect("=")
                bind(token, type, self.operand(scope))
                continue
            if word.text == "carry":
                raise self.error(f"expected ':', found {self.token.text!r}")
            while True:
                if token.text not in scope:
                    raise self.error(f"{token.text} is not defined here", token)
                bind(token, scope[token.text].type, scope[token.text])
                if not self.skip(","):
                    break
                token = self.kind("var", "the name of a value")
        return args, params, carried

    def iterated(self, params: list[Var], scope: VarsByName, carried: int) -> Block:
        nodes = self.nodes(scope)
        token = self.token
        results = self.operands(scope) if self.skip("next") else []
        if len(results) != carried:
            raise self.error(f"{carried} values are carried, so {carried} must stand after 'next'", token)
        if self.skip("yield"):
            results += self.operands(scope)
        self.expect("}")
        return Block(params, nodes, results)

    def loop(self, scope: VarsByName) -> tuple[list[Operand], dict[str, Any]]:
        inner: VarsByName = {}
        k = self.define(COUNTER, self.kind("var", "the name of the counter"), inner)
        self.expect("<")
        count = self.operand(scope)
        self.expect("{")
        args, (params,), carried = self.entries(scope, [inner])
        return [count, *args], {"body": self.iterated([k, *params], inner, carried), "carried": carried}

    def while_(self, scope: VarsByName) -> tuple[list[Operand], dict[str, Any]]:
        self.expect("{")
        inner, in_test = {}, {}
        args, (params, test_params), carried = self.entries(scope, [inner, in_test])
        self.expect("test")
        test = self.region(test_params, in_test)
        return args, {"body": self.iterated(params, inner, carried), "carried": carried, "test": test}

    def cond(self, scope: VarsByName) -> tuple[list[Operand], dict[str, Any]]:
        pred = self.operand(scope)
        self.expect("{")
        scopes: list[VarsByName] = [{}, {}]
        start = self.token
        args, params, carried = self.entries(scope, scopes)
        if carried:
            raise self.error("a cond carries nothing", start)
        self.expect("then")
        then = self.region(params[0], scopes[0])
        self.expect("else")
        orelse = self.region(params[1], scopes[1])
        self.expect("}")
        return [pred, *args], {"orelse": orelse, "then": then}

    def call(self, scope: VarsByName) -> tuple[list[Operand], dict[str, Any]]:
        name = self.word()
        self.expect("{")
        inner: VarsByName = {}
        start = self.token
        args, (params,), carried = self.entries(scope, [inner])
        if carried:
            raise self.error("a call carries nothing", start)
        return args, {"body": self.rest_of_region(params, inner), "name": name}

    # --------------------------------------------------------------------------------------------------- parameters

    def data(self, scope: VarsByName, sizes: list[Operand]) -> Any:
        """A parameter: plain data, in which values of the program may stand."""
        parts: list[Any] = [self.datum(scope, sizes) if not self.at(":") else None]
        while len(parts) < 3 and self.skip(":"):
            ends = self.token.kind == "mark" and self.token.text in (",", ")", "]", "}", ":")
            parts.append(None if ends else self.datum(scope, sizes))
        return parts[0] if len(parts) == 1 else slice(*parts)

    def datum(self, scope: VarsByName, sizes: list[Operand]) -> Any:
        if self.token.kind == "var":
            size = self.var(scope)
            if size not in sizes:
                sizes.append(size)
            return Ref(sizes.index(size))
        if self.token.kind == "array":
            return self.array().value
        if self.token.kind == "string":
            return self.string()
        if self.skip("..."):
            return Ellipsis
        if self.skip("["):
            return self.separated(lambda: self.data(scope, sizes), "]")
        if self.skip("{"):
            return dict(self.separated(lambda: self.pair(scope, sizes), "}"))
        if self.skip("("):
            return tuple(self.separated(lambda: self.data(scope, sizes), ")"))
        if self.token.kind == "word":
            for word, meaning in (("None", None), ("ARRAY", ARRAY), ("FLAG", FLAG)):
                if self.skip(word):
                    return meaning
            if dtype_named(self.token.text) is not None and self.tokens[self.next + 1].text not in ("(", "["):
                return self.dtype()
        elif self.token.kind not in ("number", "object"):
            raise self.error(f"expected a parameter, found {self.token.text!r}")
        return self.value()

    def pair(self, scope: VarsByName, sizes: list[Operand]) -> tuple[str, Any]:
        key = self.string()
        self.expect(":")
        return key, self.data(scope, sizes)


_LAYOUTS = {"loop": _Parser.loop, "while": _Parser.while_, "cond": _Parser.cond, "call": _Parser.call}


def _only(elements: list) -> Any:
    (x,) = elements
    return x
