"""`sum_over`: an objective that is a sum over the rows of data that need not fit into memory, or lie on other machines.

Value, gradient, Hessian times a vector and Gauss–Newton matrix are sums over rows as well: each is computed where the
data are, block by block (`blocks.py`), and added. To the operators the sum is a function with a rule of its own: its
tangent is its slope times that of the parameters, and the slope is again such a function.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.api.custom import custom_jvp
from wengert.api.flat import Layout
from wengert.errors import MismatchError, MissingPackageError, StagingError, UnsupportedFunctionError
from wengert.optimize.blocks import Shipped, added, added_in_a_tree, evaluate, is_table

_FEW = 3
"""Up to so many different lengths of blocks, each gets compiled code of its own."""


class GaussNewton(NamedTuple):
    """½ Σ r², its gradient Jᵀr, and JᵀJ, in the order of the ravelled parameters."""

    value: float
    gradient: np.ndarray
    matrix: np.ndarray


def sum_over(
    f: Callable[..., Any],
    data: Any,
    scheduler: Any = None,
    *,
    residuals: bool = False,
    check: bool = True,
    retries: int = 3,
) -> SumOver:
    """Σ over blocks of rows of `f(params, *block)`, as a function of `params` with derivatives.

    Args:
        f: a plain function that returns the sum over the rows of a block: a number or arrays. With `residuals=True` it
            returns the residuals of the rows, and the sum is ½ Σ r².
        data: a Dask array, or a tuple of arrays with the same rows and chunks (NumPy's among them); a dataframe of Dask
            or pandas, or a list of these, whose blocks are dicts of columns; a tuple of columns of a Dask dataframe; or
            a list of functions without arguments, each of which loads a block: an array, a tuple of arrays, a dataframe
            or a dict of columns.
        scheduler: a `distributed.Client`, "threads" or "synchronous". By default Dask's own choice, and for data that
            are not Dask's a plain loop.
        check: try on a few rows whether `f` is a sum over rows.
        retries: how often a cluster tries again what failed. A worker that dies is replaced by Dask itself.

    Returns:
        A function of `params` that `wg.value_and_grad`, `wg.hvp`, `wg.jacobian`, `wg.hessian`, `minimize` and
        `least_squares` take; derivatives up to the second. It has the methods `gauss_newton(params)` and, for
        `least_squares`, `residuals`, if it was made with `residuals=True`.

    Each evaluation goes through all blocks once; no more than a few of them are in memory at a time. The digits of the
    results do not depend on the scheduler or the number of workers.

    >>> import numpy as np, wengert as wg
    >>> x = np.linspace(0, 1, 1000)
    >>> parts = [lambda k=k: (x[k : k + 100], 3 * x[k : k + 100] + 1) for k in range(0, 1000, 100)]
    >>> total = sum_over(lambda p, x, y: np.sum((p["a"] * x + p["b"] - y) ** 2), parts)
    >>> wg.grad(total)({"a": 3.0, "b": 1.5})
    {'a': np.float64(500.0), 'b': np.float64(1000.0)}
    """
    return SumOver(f, data, scheduler, residuals, check, retries)


class SumOver:
    """The sum, a function of parameters; made by `sum_over`."""

    is_compiled = True
    """Nothing is gained by compiling what calls it."""

    def __init__(self, f: Callable, data: Any, scheduler: Any, residuals: bool, check: bool, retries: int):
        self.__name__ = getattr(f, "__name__", "sum_over")
        self._f, self.of_residuals, self._check = f, residuals, check
        self._runner = Runner(data, scheduler, retries)
        self._kept: dict[Any, OnVectors] = {}

    def __call__(self, params: Any) -> Any:
        functions = self._on_vectors(params)
        found = functions.total(functions.layout.ravel(params))
        return functions.out.unravel(found)

    def residuals(self, params: Any) -> Any:
        """Few residuals, with the sum of squares, Jᵀr and JᵀJ of all; for `least_squares`.

        They are the last column of the triangle in a QR factorisation of (J, r); the other columns are their Jacobian.
        A method that looks at these products only, as methods of least squares do, takes the same steps.
        """
        self._demand_residuals("residuals")
        functions = self._on_vectors(params)
        return functions.reduced(functions.layout.ravel(params))

    def residual_count(self, params: Any) -> int:
        """How many residuals the blocks have together."""
        self._demand_residuals("residual_count")
        functions = self._on_vectors(params)
        if functions.residual_count is None:
            functions.run("reduced", np.asarray(functions.layout.ravel(params), float))
        return functions.residual_count or 0

    def gauss_newton(self, params: Any) -> GaussNewton:
        """½ Σ r², its gradient and the Gauss–Newton matrix JᵀJ, in one pass over the data."""
        self._demand_residuals("gauss_newton")
        functions = self._on_vectors(params)
        value, slope, matrix = functions.run("squares", np.asarray(functions.layout.ravel(params), float))
        return GaussNewton(float(value[0]), slope, matrix)

    def _demand_residuals(self, what: str) -> None:
        if not self.of_residuals:
            raise MismatchError(
                f"{what} needs the residuals of {self.__name__}, which returns their sum",
                remedy="return the residuals of the rows of a block, and write sum_over(…, residuals=True)",
            )

    def _on_vectors(self, params: Any) -> OnVectors:
        """The functions on vectors for parameters of this form."""
        layout = Layout(params)
        key = (layout.structure, tuple(layout.shapes))
        if key not in self._kept:
            example = tree.unflatten(layout.structure, [np.zeros(s)[()] for s in layout.shapes])
            ship = partial(Shipped.of, params=example, ragged=self._runner.ragged, check=self._check)
            inner = ship(self._f, squares=False)
            outer = ship(self._f, squares=True) if self.of_residuals else inner
            self._kept[key] = OnVectors(self.__name__, self._runner, outer, inner, layout)
        return self._kept[key]


class OnVectors:
    """The sum on vectors, with rules for its derivatives."""

    def __init__(self, name: str, runner: Runner, outer: Shipped, inner: Shipped, layout: Layout):
        self.layout = layout
        self._name, self._runner, self._outer, self._inner = name, runner, outer, inner
        self._out: Layout | None = None
        self._last: tuple[Any, tuple] | None = None
        self.residual_count: int | None = None
        self.total = self._with_rules()
        self.reduced = self._of_residuals()

    @property
    def out(self) -> Layout:
        """The form of the result, known after the first evaluation."""
        assert self._out is not None
        return self._out

    def _with_rules(self) -> Callable:
        both, second = custom_jvp(self._first), custom_jvp(self._second)
        total = custom_jvp(lambda p: self.run("value", self._point(p))[0])
        total.__name__ = both.__name__ = second.__name__ = self._name  # type: ignore[attr-defined]

        @total.defjvp
        def of_total(primals: tuple, tangents: tuple) -> tuple:
            y, J = both(primals[0])
            return y, J @ tangents[0]

        @both.defjvp
        def of_both(primals: tuple, tangents: tuple) -> tuple:
            (p,), (p_dot,) = primals, tangents
            y, J = both(p)
            if isinstance(p, np.ndarray) and isinstance(p_dot, np.ndarray):
                J_dot = self.run(self._kind("along"), p, p_dot)[0]
            else:  # a direction that is not known yet, or many at once
                J_dot = second(p) @ p_dot
            return (y, J), (J @ p_dot, J_dot)

        @second.defjvp
        def of_second(primals: tuple, tangents: tuple) -> tuple:
            raise UnsupportedFunctionError(
                f"{self._name} is a sum over data elsewhere, of which there are derivatives up to the second",
                remedy="differentiate the function of one block, and sum over that",
            )

        return total

    def _of_residuals(self) -> Callable:
        both = lambda p: self.run("reduced", self._point(p))[0]
        reduced = custom_jvp(lambda p: both(p)[:, -1])
        reduced.__name__ = self._name  # type: ignore[attr-defined]

        @reduced.defjvp
        def of_reduced(primals: tuple, tangents: tuple) -> tuple:
            triangle = both(primals[0])
            return triangle[:, -1], triangle[:, :-1] @ tangents[0]

        return reduced

    def _point(self, p: Any) -> np.ndarray:
        """The parameters as plain numbers; the form of the result is asked for at the first."""
        if not isinstance(p, np.ndarray):
            raise StagingError(
                f"{self._name} is a sum over data that are read when it is evaluated, so it is no part of a program",
                remedy="do not compile what calls it: the function of a block is compiled",
            )
        p = np.asarray(p, float)
        if self._out is None:
            self._out = Layout(self._runner.run(self._outer, "form", p)[0])
        return p

    def _kind(self, kind: str) -> str:
        return kind if self.out.shapes == [()] else f"{kind} of many"

    def _first(self, p: Any) -> Any:
        p = self._point(p)
        return tuple(self.run(self._kind("first"), p))

    def _second(self, p: Any) -> Any:
        p = self._point(p)
        return self.run(self._kind("second"), p)[0]

    def run(self, kind: str, p: np.ndarray, v: np.ndarray | None = None) -> tuple:
        """What is asked for; what was asked for last is kept, since solvers ask for value and slope one by one."""
        shipped = self._inner if kind in ("squares", "reduced") else self._outer
        key = (kind, p.tobytes(), None if v is None else v.tobytes())
        if self._last is None or self._last[0] != key:
            self._last = key, self._runner.run(shipped, kind, p, v)
            if kind == "reduced":
                self.residual_count = int(self._last[1][1][0])
        return self._last[1]


class Runner:
    """Blocks of data, and who works on them."""

    def __init__(self, data: Any, scheduler: Any, retries: int):
        self._scheduler, self._retries = scheduler, retries
        self._blocks, lengths, self._lazy = _blocks(data)
        known = [n for n in lengths if n is not None]
        self.ragged = len(known) < len(lengths) or len(set(known)) > _FEW
        if not self._blocks:
            raise MismatchError("there are no blocks of data to sum over")

    def run(self, shipped: Shipped, kind: str, p: np.ndarray, v: np.ndarray | None = None) -> tuple:
        """What is asked for, of all blocks."""
        blocks = self._blocks[:1] if kind == "form" else self._blocks
        add = partial(added, how=kind)
        if not self._lazy and self._scheduler in (None, "synchronous"):
            return added_in_a_tree([evaluate(shipped, kind, p, v, *parts) for parts in blocks], add)
        delayed = _dask("dask").delayed
        function, at = delayed(shipped, traverse=False), delayed((p, v), traverse=False)
        task = delayed(_at, pure=False, traverse=False)
        tasks = [task(function, kind, at, *[_held(x, delayed) for x in parts]) for parts in blocks]
        total = added_in_a_tree(tasks, delayed(add, pure=False))
        if hasattr(self._scheduler, "submit"):
            return self._scheduler.compute(total, retries=self._retries).result()
        return total.compute(**({} if self._scheduler is None else {"scheduler": self._scheduler}))


def _at(shipped: Shipped, kind: str, at: tuple, *parts: Any) -> tuple:
    return evaluate(shipped, kind, *at, *parts)


def _held(part: Any, delayed: Callable) -> Any:
    """A part of a block as an argument of a task; arrays that are here travel as they are."""
    return part if hasattr(part, "dask") else delayed(part, traverse=False, pure=False)


def _dask(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingPackageError(
            "sum_over needs Dask for this, which is not installed",
            remedy='pip install "wengert[dask]", or leave out scheduler= and give functions that load the blocks',
        ) from None


def _blocks(data: Any) -> tuple[list[tuple], list[int | None], bool]:
    """The parts of each block, their lengths as far as they are known, and whether they are Dask's."""
    if isinstance(data, list):
        return _loaded(data)
    arrays = data if isinstance(data, tuple) else (data,)
    if any(hasattr(x, "npartitions") and hasattr(x, "to_delayed") and not hasattr(x, "chunks") for x in arrays):
        return _partitions(arrays)
    lazy = [hasattr(x, "dask") for x in arrays]
    if not any(lazy):
        arrays = tuple([x if hasattr(x, "columns") else np.asarray(x) for x in arrays])
        _demand_equal([len(x) for x in arrays], "rows")
        return [arrays], [len(arrays[0])], False
    chunks = next(x.chunks[0] for x, is_lazy in zip(arrays, lazy, strict=True) if is_lazy)
    known = all(n == n for n in chunks)
    if known:
        _demand_equal([x.shape[0] for x in arrays], "rows")
    parts = [_row_blocks(x, is_lazy, chunks, known) for x, is_lazy in zip(arrays, lazy, strict=True)]
    _demand_equal([len(p) for p in parts], "chunks")
    return list(zip(*parts, strict=True)), [int(n) if known else None for n in chunks], True


def _loaded(data: list) -> tuple[list[tuple], list[int | None], bool]:
    """Blocks that are functions, or dataframes."""
    for load in data:
        if not callable(load) and not hasattr(load, "dask") and not is_table(load):
            raise MismatchError(
                f"a list of data holds functions that load a block each, or dataframes, not {type(load).__name__}",
                remedy="give a tuple of arrays, or a list such as [partial(np.load, path) for path in paths]",
            )
    return [(load,) for load in data], [None] * len(data), any(hasattr(load, "dask") for load in data)


def _partitions(columns: tuple) -> tuple[list[tuple], list[int | None], bool]:
    """Dask's own partitions of dataframes and their columns."""
    if not all(hasattr(x, "to_delayed") for x in columns):
        raise MismatchError(
            "columns of a Dask dataframe together with arrays that are not Dask's: their rows are not cut alike",
            remedy="make the arrays a column of the dataframe, or the columns Dask arrays: "
            'df["x"].to_dask_array(lengths=True)',
        )
    parts = [list(x.to_delayed()) for x in columns]
    _demand_equal([len(p) for p in parts], "partitions")
    return list(zip(*parts, strict=True)), [None] * len(parts[0]), True


def _row_blocks(x: Any, is_lazy: bool, chunks: tuple, known: bool) -> list:
    """One array as blocks of whole rows."""
    if not is_lazy:
        if not known:
            raise MismatchError(
                "the chunks of a Dask array have unknown lengths, so a NumPy array cannot be cut to fit",
                remedy="call compute_chunk_sizes() on the Dask array, or make a Dask array of the other one",
            )
        ends = np.cumsum(chunks)
        return [x[end - n : end] for n, end in zip(chunks, ends, strict=True)]
    if known and x.chunks[0] != chunks:
        x = x.rechunk({0: chunks})
    whole = {k: -1 for k in range(1, x.ndim) if len(x.chunks[k]) > 1}
    return list((x.rechunk(whole) if whole else x).to_delayed().reshape(-1))


def _demand_equal(numbers: list[int], what: str) -> None:
    if len(set(numbers)) > 1:
        raise MismatchError(
            f"the arrays of a block have different numbers of {what}: {', '.join(map(str, numbers))}",
            remedy="give arrays with the same rows, chunked alike",
        )
