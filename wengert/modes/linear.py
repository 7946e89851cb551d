"""The linear program: what reverse mode records, and its two sweeps.

A linear program is a list of nodes, each a linear map of earlier nodes, with coefficients that are ordinary values
(traced by outer transformations, perhaps). It runs forwards (`push`: Jacobian times vector) or transposed (`pull`:
vector times Jacobian), any number of times. Many vectors at once are one vector with a hidden axis (`batch.py`).

A node is a tuple whose first item is its kind: data instead of closures. The inputs of node k have indices below k,
so the list is its own topological order and both sweeps are plain loops: a chain of a million operations is no
problem. Cotangents are dropped as soon as they are consumed; `pull(consume=True)` drops the nodes as well.

    None                                         an input
    (PASS, i)                                    y = xᵢ                        adding a constant
    (SCALE, i, c)                                y = c · xᵢ                    elementwise, shapes agree
    (SCALE2, i, c, j, d)                         y = c · xᵢ + d · xⱼ           the same, two operands
    (SCALES, op, ((i, c, fix), …))               y = Σ c · xᵢ, broadcast       elementwise in general
    (APPLY, op, (i, …), (p, …), args, params)    y = op(…, xᵢ at place p, …)   structural ops and products
    (PULLBACK, (i, …), Map)                      known by its transpose        custom reverse rules, ops that hold code
    (COMPONENT, i, k)                            result k of a PULLBACK

A `Tangent` is the symbol for an unknown vector. Ops applied to it are recorded here if they are linear in it, and
refused otherwise. That is how a tangent rule, written once, becomes nodes that can be transposed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wengert.box.abstract import AbstractBox
from wengert.box.box import Box
from wengert.box.writing import overwrite, zeros
from wengert.errors import NotLinearError
from wengert.ops.derive import Control, Elementwise, General, Linear, Multilinear, fit, result_aval, unfit
from wengert.ops.guarded import guarded_product
from wengert.ops.index import Scattered, index
from wengert.ops.library import is_mutable
from wengert.ops.op import Op, Trace, Traced, call, fresh_tag
from wengert.ops.shape import copy
from wengert.ops.store import add_at, store, written
from wengert.running import running
from wengert.strides import is_small_part
from wengert.types import SCALARS, Aval, aval_of, dtype_of, shape_of

PASS, SCALE, SCALE2, SCALES, APPLY, PULLBACK, COMPONENT = range(7)

_LINEAR_RULE = "write the derivative rule as a linear function of the tangent (or cotangent) it is given"


class Map(NamedTuple):
    """A linear map of several results that is given by functions.

    `pull(cts)` gives the cotangents of the inputs, `None` for zero. If it `accumulates`, it is also given what has
    arrived at the inputs so far (`None` for nothing yet), and gives the totals: an array of which it reads few elements
    need not be passed through it as a whole. `push(dots)`, if known, gives the tangents of the results; otherwise the
    transpose is transposed. If it `selects`, some cotangents are zero because their values were not used at all.

    The functions run in the sweep, when arrays that they need may have been written to. So all arrays are in the lists
    `kept`, from which the functions read them when they run; the tape puts copies there before an array is written to.
    """

    pull: Callable
    avals: tuple[Aval, ...]
    push: Callable | None = None
    accumulates: bool = False
    selects: bool = False
    kept: tuple[list[Any], ...] = ()


class Tangent(AbstractBox):
    """The symbol for an unknown vector. It has a shape and dtype but no value."""

    __slots__ = ()
    _state = ("_owner", "_node", "_aval")

    def __init__(self, trace: LinearTrace, node: int, aval: Aval):
        self._owner = trace
        self._node = node
        self._aval = aval

    def __getattr__(self, name: str) -> Any:
        if name == "_value":
            raise NotLinearError("a derivative rule depends on the value of its tangent", remedy=_LINEAR_RULE)
        return super().__getattr__(name)

    def __repr__(self) -> str:
        return f"<tangent of shape {self._aval.shape}, {self._aval.dtype}>"


class LinearTrace(Trace):
    """Records what is done to tangents."""

    __slots__ = ("nodes", "tag")

    def __init__(self, tag: int, nodes: list[Any]):
        self.tag = tag
        self.nodes = nodes

    def input(self, aval: Aval) -> Tangent:
        """A new unknown."""
        self.nodes.append(None)
        return Tangent(self, len(self.nodes) - 1, aval)

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if op.__class__ is Control:  # what it decides does not depend on tangents; the code is run on them
            return op.impl(*args, **params)
        places = tuple([p for p, a in enumerate(args) if a.__class__ is Tangent and a._owner is self])
        for p, a in enumerate(args):
            if p not in places and isinstance(a, Traced) and a._owner.tag == self.tag:
                raise NotLinearError(
                    "a derivative rule uses a traced value that is not among its arguments",
                    remedy="pass every value that the function depends on as an argument of the function",
                )
        inputs = tuple([args[p]._node for p in places])
        aval = result_aval(op, args, params)
        if isinstance(op, Elementwise):
            self._demand(op, op.linear_in.issuperset(places) and (op.jointly or len(places) == 1))
            if op.jointly:
                self._demand_zeros(op, [a for p, a in enumerate(args) if p not in places and p in op.linear_in])
            terms = [
                (i, op.coefficient(p, None, args, params), None if args[p]._aval == aval else (args[p]._aval, aval))
                for i, p in zip(inputs, places, strict=True)
            ]
            node: tuple = (SCALES, op, terms)
        else:
            if isinstance(op, Linear):
                data = op.data_count(args, params)
                self._demand_zeros(op, [a for p, a in enumerate(args[:data]) if p not in places])
            elif isinstance(op, General):
                self._demand(op, len(places) == 1 and places[0] in op.transposes)
            else:
                self._demand(op, isinstance(op, Multilinear) and len(places) == 1)
            node = (APPLY, op, inputs, places, kept_args(op, args, places, params), params)
        self.nodes.append(node)
        return Tangent(self, place_of(node, self.nodes), aval)

    def mapped(self, inputs: Sequence[Tangent], aval: Aval, pull: Callable, push: Callable) -> Tangent:
        """What a linear map, given by functions (`Map`), makes of tangents."""
        node: tuple = (PULLBACK, tuple([x._node for x in inputs]), Map(pull, (aval,), push))
        self.nodes.append(node)
        result = (COMPONENT, place_of(node, self.nodes), 0)
        self.nodes.append(result)
        return Tangent(self, place_of(result, self.nodes), aval)

    def _demand(self, op: Op, condition: bool) -> None:
        if not condition:
            raise NotLinearError(f"{op.name} is not linear in the tangent it was applied to", remedy=_LINEAR_RULE)

    def _demand_zeros(self, op: Op, others: list[Any]) -> None:
        for a in others:
            if isinstance(a, Traced) or np.any(a):
                raise NotLinearError(
                    f"{op.name} of a tangent and a value that is not zero is not linear in the tangent",
                    remedy=_LINEAR_RULE,
                )


def place_of(node: tuple, nodes: list[Any]) -> int:
    """Where a node stands that was just appended: last, unless other threads record on the same tape."""
    k = len(nodes) - 1
    while nodes[k] is not node:
        k -= 1
    return k


def kept_args(op: Op, args: tuple, places: tuple[int, ...], params: dict) -> tuple:
    """What a node keeps of an op's operands: coefficients, and of all else only shape and dtype."""
    if isinstance(op, Linear):
        data = op.data_count(args, params)
        return tuple([aval_of(a) if p < data else a for p, a in enumerate(args)])
    if len(places) > 1:
        return args  # each is a coefficient of the others
    return tuple([aval_of(a) if p in places else a for p, a in enumerate(args)])


