"""Where a function of one variable t switches, and how these places move with its parameters.

An integral is differentiated under the integral sign, which is right as long as the integrand does not jump at a place
that moves. `np.where(t < a, f, g)` does, and each such place s adds (f(s⁻) − f(s⁺)) · ds/da to the derivative.

The function is run at plain t on boxes for its parameters. Ops that are locally constant (comparisons, rounding, signs)
end what depends on them: their results are plain, and noted. As long as t does not pass a place where the function
switches, the notes stay the same; between neighbouring samples with different notes it is found by bisection. What
passes zero there, as t − a does, is a quantity u(t, parameters), and where it does moves by −u_p / u_t. All that is
written in ops and runs on traced parameters, so that what is made of it can be differentiated again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from wengert.box.box import Box, outside
from wengert.box.constructors import as_argument
from wengert.box.writing import plain, settled
from wengert.errors import UnsupportedFunctionError
from wengert.modes.dual import DualTrace
from wengert.modes.tape import Recorded, TapeTrace, record
from wengert.modes.watching import Watch, looking_on
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.derive import Zero
from wengert.ops.index import index
from wengert.ops.op import Op, Trace, Traced, call, fresh_tag
from wengert.ops.quadrature import integral
from wengert.running import entered, running
from wengert.types import shape_of

_MOST = 1000
"""An integrand that switches more often is refused."""
_NEAR = 1e-6
"""A quantity that would be zero this part of the interval further on passes zero here."""
_FALL = 1e-9
"""An integrand that falls by less, relative to what it is, does not jump."""


class Followed(Box):
    """A value that depends on the parameters."""

    __slots__ = ()


Followed.__name__ = "traced array"


class Note(NamedTuple):
    """What an op has decided, on what."""

    op: Op
    outcome: np.ndarray
    operands: tuple
    params: dict

    @property
    def key(self) -> Any:
        return self.op.name, self.outcome.shape, self.outcome.tobytes()

    def quantity(self) -> Any:
        """What passes some value where the outcome changes; `None` if that is not known."""
        if self.op.switch is not None:
            return self.op.switch(*self.operands)
        if self.op.compares:
            return e.subtract(*self.operands)
        return self.operands[0] if self.op.elementwise and len(self.operands) == 1 else None

    def away(self, u: float) -> float:
        """How far a quantity is from the nearest value at which outcomes change: zero, or a whole number or half."""
        if not self.op.rounds:
            return abs(u)
        unit = 2.0 * 10.0 ** self.params.get("decimals", 0)
        return abs(u * unit - round(u * unit)) / unit


class NotesWithin(NamedTuple):
    """What an integral within has decided, at each place where its integrand was asked for."""

    runs: list[list[Any]]

    @property
    def key(self) -> Any:
        return frozenset(tuple([note.key for note in run]) for run in self.runs)


class SwitchTrace(Trace):
    """One run of a function, and what it has decided on the way."""

    __slots__ = ("alive", "notes", "tag")

    def __init__(self) -> None:
        self.tag = fresh_tag()
        self.alive = True
        self.notes: list[Any] = []

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if not self.alive:
            return outside(self, op, args, params)
        values = tuple([self.inside(a) for a in args])
        if op is integral:
            y = self._look_into(params["integrand"], args, values)
            return Followed(self, call(op, *values, **params) if any(isinstance(v, Traced) for v in values) else y)
        y = call(op, *values, **params)
        if isinstance(op, Zero):
            return self.note(op, y, values, params) if op.pure and not op.marks else y
        if op.switch is not None:
            op.switch(*args)  # which notes it
        if y.__class__ is tuple:
            return tuple([Followed(self, v) for v in y])
        return Followed(self, y)

    def note(self, op: Op, y: Any, values: tuple, params: dict) -> Any:
        """What the op is to have decided."""
        self.notes.append(Note(op, np.asarray(plain(y)), values, params))
        return y

    def inside(self, x: Any) -> Any:
        return x._value if x.__class__ is Followed and x._owner is self else x

    def _look_into(self, integrand: Any, args: tuple, values: tuple) -> Any:
        """An integral within, at plain numbers: its integrand may switch for all of its variable at once."""
        runs, outer = [], self.notes

        def noted(t: Any, *_: Any) -> Any:
            self.notes = []
            try:
                return plain(self.inside(settled(integrand.function(t, *args[2:]))))
            finally:
                runs.append(self.notes)
                self.notes = outer

        low, high, *parameters = map(plain, values)
        y = integrand.sampled(noted, low, high, tuple(parameters))
        ends = integrand.ends(low, high, parameters)
        if any(runs):
            outer.append(NotesWithin(runs))
        return y if ends is None else y + ends


class _AsPython(Watch):
    """Compiled functions run as Python meanwhile; nobody wants to know more."""

    def tape(self) -> TapeTrace:
        return TapeTrace()

    def dual(self) -> DualTrace:
        return DualTrace()

    def recorded(self, trace: Any, program: Recorded, values: Sequence[Any]) -> Recorded:
        return program


@contextmanager
def followed(
    function: Callable, t: Any, parameters: Sequence[Any], kind: Callable[[], SwitchTrace] = SwitchTrace
) -> Iterator[tuple[Any, list[Any]]]:
    """The value of a function and its notes, while they may be used."""
    trace = kind()
    watched = nullcontext() if running.state.watch is not None else looking_on(_AsPython())
    with watched, entered(trace):
        boxes = [as_argument(Followed(trace, p), p) for p in parameters]
        y = trace.inside(settled(function(t, *boxes)))
        yield y, trace.notes


class NotedSamples:
    """What a function of t and these plain parameters has decided, where it was asked for."""

    def __init__(self, function: Callable, parameters: Sequence[Any]):
        self.function, self.parameters = function, parameters
        self.found: dict[float, list[Any]] = {}

    def __call__(self, t: float, *_: Any) -> Any:
        with followed(self.function, t, self.parameters) as (y, notes):
            self.found[t] = [note._replace(operands=()) if note.__class__ is Note else note for note in notes]
            return plain(y)

    def at(self, t: float) -> list[Any]:
        if t not in self.found:
            self(t)
        return self.found[t]


class Switch(NamedTuple):
    """Neighbouring places with different notes, and which of these differ: a path to each, and its element."""

    low: float
    high: float
    differing: list[tuple[tuple[int, ...], int]]


def switches(integrand: Any, a: float, b: float, parameters: Sequence[Any]) -> list[Switch]:
    """Where an integrand switches between a and b, by its parameters."""
    samples = NotedSamples(integrand.function, parameters)
    with np.errstate(all="ignore"):
        integrand.sampled(samples, a, b, tuple(parameters))
        if not any(samples.found.values()):
            return []
        for end, other in ((a, b), (b, a)):
            if math.isfinite(end):
                try:
                    samples.at(float(np.nextafter(end, other)))
                except (ArithmeticError, ValueError):
                    pass  # the integrand is not defined that near to an end
        pairs = _pairs(samples)
    found = []
    for low, high in pairs:
        differing = [
            where for where in differing_notes(samples.at(low), samples.at(high))
            if _passes(integrand.function, where, low, parameters, _NEAR * (max(samples.found) - min(samples.found)))
        ]  # fmt: skip
        if differing:
            found.append(Switch(low, high, differing))
    return found


def _passes(function: Callable, where: tuple, place: float, parameters: Sequence[Any], near: float) -> bool:
    """Whether an outcome changes at a place since its quantity passes a value within a short distance, or may do so.

    Otherwise the quantity itself jumps, as t % 1 does in `t % 1 < a`: that is the cause, or one that does not move.
    """
    found = _quantity_and_slopes(function, where, place, parameters)
    if found is None:
        return True
    u, u_t, _, note = found
    away = note.away(float(plain(u)))
    return away == 0 or (bool(u_t != 0) and away <= near * abs(float(u_t)))


def keys(notes: list[Any]) -> list[Any]:
    return [note.key for note in notes]


def _pairs(samples: NotedSamples) -> list[tuple[float, float]]:
    """Neighbouring numbers between which notes change, in order; those that follow each other at once are one."""
    at = sorted(samples.found)
    smallest = 1e-3 * np.spacing(max(abs(at[0]), abs(at[-1])))
    waiting = [(low, high) for low, high in itertools.pairwise(at) if high > low][::-1]
    found: list[tuple[float, float]] = []
    while waiting:
        low, high = waiting.pop()
        first, last = keys(samples.at(low)), keys(samples.at(high))
        if first == last:
            continue
        middle = low + (high - low) / 2
        if not low < middle < high or high - low < smallest:
            if found and low - found[-1][1] <= 4 * max(np.spacing(abs(low)), smallest):
                found[-1] = (found[-1][0], high)
            else:
                found.append((low, high))
            if len(found) > _MOST:
                raise UnsupportedFunctionError(
                    f"the derivative of an integral whose integrand jumps at more than {_MOST} places",
                    remedy="integrate between these places, one integral after the other",
                )
        else:
            waiting += [(middle, high), (low, middle)]
    return found


def differing_notes(first: list[Any], second: list[Any]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Paths to notes that differ, as long as they are notes of the same op, and the elements that do."""
    for i, (x, y) in enumerate(zip(first, second, strict=False)):
        if x.__class__ is NotesWithin and y.__class__ is NotesWithin:
            for path, element in differing_notes(x.runs[0], y.runs[0]) if x.runs and y.runs else ():
                yield (i, 0, *path), element
        elif x.__class__ is NotesWithin or y.__class__ is NotesWithin or x.key[:2] != y.key[:2]:
            return
        elif x.key != y.key:
            for place in np.flatnonzero(x.outcome != y.outcome):
                yield (i,), int(place)


