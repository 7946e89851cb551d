"""From a user's function and the types of its arguments to a program: what `jit` compiles.

`captured` runs the function once, on symbols. The result knows which block that gave, what else it takes from outside
(`session.py`), how its results are put together, and which arrays it writes to.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.box.box import Box
from wengert.box.foreign import hides_traced, where_it_hides
from wengert.box.memory import order_given
from wengert.box.writing import clone, settled
from wengert.capture import staged_hooks, words
from wengert.capture.assuming import Assumptions, DependsOnWhichThing, can_begin_again, tells
from wengert.capture.branching import REFUSED, BranchesDiffer
from wengert.capture.deep import EndlessRecursion
from wengert.capture.each_of import by_value
from wengert.capture.effects import read_later, refuse
from wengert.capture.generated import Generated
from wengert.capture.given import GivenBack, TheGiven, at_path, can_change, containers_given, given_back
from wengert.capture.guards import AnyGuard, Guard, Path, always_holds, is_number, itself, same
from wengert.capture.kept import Kept, Lengthens
from wengert.capture.left import IsChanged, Left, LeftWhole, left_outside, open_inputs
from wengert.capture.one_of import demand_known_things
from wengert.capture.opening import close_pools, undo_pools
from wengert.capture.ownership import made_outside
from wengert.capture.reachable import reached
from wengert.capture.recursing import endless
from wengert.capture.references import NeedsReferences
from wengert.capture.returned import Shared, WithoutAxes, as_returned, found_among, without_axes
from wengert.capture.returned_lists import with_returned_lists
from wengert.capture.session import SMALL, Session, ValuesDecide, WrittenTo, current
from wengert.capture.tables import ComputesKeys
from wengert.capture.words import ChosenWords
from wengert.control.budget import without_budget
from wengert.control.derived import all_hold
from wengert.errors import ConcretizationError, EscapedValueError, StagingError, UnsupportedFunctionError, WengertError
from wengert.ir.build import Capture, capturing, type_of_value
from wengert.ir.garbage import set_aside
from wengert.ir.infer import DependsOnWhichNumber
from wengert.ir.node import Block, Type, Var
from wengert.ir.symbol import Sym
from wengert.modes.cuts import attempted
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import SCALARS

_needs_hooks = staged_hooks


CANNOT_BE_CAPTURED = (ConcretizationError, EscapedValueError, StagingError, UnsupportedFunctionError)
"""How it is said that a function cannot become a program."""


class Captured:
    """A captured function.

    The parameters of `block` are the leaves of the arguments, then the values that `inputs` fetch. Its results are the
    leaves of the function's result (`places` says which result, or which constant, stands for each), then the new
    values of the arguments and inputs that are written to (`writes`: their numbers among the parameters).
    """

    def __init__(self, block: Block, name: str, inputs: list[Path], guards: list[AnyGuard], structure: Any,
                 places: list[tuple[str, Any]], writes: list[int], orders: tuple | None):  # fmt: skip
        self.block = block
        self.called = block
        """The block with further results at its end, which tell what is shared."""
        self.could_unroll = False
        """Whether lengths in it would be known if loops were unrolled (`counters.py`)."""
        self.shared: list[Shared] = []
        """Which arrays the function returns that the caller has already (`returned.py`)."""
        self.pinned: dict[int, Any] = {}
        """Arguments whose values are part of the program, by their places among the leaves."""
        self.orders = orders
        """How the arguments lie in memory, if that matters (`ir/orders.py`)."""
        outside = block.params[len(block.params) - len(inputs) :]
        self.takes_inputs_in_c_order = orders is None or all(p.order is None for p in outside)
        self.name = name
        self.inputs = inputs
        self.guards = guards
        self.structure = structure
        self.places = places
        self.writes = writes
        self.assumed: dict[str, bool] = {}
        """What was assumed of branches (`assuming.py`), and what is raised if neither that nor the opposite holds."""
        self.refusal: WengertError | None = None
        self.at_first: list[Any] | None = None
        """What the inputs are, in a program for the one call in which the function leaves something outside."""
        self.later: Captured | None = None
        """The program for the calls after that one."""
        self.left: list[Left | LeftWhole | GivenBack] = []
        """Where results belong that the function leaves outside (`left.py`): the second half of the output,
        from a leaf on."""
        self.first_left = 0
        self.containers_outside: list[Path] = []
        """How to come to the containers that the function finds outside, if it changes any."""
        self.notes: list[tuple[str, str]] = []
        """What operators have chosen while it was captured."""
        self.verified: set[str] = set()
        """What was compared with plain Python (`api/verify.py`)."""
        self._quick = [(guard.path, guard.value) for guard in guards if isinstance(guard, Guard)]
        self._arrays = [guard for guard in guards if not isinstance(guard, Guard)]

    def fetched(self) -> list[Any]:
        """The values that `inputs` fetch. A program that is being captured, of which this one becomes a part, depends
        on what this one depends on."""
        first, self.at_first = self.at_first, None
        values = [path() for path in self.inputs] if first is None else first
        session = current.session
        if session is None:
            return values
        session.guards.extend(self.guards)
        found = []
        for value, path in zip(values, self.inputs, strict=True):
            if is_number(value):  # an attribute that counts something
                found.append(session.number_at(path, value))
            else:
                session.found(value, path)
                found.append(session.external(value))
        return found

    def holds(self) -> bool:
        """Whether what the function found outside is still the same, and of the same type."""
        return self.guards_hold() and (not self.inputs or self._inputs_fit())

    def is_for(self, leaves: Sequence[Any]) -> bool:
        """Whether the values that are part of the program are those of these arguments, and, if that matters, they lie
        in memory as those did."""
        if self.orders is not None and self.orders != tuple([order_given(x) for x in leaves]):
            return False
        return all(not isinstance(leaves[k], Traced) and _is_value(leaves[k], v) for k, v in self.pinned.items())

    def guards_hold(self) -> bool:
        """Whether all that is part of the program is still the same outside."""
        try:
            for path, value in self._quick:
                now = path()
                if now is not value and not (now.__class__ is value.__class__ and same(now, value)):
                    return False
        except Exception:
            return False  # it is no longer there
        return not self._arrays or all_hold(self._arrays)

    def outside(self) -> tuple | None:
        """The values that `inputs` fetch, or None if the program is not for what is found outside now."""
        return tuple([path() for path in self.inputs]) if self.guards_hold() else None

    def _inputs_fit(self) -> bool:
        first = len(self.block.params) - len(self.inputs)
        try:
            return all(
                type_of_value(path()) == p.type and (self.orders is None or order_given(path()) == p.order)
                for path, p in zip(self.inputs, self.block.params[first:], strict=True)
            )
        except (LookupError, AttributeError, TypeError):
            return False  # it is no longer there, or no number

    def output(self, leaves: Sequence[Any], results: Sequence[Any]) -> Any:
        """The function's result, from the arguments' leaves and the results of the block."""
        found = tree.unflatten(self.structure, self._leaves(leaves, results))
        return found[0] if self.left else found

    def returned(self, inputs: Sequence[Any], results: Sequence[Any], arguments: tuple = ((), {})) -> Any:
        """The same with arrays that the caller has already where the function would return them, from all inputs and
        the results of `called`; `arguments` are those of the call, into which something may have to be put."""
        found = self._leaves(inputs, results, arguments)
        if self.shared:
            as_returned(self.shared, found, inputs, results[len(self.block.results) :])
        if not self.left:
            return tree.unflatten(self.structure, found)
        for k, (kind, place) in enumerate(self.places):
            if kind == "result" and isinstance(found[k], np.generic) and self.block.results[place].type.weak:
                found[k] = found[k].item() if k >= self.first_left else found[k]
        out, new = tree.unflatten(self.structure, found)
        for one, values in zip(self.left, new, strict=True):
            one.put(values, None if current.session is None else current.session.effects, arguments)
        return out

    def _leaves(self, leaves: Sequence[Any], results: Sequence[Any], arguments: tuple = ((), {})) -> list[Any]:
        found = []
        for kind, place in self.places:
            if kind == "given":
                found.append(at_path(arguments, place))
                continue
            y = leaves[place] if kind == "argument" else results[place] if kind == "result" else place
            found.append(without_axes(y) if place.__class__ is WithoutAxes else y)
        return found


def _is_value(x: Any, pinned: Any) -> bool:
    return np.array_equal(x, pinned) if isinstance(pinned, np.ndarray) else x == pinned


class _Request(NamedTuple):
    """What is to be captured: `f(*args, **kwargs)`, where `rebuild(leaves)` gives args and kwargs.

    `values` are those of the leaves, of this call, in case that types depend on some of them.
    """

    f: Callable
    types: Sequence[Type]
    rebuild: Callable[[Sequence[Any]], tuple[tuple, dict]]
    names: Sequence[str | None]
    values: Sequence[Any]

    @property
    def name(self) -> str:
        return getattr(self.f, "__name__", type(self.f).__name__)

    def orders(self) -> tuple:
        """How the arguments lie in memory."""
        return tuple([order_given(x) for x in self.values])

    def integers(self, pinned: dict[int, Any]) -> dict[int, Any]:
        """Integers among the arguments whose values are not yet part of the program, by their places."""
        return {
            k: x for k, x in enumerate(self.values)
            if k not in pinned and self.types[k].dtype.kind in "biu" and not self.types[k].shape
            and not isinstance(x, Traced)
        }  # fmt: skip


@dataclass
class _Learnt:
    """What has turned out while a function was captured, so that it has to be captured once more."""

    variable: set[int] = field(default_factory=set)
    """Small arrays from outside (their ids) that are inputs."""
    held: dict[int, np.ndarray] = field(default_factory=dict)
    """Arrays from outside, by their ids, that are part of the program."""
    opened: dict[tuple[int, Any], Any] = field(default_factory=dict)
    """Attributes and items that are inputs (`Session.opened`)."""
    pinned: dict[int, Any] = field(default_factory=dict)
    """Arguments whose values are part of the program, by their places."""
    deepest: int | None = None
    """How many calls of one function may be under way."""
    machines: set[CodeType] = field(default_factory=set)
    """The code of functions that become loops (`recursing.py`)."""
    machines_were_tried: bool = False
    refers: bool | None = None
    """Whether names stand for objects by reference (`references.py`); None if that was not tried."""
    unrolls: bool = False
    """Whether loops are unrolled so that lengths of lists are known."""
    unrolling_was_tried: bool = False
    tables: set[str] = field(default_factory=set)
    """Where dicts are made that have keys which only the program knows (`tables.py`)."""
    logs: set[Any] = field(default_factory=set)
    """Lists outside that get something plain at each call."""


def captured(f: Callable, types: Sequence[Type], rebuild: Callable[[Sequence[Any]], tuple[tuple, dict]],
             names: Sequence[str | None] = (), values: Sequence[Any] = (),
             assumed: dict[str, bool] | None = None) -> Captured:  # fmt: skip
    """Capture a function (see `_Request`), under assumptions about its branches if there are some."""
    with without_budget(), set_aside():
        return _under_assumptions(_Request(f, types, rebuild, names, values), assumed)


def _under_assumptions(request: _Request, assumed: dict[str, bool] | None) -> Captured:
    refusal: Any = None
    if assumed is None:
        try:
            return _for_all_calls(request, None)
        except REFUSED as error:
            if isinstance(error, DependsOnWhichNumber) and current.session is None:
                assumed = {tells(error): True}
                refusal = error
            elif not can_be_assumed(error) or current.session is not None:
                as_told(error)
                raise
    assumptions = Assumptions(assumed or {})
    for _ in range(_MOST_ASSUMPTIONS):
        try:
            return _for_all_calls(request, assumptions)
        except Exception as error:
            is_which = isinstance(error, DependsOnWhichNumber) and current.session is None
            if is_which and tells(error) not in assumptions.known:  # type: ignore[arg-type]
                refusal = refusal or assumptions.refusal or error
                assumptions = Assumptions({**assumptions.known, tells(error): True})  # type: ignore[arg-type]
                continue
            if assumptions.refusal is None or (type(error) in REFUSED and assumptions.are_certain):
                as_told(error)
                raise
            if not assumptions.change_one():
                break
    refusal = refusal or assumptions.refusal
    raise as_told(refusal)


def can_be_assumed(error: Any) -> bool:
    """Whether it may help to compile for one of two branches: they differ, or one of them cannot be captured."""
    return error.__dict__.pop("is_in_branch", False) or isinstance(error, BranchesDiffer)


def as_told(error: Any) -> Any:
    """A refusal as users get it: how loops tell what can be done about it is of no interest to them."""
    if isinstance(error, StagingError):
        error.__class__ = StagingError
    return error


_MOST_ASSUMPTIONS = 4
"""So often a function is captured with other assumptions."""


def _for_all_calls(request: _Request, assumed: Assumptions | None) -> Captured:
    """Capture a function, and if it leaves something outside, once more."""
    logs: set[Any] = set()
    while True:
        kept = Kept()
        try:
            found = _with_what_is_known(request, kept, assumed, logs)
            if found.at_first is not None:
                found.later = _with_what_is_known(request, kept, assumed, logs)
                if found.later.at_first is not None:
                    raise refuse("something different at each call")
            return found
        except Lengthens as more:
            kept.put_back()
            logs |= more.keys
        except BaseException:
            kept.put_back()
            raise


_CALLS_OF_ITSELF = (8, 4, 2)
"""A function that calls itself is written out so often, where data decide whether it does; or less, if that is much."""


def _with_what_is_known(request: _Request, kept: Kept, assumed: Assumptions | None, logs: set[Any]) -> Captured:
    """Capture a function, again until it is known what is written to, and whose values are part of the program."""
    learnt = _Learnt(logs=logs)
    while True:
        try:
            with attempted(is_certain=assumed is None):
                return _captured(request, learnt, kept, assumed)
        except (*CANNOT_BE_CAPTURED, RecursionError) as error:
            if not _learns(request, learnt, error):
                raise
        except (WrittenTo, IsChanged):
            continue  # `variable` or `opened` has grown
        except ValuesDecide as decide:
            values, places = request.values, decide.places
            new = {k: values[k] for k in places if k < len(values) and not isinstance(values[k], Traced)}
            if len(new) < len(places) or learnt.pinned.keys() >= new.keys():
                raise StagingError(
                    "the type of a result depends on the number of iterations of a loop, which is a traced value",
                    remedy="convert variables to the type that they have after an iteration before the loop",
                ) from None
            learnt.pinned.update(new)
        except Exception:
            if not learnt.machines and not learnt.refers:
                raise
            learnt.refers = learnt.refers and False
            learnt.machines.clear()
            learnt.machines_were_tried = True


def _learns(request: _Request, learnt: _Learnt, error: Exception) -> bool:
    """Whether a function that could not be captured may be in another way, which is noted."""
    if isinstance(error, EndlessRecursion):
        return False
    is_endless = isinstance(error, RecursionError)
    more = endless(error) - learnt.machines if is_endless and not learnt.machines_were_tried else None
    if more:
        learnt.machines |= more
        return True
    if learnt.machines:  # these functions are no loops
        learnt.machines.clear()
        learnt.machines_were_tried = True
        return True
    if learnt.refers and not _asks_which_number(error) and not _can_have_table(error, learnt):  # that does not help
        learnt.refers = False
        return True
    if learnt.refers is None and isinstance(error, NeedsReferences):
        learnt.refers = True
        return True
    session = error.__dict__.pop("session", None)
    if session is not None and session.could_unroll and not learnt.unrolling_was_tried:
        learnt.unrolls = learnt.unrolling_was_tried = True
        return True
    if learnt.unrolls:  # that is not what is missing
        learnt.unrolls = False
        return True
    if session is not None and _hold(session, learnt):
        return True
    # For any integer it cannot be done; but an axis, a shape or a key is mostly given, and does not change.
    integers = request.integers(learnt.pinned)
    if integers:
        learnt.pinned.update(integers)
        learnt.machines_were_tried = False
        return True
    if _can_have_table(error, learnt):
        learnt.tables.add(error.place)  # type: ignore[attr-defined]
        learnt.machines_were_tried = False
        return True
    if is_endless and learnt.deepest != _CALLS_OF_ITSELF[-1]:
        places = _CALLS_OF_ITSELF.index(learnt.deepest) + 1 if learnt.deepest is not None else 0
        learnt.deepest = _CALLS_OF_ITSELF[places]  # it calls itself until data say that it is enough
        return True
    if is_endless:
        raise StagingError(
            f"{request.name}, or a function that it calls, calls itself, and whether it does so again depends on a "
            "value that is known only when the compiled program runs",
            remedy="write a loop, or pass the value that decides as a static argument (static_argnums)",
        ) from error
    return False


def _can_have_table(error: Exception, learnt: _Learnt) -> bool:
    """Whether a dict or set has keys that only the program knows, and is no table yet."""
    return isinstance(error, ComputesKeys) and error.place not in learnt.tables


def _asks_which_number(error: Exception) -> bool:
    """Whether the function may be captured under an assumption (`assuming.py`)."""
    return isinstance(error, DependsOnWhichNumber) and not isinstance(error, DependsOnWhichThing)


def _hold(session: Session, learnt: _Learnt) -> bool:
    """Have small arrays from outside be part of the program, if there are some: dates, names of columns and what else
    is kept in arrays may then be what only Python computes with, or decides by."""
    new = {id(x): x for x, _, _ in session.inputs if x.__class__ is np.ndarray and x.size <= SMALL}
    new = {k: x for k, x in new.items() if k not in learnt.held and k not in learnt.variable}
    learnt.held.update(new)
    return bool(new)


class _Run(NamedTuple):
    """What a function did when it was run on symbols. `left` are the results that belong outside, which are those from
    `first_left` on; `results` are of the block, `further` ones tell what is shared."""

    structure: Any
    places: list[tuple[str, Any]]
    writes: list[int]
    left: list[Left | LeftWhole | GivenBack]
    first_left: int
    shared: list[Shared]
    results: list[Any]
    further: list[Any]


def _captured(request: _Request, learnt: _Learnt, kept: Kept, assumed: Assumptions | None) -> Captured:
    """Run a function on symbols, once."""
    top = Capture()
    session = Session(top, learnt.variable, learnt.held, learnt.opened)
    session.deepest, session.code = learnt.deepest, _run.__code__
    session.assumed, session.machines = assumed, learnt.machines
    session.tables |= learnt.tables
    session.refers = bool(learnt.refers)
    session.unrolls = session.unrolls or learnt.unrolls
    session.effects.logs = learnt.logs
    orders = request.orders()
    outer, current.session = current.session, session
    try:
        with capturing(top):
            run = _run(request, learnt.pinned, orders, session)
            session.seal()
    except BaseException as error:
        undo_pools(session)
        session.effects.undo(session.stands_for)
        if isinstance(error, CANNOT_BE_CAPTURED):
            error.session = session  # type: ignore[union-attr]
        raise
    finally:
        current.session = outer
    changed_outside = kept.look_at(session.effects, session.stands_for)
    if changed_outside is not None:
        raise changed_outside
    params: list[Var] = [*session.formals, *[var for _, _, var in session.inputs]]
    inputs: list[Path] = [path for _, path, _ in session.inputs]
    for p, x in zip(top.params, top.captured, strict=True):
        if x is not None:
            params.append(p)
            inputs.append(functools.partial(itself, x))
    guards = [guard for guard in session.guards if not always_holds(guard)]
    orders_that_matter = orders if top.links.order_matters else None
    block = Block(params, top.nodes, run.results)
    found = Captured(block, request.name, inputs, guards, run.structure, run.places, run.writes, orders_that_matter)
    found.could_unroll = session.could_unroll and not session.unrolls
    found.shared, found.left, found.first_left = run.shared, run.left, run.first_left
    found.containers_outside = [path for thing, path in session.paths.values() if run.left and can_change(thing)]
    if run.further:
        found.called = Block(params, top.nodes, [*run.results, *run.further])
    found.pinned = {**learnt.pinned, **session.read_values}
    if assumed is not None and assumed.refusal is not None:
        if not can_begin_again(found.block) or kept.leaves_something:
            raise assumed.refusal
        found.assumed, found.refusal = dict(assumed.taken), as_told(assumed.refusal)
    at_first = [path() for path in inputs]
    if kept.leave():
        found.at_first = at_first
    found.notes = list(dict.fromkeys(session.notes))
    return found


def _run(request: _Request, pinned: dict[int, Any], orders: tuple, session: Session) -> _Run:
    """Call a function with symbols, and look at what it returns, writes to and leaves outside."""
    top, types = session.top, request.types
    hints = request.names or [None] * len(types)
    leaves: list[Any] = [top.formal(t, hint=n) for t, n in zip(types, hints, strict=True)]
    formals = [x._node for x in leaves]
    for var, order in zip(formals, orders, strict=False):
        var.order = order
    session.arguments, session.formals, session.values = leaves, formals, request.values
    top.arrays = {
        id(leaves[k])
        for k, x in enumerate(request.values)
        if (x._is_array if isinstance(x, Box) else isinstance(x, np.ndarray))
    }
    args, kwargs = request.rebuild([pinned.get(k, x) for k, x in enumerate(leaves)])
    session.watch(request.f)
    own = list(containers_given((args, kwargs)))
    given, container = tree.flatten((args, kwargs))
    for x in given:
        session.found(x, functools.partial(itself, x))
    open_inputs(session)
    out = staged_hooks.entered_by(request.f, session)(*args, **kwargs)
    close_pools(session)
    out = by_value(out)
    put_back, put_there, out = given_back(own, out)
    now, changed = tree.flatten((args, kwargs))
    if changed != container or any(a is not b for a, b in zip(now, given, strict=True)):
        raise refuse("a container that it was given")
    return _what_is_left(session, leaves, out, put_back, put_there)


def _what_is_left(session: Session, leaves: Sequence[Any], out: Any, put_back: Sequence[Any],
                  put_there: Sequence[Any]) -> _Run:  # fmt: skip
    """What a function has returned, written to and left outside, as results of the program."""
    top = session.top
    formals = session.formals
    _demand_unchanged(session, top.later)
    remains, new = left_outside(session, out)
    session.effects.left = {(one.key, slot) for one in remains for slot in one.changed}
    left: list[Left | LeftWhole | GivenBack] = [*remains, *put_back]
    out_leaves, structure = tree.flatten(with_returned_lists((out, [*new, *put_there]) if left else out))
    first_left = len(tree.leaves(with_returned_lists(out)))
    places, outputs = _places(out_leaves, leaves, first_left)
    written = [settled(x) for x in leaves]
    is_same = [x.__class__ is Sym and x._node is var for x, var in zip(written, formals, strict=True)]
    writes = [k for k, same in enumerate(is_same) if not same]
    outputs += [written[k] for k in writes]
    for k in session.written():
        writes.append(len(formals) + k)
        outputs.append(session.box_of(session.inputs[k][0]))
    outside = [session.box_of(value) for value, _, _ in session.inputs]
    lasting = [
        None if kind in ("constant", "given") else settled(y) for y, (kind, _) in zip(out_leaves, places, strict=True)
    ]
    shared, extras = found_among(lasting, leaves, outside, top)
    if any(isinstance(y, Box) and y._owner.alive is False for y in outputs[len(outputs) - len(writes) :]):
        raise made_outside()  # of a differentiation inside, which has ended
    results = [top.operand(y) for y in outputs]
    further = [top.operand(settled(y)) for y in extras]
    return _Run(structure, places, writes, left, first_left, shared, results, further)


def _places(out_leaves: Sequence[Any], leaves: Sequence[Any], first_left: int) -> tuple[list[tuple[str, Any]], list]:
    """What stands for each leaf of what a function returns and leaves outside, and the results of the block."""
    numbers = {id(x): k for k, x in reversed(list(enumerate(leaves))) if x.shape}
    places: list[tuple[str, Any]] = []
    outputs: list[Any] = []
    for y in out_leaves:
        is_bare = isinstance(y, Box) and not y.shape and y._is_array
        if y.__class__ is TheGiven:
            places.append(("given", y.path))
            continue
        y = settled(y)
        if len(places) >= first_left and isinstance(y, Traced) and y.__class__ is not Sym:
            places.append(("constant", y))  # of a transformation inside, which has ended
            continue
        same = numbers.get(id(y))
        if same is not None:
            places.append(("argument", same))  # the function returns an argument: the caller's own array
        elif isinstance(y, Traced):
            places.append(("result", (WithoutAxes if is_bare else int)(len(outputs))))
            outputs.append(clone(y))
        elif isinstance(y, np.ndarray) and y.dtype.kind in "biufc":
            places.append(("result", (int if y.ndim else WithoutAxes)(len(outputs))))
            outputs.append(y)
        elif y.__class__ is ChosenWords:
            words.refused()
        elif _mentions_symbols(y) or hides_traced(y):
            demand_known_things(y)
            kind = "generator" if y.__class__ is Generated else type(y).__name__
            raise StagingError(
                f"a compiled function returned a {kind}, which holds values that are known only when it runs",
                remedy=where_it_hides(y),
            )
        else:
            places.append(("constant", y))
    return places, outputs


class _Fixed(Session):
    """For code that becomes part of a program which was captured before: arrays that it finds outside are constants."""

    def external(self, value: Any) -> Any:
        known = self.paths.get(id(value)) if value.__class__ is np.ndarray else None
        if known is None or known[0] is not value or value.dtype.kind not in "biufc":
            return super().external(value) if value.__class__ is not np.ndarray else value
        return self._constant(value, known[1])


@contextlib.contextmanager
def fixed_outside(told: Callable[[list], None]) -> Iterator[None]:
    """While a rule is run for a program that was captured before. `told` is given guards for what it finds outside."""
    capture = running.state.capture
    if capture is None:
        yield
        return
    session = _Fixed(capture, set())
    outer, current.session = current.session, session
    try:
        yield
        session.seal()
    except WrittenTo:
        raise refuse("an array") from None
    finally:
        current.session = outer
        outside = session.effects.undo(session.stands_for)
    if outside is not None:
        raise outside
    guards = [guard for guard in session.guards if not always_holds(guard)]
    if outer is not None:
        outer.guards.extend(guards)
    told(guards)


def _demand_unchanged(session: Session, later: list[Any]) -> None:
    """Refuse changes outside of what functions read that are called when the program runs."""
    if not later:
        return
    keys, names = reached(later)
    error = session.effects.read_later(keys, names)
    if error is None and any(id(session.inputs[k][0]) in keys for k in session.written()):
        error = read_later("an array")
    if error is not None:
        raise error


def _mentions_symbols(y: Any) -> bool:
    return isinstance(y, Box) or (callable(y) and y.__class__ not in SCALARS)