# ------------------------------------------------------------------------------------------------------- the sweeps


def pull(nodes: list[Any], cts: list[Any], *, consume: bool = False) -> None:
    """The transposed sweep. `cts[k]` is the cotangent of node k or `None`; at the end those of the inputs remain.

    With `consume` the nodes are dropped as they are passed.

    A selection (`where`, a mask, a branch) sends zeros to what was not selected, and what was not selected may have
    infinite derivatives: `where(x > 0, sqrt(x), 0)` at zero. From the first selection on, zero times anything is zero,
    also in the code that maps hold (`state.selected`).
    """
    times = _guarded_product if running.state.selected else operator.mul
    for k in range(len(nodes) - 1, -1, -1):
        node = nodes.pop() if consume else nodes[k]
        ct = cts[k]
        if ct is None:
            continue
        if ct.__class__ is Scattered:
            ct = cts[k] = ct.total()
        if node is None:
            continue
        cts[k] = None
        kind = node[0]
        if kind is SCALE:
            i = node[1]
            part = times(node[2], ct)
            old = cts[i]
            cts[i] = part if old is None else _add(old, part)
        elif kind is PASS:
            i = node[1]
            old = cts[i]
            cts[i] = ct if old is None else _add(old, ct)
        elif kind is SCALE2:
            _, i, c, j, d = node
            part = ct if c.__class__ is int and c == 1 else times(c, ct)
            old = cts[i]
            cts[i] = part if old is None else _add(old, part)
            part = ct if d.__class__ is int and d == 1 else times(d, ct)
            old = cts[j]
            cts[j] = part if old is None else _add(old, part)
        elif kind is SCALES:
            _, op, terms = node
            if op.selects:
                times = _guarded_product
            for i, c, fix in terms:
                part = op.scale(c, ct) if op.selects or c.__class__ is int else times(c, ct)
                if fix is not None:
                    part = unfit(part, *fix[0])
                old = cts[i]
                cts[i] = part if old is None else _add(old, part)
        elif kind is APPLY:
            _, op, inputs, places, args, params = node
            if op is index:
                if len(args) > 1 and any(shape_of(a) for a in args[1:]):
                    times = _guarded_product
                _accumulate_read(cts, inputs[0], ct, args, params["pattern"])
                continue
            if op is store:
                ct = Owned(ct)  # from here on the only reference
                _undo_write(cts, inputs, places, ct, args, params["pattern"])
                continue
            if op is guarded_product:
                times = _guarded_product
            for i, p in zip(inputs, places, strict=True):
                part = op.transpose(p, ct, args, params)
                old = cts[i]
                cts[i] = part if old is None else _add(old, part)
        elif kind is COMPONENT:
            _, i, which = node
            if cts[i] is None:
                cts[i] = {}
            cts[i][which] = ct
        else:
            part = old = None  # which would be held while a sweep inside needs the memory
            _pull_map(cts, node, ct, is_selected=times is not operator.mul)
            if node[2].selects:
                times = _guarded_product


