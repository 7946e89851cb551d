"""Texts with values that only the compiled program knows: `f"{x:.3f}"`, `str(x)`, `"%g" % x`, `"{}".format(x)`.

Most of them end in a message: of an exception that is not raised, of a warning, of a print. So such a text is an object
that knows its pieces. What is printed is put together when the program runs (`outside.py`), what is returned when it
has run: to users' containers such a text is the values in it. The message of an exception shows … in place of values.
Whoever asks what the text *is* (compares it, looks it up in a dict, takes it apart) is told that this is not known; a
loop that names things by its counter is unrolled then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.box.writing import settled
from wengert.capture.one_of import OneOf
from wengert.capture.values import is_symbolic
from wengert.errors import ConcretizationError
from wengert.ir.numbers import python_class
from wengert.ops.op import Traced
from wengert.types import shape_of

_CONVERSIONS: dict[int, Callable[[Any], Any]] = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}
"""What `!s`, `!r` and `!a` mean, by the numbers that Python's syntax trees have for them."""


class Piece(NamedTuple):
    """A part of a text: `write(*operands)`, where some of the operands are symbols."""

    write: Callable[..., str]
    operands: tuple


class TracedText(str):
    """A text of which some pieces are known only when the program runs."""

    __slots__ = ("pieces",)
    pieces: tuple[str | Piece, ...]

    def __new__(cls, pieces: Sequence[str | Piece]) -> TracedText:
        new = super().__new__(cls, "".join([p if isinstance(p, str) else "…" for p in pieces]))
        new.pieces = tuple(pieces)
        return new

    @property
    def symbols(self) -> list[Any]:
        return [x for p in self.pieces if isinstance(p, Piece) for x in p.operands if is_symbolic(x)]

    def filled(self, values: Sequence[Any]) -> str:
        """The text, with values for its symbols."""
        rest = iter(values)
        return "".join([
            p if isinstance(p, str) else p.write(*[next(rest) if is_symbolic(x) else x for x in p.operands])
            for p in self.pieces
        ])  # fmt: skip

    def __add__(self, other: str) -> TracedText:
        return TracedText([*self.pieces, *pieces_of(other)])

    def __radd__(self, other: str) -> TracedText:
        return TracedText([*pieces_of(other), *self.pieces])

    def __str__(self) -> str:
        return self

    def __format__(self, spec: str) -> str:
        return str.__str__(self) if not spec else self._unknown()

    def __repr__(self) -> str:
        return repr(str.__str__(self))

    def __hash__(self) -> int:
        return self._unknown()

    def _unknown(self, *args: Any, **kwargs: Any) -> Any:
        raise ConcretizationError(
            "what is done with a text depends on a value that is known only when the compiled program runs",
            remedy="print it, or put it into the message of an exception; choose by numbers, not by texts; or pass the "
            "value as a static argument (static_argnums)",
        )


_ASKS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__len__", "__iter__", "__contains__",
         "__getitem__", "__mod__", "__mul__", "__rmul__")  # fmt: skip
for _name in (*_ASKS, *[name for name in dir(str) if not name.startswith("_")]):
    setattr(TracedText, _name, TracedText._unknown)


def pieces_of(text: str) -> Sequence[str | Piece]:
    return text.pieces if text.__class__ is TracedText else (text,)


def holds_values(x: Any) -> bool:
    """Whether a text of something would have values that are not known yet."""
    if x.__class__ in (tuple, list):
        return any(holds_values(item) for item in x)
    if x.__class__ is dict:
        return any(holds_values(item) for item in x.values())
    return x.__class__ in (TracedText, OneOf) or is_symbolic(x)


def written(write: Callable[..., str], *operands: Any) -> str:
    """`write(*operands)`: now, or when the program runs."""
    if not holds_values(operands):
        return write(*operands)
    if write is str and operands[0].__class__ is TracedText:
        return operands[0]
    leaves, structure = tree.flatten(operands)
    return TracedText([Piece(lambda *found: write(*tree.unflatten(structure, list(found))), tuple(leaves))])


def joined(*parts: Any) -> str:
    """An f-string: texts, and `(value, conversion, format)` for what is in braces."""
    pieces: list[str | Piece] = []
    for part in parts:
        if part.__class__ is not tuple:
            pieces += pieces_of(part)
            continue
        value, conversion, spec = part
        if value.__class__ is TracedText and not spec:
            pieces += value.pieces
        else:
            convert = _CONVERSIONS[conversion]
            pieces += pieces_of(written(lambda x, convert=convert, spec=spec: format(convert(x), spec), value))
    return TracedText(pieces) if any(isinstance(p, Piece) for p in pieces) else "".join(pieces)  # type: ignore[arg-type]


def interpolated(template: str, values: Any) -> str:
    """`template % values`."""
    if values.__class__ is dict:
        names = list(values)
        return written(lambda *found: template % dict(zip(names, found, strict=True)), *values.values())
    if values.__class__ is tuple:
        return written(lambda *found: template % found, *values)
    return written(lambda found: template % found, values)


def formatted(template: str, args: tuple, kwargs: dict) -> str:
    """`template.format(*args, **kwargs)`."""
    n, names = len(args), list(kwargs)
    return written(
        lambda *found: template.format(*found[:n], **dict(zip(names, found[n:], strict=True))),
        *args, *kwargs.values(),
    )  # fmt: skip


def joined_by(separator: str, items: Sequence[Any]) -> str:
    """`separator.join(items)`, where some of the items are such texts."""
    pieces: list[str | Piece] = []
    for k, item in enumerate(items):
        if not isinstance(item, str):
            raise TypeError(f"sequence item {k}: expected str instance, a number or another object found")
        pieces += [*([separator] if k else []), *pieces_of(item)]
    return TracedText(pieces)


class _Template:
    """What else there is to such a text than the values in it."""

    __slots__ = ("are_pythons", "axes", "text")

    def __init__(self, text: TracedText):
        self.text = text
        self.are_pythons = [python_class(x) is not None for x in text.symbols]
        self.axes = [len(shape_of(x)) for x in text.symbols]


def _together(template: _Template, values: Sequence[Any]) -> Any:
    if any(isinstance(settled(x), Traced) for x in values):
        return TracedText([Piece(lambda *found: template.text.filled(found), tuple(values))])
    batches = [len(shape_of(x)) > axes for x, axes in zip(values, template.axes, strict=True)]
    if any(batches):
        count = next(len(x) for x, is_batch in zip(values, batches, strict=True) if is_batch)
        examples = [
            [x[k] if is_batch else x for x, is_batch in zip(values, batches, strict=True)] for k in range(count)
        ]
        return np.array([_together(template, example) for example in examples])
    own = [x.item() if isinstance(x, np.generic) and is_own else x
           for x, is_own in zip(values, template.are_pythons, strict=True)]  # fmt: skip
    return template.text.filled(own)


tree.register(
    TracedText,
    lambda text: (tuple(text.symbols), _Template(text), tuple(map(str, range(len(text.symbols))))),
    _together,
    looks=True,
)
