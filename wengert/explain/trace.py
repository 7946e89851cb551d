"""`wg.trace`: the Wengert list of an evaluation, with tangents and adjoints.

    >>> import numpy as np, wengert as wg
    >>> def f(x1, x2):
    ...     a, b, c = np.log(x1), x1 * x2, np.sin(x2)
    ...     return a + b - c
    >>> t = wg.trace(f, 2.0, 5.0, tangent=(1.0, 0.0))
    >>> print(t.text(source=False))
    Forward primal trace                         Forward tangent trace
    v₋₁ = x₁        = 2                          v̇₋₁ = ẋ₁                   = 1
    v₀  = x₂        = 5                          v̇₀  = ẋ₂                   = 0
    ──────────────────────────────────────────────────────────────────────────────────────────────
    v₁  = ln v₋₁    = ln 2            = 0.693    v̇₁  = v̇₋₁ / v₋₁            = 1 / 2          = 0.5
    v₂  = v₋₁ × v₀  = 2 × 5           = 10       v̇₂  = v̇₋₁ × v₀ + v̇₀ × v₋₁  = 1 × 5 + 0 × 2  = 5
    v₃  = sin v₀    = sin 5           = −0.959   v̇₃  = v̇₀ × cos v₀          = 0 × cos 5      = 0
    v₄  = v₁ + v₂   = 0.693 + 10      = 10.693   v̇₄  = v̇₁ + v̇₂              = 0.5 + 5        = 5.5
    v₅  = v₄ − v₃   = 10.693 + 0.959  = 11.652   v̇₅  = v̇₄ − v̇₃              = 5.5 − 0        = 5.5
    ──────────────────────────────────────────────────────────────────────────────────────────────
    y   = v₅        = 11.652                     ẏ   = v̇₅                   = 5.5

The evaluation is listed by a mode of its own (`recording.py`); derivatives come from the library's rules (`sweeps.py`),
and so do the expressions (`symbolic.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wengert import tree
from wengert.api.arguments import Argnums, Prepared, result_like, snapshot
from wengert.api.operators import operation
from wengert.errors import NotDifferentiableInputError
from wengert.explain import table
from wengert.explain.graph import Graph, graph_of
from wengert.explain.pictures import Picture
from wengert.explain.place import CallSite
from wengert.explain.recording import Listing, Operand, Variable, list_evaluation
from wengert.explain.report import Report
from wengert.explain.sweeps import Contribution, Derivatives, adjoints, tangents
from wengert.types import aval_of, dtype_of, is_inexact, shape_of


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list. `operands` are the names of variables, or the values of constants."""

    name: str
    operation: str
    operands: tuple[Any, ...]
    value: Any
    shape: tuple[int, ...]
    place: CallSite | None
    tangent: Any = None
    adjoint: Any = None


class WengertList(Report):
    """The Wengert list of an evaluation; made by `wg.trace`.

    Shown as a table in a terminal and in a notebook; `text`, `markdown` and `latex` are that table, `graph()` the
    computational graph. `rows` are the entries as data.
    """

    def __init__(self, name: str, prepared: Prepared, listing: Listing, names: Sequence[str]):
        self.name = name
        self.listing = listing
        letter = next((c for c in "yzw" if c not in names), "result")
        several = len(listing.outputs) > 1
        self.output_names = [f"{letter}{k + 1}" if several else letter for k in range(len(listing.outputs))]
        for variable, input_name in zip(listing.inputs, names, strict=True):
            variable.name = input_name
        self._prepared = prepared
        self.tangents: Derivatives | None = None
        self.adjoints: Derivatives | None = None
        self.contributions: list[Contribution] = []
        self._seeds: list[Any] = []

    # ------------------------------------------------------------------------------------------------ derivatives

    def push(self, seeds: Sequence[Any]) -> None:
        """Fill in the tangents for those of the inputs."""
        self.tangents = tangents(self.listing, seeds)

    def pull(self, seeds: Sequence[Any]) -> None:
        """Fill in the adjoints for those of the outputs."""
        self._seeds = list(seeds)
        self.adjoints, self.contributions = adjoints(self.listing, seeds)

    def seed_of(self, output: Variable) -> Any:
        """The adjoint that an output starts with."""
        return next(s for o, s in zip(self.listing.outputs, self._seeds, strict=True) if o is output)

    @property
    def value(self) -> Any:
        """What the function returned."""
        return self._prepared.outputs([o.value for o in self.listing.outputs])

    @property
    def tangent(self) -> Any:
        """The tangent of the function's value, in its containers, as `wg.jvp` gives it; `None` if not asked for."""
        dots = self.tangents
        return None if dots is None else self._prepared.outputs([_filled(o, dots) for o in self.listing.outputs])

    @property
    def gradient(self) -> Any:
        """The adjoints of the inputs, one for each argument, as `wg.vjp` gives them; `None` if not asked for."""
        bars = self.adjoints
        return None if bars is None else self._prepared.inputs([_filled(v, bars) for v in self.listing.inputs])

    # ------------------------------------------------------------------------------------------------------- data

    @property
    def rows(self) -> list[Row]:
        """The list as data: inputs, then one row for each result of each operation."""
        found = []
        for v in self.listing.variables:
            step = v.step
            operands = () if step is None else tuple([_name(o) for o in step.operands])
            found.append(
                Row(
                    _name(v), "input" if step is None else step.name, operands, v.value, shape_of(v.value),
                    None if step is None else step.place,
                    None if self.tangents is None else _filled(v, self.tangents),
                    None if self.adjoints is None else _filled(v, self.adjoints),
                )
            )  # fmt: skip
        return found

    def __len__(self) -> int:
        return len(self.listing.variables)

    # ------------------------------------------------------------------------------------------------------ shown

    def text(self, rows: int | None = None, source: bool = True) -> str:
        """The table as text; of a long one the first and last `rows / 2` operations, and the source lines if wanted."""
        return table.text(table.build(self, "text", rows), source)

    def __str__(self) -> str:
        return self.text(rows=60)

    __repr__ = __str__

    def markdown(self, rows: int | None = None) -> str:
        """The table in Markdown."""
        return table.markdown(table.build(self, "text", rows))

    def latex(self, rows: int | None = None) -> str:
        """The table as LaTeX, laid out as in the survey; it needs the packages booktabs and amsmath."""
        return table.latex(table.build(self, "latex", rows))

    def html(self, rows: int | None = None) -> str:
        """The table as HTML."""
        return table.html(table.build(self, "html", rows))

    def _repr_html_(self) -> str:
        return self.html(rows=100)

    @property
    def svg(self) -> Picture:
        """The computational graph as a picture."""
        return Picture(self.graph().svg)

    def graph(self, fold: str | None = None) -> Graph:
        """The computational graph.

        `fold` says what becomes one node: "none" (each operation), "line" (all operations of a source line),
        "function"; if it is not given, as little as leaves the picture readable.
        """
        return graph_of(self, fold)