def _pull_map(cts: list[Any], node: tuple, ct: dict[int, Any], is_selected: bool) -> None:
    """What a node that is known by its linear map, such as a loop, adds to the cotangents of its inputs."""
    _, inputs, linear_map = node
    filled = [ct[which] if which in ct else zeros(*aval) for which, aval in enumerate(linear_map.avals)]
    through = partial(selected, linear_map.pull) if is_selected else linear_map.pull
    if linear_map.accumulates:
        so_far = []
        for i in inputs:  # what has arrived goes in once, also if an input stands there twice
            so_far.append(cts[i].total() if cts[i].__class__ is Scattered else cts[i])
            cts[i] = None
        for i, total in zip(inputs, through(filled, so_far), strict=True):
            cts[i] = total if cts[i] is None else cts[i] + total
        return
    for i, part in zip(inputs, through(filled), strict=True):
        if part is not None:
            old = cts[i]
            cts[i] = part if old is None else _add(old, part)


def selected(f: Callable, *args: Any, yes: bool = True) -> Any:
    """`f(*args)`, of cotangents that have come through a selection."""
    state = running.state
    before, state.selected = state.selected, yes
    try:
        return f(*args)
    finally:
        state.selected = before


def _guarded_product(c: Any, ct: Any) -> Any:
    """c · ct, where zero cotangents stay zero, whatever the coefficient."""
    if not (_is_numpy(c) and _is_numpy(ct)):
        return c * ct if _is_numpy(c) and np.all(np.isfinite(c)) else guarded_product(c, ct)
    with np.errstate(invalid="ignore"):
        part = c * ct
    if np.any(np.isnan(part)):
        part = np.where(np.equal(ct, 0), np.zeros((), dtype_of(part)), part)[()]
    return part


