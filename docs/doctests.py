"""For the reference: examples in docstrings are shown as code, and what a function returns as a sentence.

Docstrings have their doctests in the text, without a heading, and Markdown would take `>>>` for a quotation. This
extension of griffe, which reads the source for mkdocstrings, puts fences around them.
"""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """The text with every run of lines that starts with `>>>`, up to an empty line, in a fence."""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.lstrip().startswith(">>>"):
            indent = line[: len(line) - len(line.lstrip())]
            out.append(f"\n{indent}```pycon")
            inside = True
        elif inside and not line.strip():
            out.append(f"{indent}```")
            inside = False
        out.append(line)
    return "\n".join([*out, f"{indent}```"] if inside else out)


def with_returns(text: str) -> str:
    """The text with `Returns:` and the lines beneath it as one paragraph: they are sentences, not a list of types."""
    lines, out = text.splitlines(), []
    inside = False
    for line in lines:
        if line.strip() == "Returns:":
            inside = True
            out.append("**Returns:**")
        elif inside and line.startswith(" "):
            out.append(line.strip())
        else:
            inside = False
            out.append(line)
    return "\n".join(out)


class Doctests(griffe.Extension):
    """Changes docstrings before they are parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = with_returns(fenced(obj.docstring.value))