def _name(operand: Operand) -> Any:
    return f"v{operand.index}" if isinstance(operand, Variable) else operand.value


def _filled(operand: Operand, derivatives: Derivatives) -> Any:
    return result_like(operand.value, derivatives.get(operand) if isinstance(operand, Variable) else None)


@operation
def trace(
    f: Callable,
    *args: Any,
    tangent: Any = None,
    cotangent: Any = None,
    argnums: Argnums | None = None,
    **kwargs: Any,
) -> WengertList:
    """The Wengert list of `f(*args, **kwargs)`: every elementary operation, with its operands, value and source line.

    Args:
        f: a function of numbers, arrays and containers of them.
        args: where to evaluate it.
        tangent: tangents of the arguments, one for each (or, of a single argument, that); adds the tangent trace.
        cotangent: a cotangent of the result, in its containers; adds the adjoint trace.
        argnums: which arguments are inputs; if it is not given, all that hold floating-point numbers.

    Returns:
        A `WengertList`: printed it is the table of the survey (Baydin et al. 2018, tables 2 and 3).

    Cost: some hundred microseconds for each operation, and the memory of all intermediate values.

    >>> import numpy as np
    >>> t = trace(lambda x: np.exp(x) * x, 1.0, cotangent=1.0)
    >>> [row.operation for row in t.rows], t.gradient
    (['input', 'exp', 'multiply'], (np.float64(5.43656),))
    """
    chosen = _inputs(args) if argnums is None else argnums
    prepared = Prepared(f, (chosen,) if isinstance(chosen, int) else chosen, args, kwargs, False)
    prepared.leaves = [snapshot(x) for x in prepared.leaves]
    listing = list_evaluation(prepared, prepared.leaves)
    found = WengertList(getattr(f, "__name__", "f"), prepared, listing, _names(f, prepared, args))
    if tangent is not None:
        single = len(prepared.argnums) == 1 and not (isinstance(tangent, tuple) and len(tangent) == 1)  # type: ignore[arg-type]
        found.push(prepared.input_leaves((tangent,) if single else tuple(tangent), "the tangent"))
    if cotangent is not None:
        avals = [aval_of(o.value) for o in listing.outputs]
        found.pull(prepared.output_leaves(cotangent, avals))
    return found


def _inputs(args: tuple) -> tuple[int, ...]:
    """The arguments that hold numbers which have derivatives."""
    found = tuple([k for k, a in enumerate(args) if any(map(_has_derivative, tree.leaves(a)))])
    if not found:
        raise NotDifferentiableInputError(
            "there is no floating-point number among the arguments", remedy="pass 2.0 instead of 2"
        )
    return found


def _has_derivative(leaf: Any) -> bool:
    try:
        return is_inexact(dtype_of(leaf))
    except (TypeError, ValueError):
        return False


def _names(f: Callable, prepared: Prepared, args: tuple) -> list[str]:
    """What the inputs are called: the function's parameters, with the path to the leaf."""
    try:
        parameters = inspect.signature(f).parameters.values()
        known = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    except (TypeError, ValueError):
        known = []
    names = []
    for k in prepared.argnums:  # type: ignore[union-attr]
        k = k % len(args)
        name = known[k] if k < len(known) else f"x{k + 1}"
        names += [f"{name}{path}" for path in tree.paths(args[k])]
    return names
