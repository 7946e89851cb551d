"""What functions given to a solver or an integrator leave outside: counts, tables that are made once, a history.

A solver runs a function on plain numbers, and its derivative needs the function again, on traced ones. Outside there
must be what the solver's own run has left, as in plain Python; but a number among it may depend on what is
differentiated, through the steps that were taken. So the function is tried once more, as it was called first:

    def rhs(t, y):
        calls.append(t)                 # what changes with the arguments is withheld (`withheld.py`)
        if model.matrix is None:
            model.matrix = table(p)     # what does not is what the trial has left: a constant, or traced as p is
        return model.matrix @ y

The trial is made with the arguments of the first call, and with others close by. Where nothing is differentiated any
more, there are plain numbers in all places.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.contents import Content
from wengert.box.functions.lifted import HolderKind, Lifted, described, kind_of
from wengert.box.withheld import Withheld, holds_inexact
from wengert.box.writing import plain
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.packages import is_followed
from wengert.running import running

_CLOSE = 2.0**-20
"""So far away, relatively, are the arguments of the second trial."""
_DEEP = 20
"""Things are compared that hold each other so deep."""


class LeftBehind:
    """What is outside of functions before and after a solver has run them; `with` it, derivatives may be computed."""

    def __init__(self, lifted: Lifted, name: str = ""):
        self.name = name
        self._lifted = lifted
        self._holders: list[tuple[Any, Any]] = []
        self._before: dict[int, Content] = {}
        self._after: dict[int, Content] | None = None
        self._changing: set[int] = set()
        self._is_open = self._is_running = self._has_begun = False
        self._calls: dict[Any, Callable[[bool], Any]] = {}

    def __enter__(self) -> LeftBehind:
        if not self._lifted.in_program:
            self._is_open = True
            self._holders, self._before = list(self._lifted.holders()), self._lifted.contents_before()
            _look_at_globals(self._holders, self._before)
        return self

    def run(self, solve: Callable[[], Any]) -> Any:
        """What a solver finds that runs copies of the functions on plain numbers."""
        if self._lifted.in_program:
            found = solve()
            self._lifted.refuse_changes(self.name)
            return found
        if self._has_begun:
            self._put(self._before, self._suspects())
        self._is_running = True
        try:
            found = solve()
        finally:
            self._is_running = False
        changed = {id(x) for x, kind in self._holders if _differ(kind.parts(x), self._before[id(x)])}
        self._changing |= changed
        self._after = {**self._now(changed), **self._lifted.contents_after()}
        self._put(self._before, self._changing)
        return found

    def begin(self, copies: Iterable[tuple] | None = None) -> None:
        """A function is about to be called for a derivative, one of the last `copies` if nothing else is said: outside
        is what was there when the solver was called. There are many such calls, in differentiations of their own."""
        if not self._is_open or self._is_running:
            return
        self._has_begun = True
        self._put(self._before, self._suspects())
        for x, kind, copy, given in self._lifted.copies() if copies is None else copies:
            if _differ(kind.parts(copy), given):
                kind.made(copy, x, given)

    def _suspects(self) -> set[int] | None:
        """What functions have changed when a solver ran them; `None`, which stands for anything, before it did."""
        return None if self._after is None else self._changing

    def anew(self, arguments: Any, copies: Iterable[tuple] = ()) -> Any:
        """Arguments with functions that begin so at each call."""
        if not self._is_open:
            return arguments

        def beginning(f: Callable, path: tuple) -> Callable:
            @functools.wraps(f)
            def called(*args: Any, **kwargs: Any) -> Any:
                self.begin(copies)
                return f(*args, **kwargs)

            return called

        return with_functions(arguments, beginning)

    def put(self, values: Sequence[Any]) -> Any:
        """The arguments with these values in place of the traced ones, for a derivative."""
        found = self._lifted.with_real_numbers(values)
        return self.anew(found, list(self._lifted.copies())) if self._is_open else found

    def watched(self, arguments: Any) -> Any:
        """Functions in arguments, made to remember with what they were called first."""
        originals = self._lifted.thing
        rest = originals.get("args", ()) if originals.__class__ is dict else ()

        def watching(f: Callable, path: tuple) -> Callable:
            original = functools.reduce(operator.getitem, path, originals)

            @functools.wraps(f)
            def called(*args: Any, **kwargs: Any) -> Any:
                own = len(args) - len(rest)
                if own >= 0 and not kwargs:
                    self.note_call(original, args[:own], rest, path)
                return f(*args, **kwargs)

            return called

        return with_functions(arguments, watching)

    def note_call(self, original: Callable, args: tuple, rest: tuple, key: Any = None) -> None:
        """A function is called with plain numbers and the `rest` of its arguments. Only the first call counts."""
        if key not in self._calls:
            args = tree.map(lambda x: _own(plain(x)), args)
            self._calls[key] = lambda apart: original(*(tree.map(_near, args) if apart else args), *rest)

    def __exit__(self, *_: Any) -> None:
        """Leave outside what plain Python would."""
        self._is_open = False
        if self._after is None:
            return
        before, after = self._before, self._after
        changed = [key for key, now in after.items() if _differ(now, before[key])]
        inexact = any(
            holds_inexact(part)
            for key in changed
            for place, part in after[key].items()
            if part is not before[key].get(place)
        )
        tried = self._tried(set(changed)) if inexact else None
        self._put(before)
        for x, kind in self._holders:
            if id(x) in changed:
                self._leave(x, kind, before[id(x)], after[id(x)], tried)

    def _leave(self, x: Any, kind: Any, before: Content, after: Content, tried: Any) -> None:
        new, withheld = dict(after), []
        for place, part in after.items():
            if part is before.get(place) or not holds_inexact(part):
                continue
            if isinstance(part, Traced) and not part._is_cell:  # type: ignore[attr-defined]
                new[place] = part = plain(part)
            found = [trial[id(x)].get(place) for trial in tried or ()]
            if found and all(_is_same(part, one) for one in found):
                new[place] = found[0] if any(isinstance(v, Traced) for v in Lifted(found[0]).values) else part
            else:
                new[place] = _withheld(self.name, x, part)
                withheld.append(place)
        kind.made(x, x, new)
        if withheld:
            running.state.afterwards.append(lambda: _put_numbers(x, kind, withheld))

    def _tried(self, changed: set[int]) -> list[dict[int, Content]] | None:
        """What functions leave where they are called as they were first, and with arguments close by."""
        found = []
        for apart in (False, True):
            self._put(self._before, self._changing)
            try:
                with np.errstate(all="ignore"):
                    for called in self._calls.values():
                        called(apart)
            except Exception:  # whatever it is, nothing is known
                return None
            found.append(self._now(changed))
        return found

    def _now(self, only: set[int]) -> dict[int, Content]:
        return {id(x): kind.parts(x) for x, kind in self._holders if id(x) in only}

    def _put(self, contents: dict[int, Content], only: set[int] | None = None) -> None:
        for x, kind in self._holders if only is None else [h for h in self._holders if id(h[0]) in only]:
            if _differ(kind.parts(x), contents[id(x)]):
                kind.made(x, x, contents[id(x)])


def with_functions(x: Any, wrap: Callable[[Callable, tuple], Any], path: tuple = ()) -> Any:
    """Arguments of a solver with functions in place of those that it calls; containers without such stay the same."""
    kind = x.__class__
    if kind is FunctionType or kind is MethodType:
        return wrap(x, path)
    if kind is dict:
        new: Any = {k: v if k in _PASSED_ON else with_functions(v, wrap, (*path, k)) for k, v in x.items()}
        return x if all(new[k] is v for k, v in x.items()) else new
    if kind is list or kind is tuple:
        new = kind([with_functions(v, wrap, (*path, k)) for k, v in enumerate(x)])
        return x if all(map(operator.is_, new, x)) else new
    return x


_PASSED_ON = ("args", "kwargs")
"""Arguments that a solver gives to its functions."""


class _Globals:
    """The global variables that functions of a module name."""

    def __init__(self, namespace: dict):
        self.namespace = namespace
        self.names: set[str] = set()

    def parts(self) -> Content:
        return {("global", name): self.namespace[name] for name in self.names if name in self.namespace}

    def put(self, contents: Content) -> None:
        for name in self.names:
            if ("global", name) in contents:
                self.namespace[name] = contents["global", name]
            else:
                self.namespace.pop(name, None)


_GLOBALS = HolderKind(_Globals.parts, lambda _, x, contents: x.put(contents), lambda x: x)
_MOST = 10_000
"""So many things are looked at."""


def _look_at_globals(holders: list[tuple[Any, Any]], before: dict[int, Content]) -> None:
    """Add what functions among some things might change in their modules, and what is reached from there."""
    spaces: dict[int, _Globals] = {}
    k = 0
    while k < len(holders) < _MOST:
        f, k = holders[k][0], k + 1
        if f.__class__ is not FunctionType or not is_followed(f.__code__.co_filename):
            continue
        space = spaces.setdefault(id(f.__globals__), _Globals(f.__globals__))
        new = _names_in(f.__code__) - space.names
        space.names |= new
        lifted = Lifted([f.__globals__[name] for name in new if name in f.__globals__])
        more = lifted.contents_before()
        holders += [(x, kind) for x, kind in lifted.holders() if id(x) not in before and x is not lifted.thing]
        before.update({key: held for key, held in more.items() if key not in before and key != id(lifted.thing)})
    for space in spaces.values():
        holders.append((space, _GLOBALS))
        before[id(space)] = space.parts()


def _names_in(code: CodeType) -> set[str]:
    return set(code.co_names).union(*[_names_in(c) for c in code.co_consts if c.__class__ is CodeType])


def _own(x: Any) -> Any:
    """An argument that whoever calls may change later."""
    return x.copy() if x.__class__ is np.ndarray else x


def _near(x: Any) -> Any:
    """A number or array close by, of those that are not whole."""
    if isinstance(x, (float, complex, np.inexact)) or (x.__class__ is np.ndarray and x.dtype.kind in "fc"):
        return x + _CLOSE * (1 + np.abs(x))
    return x


def _differ(now: Content, before: Content) -> bool:
    return len(now) != len(before) or any(part is not before.get(place, now) for place, part in now.items())


def _is_same(a: Any, b: Any, depth: int = 0) -> bool:
    """Whether two things of which the second may be traced are alike to the last bit."""
    if a is b:
        return True
    a, b = plain(a), plain(b)
    if isinstance(b, (Traced, Withheld)) or depth > _DEEP:
        return False
    if isinstance(a, (float, complex, np.ndarray, np.generic)):
        a, b = np.asarray(a), np.asarray(b)
        return bool(a.dtype == b.dtype != object and a.shape == b.shape and a.tobytes() == b.tobytes())
    if a.__class__ is not b.__class__:
        return False
    kind = kind_of(a)
    if kind is None or a.__class__ in (FunctionType, MethodType):
        return isinstance(a, (bool, int, str, bytes)) and bool(a == b)
    mine, other = kind.parts(a), kind.parts(b)
    return mine.keys() == other.keys() and all(_is_same(mine[place], other[place], depth + 1) for place in mine)


def _put_numbers(x: Any, kind: Any, places: list) -> None:
    """Where nothing is differentiated any more, numbers take the places of what stands for them."""
    now = kind.parts(x)
    new = {**now, **{place: _numbers(now[place]) for place in places if place in now}}
    if _differ(new, now):
        kind.made(x, x, new)


def _numbers(x: Any) -> Any:
    if x.__class__ is Withheld:
        return x.instead
    if x.__class__ is list:
        x[:] = [_numbers(item) for item in x]
    elif x.__class__ is dict:
        x.update({key: _numbers(item) for key, item in x.items()})
    return tuple([_numbers(item) for item in x]) if x.__class__ is tuple else x


def _withheld(name: str, holder: Any, part: Any) -> Any:
    """What stands for numbers that are left in something: of lists, tuples and dicts, for each by itself."""
    if not holds_inexact(part):
        return part
    if part.__class__ is list or part.__class__ is tuple:
        return part.__class__([_withheld(name, holder, item) for item in part])
    if part.__class__ is dict:
        return {key: _withheld(name, holder, item) for key, item in part.items()}
    where = "a global variable" if holder.__class__ is _Globals else described(holder)
    return Withheld(
        lambda: UnsupportedFunctionError(
            f"a number that a function given to {name} has left in {where} has no derivative rule: it depends on the "
            "way to the answer",
            remedy="compute it from the answer, after the call",
        ),
        plain(part),
    )
