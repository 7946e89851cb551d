"""The architecture, checked: who may import whom, no cycles, no hidden imports, a docstring in every module.

The source is parsed, never imported, so what counts is what is written. A dependency is any import that runs when
the module is loaded; `if TYPE_CHECKING:` at the top level is for annotations only and does not count. `from p import
n` depends on the module `p.n` if there is one and on `p` itself otherwise, so a module that takes a name from its own
folder's `__init__` is in a cycle with it, as it is when Python runs it.
"""

import ast
import functools
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "wengert"
ROOT = Path(__file__).parent.parent / PACKAGE

# A folder or module imports only from rows above its own.
ROWS = (
    ("packages",),
    ("errors", "tree", "types", "strides", "identical", "counted", "disk", "running", "raised", "imported"),
    ("graphs",),
    ("ops",),
    ("box",),
    ("modes", "ir"),
    ("control",),
    ("capture",),
    ("passes",),
    ("backend",),
    ("api", "numpy", "algorithms"),
    ("solvers",),
    ("explain",),
    ("optimize", "interop"),
    ("nn",),
    ("infer",),
    ("cli",),
    ("__init__", "__main__"),  # the package itself: the top
)
APPLICATIONS = ("optimize", "interop", "nn", "infer")
SEEN_BY_APPLICATIONS = (
    "api",
    "solvers",
    "algorithms",
    "tree",
    "errors",
    "explain",
    *APPLICATIONS,
)

ROW_OF = {unit: number for number, row in enumerate(ROWS) for unit in row}


class Import(NamedTuple):
    """One import, as written: `target` is a dotted name, `name` what `from target import name` takes from it."""

    target: str
    name: str | None
    line: int
    in_function: bool


class Module(NamedTuple):
    path: str  # relative to the package folder
    name: str  # dotted
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return Path(self.path).stem == "__init__"


def unit_of(name: str) -> str:
    """The folder or top-level module, as the rows call it, that a dotted name of this package lies in."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def parse(sources: dict[str, str]) -> dict[str, Module]:
    """Modules by dotted name, from source text by path."""
    modules = {}
    for path, source in sources.items():
        parts = [PACKAGE, *Path(path).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        name = ".".join(parts)
        modules[name] = Module(path, name, ast.parse(source, path))
    return modules


def is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


@functools.cache
def imports_of(module: Module) -> list[Import]:
    """Every import of a module, except those under `if TYPE_CHECKING:` at the top level."""
    return list(_imports_of(module))


def _imports_of(module: Module) -> Iterator[Import]:
    pending: list[tuple[ast.AST, bool]] = []
    for statement in module.tree.body:
        if isinstance(statement, ast.If) and is_type_checking(statement.test):
            pending += [(child, False) for child in statement.orelse]
        else:
            pending.append((statement, False))
    while pending:
        node, in_function = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno, in_function)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Import(absolute(module, node), alias.name, node.lineno, in_function)
        inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        pending += [(child, inside) for child in ast.iter_child_nodes(node)]


def absolute(module: Module, node: ast.ImportFrom) -> str:
    """The dotted name that `from … import` means, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    folder = module.name.split(".")
    up = node.level - module.is_package
    base = folder[: len(folder) - up]
    return ".".join(base + ([node.module] if node.module else []))


def dependencies(module: Module, modules: dict[str, Module]) -> Iterator[tuple[str, int]]:
    """The modules of this package that are loaded because this one imports them, and the lines that do it."""
    for found in imports_of(module):
        if found.target.split(".")[0] != PACKAGE:
            continue
        submodule = f"{found.target}.{found.name}"
        # Of a folder without `__init__.py` only its modules exist, hence the look at prefixes.
        is_module = submodule in modules or any(name.startswith(submodule + ".") for name in modules)
        yield (submodule if found.name and is_module else found.target), found.line


def unknown_folders(modules: dict[str, Module]) -> list[str]:
    units = {unit_of(name) for name in modules} - ROW_OF.keys()
    return [f"wengert/{unit} is in no layer: add it to a row of ROWS in tests/test_layers.py" for unit in sorted(units)]


def wrong_directions(modules: dict[str, Module]) -> list[str]:
    wrong = []
    for module in modules.values():
        unit = unit_of(module.name)
        for target, line in dependencies(module, modules):
            other = unit_of(target)
            if other == unit or unit not in ROW_OF:
                continue
            where = f"{module.path}:{line}: {unit}"
            if other not in ROW_OF:
                wrong.append(f"{where} imports {other}, which is in no layer: add it to a row of ROWS")
            elif ROW_OF[other] >= ROW_OF[unit]:
                wrong.append(f"{where} (row {ROW_OF[unit]}) must not import {other} (row {ROW_OF[other]})")
            elif unit in APPLICATIONS and other not in SEEN_BY_APPLICATIONS:
                wrong.append(f"{where} is an application and must not import {other}, only {SEEN_BY_APPLICATIONS}")
    return wrong


