"""The C header of exported functions: prototypes, what they take and give, sizes as macros, and how to link."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from wengert.backend.llvm.calls.standalone import Standalone, StandaloneFunction, by_value
from wengert.ir.node import Type

_NAMES = {"d": "double", "f": "float", "D": "double", "F": "float", "?": "bool"}

_KEYWORDS = """
    alignas alignof auto bool break case catch char class const constexpr continue default delete do double else enum
    explicit extern false float for friend goto if inline int long mutable namespace new nullptr operator private
    protected public register restrict return short signed sizeof static static_assert struct switch template this
    thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile while
"""
"""Of C and C++."""


def identifier(text: str) -> str:
    """A text as a name of C.

    >>> identifier("p_w-1"), identifier("double"), identifier("2x")
    ('p_w_1', 'double_', '_2x')
    """
    name = re.sub(r"\W", "_", text, flags=re.ASCII) or "_"
    name = f"_{name}" if name[0].isdigit() else name
    return f"{name}_" if name in _KEYWORDS.split() else name


def different(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Names of C for texts, no two of them alike.

    >>> different(["x", "x", "int"])
    ['x', 'x_2', 'int_']
    """
    found: list[str] = []
    for text in names:
        name, k = identifier(text), 1
        while name in found or name in taken:
            k += 1
            name = f"{identifier(text)}_{k}"
        found.append(name)
    return found


def header(name: str, file: str, functions: Sequence[StandaloneFunction], made: Standalone) -> str:
    """The text of the header `<file>.h`."""
    guard = f"{identifier(file).upper()}_H"
    libraries = " ".join(f"-l{library}" for library in made.libraries)
    parts = [
        f"/* {file}.h: written by Wengert. Link with {file}.o {libraries}\n{_EXPLAINED.format(name=name)} */",
        f"#ifndef {guard}\n#define {guard}",
        "#include <stdbool.h>\n#include <stdint.h>",
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        _macros(name, functions),
        *[f"{_comment(function)}\n{_prototype(function)}" for function in functions],
        f"/* The message of an error. */\nconst char *{name}_error(int number);",
        "#ifdef __cplusplus\n}\n#endif",
        "#endif",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


_EXPLAINED = """\
 *
 * Arrays lie in memory row by row, without gaps; complex numbers are pairs (real, imaginary). Results must not overlap
 * with anything else. Functions return 0, or the number of an error, whose message {name}_error gives; what is in the
 * results then is not said. They may be called from several threads at once. Memory for temporaries is kept for the
 * next call.
"""


def _c_type(type: Type) -> str:
    dtype = type.dtype
    known = _NAMES.get(dtype.char)
    return known or f"{'u' if dtype.kind == 'u' else ''}int{8 * dtype.itemsize}_t"


def _macros(name: str, functions: Sequence[StandaloneFunction]) -> str:
    """Sizes of arrays. Functions of one file call the same thing by the same name; if not, by one with their own."""
    known: dict[str, tuple] = {}
    for function in functions:
        names, types = (*function.inputs, *function.outputs), (*function.input_types, *function.output_types)
        for own, type in zip(names, types, strict=True):
            if type.ndim and known.setdefault(f"{name}_{own}", type.shape) != type.shape:
                known[f"{function.name}_{own}"] = type.shape
    lines = []
    for word, shape in known.items():
        lines.append(f"#define {word.upper()}_SIZE {math.prod(shape)}")
        lines += [f"#define {word.upper()}_LENGTH{k} {n}" for k, n in enumerate(shape)]
    return "\n".join(lines)


def _described(type: Type) -> str:
    kind = "complex " if type.dtype.kind == "c" else ""
    if not type.ndim:
        return f"a {kind}number"
    return f"{kind}array, {' x '.join(map(str, type.shape))}"


def _comment(function: StandaloneFunction) -> str:
    rows = [(name, _described(t)) for name, t in zip(function.inputs, function.input_types, strict=True)]
    rows += [
        (name, f"result: {_described(t)}") for name, t in zip(function.outputs, function.output_types, strict=True)
    ]
    width = max([len(name) for name, _ in rows], default=0)
    text = [f" *   {name:<{width}}  {what}" for name, what in rows]
    return "\n".join([f"/* {function.text.replace('*/', '* /')}", *text, " */"])


def _prototype(function: StandaloneFunction) -> str:
    parameters = []
    for name, type in zip(function.inputs, function.input_types, strict=True):
        parameters.append(f"{_c_type(type)} {name}" if by_value(type) else f"const {_c_type(type)} *{name}")
    for name, type in zip(function.outputs, function.output_types, strict=True):
        parameters.append(f"{_c_type(type)} *{name}")
    line = f"int {function.name}({', '.join(parameters) or 'void'});"
    return line if len(line) <= 100 else f"int {function.name}(\n    " + ",\n    ".join(parameters) + ");"
