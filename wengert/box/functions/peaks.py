"""scipy.signal.find_peaks: where a signal has its peaks is locally constant; how high and prominent they are is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import implements_blind
from wengert.box.functions.operands import answer, array, holds_traced, pick, unsupported_option
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.running import running


def _asked(function: str, ask: Callable, x: Any) -> Any:
    """What SciPy finds in a signal: places, which must be the same for all examples of a batch."""
    if running.state.capture is not None:
        raise UnsupportedFunctionError(
            f"scipy.signal.{function} in a compiled function: how many peaks there are is known only when it runs",
            remedy="find the peaks before, and pass their places to the compiled function",
        )
    answers: list[Any] = []

    def noted(v: Any) -> float:
        answers.append(ask(v))
        return 0.0

    answer(noted, x)
    if any(_places(other) != _places(answers[0]) for other in answers[1:]):
        raise UnsupportedFunctionError(
            f"scipy.signal.{function} of examples of a batch whose peaks are not in the same places",
            remedy="take one after the other",
        )
    return answers[0]


def _places(found: Any) -> Any:
    """What of an answer is integers, to compare."""
    if isinstance(found, dict):
        return [_places(v) for v in found.values()]
    if isinstance(found, tuple):
        return [_places(v) for v in found]
    return found.tolist() if found.dtype.kind == "i" else None


def _prominences(x: Any, peaks: Any, left: Any, right: Any) -> Any:
    """How far a peak stands above the higher one of the two valleys beside it."""
    return pick(x, peaks) - e.maximum(pick(x, left), pick(x, right))


def _find_peaks(original: Callable) -> Callable:
    def find_peaks(x: Any, height: Any = None, threshold: Any = None, *args: Any, **options: Any) -> Any:
        x = array(x)
        if holds_traced([height, threshold, *args, *options.values()]):
            raise unsupported_option("scipy.signal.find_peaks", "a traced condition", "use wg.stop_gradient of it")
        peaks, found = _asked("find_peaks", lambda v: original(v, height, threshold, *args, **options), x)
        if "widths" in found:
            raise unsupported_option("scipy.signal.find_peaks", "width=", "leave it out")
        if "peak_heights" in found:
            found["peak_heights"] = pick(x, peaks)
        for name, step in (("left_thresholds", -1), ("right_thresholds", 1)):
            if name in found:
                found[name] = pick(x, peaks) - pick(x, peaks + step)
        if "prominences" in found:
            found["prominences"] = _prominences(x, peaks, found["left_bases"], found["right_bases"])
        return peaks, found

    return find_peaks


def _peak_prominences(original: Callable) -> Callable:
    def peak_prominences(x: Any, peaks: Any, wlen: Any = None) -> Any:
        x = array(x)
        _, left, right = _asked("peak_prominences", lambda v: tuple(original(v, peaks, wlen)), x)
        return _prominences(x, np.asarray(peaks, np.intp), left, right), left, right

    return peak_prominences


@when_imported("scipy.signal")
def _signal(module: Any) -> None:
    implements_blind(module.find_peaks)(_find_peaks(module.find_peaks))
    implements_blind(module.peak_prominences)(_peak_prominences(module.peak_prominences))
