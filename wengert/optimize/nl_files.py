"""Models as AMPL's files `.nl` (Gay, "Writing .nl files", 2005): prefix expressions, the linear part by coefficients.

Expressions of a model are computed once more, on arrays of `Term`s instead of numbers: NumPy's functions on arrays of
objects call the methods of their elements. What cannot be written in elementary functions, or asks for a value, is
refused. Terms that several others use become defined variables of the file.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.errors import ConcretizationError, UnsupportedFunctionError
from wengert.optimize.expressions import evaluate, operands_first, ordered

if TYPE_CHECKING:
    from wengert.optimize.model import Model

_PLUS, _MINUS, _TIMES, _OVER, _POWER, _NEGATIVE, _SUM = 0, 1, 2, 3, 5, 16, 54
_LEAST, _LARGEST = 11, 12
_METHODS = {
    "absolute": 15, "tanh": 37, "tan": 38, "sqrt": 39, "sinh": 40, "sin": 41, "log10": 42,
    "log": 43, "exp": 44, "cosh": 45, "cos": 46, "arctanh": 47, "arctan": 49, "arcsinh": 50, "arcsin": 51,
    "arccosh": 52, "arccos": 53,
}  # fmt: skip


def _of_numbers(operator: Callable) -> Callable:
    """An operator between terms and numbers; arrays apply it to each of their elements."""

    def apply(self: Term, other: Any) -> Any:
        return NotImplemented if np.ndim(other) else operator(self, other)

    return apply


class Term:
    """A node of an expression: the number of a variable, a constant, or an operation on others."""

    __slots__ = ("code", "operands", "value")

    def __init__(self, code: int, operands: tuple, value: float = 0.0):
        self.code, self.operands, self.value = code, operands, value

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return _applied(ufunc, method, args, kwargs)

    @_of_numbers
    def __add__(self, other: Any) -> Any:
        return _made(_PLUS, self, other) if not _is(other, 0) else self

    @_of_numbers
    def __radd__(self, other: Any) -> Any:
        return _made(_PLUS, other, self) if not _is(other, 0) else self

    @_of_numbers
    def __sub__(self, other: Any) -> Any:
        return _made(_MINUS, self, other) if not _is(other, 0) else self

    @_of_numbers
    def __rsub__(self, other: Any) -> Any:
        return _made(_MINUS, other, self)

    @_of_numbers
    def __mul__(self, other: Any) -> Any:
        return self if _is(other, 1) else 0.0 if _is(other, 0) else _made(_TIMES, self, other)

    __rmul__ = __mul__

    @_of_numbers
    def __truediv__(self, other: Any) -> Any:
        return self if _is(other, 1) else _made(_OVER, self, other)

    @_of_numbers
    def __rtruediv__(self, other: Any) -> Any:
        return _made(_OVER, other, self)

    @_of_numbers
    def __pow__(self, other: Any) -> Any:
        return self if _is(other, 1) else _made(_POWER, self, other)

    @_of_numbers
    def __rpow__(self, other: Any) -> Any:
        return _made(_POWER, other, self)

    def __neg__(self) -> Any:
        return _made(_NEGATIVE, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.absolute()  # type: ignore[attr-defined]

    def __floor__(self) -> Any:
        return _made(13, self)

    def __ceil__(self) -> Any:
        return _made(14, self)

    def square(self) -> Any:
        return self**2

    def reciprocal(self) -> Any:
        return 1.0 / self

    def cbrt(self) -> Any:
        return self ** (1 / 3)

    def exp2(self) -> Any:
        return 2.0**self

    def log2(self) -> Any:
        return self.log() / np.log(2.0)  # type: ignore[attr-defined]

    def expm1(self) -> Any:
        return self.exp() - 1.0  # type: ignore[attr-defined]

    def log1p(self) -> Any:
        return (1.0 + self).log()

    def conjugate(self) -> Any:
        return self

    def arctan2(self, other: Any) -> Any:
        return _made(48, self, other)

    def clip(self, low: Any = None, high: Any = None, out: Any = None) -> Any:
        found = self if low is None else _made(_LARGEST, self, low)
        return found if high is None else _made(_LEAST, found, high)

    def __bool__(self) -> bool:
        raise _undecided()

    def __float__(self) -> float:
        raise _undecided()

    def __lt__(self, other: Any) -> Any:
        raise _undecided()

    __le__ = __gt__ = __ge__ = __lt__


class _Terms(np.ndarray):
    """An array of terms, which knows what NumPy's ufuncs mean where NumPy would ask for values."""

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return _applied(ufunc, method, args, kwargs)


