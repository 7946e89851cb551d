"""Sums over blocks of rows: what is done with one block, wherever it is, and how the results are added.

A block is evaluated by functions that are compiled once in each process, from a function that travels as bytes. Results
are added in a tree whose form depends on the number of blocks only, so every scheduler gives the same digits.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.flat import Layout, of_vector
from wengert.api.grad import value_and_grad
from wengert.api.hessian import hessian
from wengert.api.jacobian import jacobian, value_and_jacobian
from wengert.api.jit import jit
from wengert.api.products import jvp
from wengert.errors import MismatchError

_GROUP = 8
"""So many results are added by one task."""
_kept: dict[str, BlockFunctions] = {}
_lock = threading.Lock()
_MOST = 32
_TRIED = 32
"""Whether a function is a sum over rows is tried on so many of them."""


class BlockFunctions:
    """Value and derivatives of a function on one block, with respect to the vector of its parameters."""

    def __init__(self, f: Callable, params: Any, squares: bool):
        self.name = getattr(f, "__name__", "the function")
        flat = of_vector(f, Layout(params))

        def vector(p: Any, *block: Any) -> Any:
            leaves = [np.reshape(leaf, (-1,)) for leaf in tree.leaves(flat(p, *block))]
            whole = leaves[0] if len(leaves) == 1 else np.concatenate(leaves)
            return np.sum(whole * whole, keepdims=True) / 2 if squares else whole

        self.plain = vector
        self._form = (lambda p, *block: vector(p, *block)[0]) if squares else flat
        self._scalar = lambda p, *block: vector(p, *block)[0]

    def form(self, p: np.ndarray, block: tuple) -> Any:
        """The function itself, in its containers."""
        return self._form(p, *block)

    @cached_property
    def value(self) -> Callable:
        return jit(self.plain, fallback=True)

    @cached_property
    def slope(self) -> Callable:
        """Value and gradient, of one number."""
        return jit(value_and_grad(self._scalar), fallback=True)

    @cached_property
    def jacobian(self) -> Callable:
        return jit(value_and_jacobian(self.plain), fallback=True)

    @cached_property
    def slope_along(self) -> Callable:
        """The change of the gradient along a direction."""
        gradient = value_and_grad(self._scalar)
        return jit(lambda p, v, *block: jvp(lambda q: gradient(q, *block)[1], (p,), (v,))[1], fallback=True)

    @cached_property
    def jacobian_along(self) -> Callable:
        matrix = jacobian(self.plain)
        return jit(lambda p, v, *block: jvp(lambda q: matrix(q, *block), (p,), (v,))[1], fallback=True)

    @cached_property
    def hessian(self) -> Callable:
        return jit(hessian(self._scalar), fallback=True)

    @cached_property
    def second(self) -> Callable:
        return jit(jacobian(jacobian(self.plain)), fallback=True)


@dataclass(frozen=True)
class Shipped:
    """A function and an example of its parameters, as they travel."""

    code: bytes
    name: str
    ragged: bool
    """Whether blocks come in many lengths: they are then taken in pieces whose lengths are powers of two, so that few
    versions are compiled."""
    squares: bool
    """Whether the sum is that of half the squares of what the function returns."""
    check: bool
    """Whether it is tried that the function is a sum over rows."""
    pickled: str = "pickle"

    @staticmethod
    def of(f: Callable, params: Any, ragged: bool, squares: bool, check: bool) -> Shipped:
        package = "cloudpickle" if importlib.util.find_spec("cloudpickle") else "pickle"
        code = importlib.import_module(package).dumps((jit(f, fallback=True), params))
        return Shipped(code, f"{hashlib.sha256(code).hexdigest()} {squares}", ragged, squares, check, package)

    def functions(self) -> BlockFunctions:
        """The functions, made when they are first asked for in a process."""
        with _lock:
            found = _kept.get(self.name)
            if found is None:
                while len(_kept) >= _MOST:
                    del _kept[next(iter(_kept))]
                f, params = importlib.import_module(self.pickled).loads(self.code)
                found = _kept[self.name] = BlockFunctions(f, params, self.squares)
            return found


def arrays_of(part: Any) -> Any:
    """A part of a block as arrays: a table as a dict of its columns, a column as an array."""
    if is_table(part):
        return {str(name): np.asarray(part[name]) for name in part.columns}
    return part.to_numpy() if hasattr(part, "to_numpy") else part


def is_table(part: Any) -> bool:
    """Whether a part is a dataframe that is here."""
    return hasattr(part, "columns") and hasattr(part, "index") and not hasattr(part, "dask")


def evaluate(shipped: Shipped, kind: str, p: np.ndarray, v: np.ndarray | None, *parts: Any) -> tuple:
    """What is asked for, of one block."""
    block = block_of(parts)
    functions = shipped.functions()
    if kind == "form":
        if shipped.check:
            _try_additivity(functions, p, block)
        return (functions.form(p, block),)
    pieces = _pieces(block) if shipped.ragged else [block]
    return added(*[KINDS[kind](functions, p, v, piece) for piece in pieces], how=kind)


def block_of(parts: Sequence[Any]) -> tuple:
    """The arguments of a block: what a loader returns, arrays, tables."""
    if len(parts) == 1 and callable(parts[0]):
        found = parts[0]()
        parts = found if isinstance(found, tuple) else (found,)
    return tuple([arrays_of(part) for part in parts])


def _rows(block: Any, start: int, stop: int) -> Any:
    return tree.map(lambda x: x[start:stop], block)


def _length(block: tuple) -> int:
    leaves = tree.leaves(block)
    return len(leaves[0]) if leaves else 0


def _try_additivity(functions: BlockFunctions, p: np.ndarray, block: tuple) -> None:
    """Refuse a function that is not a sum over rows, on a few of them."""
    n = min(_length(block), _TRIED)
    if n < 2:
        return
    with np.errstate(all="ignore"):
        sums = [functions.plain(p, *_rows(block, *ends)) for ends in ((0, n), (0, n // 2), (n // 2, n))]
    whole, first, second = sums
    if not np.size(whole) == np.size(first) == np.size(second):
        raise MismatchError(
            f"{functions.name} returns {np.size(whole)} numbers for {n} rows, and {np.size(first)} for half of them",
            remedy="return the sum over the rows of a block, np.sum(…); residuals of the rows, for least_squares, are "
            "sum_over(…, residuals=True)",
        )
    error = np.max(np.abs(whole - first - second), initial=0.0)
    size = np.max(np.abs(whole) + np.abs(first) + np.abs(second), initial=0.0)
    if error > 1e-6 * size:
        raise MismatchError(
            f"{functions.name} is not a sum over rows: of {n} rows it is {np.ravel(whole)[0]:.6g}, of the two halves "
            f"{np.ravel(first)[0]:.6g} and {np.ravel(second)[0]:.6g}",
            remedy="return np.sum, not np.mean, and add what does not depend on the rows outside: "
            "lambda p: total(p) + penalty(p); check=False leaves it as it is",
        )


def _pieces(block: tuple) -> list[tuple]:
    """A block as pieces whose lengths are powers of two."""
    n, start, pieces = _length(block), 0, []
    while start < n:
        length = 1 << ((n - start).bit_length() - 1)
        pieces.append(_rows(block, start, start + length))
        start += length
    return pieces or [block]


def added(*results: tuple, how: str) -> tuple:
    """Results of several blocks as one, from the left to the right."""
    total = results[0]
    for more in results[1:]:
        if how == "reduced":
            total = np.linalg.qr(np.concatenate([total[0], more[0]]), mode="r"), total[1] + more[1]
        else:
            total = tuple([a + b for a, b in zip(total, more, strict=True)])
    return total


def _first(functions: BlockFunctions, p: np.ndarray, v: Any, block: tuple) -> tuple:
    value, slope = functions.slope(p, *block)
    return np.reshape(value, (1,)), np.reshape(slope, (1, -1))


def _squares(functions: BlockFunctions, p: np.ndarray, v: Any, block: tuple) -> tuple:
    """Value ½|r|², gradient Jᵀr and Gauss–Newton matrix JᵀJ."""
    r, J = functions.jacobian(p, *block)
    return np.reshape(r @ r / 2, (1,)), J.T @ r, J.T @ J


def _reduced(functions: BlockFunctions, p: np.ndarray, v: Any, block: tuple) -> tuple:
    """The triangle R with R.T @ R = (J, r).T @ (J, r), and how many residuals there are."""
    r, J = functions.jacobian(p, *block)
    return np.linalg.qr(np.concatenate([J, r[:, None]], axis=1), mode="r"), np.array([len(r)])


KINDS: dict[str, Callable[[BlockFunctions, np.ndarray, Any, tuple], tuple]] = {
    "value": lambda f, p, v, block: (f.value(p, *block),),
    "first": _first,
    "first of many": lambda f, p, v, block: f.jacobian(p, *block),
    "along": lambda f, p, v, block: (np.reshape(f.slope_along(p, v, *block), (1, -1)),),
    "along of many": lambda f, p, v, block: (f.jacobian_along(p, v, *block),),
    "second": lambda f, p, v, block: (f.hessian(p, *block)[None],),
    "second of many": lambda f, p, v, block: (f.second(p, *block),),
    "squares": _squares,
    "reduced": _reduced,
}
"""What can be asked of a block. All are added, but triangles, which are put on top of each other."""


def added_in_a_tree(results: list[Any], add: Callable[..., Any]) -> Any:
    """One result of many: groups of neighbours are added, then groups of those."""
    while len(results) > 1:
        groups = [results[k : k + _GROUP] for k in range(0, len(results), _GROUP)]
        results = [add(*group) if len(group) > 1 else group[0] for group in groups]
    return results[0]
