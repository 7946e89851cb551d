"""Where a derivative ends: the first op on the way that has the derivative zero, for a warning if nothing else is left.

A result that depends on the argument only through roundings and decisions, as that of a bisection, is piecewise
constant. Its derivative is zero, which is seldom what is wanted. So modes note where that happened first (`Cutoff`),
and operators warn, once for each line, if a result turns out to be constant.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from wengert.errors import ConstantResultWarning, described_line, user_frame
from wengert.ops.derive import Control
from wengert.ops.op import Op
from wengert.running import running


class Cutoff(NamedTuple):
    """An op with a derivative of zero, and its line; `decides` if it is no rounding, which counts more."""

    name: str
    filename: str
    line: int
    decides: bool


def cut_by(trace: Any, op: Op, params: dict) -> Cutoff | None:
    """Where the derivative of a trace ends, given that it does so in `op`, and what was found before."""
    known: Cutoff | None = trace.cut
    if op.name in ("stop_gradient", "require") or is_of_a_rule(trace):
        return known
    decides = not op.rounds
    if known is not None and decides:
        return known
    if op.__class__ is Control:
        inside = _inside([p for p in params.values() if hasattr(p, "nodes")], None)
        if inside is not None:
            return inside
    frame = user_frame()
    return known if frame is None else Cutoff(op.name, frame.f_code.co_filename, frame.f_lineno, decides)


def cut_by_text() -> Cutoff | None:
    """The line where a text is made of what depends on the argument, which may be read as a number again."""
    frame = user_frame()
    return None if frame is None else Cutoff(_TEXT, frame.f_code.co_filename, frame.f_lineno, False)


_TEXT = "a text"


def is_of_a_rule(trace: Any) -> bool:
    """Whether an inner differentiation runs: its rules compare, and round, for what has the derivative zero indeed."""
    return any(t.tag > trace.tag for t in running.state.traces if hasattr(t, "cut"))


def _inside(blocks: list[Any], found: Cutoff | None) -> Cutoff | None:
    """A rounding in blocks of a program, or else a comparison, of numbers that are no integers."""
    for block in blocks:
        for node in block.nodes:
            is_cut = node.op.compares or node.op.rounds
            if is_cut and node.source is not None and any(map(_is_inexact, node.args)):
                cut = Cutoff(node.op.name, node.source.file, node.source.line, bool(node.op.compares))
                if not cut.decides:
                    return cut
                found = found or cut
            found = _inside(list(node.blocks), found)
            if found is not None and not found.decides:
                return found
    return found


def _is_inexact(operand: Any) -> bool:
    kind = getattr(getattr(operand, "type", None), "dtype", None)
    return kind is not None and kind.kind in "fc"


@contextmanager
def attempted(is_certain: bool) -> Iterator[None]:
    """While a program is captured: what there is to say of derivatives in it is said when that has succeeded.

    It is not said of an attempt that is given up, nor of a program that holds under assumptions, if not `is_certain`:
    the arguments may be others.
    """
    state = running.state
    before, state.constants = state.constants, []
    try:
        yield
        found = state.constants
    finally:
        state.constants = before
    for cut in found if is_certain else ():
        warn_of_constant(cut)


def warn_of_constant(cut: Cutoff) -> None:
    """Say, once for each line, that a derivative is zero because the result no longer depends on the argument."""
    if running.state.constants is not None:
        running.state.constants.append(cut)
        return
    did = f"only decided something ({cut.name})" if cut.decides else "was rounded"
    if cut.name is _TEXT:
        did = "only became a text"
    _warn(
        cut,
        f"the derivative is zero: the result is constant, because on its way what depends on the argument {did}",
        "differentiate what comes before",
    )


def warn_of_search(cut: Cutoff) -> None:
    """Say, once for each line, that a number which was found by comparisons has no derivative."""
    if running.state.constants is not None:  # nobody has asked for this derivative
        return
    _warn(
        cut,
        "a number that is found by comparisons, as by a bisection, counts as a constant: what depends on it lacks its "
        "derivative",
        "one step of Newton's method from it, or scipy.optimize.brentq; if that is done already, or the number is a "
        "constant, compare wg.stop_gradient(x)",
    )


_warned: dict = {}


def _warn(cut: Cutoff, problem: str, remedy: str) -> None:
    where = described_line(cut.filename, cut.line)
    text = f"{problem}\n  at {where}\n  remedy: {remedy}\n  more: docs/errors/constant-results.md"
    warnings.warn_explicit(ConstantResultWarning(text), None, cut.filename, cut.line, registry=_warned)
