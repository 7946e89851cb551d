"""`wengert check`: compare the derivatives of every function of a module with differences.

A function is checked at the point that is given, or at one made up from its signature: defaults, random numbers for
`float`, random arrays for annotations that name an array. Whatever cannot be checked is listed with the reason. The
process ends with code 1 if a derivative is wrong or cannot be had, which is what continuous integration looks at.
"""

from __future__ import annotations

import argparse
import inspect
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.check import MODES, GradientCheckError, check_gradients
from wengert.cli import point
from wengert.cli.problem import UsageError
from wengert.cli.showing import table, text_of
from wengert.cli.target import functions_of, load, load_module, place_of, signature_of, split
from wengert.cli.terminal import Terminal
from wengert.errors import WengertError
from wengert.types import dtype_of, is_inexact

HELP = "compare the derivatives of a module's functions with differences"
EXAMPLES = """\
  wengert check model.py                              every function whose arguments have defaults or annotations
  wengert check model.py --at 'x=[1.0, 2.0]'          x of every function that has one
  wengert check model.py --at 'loss.x=[1.0, 2.0]'     x of the function loss only
  wengert check model.py:loss --at '[1.0, 2.0]' --order 3
"""
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_LENGTH = 3


@dataclass(frozen=True)
class Outcome:
    """What became of one function."""

    function: str
    status: str
    reason: str = ""
    point: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    point.add_arguments(parser, "FILE[:FUNCTION]", "model.py, model.py:f, or package.module")
    parser.add_argument("--order", type=int, default=2, help="up to which order of differentiation (default: 2)")
    parser.add_argument("--modes", default=",".join(MODES), help="forward, reverse or both (default: both)")
    parser.add_argument("--rtol", type=float, help="how close derivatives must be (default: what differences can tell)")
    parser.add_argument("--seed", type=int, default=0, help="of made-up points and directions (default: 0)")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Check all functions, then report."""
    modes = tuple(m.strip() for m in options.modes.split(","))
    if any(m not in MODES for m in modes):
        raise UsageError(f"--modes {options.modes}", remedy=f"choose of {', '.join(MODES)}")
    where, name = split(options.target)
    chosen = dict([load(options.target)]) if name else functions_of(load_module(where))
    if not chosen:
        raise UsageError(f"{where} defines no public function", remedy="name a module with functions")
    outcomes = []
    with terminal.progress(len(chosen)) as bar:
        for label, function in chosen.items():
            bar.step(label)
            outcomes.append(_checked(label, function, options, modes, len(chosen) == 1))
    _report(outcomes, terminal)
    return 1 if any(o.status == FAILED for o in outcomes) else 0


def _checked(
    name: str, function: Callable, options: argparse.Namespace, modes: tuple[str, ...], alone: bool
) -> Outcome:
    positional, named = point.given(options.at, options.arg)
    mine = _belonging(name, function, named, alone)
    rng = np.random.default_rng(options.seed)
    if not alone and positional:
        raise UsageError("--at by position, and several functions", remedy="write --at name=value")
    if not positional:
        reason = _fill_in(function, mine, rng)
        if reason and not alone:
            return Outcome(name, SKIPPED, reason)
    try:
        call = point.bound(name, function, positional, mine)
    except UsageError as error:
        if alone:
            raise
        return Outcome(name, SKIPPED, error.problem)
    where = ", ".join(f"{n} = {text_of(call.args[k])}" for k, n in enumerate(call.names))[:120].replace("\n", "")
    given = bool(positional) or bool(_belonging(name, function, named, alone))
    return _outcome(call, where, given, options, modes)


def _outcome(call: point.Call, where: str, given: bool, options: argparse.Namespace, modes: tuple[str, ...]) -> Outcome:
    name = call.name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = call.function(*call.args, **call.kwargs)
    except Exception as error:
        status = FAILED if given else SKIPPED
        return Outcome(
            name, status, f"the function itself raises {type(error).__name__}: {error}{place_of(error)}", where
        )
    if not point.has_floats(value):
        return Outcome(name, SKIPPED, f"returns {type(value).__name__}, which has no derivative", where)
    if not all(np.all(np.isfinite(leaf)) for leaf in tree.leaves(value) if is_inexact(dtype_of(leaf))):
        return Outcome(name, FAILED if given else SKIPPED, "the value is not finite at this point; give another", where)
    target = partial(call.function, **call.kwargs) if call.kwargs else call.function
    try:
        check_gradients(target, *call.args, modes=modes, order=options.order, rtol=options.rtol, seed=options.seed)
    except GradientCheckError as error:
        return Outcome(name, FAILED, str(error).splitlines()[0], where)
    except WengertError as error:
        return Outcome(name, FAILED, "; ".join(line.strip() for line in str(error).splitlines()), where)
    except Exception as error:
        return Outcome(name, FAILED, f"{type(error).__name__}: {error}{place_of(error)}", where)
    return Outcome(name, PASSED, "", where)


def _belonging(name: str, function: Callable, named: dict[str, Any], alone: bool) -> dict[str, Any]:
    """Of the values given by name, those for this function: `f.x` before `x`."""
    signature = signature_of(function)
    parameters = () if signature is None else tuple(signature.parameters)
    found = {n: v for n, v in named.items() if "." not in n and (alone or n in parameters)}
    found |= {n.partition(".")[2]: v for n, v in named.items() if n.startswith(name + ".")}
    return found


def _fill_in(function: Callable, mine: dict[str, Any], rng: np.random.Generator) -> str:
    """Make up what is missing, as annotations say; returns why it cannot be done, or an empty string."""
    signature = signature_of(function)
    if signature is None:
        return "its parameters are not known"
    for p in signature.parameters.values():
        if p.name in mine or p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        value = _made_up(p, rng)
        if value is None:
            return f"no value for {p.name}: annotate it as float or np.ndarray, or give --at {p.name}=…"
        mine[p.name] = value
    return ""


def _made_up(p: inspect.Parameter, rng: np.random.Generator) -> Any:
    """A value between 0.5 and 1.5, where most functions are defined."""
    annotation = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", str(p.annotation))
    if annotation in ("float", "float64"):
        return float(rng.uniform(0.5, 1.5))
    if any(word in annotation for word in ("ndarray", "NDArray", "ArrayLike", "Array")):
        return rng.uniform(0.5, 1.5, _LENGTH)
    return 2 if annotation == "int" else None


def _report(outcomes: list[Outcome], terminal: Terminal) -> None:
    counts = {s: sum(o.status == s for o in outcomes) for s in (PASSED, FAILED, SKIPPED)}
    if terminal.as_json:
        terminal.data({"functions": [asdict(o) for o in outcomes], **counts})
        return
    marks = {PASSED: ("✓", "green"), FAILED: ("✗", "red"), SKIPPED: ("–", "yellow")}
    names = table([(o.function, o.status) for o in outcomes])
    for o, text in zip(outcomes, names, strict=True):
        mark, colour = marks[o.status]
        terminal.say(f"{terminal.paint(mark, colour)} {text}" + (f"  {o.reason}" if o.reason else ""))
        if o.status == FAILED:
            terminal.say(f"    at {o.point}")
    terminal.say(", ".join(f"{n} {status}" for status, n in counts.items() if n))
