"""Jacobians and Hessians as sparse matrices: plans that are kept from call to call, and what a call does with one.

`compressed.py` says what a plan is. It depends on the function and on the types and shapes of its arguments, on
integers among the others and on what the function finds outside, not on the values of the arguments that are
differentiated; so it is made once, and again when one of those is another. In a compiled program it is made while the
function is captured, and what it depends on is guarded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse import csr_array

from wengert import tree
from wengert.api.accumulated import accumulated, note
from wengert.api.arguments import Argnums, Prepared
from wengert.api.basis import total_size
from wengert.api.compressed import Plan
from wengert.api.dense import demand_real
from wengert.api.sparsity import ForAll, StagedPattern, demand_lengths, symmetric
from wengert.capture.retrying import has_effect
from wengert.capture.session import current
from wengert.errors import PatternError
from wengert.modes.batch import BatchTrace
from wengert.ops.op import TABLE, Traced, call, enclosing
from wengert.ops.shape import reshape
from wengert.ops.sizes import require
from wengert.raised import name_of
from wengert.running import running
from wengert.types import Aval, aval_of

Blocks = list[list[Any]]
_MOST_PLANS = 8
"""How many plans are kept that differ only in integers and in what the function found outside."""


class KeptPlan(NamedTuple):
    """A plan, and what it depends on."""

    plan: Plan
    pattern: ForAll | None


class Plans:
    """The plans of one function. `sparse` is True, or the user's own pattern."""

    def __init__(self, sparse: Any, mode: str):
        self._sparse, self.mode = _checked(sparse), mode
        self._kept: dict[Any, list[KeptPlan]] = {}
        self._lock = threading.RLock()

    def __reduce__(self) -> Any:
        return Plans, (self._sparse, self.mode)

    @property
    def is_given(self) -> bool:
        """Whether the pattern is the user's own, which may be too small."""
        return self._sparse is not True

    @property
    def accumulates(self) -> bool:
        """Whether entries may be computed one by one."""
        if self.mode == "accumulate":
            return True
        return running.state.capture is not None and self.mode in ("auto", "symmetric") and not self.is_given

    def plan(self, f: Callable, argnums: Argnums, has_aux: bool, prepared: Prepared, args: tuple, kwargs: dict) -> Plan:
        """The plan for a call."""
        staged = StagedPattern(f, argnums, has_aux, prepared, args, kwargs)
        key = (staged.key, tuple([isinstance(x, Traced) for x in staged.leaves[: staged.count]]))
        with self._lock:
            kept = self._kept.setdefault(key, [])
            for one in kept:
                if one.pattern is None or one.pattern.holds(staged.leaves):
                    return self._used(one, staged)
            one = self._given(prepared) if self.is_given else self._found(staged)
            kept.append(one)
            del kept[:-_MOST_PLANS]
            return self._used(one, staged)

    def _used(self, one: KeptPlan, staged: StagedPattern) -> Plan:
        session = current.session
        if session is not None and running.state.capture is not None:
            if one.pattern is not None:
                session.guards.extend(one.pattern.guards)
                one.pattern.hold_to_values(staged.leaves)
        return one.plan

    def _found(self, staged: StagedPattern) -> KeptPlan:
        pattern = staged.found()
        found = pattern.found
        plan = self._planned(found.whole, found.ins, found.outs)
        plan.runs_once = any(has_effect(node) for node in pattern.program.block.nodes)
        return KeptPlan(plan, pattern)

    def _given(self, prepared: Prepared) -> KeptPlan:
        ins = [aval_of(x) for x in prepared.leaves]
        values, _ = prepared.push([None] * len(ins))
        outs = [aval_of(y) for y in values]
        blocks = _blocks_of(self._sparse)
        shape = (total_size(outs), total_size(ins))
        if len(blocks) > 1 and [b.shape for b in blocks] == [(y.size, x.size) for y in outs for x in ins]:
            n = len(ins)
            pattern = csr_array(scipy.sparse.block_array([blocks[k : k + n] for k in range(0, len(blocks), n)]))
        elif len(blocks) == 1 and blocks[0].shape == shape:
            pattern = blocks[0]
        else:
            sizes = " and ".join([f"{m} x {n}" for m, n in (block.shape for block in blocks)])
            raise PatternError(
                f"the pattern is {sizes}, the derivative {shape[0]} x {shape[1]}",
                remedy="give a row for each element of the result, and a column for each element of the argument, in "
                "one matrix or in the containers of matrices that wg.sparsity gives",
            )
        pattern = csr_array((np.ones(pattern.nnz, bool), pattern.indices, pattern.indptr), shape=shape)
        pattern.sum_duplicates()
        return KeptPlan(self._planned(pattern, ins, outs), None)

    def _planned(self, pattern: csr_array, ins: Sequence[Aval], outs: Sequence[Aval]) -> Plan:
        mode = "auto" if self.mode == "accumulate" else self.mode
        if mode == "symmetric":
            ((pattern,),) = symmetric([[pattern]])
        elif mode != "forward" and ins and ins[0].dtype.kind != "c" and any(aval.dtype.kind == "c" for aval in outs):
            if mode == "reverse":
                demand_real(outs)  # a cotangent of one gives the derivative of the real part only
            mode = "forward"
        return Plan(pattern, ins, outs, mode)


