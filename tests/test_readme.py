"""The README tells the truth: its Python blocks run, in order, and give the values written beside them as `# → value`.

The blocks run from a copy of the README in which everything else is blank, so a failure points at its line there.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as wg

README = Path(__file__).parent.parent / "README.md"
MARK = "# → "
OPTIONAL = {"import dask": "dask", "wg.symbolic": "sympy"}
"""What in a block says that it needs a package that need not be there."""


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """The Python blocks of a Markdown page, with the line that each starts at."""
    for found in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start(1)), found.group(1)


def agree(value: Any, expected: Any) -> None:
    """Equal to the digits that are written, in any container."""
    if isinstance(expected, dict):
        assert value.keys() == expected.keys()
        for key in expected:
            agree(value[key], expected[key])
    elif isinstance(expected, tuple):
        assert len(value) == len(expected)
        for v, e in zip(value, expected, strict=True):
            agree(v, e)
    elif isinstance(expected, str):
        assert str(value) == expected
    else:
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-12)


def run(path: Path, source: str, names: dict[str, Any]) -> None:
    """Run statement by statement; an expression with a value beside it is compared with that."""
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        _, mark, expected = lines[statement.end_lineno - 1].partition(MARK)
        if mark:
            assert isinstance(statement, ast.Expr), "only an expression has a value"
            value = eval(compile(ast.Expression(statement.value), str(path), "eval"), names)
            agree(value, eval(expected, {"Point": names.get("Point")}))
        else:
            exec(compile(ast.Module([statement], []), str(path), "exec"), names)


def test_the_blocks_run(tmp_path):
    text = README.read_text(encoding="utf-8")
    found = list(blocks(text))
    assert len(found) >= 10
    lines = [""] * text.count("\n")
    for start, block in found:
        own = block.splitlines()
        lines[start : start + len(own)] = own
    path = tmp_path / "README.py"  # a file, so that the functions' source can be found
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    names: dict[str, Any] = {"__name__": "readme"}
    for start, block in found:
        if any(mark in block and importlib.util.find_spec(name) is None for mark, name in OPTIONAL.items()):
            continue
        run(path, "\n" * start + block, names)


def test_links_lead_somewhere():
    prose = re.sub(r"^```.*?^```$", "", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#:]+)\)", prose)
    assert targets
    for target in targets:
        assert (README.parent / target).exists(), target


def test_every_public_name_is_explained():
    words = set(re.findall(r"\w+", README.read_text(encoding="utf-8")))
    assert [name for name in wg.__all__ if name not in words] == []


def test_a_wrong_value_is_noticed(tmp_path):
    run(tmp_path / "x.py", "1 + 1  # → 2\n", {})
    with pytest.raises(AssertionError):
        run(tmp_path / "x.py", "(1 + 1, 1)  # → (2, 3)\n", {})
