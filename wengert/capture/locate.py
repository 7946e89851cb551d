"""Where a function's source is: from a code object to the node of the syntax tree it was compiled from.

A whole file is parsed once and its functions and lambdas are indexed by first line and name. Nothing is guessed: if the
source cannot be had, or does not fit the code object (the file was edited since), there is no node, and the function
runs as it is.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import dis
import functools
import linecache
import os
import stat
import sys
import threading
import time
from dataclasses import dataclass
from types import CodeType
from typing import Any

from wengert.capture.typed import statement_typed

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Located:
    """A function's node, and the classes around it (they matter for the mangling of private names)."""

    node: FunctionNode
    classes: tuple[str, ...]


_MOST_FILES = 8
_index: dict[str, dict[tuple[str, int], list[Located]]] = {}
"""The functions of the files that were asked about last; a syntax tree takes a hundred times the room of its text."""
_lock = threading.Lock()


def locate(code: CodeType, module_globals: dict[str, Any]) -> Located | None:
    """The node that a code object was compiled from, or `None`."""
    lines = lines_of(code, module_globals)
    if not lines:
        return None
    with _lock:
        key = f"{code.co_filename}:{hash(tuple(lines))}"
        functions = _index.pop(key, None)
        if functions is None:
            try:
                functions = _functions_of(ast.parse("".join(lines)))
            except (SyntaxError, ValueError):
                functions = {}
        _index[key] = functions  # the last one
        while len(_index) > _MOST_FILES:
            del _index[next(iter(_index))]
        found = functions.get((code.co_name, code.co_firstlineno), [])
    found = [candidate for candidate in found if _arguments(candidate.node.args) == _arguments_of_code(code)]
    if len(found) > 1:
        found = _by_position(found, code)
    return found[0] if found else None


def lines_of(code: CodeType, module_globals: dict[str, Any]) -> list[str]:
    """The lines of the file that a code object was compiled from; none if they cannot be had, or are others now.

    IPython, doctest and debuggers tell `linecache` what was typed. What was given to `python -c` or by a file to
    `python -` is found where Python found it, what was typed at its prompt in the history of `readline`, and cells that
    begin with `%%time` in that of IPython.
    """
    filename = code.co_filename
    lines = linecache.getlines(filename, module_globals)
    if lines and not _may_have_changed(filename):
        return lines
    if not lines and filename not in ("<string>", "<stdin>", "<console>", *_TIMED):
        return []
    if not lines:
        lines = _lines_timed(code) if filename in _TIMED else _lines_given_to_python(filename) or _lines_typed(code)
    return lines if lines and (_is_rewritten(code, module_globals) or _is_compiled_from(code, "".join(lines))) else []


_STARTED = time.time()


def _may_have_changed(filename: str) -> bool:
    """Whether a file was written since we are here: what was imported from it may have been another text."""
    try:
        return os.path.getmtime(filename) > _STARTED - 1.0
    except OSError:
        return False


def _is_rewritten(code: CodeType, module_globals: dict[str, Any]) -> bool:
    """Whether pytest has compiled a module, with assertions of its own."""
    return "@pytest_ar" in module_globals and code.co_filename == module_globals.get("__file__")


@functools.lru_cache(maxsize=64)
def _compiled(text: str, filename: str, flags: int) -> tuple[CodeType, ...]:
    try:
        found = [compile(text, filename, "exec", flags=flags, dont_inherit=True)]
    except (SyntaxError, ValueError):
        return ()
    for code in found:
        found += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return tuple(found)


def _is_compiled_from(code: CodeType, text: str) -> bool:
    candidates = _compiled(text, code.co_filename, code.co_flags & __future__.annotations.compiler_flag)
    return any(_do_the_same(code, candidate) for candidate in candidates)


