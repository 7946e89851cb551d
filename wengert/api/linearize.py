"""`linearize`: a function's value and its Jacobian as a linear operator, from one run of the function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from wengert.api.arguments import Prepared, owned
from wengert.api.basis import total_size, unit_vectors
from wengert.api.compressed import Plan
from wengert.api.operators import operation
from wengert.api.signatures import A, R
from wengert.api.sparsity import pattern_of, units
from wengert.control.united import United
from wengert.errors import MismatchError, UnsupportedFunctionError
from wengert.modes.batch import BatchTrace
from wengert.modes.tape import Recorded
from wengert.ops import library
from wengert.ops.shape import concatenate, reshape, transpose
from wengert.types import Aval, aval_of, shape_of


@overload
def linearize(f: Callable[..., R], *primals: Any, has_aux: Literal[False] = False) -> tuple[R, Jacobian]: ...
@overload
def linearize(f: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True]) -> tuple[R, Jacobian, A]: ...
@overload
def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool) -> Any: ...
@operation
def linearize(f: Callable, *primals: Any, has_aux: bool = False) -> Any:
    """A function's value and its Jacobian as a linear operator.

    The function runs once. The operator is a `scipy.sparse.linalg.LinearOperator` on flat vectors (the leaves of all
    arguments, each ravelled, one after the other), for SciPy's iterative solvers: `J @ v`, `J.T @ r`, also with
    matrices of several columns, all at once. `J.dense()` is the Jacobian as a matrix, `J.sparse()` as a sparse matrix
    with the pattern that it has at this point. `J.push(*tangents)` and `J.pull(cotangent)` are products in the
    containers of the arguments and of the result.

    Returns:
        `(y, J)`, or `(y, J, aux)` with `has_aux`.

    Cost: like `vjp`; each product about as long as `f`. What it needs is kept until `J` is dropped, so arrays from
    outside of `f` that it needs are copied, since they may be written to; those that are read-only are not.

    >>> import numpy as np
    >>> y, J = linearize(lambda x: x**2, np.array([1.0, 2.0]))
    >>> J @ np.array([1.0, 1.0]), J.T @ np.array([1.0, 0.0])
    (array([2., 4.]), array([2., 0.]))
    >>> J.dense()
    array([[2., 0.],
           [0., 4.]])
    """
    prepared = Prepared(f, tuple(range(len(primals))), primals, {}, has_aux)
    values, program = prepared.record(keep=True)
    program.prune()
    operator = Jacobian(prepared, program, [aval_of(y) for y in values])
    result = (prepared.outputs(values), operator)
    return (*result, prepared.aux) if has_aux else result


class _TraceableOperator(LinearOperator):
    """A linear operator whose products may be differentiated.

    SciPy's own `matvec` and relatives convert what they get to plain arrays. A vector may be traced, and so may the
    coefficients of the operator, so subclasses replace the public methods instead of the private ones SciPy calls.
    """

    def dot(self, x: Any) -> Any:
        """The operator times a vector, a matrix, a number or another operator."""
        rank = 0 if isinstance(x, LinearOperator) else len(shape_of(x))
        return self.matvec(x) if rank == 1 else self.matmat(x) if rank == 2 else super().dot(x)

    def __matmul__(self, x: Any) -> Any:
        if not isinstance(x, LinearOperator) and not shape_of(x):
            raise ValueError("scalar operands are not allowed with @, use * instead")
        return self.dot(x)

    def _matvec(self, x: Any) -> Any:
        return self.matvec(x)

    def _rmatvec(self, x: Any) -> Any:
        return self.rmatvec(x)

    def _matmat(self, X: Any) -> Any:
        return self.matmat(X)

    def _rmatmat(self, X: Any) -> Any:
        return self.rmatmat(X)

    def _adjoint(self) -> Any:
        return self._transpose()


class Jacobian(_TraceableOperator):
    """A Jacobian, known by the linear program that applies it."""

    def __init__(self, prepared: Prepared, program: Recorded, outs: list[Aval]):
        self._prepared = prepared
        self._program = program
        self._outs = outs
        self._ins = [aval_of(x) for x in prepared.leaves]
        if any(aval.dtype.kind == "c" for aval in [*self._ins, *self._outs]):
            raise UnsupportedFunctionError(
                "linearize of a function of complex numbers",
                remedy="differentiate with respect to real and imaginary parts, or use wg.jvp and wg.vjp",
            )
        super().__init__(
            np.result_type(*[a.dtype for a in [*self._ins, *outs]]), (total_size(outs), total_size(self._ins))
        )

    def push(self, *tangents: Any) -> Any:
        """J times a vector, in containers: one tangent for each argument."""
        given = self._prepared.input_leaves(tangents, "the tangent")
        dots = self._program.push(given)
        return self._prepared.tangents(
            [library.zeros(*aval, self._program.library) for aval in self._outs], dots, given
        )

    def pull(self, cotangent: Any) -> Any:
        """Jᵀ times a vector, in containers: a tuple with one cotangent for each argument."""
        given = self._prepared.output_leaves(cotangent, self._outs)
        return self._prepared.cotangents(self._program.pull(given), given)

    def dense(self) -> Any:
        """The Jacobian as a matrix, by as many products as its smaller side has entries, all at once."""
        rows, columns = self.shape
        if columns < rows:
            batch, vectors = unit_vectors(self._ins, 0, columns, self._program.library)
            return transpose(_flat_rows(batch, self._program.push(vectors), self._outs), axes=(1, 0))
        batch, vectors = unit_vectors(self._outs, 0, rows, self._program.library)
        return _flat_rows(batch, self._program.pull(vectors), self._ins)

    def sparse(self) -> Any:
        """The Jacobian as a sparse matrix, by as many products as a colouring of its pattern has colours."""
        trace = United(total_size(self._ins))
        dots = self._program.push(units(trace, self._ins))
        pattern = pattern_of(trace, dots, self._outs)
        plan = Plan(pattern, [Aval((self.shape[1],), self.dtype)], [Aval((self.shape[0],), self.dtype)], "auto")
        products = []
        if plan.backward:
            batch, (cts,) = plan.backward_seeds()
            products.append(transpose(self.rmatmat(transpose(batch.unwrap(cts), axes=(1, 0))), axes=(1, 0)))
        if plan.forward:
            batch, (vectors,) = plan.forward_seeds()
            products.append(transpose(self.matmat(transpose(batch.unwrap(vectors), axes=(1, 0))), axes=(1, 0)))
        return plan.read(products)[0][0]

    def matvec(self, x: Any) -> Any:
        """J times a flat vector."""
        return _apply(self._program.push, x, self._ins, self._outs)

    def rmatvec(self, x: Any) -> Any:
        """Jᵀ times a flat vector."""
        return _apply(self._program.pull, x, self._outs, self._ins)

    def matmat(self, X: Any) -> Any:
        """J times the columns of a matrix, all at once."""
        return _apply_to_columns(self._program.push, X, self._ins, self._outs)

    def rmatmat(self, X: Any) -> Any:
        """Jᵀ times the columns of a matrix, all at once."""
        return _apply_to_columns(self._program.pull, X, self._outs, self._ins)

    def _transpose(self) -> Any:
        return _Transposed(self)


class _Transposed(_TraceableOperator):
    """The transpose of a Jacobian: its products the other way round."""

    def __init__(self, jacobian: Jacobian):
        self._jacobian = jacobian
        super().__init__(jacobian.dtype, jacobian.shape[::-1])

    def matvec(self, x: Any) -> Any:
        return self._jacobian.rmatvec(x)

    def rmatvec(self, x: Any) -> Any:
        return self._jacobian.matvec(x)

    def matmat(self, X: Any) -> Any:
        return self._jacobian.rmatmat(X)

    def rmatmat(self, X: Any) -> Any:
        return self._jacobian.matmat(X)

    def dense(self) -> Any:
        """The transposed Jacobian as a matrix."""
        return transpose(self._jacobian.dense(), axes=(1, 0))

    def sparse(self) -> Any:
        """The transposed Jacobian as a sparse matrix."""
        return self._jacobian.sparse().T.tocsr()

    def _transpose(self) -> Any:
        return self._jacobian


def _apply(sweep: Callable, x: Any, given: list[Aval], wanted: list[Aval]) -> Any:
    if shape_of(x) not in ((total_size(given),), (total_size(given), 1)):
        raise MismatchError(
            f"a vector of shape {shape_of(x)} for a Jacobian with {total_size(given)} entries on that side",
            remedy="ravel and concatenate the leaves, or use J.push and J.pull, which take containers",
        )
    x = x if hasattr(x, "dtype") else np.asarray(x)
    if x.dtype.kind == "c":  # the operator is real
        return _apply(sweep, x.real, given, wanted) + 1j * _apply(sweep, x.imag, given, wanted)
    flat = reshape(x, shape=(total_size(given),))
    pieces, offset = [], 0
    for aval in given:
        pieces.append(reshape(flat[offset : offset + aval.size], shape=aval.shape).astype(aval.dtype))
        offset += aval.size
    found = sweep(pieces)
    parts = [
        library.zeros(a.size, a.dtype, x) if r is None else reshape(r, shape=(a.size,))
        for r, a in zip(found, wanted, strict=True)
    ]
    result = owned(parts)[0] if len(parts) == 1 else concatenate(*parts, axis=0)
    return reshape(result, shape=(total_size(wanted), 1)) if len(shape_of(x)) == 2 else result


def _apply_to_columns(sweep: Callable, X: Any, given: list[Aval], wanted: list[Aval]) -> Any:
    X = X if hasattr(X, "dtype") else np.asarray(X)
    rows, columns = shape_of(X)
    if rows != total_size(given):
        raise MismatchError(
            f"a matrix of shape {(rows, columns)} for a Jacobian with {total_size(given)} entries on that side"
        )
    if not columns:
        return library.zeros((total_size(wanted), 0), X.dtype, X)
    if X.dtype.kind == "c":
        return _apply_to_columns(sweep, X.real, given, wanted) + 1j * _apply_to_columns(sweep, X.imag, given, wanted)
    batch = BatchTrace(columns)
    stacked, pieces, offset = transpose(X, axes=(1, 0)), [], 0
    for aval in given:
        part = stacked[:, offset : offset + aval.size]
        pieces.append(batch.wrap(reshape(part, shape=(columns, *aval.shape)).astype(aval.dtype)))
        offset += aval.size
    return transpose(_flat_rows(batch, sweep(pieces), wanted), axes=(1, 0))


def _flat_rows(batch: BatchTrace, found: list[Any], avals: list[Aval]) -> Any:
    """One row per example: the leaves ravelled, one after the other."""
    parts = [
        library.zeros((batch.size, a.size), a.dtype, *found)
        if r is None
        else reshape(batch.unwrap(r), shape=(batch.size, a.size))
        for r, a in zip(found, avals, strict=True)
    ]
    return owned(parts)[0] if len(parts) == 1 else concatenate(*parts, axis=1)
