"""`wengert grad`: the value of a function and its gradient (or Jacobian) at a point."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.api import numerical
from wengert.api.jacobian import value_and_jacobian
from wengert.cli import point
from wengert.cli.showing import lines_of, plain
from wengert.cli.terminal import Terminal

HELP = "value and gradient at a point"
EXAMPLES = """\
  wengert grad model.py:energy --at '[1.0, 2.0]'
  wengert grad model.py:loss --at w='[0.1, 0.2]' --at b=0.5 --wrt w
  wengert grad model.py:loss --arg data.npz --mode forward --json
"""
MODES = ("auto", "reverse", "forward", "numerical", "complex-step")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    point.add_arguments(parser)
    parser.add_argument(
        "--mode", choices=MODES, default="auto",
        help="exact: auto (default), reverse, forward; differences: numerical (extrapolated), complex-step",
    )  # fmt: skip


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print value and derivatives. A function of one result has a gradient, any other a Jacobian."""
    call = point.call_of(options)
    by_name: dict[str, Any] = {}
    for k in call.argnums:
        value, by_name[call.names[k]] = differentiator(call.function, k, options.mode)(*call.args, **call.kwargs)
    leaves = tree.leaves(value)
    word = "gradient" if len(leaves) == 1 and np.ndim(leaves[0]) == 0 else "jacobian"
    if terminal.as_json:
        terminal.data({"function": call.name, "mode": options.mode, "value": plain(value), word: plain(by_name)})
        return 0
    for what, text in lines_of(call.name, value):
        terminal.say(f"{terminal.paint(what, 'bold')} = {_indented(text, len(what) + 3)}")
    for name, derivative in by_name.items():
        for what, text in lines_of(f"∂{call.name}/∂{name}", derivative):
            terminal.say(f"{terminal.paint(what, 'cyan')} = {_indented(text, len(what) + 3)}")
    return 0


def differentiator(f: Callable, argnum: int, mode: str) -> Callable:
    """A function that returns value and Jacobian by a mode."""
    if mode in ("auto", "reverse", "forward"):
        return value_and_jacobian(f, argnums=argnum, mode=mode)
    method = "richardson" if mode == "numerical" else mode

    def by_differences(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return f(*args, **kwargs), numerical.jacobian(f, argnums=argnum, method=method)(*args, **kwargs)

    return by_differences


def _indented(text: str, by: int) -> str:
    return text.replace("\n", "\n" + " " * by)
