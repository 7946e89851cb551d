"""What wengert's eager gradients are to reach, and whether they do.

A goal is a figure per case and a bound on it. The results that it is judged by are those that `measure.py` writes.
"""

from collections.abc import Callable
from dataclasses import dataclass

EVERY = ("helmholtz-1", "helmholtz-8", "helmholtz-50", "helmholtz-1000", "recurrence-100", "mlp-32")
SMALL = ("helmholtz-1", "helmholtz-8", "helmholtz-50", "recurrence-100", "mlp-32")


@dataclass(frozen=True)
class Goal:
    """A bound on a figure: at least `least`, or at most `most`, in each of `cases`; `remark` says what else to know."""

    text: str
    cases: tuple[str, ...]
    figure: Callable[[dict], float | None]
    least: float = 0.0
    most: float = float("inf")
    remark: Callable[[dict], str | None] = lambda results: None

    def verdict(self, results: dict) -> dict:
        """Return the figures of the cases that were measured, which of them is the worst, and which miss the goal."""
        measured = {case: self.figure(results["cases"][case]) for case in self.cases if case in results["cases"]}
        figures = {case: figure for case, figure in measured.items() if figure is not None}
        worst = (min if self.least else max)(figures, key=lambda case: figures[case], default=None)
        return {
            "goal": self.text,
            "figures": figures,
            "missed": [case for case, figure in figures.items() if not self.least <= figure <= self.most],
            "worst": worst,
            "unmeasured": [case for case in self.cases if case not in figures],
            "remark": self.remark(results),
        }


def times_faster(than: str) -> Callable[[dict], float | None]:
    """Return the figure: another tool's time divided by wengert's."""
    return lambda case: ratio(case, than, "wengert")


def gradient_over_function(case: dict) -> float | None:
    """Return wengert's time for the gradient divided by NumPy's for the function."""
    return ratio(case, "wengert", "numpy")


def ratio(case: dict, numerator: str, denominator: str) -> float | None:
    """Return one tool's time divided by another's, or None if one of them was not measured."""
    seconds = case["seconds"]
    if numerator not in seconds or denominator not in seconds:
        return None
    return seconds[numerator] / seconds[denominator]


def two_products(results: dict) -> str | None:
    """Say why no gradient can be 4 times faster than autograd's at n = 1000."""
    case = results["cases"].get("helmholtz-1000")
    if case is None or (theirs := ratio(case, "autograd", "numpy")) is None:
        return None
    return (
        f"At n = 1000 that is impossible: autograd's gradient takes {theirs:.1f} times as long as the function, so a"
        f" quarter of it is {theirs / 4:.2f} times the function, which is one matrix-vector product and little else,"
        " while the gradient needs two"
    )


GOALS = (
    Goal("at least 4 times faster than autograd on each", EVERY, times_faster("autograd"), 4.0, remark=two_products),
    Goal("faster than PyTorch on the small ones", SMALL, times_faster("torch"), least=1.0),
    Goal("gradient ÷ function at most 3 at n = 1000", ("helmholtz-1000",), gradient_over_function, most=3.0),
)
