"""`wengert source`: the derivative of a function as NumPy code that runs on its own."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from wengert.api.grad import grad, value_and_grad
from wengert.api.hessian import hessian
from wengert.api.jacobian import jacfwd, jacobian
from wengert.api.jit import jit
from wengert.cli import point
from wengert.cli.problem import UsageError
from wengert.cli.terminal import Terminal
from wengert.explain.source import source

HELP = "the derivative as code: NumPy, the intermediate program, LLVM or assembly"
EXAMPLES = """\
  wengert source model.py:energy --at '[1.0, 2.0]'
  wengert source model.py:residuals --at '[1.0, 2.0]' --of jacobian --output derivative.py
  wengert source model.py:energy --at '[1.0, 2.0]' --language llvm
"""
OPERATORS: dict[str, Callable] = {
    "grad": grad,
    "value-and-grad": value_and_grad,
    "jacobian": jacobian,
    "forward": jacfwd,
    "hessian": hessian,
}
LANGUAGES = ("python", "ir", "llvm", "assembly")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    point.add_arguments(parser)
    parser.add_argument(
        "--of", choices=("function", *OPERATORS), default="grad", help="which derivative (default: grad)"
    )  # fmt: skip
    parser.add_argument("--language", choices=LANGUAGES, default="python", help="of the code (default: python)")
    parser.add_argument("--output", metavar="FILE", help="write the code there instead of to the terminal")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the code, which is for arguments of these shapes."""
    call = point.call_of(options)
    argnums = call.argnums[0] if len(call.argnums) == 1 else call.argnums
    f = call.function if options.of == "function" else OPERATORS[options.of](call.function, argnums=argnums)
    if options.language == "python":
        code = source(f, *call.args, **call.kwargs)
    else:
        code = getattr(jit(f).lower(*call.args, **call.kwargs), options.language)
    if terminal.as_json:
        terminal.data({"function": call.name, "of": options.of, "language": options.language, "code": code})
    elif options.output:
        try:
            Path(options.output).write_text(code.rstrip("\n") + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"{options.output} cannot be written: {error.strerror}", remedy="choose another --output"
            ) from error
        terminal.note(f"{options.language} code written to {options.output}")
    else:
        terminal.say(code.rstrip("\n"))
    return 0
