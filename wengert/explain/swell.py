"""`wg.expression_swell`: how expressions grow when they are differentiated, beside what automatic differentiation does.

Table 1 of the survey (Baydin et al. 2018): iterates of a map as one expression, its derivative as the rules of calculus
give it, the derivative simplified; sizes are numbers of operations. The same program, differentiated automatically,
does a number of operations that grows as the program's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wengert.api.grad import grad
from wengert.api.operators import operation
from wengert.api.products import jvp
from wengert.explain import tables
from wengert.explain.closed_form import sympy
from wengert.explain.counting import count_operations


@dataclass(frozen=True)
class Swell:
    """The n-th iterate: its expression, and numbers of operations.

    `expression`, `derivative` and `simplified` are SymPy's expressions; `operations` has the number of operations of
    each, and of the program, of forward and of reverse mode.
    """

    n: int
    expression: Any
    derivative: Any
    simplified: Any
    operations: dict[str, int]


class SwellTable(list[Swell]):
    """The rows of `wg.expression_swell`; printed it is a table."""

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = ["n", "lₙ", "dlₙ/dx", "simplified", "program", "forward AD", "reverse AD", "lₙ as an expression"]
        rows = []
        for row in self:
            text = str(row.expression)
            text = text if len(text) <= 60 else f"{text[:57]}… ({len(text)} characters)"
            rows.append([str(row.n), *map(str, row.operations.values()), text])
        return head, rows

    def __str__(self) -> str:
        return tables.as_text(*self._table(), left=[7])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return tables.as_html(*self._table(), left=[7])


def logistic(x: Any) -> Any:
    """The logistic map of the survey: 4x(1 − x)."""
    return 4 * x * (1 - x)


@operation
def expression_swell(n: int = 6, step: Callable = logistic, x: float = 0.2) -> SwellTable:
    """Sizes of the iterates l₁ = x, lₖ₊₁ = step(lₖ) and their derivatives, for k up to n.

    Args:
        n: how many iterates. Expressions grow exponentially: eight of the logistic map take seconds.
        step: the map, a function of one number in closed form.
        x: where the program is run to count the operations of automatic differentiation.

    Returns:
        The rows of the survey's Table 1 with sizes, as a list that prints as a table. Needs SymPy.

    >>> import wengert as wg
    >>> swell = wg.expression_swell(4)
    >>> swell[1].expression, swell[1].derivative, swell[1].simplified
    (4*x*(1 - x), 4 - 8*x, 4*(1 - 2*x))
    >>> [row.operations["dlₙ/dx"] for row in swell], [row.operations["program"] for row in swell]
    ([0, 2, 21, 82], [0, 3, 6, 9])
    """
    sp = sympy()
    symbol = sp.Symbol("x", real=True)
    rows = SwellTable()
    expression = symbol
    for k in range(1, n + 1):
        if k > 1:
            expression = step(expression)
        derivative = sp.diff(expression, symbol)
        simplified = sp.factor_terms(sp.expand(derivative))
        program = _iterate(step, k)
        rows.append(
            Swell(k, expression, derivative, simplified, {
                "lₙ": int(sp.count_ops(expression)),
                "dlₙ/dx": int(sp.count_ops(derivative)),
                "simplified": int(sp.count_ops(simplified)),
                "program": count_operations(program, x),
                "forward AD": count_operations(lambda v: jvp(program, (v,), (1.0,)), x),  # noqa: B023
                "reverse AD": count_operations(grad(program), x),
            })
        )  # fmt: skip
    return rows


def _iterate(step: Callable, n: int) -> Callable:
    def iterate(x: Any) -> Any:
        for _ in range(n - 1):
            x = step(x)
        return x

    return iterate
