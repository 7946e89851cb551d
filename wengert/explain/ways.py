"""`wg.compare_ways`: one derivative by all ways of the survey's second section, with errors and costs.

Numerical differentiation (differences, complex step), symbolic differentiation (SymPy), and automatic differentiation
in both modes. Errors are measured against the derivative computed with fifty digits: reverse mode over SymPy's numbers
(`closed_form.py`), at the very point that the floating-point numbers mean.
"""

from __future__ import annotations

import html
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from wengert import tree
from wengert.api import numerical
from wengert.api.grad import grad
from wengert.api.jacobian import jacfwd
from wengert.api.operators import operation
from wengert.errors import MissingPackageError, WengertError
from wengert.explain import tables
from wengert.explain.algebra import Symbolic, symbolic
from wengert.explain.closed_form import evaluate, exact_ratio, sympy
from wengert.explain.counting import count_operations
from wengert.explain.pictures import Picture
from wengert.explain.report import Report
from wengert.explain.step_errors import StepErrors, step_errors
from wengert.explain.summary import summary
from wengert.types import shape_of

_DIGITS = 50
_LARGEST = 20_000
"""Symbolic derivatives of more operations than this are not compiled."""


@dataclass(frozen=True)
class Way:
    """One way to the derivative.

    `error` is the largest error of an element, relative to the largest element; `seconds` is the time of one
    evaluation, `preparation` what came before it once (of the symbolic way: finding and compiling the expression).
    `operations` are those on scalars of one evaluation. A way that is not possible says so in `problem`.
    """

    name: str
    derivative: Any = None
    error: float = float("nan")
    seconds: float = float("nan")
    operations: int = 0
    calls: int = 0
    preparation: float = 0.0
    problem: str = ""


class Ways(Report):
    """A derivative by every way; made by `wg.compare_ways`. Printed it is a table.

    `rows` are the ways as data, `reference` is the derivative to fifty digits (`None` if it could not be computed so;
    then errors are differences from reverse mode), `step_errors` the errors of differences against their step.
    """

    def __init__(self, f: Callable, x: Any, repeat: int):
        self._f, self._x = f, x
        self.name = getattr(f, "__name__", "f").replace("<lambda>", "f")
        self.operations = count_operations(f, x)
        self.reference = _reference(f, x)
        self._against = np.array(_flat(grad(f)(x)), object) if self.reference is None else self.reference
        self.rows: list[Way] = []
        for method in ("forward", "central", "five-point", "complex-step"):
            self.rows.append(self._numerical(method, repeat))
        self.rows.append(self._symbolic(repeat))
        for name, operator in (("AD, forward mode", jacfwd), ("AD, reverse mode", grad)):
            self.rows.append(self._measured(Way(name), operator(f), repeat, count_operations(operator(f), x), 1))

    def __getitem__(self, name: str) -> Way:
        return next(row for row in self.rows if row.name == name)

    # ------------------------------------------------------------------------------------------------------ the ways

    def _measured(self, way: Way, of: Callable, repeat: int, operations: int, calls: int) -> Way:
        best = np.inf
        for _ in range(max(1, repeat)):
            start = time.perf_counter()
            found = of(self._x)
            best = min(best, time.perf_counter() - start)
        return Way(way.name, found, self.error(_flat(found)), float(best), operations, calls, way.preparation)

    def _numerical(self, method: str, repeat: int) -> Way:
        calls = 0

        def counted(x: Any) -> Any:
            nonlocal calls
            calls += 1
            return self._f(x)

        name = "complex step" if method == "complex-step" else f"differences, {method}"
        try:
            numerical.grad(counted, method=method)(self._x)
            return self._measured(
                Way(name), numerical.grad(self._f, method=method), repeat, calls * self.operations, calls
            )
        except (TypeError, ValueError, WengertError) as error:
            return Way(name, problem=str(error).splitlines()[0])

    def _symbolic(self, repeat: int) -> Way:
        name = "symbolic, SymPy"
        start = time.perf_counter()
        try:
            found: Symbolic = symbolic(self._f, self._x)
            operations = sum(int(sympy().count_ops(e)) for e in _flat(found.derivative))
            if operations > _LARGEST:
                return Way(name, operations=operations, problem=f"an expression of {operations} operations")
            found.gradient(self._x)
        except (WengertError, TypeError, NameError) as error:  # NameError: NumPy has no word for a function of SymPy's
            return Way(name, problem=str(error).splitlines()[0])
        way = Way(name, preparation=time.perf_counter() - start)
        return self._measured(way, found.gradient, repeat, operations, 0)

    def error(self, derivative: list[Any]) -> float:
        """The largest error of a derivative, relative to the largest element of the exact one."""
        if len(derivative) != len(self._against):
            return float("nan")
        if not all(np.isfinite(np.asarray(derivative, complex))):
            return float("inf")
        if self.reference is None:
            reference = np.asarray(self._against, float)
            return float(np.max(np.abs(np.asarray(derivative, float) - reference)) / (np.max(np.abs(reference)) or 1.0))
        worst = max(abs(exact_ratio(d) - r) for d, r in zip(derivative, self._against, strict=True))
        return float(worst / (max(abs(r) for r in self._against) or 1))

    @cached_property
    def step_errors(self) -> StepErrors:
        """The errors of forward and center differences against their step (the survey's Figure 3)."""
        leaves, structure = tree.flatten(self._x)
        shapes = [shape_of(a) for a in leaves]
        ends = np.cumsum([int(np.prod(s)) for s in shapes])
        start = np.concatenate([np.ravel(a) for a in leaves]).astype(float)

        def of_vector(v: np.ndarray) -> float:
            parts = [p.reshape(s)[()] for p, s in zip(np.split(v, ends[:-1]), shapes, strict=True)]
            return float(self._f(tree.unflatten(structure, parts)))

        return step_errors(of_vector, start, lambda d: self.error(list(d)))

    # ------------------------------------------------------------------------------------------------------- shown

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = ["way", "error", "time", "prepared in", "operations", "calls of f", "derivative"]
        rows = []
        for way in self.rows:
            if way.problem:
                rows.append([way.name, "–", "–", "–", "–", "–", f"not possible: {way.problem}"])
                continue
            shown = summary(np.asarray(_flat(way.derivative), float)) if len(_flat(way.derivative)) > 1 else None
            rows.append([
                way.name, f"{way.error:.1e}", tables.seconds(way.seconds),
                tables.seconds(way.preparation) if way.preparation else "", str(way.operations),
                str(way.calls) if way.calls else "", shown or f"{float(_flat(way.derivative)[0]):.17g}",
            ])  # fmt: skip
        return head, rows

    def _heading(self) -> str:
        against = "the difference from reverse mode" if self.reference is None else f"against {_DIGITS} digits"
        return f"{self.name}: {self.operations} operations; errors are relative, {against}"

    def text(self) -> str:
        """The table as text."""
        return f"{self._heading()}\n\n{tables.as_text(*self._table(), left=[0, 6])}"

    __str__ = __repr__ = text

    def html(self) -> str:
        """The table and the picture as HTML."""
        return f"<p>{html.escape(self._heading())}</p>{tables.as_html(*self._table(), left=[0, 6])}{self.svg}"

    @property
    def svg(self) -> Picture:
        """The errors of differences against their steps."""
        return self.step_errors.svg


