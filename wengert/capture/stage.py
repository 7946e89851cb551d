"""Control flow of users' functions, staged: what `lower.py` makes of `if`, `for`, `while`, `and`, `or` and their like.

On ordinary Python values each of these does what Python does. On values of the program that is being captured the
suites become blocks: they are run once, in a capture, and a `cond`, `loop` or `while` is recorded.

A loop carries the variables that its suite binds and the arrays that it writes to. Which these are, and their types,
is found by running the suite again until nothing new turns up: a number may turn out to become a float, an array that
was only read may be written to further down. A suite that cannot be staged (it indexes a Python list, or changes
one) is unrolled if the number of iterations is known and not large.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.box import Box
from wengert.box.functions.operands import cast
from wengert.box.writing import become, clone, make_views_stale, running, settled
from wengert.capture.containers import copied, noted, refilled, unchanged
from wengert.capture.iteration import Items, items_of
from wengert.capture.session import current
from wengert.capture.undefined import UNDEFINED, is_of_user
from wengert.capture.undefined import defined as known_to_be_defined
from wengert.control.cond import cond
from wengert.control.loop import loop
from wengert.control.while_ import while_
from wengert.errors import ConcretizationError, EscapedValueError, StagingError, UnsupportedFunctionError
from wengert.ir.build import Capture, capturing, content, type_of_value
from wengert.ir.infer import Found
from wengert.ir.node import Block, Dyn, Type, Var
from wengert.ir.symbol import Sym
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.op import Traced, call
from wengert.ops.sizes import require
from wengert.types import SCALARS, dtype_of, shape_of

UNROLLED = 4
"""Loops of at most so many iterations are unrolled."""
_UNROLLED_IF_NEED_BE = 512
_PYTHON_ROUNDS = 8
"""A `while` whose test is known runs in Python for so many rounds; then staging it is tried."""
_INT = Type((), np.dtype(np.int64), True)

Thunk = Callable[[], Any]


def is_symbolic(x: Any) -> bool:
    """Whether a value is known only when the program runs."""
    return isinstance(x, Traced) and isinstance(settled(x), Traced)


def truth(x: Any) -> Any:
    """The truth value of a symbol, as a symbol."""
    x = settled(x)
    if shape_of(x):
        if any(n != 1 for n in shape_of(x)):
            raise ValueError("The truth value of an array with more than one element is ambiguous. "
                             "Use a.any() or a.all()")  # fmt: skip
        x = s.reshape(x, shape=())
    return x if dtype_of(x).kind == "b" else e.not_equal(x, 0)


def _is_number(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic, Box)) or x.__class__ in SCALARS


def _widened(a: Type, b: Type, name: str) -> Type:
    """The type that has room for values of both."""
    if a == b:
        return a
    if len(a.shape) != len(b.shape):
        raise StagingError(
            f"{name} has {len(a.shape)} axes before and {len(b.shape)} axes after an iteration, or in the other branch",
            remedy="give it one shape, for instance by making it an array of its final shape before",
        )
    lengths = []
    for m, n in zip(a.shape, b.shape, strict=True):
        bounds = [k if k.__class__ is int else k.bound for k in (m, n)]  # type: ignore[union-attr]
        lengths.append(m if m == n else Dyn(None if None in bounds else max(bounds)))  # type: ignore[type-var]
    weak = a.weak and b.weak
    samples = [_SAMPLE[t.dtype.kind] if t.weak else t.dtype for t in (a, b)]
    return Type(tuple(lengths), np.result_type(*samples), weak)


_SAMPLE = {"b": True, "i": 1, "u": 1, "f": 1.0, "c": 1j}


def _converted(x: Any, type: Type) -> Any:
    """A value in a dtype, as a number (if the type is weak) or as a scalar or array."""
    x = settled(x)
    if x is UNDEFINED and type.weak:
        return _converted(0, type)
    if x is UNDEFINED:
        return np.zeros(tuple([n if n.__class__ is int else 0 for n in type.shape]), type.dtype)
    if x.__class__ in SCALARS:
        return {"b": bool, "i": int, "f": float, "c": complex}[type.dtype.kind](x) if type.weak else type.dtype.type(x)
    if x.__class__ is Sym and x.node.type.weak != type.weak:
        op = s.astype if type.dtype.kind in "fc" else s.as_integer
        (y,) = running.state.capture.emit(op, (x,), {"dtype": type.dtype}, [Found((), type.dtype, type.weak)])
        y.tangent = x.tangent if dtype_of(x).kind in "iu" else None
        return y
    return cast(x if isinstance(x, Traced) else np.asarray(x), type.dtype) if dtype_of(x) != type.dtype else x


def _assign(root: Any, new: Any) -> None:
    """Let an array have the value that it has after a block that writes to it."""
    outer = running.state.capture
    if outer is not None:
        outer.about_to_write(root)
    new = settled(new)
    become(root, clone(new) if isinstance(new, Traced) else new)
    make_views_stale(root)


def _arguments(captures: Sequence[Capture]) -> tuple[list[Any], list[list[Var]]]:
    """What several blocks take from outside: the values, and for each block its parameters for all of them."""
    values: dict[tuple, Any] = {}
    own: list[dict[tuple, Var]] = []
    for capture in captures:
        own.append({})
        for p, x in zip(capture.params, capture.captured, strict=True):
            if x is not None:
                values.setdefault(content(x), x)
                own[-1][content(x)] = p
    return list(values.values()), [[mine.get(key) or _copy(_var(own, key)) for key in values] for mine in own]


def _copy(var: Var) -> Var:
    return Var(var.type, var.hint, var.span, var.stable)


def _var(own: Sequence[dict[tuple, Var]], key: tuple) -> Var:
    return next(mine[key] for mine in own if key in mine)


def _formals(capture: Capture) -> list[Var]:
    return [p for p, x in zip(capture.params, capture.captured, strict=True) if x is None]


# ---------------------------------------------------------------------------------------------------------- branches


class _Branch:
    """One branch of an `if` that has been run."""

    def __init__(self, function: Callable | None, state: tuple, get: Callable, set: Callable):
        self.capture = Capture()
        self.ends = True
        """Whether the branch gets to its end: it does not if it reads a variable that has no value."""
        try:
            with capturing(self.capture):
                set(tuple([copied(value, self.capture) for value in state]))
                try:
                    self.value = None if function is None else function()
                    self.state = tuple(
                        [old if unchanged(new, old) else new for new, old in zip(get(), state, strict=True)]
                    )
                except UnboundLocalError as error:
                    if not is_of_user(error):
                        raise
                    self.ends, self.value, self.state = False, UNDEFINED, state
                    self.capture.process(require, (False,), {"error": "UnboundLocalError", "message": str(error)})
                self._note_contents()
        finally:
            self.changed = self.capture.restore()
            set(state)

    def _note_contents(self) -> None:
        """Note what arrays that are written to in the branch, and views of them, hold at its end."""
        self._at_end: dict[int, tuple[Any, Any]] = {}
        for leaf in tree.leaves((self.value, self.state)):
            if not isinstance(leaf, Box):
                continue
            if id(leaf if leaf.view_of is None else leaf.view_of.root) in self.capture.written:
                now = settled(leaf)
                self._at_end[id(leaf)] = (leaf, clone(now) if isinstance(now, Traced) else now)

    def at_end(self, x: Any) -> Any:
        """What a value is at the end of the branch."""
        return self._at_end.get(id(x), (None, x))[1]

    def reopened(self, values: Sequence[Any], types: Sequence[Type]) -> list[Any]:
        """These values, in these types, as operands of the block."""
        self.capture.alive = True
        with capturing(self.capture):
            return [self.capture.operand(_converted(v, t)) for v, t in zip(values, types, strict=True)]


def branch(pred: Any, then: Callable, orelse: Callable | None, get: Callable, set: Callable, names: Sequence[str],
           temporaries: Sequence[str] = ()) -> Any:  # fmt: skip
    """Stage a branch; bind what it binds; return what it returns."""
    state = get()
    pred = truth(pred)
    branches = [_Branch(f, state, get, set) for f in (then, orelse)]
    _follow_the_other(state, *branches)
    roots: dict[int, Any] = {}
    for b in branches:
        roots.update({id(root): root for root, _ in b.changed})
    outputs: list[tuple[Any, Any, str]] = []
    merged: list[Any] = []
    for k, name in enumerate(names):
        if name in temporaries:
            merged.append(UNDEFINED)
            continue
        merged.append(_merge(branches[0].state[k], branches[1].state[k], name, outputs))
    result = _merge(branches[0].value, branches[1].value, "the value", outputs)
    outputs = [(branches[0].at_end(a), branches[1].at_end(b), name) for a, b, name in outputs]
    contents = [{id(root): new for root, new in b.changed} for b in branches]
    for key, root in roots.items():
        outputs.append((contents[0].get(key, root), contents[1].get(key, root), "an array"))
    types = []
    for a, b, name in outputs:
        known = [type_of_value(v) for v in (a, b) if v is not UNDEFINED]
        types.append(known[0] if len(known) == 1 else _widened(known[0], known[1], name))
    results = [b.reopened([o[k] for o in outputs], types) for k, b in enumerate(branches)]
    values, params = _arguments([b.capture for b in branches])
    blocks = [Block(params[k], b.capture.nodes, results[k]) for k, b in enumerate(branches)]
    found = list(call(cond, pred, *values, then=blocks[0], orelse=blocks[1]))
    new_state = [m(found) if m.__class__ is _Merged else m for m in merged]
    set(tuple([refilled(old, new) for old, new in zip(state, new_state, strict=True)]))
    for root, new in zip(roots.values(), found[len(found) - len(roots) :], strict=True):
        _assign(root, new)
    return result(found) if result.__class__ is _Merged else result


def _follow_the_other(state: tuple, first: _Branch, second: _Branch) -> None:
    """Let variables have no value after a branch that does not get to its end, if the other branch binds them."""
    if not first.ends and not second.ends:
        raise UnboundLocalError("a variable is read that has no value in either branch of an if")
    for a, b in ((first, second), (second, first)):
        if not a.ends:
            a.state = tuple([old if new is old else UNDEFINED for old, new in zip(state, b.state, strict=True)])


class _Merged:
    """A value that is put together from results of a `cond`."""

    def __init__(self, build: Callable[[list[Any]], Any]):
        self._build = build

    def __call__(self, results: list[Any]) -> Any:
        return self._build(results)


def _merge(a: Any, b: Any, name: str, outputs: list) -> Any:
    """What a variable is after a branch: what it is in both, or results of the `cond`, which are added to `outputs`."""
    if a is b:
        return a
    if not name.startswith("_wengert") and _need_not_exist(a, b):
        a, b = (x if x.__class__ is Perhaps else Perhaps(x, x is not UNDEFINED) for x in (a, b))
        if a.value is UNDEFINED or b.value is UNDEFINED:
            leaves, structure = tree.flatten(b.value if a.value is UNDEFINED else a.value)
            nothing = tree.unflatten(structure, [UNDEFINED] * len(leaves))
            a, b = (Perhaps(nothing, x.has) if x.value is UNDEFINED else x for x in (a, b))
    for x, y in ((a, b), (b, a)):
        if x is UNDEFINED and not _is_number(y):
            leaves, structure = tree.flatten(y)
            if not all(_is_number(leaf) for leaf in leaves):
                return y  # what it is in the other branch nobody may ask
            a, b = (tree.unflatten(structure, [UNDEFINED] * len(leaves)) if v is UNDEFINED else v for v in (a, b))
    a_leaves, a_structure = tree.flatten(a)
    b_leaves, b_structure = tree.flatten(b)
    if a_structure != b_structure:
        raise StagingError(
            f"{name} is {_described(a)} in one branch and {_described(b)} in the other of an if that depends on a "
            "value known only when the compiled program runs",
            remedy="let it be of one kind in both branches",
        )
    places: list[Any] = []
    for x, y in zip(a_leaves, b_leaves, strict=True):
        if x is y:
            places.append((None, x))
        elif (_is_number(x) or x is UNDEFINED) and (_is_number(y) or y is UNDEFINED):
            outputs.append((x, y, name))
            places.append((len(outputs) - 1, None))
        elif not _is_number(x) and not _is_number(y) and _equal(x, y):
            places.append((None, x))
        else:
            raise StagingError(
                f"{name} is {_described(x)} in one branch and {_described(y)} in the other of an if that depends on a "
                "value known only when the compiled program runs",
                remedy="let it be a number or an array in both branches",
            )
    if not any(k is not None for k, _ in places):
        return a
    return _Merged(lambda results: tree.unflatten(a_structure, [v if k is None else results[k] for k, v in places]))


@dataclasses.dataclass
class Perhaps:
    """The value of a variable that has one only in one branch, or only if a loop runs; `has` says whether it has."""

    value: Any
    has: Any


def _need_not_exist(a: Any, b: Any) -> bool:
    """Whether a variable has no value in one of two branches, and a number, an array or a container of them else."""
    if Perhaps in (a.__class__, b.__class__):
        return True
    if (a is UNDEFINED) == (b is UNDEFINED):
        return False
    leaves = tree.leaves(b if a is UNDEFINED else a)
    return bool(leaves) and all(_is_number(leaf) for leaf in leaves)


def defined(name: str, value: Any) -> Any:
    """The value of a variable that may have none: where only the program knows, it raises."""
    if value.__class__ is not Perhaps:
        return known_to_be_defined(name, value)
    if is_symbolic(value.has):
        text = f"cannot access local variable {name!r} where it is not associated with a value"
        call(require, value.has, error="UnboundLocalError", message=text)
    elif not value.has:
        return known_to_be_defined(name, UNDEFINED)
    return value.value


def _described(x: Any) -> str:
    return "not defined" if x is UNDEFINED else "None" if x is None else f"a {type(x).__name__}"


def _equal(x: Any, y: Any) -> bool:
    try:
        return bool(x == y)
    except Exception:
        return False


def if_(test: Any, then: Callable, orelse: Callable | None, get: Callable, set: Callable, names: tuple,
        temporaries: tuple = ()) -> None:  # fmt: skip
    """`if test: … else: …`."""
    if not is_symbolic(test):
        if settled(test):
            then()
        elif orelse is not None:
            orelse()
        return
    branch(test, then, orelse, get, set, names, temporaries)


def ifexp(test: Any, then: Thunk, orelse: Thunk) -> Any:
    """`a if test else b`."""
    if not is_symbolic(test):
        return then() if settled(test) else orelse()
    return branch(test, then, orelse, lambda: (), lambda values: None, ())


def and_(first: Thunk, *rest: Thunk) -> Any:
    """`a and b`."""
    value = first()
    if not rest:
        return value
    if not is_symbolic(value):
        return and_(*rest) if settled(value) else value
    return ifexp(value, lambda: _comparable(and_(*rest)), lambda: _comparable(value))


def or_(first: Thunk, *rest: Thunk) -> Any:
    """`a or b`."""
    value = first()
    if not rest:
        return value
    if not is_symbolic(value):
        return value if settled(value) else or_(*rest)
    return ifexp(value, lambda: _comparable(value), lambda: _comparable(or_(*rest)))


def _comparable(x: Any) -> Any:
    return truth(x) if is_symbolic(x) and not shape_of(x) and dtype_of(x).kind == "b" else x


def not_(x: Any) -> Any:
    """`not x`."""
    return e.logical_not(truth(x)) if is_symbolic(x) else not settled(x)


_COMPARE: dict[str, Callable] = {
    **{name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne", "is_", "is_not")},
    "contains": lambda a, b: a in b,
    "not_contains": lambda a, b: a not in b,
}


def chain(first: Any, ops: tuple[str, ...], *rest: Thunk) -> Any:
    """`a < b <= c`."""
    second = rest[0]()
    result = _COMPARE[ops[0]](first, second)
    if len(ops) == 1:
        return result
    return and_(lambda: result, lambda: chain(second, ops[1:], *rest[1:]))


def test(x: Any) -> Any:
    """The condition of a comprehension, which Python decides."""
    return x


def assert_(condition: Any, message: Thunk | None) -> None:
    """`assert condition, message`."""
    if is_symbolic(condition):
        text = "" if message is None else str(message())
        call(require, truth(condition), error="AssertionError", message=text)
    elif not settled(condition):
        raise AssertionError(*([] if message is None else [message()]))


def raise_(exception: Thunk, cause: Thunk | None) -> None:
    """`raise exception from cause`."""
    error = exception()
    if stages():  # it depends on the program whether this is reached
        kind = error if isinstance(error, type) else type(error)
        text = "" if isinstance(error, type) else str(error)
        if kind.__name__ not in _EXCEPTIONS:
            text = f"{kind.__name__}: {text}"
        name = kind.__name__ if kind.__name__ in _EXCEPTIONS else "RuntimeError"
        running.state.capture.process(require, (False,), {"error": name, "message": text})
        return
    if cause is None:
        raise error
    raise error from cause()


_EXCEPTIONS = frozenset(
    (
        "ValueError", "TypeError", "RuntimeError", "ArithmeticError", "ZeroDivisionError", "OverflowError",
        "FloatingPointError", "IndexError", "KeyError", "AssertionError", "NotImplementedError", "LinAlgError",
        "StopIteration", "Exception",
    )
)  # fmt: skip


def stages() -> bool:
    """Whether a suite is being staged: it may or may not run."""
    capture = running.state.capture
    return capture is not None and len([t for t in running.state.traces if t.__class__ is Capture]) > 1


# ------------------------------------------------------------------------------------------------------------- loops


class _Again(Exception):
    """A loop carries more than was known, or values of other types."""


class Carried:
    """What a loop carries from one iteration to the next: variables that are bound, and arrays that are written to."""

    def __init__(self, get: Callable, set: Callable, names: tuple, stores: tuple, temporaries: tuple):
        self.get, self.set, self.names = get, set, names
        self.may_not_run = True
        """Whether it may be that there is no iteration at all."""
        self.state = get()
        self.bound: list[int] = []
        self.roots: dict[int, Any] = {}
        self.types: dict[Any, Type] = {}
        self.structures: dict[int, Any] = {}
        self.opened: dict[tuple[int, int], tuple[Any, Var]] = {}
        self.moves: dict[tuple[int, int], tuple[int, int]] = {}
        self.local = [k for k, name in enumerate(names) if name in temporaries]
        for k, (name, value) in enumerate(zip(names, self.state, strict=True)):
            if k in self.local:
                continue
            if name in stores:
                if isinstance(value, Box) and (value.shape or value.view_of is not None):
                    self.add_root(value)
                    continue
            if value is not UNDEFINED and self._numeric(value):
                self.bound.append(k)

    def _numeric(self, value: Any) -> bool:
        leaves = tree.leaves(value)
        return bool(leaves) and any(_is_number(leaf) for leaf in leaves)

    def _perhaps(self, k: int, now: Any) -> Any:
        """The value of a variable that gets one in the loop: afterwards it has none if the loop does not run."""
        if not self.may_not_run or self.names[k].startswith("_wengert") or now.__class__ is Perhaps:
            return now
        return Perhaps(now, True)

    def add_root(self, box: Any) -> None:
        """Carry an array that is written to."""
        root = box if box.view_of is None else box.view_of.root
        if not root.is_cell or root.value.ndim:
            self.roots[id(root)] = root

    def open(self, capture: Capture) -> list[Sym]:
        """Put parameters of a block in place of what is carried."""
        values = list(self.state)
        formals: list[Sym] = []
        self.opened.clear()
        for k in self.bound:
            leaves, structure = self._leaves(k)
            new: list[Any] = []
            for j, leaf in enumerate(leaves):
                if leaf is not UNDEFINED and not _is_number(leaf):
                    new.append(leaf)
                    continue
                type = self.types.get((k, j)) or type_of_value(leaf)
                symbol = capture.formal(type, hint=self.names[k] if not self.names[k].startswith("_wengert") else None)
                formals.append(symbol)
                new.append(clone(symbol))
                if type.shape:
                    self.opened[k, j] = (new[-1], symbol.node)
            values[k] = noted(tree.unflatten(structure, new), capture)
        for k in self.local:
            values[k] = UNDEFINED
        for root in self.roots.values():
            formals.append(clone(capture.adopt(root)))
        self.set(tuple(values))
        return formals

    def _leaves(self, k: int) -> tuple[list[Any], Any]:
        if self.state[k] is UNDEFINED:
            structure = self.structures[k]
            return [UNDEFINED] * structure.num_leaves, structure
        return tree.flatten(self.state[k])

    def close(self, capture: Capture) -> list[Any]:
        """What is carried after an iteration; raise `_Again` if more has to be carried than was known."""
        after = self.get()
        again = capture.restart
        outputs: list[Any] = []
        for k, (before, now) in enumerate(zip(self.state, after, strict=True)):
            if k in self.local or k in self.bound or now is before:
                continue
            if now is UNDEFINED or (not self._numeric(now) and not self._numeric(before) and _equal(before, now)):
                continue
            if before is UNDEFINED:
                leaves, structure = tree.flatten(self._perhaps(k, now))
                if not leaves or not all(_is_number(leaf) for leaf in leaves):
                    self.local.append(k)  # cannot be used after the loop
                    continue
                self.structures[k] = structure
                self.types.update({(k, j): type_of_value(leaf) for j, leaf in enumerate(leaves)})
            elif not self._numeric(now):
                raise StagingError(f"{self.names[k]} becomes {_described(now)} in a loop",
                                   remedy="use numbers and arrays")  # fmt: skip
            self.bound.append(k)
            again = True
        for root, _ in capture.written.values():
            if id(root) not in self.roots:
                self.roots[id(root)] = root
                again = True
        if again:
            raise _Again
        for k in self.bound:
            leaves, structure = self._leaves(k)
            now = after[k]
            if now.__class__ is not Perhaps and (self.state[k].__class__ is Perhaps or self.state[k] is UNDEFINED):
                now = Perhaps(now, True) if self.state[k].__class__ is Perhaps else self._perhaps(k, now)
            new, new_structure = tree.flatten(now)
            if new_structure != structure:
                raise StagingError(
                    f"{self.names[k]} is {_described(self.state[k])} before a loop and {_described(after[k])} after an "
                    "iteration", remedy="let it be of one kind, with the same number of items",
                )  # fmt: skip
            for j, (old, value) in enumerate(zip(leaves, new, strict=True)):
                if old is not UNDEFINED and not _is_number(old):
                    if not _equal(old, value):
                        raise StagingError(f"{self.names[k]} changes in a loop, and holds {_described(old)}",
                                           remedy="use numbers and arrays")  # fmt: skip
                    continue
                known = self.types.get((k, j)) or type_of_value(old)
                wide = known if value is UNDEFINED else _widened(known, type_of_value(value), self.names[k])
                if wide != known:
                    self.types[(k, j)] = wide
                    again = True
                outputs.append((value, wide))
        if again:
            raise _Again
        self._follow_objects(after)
        for root in self.roots.values():
            outputs.append((settled(root) if not isinstance(settled(root), Traced) else clone(settled(root)), None))
        return outputs

    def _follow_objects(self, after: Sequence[Any]) -> None:
        """Find out which arrays change their names, as in `a, b = b, a`; refuse what values alone do not tell.

        Names that are bound are carried by value. That is all there is to it if no array has two names, of which one
        is written through, and if what the caller can see is not written under a name that then means another array.
        """
        self.moves.clear()
        holders: dict[int, str] = {id(root): "an array that the loop writes to" for root in self.roots.values()}
        written = {key for key, (box, var) in self.opened.items() if box.node is not var}
        objects = {id(box): key for key, (box, _) in self.opened.items()}
        for key in self.opened:
            k, j = key
            now = tree.leaves(after[k])[j]
            if not isinstance(now, Box) or not now.shape or self.names[k].startswith("_wengert"):
                continue  # (after a `return` nothing is written any more)
            if id(now) in holders and (key in written or id(now) in self.roots or objects.get(id(now)) in written):
                raise StagingError(f"in a loop {self.names[k]} becomes another name of {holders[id(now)]}, and one of "
                                   "them is written to", remedy="make a copy: .copy()")  # fmt: skip
            holders[id(now)] = self.names[k]
            if id(now) in objects:
                self.moves[key] = objects[id(now)]
        for key in written:
            start = self._leaves(key[0])[0][key[1]]
            if self.moves.get(key) != key and key not in self._rotating() and is_seen_outside(start):
                raise StagingError(f"a loop writes to {self.names[key[0]]}, which the caller sees, and lets the name "
                                   "stand for another array", remedy="make a copy before the loop")  # fmt: skip

    def _rotating(self) -> set[tuple[int, int]]:
        """The names whose arrays only change places among them."""
        keys = set(self.moves)
        while {self.moves[key] for key in keys} != keys:
            keys = {key for key in keys if self.moves[key] in keys} & {self.moves[key] for key in keys}
        return keys

    def _rotate(self, values: dict[tuple[int, int], Any], count: Any) -> dict[tuple[int, int], Any]:
        """Give arrays that have changed places what the names hold that stand for them after so many iterations.

        Returns the arrays for names of which it is known now which they mean.
        """
        keys = self._rotating()
        moved = {key for key in keys if self.moves[key] != key}
        found: dict[tuple[int, int], Any] = {}
        means = {key: key for key in keys}  # which array each name means after some iterations
        rounds = []
        while not rounds or any(means[key] != key for key in keys):
            rounds.append({array: key for key, array in means.items()})
            means = {key: means[self.moves[key]] for key in keys}
        for key in moved:
            start = self._leaves(key[0])[0][key[1]]
            if not isinstance(start, Box) or start.view_of is not None:
                continue
            if not isinstance(count, Traced):
                name = rounds[count % len(rounds)][key]
                _assign(start, values[name])
                found[name] = start
            elif is_seen_outside(start):
                names = [chosen[key] for chosen in rounds]
                content = values[names[-1]]
                for r in range(len(names) - 2, -1, -1):
                    content = e.where(e.equal(e.remainder(count, len(rounds)), r), values[names[r]], content)
                _assign(start, content)
        return found

    def starts(self) -> list[Any]:
        """What is carried before the first iteration."""
        values: list[Any] = []
        for k in self.bound:
            for j, leaf in enumerate(self._leaves(k)[0]):
                if leaf is UNDEFINED or _is_number(leaf):
                    values.append(_converted(leaf, self.types.get((k, j)) or type_of_value(leaf)))
        return values + [settled(root) for root in self.roots.values()]

    def finish(self, results: Sequence[Any], count: Any) -> None:
        """Bind what is carried after the last iteration, the `count`-th."""
        remaining = iter(results)
        values = list(self.state)
        found: dict[tuple[int, int], Any] = {}
        for k in self.bound:
            for j, leaf in enumerate(self._leaves(k)[0]):
                found[k, j] = next(remaining) if leaf is UNDEFINED or _is_number(leaf) else leaf
        for k in self.local:
            values[k] = UNDEFINED
        for root in self.roots.values():
            _assign(root, next(remaining))
        if any(key != place for key, place in self.moves.items()):
            found.update(self._rotate(found, count))
        for k in self.bound:
            leaves, structure = self._leaves(k)
            new = tree.unflatten(structure, [found[k, j] for j in range(len(leaves))])
            values[k] = refilled(self.state[k], new)
        self.set(tuple(values))

    def run(self, function: Callable[[Capture], Any]) -> tuple[Capture, list[Any], Any]:
        """Capture a suite, as often as needed: the block, what is carried after it, and what the function returns."""
        for _ in range(12):
            capture = Capture(varying=True)
            try:
                with capturing(capture):
                    result = function(capture)
                    try:
                        outputs = self.close(capture)
                        converted = [v if t is None else _converted(v, t) for v, t in outputs]
                        return capture, [capture.operand(v) for v in converted], result
                    except _Again:
                        continue
            finally:
                capture.restore()
                self.set(self.state)
        raise StagingError("what a loop carries changes its shape from iteration to iteration",
                           remedy="make arrays of their final shape before the loop")  # fmt: skip


def is_seen_outside(x: Any) -> bool:
    """Whether an array is an argument, or was found outside of the function."""
    if not isinstance(x, Box):
        return False
    session = current.session
    return session is not None and session.is_from_outside(x if x.view_of is None else x.view_of.root)


def _staged_for(items: Items, body: Callable, carried: Carried) -> None:
    count = items.count
    high = None if isinstance(count, Traced) else count - 1
    if isinstance(count, Sym) and count.tangent and count.tangent[1] is not None:
        high = count.tangent[1] - 1

    def iteration(capture: Capture) -> None:
        k = capture.formal(_INT, (), (0, high))
        carried.open(capture)
        body(items.item(k))

    capture, outputs, _ = carried.run(iteration)
    formals = _formals(capture)
    values, [params] = _arguments([capture])
    block = Block([*formals, *params], capture.nodes, outputs)
    n = len(formals) - 1
    carried.finish(call(loop, count, *carried.starts(), *values, body=block, carried=n), count)


def _staged_while(go_on: Thunk, body: Callable[[Any], Any], carried: Carried, count: Any = None) -> None:
    """A `while`; with `count`, a `for` that may end early: `body(k)` is then given the number of the iteration."""
    counts = count is not None

    def iteration(capture: Capture) -> None:
        k = capture.formal(_INT, (), (0, None)) if counts else None
        carried.open(capture)
        body(k)

    capture, outputs, _ = carried.run(iteration)
    if counts:
        capture.alive = True
        with capturing(capture):
            number = Sym(capture, _formals(capture)[0], (), (0, None))
            outputs = [capture.operand(number + 1), *outputs]
    tested = Capture(varying=True)
    try:
        with capturing(tested):
            k: Any = tested.formal(_INT, (), (0, None)) if counts else None
            carried.open(tested)
            answer: Any = go_on()
            if counts:
                answer = and_(lambda: k < count, lambda: answer)
            decision = tested.operand(truth(answer) if is_symbolic(answer) else bool(settled(answer)))
    finally:
        tested.restore()
        carried.set(carried.state)
    values, params = _arguments([capture, tested])
    body_block = Block([*_formals(capture), *params[0]], capture.nodes, outputs)
    test_block = Block([*_formals(tested), *params[1]], tested.nodes, [decision])
    starts = [*([0] if counts else []), *carried.starts()]
    results = call(while_, *starts, *values, test=test_block, body=body_block, carried=len(starts))
    carried.finish(results[1 if counts else 0 : len(starts)], results[len(starts)])


_CANNOT_BE_STAGED = (StagingError, ConcretizationError, EscapedValueError, UnsupportedFunctionError)


def for_(iterable: Any, body: Callable, go_on: Thunk | None, get: Callable, set: Callable, names: tuple,
         stores: tuple = (), temporaries: tuple = ()) -> None:  # fmt: skip
    """`for item in iterable: …`; `go_on()` says whether a `break` or `return` has not come up."""
    items = items_of(iterable)
    if items is None:
        _python_for(iter(_from_outside(iterable)), body, go_on, get, set, names, temporaries)
        return
    known = not isinstance(items.count, Traced)
    if known and items.count <= UNROLLED:
        _python_for(iter(items), body, go_on, get, set, names, temporaries)
        return
    state = get()
    try:
        carried = Carried(get, set, names, stores, temporaries)
        carried.may_not_run = not known
        if go_on is None:
            _staged_for(items, body, carried)
        else:
            _staged_while(go_on, lambda k: body(items.item(k)), carried, items.count)
    except _CANNOT_BE_STAGED:
        if not known or items.count > _UNROLLED_IF_NEED_BE:
            raise
        set(state)
        _python_for(iter(items), body, go_on, get, set, names, temporaries)


def _python_for(iterator: Any, body: Callable, go_on: Thunk | None, get: Callable, set: Callable, names: tuple,
                temporaries: tuple) -> None:  # fmt: skip
    """Iterations one by one; once it depends on a symbol whether to go on, each is a branch."""
    for item in iterator:
        body(item)
        if go_on is None:
            continue
        answer = go_on()
        if is_symbolic(answer):
            rest = list(iterator)
            if rest:
                go = functools.partial(_the_rest, rest, body, go_on, get, set, names, temporaries)
                if_(answer, go, None, get, set, names)
            return
        if not settled(answer):
            return


def _the_rest(items: list, *others: Any) -> None:
    _python_for(iter(items), *others)


def while_statement(test: Thunk, body: Thunk, get: Callable, set: Callable, names: tuple, stores: tuple = (),
                    temporaries: tuple = ()) -> None:  # fmt: skip
    """`while test(): …`."""
    rounds = 0
    limit = _PYTHON_ROUNDS
    while True:
        answer = test()
        if is_symbolic(answer):
            _staged_while(test, lambda k: body(), Carried(get, set, names, stores, temporaries))
            return
        if not settled(answer):
            return
        if rounds == limit:
            state = get()
            try:
                _staged_while(test, lambda k: body(), Carried(get, set, names, stores, temporaries))
                return
            except _CANNOT_BE_STAGED:
                if rounds > _UNROLLED_IF_NEED_BE:
                    raise
                set(state)
                limit = 4 * limit
        body()
        rounds += 1


def iterate(iterable: Any) -> Any:
    """What a comprehension iterates over, which Python does."""
    items = items_of(iterable)
    if isinstance(items, Items) and isinstance(items.count, Traced):
        raise StagingError("a comprehension over a number of items that is known only when the compiled program runs",
                           remedy="fill an array in a for loop instead")  # fmt: skip
    return _from_outside(iterable)


def _from_outside(iterable: Any) -> Any:
    """A list or tuple from outside with what stands for its items."""
    return iterable if current.session is None else current.session.items(iterable)
