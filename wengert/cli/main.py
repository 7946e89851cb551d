"""The command line: subcommands, help, exit codes, and errors without tracebacks.

Each subcommand is a module with `HELP`, `EXAMPLES`, `add_arguments(parser)` and `run(options, terminal)`, which returns
the exit code: 0 all is well, 1 something was found to be wrong (a derivative, a function that fails), 2 the command was
not typed right.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from wengert.cli import bench, check, compare, doctor, explain, grad, profile, source, trace
from wengert.cli.problem import TargetError, UsageError
from wengert.cli.target import place_of
from wengert.cli.terminal import Terminal
from wengert.errors import WengertError

COMMANDS: dict[str, Any] = {
    "grad": grad,
    "trace": trace,
    "explain": explain,
    "check": check,
    "source": source,
    "compare": compare,
    "profile": profile,
    "bench": bench,
    "doctor": doctor,
}
DESCRIPTION = "Differentiate functions in Python files: exactly, with plain NumPy, without changing them."
CODES = "exit codes: 0 all is well, 1 a check or the function failed, 2 the command was not typed right"


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    first = "\n".join("  " + module.EXAMPLES.splitlines()[0].strip() for module in COMMANDS.values())
    top = argparse.ArgumentParser(
        "wengert", description=DESCRIPTION, epilog=f"examples:\n{first}\n\n{CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    version = doctor.version_of("wengert") or "(not installed)"
    top.add_argument("--version", action="version", version=f"wengert {version}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in COMMANDS.items():
        one = commands.add_parser(
            name, help=module.HELP, description=module.__doc__.partition(": ")[2].capitalize(),
            epilog=f"examples:\n{module.EXAMPLES}", formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        module.add_arguments(one)
        one.add_argument("--json", action="store_true", help="print the result as JSON, with every digit")
        one.add_argument("--debug", action="store_true", help="show tracebacks")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ∂ shows a question mark, not a traceback
    try:
        whole = parser()
        options, rest = whole.parse_known_args(arguments)
        if rest and not (hasattr(options, "at") and not rest[0].startswith("-")):
            whole.error(f"unrecognized arguments: {' '.join(rest)}")
    except SystemExit as end:  # argparse has said why
        return end.code if isinstance(end.code, int) else 2
    terminal = Terminal(as_json=options.json)
    if rest:
        terminal.complain(
            f"{rest[0]!r} stands behind the function", f"give the point with --at: --at {shlex.quote(rest[0])}"
        )
        return 2
    warnings.showwarning = lambda message, *_, **__: terminal.note(f"warning: {message}")
    try:
        return COMMANDS[options.command].run(options, terminal)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        terminal.complain("interrupted")
        return 130
    except Exception as error:
        if options.debug:
            traceback.print_exc()
        return _complained(error, terminal)


def _complained(error: Exception, terminal: Terminal) -> int:
    """Say what went wrong in the user's terms; returns the exit code."""
    if isinstance(error, UsageError):
        terminal.complain(error.problem, error.remedy)
        return 1 if isinstance(error, TargetError) else 2
    if isinstance(error, WengertError):  # says the remedy itself
        terminal.complain(str(error))
        return 1
    terminal.complain(
        f"{type(error).__name__}: {error}{place_of(error)}", "mend the function, or --debug for the whole traceback"
    )
    return 1