def noted(notes: list[Any], path: tuple[int, ...]) -> Note:
    found: Any = notes[path[0]]
    return found if len(path) == 1 else noted(found.runs[path[1]], path[2:])


def jumps(integrand: Any, a: float, b: float, parameters: Sequence[Any]) -> Iterator[tuple[float, Any, list[Any]]]:
    """Each place where an integrand switches, by how much it falls there, and the derivatives of the place in
    parameters. What else is made of these may be differentiated; the place is a number."""
    numbers = [plain(p) for p in parameters]
    for switch in switches(integrand, a, b, numbers):
        place = _moving(integrand.function, switch, parameters)
        fall = integrand.at_end(place, parameters) - integrand.at_end(place - switch.low + switch.high, parameters)
        slopes = _slopes(integrand.function, switch, place, parameters)
        if slopes is not None:
            yield switch.low, fall, slopes
        elif np.any(np.abs(plain(fall)) > _FALL * (1.0 + np.abs(plain(integrand.at_end(place, parameters))))):
            raise UnsupportedFunctionError(
                f"the derivative of an integral whose integrand jumps at {switch.low:.6g}, a place that depends on "
                "what is differentiated in a way that is not known",
                remedy="split the integral there: quad(f, a, s) + quad(g, s, b), with s written as a formula",
            )


