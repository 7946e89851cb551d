"""What a variable is after a branch: what it is in both, or put together from results of a `cond`.

Two containers of one structure, or two instances of one class, are merged part by part, into a new one. Which of the
two it is nobody knows, so it must not be changed if one of them was there before and may be seen elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.box.box import Box
from wengert.capture.assuming import TELLS_THINGS_APART, tells_apart
from wengert.capture.containers import (
    Contents,
    codes_beside,
    codes_of,
    flatten,
    freeze,
    is_reference,
    kind_of,
    note_created,
    parts_of,
    rebuilt,
    referred,
    stand_in,
)
from wengert.capture.objects import MUTABLE
from wengert.capture.one_of import OneOf, one_of, renew, united
from wengert.capture.session import current
from wengert.capture.texts import Piece, TracedText, pieces_of
from wengert.capture.undefined import UNDEFINED, Perhaps
from wengert.capture.values import BranchesDiffer, described, equal, is_number
from wengert.ir.build import Capture

_MERGED = "it stands for one of two objects, and which one is known only when the compiled program runs"


class Merged:
    """A value that is put together from results of a `cond`."""

    def __init__(self, build: Callable[[list[Any]], Any]):
        self._build = build
        self._built: tuple[list[Any], Any] | None = None

    def __call__(self, results: list[Any]) -> Any:
        if self._built is None or self._built[0] is not results:
            self._built = (results, self._build(results))
        return self._built[1]


def finished(value: Any, results: list[Any]) -> Any:
    """A value that may have to be put together."""
    return value(results) if value.__class__ is Merged else value


class Merger:
    """Merges values of two branches. `outputs` are the results of the `cond`: the two values of each, and a name."""

    def __init__(self, captures: Sequence[Capture], ends: Sequence[Contents], one_raises: bool):
        self._captures = captures
        self._ends = ends
        """What objects that a branch has changed hold at its end: they themselves are as they were before."""
        self._one_raises = one_raises
        """Whether one of the branches does not get to its end: what the other binds has a value afterwards."""
        self._containers: dict[tuple[int, int], Merged] = {}
        self.outputs: list[tuple[Any, Any, str]] = []
        self.chosen: list[tuple[Any, Any, Any]] = []
        """Objects that stand for one of two others, with these."""
        self.originals: list[tuple[Any, str]] = []
        """Objects of which a merged one may be either, and why they can be changed no longer."""

    def merge(self, a: Any, b: Any, name: str) -> Any:
        """What a variable is after the branch; a `Merged` if it depends on the results."""
        if a is b:
            return a
        if not self._one_raises and not name.startswith("_wengert") and _need_not_exist(a, b):
            a, b = (x if x.__class__ is Perhaps else Perhaps(x, x is not UNDEFINED) for x in (a, b))
            value, has = self._part(a.value, b.value, name), self._part(a.has, b.has, name)
            return Merged(lambda results: Perhaps(finished(value, results), finished(has, results)))
        return self._part(a, b, name)

    def forget(self) -> None:
        """Hold nothing any more: who holds an object is asked by counting (`outlived.py`)."""
        self._containers.clear()
        self.chosen.clear()

    def _part(self, a: Any, b: Any, name: str) -> Any:
        if a is b:
            return a
        if (is_number(a) or a is UNDEFINED) and (is_number(b) or b is UNDEFINED):
            k = self._output(a, b, name)
            return Merged(lambda results: results[k])
        if a is UNDEFINED or b is UNDEFINED:
            return self._of_one(b if a is UNDEFINED else a, b is UNDEFINED, name)
        if TracedText in (a.__class__, b.__class__) and isinstance(a, str) and isinstance(b, str):
            return self._text(a, b, name)
        if OneOf in (a.__class__, b.__class__):
            return self._one_of(a, b, name)
        if isinstance(a, BaseException) and _can_say_either(a, b):
            said = [self._part(x, y, name) for x, y in zip(a.args, b.args, strict=True)]
            return Merged(lambda results: _saying(a, [finished(part, results) for part in said]))
        a_parts, b_parts = self._parts_of(a, 0), self._parts_of(b, 1)
        if a_parts is None and b_parts is None and not is_number(a) and not is_number(b):
            if equal(a, b):
                return a
        elif a_parts is not None and b_parts is not None and a.__class__ is b.__class__:
            if list(a_parts) == list(b_parts) and not self._are_references(a, b):
                return self._container(a, b, a_parts, b_parts, name)
        return self._one_of(a, b, name)

    def _are_references(self, a: Any, b: Any) -> bool:
        """Whether it matters which of two objects it is: one of them was there before the branch."""
        pairs = zip((a, b), self._captures, strict=True)
        return is_reference(a) and any(id(x) not in capture.created for x, capture in pairs)

    def _one_of(self, a: Any, b: Any, name: str) -> Any:
        """The merge of two constants, or of values of different kinds."""
        pairs = zip((a, b), (b, a), self._captures, strict=True)
        first, second = [
            referred(x) if is_reference(x) else codes_of(x, c, codes_beside(other)) for x, other, c in pairs
        ]
        if first is None or second is None or (codes := united(first, second)) is None:
            raise _differ(a, b, name)
        if tells_apart(TELLS_THINGS_APART):
            raise _differ(a, b, name)
        which = self._part(first.which, second.which, name)
        kinds = [code for code in codes if code in first.values or code in second.values]
        values = {c: self._part(first.values.get(c, UNDEFINED), second.values.get(c, UNDEFINED), name) for c in kinds}
        return self._of_codes(codes, which, values, {**self._made_here(first, 0), **self._made_here(second, 1)})

    def _of_codes(self, codes: tuple[int, ...], which: Any, values: dict[int, Any], made: dict[int, Any]) -> Merged:
        """One of several things; the numbers of those that a branch has `made` stand for what they become."""

        def build(results: list[Any]) -> Any:
            for code, thing in made.items():
                renew(code, finished(thing, results))
            return one_of(finished(which, results), codes, {k: finished(v, results) for k, v in values.items()})

        return Merged(build)

    def _made_here(self, x: OneOf, branch: int) -> dict[int, Any]:
        """What becomes of the objects that a name may stand for, and that one of the branches has made."""
        created = self._captures[branch].created
        things = {code: x.alternative(code) for code in x.codes if code not in x.values}
        return {
            code: self._of_one(thing, branch == 0, "an object")
            for code, thing in things.items()
            if is_reference(thing) and id(thing) in created
        }

    def _text(self, a: str, b: str, name: str) -> Any:
        """The merge of texts with values that are known later: which of them it is, and the values of both."""
        texts = [TracedText(pieces_of(x)) for x in (a, b)]
        first, second = [text.symbols for text in texts]
        parts = [self._output(0, 1, name)]
        parts += [self._output(x, UNDEFINED, name) for x in first] + [self._output(UNDEFINED, x, name) for x in second]

        def write(which: Any, *values: Any) -> str:
            return texts[1].filled(values[len(first) :]) if which else texts[0].filled(values[: len(first)])

        return Merged(lambda results: TracedText([Piece(write, tuple([results[k] for k in parts]))]))

    def _parts_of(self, x: Any, which: int) -> dict[Any, Any] | None:
        """The parts of a container or instance at the end of a branch."""
        thing, slots = self._ends[which].get(id(x), (None, {}))
        if thing is not x or thing is None:
            return parts_of(x)
        session = current.session
        if session is None or isinstance(x, MUTABLE):
            return {key: value for (_, key), value in slots.items()}
        return {name: session.attribute(x, name, value) for (_, name), value in slots.items()}

    def _container(self, a: Any, b: Any, a_parts: dict, b_parts: dict, name: str) -> Any:
        found = self._containers.get((id(a), id(b)))
        if found is not None:
            return found
        keys = tuple(a_parts)
        parts = [self._part(a_parts[key], b_parts[key], _part_name(name, a, key)) for key in keys]
        new = all(id(x) in capture.created for x, capture in zip((a, b), self._captures, strict=True))
        for x, capture in zip((a, b), self._captures, strict=True):
            if id(x) not in capture.created and not name.startswith("_wengert"):
                what = "the value of an expression" if name == "the value" else name
                why = f"an object is changed that {what} may stand for, and whether it does is known only when the "
                self.originals.append((x, why + "compiled program runs"))
        key = (id(a), id(b))
        is_new = lambda: new and not self._is_shared(key)
        merged = self._containers[key] = self._merged(a, keys, parts, name, is_new, b)
        return merged

    def _is_shared(self, key: tuple[int, int]) -> bool:
        """Whether one object of a pair is one of another pair: what is made of them is the same object, or is not."""
        return any((key[0] == a != 0) != (key[1] == b != 0) for a, b in self._containers if (a, b) != key)

    def _merged(
        self, like: Any, keys: tuple, parts: list[Any], name: str, is_new: Callable[[], bool], other: Any = None
    ) -> Merged:
        kind = kind_of(like)

        def build(results: list[Any]) -> Any:
            made = note_created(rebuilt(kind, keys, [finished(part, results) for part in parts]))
            if is_new():  # nobody has another name for it
                return made
            if other is None:
                return stand_in(made, f"{name} is changed, but {_MERGED}")
            self.chosen.append((made, like, other))
            return freeze(made, f"{name} is changed, but {_MERGED}")

        return Merged(build)

    def _of_one(self, x: Any, first: bool, name: str) -> Any:
        """The merge of a container with a variable that has no value: nobody may ask what it is there."""
        if x.__class__ is OneOf and (made := self._made_here(x, 0 if first else 1)):
            pairs = [(p, UNDEFINED) if first else (UNDEFINED, p) for p in (x.which, *x.values.values())]
            which, *values = [self._part(a, b, name) for a, b in pairs]
            return self._of_codes(x.codes, which, dict(zip(x.values, values, strict=True)), made)
        parts = self._parts_of(x, 0 if first else 1)
        if is_reference(x) and id(x) not in self._captures[0 if first else 1].created:
            return x
        if parts is None or not any(is_number(leaf) for leaf in flatten(x)[0]):
            return x
        key = (id(x), 0) if first else (0, id(x))
        if key not in self._containers:
            pairs = [(p, UNDEFINED) if first else (UNDEFINED, p) for p in parts.values()]
            found = [self._part(a, b, name) for a, b in pairs]
            new = id(x) in self._captures[0 if first else 1].created
            self._containers[key] = self._merged(x, tuple(parts), found, name, lambda: new and not self._is_shared(key))
        return self._containers[key]

    def _output(self, x: Any, y: Any, name: str) -> int:
        """The number of a result. Two names for the same array in both branches stay two names for one array."""
        if isinstance(x, Box) and isinstance(y, Box):
            for k, (a, b, _) in enumerate(self.outputs):
                if a is x and b is y:
                    return k
        self.outputs.append((x, y, name))
        return len(self.outputs) - 1


def _need_not_exist(a: Any, b: Any) -> bool:
    """Whether a variable has no value in one of two branches."""
    return Perhaps in (a.__class__, b.__class__) or (a is UNDEFINED) != (b is UNDEFINED)


def _can_say_either(a: BaseException, b: BaseException) -> bool:
    """Whether two exceptions are alike but for what they say."""
    return a.__class__ is b.__class__ and len(a.args) == len(b.args) and not vars(a) and not vars(b)


def _saying(error: BaseException, what: list[Any]) -> BaseException:
    made = error.__class__.__new__(error.__class__)
    made.args = tuple(what)
    return made


def _part_name(name: str, owner: Any, key: Any) -> str:
    if name.startswith("_wengert"):
        return name
    return f"{name}.{key}" if not isinstance(owner, (list, tuple, dict)) else f"{name}[{key!r}]"


def _differ(a: Any, b: Any, name: str) -> BranchesDiffer:
    what = "what the function returns" if name.startswith("_wengert") else name
    if a is None or b is None:
        remedy = (
            "let it be a number, an array or a tuple of them where it is not None, or use a flag that says which it is"
        )
    elif is_number(a) or is_number(b):
        remedy = "let it be a number or an array in both branches"
    else:
        remedy = "let it be of one kind in both branches, with the same parts"
    return BranchesDiffer(
        f"{what} is {described(a)} in one branch and {described(b)} in the other of an if that depends on a value "
        "known only when the compiled program runs",
        remedy=remedy,
    )