def _applied(ufunc: Any, method: str, args: tuple, kwargs: dict) -> Any:
    """A ufunc of terms, by its elements."""
    plain = lambda x: np.asarray(x, object) if isinstance(x, (Term, _Terms)) else x
    if kwargs.get("out") is not None:
        kwargs = {**kwargs, "out": tuple([plain(x) for x in kwargs["out"]])}
    found = getattr(_INSTEAD.get(ufunc.__name__, ufunc), method)(*[plain(x) for x in args], **kwargs)
    return found.view(_Terms) if isinstance(found, np.ndarray) and found.dtype == object else found


def _undecided() -> ConcretizationError:
    return ConcretizationError(
        "a file .nl is written for all values of the variables, and here one is asked for",
        remedy="write the expression without branches, comparisons and writes into arrays of numbers "
        "(np.stack and np.concatenate join)",
    )


def _method(code: int) -> Any:
    return lambda self: _made(code, self)


for _name, _code in _METHODS.items():
    setattr(Term, _name, _method(_code))

_VARIABLE, _CONSTANT = -1, -2


def _is(x: Any, number: float) -> bool:
    return not isinstance(x, Term) and np.ndim(x) == 0 and x == number


def _made(code: int, *operands: Any) -> Term:
    return Term(code, tuple([x if isinstance(x, Term) else Term(_CONSTANT, (), float(x)) for x in operands]))


def _logaddexp(a: Any, b: Any) -> Term:
    larger, smaller = _made(_LARGEST, a, b), _made(_LEAST, a, b)
    return larger + (smaller - larger).exp().log1p()


_ELEMENTS: dict[str, Callable[..., Any]] = {
    "minimum": lambda a, b: _made(_LEAST, a, b),
    "maximum": lambda a, b: _made(_LARGEST, a, b),
    "clip": lambda x, low, high: _made(_LEAST, _made(_LARGEST, x, low), high),
    "fabs": abs,
    "hypot": lambda a, b: (a**2 + b**2) ** 0.5,
    "logaddexp": _logaddexp,
    "float_power": lambda a, b: a**b,
    "deg2rad": lambda x: x * (np.pi / 180),
    "rad2deg": lambda x: x * (180 / np.pi),
    "expit": lambda x: 1.0 / (1.0 + (-x).exp()),
    "xlogy": lambda x, y: x * y.log(),
}
_ELEMENTS |= {
    "fmin": _ELEMENTS["minimum"],
    "fmax": _ELEMENTS["maximum"],
    "radians": _ELEMENTS["deg2rad"],
    "degrees": _ELEMENTS["rad2deg"],
}
_INSTEAD = {
    name: np.frompyfunc(f, f.__code__.co_argcount if hasattr(f, "__code__") else 1, 1) for name, f in _ELEMENTS.items()
}
"""What NumPy decides by comparing, and what it has no method of elements for."""


class Split(NamedTuple):
    """A row: a constant, coefficients of variables, and what is not linear."""

    constant: float
    linear: dict[int, float]
    nonlinear: list[Term]


def _split(term: Any) -> Split:
    constant, linear, nonlinear = 0.0, defaultdict[int, float](float), []
    pending = [(term, 1.0)]
    while pending:
        t, factor = pending.pop()
        if not isinstance(t, Term):
            constant += factor * float(t)
        elif t.code == _CONSTANT:
            constant += factor * t.value
        elif t.code == _VARIABLE:
            linear[int(t.value)] += factor
        elif t.code == _NEGATIVE:
            pending.append((t.operands[0], -factor))
        elif t.code in (_PLUS, _MINUS):
            left, right = t.operands
            pending += [(right, factor if t.code == _PLUS else -factor), (left, factor)]
        elif t.code == _TIMES and any(x.code == _CONSTANT for x in t.operands):
            number, other = sorted(t.operands, key=lambda x: x.code != _CONSTANT)
            pending.append((other, factor * number.value))
        elif t.code == _OVER and t.operands[1].code == _CONSTANT:
            pending.append((t.operands[0], factor / t.operands[1].value))
        else:
            nonlinear.append(t if factor == 1 else _made(_TIMES, factor, t))
    return Split(constant, dict(linear), nonlinear)


def _below(terms: Sequence[Term]) -> Iterator[Term]:
    """All terms under these, each once."""
    seen: set[int] = set()
    pending = list(terms)
    while pending:
        t = pending.pop()
        if id(t) not in seen:
            seen.add(id(t))
            yield t
            pending += t.operands


def _variables(terms: Sequence[Term]) -> set[int]:
    return {int(t.value) for t in _below(terms) if t.code == _VARIABLE}


