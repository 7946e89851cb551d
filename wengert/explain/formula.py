"""Expressions as people write them.

`simplified` takes the detours out of an expression that a rule left (1 × a, a + (−b), (1 / a) × b) without changing its
value; `written` sets it in a style, with the names of the variables or with their numbers. Tangents and adjoints come
first in a product, as in the survey: v̇₋₁ × v₀.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from wengert.explain.notation import Style, number, summary
from wengert.explain.recording import Constant, RecordedStep
from wengert.explain.symbolic import VALUE, Apply, Expression, Leaf, Literal
from wengert.types import shape_of

LONGEST = 14
"""Expressions with more nodes than this are not worth reading."""

_INFIX = {"add": ("+", 1), "subtract": ("−", 1), "multiply": ("×", 2), "divide": ("/", 2), "matmul": ("@", 2),
          "less": ("<", 0), "less_equal": ("≤", 0), "greater": (">", 0), "greater_equal": ("≥", 0), "equal": ("=", 0),
          "not_equal": ("≠", 0), "logical_and": ("∧", 0), "logical_or": ("∨", 0)}  # fmt: skip
_LATEX_INFIX = {"×": r"\times", "−": "-", "@": r"\,", "<": "<", "≤": r"\le", ">": ">", "≥": r"\ge", "≠": r"\ne",
                "∧": r"\wedge", "∨": r"\vee"}  # fmt: skip
_WORDS = {"log": "ln", "absolute": "abs", "sum": "Σ", "sqrt": "√", "sech_squared": "sech²", "broadcast_to": "broadcast"}
_PREFIX = {"log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
           "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "sqrt", "cbrt", "sign", "sum", "erf", "absolute",
           "sech_squared", "expit", "floor"}  # fmt: skip
_SAME = frozenset(("astype", "positive", "copy", "stop_gradient"))
_ATOM, _POWER, _APPLIED, _NEGATIVE = 9, 8, 5, 1.5


# ---------------------------------------------------------------------------------------------------- simplification


def size(expression: Expression, most: int = 4 * LONGEST) -> int:
    """The number of nodes of an expression, counted up to `most`."""
    count, pending = 0, [expression]
    while pending and count < most:
        count += 1
        e = pending.pop()
        if isinstance(e, Apply):
            pending.extend(e.args)
    return count


def simplified(expression: Expression) -> Expression:
    """The same value without detours."""
    if not isinstance(expression, Apply):
        return expression
    args = tuple([simplified(a) for a in expression.args])
    name, shape = expression.name, expression.shape
    made: Expression = Apply(name, args, expression.params, shape, expression.which)
    if name in _SAME or (name in ("reshape", "broadcast_to") and _shape(args[0]) == shape):
        return args[0]
    if name == "negative":
        return _negative(args[0])
    if name == "reciprocal":
        return _divide(Literal(1), args[0], shape)
    if name == "square":
        return Apply("power", (args[0], Literal(2)), {}, shape)
    if name == "add":
        a, b = args
        return Apply("subtract", (a, b.args[0]), {}, shape) if _is(b, "negative") else made
    if name == "subtract":
        a, b = args
        return Apply("add", (a, b.args[0]), {}, shape) if _is(b, "negative") else made
    if name == "multiply":
        return _multiply(args[0], args[1], shape)
    if name == "divide":
        return _divide(args[0], args[1], shape)
    return made


def _is(e: Expression, name: str) -> TypeGuard[Apply]:
    return isinstance(e, Apply) and e.name == name


def _equals(e: Expression, value: float) -> bool:
    return isinstance(e, Literal) and shape_of(e.value) == () and not isinstance(e.value, bool) and e.value == value


def _shape(e: Expression) -> tuple[int, ...]:
    return e.shape if isinstance(e, Apply) else shape_of(e.variable.value if isinstance(e, Leaf) else e.value)


def _negative(a: Expression) -> Expression:
    return a.args[0] if _is(a, "negative") else Apply("negative", (a,), {}, _shape(a))


def _multiply(a: Expression, b: Expression, shape: tuple[int, ...]) -> Expression:
    for one, other in ((a, b), (b, a)):
        if _equals(one, 1) and _shape(other) == shape:
            return other
        if _equals(one, -1) and _shape(other) == shape:
            return _negative(other)
        if _is(one, "negative"):
            return _negative(_multiply(one.args[0], other, shape))
        if _is(one, "divide"):
            upper, lower = one.args
            return _divide(_multiply(upper, other, shape), lower, shape)
    if _has_seed(b) and not _has_seed(a):
        a, b = b, a
    return Apply("multiply", (a, b), {}, shape)


def _divide(a: Expression, b: Expression, shape: tuple[int, ...]) -> Expression:
    if _is(a, "negative"):
        return _negative(_divide(a.args[0], b, shape))
    return Apply("divide", (a, b), {}, shape)


def _is_product(name: str, right: Expression) -> bool:
    """Whether `right` may follow `name` without brackets, as in a × b × c."""
    return name == "multiply" and _is(right, "multiply")


def _has_seed(e: Expression) -> bool:
    if isinstance(e, Apply):
        return any(map(_has_seed, e.args))
    return isinstance(e, Leaf) and e.kind != VALUE


def readable(expression: Expression | None) -> Expression | None:
    """The expression without detours, or `None` if there is none worth reading."""
    if expression is None or size(expression) >= 4 * LONGEST:
        return None
    expression = simplified(expression)
    return expression if size(expression) <= LONGEST else None


def primal_of(step: RecordedStep) -> Expression:
    """What a step computes."""
    args = tuple([Literal(o.value) if isinstance(o, Constant) else Leaf(VALUE, o) for o in step.operands])
    return Apply(step.name, args, step.params, shape_of(step.results[0].value))


def factor_of(expression: Expression) -> Expression:
    """An adjoint's share as a product, also where the factor is ±1: v̄₅ × (−1)."""
    if isinstance(expression, Leaf):
        return Apply("multiply", (expression, Literal(1)), {}, _shape(expression))
    if _is(expression, "negative") and isinstance(expression.args[0], Leaf):
        return Apply("multiply", (expression.args[0], Literal(-1)), {}, _shape(expression))
    return expression


