"""Tables keyed by names of ops, and places that match names, name ops that exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import wengert
from wengert.backend.llvm.linalg import lapack
from wengert.ops.op import TABLE
from wengert.passes import algebra, contraction, diagonal, push_selections, resolve_control, structure

ROOT = Path(wengert.__file__).parent
FOLDERS = ("passes", "control", "ir", "backend")
RULES = [algebra, contraction, diagonal, push_selections, resolve_control, structure]


@pytest.mark.parametrize("module", RULES, ids=lambda m: m.__name__)
def test_rules_match_ops_that_exist(module):
    assert set(module.RULES) <= set(TABLE)


def test_native_linear_algebra_is_for_ops_that_exist():
    assert set(lapack.RULES) <= set(TABLE)


def _compared_names(tree: ast.AST) -> set[str]:
    """The strings that `….op.name` is compared with."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("op.name"):
            for other in node.comparators:
                found |= {c.value for c in ast.walk(other) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_that_are_matched_are_those_of_ops(folder):
    unknown = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        names = _compared_names(ast.parse(path.read_text())) - set(TABLE)
        if names:
            unknown[str(path.relative_to(ROOT))] = names
    assert not unknown


TABLES = ("api", "control", "explain", "ir", "modes", "passes")
"""Folders whose lists and tables of names are of ops, where three names and more than half of them are."""
OTHERS = {"ln", "while_"}  # how LaTeX writes `log`; the module of `while`


@pytest.mark.parametrize("folder", TABLES)
def test_tables_of_names_have_no_stale_ones(folder):
    stale = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
            names = {e.value for e in items if isinstance(e, ast.Constant) and isinstance(e.value, str)}
            known = names & set(TABLE)
            if len(known) >= 3 and 2 * len(known) > len(names) and names - known - OTHERS:
                stale[f"{path.relative_to(ROOT)}:{node.lineno}"] = names - known - OTHERS
    assert not stale


def test_no_sets_of_names_answer_for_rows():
    """A set of three names of ops and more is a list that a trait should replace."""
    found = []
    for folder in ("passes", "control"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "frozenset" and node.args:
                    node = node.args[0]
                elif not isinstance(node, ast.Set):
                    continue
                names = [e.value for e in getattr(node, "elts", []) if isinstance(e, ast.Constant)]
                if sum(name in TABLE for name in names) >= 3:
                    found.append((str(path.relative_to(ROOT)), names))
    assert not found
