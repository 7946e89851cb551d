"""`wengert profile`: what each line of a function costs, in time and memory, in the function and in both modes."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from wengert.cli import point
from wengert.cli.showing import plain
from wengert.cli.terminal import Terminal
from wengert.explain.profile import profile

HELP = "time and memory of each line, in the function and in both modes"
EXAMPLES = """\
  wengert profile model.py:energy --at 'np.ones(1000)'
  wengert profile model.py:energy --at 'np.ones(1000)' --svg lines.svg
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    point.add_arguments(parser)
    parser.add_argument("--svg", metavar="FILE.svg", help="write a picture, too")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the lines, the dearest first."""
    call = point.call_of(options)
    found = profile(call.function, *call.args, argnums=call.argnums, **call.kwargs)
    if options.svg:
        found.svg.save(options.svg)
        terminal.note(f"picture written to {options.svg}")
    if terminal.as_json:
        whole = {"function": found.function, "forward": found.forward, "reverse": found.reverse}
        terminal.data({"function": call.name, "seconds": whole, "lines": [plain(asdict(x)) for x in found.lines]})
    else:
        terminal.say(str(found))
    return 0