def _is_numpy(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic)) or x.__class__ in SCALARS


def _add(old: Any, part: Any) -> Any:
    if old.__class__ is Scattered:
        old.add_dense(part)
        return old
    return old + part


def _accumulate_read(cts: list[Any], i: int, ct: Any, args: tuple, pattern: tuple) -> None:
    x, *arrays = args
    old = cts[i]
    if running.state.capture is not None:  # compiled code adds in place
        cts[i] = call(add_at, zeros(*x) if old is None else old, ct, *arrays, pattern=pattern)
        return
    if old.__class__ is not Scattered:
        old = cts[i] = Scattered(x.shape, x.dtype, old)
    old.add(ct, pattern, tuple(arrays))


class Owned:
    """A slot for a value, as `overwrite` needs it."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


def _undo_write(cts: list[Any], inputs: tuple, places: tuple, ct: Owned, args: tuple, pattern: tuple) -> None:
    """The transpose of `store`, in place: v gets what lies at its place; there x gets zero, elsewhere all.

    n writes to one array hand one buffer from version to version, so they cost O(n).
    """
    x, v, *arrays = args
    capture = running.state.capture
    if capture is not None and not isinstance(ct.value, Traced):  # bounds of slices may be symbols
        ct.value = capture.process(copy, (ct.value,), {})
    if 1 in places:
        i = inputs[places.index(1)]
        part = written(ct.value, v, arrays, pattern, x.shape)
        part = _detached(part)
        cts[i] = part if cts[i] is None else _add(cts[i], part)
    if 0 in places:
        i = inputs[0]
        if capture is not None:  # compiled code writes in place
            rest = call(store, ct.value, 0, *arrays, pattern=pattern)
            cts[i] = rest if cts[i] is None else cts[i] + rest
            return
        overwrite(ct, "value", 0, pattern, tuple(arrays))
        old = cts[i]
        if old is None:
            cts[i] = Scattered(x.shape, x.dtype, buffer=ct.value)
        else:
            cts[i] = _add(old, ct.value)


def _detached(part: Any) -> Any:
    """A value, just computed, that does not share memory with others, so that they can be written in place."""
    if part.__class__ is np.ndarray or is_mutable(part):
        return part if part.base is None else part.copy()
    if isinstance(part, Box) and "_value" in part._state:
        part._value = _detached(part._value)  # type: ignore[attr-defined]
    return part


def push(nodes: list[Any], dots: list[Any], wanted: Sequence[int]) -> list[Any]:
    """The forward sweep: tangents of the nodes `wanted`, given `dots[k]` for the inputs (`None` is zero)."""
    last_use = _last_uses(nodes, wanted)
    for k, node in enumerate(nodes):
        if node is None:
            continue
        kind = node[0]
        if kind is SCALE:
            dot = dots[node[1]]
            dots[k] = None if dot is None else node[2] * dot
        elif kind is PASS:
            dots[k] = dots[node[1]]
        elif kind is SCALE2:
            parts = [c * dots[i] for i, c in (node[1:3], node[3:5]) if dots[i] is not None]
            dots[k] = parts[0] + parts[1] if len(parts) == 2 else parts[0] if parts else None
        elif kind is SCALES:
            _, op, terms = node
            total = None
            for i, c, fix in terms:
                if dots[i] is not None:
                    part = op.scale(c, dots[i])
                    if fix is not None:
                        part = fit(part, fix[1])
                    total = part if total is None else total + part
            dots[k] = total
        elif kind is APPLY:
            if node[1] is store:
                dots[k] = _push_through_write(node, dots, last_use.get(k, ()))
            else:
                dots[k] = _push_through_op(node, dots)
        elif kind is COMPONENT:
            _, i, which = node
            dots[k] = None if dots[i] is None else dots[i][which]
        else:
            dots[k] = _push_through_pullback(node, dots)
        for i in last_use.get(k, ()):
            dots[i] = None
    return [dots[k] for k in wanted]


def _last_uses(nodes: list[Any], wanted: Sequence[int]) -> dict[int, list[int]]:
    """For each node, the nodes whose tangents are needed there for the last time."""
    last: dict[int, int] = {}
    for k, node in enumerate(nodes):
        for i in node_inputs(node):
            last[i] = k
    uses: dict[int, list[int]] = {}
    kept = set(wanted)
    for i, k in last.items():
        if i not in kept:
            uses.setdefault(k, []).append(i)
    return uses


def node_inputs(node: Any) -> Sequence[int]:
    """The nodes that a node maps from."""
    if node is None:
        return ()
    kind = node[0]
    if kind is SCALES:
        return [i for i, _, _ in node[2]]
    if kind is APPLY:
        return node[2]
    if kind is SCALE2:
        return (node[1], node[3])
    return node[1] if kind is PULLBACK else (node[1],)


def _push_through_op(node: Any, dots: list[Any]) -> Any:
    _, op, inputs, places, args, params = node
    given = [(p, dots[i]) for i, p in zip(inputs, places, strict=True) if dots[i] is not None]
    if not given:
        return None
    if isinstance(op, Linear):
        filled = [zeros(*a) if a.__class__ is Aval else a for a in args]
        for p, dot in given:
            filled[p] = dot
        return call(op, *filled, **params)
    total = None
    for p, dot in given:
        part = call(op, *args[:p], dot, *args[p + 1 :], **params)
        total = part if total is None else total + part
    if op is index and is_small_part(total):
        total = total.copy()  # a small view would keep the whole tangent from being written in place
    return total


def _push_through_write(node: Any, dots: list[Any], last: Sequence[int]) -> Any:
    """The tangent of x with that of v in its place: written in place if this is the last use of the tangent of x."""
    _, _, inputs, places, args, params = node
    x_dot = dots[inputs[places.index(0)]] if 0 in places else None
    v_dot = dots[inputs[places.index(1)]] if 1 in places else None
    if x_dot is None and v_dot is None:
        return None
    written_to = Owned(zeros(*args[0]) if x_dot is None else x_dot)
    del x_dot
    if 0 in places and inputs[0] in last:
        dots[inputs[0]] = None
    overwrite(written_to, "value", 0 if v_dot is None else v_dot, params["pattern"], tuple(args[2:]))
    return written_to.value


def _push_through_pullback(node: Any, dots: list[Any]) -> Any:
    """Forward through a map of which only the transpose is known: the transpose of the transpose."""
    _, inputs, linear_map = node
    given = [dots[i] for i in inputs]
    if all(dot is None for dot in given):
        return None
    if linear_map.push is not None:
        return linear_map.push(given)
    return transpose(linear_map.pull, linear_map.avals)(given)


def transpose(function: Callable[[list[Any]], Sequence[Any]], avals: Sequence[Aval]) -> Callable[[list[Any]], list]:
    """The transpose of a linear function from a list of values (of these types) to a list of values.

    The function is run once, on symbols; what it returns may contain `None` for zero, and so may what the transpose
    is given. The transpose returns zeros where nothing arrives.
    """
    trace = LinearTrace(fresh_tag(), [])
    symbols = [trace.input(aval) for aval in avals]
    outputs = function(list(symbols))
    places: list[int | None] = []
    for y in outputs:
        if y.__class__ is Tangent and y._owner is trace:
            places.append(y._node)
        elif y is None or (not isinstance(y, Traced) and not np.any(y)):
            places.append(None)
        else:
            raise NotLinearError("a pullback returned a constant that is not zero", remedy=_LINEAR_RULE)

    def transposed(cts: list[Any]) -> list[Any]:
        seeds: list[Any] = [None] * len(trace.nodes)
        for k, ct in zip(places, cts, strict=True):
            if k is not None and ct is not None:
                seeds[k] = ct if seeds[k] is None else seeds[k] + ct
        pull(trace.nodes, seeds)
        return [zeros(*aval) if ct is None else ct for ct, aval in zip(seeds, avals, strict=False)]

    return transposed