# --------------------------------------------------------------------------------------------------------- writing

Names = Callable[[Leaf], str]


def written(expression: Expression, style: Style, names: Names | None = None) -> str:
    """An expression with the names of its variables, or with what `names` gives for them."""
    return _Writer(style, names or (lambda leaf: _named(leaf, style))).write(expression)[0]


def with_numbers(expression: Expression, style: Style, value_of: Callable[[Leaf], Any]) -> str | None:
    """An expression with numbers for the variables; `None` if some are not single numbers."""
    if not _is_scalar(expression):
        return None
    return written(expression, style, lambda leaf: number(value_of(leaf)))


def _is_scalar(e: Expression) -> bool:
    if isinstance(e, Apply):
        return e.shape == () and all(map(_is_scalar, e.args))
    return _shape(e) == ()


def _named(leaf: Leaf, style: Style) -> str:
    return style.variable(leaf.variable.index, "" if leaf.kind == VALUE else leaf.kind)


class _Writer:
    """Writes an expression; every part comes with how tightly it binds."""

    def __init__(self, style: Style, names: Names):
        self.style = style
        self.names = names

    def write(self, e: Expression) -> tuple[str, float]:
        if isinstance(e, Leaf):
            return self._atom(self.names(e))
        if isinstance(e, Literal):
            return self._constant(e.value)
        if e.name in _INFIX and len(e.args) == 2:
            return self._infix(e)
        if e.name == "negative":
            return self.style.number("-") + self._inside(e.args[0], 2), _NEGATIVE
        if e.name == "power" and len(e.args) == 2:
            return self.style.power(self._inside(e.args[0], _ATOM), self.write(e.args[1])[0]), _POWER
        return self._named_function(e)

    def _atom(self, text: str) -> tuple[str, float]:
        """A name or number; one with a sign binds as a negation does."""
        signed = text.startswith(("-", "−"))
        compound = text.endswith("i") and " " in text  # a complex number
        return self.style.number(text), _NEGATIVE if signed else 1 if compound else _ATOM

    def _constant(self, value: Any) -> tuple[str, float]:
        if shape_of(value) == () and isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
            return self._atom(number(value[()] if isinstance(value, np.ndarray) else value))
        text = summary(value)
        return self.style.plain(text if text.startswith("[") and len(text) < 24 else f"({text})"), _ATOM

    def _inside(self, e: Expression, at_least: float) -> str:
        text, binds = self.write(e)
        return text if binds >= at_least else self.style.left + text + self.style.right

    def _infix(self, e: Apply) -> tuple[str, float]:
        mark, binds = _INFIX[e.name]
        left = self._inside(e.args[0], binds if binds != 1 else _NEGATIVE - 0.5)
        right, tightness = self.write(e.args[1])
        if e.name in ("add", "subtract") and right[:1] in "-−" and tightness == _NEGATIVE:
            mark, right = ("−" if mark == "+" else "+"), right[1:]  # a − (−b) = a + b
        elif tightness < binds or (tightness == binds and e.name != "add" and not _is_product(e.name, e.args[1])):
            right = self.style.left + right + self.style.right
        if self.style.multiply != "×":
            mark = _LATEX_INFIX.get(mark, mark)
        return f"{left} {self.style.plain(mark) if mark in '<>' else mark} {right}", binds

    def _named_function(self, e: Apply) -> tuple[str, float]:
        style, args = self.style, e.args
        if e.name == "index":
            return self._inside(args[0], _ATOM) + style.plain(self._place(e.params, args[1:])), _ATOM
        if e.name in ("store", "add_at"):
            mark = "←" if e.name == "store" else "+←"
            place = self._place(e.params, args[2:])
            text = self._inside(args[0], 0) + style.plain(f" {place} {mark} ") + self._inside(args[1], 0)
            return text, 0.5
        if e.name == "scatter" and len(e.params["patterns"]) == 1 and len(args) == 1:
            text = self.style.plain(f"0 {self._place({'pattern': e.params['patterns'][0]}, ())} ← ")
            return text + self._inside(args[0], 0), 0.5
        if e.name == "transpose" and len(_shape(args[0])) <= 2:
            return style.power(self._inside(args[0], _ATOM), "ᵀ" if style.multiply == "×" else r"\top"), _ATOM
        word = style.word(_WORDS.get(e.name, e.name))
        if e.name in _PREFIX and len(args) == 1 and not _axes(e.params):
            text, binds = self.write(args[0])
            if binds >= _ATOM:
                space = "" if word in ("√", "Σ") else " "
                return (f"{word}{{{text}}}" if word.startswith("\\") else f"{word}{space}{text}"), _APPLIED
            return f"{word}{style.left}{text}{style.right}", _APPLIED
        parts = [self.write(a)[0] for a in args] + [style.plain(text) for text in _shown(e.name, e.params)]
        which = style.plain(f"[{e.which}]") if e.which is not None else ""
        return f"{word}{style.left}{', '.join(parts)}{style.right}{which}", _ATOM

    def _place(self, params: dict, arrays: tuple[Expression, ...]) -> str:
        given = iter(arrays)
        items = [_item(item) or self.write(next(given, Literal(0)))[0] for item in params.get("pattern", ())]
        return "[" + ", ".join(items) + "]"


