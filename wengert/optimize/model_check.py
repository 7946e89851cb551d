"""What is wrong with a model: looked for in its structure, at the start, and at points between the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import structural_rank

from wengert.optimize.expressions import names_in
from wengert.optimize.linear_part import LinearPart

if TYPE_CHECKING:
    from wengert.optimize.model import Model

_SPREAD = 1e6
"""Slopes that differ by more than this are badly scaled."""
_MOST_DENSE = 1500
"""Up to so many rows the rank is that of numbers, above that of the pattern."""


@dataclass(frozen=True)
class ModelFinding:
    """One thing: `kind` in a word or two, what it is about, and what it means."""

    kind: str
    subject: str
    text: str
    is_error: bool = False

    def __str__(self) -> str:
        return f"{'error' if self.is_error else 'note'}: {self.subject}: {self.text} ({self.kind})"


class ModelReport:
    """What `Model.check` found. It is true if there is nothing wrong; notes are no errors."""

    def __init__(self, name: str, findings: list[ModelFinding]):
        self.name, self.findings = name, findings

    @property
    def errors(self) -> list[ModelFinding]:
        return [f for f in self.findings if f.is_error]

    @property
    def kinds(self) -> set[str]:
        return {f.kind for f in self.findings}

    def __bool__(self) -> bool:
        return not self.errors

    def __str__(self) -> str:
        if not self.findings:
            return f"{self.name}: nothing found"
        return "\n".join([f"{self.name}: {len(self.errors)} errors, {len(self.findings) - len(self.errors)} notes",
                          *[f"  {f}" for f in self.findings]])  # fmt: skip

    __repr__ = __str__


def checked(model: Model, flat: Any) -> ModelReport:
    """The report on a model; `flat` is its program on vectors, without scales."""
    findings: list[ModelFinding] = []
    found = lambda *args, **kwargs: findings.append(ModelFinding(*args, **kwargs))
    if not model.variables:
        found("no variables", model.name, "there is nothing to choose", is_error=True)
        return ModelReport(model.name, findings)
    _structure(model, found)
    if flat is not None:
        _numbers(model, flat, found)
    return ModelReport(model.name, findings)


def _structure(model: Model, found: Any) -> None:
    if model.objective is None:
        found("no objective", model.name, "any feasible point is a solution")
    used: dict[str, list[str]] = {name: [] for name in model.variables}
    for what, expression in [
        *[(c.name, c.expression) for c in model.constraints.values()],
        *([("the objective", model.objective)] if model.objective is not None else []),
    ]:
        own = [e.name for e in names_in(expression) if e.name in model.variables]
        for name in own:
            used[name].append(what)
        if not own:
            _constant(model, what, expression, found)
    for name, places in used.items():
        if not places:
            found("unused", name, "the variable appears nowhere")
    for name, v in model.variables.items():
        start = v.expression.value
        if np.any((start < v.lower) | (start > v.upper)):
            found("start outside", name, "the start lies outside of the bounds")
        if np.any(v.lower == v.upper):
            found("fixed", name, f"{_count(v.lower == v.upper)} held by equal bounds; a parameter would say so")
        if np.any(np.isnan(v.lower) | np.isnan(v.upper) | (v.lower == np.inf) | (v.upper == -np.inf)):
            found("bounds", name, "a bound is NaN or infinite in the wrong direction", is_error=True)
    for c in model.constraints.values():
        if np.any(c.lower > c.upper):
            found("inconsistent", c.name, "the lower limit is above the upper one", is_error=True)


def _count(mask: np.ndarray) -> str:
    return "it is" if np.size(mask) == 1 else f"{int(np.sum(mask))} of {np.size(mask)} elements are"


def _constant(model: Model, what: str, expression: Any, found: Any) -> None:
    if what == "the objective":
        found("constant", what, "the objective depends on no variable", is_error=True)
        return
    c = model.constraints[what]
    holds = np.all((expression.value >= c.lower) & (expression.value <= c.upper))
    says = "which always holds" if holds else "which never holds"
    found("constant", what, f"the constraint depends on no variable, {says}", is_error=not holds)


def _numbers(model: Model, flat: Any, found: Any) -> None:
    program = flat.program
    rng = np.random.default_rng(0)
    points = [program.x0, *[_between(program, rng) for _ in range(3)]]
    with np.errstate(all="ignore"):
        derivatives = [program.first(x) for x in points]
    value, slope, rows, J = derivatives[0]
    labels = flat.labels()
    if not np.isfinite(value):
        found("not finite", "the objective", f"it is {value} at the start", is_error=True)
    elif not np.all(np.isfinite(slope)):
        found("not finite", "the objective", "its gradient is not finite at the start", is_error=True)
    for name, own in labels.items():
        if own.size and not np.all(np.isfinite(rows[own])):
            found("not finite", name, "it is not finite at the start", is_error=True)
        elif own.size and not np.all(np.isfinite(_dense_rows(J, own))):
            found("not finite", name, "its derivative is not finite at the start", is_error=True)
    good = [d for d in derivatives if np.all(np.isfinite(d[2])) and np.all(np.isfinite(_data(d[3])))]
    if len(good) > 1:
        _flat_rows(labels, good, found)
    if good:
        _slopes(flat, good, labels, found)
        _ranks(program, good[-1][3], labels, found)
    _linear_part(model, flat, derivatives, labels, found)


def _between(program: Any, rng: np.random.Generator) -> np.ndarray:
    """A point within the bounds, near the start."""
    step = rng.uniform(-1, 1, program.n) * (1 + np.abs(program.x0))
    return np.clip(program.x0 + step, program.lower, program.upper)


def _data(matrix: Any) -> np.ndarray:
    return matrix.data if sp.issparse(matrix) else np.asarray(matrix)


def _dense_rows(J: Any, rows: np.ndarray) -> np.ndarray:
    return _data(sp.csr_array(J)[rows]) if sp.issparse(J) else np.asarray(J)[rows]


def _flat_rows(labels: dict[str, np.ndarray], good: list, found: Any) -> None:
    """Rows that change from point to point without a slope: steps, of which nothing can be said by derivatives."""
    size = np.max([np.asarray(abs(d[3]).sum(axis=1)).ravel() for d in good], axis=0)
    change = np.ptp([d[2] for d in good], axis=0)
    for name, own in labels.items():
        steps = (size[own] == 0) & (change[own] > 0)
        if np.any(steps):
            found("never differentiable", name, f"{_count(steps)} constant in steps: the derivative is zero everywhere",
                  is_error=True)  # fmt: skip
        elif own.size and np.any((size[own] == 0) & (change[own] == 0)):
            found("no variables", name, "a row depends on no variable, as far as can be seen")


def _slopes(flat: Any, good: list, labels: dict[str, np.ndarray], found: Any) -> None:
    slope, J = np.abs(good[0][1]), abs(sp.csr_array(good[0][3]))
    largest = {name: float(J[own].max()) for name, own in labels.items() if own.size}
    if np.max(slope, initial=0.0) > 0:
        largest["the objective"] = float(np.max(slope))
    sizes = {name: size for name, size in largest.items() if size > 0}
    if sizes and max(sizes.values()) / min(sizes.values()) > _SPREAD:
        low, high = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        found("badly scaled", high, f"its slopes are up to {sizes[high]:.1e}, those of {low} up to {sizes[low]:.1e}: "
              "measure in other units, or multiply a constraint by a number")  # fmt: skip
    columns = np.maximum(np.asarray(J.max(axis=0).todense()).ravel() if flat.program.m else 0.0, slope)
    acting = np.flatnonzero(columns > 0)
    if acting.size and np.max(columns) / np.min(columns[acting]) > _SPREAD:
        least, most = acting[np.argmin(columns[acting])], np.argmax(columns)
        found("badly scaled", flat.name_of(least), f"slopes with respect to it are {columns[least]:.1e}, to "
              f"{flat.name_of(most)} {columns[most]:.1e}: say the size of its values with scale=")  # fmt: skip


def _ranks(program: Any, J: Any, labels: dict[str, np.ndarray], found: Any) -> None:
    if not program.equal:
        return
    free = np.flatnonzero(program.lower < program.upper)
    A = sp.csr_array(J)[: program.equal][:, free]
    if program.equal > free.size:
        found(
            "degenerate",
            "equalities",
            f"there are {program.equal} for {free.size} variables that can move",
            is_error=True,
        )
        return
    if program.equal > _MOST_DENSE:
        rank, dependent = int(structural_rank(A)), None
    else:
        dense = A.toarray()
        norms = np.linalg.norm(dense, axis=1)
        scaled = dense / np.where(norms > 0, norms, 1.0)[:, None]
        values, vectors = np.linalg.eigh(scaled @ scaled.T)
        zero = values < 1e-10
        rank, dependent = int(np.sum(~zero)), np.flatnonzero(np.any(np.abs(vectors[:, zero]) > 1e-3, axis=1))
    if rank < program.equal:
        names = "equalities"
        if dependent is not None and dependent.size:
            names = ", ".join(name for name, own in labels.items() if np.intersect1d(own, dependent).size)
        found("degenerate", names, f"{program.equal - rank} of {program.equal} equalities follow from others, or "
              "contradict them: their gradients depend on each other", is_error=True)  # fmt: skip


def _linear_part(model: Model, flat: Any, derivatives: list, labels: dict[str, np.ndarray], found: Any) -> None:
    """No point satisfies what is linear, or a ray along which the objective falls for ever."""
    program = flat.program
    rng = np.random.default_rng(1)
    far = 1e3 * (1 + np.abs(program.x0)) * rng.uniform(0.1, 1, program.n) * rng.choice([-1, 1], program.n)
    with np.errstate(all="ignore"):  # where kinks would have other slopes
        beyond = [program.first(program.x0 + step) for step in (far, -far)]
    linear = LinearPart.of(program, [*derivatives, *beyond])
    if linear is None:
        return
    conflict = linear.conflicting(program, derivatives[0][2])
    if conflict.size:
        names = [name for name, own in labels.items() if np.intersect1d(own, conflict).size]
        found("infeasible", ", ".join(names), "no point within the bounds satisfies what is linear here", is_error=True)
        return
    if model.objective is None:
        return
    runs = linear.falling(program)
    names = [name for name, places in flat.places().items() if np.any(runs[places])]
    if names:
        found("unbounded", ", ".join(names), "the constraints let it run away, and the objective falls for ever",
              is_error=True)  # fmt: skip
