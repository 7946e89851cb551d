"""`wg.debug_nans`: where a NaN or an infinity comes from, in the function, in tangents and in the reverse sweep.

The watch (`modes/watching.py`) looks at the result of every operation. A value that is not finite is not an error in
itself: `np.where(x > 0, np.log(x), 0)` computes log(0) on its way to a result without fault. So values and tangents
that went wrong are marked with the operation that made them, marks are handed on from operands to results, and the
error is raised when a result of the function, or a decision of the program, has a mark. In the reverse sweep everything
arrives at the inputs in the end; there the first operation that turns a finite cotangent into another kind is the one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.writing import plain
from wengert.capture import hooks
from wengert.errors import NonFiniteError
from wengert.explain.advice import DERIVATIVES, VALUES, advice
from wengert.explain.summary import summary
from wengert.modes.dual import Dual
from wengert.modes.watching import Operation, Watch, looking_on, place_now, seen
from wengert.ops.op import TABLE, Traced
from wengert.types import SCALARS

_VALUE, _TANGENT = "function", "forward"


@contextmanager
def debug_nans() -> Iterator[None]:
    """Within this context, a derivative or a compiled function that gives NaN or infinity raises an error instead.

    The error, a `wg.errors.NonFiniteError` (which is a `FloatingPointError`), names the operation that made the first
    one that mattered, its line in your source, its operands, and what to write instead where that is known. It is found
    in the function's values, in forward mode's tangents and in the reverse sweep, also of nested derivatives. Compiled
    functions run as ordinary Python meanwhile. What a branch computes that `np.where` does not select is no error.

    Cost: some ten microseconds for each operation, and the memory of all intermediate values. Outside of the context
    there is none. Only the thread that entered it is concerned.

    >>> import numpy as np, wengert as wg
    >>> with wg.debug_nans():
    ...     wg.grad(lambda x: np.sqrt(x) * 2)(0.0)
    Traceback (most recent call last):
    ...
    wengert.errors.NonFiniteError: the derivative of sqrt is inf (reverse sweep)
    ...
    """
    with looking_on(NanWatch()):
        yield


@dataclass(eq=False, slots=True)
class Finding:
    """An operation that made something that is not finite. `given`: one of its operands was not finite before."""

    step: Operation
    result: Any
    sweep: str
    given: bool = False
    number: int = 0
    """Which one it is: of several that a result has from its operands, the first counts."""

    def error(self, why: str = "") -> NonFiniteError:
        """What to raise."""
        step, bad = self.step, kind_of_fault(self.result)
        if self.given:
            problem = f"an operand of {step.name} is {bad}; no operation that was differentiated made it so"
            table: dict = {}
        elif self.sweep == _VALUE:
            problem = f"{step.name} gave {bad}"
            table = VALUES
        else:
            problem = (
                f"the derivative of {step.name} is {bad} ({self.sweep} {'mode' if self.sweep == _TANGENT else 'sweep'})"
            )
            table = DERIVATIVES
        remedy = advice(table, step.name, step.operands)
        if self.sweep != _VALUE and not remedy:
            remedy = advice(VALUES, step.name, step.operands)
        if self.given:
            remedy = "look where the value comes from: an argument, a global, or code that is not differentiated"
        details = [f"operand {k}: {summary(x)}" for k, x in enumerate(step.operands)]
        details.append(f"{'result' if self.sweep == _VALUE else 'derivative'}: {summary(self.result)}")
        if why:
            details.append(why)
        return NonFiniteError(problem, remedy=remedy, details=details, name=step.name, operands=step.operands,
                              place=step.place, sweep=self.sweep)  # fmt: skip


def kind_of_fault(x: Any) -> str:
    """What is wrong with a value: "nan", "inf" or "-inf"; an empty string if nothing.

    >>> kind_of_fault(np.array([1.0, -np.inf])), kind_of_fault(1.0)
    ('-inf', '')
    """
    if isinstance(x, Traced) or not (isinstance(x, (np.ndarray, np.generic)) or x.__class__ in SCALARS):
        return ""  # a symbol, or an array of another library, which may be lazy
    if getattr(x, "dtype", np.dtype(float)).kind not in "fc" or np.all(np.isfinite(x)):
        return ""
    a = np.asarray(x)
    if np.any(np.isnan(a)):
        return "nan"
    return "inf" if a.dtype.kind == "c" or np.any(a == np.inf) else "-inf"


class NanWatch(Watch):
    """Looks at every result. See the module's text."""

    def __init__(self) -> None:
        self._marks: dict[int, tuple[Any, Finding]] = {}
        self._last: dict[str, Finding] = {}
        self._count = 0

    # ------------------------------------------------------------------------------------------ values and tangents

    def operation(self, step: Operation, args: Sequence[Any], apply: Callable[[], Any]) -> Any:
        if step.name in TABLE and TABLE[step.name].compares == "order":
            self._decision(step, args)
        with np.errstate(all="ignore"):
            y = apply()
        for part in y if y.__class__ is tuple else (y,):
            self._look(step, args, part)
        return y

    def written(self, step: Operation, box: Any, v: Any, apply: Callable[[], Any]) -> Any:
        before = self._marked(plain(box))
        y = apply()
        self._look(step, [v, box], box)
        if before is not None and kind_of_fault(plain(box)):
            self._mark(plain(box), before)
        return y

    def _look(self, step: Operation, args: Sequence[Any], y: Any) -> None:
        value = plain(y)
        bad = kind_of_fault(value)
        if bad:
            self._mark(value, self._origin(step, value, _VALUE, [plain(a) for a in args]))
        if isinstance(y, Dual):
            dot = plain(y._tangent)
            if kind_of_fault(dot):
                dots = [plain(a._tangent) for a in args if isinstance(a, Dual)]
                blamed = [plain(a) for a in args] if bad else []
                self._mark(dot, self._origin(step, dot, _TANGENT, [*blamed, *dots]))

    def _origin(self, step: Operation, result: Any, sweep: str, operands: Sequence[Any]) -> Finding:
        """Who is to blame for a result: whoever made an operand that is not finite, or else this operation."""
        bad = [x for x in operands if kind_of_fault(x)]
        marked = [finding for finding in map(self._marked, bad) if finding is not None]
        if marked:
            return min(marked, key=lambda finding: finding.number)
        if bad:
            return self._last.get(sweep) or Finding(step, bad[0], sweep, given=True)
        self._count += 1
        found = self._last[sweep] = Finding(step, result, sweep, number=self._count)
        return found

    def _mark(self, value: Any, finding: Finding) -> None:
        self._marks[id(value)] = (value, finding)

    def _marked(self, value: Any) -> Finding | None:
        held, finding = self._marks.get(id(value), (None, None))
        return finding if held is value else None

    def _decision(self, step: Operation, args: Sequence[Any]) -> None:
        for x in map(plain, args):
            finding = self._marked(x)
            if finding is not None and kind_of_fault(x) == "nan":
                where = "" if step.place is None else f" in {step.place[0]}:{step.place[1]}"
                raise finding.error(f"the program compares it{where}, where every comparison with nan is false")

    # ------------------------------------------------------------------------------------------------------ results

    def finished(self, values: Sequence[Any], program: Any) -> None:
        self._demand(values, _VALUE)

    def pushed(self, values: Sequence[Any], dots: Sequence[Any]) -> None:
        self._demand(values, _VALUE)
        self._demand(dots, _TANGENT)

    def _demand(self, results: Sequence[Any], sweep: str) -> None:
        for y in map(plain, results):
            if kind_of_fault(y):
                finding = self._marked(y) or self._last.get(sweep)
                if finding is None:
                    finding = Finding(Operation("the function", (y,), {}, place_now()), y, sweep, given=True)
                raise finding.error()

    def failed(self, error: Exception) -> None:
        refused = isinstance(error, np.linalg.LinAlgError) or "infs or NaNs" in str(error)
        if refused and self._last:
            raise list(self._last.values())[-1].error(f"it led to {type(error).__name__}: {error}") from error

    # -------------------------------------------------------------------------------------------------- both sweeps

    def passed(self, step: Operation, ct: Any, parts: Sequence[Any]) -> None:
        for part in parts:
            bad = plain(part)
            if kind_of_fault(bad):
                arrived = plain(ct)
                raise Finding(step, bad, "reverse", given=False).error(f"it was sent the cotangent {summary(arrived)}")

    def tangent(self, step: Operation, dot: Any) -> None:
        bad = plain(dot)
        if kind_of_fault(bad) and _TANGENT not in self._last:
            self._last[_TANGENT] = Finding(step, bad, _TANGENT)

    # ---------------------------------------------------------------------------------------------------- compiled

    def compiled(self, f: Callable, args: tuple, kwargs: dict) -> Any:
        twin = hooks.resolve(f)
        leaves, structure = tree.flatten((args, kwargs))
        if any(isinstance(x, Traced) for x in leaves):
            return twin(*args, **kwargs)
        data = [k for k, x in enumerate(leaves) if _is_floating(x)]
        out_structure: Any = None
        boxes: Sequence[Any] = ()

        def of_leaves(*given: Any) -> Sequence[Any]:
            nonlocal out_structure, boxes
            filled, boxes = list(leaves), given
            for k, x in zip(data, given, strict=True):
                filled[k] = x
            new_args, new_kwargs = tree.unflatten(structure, filled)
            found, out_structure = tree.flatten(twin(*new_args, **new_kwargs))
            return found

        results = seen(self, of_leaves, [leaves[k] for k in data])
        for k, box in zip(data, boxes, strict=True):  # what a compiled function writes into an argument its caller sees
            if isinstance(leaves[k], np.ndarray) and plain(box) is not leaves[k]:
                leaves[k][...] = plain(box)
        return tree.unflatten(out_structure, results)


def _is_floating(x: Any) -> bool:
    return x.__class__ is float or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc")