def value_and_blocks(
    prepared: Prepared, plan: Plan, plans: Plans, of_numbers: Callable[[], Prepared] | None = None
) -> tuple[list[Any], Blocks]:
    """The leaves of the function's value, and the blocks of its Jacobian. `of_numbers` is the call with a number for
    each interval: there a pattern of the user's own is tried, since of intervals nothing would be certain."""
    operator = "hessian" if plans.mode == "symmetric" else "jacobian"
    if plans.mode == "accumulate" or (plans.accumulates and not plan.runs_once):
        found = accumulated(prepared, plan, operator, plans.mode == "accumulate")
        if found is not None:
            return found
    products: list[Any] = []
    columns, rows, reason, _ = plan.coloured
    note(operator, reason)
    if rows is not None:
        values, program = prepared.record()
        demand_lengths(values)
        batch, cts = plan.backward_seeds()
        products += _unwrapped(batch, program.pull(cts, consume=columns is None), plan.ins) if batch.size else []
        if columns is not None and plan.forward:
            batch, vectors = plan.forward_seeds()
            products += _unwrapped(batch, program.push(vectors), plan.outs)
    elif plan.forward:
        batch, vectors = plan.forward_seeds()
        values, dots = prepared.push(vectors)
        demand_lengths(values)
        products += _unwrapped(batch, dots, plan.outs)
    else:
        values, _ = prepared.push([None] * len(plan.ins))
    blocks = plan.read(products)
    if plans.is_given and of_numbers is not None and enclosing(*values, *products) is not None:
        value_and_blocks(of_numbers(), plan, plans)
    elif plans.is_given:
        _check(prepared, plan, blocks)
    return values, blocks


def _unwrapped(batch: BatchTrace, found: Sequence[Any], avals: Sequence[Aval]) -> list[Any]:
    return [
        np.zeros((batch.size, *aval.shape), aval.dtype) if x is None else batch.unwrap(x)
        for x, aval in zip(found, avals, strict=True)
    ]


def is_sparse(sparse: Any) -> bool:
    """Whether sparse matrices are asked for."""
    return not (sparse is None or (isinstance(sparse, bool | np.bool_) and not sparse))


def _checked(sparse: Any) -> Any:
    """True, or a pattern."""
    if isinstance(sparse, bool | np.bool_):
        return True
    _blocks_of(sparse)
    return sparse


def _blocks_of(sparse: Any) -> list[csr_array]:
    """The matrices in a pattern: one, or a container of one for each leaf of the result and each of the arguments."""
    leaves = tree.leaves(sparse)
    if not leaves or not all(scipy.sparse.issparse(x) or np.ndim(x) == 2 for x in leaves):
        leaves = [np.asarray(sparse)]  # rows in a list
    if any(np.ndim(x) not in (1, 2) or x.dtype.kind not in "biufc" for x in leaves if not scipy.sparse.issparse(x)):
        raise ValueError(
            f"sparse is True, False or a pattern (a sparse matrix or an array of booleans), not {sparse!r}; with "
            "True the pattern is found"
        )
    return [csr_array(x if scipy.sparse.issparse(x) else np.atleast_2d(x)) for x in leaves]


def _check(prepared: Prepared, plan: Plan, blocks: Blocks) -> None:
    """Compare the matrix with the derivative along one random vector: entries outside of the pattern would show."""
    rng = np.random.default_rng(0)
    vectors = [rng.uniform(1, 2, aval.shape).astype(aval.dtype) for aval in plan.ins]
    _, dots = prepared.push(vectors)
    for row, dot, aval in zip(blocks, dots, plan.outs, strict=True):
        product: Any = 0
        scale: Any = 0
        for block, v in zip(row, vectors, strict=True):
            product = product + block @ v.ravel()
            scale = scale + abs(block) @ abs(v.ravel())
        slope = np.zeros(aval.size, aval.dtype) if dot is None else reshape(dot, shape=(aval.size,))
        tolerance = float(np.finfo(aval.dtype).eps) ** 0.5
        fits: Any = ~(abs(product - slope) > tolerance * (scale + abs(slope)))
        problem = "the pattern is too small: the derivative has entries that are not in it"
        remedy = "take wg.sparsity(f)(x), or sparse=True, which finds the pattern"
        if isinstance(fits, Traced):
            all_fit = call(TABLE["all"], fits, axis=(0,))
            call(require, all_fit, error=name_of(PatternError), message=f"{problem}\n  remedy: {remedy}")
        elif not np.all(fits):
            row_of = int(np.flatnonzero(~fits)[0])
            raise PatternError(
                f"{problem}, the first of them in row {row_of}",
                remedy=remedy,
            )
