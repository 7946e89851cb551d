"""Every op has native code, a library's routine, or is handed to Python on purpose; and tables name ops that exist."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from op_calls import EXAMPLES

from wengert.backend.llvm import run, scalars
from wengert.backend.llvm.linalg import library, small
from wengert.backend.plan import access
from wengert.ops.op import TABLE

BEFORE_PLANNING = {"call", "checkpoint", "custom", "reread"}
"""Gone when a program comes to the backend: inlined, or put there for derivatives."""

BY_PYTHON = {
    # transforms, filters and sorting, which NumPy and SciPy compute in one call
    "spline_filter", "dct", "dst",
    "argpartition",
    # factorisations and functions of matrices without a routine here
    "borders", "vanishes", "solve_banded", "sylvester", "expm", "expm_frechet", "sqrtm", "halvings",
    "logm", "polar", "ldl", "continuous_riccati", "discrete_riccati", "matrix_function", "matrix_derivative",
    "eigh_generalized", "eig", "eigvals", "null_basis", "roots", "sparse_matmul",
    "sparse_solve",
    # watches over repeated values, small beside the factorisation they belong to
    "coincidences", "are_simple", "independent", "one_hot_argmax", "require_distinct", "succeeds", "reflecting",
    "rotate_in_null_space", "rotate_in_null_space_back",
    # the user's own code
    "act", "observe", "integral", "linear_solution", "solution", "refined_solution",
}  # fmt: skip

BY_QUADRATURE = {
    "gammainc_by_a", "hyp0f1_by_parameters", "hyp1f1_by_parameters", "hyp2f1_by_parameters", "hyperu_by_parameters",
    "ive_by_order", "jv_by_order", "kve_by_order", "yv_by_order",
}  # fmt: skip
"""Elementwise ops that Python computes: derivatives with respect to parameters, by quadrature or differences."""


def _of(name: str) -> Any:
    return SimpleNamespace(op=TABLE[name])


def _has_code(name: str) -> bool:
    in_table = name in run.CONTROL or name in run.EMISSIONS or name in run.COMPOSED or name in library.NAMES
    by_trait = TABLE[name].elementwise or access.is_rearrangement(_of(name)) or access.is_reduction(_of(name))
    return in_table or by_trait or name == "index"


@pytest.mark.parametrize(
    "names",
    [run.CONTROL, run.EMISSIONS, run.COMPOSED, library.NAMES, small.RULES, BEFORE_PLANNING, BY_PYTHON, BY_QUADRATURE],
    ids=["control", "emissions", "composed", "library", "small", "before planning", "by Python", "by quadrature"],
)
def test_tables_name_ops_that_exist(names):
    assert set(names) <= set(TABLE)


def test_every_op_has_code_or_is_left_to_python_on_purpose():
    without = {name for name in TABLE if not _has_code(name)}
    assert without == BEFORE_PLANNING | BY_PYTHON


def test_rearrangements_are_those_that_have_code():
    assert {name for name in TABLE if access.is_rearrangement(_of(name))} == {
        "transpose", "broadcast_to", "flip", "reshape",
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(name for name, op in TABLE.items() if op.elementwise and name in EXAMPLES))
def test_elementwise_ops_have_native_code(name):
    """For one of the examples at least: some dtypes and parameters are left to Python."""
    found = []
    for c in EXAMPLES[name]:
        dtypes = [np.asarray(a).dtype for a in c.args]
        result = np.asarray(TABLE[name].impl(*c.args, **c.params)).dtype
        constants = [a if np.ndim(a) == 0 else None for a in c.args]
        found.append(scalars.supports(name, c.params, result, dtypes, [False] * len(dtypes), constants))
    assert any(found) == (name not in BY_QUADRATURE)