def _flat(derivative: Any) -> list[Any]:
    return [v for leaf in tree.leaves(derivative) for v in np.ravel(leaf)]


def _reference(f: Callable, x: Any) -> np.ndarray | None:
    """The gradient to many digits, as numbers of SymPy; `None` if the program does what they cannot."""
    leaves, structure = tree.flatten(x)
    try:
        sp = sympy()
        convert = np.frompyfunc(lambda v: sp.Float(exact_ratio(v), _DIGITS), 1, 1)
        precise = [np.asarray(convert(a), object) for a in leaves]
        found = evaluate(lambda *given: tree.leaves(grad(f)(tree.unflatten(structure, given))), precise, _DIGITS)
    except (WengertError, TypeError, ValueError, MissingPackageError):
        return None
    numbers = np.array([sp.N(e, _DIGITS) for a in found for e in np.ravel(a)], object)
    return numbers if all(n.is_Float or n.is_Rational for n in numbers) else None


@operation
def compare_ways(f: Callable, x: Any, *, repeat: int = 5) -> Ways:
    """The derivative of `f` at `x` by every way: numerical, symbolic, automatic in both modes; with errors and costs.

    Args:
        f: a function of one argument, a number, an array or a container of these, that returns one real number.
        x: where.
        repeat: how often each is timed; the shortest time counts.

    Returns:
        A `Ways`: printed it is a table, in a notebook with a picture of the error of differences against their step
        (Figure 3 of the survey), which is `.step_errors`. Without SymPy (the extra `symbolic`) the symbolic row is
        missing, and errors are differences from reverse mode.

    >>> import wengert as wg
    >>> def f(x):
    ...     for _ in range(3):
    ...         x = 4 * x * (1 - x)
    ...     return x
    >>> ways = wg.compare_ways(f, 0.2, repeat=1)
    >>> ways["AD, reverse mode"].error < 1e-15 < 1e-10 < ways["differences, forward"].error
    True
    >>> ways["AD, reverse mode"].operations < ways["symbolic, SymPy"].operations
    True
    """
    return Ways(f, x, repeat)