def _item(item: Any) -> str:
    """One item of an index; an empty text where an array stands."""
    if item is Ellipsis:
        return "…"
    if item is None:
        return "new"
    if isinstance(item, slice):
        ends = ["" if part is None else str(part) for part in (item.start, item.stop, item.step)]
        return ":".join(ends if ends[2] else ends[:2])
    return str(item) if isinstance(item, (int, np.integer)) else ""


_TELLING = {"axis", "axes", "subscripts", "shape", "k", "n", "decimals", "lower", "ord", "norm"}


def _axes(params: dict) -> bool:
    return params.get("axis") is not None


def _shown(name: str, params: dict) -> list[str]:
    """Parameters that a reader wants to know."""
    return [f"{key}={_param(value)}" for key, value in params.items() if key in _TELLING and value is not None]


def _param(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 1:
        return str(value[0])
    return str(value) if isinstance(value, (int, float, str, tuple)) else type(value).__name__


_SHORT = {"add": "+", "subtract": "−", "multiply": "×", "divide": "/", "matmul": "@", "negative": "−", "power": "^",
          "index": "[ ]", "store": "[ ] ←", "less": "<", "less_equal": "≤", "greater": ">", "greater_equal": "≥",
          "equal": "=", "not_equal": "≠"}  # fmt: skip


def symbol_of(step: RecordedStep) -> str:
    """An operation in a word or sign, for a node of a graph."""
    if step.name == "power" and isinstance(step.operands[1], Constant) and not shape_of(step.operands[1].value):
        return "( )" + Style().power("", number(step.operands[1].value))
    return _SHORT.get(step.name) or _WORDS.get(step.name, step.name)
