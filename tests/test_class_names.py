"""One word for one thing: no two classes have the same name, but for those that a module keeps to itself."""

import ast
from collections import defaultdict
from pathlib import Path

import wengert

ROOT = Path(wengert.__file__).parent


def test_no_two_classes_have_one_name():
    found = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(ROOT)))
    assert len(found) > 100
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
