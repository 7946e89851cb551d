"""`wengert trace`: the Wengert list of an evaluation, with tangents and adjoints, as a table or as a graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from wengert import tree
from wengert.cli import point
from wengert.cli.problem import UsageError
from wengert.cli.showing import plain
from wengert.cli.terminal import Terminal
from wengert.explain.trace import WengertList, trace

HELP = "the Wengert list: every elementary operation, with tangents and adjoints"
EXAMPLES = """\
  wengert trace model.py:f --at 2.0 --at 5.0 --adjoint
  wengert trace model.py:f --at 2.0 --at 5.0 --tangent 1.0 --tangent 0.0
  wengert trace model.py:f --at 2.0 --at 5.0 --graph f.svg
  wengert trace model.py:f --at 2.0 --at 5.0 --adjoint --format latex --output table.tex
"""
FORMATS = ("text", "markdown", "latex", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    point.add_arguments(parser)
    parser.add_argument(
        "--tangent", action="append", default=[], metavar="VALUE",
        help="the tangent of an input, one for each: adds the forward trace",
    )  # fmt: skip
    parser.add_argument(
        "--adjoint", action="store_true", help="add the reverse trace, from the adjoint 1 of the results"
    )
    parser.add_argument("--rows", type=int, metavar="N", help="leave out the middle of a list longer than N")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how the table is written (default: text)")
    parser.add_argument("--graph", metavar="FILE.svg", help="write the computational graph, too")
    parser.add_argument("--output", metavar="FILE", help="write the table there instead of to the terminal")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the list."""
    call = point.call_of(options)
    tangent = tuple(point.expression(text) for text in options.tangent) or None
    if tangent is not None and len(tangent) != len(call.argnums):
        raise UsageError(
            f"{len(call.argnums)} inputs ({', '.join(call.inputs)}) and {len(tangent)} tangents",
            remedy="give --tangent once for each input; 0.0 holds one",
        )
    found = trace(call.function, *call.args, argnums=call.argnums, tangent=tangent, **call.kwargs)
    if options.adjoint:
        found.pull([np.ones_like(o.value)[()] for o in found.listing.outputs])
    if options.graph:
        terminal.note(f"graph written to {found.graph().save(options.graph)}")
    if terminal.as_json:
        terminal.data(as_data(found))
        return 0
    text = found.text(options.rows) if options.format == "text" else getattr(found, options.format)(options.rows)
    if options.output:
        Path(options.output).write_text(text + "\n", encoding="utf-8")
        terminal.note(f"{options.format} table written to {options.output}")
    else:
        terminal.say(text)
    return 0


def as_data(found: WengertList) -> dict[str, Any]:
    """The list for JSON."""
    rows = []
    for row in found.rows:
        entry = {
            "name": row.name,
            "operation": row.operation,
            "operands": plain(row.operands),
            "value": plain(row.value),
        }
        if row.place is not None:
            entry |= {"line": getattr(row.place, "line", None)}
        if row.tangent is not None:
            entry |= {"tangent": plain(row.tangent)}
        if row.adjoint is not None:
            entry |= {"adjoint": plain(row.adjoint)}
        rows.append(entry)
    result = {"function": found.name, "rows": rows, "value": plain(found.value)}
    if found.gradient is not None:
        result["gradient"] = [plain(x) for x in tree.leaves(found.gradient)]
    return result