def cycles(modules: dict[str, Module]) -> list[str]:
    graph = {module.name: {target for target, _ in dependencies(module, modules)} for module in modules.values()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return ["import cycle: " + " <- ".join(error.args[1])]
    return []


def hidden_imports(modules: dict[str, Module]) -> list[str]:
    return [
        f"{module.path}:{found.line}: import of {found.target} inside a function"
        for module in modules.values()
        for found in imports_of(module)
        if found.in_function
    ]


def missing_docstrings(modules: dict[str, Module]) -> list[str]:
    return [
        f"{module.path}: the module must open with a docstring"
        for module in modules.values()
        if not ast.get_docstring(module.tree)
    ]


CHECKS = (unknown_folders, wrong_directions, cycles, hidden_imports, missing_docstrings)


@pytest.fixture(scope="module")
def package() -> dict[str, Module]:
    paths = sorted(ROOT.rglob("*.py"))
    assert paths, f"no source found under {ROOT}"
    return parse({path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths})


@pytest.mark.parametrize("check", CHECKS)
def test_package(check, package):
    complaints = check(package)
    assert not complaints, "\n".join(complaints)


# The checks themselves: each finds its kind of violation, and only that.

GOOD = {
    "__init__.py": '"""Top."""\nfrom wengert import tree\nfrom wengert.api.grad import grad',
    "errors.py": '"""Errors."""\nimport sys',
    "tree.py": '"""Trees."""',
    "ops/__init__.py": '"""The table."""\nfrom .op import call\nfrom .elementwise import exp',
    "ops/op.py": '"""The door."""\nfrom wengert.errors import E',
    "ops/elementwise.py": '"""Rows."""\nfrom wengert.ops.op import call\nfrom . import op',
    "box/box.py": '"""Boxes."""\nfrom wengert import errors, ops\nimport wengert.ops.op as op',
    "api/grad.py": '"""Gradient."""\nfrom ..ops import call\nfrom ..box.box import Box',
    "nn/layer.py": '"""Layers."""\nfrom wengert.api.grad import grad\nfrom wengert import tree',
}


def complaints_about(**changes: str) -> dict[str, list[str]]:
    """What the checks say about the good package with some modules (`ops__op` is ops/op.py) replaced or added."""
    sources = GOOD | {key.replace("__", "/") + ".py": source for key, source in changes.items()}
    modules = parse(sources)
    return {check.__name__: found for check in CHECKS if (found := check(modules))}


def test_a_good_package_has_no_complaints():
    assert complaints_about() == {}


@pytest.mark.parametrize(
    ("where", "statement"),
    [
        ("ops__op", "from wengert.box.box import Box"),  # upwards
        ("ops__op", "import wengert.box.box"),
        ("ops__op", "from ..box import box"),
        ("ops__op", "from ..box.box import Box"),
        ("ops__op", "try:\n    from wengert.box import box\nexcept ImportError:\n    pass"),
        ("tree", "from wengert.errors import E"),  # sideways
        ("tree", "from .errors import E"),
        ("tree", "from . import errors"),
        ("nn__layer", "from wengert.ops import call"),  # downwards, but hidden from applications
        ("nn__layer", "from wengert.errors import E\nfrom wengert.box.box import Box"),
    ],
)
def test_a_wrong_direction_is_found(where, statement):
    found = complaints_about(**{where: f'"""Doc."""\n{statement}'})
    assert len(found["wrong_directions"]) == 1
    assert where.split("__")[0] in found["wrong_directions"][0]


@pytest.mark.parametrize("statement", ["import wengert", "from wengert import grad", "from .. import grad"])
def test_nobody_imports_the_top(statement):
    found = complaints_about(ops__op=f'"""Doc."""\n{statement}')
    assert "__init__" in found["wrong_directions"][0]
    assert "cycles" in found


@pytest.mark.parametrize(
    "statement",
    [
        "from wengert.ops.elementwise import exp",
        "from .elementwise import exp",
        "from . import elementwise",
        "from wengert.ops import exp",  # by way of the folder's __init__
        "from wengert.ops import op",  # itself
    ],
)
def test_a_cycle_is_found(statement):
    found = complaints_about(ops__op=f'"""Doc."""\n{statement}')
    assert found.keys() == {"cycles"}
    assert "wengert.ops.op" in found["cycles"][0]


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    import math",
        "async def f():\n    from math import pi",
        "class C:\n    def f(self):\n        if True:\n            import math",
        "if TYPE_CHECKING:\n    pass\nelse:\n    def f():\n        import math",
        "def f():\n    if TYPE_CHECKING:\n        import math",
    ],
)
def test_an_import_inside_a_function_is_found(source):
    found = complaints_about(errors=f'"""Doc."""\n{source}')
    assert found.keys() == {"hidden_imports"}
    assert "errors.py" in found["hidden_imports"][0]


@pytest.mark.parametrize("condition", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_imports_for_annotations_do_not_count(condition):
    source = f'"""Doc."""\nimport typing\nif {condition}:\n    from wengert.box.box import Box'
    assert complaints_about(ops__op=source) == {}
    assert "wrong_directions" in complaints_about(ops__op=source + "\nelse:\n    from wengert.box.box import Box")


@pytest.mark.parametrize("source", ["", "import math", "x = 1\n'''too late'''", '""" """'])
def test_a_missing_docstring_is_found(source):
    assert complaints_about(errors=source).keys() == {"missing_docstrings"}


def test_an_unknown_folder_is_found():
    found = complaints_about(surprise__thing='"""Doc."""')
    assert found.keys() == {"unknown_folders"}
    assert "wengert/surprise" in found["unknown_folders"][0]
    assert "add it to a row" in found["unknown_folders"][0]
    found = complaints_about(api__grad='"""Doc."""\nfrom wengert.surprise.thing import x')
    assert "add it to a row" in found["wrong_directions"][0]
