"""A smaller program that fails in the same way: statements deleted, suites put in place of what holds them, expressions
replaced by parts of themselves or by constants, definitions that nobody needs left out (delta debugging on the syntax
tree; Zeller and Hildebrandt 2002, Regehr et al. 2012)."""

from __future__ import annotations

import ast
import copy
import re
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from fuzz.compositions import TOOLS, Check, kind_of
from fuzz.outcome import Outcome
from fuzz.program import Program
from fuzz.sizes import is_lowered

CONSTANTS = ("0.5", "1", "a", "x", "x[0]", "True")
KEPT = (
    "f",
    "number",
    "total",
    "flat",
    "slope",
    "many",
    "slope_of_jitted",
    "many_of_jitted",
    "jitted",
    "series",
    "linear",
    "pulled",
    "blocks",
)


def shrunk(program: Program, composition: str, outcome: Outcome, seconds: float = 60.0) -> Program:
    """The smallest program found in this time whose outcome is of the same kind, for the same reason."""

    def fails(source: str) -> bool:
        check = Check(program.smaller(source), limit=10.0)
        try:
            if not check.useful():
                return False
            found = check.run(composition)
        except SyntaxError:
            return False
        return found.kind == outcome.kind and (outcome.kind == "wrong" or found.reason == outcome.reason)

    return program.smaller(smallest(program.source, fails, seconds))


def smallest(source: str, fails: Callable[[str], bool], seconds: float) -> str:
    """The smallest source for which `fails` still holds."""
    end = time.monotonic() + seconds
    best = ast.unparse(ast.parse(source))
    if not fails(best):
        return source
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for candidates in (_without_statements, _unwrapped, _without_definitions, _simpler_expressions):
            k = 0
            while time.monotonic() < end:
                text = _nth(candidates(ast.parse(best)), k)
                if text is None:
                    break
                if len(text) < len(best) and _compiles(text) and fails(text):
                    best, progress = text, True
                else:
                    k += 1
    return best


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            compile(text, "<candidate>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _nth(candidates: Iterator[str], k: int) -> str | None:
    for i, text in enumerate(candidates):
        if i == k:
            return text
    return None


def _function(tree: ast.Module) -> ast.FunctionDef:
    return next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "f")


def _suites(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements, the outer ones first."""
    for name in ("body", "orelse", "finalbody"):
        suite = getattr(node, name, None)
        if isinstance(suite, list):
            yield suite
            for statement in suite:
                yield from _suites(statement)
    for handler in getattr(node, "handlers", []):
        yield from _suites(handler)


def _without_statements(tree: ast.Module) -> Iterator[str]:
    for length in (4, 2, 1):
        for suite in list(_suites(_function(tree))):
            for k in reversed(range(len(suite))):
                old = suite[:]
                del suite[max(k - length + 1, 0) : k + 1]
                if not suite:
                    suite.append(ast.Pass())
                yield ast.unparse(tree)
                suite[:] = old


def _unwrapped(tree: ast.Module) -> Iterator[str]:
    for suite in list(_suites(_function(tree))):
        for k in reversed(range(len(suite))):
            node = suite[k]
            for inner in [getattr(node, name, None) or [] for name in ("body", "orelse", "finalbody")]:
                if inner and not isinstance(node, ast.FunctionDef):
                    suite[k : k + 1] = inner
                    yield ast.unparse(tree)
                    suite[k : k + len(inner)] = [node]
            if getattr(node, "orelse", None):
                old, node.orelse = node.orelse, []  # type: ignore[attr-defined]
                yield ast.unparse(tree)
                node.orelse = old  # type: ignore[attr-defined]


def _without_definitions(tree: ast.Module) -> Iterator[str]:
    """Without all definitions that `f` does not reach."""
    kept = _reached(tree, set(KEPT))
    if len(kept) < len(tree.body):
        yield ast.unparse(ast.Module(kept, []))


def _reached(tree: ast.Module, reached: set[str]) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    while True:
        found = [node for node in tree.body if node in kept or _is_needed(node, reached)]
        if found == kept:
            break
        kept = found
        for node in kept:
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                reached = reached | {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return kept


def _is_needed(node: ast.stmt, reached: set[str]) -> bool:
    """Whether a statement of the module binds a name that is reached, or states a rule for one."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any((alias.asname or alias.name).split(".")[0] in reached for alias in node.names)
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        rules = [n.id for d in node.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)]
        return node.name in reached or any(name in reached for name in rules if name not in ("wg", "dataclasses"))
    names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    if isinstance(node, ast.Assign):
        return any(n.id in reached for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name))
    return bool(names) and names[0] in reached


def _simpler_expressions(tree: ast.Module) -> Iterator[str]:
    f = _function(tree)
    for parent in ast.walk(f):
        for name, value in ast.iter_fields(parent):
            values = value if isinstance(value, list) else [value]
            for k, node in enumerate(values):
                if not isinstance(node, ast.expr) or isinstance(getattr(node, "ctx", None), ast.Store):
                    continue
                for replacement in _simpler(node):
                    _put(parent, name, value, k, replacement)
                    yield ast.unparse(tree)
                _put(parent, name, value, k, node)


def _put(parent: ast.AST, name: str, value: Any, k: int, node: ast.expr) -> None:
    if isinstance(value, list):
        value[k] = node
    else:
        setattr(parent, name, node)


def _simpler(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, (ast.Name, ast.Constant)):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield copy.deepcopy(child)
    for text in CONSTANTS:
        yield ast.parse(text, mode="eval").body


def runnable(program: Program, composition: str, outcome: Outcome) -> str:
    """The program with the call that fails, to be pasted into a file."""
    code, _, variant = composition.partition(" # ")
    kind = kind_of(composition)
    check = Check(program)
    args = ",\n    ".join(_literal(a) for a in check._arguments(kind))
    names = set(re.findall(r"[a-z_]+", code)) | {"np"}
    source = ast.unparse(ast.Module(_reached(ast.parse(program.source), names), []))
    if variant:
        source = source.replace("\ndef h_", "\n@wg.jit\ndef h_")
    for tool in [name for name in TOOLS if f"{name}(" in code]:
        source = f"from {TOOLS[tool].__module__} import {tool}\n{source}"
    layout = program.points[0].layout
    note = f"\n# arguments lie in memory {layout}" if layout != "plain" else ""
    note += "\n# small arrays are treated as large ones: fuzz.sizes" if is_lowered() else ""
    said = "\n".join(["# " + line for line in f"{outcome.kind}: {outcome.reason}\n{outcome.detail}".split("\n")])
    return f"{source}{note}\nargs = (\n    {args},\n)\nprint({code}(*args))\n{said}\n"


def _literal(value: Any) -> str:
    return "np." + repr(value) if hasattr(value, "ndim") and value.ndim else repr(value)
