"""`wengert explain`: a page that steps through an evaluation and both sweeps."""

from __future__ import annotations

import argparse

from wengert.cli import point
from wengert.cli.problem import UsageError
from wengert.cli.terminal import Terminal
from wengert.explain.write import explain

HELP = "write an HTML page that steps through the evaluation and both sweeps"
EXAMPLES = """\
  wengert explain model.py:f --at '[1.0, 2.0]'
  wengert explain model.py:f --at '[1.0, 2.0]' --output f.html --open
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    point.add_arguments(parser)
    parser.add_argument("--output", metavar="FILE.html", help="where to write the page (default: FUNCTION.html, here)")
    parser.add_argument("--open", action="store_true", help="show the page in a browser")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Write the page and say where it is."""
    call = point.call_of(options)
    path = options.output or f"{call.name.replace('.', '_')}.html"
    try:
        written = explain(call.function, *call.args, path=path, open=options.open, argnums=call.argnums, **call.kwargs)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", remedy="choose another --output") from error
    if terminal.as_json:
        terminal.data({"function": call.name, "page": str(written)})
    else:
        terminal.say(f"{written}")
        terminal.note("open it in a browser; it is one file and needs no network")
    return 0
