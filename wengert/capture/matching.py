"""`match` as `if` and `else`, so that what holds for these holds for it: cases that data decide are branches.

    match s:                         t = s
        case (0, w) if w > 1:        found = False
            …                        parts = matched("sequence", t, 2, None)
        case Point(x=y):             if parts is not None:
            …                            if parts[0] == 0:
                                             w = parts[1]
                                             if w > 1: found = True
                                     if found: …
                                     else: …

`matched` gives the parts of a sequence, a mapping or an object, or None if it is none such (PEP 634). It is told how to
ask for classes and attributes, since a traced number is one of the class that it stands for.
"""

from __future__ import annotations

import ast
import collections.abc
import itertools
from collections.abc import Callable
from typing import Any

from wengert.capture.syntax import OURS, assign, at, hook, load, strings

MATCHED = "_wengert_matched"


def without_match(function: Any) -> Any:
    """A function in which each `match` is written as `if` (in place)."""
    return ast.fix_missing_locations(_Matches().visit(function))


class _Matches(ast.NodeTransformer):
    def __init__(self) -> None:
        self.numbers = itertools.count(1)

    def _name(self, role: str) -> str:
        return f"{OURS}{role}_{next(self.numbers)}"

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        self.generic_visit(node)
        subject = self._name("subject")
        return [at(assign(subject, node.subject), node), *self._cases(node.cases, subject)]

    def _cases(self, cases: list[ast.match_case], subject: str) -> list[ast.stmt]:
        if not cases:
            return []
        case, where = cases[0], cases[0].pattern
        names: dict[str, str] = {}
        found = self._name("found")
        yes: list[ast.stmt] = [at(assign(found, ast.Constant(True)), where)]
        if case.guard is not None:
            yes = [at(ast.If(case.guard, yes, []), case.guard)]
        tests = self._tests(case.pattern, subject, [_Bindings(), *yes], names)
        bound: list[ast.stmt] = [at(assign(name, load(value)), where) for name, value in names.items()]
        tests = _with_bindings(tests, bound)
        rest = self._cases(cases[1:], subject)
        return [
            at(assign(found, ast.Constant(False)), where),
            *tests,
            at(ast.If(at(load(found), where), case.body, rest), where),
        ]

    def _tests(self, pattern: Any, subject: str, then: list[ast.stmt], names: dict[str, str]) -> list[ast.stmt]:
        """Statements that do something if a pattern matches, and note under which names its parts are bound."""
        if isinstance(pattern, ast.MatchAs):
            if pattern.name is not None:
                value = names.setdefault(pattern.name, self._name("bound"))
                then = [at(assign(value, load(subject)), pattern), *then]
            return then if pattern.pattern is None else self._tests(pattern.pattern, subject, then, names)
        if isinstance(pattern, ast.MatchValue):
            return [_if(ast.Compare(load(subject), [ast.Eq()], [pattern.value]), then, pattern)]
        if isinstance(pattern, ast.MatchSingleton):
            return [_if(ast.Compare(load(subject), [ast.Is()], [ast.Constant(pattern.value)]), then, pattern)]
        if isinstance(pattern, ast.MatchOr):
            return self._either(pattern, subject, then, names)
        parts, asked, inner = self._name("parts"), *self._asked(pattern, subject)
        for k, part in reversed(list(enumerate(inner))):
            if isinstance(part, ast.MatchAs) and part.pattern is None and part.name is None:
                continue
            value = self._name("part")
            read = assign(value, ast.Subscript(load(parts), ast.Constant(k), ast.Load()))
            then = [at(read, pattern), *self._tests(part, value, then, names)]
        there = ast.Compare(load(parts), [ast.IsNot()], [ast.Constant(None)])
        return [at(assign(parts, asked), pattern), _if(there, then, pattern)]

    def _either(
        self, pattern: ast.MatchOr, subject: str, then: list[ast.stmt], names: dict[str, str]
    ) -> list[ast.stmt]:
        found = self._name("either")
        out: list[ast.stmt] = [at(assign(found, ast.Constant(False)), pattern)]
        for k, one in enumerate(pattern.patterns):
            yes: list[ast.stmt] = [at(assign(found, ast.Constant(True)), one)]
            tests = self._tests(one, subject, yes, names)
            out += tests if k == 0 else [_if(ast.UnaryOp(ast.Not(), load(found)), tests, one)]
        return [*out, _if(load(found), then, pattern)]

    def _asked(self, pattern: Any, subject: str) -> tuple[ast.expr, list[Any]]:
        """What asks for the parts of a subject, and the patterns for them."""
        if isinstance(pattern, ast.MatchSequence):
            stars = [k for k, part in enumerate(pattern.patterns) if isinstance(part, ast.MatchStar)]
            star = ast.Constant(stars[0] if stars else None)
            inner = [ast.MatchAs(None, p.name) if isinstance(p, ast.MatchStar) else p for p in pattern.patterns]
            return hook(MATCHED, ast.Constant("sequence"), load(subject), ast.Constant(len(inner)), star), inner
        if isinstance(pattern, ast.MatchMapping):
            keys = ast.Tuple(list(pattern.keys), ast.Load())
            inner = [*pattern.patterns, *([ast.MatchAs(None, pattern.rest)] if pattern.rest else [])]
            return hook(MATCHED, ast.Constant("mapping"), load(subject), keys, ast.Constant(bool(pattern.rest))), inner
        count, names = ast.Constant(len(pattern.patterns)), strings(pattern.kwd_attrs)
        asked = hook(MATCHED, ast.Constant("class"), load(subject), pattern.cls, count, names)
        return asked, [*pattern.patterns, *pattern.kwd_patterns]


