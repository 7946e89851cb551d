"""Programs run on patterns (`modes/pattern.py`): what is known is computed, what is not is united.

A branch that is known is taken; of one that is not, both sides are run, and what comes out depends on whatever it
depends on in either. A loop whose length is known is run iteration by iteration, so that indices which depend on its
counter are known; or all iterations at once, if they do not need each other (`at_once.py`). Of one that is not, the
carried values are united with what an iteration makes of them until nothing changes: sets only grow, and what is known
becomes unknown, so that comes to an end. It may have run any number of times then, none among them.

Random numbers, and everything else that a program does outside or asks a user's function, is not done: the results are
not known.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.control.at_once import FEWEST, AtOnce, OneByOne, has_batch
from wengert.control.call import call as call_op
from wengert.control.cond import cond
from wengert.control.custom import custom
from wengert.control.loop import loop, stacked_values
from wengert.control.while_ import while_
from wengert.errors import ConcretizationError, StagingError, UnsupportedFunctionError, WengertError
from wengert.ir.infer import results
from wengert.ir.node import Block, Const, Node, Type, Var, map_refs
from wengert.modes.batch import Batch
from wengert.modes.pattern import Pattern, PatternTrace, not_known
from wengert.modes.sets import stacked, united
from wengert.ops.derive import Control
from wengert.ops.links import Taken
from wengert.ops.op import Op, Traced, call
from wengert.ops.shape import broadcast_to
from wengert.ops.sizes import size
from wengert.running import running
from wengert.types import Aval, aval_of, dtype_of, is_inexact, shape_of

_LENGTH = Aval((), np.dtype(np.int64))


class United(PatternTrace):
    """Pattern mode that runs programs."""

    __slots__ = ("_counting", "_expected", "_one_by_one")

    def __init__(self, width: int):
        super().__init__(width)
        self._expected: Sequence[Var] | None = None
        self._one_by_one: set[Block] = set()
        """Bodies of loops whose iterations cannot be run at once."""
        self._counting: dict[Block, list[Node]] = {}

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if op.__class__ is Control:
            return self._hold(op, args, params)
        return super().process(op, args, params)

    def results(self, op: Op, args: Sequence[Any], params: dict) -> tuple[bool, list[Aval]]:
        expected, self._expected = self._expected, None
        if expected is not None and all(v.type.is_static for v in expected):
            return len(expected) != 1, [Aval(v.type.shape, v.type.dtype) for v in expected]  # type: ignore[arg-type]
        several, found = results(op, [_stand_in(a) for a in args], params)
        if any(n.__class__ is not int for one in found for n in one.shape):
            raise not_known("a length")
        return several, [Aval(one.shape, one.dtype) for one in found]

    def run(self, block: Block, args: Sequence[Any]) -> list[Any]:
        """The results of a block for arguments of which some are patterns."""
        values: dict[Any, Any] = dict(zip(block.params, args, strict=True))

        def value(operand: Any) -> Any:
            return operand.value if operand.__class__ is Const else values[operand]

        state = running.state
        outer = state.source
        try:
            for node in self._that_count(block):
                state.source = node.source
                ys = self.apply(node, tuple([value(a) for a in node.args]), [value(s) for s in node.sizes])
                if len(node.outs) == 1 and ys.__class__ not in (tuple, list):
                    values[node.outs[0]] = ys
                else:
                    values.update(zip(node.outs, ys, strict=True))
        finally:
            state.source = outer
        return [value(r) for r in block.results]

    def _that_count(self, block: Block) -> list[Node]:
        """The nodes of which the results are made. Of others, such as checks, nothing needs to be known."""
        if block not in self._counting:
            wanted, found = set(block.results), []
            for node in reversed(block.nodes):
                if not wanted.isdisjoint(node.outs):
                    wanted.update(node.args, node.sizes)
                    found.append(node)
            self._counting[block] = found[::-1]
        return self._counting[block]

    def apply(self, node: Node, given: tuple, sizes: Sequence[Any]) -> Any:
        """What a node makes of operands of which some are patterns."""
        op, params = node.op, node.params
        if sizes:
            params = map_refs(params, lambda ref: sizes[ref.k])
        if op.effect or not op.pure:
            return [self.unknown(_static(v.type)) for v in node.outs]
        if op.__class__ is Control:
            return self._hold(op, given, params)
        if op is size and self.owns(given[0]) and given[0]._span and params["axis"] == 0:
            return self.unknown(_LENGTH)
        if op is broadcast_to and self.owns(params["shape"][0] if params["shape"] else None):
            return self._any_number_of(given[0], params["shape"], node.outs[0].type.dtype)
        if any(isinstance(a, Traced) for a in given) and not has_batch(given):
            self._expected = node.outs
            try:
                return self.process(op, given, params)
            finally:
                self._expected = None  # (numbers are not asked about: it would be said of another op's result)
        with np.errstate(all="ignore"):
            return call(op, *given, **params)

    def unite(self, a: Any, b: Any) -> Any:
        """What is known of something that is either of two values."""
        for x in (a, b):
            if x.__class__ is Batch:
                batch = x._owner
                return batch.wrap(self.unite(batch.unwrap(a), batch.unwrap(b)))
        if not isinstance(a, Traced) and not isinstance(b, Traced):
            if shape_of(a) == shape_of(b) and dtype_of(a) == dtype_of(b) and _equal(a, b):
                return a
        if shape_of(a) != shape_of(b):
            raise not_known("a length")
        aval = Aval(shape_of(a), np.result_type(dtype_of(a), dtype_of(b)))
        sets = [x._node for x in (a, b) if self.owns(x) and x._node is not None]
        lengths = {self.owns(x) and x._span for x in (a, b)}
        if len(lengths) > 1:
            raise not_known("the number of iterations of a loop")
        return Pattern(self, aval, None if not sets else sets[0] if len(sets) == 1 else united(*sets), lengths.pop())

    # ------------------------------------------------------------------------------------------- ops that hold code

    def _hold(self, op: Op, args: tuple, params: dict) -> Any:
        if op is call_op:
            return tuple(self.run(params["body"], args))
        if op is cond:
            return self._cond(args[0], args[1:], params)
        if op is loop:
            return self._loop(args[0], args[1:], **params)
        if has_batch(args) and not (op is custom and params.get("body") is not None):
            raise OneByOne
        if op is while_:
            return self._while(args, **params)
        if op is custom and params.get("body") is not None:
            return tuple(self.run(params["body"], args))
        return op.lift(self, args, params)  # type: ignore[attr-defined]

    def _cond(self, pred: Any, args: Sequence[Any], params: dict) -> tuple:
        if not isinstance(pred, Traced):
            return tuple(self.run(params["then" if pred else "orelse"], args))
        if pred.__class__ is Batch and not isinstance(pred._value, Traced):
            raise OneByOne
        try:
            branches = [self.run(params[name], args) for name in ("then", "orelse")]
        except (ValueError, IndexError) as error:
            if isinstance(error, WengertError):
                raise
            raise not_known("a branch that raises,") from error
        return tuple([self.unite(a, b) for a, b in zip(*branches, strict=True)])

    def _loop(self, count: Any, args: Sequence[Any], body: Block, carried: int) -> tuple:
        state, consts = list(args[:carried]), args[carried:]
        stacks: list[list[Any]] = [[] for _ in body.results[carried:]]
        differs = has_batch((count, *args))
        if differs and (isinstance(count, Traced) or stacks):
            raise OneByOne
        if isinstance(count, Traced):
            counter = self.unknown(_LENGTH)
            return tuple(self._any_number(lambda xs: self.run(body, [counter, *xs, *consts]), state, stacks))
        if count >= FEWEST and not differs and body not in self._one_by_one:
            try:
                return tuple(AtOnce(self, self.apply, int(count), body, carried).run(state, consts))
            except (OneByOne, ConcretizationError, StagingError, UnsupportedFunctionError):
                self._one_by_one.add(body)
        for k in range(int(count)):
            results = self.run(body, [k, *state, *consts])
            state = results[:carried]
            for stack, y in zip(stacks, results[carried:], strict=True):
                stack.append(y)
        ys = [self._stacked(s, r.type) for s, r in zip(stacks, body.results[carried:], strict=True)]
        return (*state, *ys)

    def _while(self, args: Sequence[Any], test: Block, body: Block, carried: int) -> tuple:
        state, consts, count = list(args[:carried]), args[carried:], 0
        stacks: list[list[Any]] = [[] for _ in body.results[carried:]]
        while True:
            (goes_on,) = self.run(test, [*state, *consts])
            if isinstance(goes_on, Traced):
                break
            if not goes_on:
                ys = [self._stacked(s, r.type) for s, r in zip(stacks, body.results[carried:], strict=True)]
                return (*state, count, *ys)
            results = self.run(body, [*state, *consts])
            state, count = results[:carried], count + 1
            for stack, y in zip(stacks, results[carried:], strict=True):
                stack.append(y)
        final = self._any_number(lambda xs: self.run(body, [*xs, *consts]), state, stacks)
        return (*final[:carried], self.unknown(_LENGTH), *final[carried:])

    def _any_number(self, iteration: Any, state: list[Any], stacks: list[list[Any]]) -> list[Any]:
        """The carried values after any number of iterations more, and what all iterations have made."""
        n = len(state)
        while True:
            results = iteration(state)
            wider = [self.unite(a, b) for a, b in zip(state, results[:n], strict=True)]
            if all(self._is_same(a, b) for a, b in zip(state, wider, strict=True)):
                return [*wider, *[self._either([*s, y]) for s, y in zip(stacks, results[n:], strict=True)]]
            state = wider

    def _is_same(self, a: Any, b: Any) -> bool:
        return a is b or (
            self.owns(a) and self.owns(b) and self.sets_of(a).same(self.sets_of(b)) and aval_of(a) == aval_of(b)
        )

    def _any_number_of(self, value: Any, shape: tuple, dtype: np.dtype) -> Pattern:
        """An array of one number, of which the first length is not known."""
        if shape_of(value) or any(n.__class__ is Pattern for n in shape[1:]):
            raise not_known("a length")
        lanes = Aval((1, *[int(n) for n in shape[1:]]), dtype)
        sets = value._node if self.owns(value) else None
        places = np.zeros(lanes.size, np.int64)
        return Pattern(self, lanes, None if sets is None else sets.after([Taken(places)]), any_number=True)

    def _either(self, values: list[Any]) -> Pattern:
        """What some iteration has made, in an array of any length."""
        one = functools.reduce(self.unite, values)
        sets = one._node if self.owns(one) else None
        return Pattern(self, Aval((1, *shape_of(one)), dtype_of(one)), sets, any_number=True)

    def _stacked(self, values: list[Any], type: Type) -> Any:
        if not any(isinstance(v, Traced) for v in values):
            return stacked_values(values, type)
        if len({shape_of(v) for v in values}) > 1:
            raise not_known("a length")
        aval = Aval((len(values), *shape_of(values[0])), type.dtype)
        if all(not self.owns(v) or v._node is None for v in values):
            return self.unknown(aval)
        return Pattern(self, aval, stacked([self.sets_of(v) for v in values]))


def _equal(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=is_inexact(dtype_of(a)))


def _static(type: Type) -> Aval:
    if not type.is_static:
        raise not_known("a length")
    return Aval(type.shape, type.dtype)  # type: ignore[arg-type]


def _stand_in(a: Any) -> Any:
    """What stands for an operand when types are inferred: places that are not known are the first ones."""
    if not isinstance(a, Traced):
        return a
    aval = aval_of(a)
    return aval if is_inexact(aval.dtype) else np.zeros(*aval)
