"""`wengert bench`: what a function and its gradient cost, as ordinary Python and as native code."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.grad import grad
from wengert.api.jacobian import jacobian
from wengert.api.jit import jit
from wengert.cli import point
from wengert.cli.showing import table
from wengert.cli.target import place_of
from wengert.cli.terminal import Progress, Terminal
from wengert.cli.timing import readable, shortest

HELP = "time a function and its gradient, eager and compiled"
EXAMPLES = """\
  wengert bench model.py:energy --at 'np.linspace(0, 1, 1000)'
  wengert bench model.py:energy --arg data.npz --wrt x --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    point.add_arguments(parser)
    parser.add_argument("--rounds", type=int, default=7, help="samples of each; the shortest counts (default: 7)")
    parser.add_argument("--seconds", type=float, default=0.05, help="how long a sample lasts at least (default: 0.05)")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Measure, then print times and ratios."""
    call = point.call_of(options)
    f = call.function
    derivative, word = _derivative(call)
    columns: dict[str, Callable] = {"function": f, word: derivative}
    compiled: dict[str, Callable] = {"jit function": jit(f), f"jit {word}": jit(derivative)}
    first: dict[str, float] = {}
    reasons: dict[str, str] = {}
    with terminal.progress(2 + 4 * options.rounds) as bar:
        for name, g in compiled.items():
            bar.step(f"compiling: {name}")
            start = perf_counter()
            try:
                g(*call.args, **call.kwargs)
            except Exception as error:  # whatever it is, the other rows are still worth having
                reasons[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}{place_of(error)}"
                continue
            first[name] = perf_counter() - start
            columns[name] = g
        times = _measured(call, columns, options, bar)
    _report(call, times, first, reasons, terminal)
    return 0


def _derivative(call: point.Call) -> tuple[Callable, str]:
    """The gradient of a function with one result, the Jacobian of any other."""
    argnums = call.argnums[0] if len(call.argnums) == 1 else call.argnums
    value = call.function(*call.args, **call.kwargs)
    leaves = tree.leaves(value)
    if len(leaves) == 1 and np.ndim(leaves[0]) == 0:
        return grad(call.function, argnums=argnums), "gradient"
    return jacobian(call.function, argnums=argnums), "jacobian"


def _measured(
    call: point.Call, columns: dict[str, Callable], options: argparse.Namespace, bar: Progress
) -> dict[str, float]:
    calls = {name: partial(g, *call.args, **call.kwargs) for name, g in columns.items()}
    for g in calls.values():
        g()  # what is done once (instrumentation) is not counted
    return shortest(calls, options.seconds, options.rounds, bar.step)


def _report(
    call: point.Call, times: dict[str, float], first: dict[str, float], reasons: dict[str, str], terminal: Terminal
) -> None:
    base = times["function"]
    if terminal.as_json:
        rows: dict[str, Any] = {name: {"seconds": t, "ratio": t / base} for name, t in times.items()}
        for name, t in first.items():
            rows[name]["first_call_seconds"] = t
        terminal.data({"function": call.name, "times": rows, "not_compiled": reasons})
        return
    lines = [(call.name, "time", "÷ function", "first call")]
    for name, t in times.items():
        ratio = t / base
        lines.append((name, readable(t), f"{ratio:.3g}", readable(first[name]) if name in first else ""))
    shown = table(lines, frozenset({1, 2, 3}))
    terminal.say(terminal.paint(shown[0], "bold"))
    for line in shown[1:]:
        terminal.say(line)
    for name, reason in reasons.items():
        terminal.say(terminal.paint(f"{name}: not compiled: {reason}", "yellow"))
