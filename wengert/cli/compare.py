"""`wengert compare`: one gradient by differences, by algebra and by both modes, with errors, times and operations."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from functools import partial, update_wrapper

from wengert.cli import point
from wengert.cli.problem import UsageError
from wengert.cli.showing import plain
from wengert.cli.terminal import Terminal
from wengert.explain.ways import compare_ways

HELP = "the gradient by every way: differences, algebra, both modes; errors and costs"
EXAMPLES = """\
  wengert compare model.py:energy --at '[1.0, 2.0]'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    point.add_arguments(parser, about="model.py:f, with one real result")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the table of ways."""
    call = point.call_of(options)
    if call.argnums != (0,):
        raise UsageError(
            f"compare differentiates with respect to the first argument, not {', '.join(call.inputs)}",
            remedy=f"say --wrt {call.names[0]}, or write a function of one array: def g(x): return f(x[0], x[1])",
        )
    held = dict(zip(call.names[1:], call.args[1:], strict=True)) | call.kwargs
    f = update_wrapper(partial(call.function, **held), call.function) if held else call.function
    found = compare_ways(f, call.args[0])
    if terminal.as_json:
        terminal.data({"function": call.name, "ways": [plain(asdict(way)) for way in found.rows]})
    else:
        terminal.say(str(found))
    return 0
