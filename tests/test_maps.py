"""The files that documents and maps name exist, and maps of folders name all of them."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "wengert"
MAPPED = ("ir", "box", "modes", "control", "capture", "backend/llvm", "backend/python", "backend/gpu")
"""Folders whose docstring says what each of its files is for."""
FROM = {"benchmarks/README.md": ("benchmarks", "benchmarks/compiled", "benchmarks/tools")}
"""Folders in which the files are that a document names."""


def _modules(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")} - {"__init__"}


@pytest.mark.parametrize("folder", MAPPED)
def test_a_map_names_the_files_of_its_folder(folder):
    text = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text()))
    found = re.findall(r"`(\w+(?:\.py)?)`|^ *(\w+\.py)\b", text, re.M)
    named = {name.removesuffix(".py") for pair in found for name in pair}
    assert _modules(PACKAGE / folder) <= named


@pytest.mark.parametrize("folder", MAPPED)
def test_a_map_names_no_files_that_are_gone(folder):
    text = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text()))
    names = re.findall(r"`([\w/]+(?:\.py|/))`|^ *(\w+(?:\.py|/)) ", text, re.M)
    assert not [name for pair in names for name in pair if name and not _exists(name, (f"wengert/{folder}",))]


def _exists(name: str, folders: tuple[str, ...]) -> bool:
    if any((ROOT / folder / name).exists() for folder in ("", "wengert", "docs", *folders)):
        return True
    return "/" not in name and any(PACKAGE.rglob(name))


DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_a_document_names_exist(document):
    place = str(document.relative_to(ROOT))
    names = set(re.findall(r"`([\w./-]+(?:\.py|/))`", document.read_text()))
    assert not [name for name in sorted(names) if not _exists(name, FROM.get(place, ()))]
