"""The costs on the page "which mode when": what each operator costs, in calls of the function.

    python docs/make_costs.py              the tables from the times in costs.json
    python docs/make_costs.py --measure    measure again, first

The function is a chain of three matrix products with tanh between them, from n numbers to m, large enough that the cost
of a Python call does not matter. Times are kept in `costs.json` with the machine's name.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import wengert as wg

HERE = Path(__file__).parent
COSTS, PAGE = HERE / "costs.json", HERE / "generated" / "costs.md"
WIDTH = 600
CASES = ((1, 300), (30, 30), (300, 1))


def function_of(n: int, m: int) -> tuple[Callable, np.ndarray]:
    """A function of n numbers with m results (one number if m is 1), and a point."""
    random = np.random.default_rng(0)
    first = random.normal(size=(WIDTH, n)) / n**0.5
    inner = random.normal(size=(WIDTH, WIDTH)) / WIDTH**0.5
    last = random.normal(size=(m, WIDTH)) / WIDTH**0.5

    def f(x: Any) -> Any:
        y = last @ np.tanh(inner @ np.tanh(inner @ np.tanh(first @ x)))
        return y[0] if m == 1 else y

    return f, random.normal(size=n)


def operators(n: int, m: int) -> dict[str, Callable]:
    """What is measured: functions of f and x that compute."""
    v, r = np.ones(n), np.ones(m) if m > 1 else 1.0
    found: dict[str, Callable] = {
        "`jvp`": lambda f, x: wg.jvp(f, (x,), (v,))[1],
        "`vjp`, and one pull": lambda f, x: wg.vjp(f, x)[1](r)[0],
        "`jacfwd`": lambda f, x: wg.jacfwd(f)(x),
        "`jacrev`": lambda f, x: wg.jacrev(f)(x),
        "`jacobian` (auto)": lambda f, x: wg.jacobian(f)(x),
        "differences, central": lambda f, x: wg.numerical.jacobian(f)(x),
    }
    if m == 1:
        found |= {
            "`grad`": lambda f, x: wg.grad(f)(x),
            "`hvp`": lambda f, x: wg.hvp(f)(x, v),
            "`hessian`": lambda f, x: wg.hessian(f)(x),
            "`laplacian`": lambda f, x: wg.laplacian(f)(x),
        }
    return found


def measure(cases: tuple[tuple[int, int], ...] = CASES, rounds: int = 9, seconds: float = 0.02) -> dict[str, Any]:
    """For each case the time of f, and of each operator in calls of f."""
    found: dict[str, Any] = {"machine": platform.machine(), "python": platform.python_version(), "ratios": {}}
    for n, m in cases:
        f, x = function_of(n, m)
        calls = {"f": lambda f=f, x=x: f(x)}
        calls |= {name: (lambda g=g, f=f, x=x: g(f, x)) for name, g in operators(n, m).items()}
        best, often = dict.fromkeys(calls, np.inf), dict.fromkeys(calls, 1)
        for _ in range(rounds):
            for name, call in calls.items():
                while (taken := elapsed(call, often[name])) < seconds:
                    often[name] = max(often[name] + 1, int(1.2 * often[name] * seconds / taken))
                best[name] = min(best[name], taken / often[name])
        found["ratios"][f"{n} → {m}"] = {name: t / best["f"] for name, t in best.items() if name != "f"}
    return found


def elapsed(call: Callable, times: int) -> float:
    """Seconds of processor time for so many calls: what else the machine does is not counted."""
    start = process_time()
    for _ in repeat(None, times):
        call()
    return process_time() - start


def page(found: dict[str, Any]) -> str:
    """The table."""
    cases = list(found["ratios"])
    names = list(dict.fromkeys(name for case in cases for name in found["ratios"][case]))
    lines = ["| cost in calls of f | " + " | ".join(cases) + " |", "|---" + "|---:" * len(cases) + "|"]
    for name in names:
        cells = [_shown(found["ratios"][case].get(name)) for case in cases]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _shown(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="measure again, first")
    if parser.parse_args().measure:
        COSTS.write_text(json.dumps(measure(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(json.loads(COSTS.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
