"""Linear systems that SciPy solves step by step (`cg`, `gmres`, `lsqr`, …) or with factors that are kept (`splu`).

The matrix may be an array, a sparse matrix, or a `LinearOperator` made of functions of the user's. What is
differentiated is the answer: reverse mode solves the transposed system by the same method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from wengert.api.products import vjp
from wengert.box.contents import Holder
from wengert.box.dispatch import CALLERS, FUNCTIONS, METHODS
from wengert.box.functions.operands import array, join, stacked
from wengert.box.functions.sparse import SparseMatrix, spsolve
from wengert.capture.hooks import instrument
from wengert.errors import UnsupportedFunctionError
from wengert.ops.elementwise import stop_gradient
from wengert.ops.linalg import solve as solve_dense
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.shape import transpose
from wengert.ops.solution import linear_solution
from wengert.solvers.answer import Problem, solved
from wengert.solvers.given import Given, not_converged
from wengert.solvers.linear import System, why_it_ended
from wengert.solvers.parameters import Parameters, real, vector
from wengert.solvers.told import Told
from wengert.types import ndim_of, shape_of

_SQUARE = ("cg", "gmres", "bicgstab", "bicg", "cgs", "minres", "qmr", "lgmres", "gcrotmk", "tfqmr")


def _function_of(A: Any) -> Any:
    """The map that an operator or matrix is: a function of the user's, or a matrix."""
    if isinstance(A, SparseMatrix):
        data, structure = A.entries, A.with_entries(np.zeros(len(A.rows)))
        return lambda v: structure.with_entries(data) @ v
    implementation = getattr(A, "_CustomLinearOperator__matvec_impl", None)
    if implementation is None and isinstance(A, scipy.sparse.linalg.LinearOperator):
        return A.matvec
    return A if implementation is None else instrument(implementation)


def _times(A: Any, v: Any) -> Any:
    if callable(A):
        return vector(A(v))
    return vector(A @ v if scipy.sparse.issparse(A) else matmul(array(A), v))


def _others(given: Given, names: Sequence[str]) -> Parameters:
    """The other arguments of a call. Where an iteration starts, and how it is preconditioned, does not matter to what
    it finds, so they have no derivative."""
    others = Parameters(given.passed({k: v for k, v in given.arguments.items() if k not in (*names, "callback")}))
    others.values = [stop_gradient(value) for value in others.values]
    return others


def _square(name: str) -> None:
    original = getattr(scipy.sparse.linalg, name)
    full_name = f"scipy.sparse.linalg.{name}"

    def iterative(*args: Any, **kwargs: Any) -> Any:
        given = Given(original, args, kwargs)
        of_matrix = Parameters(_function_of(given["A"]))
        if not of_matrix.any and not Parameters(given["b"]).any:
            return original(*args, **kwargs)
        others, count = _others(given, ("A", "b")), len(of_matrix.values)
        callback = given.passed({"callback": given["callback"]})

        def find(operator: Any, b: np.ndarray, values: Sequence[Any]) -> np.ndarray:
            x, info = original(operator, b, **others.put(values[count:]), **callback)
            if info or not np.all(np.isfinite(x)):
                raise not_converged(full_name, f"it {why_it_ended(info)}")
            return x

        system = System(full_name, lambda v, values: _times(of_matrix.put(values[:count]), v), find)
        return linear_solution(vector(array(given["b"])), *of_matrix.values, *others.values, system=system), 0

    CALLERS[original] = iterative