def terms_of(model: Model) -> tuple[list[str], Any, list[tuple[str, Any, float, float]]]:
    """Names of the elements of all variables, the objective, and rows (name, term, lower, upper)."""
    names, values = [], {}
    for name, variable in model.variables.items():
        shape = variable.expression.shape
        terms = np.empty(shape, object)
        for place in np.ndindex(shape):
            terms[place] = Term(_VARIABLE, (), float(len(names)))
            names.append(_element(name, place))
        values[name] = terms.view(_Terms) if shape else terms[()]
    parameters = {name: p.value for name, p in model.parameters.items()}
    wanted = [
        *([model.objective] if model.objective is not None else []),
        *[c.expression for c in model.constraints.values()],
    ]
    try:
        found = evaluate(wanted, {**values, **parameters}, ordered(wanted))
    except ConcretizationError:
        raise
    except (TypeError, AttributeError) as problem:
        raise UnsupportedFunctionError(
            f"the model uses a function that a file .nl does not know: {problem}",
            remedy="write it with +, −, ×, /, powers, exp, log, sqrt, abs, and trigonometric and hyperbolic functions",
        ) from problem
    objective = found.pop(0) if model.objective is not None else 0.0
    rows = []
    for c, value in zip(model.constraints.values(), found, strict=True):
        value = np.broadcast_to(np.asarray(value, object), c.lower.shape)
        for place in np.ndindex(c.lower.shape):
            rows.append((_element(c.name, place), value[place], float(c.lower[place]), float(c.upper[place])))
    return names, np.ravel(np.asarray(objective, object))[0], rows


def _element(name: str, place: tuple[int, ...]) -> str:
    return f"{name}[{','.join(map(str, place))}]" if place else name


class _Writer:
    """Expressions as lines; terms that are used more than once are defined variables."""

    def __init__(self, order: np.ndarray, roots: Sequence[Term]):
        self._order = order
        uses: Counter[int] = Counter(id(x) for t in _below(roots) for x in t.operands)
        uses.update(id(t) for t in roots)
        self.shared = [t for t in operands_first(roots, lambda t: t.operands) if uses[id(t)] > 1 and t.operands]
        self._number = {id(t): order.size + k for k, t in enumerate(self.shared)}

    def lines(self, terms: Sequence[Term], own: Term | None = None) -> Iterator[str]:
        """The sum of terms, in prefix notation. `own` is not replaced by its name."""
        if len(terms) != 1:
            yield from ([f"o{_SUM}", f"{len(terms)}"] if len(terms) > 2 else [f"o{_PLUS}"] if terms else ["n0"])
        pending = list(reversed(terms))
        while pending:
            t = pending.pop()
            if t.code == _VARIABLE:
                yield f"v{self._order[int(t.value)]}"
            elif t.code == _CONSTANT:
                yield f"n{t.value!r}"
            elif t is not own and id(t) in self._number:
                yield f"v{self._number[id(t)]}"
            elif t.code == _PLUS:
                parts = self._summands(t, own)
                yield from ([f"o{_SUM}", f"{len(parts)}"] if len(parts) > 2 else [f"o{_PLUS}"])
                pending += reversed(parts)
            elif t.code in (_LEAST, _LARGEST):
                yield f"o{t.code}"
                yield f"{len(t.operands)}"
                pending += reversed(t.operands)
            else:
                yield f"o{t.code}"
                pending += reversed(t.operands)

    def _summands(self, t: Term, own: Term | None) -> list[Term]:
        """A chain of additions as one sum, so that readers need not go deep."""
        found, pending = [], [t]
        while pending:
            s = pending.pop()
            if s.code == _PLUS and (s is t or s is own or id(s) not in self._number):
                pending += reversed(s.operands)
            else:
                found.append(s)
        return found


class _Layout:
    """A program in the order that the format wants: nonlinear constraints first, and of the variables those that are
    nonlinear in constraints and objective, in constraints, in the objective, nowhere. By that order, and by how many
    there are of each, a reader knows which is which."""

    def __init__(self, model: Model):
        self.names, objective, rows = terms_of(model)
        self.goal = _split(objective)
        pairs = sorted([(row, _split(row[1])) for row in rows], key=lambda pair: not pair[1].nonlinear)
        self.rows, self.split = [row for row, _ in pairs], [s for _, s in pairs]
        inside = [_variables(s.nonlinear) for s in self.split]
        in_rows, in_goal = set[int]().union(*inside), _variables(self.goal.nonlinear)
        kinds = [(k not in in_rows) * 2 + (k not in in_goal) for k in range(len(self.names))]
        self.count = Counter(kinds)
        self.old = sorted(range(len(kinds)), key=lambda k: (kinds[k], k))
        self.new = np.empty(len(kinds), int)
        self.new[self.old] = np.arange(len(kinds))
        self.jacobian = [self._entries(s, i) for s, i in zip(self.split, inside, strict=True)]
        self.gradient = self._entries(self.goal, in_goal)
        self.limits = [(low - s.constant, high - s.constant) for (_, _, low, high), s in pairs]

    def _entries(self, s: Split, inside: set[int]) -> list[tuple[int, float]]:
        """The variables of a constraint or objective, with the coefficients of what is linear."""
        return sorted((int(self.new[k]), s.linear.get(k, 0.0)) for k in {*s.linear, *inside})


