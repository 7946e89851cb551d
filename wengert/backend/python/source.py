"""A whole file of Python source from a program."""

from __future__ import annotations

import sys
from typing import Any

from wengert.backend.python.code import Code, Function, ready
from wengert.backend.python.definitions import Definitions
from wengert.backend.python.names import cleaned
from wengert.backend.python.text import TUPLE, Text
from wengert.backend.python.tidy import tidy
from wengert.backend.python.writer import Writer
from wengert.ir.node import Const, Program, Type


def python_source(program: Program, argument_names: list[str] | None = None) -> str:
    """NumPy source that computes what a program computes, without this library.

    The function is called as the program, its arguments as given or as the program's parameters. Several results come
    as a tuple, one as it is. Arguments are never written to.
    """
    definitions = Definitions()
    code, functions = ready(program.block)
    for each in (code, *[f.code for f in functions.values()]):
        tidy(each)
    names: dict[Function, str] = {}
    for function in functions.values():
        name = stem = cleaned(function.name) or "f"
        k = 1
        while name in names.values() or name == cleaned(program.name):
            name, k = f"{stem}_{k}", k + 1
        names[function] = name
    written = [_function(names[f], f.code, None, definitions, names) for f in functions.values()]
    written.append(_function(cleaned(program.name) or "f", code, argument_names, definitions, names))
    blocks = [*definitions.blocks, *written]
    if not any("np." in block for block in blocks):
        del definitions.imports["import numpy as np"]
    return (_imports(definitions) + _laid_out(blocks)).lstrip("\n")


def _laid_out(blocks: list[str]) -> str:
    """Blocks one below the other, with two lines of space around functions."""
    text, after_function = "", True
    for k, block in enumerate(blocks):
        spaced = _is_function(block) or (after_function and k > 0)
        text += ("\n\n" if spaced else "\n" if k == 0 else "") + block + "\n"
        after_function = _is_function(block)
    return text


def _is_function(block: str) -> bool:
    return block.startswith(("def ", "class ", "@"))


def _imports(definitions: Definitions) -> str:
    """The imports, those of Python's own modules first."""
    statements = sorted(definitions.imports)
    groups = [[s for s in statements if _is_foreign(s) is foreign] for foreign in (False, True)]
    return "\n".join("".join(s + "\n" for s in group) for group in groups if group)


def _is_foreign(statement: str) -> bool:
    return statement.split()[1].split(".")[0] not in sys.stdlib_module_names


def _function(name: str, code: Code, argument_names: Any, definitions: Definitions, names: dict[Function, str]) -> str:
    writer = Writer(code, definitions, names)
    for other in names.values():
        writer.names.reserved[other] += 1
    arguments = []
    for k, p in enumerate(code.params):
        hint = argument_names[k] if argument_names else p.hint
        writer.reads[p] += 1  # held until all have names
        argument = writer.names.new(hint, otherwise=f"x{k}")
        writer.bind(p, argument)
        arguments.append(argument)
    for p in code.params:
        writer.reads[p] -= 1
    writer.body(code)
    results = list(code.results)

    def returned() -> Text:
        texts = [_unshared(writer.render(r), r) for r in results]
        return texts[0] if len(texts) == 1 else Text(", ".join(t.within(TUPLE + 1) for t in texts) or "()")

    text = writer.fit(results, returned, 7)
    writer.line(f"return {text.text}")
    return f"def {name}({', '.join(arguments)}):\n" + _docstring(name, code, arguments) + "\n".join(writer.lines)


def _unshared(text: Text, result: Any) -> Text:
    """A constant of the file is not handed out: its new owner might write to it."""
    return Text(f"{text.text}.copy()") if isinstance(result, Const) and text.text.startswith("_constant") else text


def _docstring(name: str, code: Code, arguments: list[str]) -> str:
    kinds = [f"{a}, {_described(p.type)}" for a, p in zip(arguments, code.params, strict=True)]
    gives = ", ".join(_described(r.type) for r in code.results)
    first = f"Takes {'; '.join(kinds)}" if kinds else "Takes nothing"
    whole = f'    """{first}. Returns {gives or "nothing"}."""\n'
    if len(whole) <= 100:
        return whole
    lines = "".join(f"        {kind}\n" for kind in kinds)
    return f'    """Computes {name}.\n\n    Arguments:\n{lines}\n    Returns {gives}.\n    """\n'


def _described(type: Type) -> str:
    """A type in words.

    >>> import numpy as np
    >>> _described(Type((3, 4), np.dtype(float)))
    'float64 (3, 4)'
    """
    if not type.shape:
        return (
            {"f": "float", "i": "int", "c": "complex", "b": "bool"}[type.dtype.kind] if type.weak else type.dtype.name
        )
    lengths = ["?" if n.__class__ is not int else str(n) for n in type.shape]
    return f"{type.dtype.name} ({', '.join(lengths)}{',' * (len(lengths) == 1)})"
