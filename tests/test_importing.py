"""`import wengert` is quick: what only some need, and takes long, is imported when it is asked for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import wengert as wg

HEAVY = ["scipy.stats", "scipy.signal", "scipy.ndimage", "sympy", "pandas", "matplotlib", "torch", "jax", "dask"]
NOT_FOR_GRADIENTS = ["llvmlite", "scipy.optimize", "scipy.integrate", "scipy.sparse.linalg", "wengert.explain"]


def said_by(code: str) -> str:
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("use", "absent"),
    [
        ("wg.grad(lambda x: np.sum(x**2))(np.ones(2))", [*HEAVY, *NOT_FOR_GRADIENTS]),
        ("[getattr(wg, name) for name in wg.__all__ if name != 'infer']", HEAVY),
    ],
)
def test_what_is_not_imported(use, absent):
    code = f"import sys, numpy as np, wengert as wg\n{use}\nprint(*[m for m in {absent} if m in sys.modules])"
    assert said_by(code).split() == []


def test_what_is_imported_later_is_what_the_source_says():
    """Type checkers and those who read see imports, Python sees a table."""
    tree = ast.parse(Path(wg.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    read = {alias.name: node.module for node in block.body for alias in node.names}
    table = {name: f"wengert.{module}" for name, module in wg._HOME.items()}
    table |= {name: f"wengert.{path}".rpartition(".")[0] for name, path in wg._MODULES.items()}
    assert read == table
    assert {*read, "errors"} == set(wg.__all__) <= set(dir(wg))


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'wengert' has no attribute 'gradient'"):
        wg.gradient


def test_a_folder_does_not_hide_the_function_of_its_name():
    code = "import wengert.explain.trace, wengert as wg; print(wg.explain.__name__, wg.trace.__name__)"
    assert said_by(code).split() == ["explain", "trace"]


@pytest.mark.parametrize("module", ["box.writing", "explain.write", "backend.llvm.native"])
def test_any_module_may_be_the_first(module):
    said_by(f"import wengert.{module}")


SOLVERS = """
import numpy as np, wengert as wg
wg.grad(lambda x: x * 2)(1.0)
import scipy.optimize
from scipy.sparse.linalg import cg, spsolve
import scipy.sparse as sp
print(wg.grad(lambda a: scipy.optimize.brentq(lambda x: x**3 - a, 0, 5))(8.0))
print(wg.grad(lambda a: cg(np.eye(2) * a, np.ones(2))[0].sum())(8.0))
print(wg.grad(lambda a: spsolve(sp.eye(2, format="csc"), np.ones(2) * a).sum())(8.0))
print(wg.jit(wg.grad(lambda x: wg.stop_gradient(x) * x + wg.logsumexp(x * np.ones(2))))(3.0))
"""


def test_solvers_that_are_imported_after_the_first_derivative_and_operators_first_asked_for_while_it_is_taken():
    assert [float(x) for x in said_by(SOLVERS).split()] == pytest.approx([1 / 12, -2 / 64, 2, 4], rel=1e-6)


def test_a_method_of_a_library_may_come_first():
    code = "import numpy as np, wengert as wg, scipy.sparse as sp\nfrom scipy.sparse.linalg import splu\n"
    code += "factors = splu(sp.csc_array([[2.0]]))\nprint(wg.grad(lambda x: factors.solve(x)[0])(np.ones(1))[0])"
    assert said_by(code) == "0.5\n"


def test_a_name_that_is_misspelt():
    """Python completes the message: Did you mean …"""
    run = subprocess.run(
        [sys.executable, "-c", "import wengert as wg; wg.jacobain"], capture_output=True, text=True, check=False
    )
    assert "Did you mean: 'jacobian'?" in run.stderr