def _moving(function: Callable, switch: Switch, parameters: Sequence[Any]) -> Any:
    """The place itself, as a value with derivatives: each step of Newton's method is right to one order more."""
    place: Any = switch.low
    for _ in range(max([_layers(p) for p in parameters], default=0)):
        found = _quantity_and_slopes(function, switch.differing[0], place, parameters)
        if found is None:
            return switch.low
        u, u_t, *_ = found
        place = place - (u - e.stop_gradient(u)) / u_t
    return place


def _layers(x: Any) -> int:
    count = 0
    while isinstance(x, Traced):
        x, count = x._value, count + 1  # type: ignore[attr-defined]
    return count


def _slopes(function: Callable, switch: Switch, place: Any, parameters: Sequence[Any]) -> list[Any] | None:
    """The derivatives of a place in all parameters; `None` if they are not known, or are several."""
    result = None
    for differing in switch.differing:
        found = _quantity_and_slopes(function, differing, place, parameters)
        if found is None or not np.all(plain(found[1])):
            return None
        _, u_t, u_ps, _ = found
        slopes = [-u_p / u_t for u_p in u_ps]
        if result is None:
            result = slopes
        elif not all(np.allclose(plain(x), plain(y), 1e-6, 1e-9) for x, y in zip(slopes, result, strict=True)):
            return None
    return result


def _quantity_and_slopes(
    function: Callable, differing: tuple[tuple[int, ...], int], place: Any, parameters: Sequence[Any]
) -> tuple[Any, Any, list[Any], Note] | None:
    """What changes its sign at a place, its derivatives there in t and the parameters, and what was noted of it."""
    path, element = differing
    seen, unknown = [], []

    def quantity(t: Any, *parameters: Any) -> list[Any]:
        with followed(function, t, parameters) as (_, notes):
            note = noted(notes, path)
            u = note.quantity()
            seen.append(note)
            if u is None:
                unknown.append(note)
                return [0.0]
            u = s.reshape(s.broadcast_to(u, shape=note.outcome.shape), shape=(note.outcome.size,))
            return [index(u, pattern=(element,))]

    values, program = record(quantity, [place, *parameters])
    if unknown:
        return None
    pulled = program.pull([np.float64(1.0)])
    u_t, *u_ps = [np.zeros(shape_of(x)) if ct is None else ct
                  for ct, x in zip(pulled, [place, *parameters], strict=True)]  # fmt: skip
    return values[0], u_t, u_ps, seen[0]