def write_nl(model: Model, path: str | os.PathLike[str]) -> None:
    """Write the files `path`, and beside it `.col` and `.row` with the names of variables and constraints."""
    path, layout = Path(path), _Layout(model)
    writer = _Writer(layout.new, [*layout.goal.nonlinear, *[t for s in layout.split for t in s.nonlinear]])
    lines = [
        *_header(model.name, layout, len(writer.shared)),
        *_expressions(model, layout, writer),
        *_numbers(model, layout),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = [layout.names[k] for k in layout.old]
    path.with_suffix(".col").write_text("\n".join(names) + "\n", encoding="utf-8")
    path.with_suffix(".row").write_text("\n".join([*[r[0] for r in layout.rows], "objective"]) + "\n", encoding="utf-8")


def _header(name: str, layout: _Layout, shared: int) -> list[str]:
    rows, names, goal = layout.rows, layout.names, layout.goal
    ranges = sum(low > -np.inf and high < np.inf and low < high for _, _, low, high in rows)
    equal = sum(low == high for _, _, low, high in rows)
    both, in_rows, in_goal = layout.count[0], layout.count[0] + layout.count[1], layout.count[2]
    return [
        f"g3 1 1 0\t# problem {name}",
        f" {len(names)} {len(rows)} 1 {ranges} {equal}\t# vars, constraints, objectives, ranges, eqns",
        f" {sum(bool(s.nonlinear) for s in layout.split)} {int(bool(goal.nonlinear))}"
        "\t# nonlinear constraints, objectives",
        " 0 0\t# network constraints: nonlinear, linear",
        f" {in_rows} {in_rows + in_goal if in_goal else both} {both}"
        "\t# nonlinear vars in constraints, objectives, both",
        " 0 0 0 1\t# linear network variables; functions; arith, flags",
        " 0 0 0 0 0\t# discrete variables: binary, integer, nonlinear (b,c,o)",
        f" {sum(map(len, layout.jacobian))} {len(layout.gradient)}\t# nonzeros in Jacobian, gradients",
        f" {max((len(r[0]) for r in rows), default=0)} {max(map(len, names))}\t# name lengths: constraints, variables",
        f" {shared} 0 0 0 0\t# common exprs: b,c,o,c1,o1",
    ]


def _expressions(model: Model, layout: _Layout, writer: _Writer) -> Iterator[str]:
    """What is nonlinear: of defined variables, constraints, the objective."""
    for k, t in enumerate(writer.shared):
        yield f"V{len(layout.names) + k} 0 0"
        yield from writer.lines([t], own=t)
    for k, s in enumerate(layout.split):
        yield f"C{k}"
        yield from writer.lines(s.nonlinear)
    goal = layout.goal
    yield f"O0 {int(model.sense < 0)}"
    yield from writer.lines([*goal.nonlinear, *([Term(_CONSTANT, (), goal.constant)] if goal.constant else [])])


def _numbers(model: Model, layout: _Layout) -> Iterator[str]:
    """Where to start, what bounds constraints and variables, and what is linear."""
    lower, upper, start = (
        np.concatenate([np.ravel(read(v)) for v in model.variables.values()]).astype(float)
        for read in (lambda v: v.lower, lambda v: v.upper, lambda v: v.expression.value)
    )
    n = len(start)
    yield f"x{n}"
    yield from (f"{int(layout.new[k])} {float(v)!r}" for k, v in enumerate(start))
    if layout.rows:
        yield "r"
        yield from (_limits(low, high) for low, high in layout.limits)
    yield "b"
    yield from (_limits(float(lower[k]), float(upper[k])) for k in layout.old)
    if layout.rows:
        counts = np.bincount([j for row in layout.jacobian for j, _ in row], minlength=n)
        yield f"k{n - 1}"
        yield from (str(c) for c in np.cumsum(counts)[:-1])
    for name, row in [*[(f"J{k}", row) for k, row in enumerate(layout.jacobian)], ("G0", layout.gradient)]:
        if row:
            yield f"{name} {len(row)}"
            yield from (f"{j} {c!r}" for j, c in row)


def _limits(low: float, high: float) -> str:
    if low == high:
        return f"4 {low!r}"
    if low == -np.inf:
        return "3" if high == np.inf else f"1 {high!r}"
    return f"2 {low!r}" if high == np.inf else f"0 {low!r} {high!r}"
