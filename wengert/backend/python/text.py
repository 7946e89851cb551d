"""Pieces of Python source that know how tightly they bind, so that no parenthesis is written that is not needed."""

from __future__ import annotations

import re
from typing import NamedTuple

(TUPLE, CONDITIONAL, DISJUNCTION, CONJUNCTION, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND) = range(9)
(SHIFT, ADD, MULTIPLY, UNARY, POWER, ATOM) = range(9, 15)
"""Python's precedences, the loosest first."""


class Text(NamedTuple):
    """An expression. `negated` is what it is the negative of, `parts` the operands and operator of an infix one."""

    text: str
    level: int = ATOM
    negated: Text | None = None
    parts: tuple[str, str, str] | None = None

    def within(self, level: int) -> str:
        """The text as an operand that must bind at least as tightly as `level`.

        >>> Text("a + b", ADD).within(MULTIPLY)
        '(a + b)'
        """
        return self.text if self.level >= level else f"({self.text})"


_SIMPLE = re.compile(r"-?[\w.]+(\[\w+\])?")


def infix(left: Text, symbol: str, right: Text, level: int) -> Text:
    """`left symbol right`.

    >>> infix(Text("a"), "-", infix(Text("b"), "-", Text("c"), ADD), ADD).text
    'a - (b - c)'
    """
    if symbol in "+-" and right.negated is not None:
        symbol, right = "-" if symbol == "+" else "+", right.negated
    if symbol in "*/" and right.negated is not None and right.level == UNARY and not right.negated.text[0].isdigit():
        return negative(infix(left, symbol, right.negated, level))
    if level == COMPARE:  # Python would read a < b < c as a < b and b < c
        a, b = left.within(COMPARE + 1), right.within(COMPARE + 1)
    else:
        mixed = level == MULTIPLY and left.parts is not None and (left.parts[1] == "@") != (symbol == "@")
        a, b = left.within(level + mixed), right.within(level + 1)
    return Text(f"{a} {symbol} {b}", level, parts=(a, symbol, b))


def power(left: Text, right: Text) -> Text:
    """`left**right`, with spaces where an operand is more than a name or a number."""
    a, b = left.within(ATOM), right.within(UNARY)
    tight = _SIMPLE.fullmatch(a) and _SIMPLE.fullmatch(b)
    return Text(f"{a}**{b}" if tight else f"{a} ** {b}", POWER)


def negative(x: Text) -> Text:
    """`-x`; of products, whose sign may stand in front, without parentheses.

    >>> negative(infix(Text("a"), "*", Text("b"), MULTIPLY)).text
    '-a * b'
    """
    if x.negated is not None:
        return x.negated
    if x.level == MULTIPLY and not any(symbol in x.text for symbol in ("//", "%", "@")) and x.text[0] != "-":
        return Text("-" + x.text, MULTIPLY, negated=x)
    return Text("-" + x.within(UNARY), UNARY, negated=x)


def function(name: str, *args: str | Text, **options: str) -> Text:
    """A call.

    >>> function("np.sum", Text("x"), axis="0").text
    'np.sum(x, axis=0)'
    """
    listed = [a.text if isinstance(a, Text) else a for a in args] + [f"{k}={v}" for k, v in options.items()]
    return Text(f"{name}({', '.join(listed)})")