def _least_squares(name: str) -> None:
    """`lsqr` and `lsmr`: where Aᵀ(A x − b) + damp² (x − x0) is zero."""
    original = getattr(scipy.sparse.linalg, name)
    full_name = f"scipy.sparse.linalg.{name}"
    if name == "lsqr":
        fields = "istop itn r1norm r2norm anorm acond arnorm xnorm var"
    else:
        fields = "istop itn normr normar norma conda normx"

    def solve(*args: Any, **kwargs: Any) -> Any:
        given = Given(original, args, kwargs)
        A = given["A"]
        has_shape = isinstance(A, (scipy.sparse.linalg.LinearOperator, SparseMatrix))
        parameters = Parameters((_function_of(A), given["b"], given["damp"]))
        if not parameters.any:
            return original(*args, **kwargs)
        others, count = _others(given, ("A", "b", "damp")), len(parameters.values)
        if given["x0"] is not None and (isinstance(given["damp"], Traced) or given["damp"] != 0):
            raise UnsupportedFunctionError(
                f"{full_name} of traced values with both damp and x0", remedy="solve for the difference to x0"
            )
        m, n = A.shape if has_shape else shape_of(A)
        told = Told(full_name, parameters.values)

        def residual(x: Any, *values: Any) -> Any:
            A, b, damp = parameters.put(values[:count])
            r, pull = vjp(lambda x: _times(A, x), x)
            return pull(r - vector(b))[0] + damp * damp * x

        def find(values: Sequence[Any]) -> Any:
            A, b, damp = parameters.put(values[:count])
            if callable(A):
                pull = vjp(lambda x: _times(A, x), np.zeros(n))[1]
                forward = lambda v, A=A: np.asarray(_times(A, np.ravel(v)))
                backward = lambda v: np.asarray(pull(np.ravel(v))[0])
                A = scipy.sparse.linalg.LinearOperator((m, n), forward, backward, dtype=float)
            return told.note(original(A, b, damp, **others.put(values[count:])))[0]

        x = solved(Problem(full_name, find, residual, n, n), [*parameters.values, *others.values], (n,))
        A, b, damp = parameters.put(parameters.values)
        r = vector(b) - _times(A, x)
        norm = FUNCTIONS[np.linalg.norm]
        size, length = norm(r), norm(x)
        traced = {"r1norm": size, "r2norm": norm(join([r, damp * x], 0)), "xnorm": length,
                  "normr": size, "normx": length}  # fmt: skip
        read = lambda k: lambda found: found[k]
        return x, *[
            traced[field] if field in traced else told.field(field, read=read(k + 1))
            for k, field in enumerate(fields.split())
        ]

    CALLERS[original] = solve


for _name in _SQUARE:
    _square(_name)
for _name in ("lsqr", "lsmr"):
    _least_squares(_name)


# ------------------------------------------------------------------------------------------- operators and kept factors

_Operator = scipy.sparse.linalg.LinearOperator


def _linear_operator(*args: Any, **kwargs: Any) -> Any:
    """SciPy tries a function out to learn its dtype, which a function of traced values does not survive."""
    if kwargs.get("dtype") is None and len(args) < 5 and Parameters((args, kwargs)).any:
        kwargs["dtype"] = float
    return _Operator(*args, **kwargs)


CALLERS[_Operator] = _linear_operator


class _Factors:
    """A factorised matrix, as the op `linear_solution` needs it; it does not depend on parameters."""

    def __init__(self, factors: Any, trans: str):
        self._factors = factors
        self._trans = trans

    @property
    def transposed(self) -> _Factors:
        return _Factors(self._factors, "T" if self._trans == "N" else "N")

    def solve(self, b: Any, parameters: Sequence[Any]) -> Any:
        return self._factors.solve(np.ascontiguousarray(b), self._trans)

    def enclosed(self, mode: Any, b: Any, parameters: Sequence[Any]) -> Any:
        """With the matrix whose factors these are: Pr·A·Pc = L·U."""
        product = matmul(mode.point(self._factors.L.toarray()), self._factors.U.toarray())
        matrix = product[self._factors.perm_r][:, self._factors.perm_c]
        return solve_dense(matrix if self._trans == "N" else transpose(matrix, axes=(1, 0)), b)

    def tangent(self, x: Any, parameters: Sequence[Any], dots: Sequence[Any]) -> Any:
        return None


def _solved_by_factors(original: Callable, rhs: Any, trans: str = "N") -> Any:
    if not isinstance(rhs, Traced):
        return original(rhs, trans)
    if trans == "H":
        trans = "T"
    system = _Factors(original.__self__, trans)  # type: ignore[attr-defined]
    rhs = real(rhs)
    if ndim_of(rhs) == 1:
        return linear_solution(rhs, system=system)
    columns = [linear_solution(rhs[:, k], system=system) for k in range(shape_of(rhs)[1])]
    return transpose(stacked(columns, 0), axes=(1, 0))


class _TracedFactors(Holder):
    """What stands for the factors of a matrix of traced entries: they are computed when a system is solved."""

    def __init__(self, matrix: SparseMatrix):
        self.matrix = matrix
        self.shape = matrix.shape

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        return spsolve(self.matrix if trans == "N" else self.matrix.T, rhs)


def _splu(A: Any, *args: Any, **kwargs: Any) -> Any:
    return _TracedFactors(A) if isinstance(A, SparseMatrix) else scipy.sparse.linalg.splu(A, *args, **kwargs)


def _factorized(A: Any) -> Any:
    return _TracedFactors(A).solve if isinstance(A, SparseMatrix) else scipy.sparse.linalg.factorized(A)


CALLERS[scipy.sparse.linalg.splu] = _splu
CALLERS[scipy.sparse.linalg.factorized] = _factorized
METHODS[(scipy.sparse.linalg.SuperLU, "solve")] = _solved_by_factors
