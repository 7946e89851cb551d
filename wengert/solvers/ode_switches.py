"""Right-hand sides that jump where the solution, or a parameter, says: `np.where(y < a, f, g)`, `if t < a`.

The solution is continuous there, but its derivative jumps: where the place s moves with what is differentiated, the
left-hand side f⁻ holds for ds longer and the right-hand side f⁺ for ds less, which adds (f⁻ − f⁺) · ds (the saltation
term; Aizerman and Gantmacher 1958). The formulas of steps do not know of it.

So the plain solution is followed first, with notes of all that the right-hand side decides (`modes/switches.py`); where
these change between samples of a step, the place is found by bisection. Then the solution is differentiated in pieces:
at the end of one it goes on to s + δ by f⁻ and back to s by f⁺, where δ is zero and has the derivatives of the
place. Near s both sides decide what they decide at s, so that no stage of a step comes from the other one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.algorithms import ode
from wengert.api.custom import custom_jvp
from wengert.api.products import jvp
from wengert.box.functions.operands import part, stacked
from wengert.box.writing import plain, settled
from wengert.capture.hooks import instrument
from wengert.control.effects import called_back
from wengert.errors import UnsupportedFunctionError
from wengert.ir.build import Capture, capturing
from wengert.ir.infer import Found
from wengert.ir.node import Node, all_nodes
from wengert.modes.batch import Apart, Batch
from wengert.modes.dual import Dual
from wengert.modes.series import Series
from wengert.modes.switches import Note, SwitchTrace, differing_notes, followed, keys, noted
from wengert.modes.tape import Tape, record
from wengert.ops import shape as s
from wengert.ops.derive import Zero
from wengert.ops.elementwise import stop_gradient
from wengert.ops.index import index
from wengert.ops.op import Op, Traced
from wengert.running import running
from wengert.types import shape_of

_SAMPLES = 8
"""Parts of a step between which it is asked what the right-hand side decides."""
_MOST = 1000
"""A right-hand side that jumps more often is refused."""
_STEPS = 100_000
"""So many steps are looked at where the user has named no number."""
_FALL = 1e-9
"""One that falls by less, relative to what it is, does not jump."""
_OFF = 0.1
"""So far off, as a part of the whole time, may a place be where tolerances are large."""
_NEAR = 1e-6
"""A quantity that would be zero this part of the whole time further on passes zero here."""


class Jump(NamedTuple):
    """A place where the right-hand side jumps: times, states and notes of both sides, the notes that differ, and how
    far nothing else changes before and after."""

    low: float
    high: float
    state: np.ndarray
    before: list[Any]
    after: list[Any]
    differing: list[tuple[tuple[int, ...], int]]
    room: tuple[float, float] = (0.0, 0.0)


class _Repeating(SwitchTrace):
    """A run in which all is decided as it was noted."""

    __slots__ = ("given",)

    def __init__(self, given: list[Any]):
        super().__init__()
        self.given = given

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        count = len(self.notes)
        y = super().process(op, args, params)
        if op.switch is None or isinstance(op, Zero) or len(self.notes) <= count or count >= len(self.given):
            return y
        is_, was = self.notes[count].outcome, self.given[count].outcome
        if np.array_equal(is_, was):
            return y
        if op.name == "heaviside":
            return np.where(was < 0, 0.0, 1.0)[()]
        if op.name in ("mod", "remainder", "fmod"):
            return y + (is_ - was)[()] * args[1]
        raise UnsupportedFunctionError(
            f"the derivative of a solution whose right-hand side jumps by {op.name} of the state",
            remedy="write the cases with np.where or if",
        )

    def note(self, op: Op, y: Any, values: tuple, params: dict) -> Any:
        count = len(self.notes)
        super().note(op, y, values, params)
        given = self.given[count] if count < len(self.given) else None
        if given.__class__ is not Note or given.key[:2] != self.notes[-1].key[:2] or given.key == self.notes[-1].key:
            return y
        return given.outcome[()]


class Sides:
    """A right-hand side `slope(t, y, values)`, with notes. Decisions on the time alone are noted where times are
    differentiated; otherwise they do not move."""

    def __init__(self, slope: Callable, times_move: bool):
        self.slope = slope
        self.times_move = times_move

    def _run(self, t: Any, y: Any, values: Sequence[Any], kind: Callable[[], SwitchTrace] = SwitchTrace) -> Any:
        t = t if isinstance(t, Traced) else np.float64(t)  # whose comparisons are those of traced times
        if self.times_move:
            return followed(lambda _, t, y, *values: self.slope(t, y, values), None, [t, y, *values], kind)
        return followed(lambda t, y, *values: self.slope(t, y, values), t, [y, *values], kind)

    def notes(self, t: Any, y: Any, values: Sequence[Any]) -> tuple[np.ndarray, list[Any]]:
        """The slope at plain numbers, and what was decided."""
        with self._run(t, y, values) as (slope, notes):
            return np.asarray(plain(slope)), notes

    def repeated(self, given: list[Any], t: Any, y: Any, values: Sequence[Any]) -> Any:
        with self._run(t, y, values, lambda: _Repeating(given)) as (slope, _):
            return slope

    def quantity(self, given: list[Any], where: tuple[tuple[int, ...], int], t: Any, y: Any, values: Any) -> Any:
        """What passes some value where a note changes, and the note; None for it if it is not known."""
        path, element = where
        with self._run(t, y, values, lambda: _Repeating(given)) as (_, notes):
            note = noted(notes, path)
            u = note.quantity()
            if u is None:
                return None, note
            u = s.reshape(s.broadcast_to(u, shape=note.outcome.shape), shape=(note.outcome.size,))
            return index(u, pattern=(element,)), note

    def decides(self, t: Any, y: Any, values: Sequence[Any]) -> bool:
        """Whether there is anything to note at all. A function that decides nothing here does so nowhere."""
        every = Sides(self.slope, True)
        with every._run(t, y, values) as (_, notes):
            return bool(notes)


# ----------------------------------------------------------------------------------------------------- on plain numbers


def jumps(sides: Sides, integrator: Any, y: Any, times: Any, values: Sequence[Any], mass: Any) -> list[Jump]:
    """Where the right-hand side jumps on the way of the plain solution, in its order."""
    found: list[Jump] = []
    changes: list[float] = []
    for t, h, inside in _steps(integrator, y, times, values, mass):

        def at(place: float, t: float = t, h: float = h, inside: Callable = inside) -> tuple:
            state = inside(place)
            return t + place * h, state, *sides.notes(t + place * h, state, values)

        samples = {place: at(place) for place in np.linspace(0, 1, _SAMPLES + 1).tolist()}
        for low, high in _changes(samples, at):
            changes.append(low[0])
            fall = np.abs(low[2] - high[2])
            if np.any(fall > _FALL * (1.0 + np.abs(low[2]))):
                differing = list(differing_notes(low[3], high[3]))
                apart = 8 * np.copysign(
                    np.spacing(max(abs(low[0]), abs(high[0]))), h
                )  # rounding leads to no other side
                found.append(Jump(low[0] - apart, high[0] + apart, low[1], low[3], high[3], differing))
        if len(found) > _MOST:
            raise UnsupportedFunctionError(
                f"the derivative of a solution whose right-hand side jumps more than {_MOST} times",
                remedy="solve it between the jumps, or make the right-hand side continuous",
            )
    ends = [float(times[0]), *changes, float(times[-1])]
    return [jump._replace(room=_room(jump.low, ends)) for jump in found]


def _room(place: float, changes: list[float]) -> tuple[float, float]:
    """Half the way to the change before and to the one after, or less."""
    most = 1e-3 * abs(changes[-1] - changes[0])
    near = [abs(place - other) / 2 for other in changes if (other - place) * (changes[-1] - changes[0]) < 0]
    after = [abs(place - other) / 2 for other in changes if (other - place) * (changes[-1] - changes[0]) > 0]
    return min([*near, most]), min([*after, most])


def _changes(samples: dict[float, tuple], at: Callable) -> Iterator[tuple[tuple, tuple]]:
    """Neighbouring numbers between which notes change, with what is known there."""
    waiting = list(itertools.pairwise(sorted(samples)))[::-1]
    known = dict(samples)
    begun: tuple[tuple, tuple] | None = None
    while waiting:
        low, high = waiting.pop()
        if keys(known[low][3]) == keys(known[high][3]):
            continue
        middle = low + (high - low) / 2
        if low < middle < high and known[low][0] != known[high][0] and high - low > 1e-17:
            known[middle] = at(middle)
            waiting += [(middle, high), (low, middle)]
        elif begun is not None and abs(known[low][0] - begun[1][0]) <= 8 * np.spacing(abs(known[low][0])):
            begun = begun[0], known[high]  # a value that is passed, as zero by signs, is no place of its own
        else:
            if begun is not None:
                yield begun
            begun = known[low], known[high]
    if begun is not None:
        yield begun


def _steps(integrator: Any, y: Any, times: Any, values: Sequence[Any], mass: Any) -> Iterator[tuple]:
    """Each step of the plain solution: its beginning, its length, and the state inside it."""
    f = integrator.in_intervals(times, values)
    attempt, interpolate, _, order = integrator.steps(y, times, values, mass)
    t, end = float(times[0]), float(times[-1])
    rtol, atol = integrator.rtol, integrator.atol
    direction = -1.0 if end < t else 1.0
    slope = f(t, y, 1)
    h = direction * float(instrument(ode.first_step)(f, t, y, slope, direction, order, rtol, atol))
    for _ in range(integrator.maxsteps or _STEPS):
        h = direction * min(abs(h), integrator.longest)
        last = abs(end - t) <= abs(h)
        h = end - t if last else h
        new, stages, new_slope, error = attempt(f, t, h, y, slope, 1)
        new, stages, new_slope = (np.asarray(settled(x)) for x in (new, stages, new_slope))
        size = float(error(atol + np.maximum(np.abs(y), np.abs(new)) * rtol))
        factor = min(10.0, max(0.2, 0.9 * max(size, 1e-10) ** (-1 / (order + 1))))
        if size < 1:
            yield t, h, lambda place, a=(t, h, y, new, stages): np.asarray(settled(interpolate(f, *a, place, 1)))
            if last:
                return
            t, y, slope, h = t + h, new, new_slope, h * factor
        else:
            h = h * (min(1.0, factor) if size >= 1 else 0.2)
        if not abs(h) > 1e-15 * abs(t):
            return  # the solution itself says so


class Passing(NamedTuple):
    """A note that changes since its quantity passes a value: how quickly it does so on the way, and the derivatives of
    the place in the state and in the parameters."""

    where: tuple[tuple[int, ...], int]
    rate: float
    slopes: list[np.ndarray]


def passing(sides: Sides, jump: Jump, y: Any, values: Sequence[Any], whole: float) -> list[Passing]:
    """The notes that change since a quantity of theirs passes a value, at plain numbers.

    The others change since their quantity jumps itself: that is the cause, or something that does not move. But where
    tolerances are large, the solution passes a place somewhere else than its pieces do, and no quantity is near. Then
    it is the first one in the program, if that does not jump: all that it is made of was decided alike on both sides.
    """
    found = []
    for where in jump.differing:

        def along(d: Any, where: tuple = where, t: float = jump.low, notes: list = jump.before) -> Any:
            state = moved(lambda t, y, i: sides.repeated(notes, t, y, values), t, d, y, 1)
            return sides.quantity(notes, where, t + d, state, values)[0]

        def along_after(where: tuple, along: Callable = along) -> float | None:
            if sides.quantity(jump.after, where, jump.high, y, values)[0] is None:
                return None
            return float(plain(jvp(lambda d: along(d, where, jump.high, jump.after), (0.0,), (1.0,))[1]))

        def quantity(y: Any, *values: Any, where: tuple = where) -> list[Any]:
            return [sides.quantity(jump.before, where, jump.low, y, values)[0]]

        u, note = sides.quantity(jump.before, where, jump.low, y, values)
        if u is None:
            raise _unknown(jump)
        rate = float(plain(jvp(along, (0.0,), (1.0,))[1]))
        away = note.away(float(plain(u)))
        is_near = away <= _NEAR * max(1.0, abs(float(plain(u))), whole * abs(rate))
        if not is_near and where == jump.differing[0]:
            other = sides.quantity(jump.after, where, jump.high, y, values)[0]
            jumps_itself = other is None or abs(float(plain(other)) - float(plain(u))) > away / 2
            if not jumps_itself and away > _OFF * whole * abs(rate):
                raise _unknown(jump)
            is_near = not jumps_itself
        if is_near:
            _, program = record(quantity, [y, *values])
            pulled = program.pull([np.float64(1.0)])
            slopes = [np.zeros(shape_of(x)) if ct is None else np.asarray(plain(ct))
                      for ct, x in zip(pulled, [y, *values], strict=True)]  # fmt: skip
            if any(map(np.any, slopes)):
                if rate == 0:
                    raise _unknown(jump)
                back = along_after(where) if where == jump.differing[0] else None
                if back is not None and rate * back < 0:
                    raise UnsupportedFunctionError(
                        f"the derivative of a solution that does not pass the place where its right-hand side jumps, "
                        f"at t = {jump.low:.6g}: both sides lead there, and it slides along",
                        remedy="write what holds there as an equation of its own, or make the right-hand side smooth",
                    )
            found.append(Passing(where, rate, slopes if rate == 0 else [-x / rate for x in slopes]))
    for one in found[1:]:
        if not all(np.allclose(x, y, 1e-6, 1e-9) for x, y in zip(one.slopes, found[0].slopes, strict=True)):
            raise _unknown(jump)
    return found


def _unknown(jump: Jump) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(
        f"the derivative of a solution whose right-hand side jumps at t = {jump.low:.6g}, a time that depends on "
        "what is differentiated in a way that is not known",
        remedy="solve it in two parts, to that time and from there on; an event gives a time with its derivative",
    )


# ------------------------------------------------------------------------------------------------------------ in pieces


class Pieces:
    """A solution from jump to jump."""

    def __init__(self, sides: Sides, found: list[Jump]):
        self.sides, self.found = sides, found

    def __call__(self, y: Any, times: Any, values: Sequence[Any], run: Callable) -> Any:
        """States at the times; `run(slope, y, times)` integrates with another right-hand side."""
        known = np.asarray(plain(times))
        direction = -1.0 if known[-1] < known[0] else 1.0
        pieces: list[tuple[float, Any, Jump | None]] = []
        for jump in self.found:
            pieces.append((jump.low - direction * jump.room[0], None, None))
            pieces.append((jump.low, jump.before, jump))
            pieces.append((jump.high + direction * jump.room[1], jump.after, None))
        pieces.append((float(known[-1]), None, None))
        rows: list[Any] = [y]
        begin: Any = part(times, 0, 0)
        for end, notes, reached in pieces:
            upto = int(np.sum((known - end) * direction <= 0))
            inner = [part(times, 0, k) for k in range(len(rows), upto)]
            length = (end - float(plain(begin))) * direction
            if length > 0:
                slope = None if notes is None else self._repeating(notes)
                out = run(slope, y, stacked([begin, *inner, end], 0))
                rows += [part(out, 0, k + 1) for k in range(len(inner))]
                y, begin = part(out, 0, len(inner) + 1), end
            else:
                rows += [y] * len(inner)
            if reached is not None:
                y, begin = self._beyond(reached, y, values, abs(known[-1] - known[0])), reached.high
        return stacked(rows, 0)

    def _repeating(self, notes: list[Any]) -> Callable:
        return lambda t, y, values: self.sides.repeated(notes, t, y, values)

    def _beyond(self, jump: Jump, y: Any, values: Sequence[Any], whole: float) -> Any:
        """The state at a jump as if what comes after it had always been: on to s + δ and back again."""
        found = passing(self.sides, jump, plain(y), [plain(v) for v in values], whole)
        if not any(np.any(x) for one in found for x in one.slopes):
            return y
        before = lambda t, y, i: self.sides.repeated(jump.before, t, y, values)
        after = lambda t, y, i: self.sides.repeated(jump.after, t, y, values)
        d: Any = 0.0  # that is δ; each repetition is right to one order more
        first = None
        for _ in range(max(layers(x) for x in (y, *values))):
            u, _ = self.sides.quantity(
                jump.before, found[0].where, jump.low + d, moved(before, jump.low, d, y, 1), values
            )
            first = plain(u) if first is None else first
            d = d - (u - first) / found[0].rate
        return moved(after, jump.high + d, -d, moved(before, jump.low, d, y, 1), 1)


def moved(f: Callable, t: Any, d: Any, y: Any, i: int) -> Any:
    """A short way on, of which only derivatives count."""
    return instrument(ode.moved)(f, t, d, y, i)


def layers(x: Any) -> int:
    """How often a value is being differentiated."""
    count = 0
    while isinstance(x := settled(x), Traced):
        x, count = x._value, count + 1  # type: ignore[attr-defined]
    return count


def pieces(integrator: Any, y: Any, times: Any, values: Sequence[Any], mass: Any) -> Pieces | None:
    """The solution in pieces, where it is differentiated and its right-hand side jumps."""
    every = [settled(x) for x in (y, times, *values)]
    kinds = {kind for x in every for kind in _kinds(x)}
    if not kinds & {Dual, Tape, Series} or not kinds <= {Dual, Tape, Series, Batch}:
        return None
    sides = Sides(integrator.slope, isinstance(every[1], Traced))
    y, times, *values = map(_example, every)
    if not sides.decides(times[0], y, values):
        return None
    for x in every:
        while isinstance(x, Traced):
            if x.__class__ is Batch:
                raise Apart(x._owner)
            x = x._value  # type: ignore[attr-defined]
    found = jumps(sides, integrator.of_numbers(), y, times, values, mass)
    if found and mass is not None:
        raise _unknown(found[0])
    return Pieces(sides, found) if found else None


def _kinds(x: Any) -> Iterator[type]:
    while isinstance(x, Traced):
        yield x.__class__
        x = getattr(x, "_value", None)


def _example(x: Any) -> Any:
    """A plain value; of a batch that of its first example."""
    while isinstance(x, Traced):
        x = x._value[0] if x.__class__ is Batch else x._value  # type: ignore[attr-defined]
    return np.asarray(x)


# ------------------------------------------------------------------------------------------------- in compiled programs


def guarded(integrator: Any, y: Any, times: Any, values: Sequence[Any], mass: Any) -> tuple[Any, Any, list[Any]]:
    """The same start, times and parameters; whoever differentiates them looks first whether the right-hand side jumps,
    and says so. That is for compiled programs, and where a solution is not differentiated in pieces."""
    captured = running.state.capture is not None
    decides, count = _decides_when_run if captured else _decides_now, shape_of(times)[0]
    if mass is not None or (count.__class__ is int and count < 2) or not decides(integrator, y, times, values):
        return y, times, list(values)
    later = integrator.called_later() if captured else integrator.of_numbers()
    shapes = [len(shape_of(x)) for x in (y, times, *values)]

    @custom_jvp
    def watched(*arguments: Any) -> tuple:
        return arguments

    @watched.defjvp
    def rule(primals: tuple, tangents: tuple) -> tuple:
        moves = [isinstance(dot, Traced) or bool(np.any(dot)) for dot in map(settled, tangents)]

        def look(*numbers: Any) -> np.ndarray:
            numbers = tuple(map(_example, numbers))
            _demand_no_jump(Sides(later.slope, moves[1]), later, numbers, shapes, moves)
            return np.zeros(())

        called_back(look, [stop_gradient(x) for x in primals], [Found((), np.dtype(float))])
        return primals, tangents

    y, times, *values = watched(y, times, *values)
    return y, times, values


def _decides_when_run(integrator: Any, y: Any, times: Any, values: Sequence[Any]) -> bool:
    """Whether a right-hand side that is captured decides something about numbers."""
    capture = Capture()
    with capturing(capture):
        slope = integrator.slope(stop_gradient(times[0]), stop_gradient(y), [stop_gradient(v) for v in values])
        block = capture.block([slope])
    return any(_decides(node) for node in all_nodes(block))


def _decides_now(integrator: Any, y: Any, times: Any, values: Sequence[Any]) -> bool:
    every = [settled(x) for x in (y, times, *values)]
    if not {kind for x in every for kind in _kinds(x)} & {Dual, Tape, Series}:
        return False
    y, times, *values = map(_example, every)
    return Sides(integrator.slope, True).decides(times[0], y, values)


def _decides(node: Node) -> bool:
    if node.op.switch is None and not (isinstance(node.op, Zero) and node.op.pure and not node.op.marks):
        return False
    return any(a.type.dtype.kind == "f" for a in node.args)


def _demand_no_jump(
    sides: Sides, integrator: Any, numbers: Sequence[Any], shapes: list[int], moves: list[bool]
) -> None:
    numbers = [np.asarray(x) for x in numbers]
    batched = [x.ndim > n for x, n in zip(numbers, shapes, strict=True)]
    if any(batched):
        for k in range(next(len(x) for x, b in zip(numbers, batched, strict=True) if b)):
            one = [x[k] if b else x for x, b in zip(numbers, batched, strict=True)]
            _demand_no_jump(sides, integrator, one, shapes, moves)
        return
    y, times, *values = numbers
    for jump in jumps(sides, integrator, y, times, values, None):
        found = passing(sides, jump, jump.state, values, abs(times[-1] - times[0]))
        active = [any(moves), *moves[2:]]
        if moves[1] or any(m and np.any(x) for one in found for m, x in zip(active, one.slopes, strict=True)):
            raise UnsupportedFunctionError(
                f"the derivative of a solution whose right-hand side jumps at t = {jump.low:.6g}, a time that depends "
                "on what is differentiated, in a compiled function, by derivative='adjoint' or with events",
                remedy="leave out jit, the adjoint and events, and the jump is accounted for; or solve it in two "
                "parts, to that time and from there on",
            )