class _Bindings(ast.Pass):
    """The place where the names of a pattern are bound, all at once."""


def _with_bindings(statements: list[ast.stmt], bound: list[ast.stmt]) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for node in statements:
        if isinstance(node, ast.If):
            node.body = _with_bindings(node.body, bound)
        out += bound if isinstance(node, _Bindings) else [node]
    return out


def _if(test: ast.expr, then: list[ast.stmt], where: ast.AST) -> ast.stmt:
    return at(ast.If(at(test, where), then, []), where)


_THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose one positional pattern is for the object itself."""


def matched(kind: str, subject: Any, what: Any, more: Any, names: tuple = (), is_instance: Callable = isinstance,
            attribute: Callable = getattr) -> tuple | None:  # fmt: skip
    """The parts of a subject that a pattern looks at; `None` if it is not of that kind."""
    if kind == "sequence":
        return _sequence(subject, what, more)
    if kind == "mapping":
        return _mapping(subject, what, more)
    if not isinstance(what, type):
        raise TypeError("called match pattern must be a class")
    if not is_instance(subject, what):
        return None
    own = getattr(what, "__match_args__", None)
    if own is None and issubclass(what, _THEMSELVES) and more == 1:
        found = [subject]
        own, more = (), 0
    else:
        found = []
    if more > len(own or ()):
        raise TypeError(f"{what.__name__}() accepts {len(own or ())} positional sub-patterns ({more} given)")
    try:
        return (*found, *[attribute(subject, name) for name in (*(own or ())[:more], *names)])
    except AttributeError:
        return None


def _sequence(subject: Any, count: int, star: int | None) -> tuple | None:
    if not isinstance(subject, collections.abc.Sequence) or isinstance(subject, (str, bytes, bytearray)):
        return None
    n = len(subject)
    if n != count if star is None else n < count - 1:
        return None
    items = list(subject)
    if star is None:
        return tuple(items)
    after = count - 1 - star
    return (*items[:star], items[star : n - after], *items[n - after :])


def _mapping(subject: Any, keys: tuple, rest: bool) -> tuple | None:
    if not isinstance(subject, collections.abc.Mapping):
        return None
    found = [subject.get(key, _MISSING) for key in keys]
    if any(value is _MISSING for value in found):
        return None
    others = {key: value for key, value in subject.items() if key not in keys} if rest else None
    return (*found, others) if rest else tuple(found)


_MISSING = object()
