"""From a user's function and the types of its arguments to a program: what `jit` compiles.

`captured` runs the function once, on symbols. The result knows which block that gave, what else it takes from outside
(`session.py`), how its results are put together, and which arrays it writes to.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.box import Box
from wengert.box.foreign import hides_traced, where_it_hides
from wengert.box.memory import order_given
from wengert.box.writing import clone, settled
from wengert.capture import staged_hooks, words
from wengert.capture.assuming import Assumptions, can_begin_again, tells
from wengert.capture.effects import read_later, refuse
from wengert.capture.given import GivenBack, can_change, containers_given, given_back
from wengert.capture.guards import AnyGuard, ArrayGuard, Guard, Path, always_holds, itself, same
from wengert.capture.kept import Kept
from wengert.capture.left import IsChanged, Left, left_outside
from wengert.capture.one_of import demand_known_things
from wengert.capture.opening import close_pools, undo_pools
from wengert.capture.reachable import reached
from wengert.capture.recursing import endless
from wengert.capture.returned import Shared, as_returned, found_among
from wengert.capture.returned_lists import with_returned_lists
from wengert.capture.session import SMALL, Session, ValuesDecide, WrittenTo, current, is_number
from wengert.capture.values import BranchesDiffer
from wengert.capture.words import ChosenWords
from wengert.control.budget import without_budget
from wengert.errors import (
    ConcretizationError,
    EscapedValueError,
    StagingError,
    UnsupportedFunctionError,
)
from wengert.ir.build import Capture, capturing, type_of_value
from wengert.ir.garbage import set_aside
from wengert.ir.infer import DependsOnWhichNumber
from wengert.ir.node import Block, Type, Var
from wengert.ir.symbol import Sym
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
        self.refusal: StagingError | None = None
        self.at_first: list[Any] | None = None
        """What the inputs are, in a program for the one call in which the function leaves something outside."""
        self.later: Captured | None = None
        """The program for the calls after that one."""
        self.left: list[Left | GivenBack] = []
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
                owner, name = getattr(path, "args")  # noqa: B009
                found.append(session.attribute(owner, name, value))
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
        return not self._arrays or all(guard.holds() for guard in self._arrays)

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
        found = self._leaves(inputs, results)
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

    def _leaves(self, leaves: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        found = []
        for kind, place in self.places:
            found.append(leaves[place] if kind == "argument" else results[place] if kind == "result" else place)
        return found


def _is_value(x: Any, pinned: Any) -> bool:
    return np.array_equal(x, pinned) if isinstance(pinned, np.ndarray) else x == pinned


def captured(f: Callable, types: Sequence[Type], rebuild: Callable[[Sequence[Any]], tuple[tuple, dict]],
             names: Sequence[str | None] = (), values: Sequence[Any] = (),
             assumed: dict[str, bool] | None = None) -> Captured:  # fmt: skip
    """Capture `f(*args, **kwargs)`, where `rebuild(leaves)` gives args and kwargs.

    `values` are those of the leaves, of this call, in case that types depend on some of them.
    """
    with without_budget(), set_aside():
        return _under_assumptions(f, types, rebuild, names, values, assumed)


def _under_assumptions(f: Callable, types: Sequence[Type], rebuild: Callable, names: Sequence[str | None],
                       values: Sequence[Any], assumed: dict[str, bool] | None) -> Captured:  # fmt: skip
    refusal: StagingError | None = None
    if assumed is None:
        try:
            return _lasting(f, types, rebuild, names, values, None)
        except StagingError as error:
            if isinstance(error, DependsOnWhichNumber) and current.session is None:
                assumed = {tells(error): True}
                refusal = error
            elif not isinstance(error, BranchesDiffer) or current.session is not None:
                error.__class__ = StagingError  # (how loops tell what can be done about it is of no interest here)
                raise
    assumptions = Assumptions(assumed or {})
    for _ in range(_MOST_ASSUMPTIONS):
        try:
            return _lasting(f, types, rebuild, names, values, assumptions)
        except Exception:
            if assumptions.refusal is None:
                raise
            if not assumptions.change_one():
                break
    refusal = refusal or assumptions.refusal
    assert refusal is not None
    refusal.__class__ = StagingError
    raise refusal


_MOST_ASSUMPTIONS = 4
"""So often a function is captured with other assumptions."""


def _lasting(f: Callable, types: Sequence[Type], rebuild: Callable, names: Sequence[str | None],
             values: Sequence[Any], assumed: Assumptions | None) -> Captured:  # fmt: skip
    """Capture a function, and if it leaves something outside, once more."""
    kept = Kept()
    try:
        found = _with_what_is_known(f, types, rebuild, names, values, kept, assumed)
        if found.at_first is not None:
            found.later = _with_what_is_known(f, types, rebuild, names, values, kept, assumed)
            if found.later.at_first is not None:
                raise refuse("something different at each call")
    except BaseException:
        kept.put_back()
        raise
    return found


_CALLS_OF_ITSELF = (8, 4, 2)
"""A function that calls itself is written out so often, where data decide whether it does; or less, if that is much."""


def _with_what_is_known(f: Callable, types: Sequence[Type], rebuild: Callable, names: Sequence[str | None],
                        values: Sequence[Any], kept: Kept, assumed: Assumptions | None) -> Captured:  # fmt: skip
    """Capture a function, again until it is known what is written to, and whose values are part of the program."""
    variable: set[int] = set()
    held: dict[int, np.ndarray] = {}
    opened: dict[tuple[int, Any], Any] = {}
    pinned: dict[int, Any] = {}
    deepest: int | None = None
    machines: set[CodeType] = set()
    are_tried = False
    orders = tuple([order_given(x) for x in values])
    arrays = {k for k, x in enumerate(values) if (x._is_array if isinstance(x, Box) else isinstance(x, np.ndarray))}
    while True:
        try:
            return _captured(f, types, rebuild, names, values, variable, held, opened, pinned, orders, arrays, kept,
                             assumed, deepest, machines)  # fmt: skip
        except (*CANNOT_BE_CAPTURED, RecursionError) as error:
            more = endless(error) - machines if isinstance(error, RecursionError) and not are_tried else None
            if more:
                machines |= more
                continue
            if machines:  # these functions are no loops
                machines.clear()
                are_tried = True
                continue
            if isinstance(error, ConcretizationError) and _hold(error, held, variable):
                continue
            # For any integer it cannot be done; but an axis, a shape or a key is mostly given, and does not change.
            integers = {
                k: x for k, x in enumerate(values)
                if k not in pinned and types[k].dtype.kind in "biu" and not types[k].shape and not isinstance(x, Traced)
            }  # fmt: skip
            if not integers and isinstance(error, RecursionError) and deepest != _CALLS_OF_ITSELF[-1]:
                places = _CALLS_OF_ITSELF.index(deepest) + 1 if deepest is not None else 0
                deepest = _CALLS_OF_ITSELF[places]  # it calls itself until data say that it is enough
                continue
            if not integers and isinstance(error, RecursionError):
                name = getattr(f, "__name__", type(f).__name__)
                raise StagingError(
                    f"{name}, or a function that it calls, calls itself, and whether it does so again depends on a "
                    "value that is known only when the compiled program runs",
                    remedy="write a loop, or pass the value that decides as a static argument (static_argnums)",
                ) from error
            if not integers:
                raise
            pinned.update(integers)
            are_tried = False
        except (WrittenTo, IsChanged):
            continue  # `variable` or `opened` has grown
        except ValuesDecide as decide:
            new = {k: values[k] for k in decide.places if k < len(values) and not isinstance(values[k], Traced)}
            if len(new) < len(decide.places) or pinned.keys() >= new.keys():
                raise StagingError(
                    "the type of a result depends on the number of iterations of a loop, which is a traced value",
                    remedy="convert variables to the type that they have after an iteration before the loop",
                ) from None
            pinned.update(new)
        except Exception:
            if not machines:
                raise
            machines.clear()
            are_tried = True


def _hold(error: Exception, held: dict[int, np.ndarray], variable: set[int]) -> bool:
    """Have small arrays from outside be part of the program, if there are some, where generators ran: what these decide
    Python decides, and it may do so by constants that are kept in arrays."""
    session = error.__dict__.pop("session", None)
    if session is None or not session.ran_generators:
        return False
    new = {id(x): x for x, _, _ in session.inputs if x.__class__ is np.ndarray and x.size <= SMALL}
    new = {k: x for k, x in new.items() if k not in held and k not in variable}
    held.update(new)
    return bool(new)


def _captured(f: Callable, types: Sequence[Type], rebuild: Callable, names: Sequence[str | None],
              values: Sequence[Any], variable: set[int], held: dict[int, np.ndarray],
              opened: dict[tuple[int, Any], Any], pinned: dict[int, Any], orders: tuple, arrays: set[int], kept: Kept,
              assumed: Assumptions | None, deepest: int | None, machines: set[CodeType]) -> Captured:  # fmt: skip
    top = Capture()
    session = Session(top, variable, held, opened)
    session.deepest, session.code = deepest, sys._getframe().f_code
    session.assumed, session.machines = assumed, machines
    outer, current.session = current.session, session
    try:
        with capturing(top):
            hints = names or [None] * len(types)
            leaves: list[Any] = [top.formal(t, hint=n) for t, n in zip(types, hints, strict=True)]
            formals = [x._node for x in leaves]
            for var, order in zip(formals, orders, strict=False):
                var.order = order
            session.arguments, session.formals, session.values = leaves, formals, values
            top.arrays = {id(leaves[k]) for k in arrays}
            args, kwargs = rebuild([pinned.get(k, x) for k, x in enumerate(leaves)])
            session.watch(f)
            own = list(containers_given((args, kwargs)))
            given, container = tree.flatten((args, kwargs))
            for x in given:
                session.found(x, functools.partial(itself, x))
            session.open()
            out = staged_hooks.entered_by(f, session)(*args, **kwargs)
            close_pools(session)
            put_back, put_there = given_back(own, out)
            now, changed = tree.flatten((args, kwargs))
            if changed != container or any(a is not b for a, b in zip(now, given, strict=True)):
                raise refuse("a container that it was given")
            _demand_unchanged(session, top.later)
            remains, new = left_outside(session, out)
            session.effects.left = {(one.key, slot) for one in remains for slot in one.slots}
            left: list[Left | GivenBack] = [*remains, *put_back]
            new = [*new, *put_there]
            out_leaves, structure = tree.flatten(with_returned_lists((out, new) if left else out))
            first_left = len(tree.leaves(with_returned_lists(out)))
            numbers = {id(x): k for k, x in reversed(list(enumerate(leaves))) if x.shape}
            places: list[tuple[str, Any]] = []
            outputs: list[Any] = []
            for y in out_leaves:
                y = settled(y)
                if len(places) >= first_left and isinstance(y, Traced) and y.__class__ is not Sym:
                    places.append(("constant", y))  # of a transformation inside, which has ended
                    continue
                same = numbers.get(id(y))
                if same is not None:
                    places.append(("argument", same))  # the function returns an argument: the caller's own array
                elif isinstance(y, Traced):
                    places.append(("result", len(outputs)))
                    outputs.append(clone(y))
                elif isinstance(y, np.ndarray) and y.dtype.kind in "biufc":
                    places.append(("result", len(outputs)))
                    outputs.append(y)
                elif y.__class__ is ChosenWords:
                    words.refused()
                elif _mentions_symbols(y) or hides_traced(y):
                    demand_known_things(y)
                    raise StagingError(
                        f"a compiled function returned a {type(y).__name__}, which holds values that are known only "
                        "when it runs",
                        remedy=where_it_hides(y),
                    )
                else:
                    places.append(("constant", y))
            written = [settled(x) for x in leaves]
            is_same = [x.__class__ is Sym and x._node is var for x, var in zip(written, formals, strict=True)]
            writes = [k for k, same in enumerate(is_same) if not same]
            outputs += [written[k] for k in writes]
            for k in session.written():
                writes.append(len(formals) + k)
                outputs.append(session.box_of(session.inputs[k][0]))
            outside = [session.box_of(value) for value, _, _ in session.inputs]
            lasting = [
                None if kind == "constant" else settled(y) for y, (kind, _) in zip(out_leaves, places, strict=True)
            ]
            shared, extras = found_among(lasting, leaves, outside, top)
            results = [top.operand(y) for y in outputs]
            further = [top.operand(settled(y)) for y in extras]
            session.seal()
    except BaseException as error:
        undo_pools(session)
        session.effects.undo(session.stands_for)
        if isinstance(error, ConcretizationError):
            error.session = session  # type: ignore[attr-defined]
        raise
    finally:
        current.session = outer
    changed_outside = kept.look_at(session.effects, session.stands_for)
    if changed_outside is not None:
        raise changed_outside
    params: list[Var] = [*formals, *[var for _, _, var in session.inputs]]
    inputs: list[Path] = [path for _, path, _ in session.inputs]
    for p, x in zip(top.params, top.captured, strict=True):
        if x is not None:
            params.append(p)
            inputs.append(functools.partial(itself, x))
    name = getattr(f, "__name__", type(f).__name__)
    guards = [guard for guard in session.guards if not always_holds(guard)]
    found = Captured(
        Block(params, top.nodes, results),
        name,
        inputs,
        guards,
        structure,
        places,
        writes,
        orders if top.links.order_matters else None,
    )
    found.shared, found.left, found.first_left = shared, left, first_left
    found.containers_outside = [path for thing, path in session.paths.values() if left and can_change(thing)]
    if further:
        found.called = Block(params, top.nodes, [*results, *further])
    found.pinned = {**pinned, **session.read_values}
    if assumed is not None and assumed.refusal is not None:
        if not can_begin_again(found.block) or kept.leaves_something:
            raise assumed.refusal
        found.assumed, found.refusal = dict(assumed.taken), assumed.refusal
        found.refusal.__class__ = StagingError
    at_first = [path() for path in inputs]
    if kept.leave():
        found.at_first = at_first
    found.notes = list(dict.fromkeys(session.notes))
    return found


class _Fixed(Session):
    """For code that becomes part of a program which was captured before: arrays that it finds outside are constants."""

    def external(self, value: Any) -> Any:
        known = self.paths.get(id(value)) if value.__class__ is np.ndarray else None
        if known is None or known[0] is not value or value.dtype.kind not in "biufc":
            return super().external(value) if value.__class__ is not np.ndarray else value
        if id(value) not in self._constants:
            frozen = value.copy()
            frozen.flags.writeable = False
            self._constants[id(value)] = frozen
            self._originals[id(frozen)] = value
            self.guards.append(ArrayGuard(known[1], frozen))
        return self._constants[id(value)]


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