def _do_the_same(a: CodeType, b: CodeType) -> bool:
    """Whether two code objects are of the same source. How methods are called also depends on what else is compiled."""
    if a is b or a == b:
        return True
    if (a.co_name, a.co_firstlineno, a.co_varnames) != (b.co_name, b.co_firstlineno, b.co_varnames):
        return False
    return _steps(a) == _steps(b) and all(
        _do_the_same(x, y) for x, y in zip(a.co_consts, b.co_consts, strict=True) if isinstance(x, CodeType)
    )


_OF_CALLS = frozenset(("PUSH_NULL", "PRECALL", "CACHE", "NOP", "CALL", "CALL_FUNCTION", "CALL_METHOD"))


def _steps(code: CodeType) -> list[tuple[str, str]]:
    steps = []
    for i in dis.get_instructions(code):
        if i.opname not in _OF_CALLS and not isinstance(i.argval, CodeType) and not i.opname.startswith("JUMP"):
            said = i.argrepr.replace("NULL + ", "").replace(" + NULL", "").replace("NULL|self + ", "")
            is_jump = i.opcode in dis.hasjrel or i.opcode in dis.hasjabs
            steps.append((i.opname.replace("METHOD", "ATTR"), "" if is_jump else said))
    return steps


def _lines_given_to_python(filename: str) -> list[str]:
    """What `python -c` was given, or what is in the file that is its standard input."""
    text = ""
    if filename == "<string>" and "-c" in sys.orig_argv[1:-1]:
        text = sys.orig_argv[sys.orig_argv.index("-c", 1) + 1]
    elif filename == "<stdin>":
        with contextlib.suppress(OSError, ValueError):
            if stat.S_ISREG(os.fstat(0).st_mode):
                text = os.pread(0, 1 << 24, 0).decode("utf-8")
    return text.splitlines(True)


def _lines_typed(code: CodeType) -> list[str]:
    name = "lambda" if code.co_name.startswith("<") else code.co_name
    return statement_typed(name, lambda text: _is_compiled_from(code, text)).splitlines(True)


_TIMED = ("<timed exec>", "<timed eval>")
"""What IPython calls the file of a cell that it takes the time of."""


def _lines_timed(code: CodeType) -> list[str]:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cells = shell.history_manager.input_hist_raw if shell is not None else []
    bodies = (cell.partition("\n")[2] for cell in reversed(cells) if cell.startswith("%%time"))
    return next((body for body in bodies if _is_compiled_from(code, body)), "").splitlines(True)


def _functions_of(tree: ast.Module) -> dict[tuple[str, int], list[Located]]:
    index: dict[tuple[str, int], list[Located]] = {}

    def walk(node: ast.AST, classes: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                walk(child, (*classes, child.name))
                continue
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *[d.lineno for d in child.decorator_list]])
                index.setdefault((child.name, first), []).append(Located(child, classes))
            elif isinstance(child, ast.Lambda):
                index.setdefault(("<lambda>", child.lineno), []).append(Located(child, classes))
            walk(child, classes)

    walk(tree, ())
    return index


def _arguments(args: ast.arguments) -> tuple[str, ...]:
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return (*names, *[a.arg for a in (args.vararg, args.kwarg) if a is not None])


def _arguments_of_code(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_varnames[:count]


def _by_position(candidates: list[Located], code: CodeType) -> list[Located]:
    """Of several lambdas on one line, those whose body holds all the instructions; the smallest first."""
    places = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None]
    places = [p for p in places if p != (code.co_firstlineno, 0)]

    def holds(candidate: Located) -> bool:
        body = candidate.node.body if isinstance(candidate.node, ast.Lambda) else candidate.node
        start = (body.lineno, body.col_offset)
        end = (body.end_lineno, body.end_col_offset)
        return all(start <= place <= end for place in places)

    def size(candidate: Located) -> tuple[int, int]:
        node = candidate.node
        return ((node.end_lineno or 0) - node.lineno, (node.end_col_offset or 0) - node.col_offset)

    return sorted([c for c in candidates if holds(c)], key=size)
