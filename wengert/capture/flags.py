"""Functions without jumps: `break`, `continue` and early `return` become assignments to flags.

What follows a statement that may jump is put where it is reached only if the statement did not: into the other branch
of an `if`, where structure suffices, otherwise into an `if` that tests the flags. So

    for x in xs:                         for x in xs:   # as long as `not broke`
        if x > 3:                            if x > 3:
            break                   ->           broke = True
        s += x                               else:
                                                 s += x

The result is ordinary syntax, with one exception: a `for` has an attribute `go_on`, an expression that says after each
iteration whether there is to be another, or `None`. A flag that nothing tests is not there. A `return` that no `if` or
loop holds, and no `try` whose statements may fail, stays; if there is another, the value returned goes through a
variable.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from wengert.capture.lowered import FAILED, RAISED_HERE
from wengert.capture.names import own_nodes
from wengert.capture.syntax import OURS, assign, at, attempt_of, hook, thunk

RETURNED, VALUE = "_wengert_returned", "_wengert_value"
_BRANCHING = (ast.If, ast.For, ast.While)
_TRY: Any = (ast.Try, ast.TryStar)


def without_jumps(body: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a function, without jumps. The statements given may be changed."""
    early = any(isinstance(inner, ast.Return) for inner in own_nodes([*_branching(body), *_watched(body)]))
    if early and completes(body):
        body = [*body, ast.copy_location(ast.Return(ast.Constant(None)), body[-1])]
    structured = _Structured(early, _read(body))
    last = body[-1]
    body = structured.suite(body, None)
    if early:
        body = [_flag(RETURNED, False, body[0]), *body, at(ast.Return(ast.Name(VALUE, ast.Load())), last)]
    return _without_idle_flags(body, structured.tested)


def _read(body: list[ast.stmt]) -> set[str]:
    return {n.id for n in own_nodes(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _branching(statements: list[Any]) -> Iterator[ast.AST]:
    """The branches and loops among statements that no others hold."""
    for node in statements:
        if isinstance(node, _BRANCHING):
            yield node
        else:
            for suite in _suites(node):
                yield from _branching(suite)


def _watched(body: list[Any]) -> Iterator[ast.AST]:
    """The `try` statements that may be left by a jump to their handlers: what follows it will stand in an `if`."""
    return (node for node in own_nodes(body) if hasattr(node, "owns"))


def jumps_out_of_finally(nodes: Iterable[ast.AST]) -> bool:
    """Whether a `finally` is left by a jump, which would discard an exception: flags cannot say that."""
    return any(isinstance(node, _TRY) and _jumps(node.finalbody, True) for node in own_nodes(nodes))


class _Loop:
    """The flags of a loop."""

    def __init__(self, number: int):
        self.broke, self.continued = f"_wengert_broke_{number}", f"_wengert_continued_{number}"

    def flag(self, jump: str) -> str:
        return {"break": self.broke, "continue": self.continued}.get(jump) or _flag_of(jump)


def _flag_of(jump: str) -> str:
    """The flag of a jump out of all loops: a `return`, or a `raise` to a handler."""
    return RETURNED if jump == "return" else f"{OURS}{jump}"


class _Structured:
    """Removes the jumps of one function. `early` says whether its `return`s are jumps, `tested` what is not idle."""

    def __init__(self, early: bool, tested: set[str]):
        self.early = early
        self.tested = tested
        self.numbers = itertools.count(1)

    def suite(self, statements: list[Any], loop: _Loop | None) -> list[ast.stmt]:
        """A suite without jumps; `loop` is the loop that it is in."""
        out: list[ast.stmt] = []
        for k, node in enumerate(statements):
            rest = statements[k + 1 :]
            if isinstance(node, (ast.Break, ast.Continue)):
                assert loop is not None
                return [*out, _flag(loop.broke if isinstance(node, ast.Break) else loop.continued, True, node)]
            if isinstance(node, ast.Return) and self.early:
                value = at(ast.Assign([ast.Name(VALUE, ast.Store())], node.value or ast.Constant(None)), node)
                return [*out, value, _flag(RETURNED, True, node)]
            if isinstance(node, ast.Raise) and hasattr(node, "jump"):
                return [*out, self._raised(node)]
            if isinstance(node, (ast.For, ast.While)):
                passes = self._jumps(node.body) - {"break", "continue"}
                node.is_inside = loop is not None  # type: ignore[union-attr]
                looped, after = self._loop(node)
                out += looped
                if after is None:
                    return out
                if passes and (after or rest):
                    flags = self._flags(passes, None)
                    return [*out, self._unless(flags, self.suite(after + rest, loop), (after + rest)[0])]
                if after:
                    return out + self.suite(after + rest, loop)
                continue
            jumps, has_end = self._jumps([node]), completes([node])
            out.append(node)
            if isinstance(node, ast.If) and jumps and rest:
                if not completes(node.body):
                    node.orelse, rest = node.orelse + rest, []
                elif node.orelse and not completes(node.orelse):
                    node.body, rest = node.body + rest, []
            self._inside(node, loop)
            if not has_end or not rest:
                return out
            if jumps:
                return [*out, self._unless(self._flags(jumps, loop), self.suite(rest, loop), rest[0])]
        return out

    def _raised(self, node: Any) -> ast.stmt:
        """A `raise` that is a jump to the handlers of its `try`."""
        flag = _flag_of(f"raised_{node.jump}")
        self.tested.add(flag)
        if node.exc is None:  # a statement has failed by itself
            return at(assign(flag, hook(FAILED, attempt_of(node.jump))), node)
        cause = ast.Constant(None) if node.cause is None else thunk(node.cause)
        return at(assign(flag, hook(RAISED_HERE, attempt_of(node.jump), thunk(node.exc), cause)), node)

    def _inside(self, node: Any, loop: _Loop | None) -> None:
        """Remove the jumps from the suites of a statement that is not a loop."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        if isinstance(node, _TRY):
            flags = self._flags(self._jumps(node.body) - {f"raised_{getattr(node, 'owns', None)}"}, loop)
            if hasattr(node, "owns"):
                self.tested.add(_flag_of(f"raised_{node.owns}"))
            if flags and node.orelse:
                node.orelse = [self._unless(flags, self.suite(node.orelse, loop), node.orelse[0])]
            else:
                node.orelse = self.suite(node.orelse, loop)
            # A `with` or `finally` that is passed on the way out may raise yet: then there was no jump.
            late = any(isinstance(inner, (ast.With, *_TRY)) and self._jumps([inner]) for inner in own_nodes(node.body))
            node.body = self.suite(node.body, loop)
            for handler in node.handlers:
                resets = [_flag(flag, False, handler) for flag in sorted(flags)] if late else []
                handler.body = [*resets, *self.suite(handler.body, loop)]
            node.finalbody = self.suite(node.finalbody, loop)
            return
        for owner in (node, *getattr(node, "cases", ())):
            for field in ("body", "orelse"):
                if getattr(owner, field, None):
                    setattr(owner, field, self.suite(getattr(owner, field), loop))

    def _loop(self, node: Any) -> tuple[list[ast.stmt], list[ast.stmt] | None]:
        """A loop without jumps and `else`; and what is to run when it is over, `None` if that will never be."""
        loop = _Loop(next(self.numbers))
        jumps, endless, after = self._jumps(node.body), _is_endless(node), node.orelse
        if endless:
            after = [] if "break" in jumps else None
        elif after and "break" in jumps:
            after = [self._unless([loop.broke], after, after[0])]
        node.body, node.orelse = self.suite(node.body, loop), []
        if loop.continued in self.tested:
            node.body.insert(0, _flag(loop.continued, False, node.body[0]))
        go_on = self._none_of(self._flags(jumps - {"continue"}, loop))
        if isinstance(node, ast.For):
            node.go_on = go_on  # type: ignore[attr-defined]
        elif go_on is not None:
            node.test = go_on if endless else at(ast.BoolOp(ast.And(), [go_on, node.test]), node.test)
        return [*([_flag(loop.broke, False, node)] if "break" in jumps else []), node], after

    def _flags(self, jumps: set[str], loop: _Loop | None) -> list[str]:
        return sorted(loop.flag(jump) if loop else _flag_of(jump) for jump in jumps)

    def _unless(self, flags: list[str], suite: list[ast.stmt], where: ast.AST) -> ast.stmt:
        test = self._none_of(flags)
        assert test is not None
        return at(ast.If(test, suite, []), where)

    def _none_of(self, flags: list[str]) -> ast.expr | None:
        self.tested.update(flags)
        tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load())) for flag in flags]
        return ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0] if tests else None

    def _jumps(self, statements: list[Any]) -> set[str]:
        return _jumps(statements, self.early)


def _suites(node: Any) -> Iterator[list[Any]]:
    """The suites of a statement that belong to the same function."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for owner in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        for field in ("body", "orelse", "finalbody"):
            if suite := getattr(owner, field, None):
                yield suite


def _jumps(statements: list[Any], early: bool) -> set[str]:
    """How statements may be left before their end: by "break", "continue", or (if that is `early`) "return"."""
    jumps: set[str] = set()
    for node in statements:
        if isinstance(node, ast.Return) and early:
            jumps.add("return")
        elif isinstance(node, ast.Break):
            jumps.add("break")
        elif isinstance(node, ast.Continue):
            jumps.add("continue")
        elif isinstance(node, (ast.For, ast.While)):
            jumps |= _jumps(node.body, early) - {"break", "continue"} | _jumps(node.orelse, early)
        elif isinstance(node, ast.Raise):
            if hasattr(node, "jump"):
                jumps.add(f"raised_{node.jump}")
        else:
            jumps = jumps.union(*[_jumps(suite, early) for suite in _suites(node)])
            jumps.discard(f"raised_{getattr(node, 'owns', None)}")
    return jumps


def completes(statements: list[Any]) -> bool:
    """Whether the end of a suite may be reached; when in doubt, it may."""
    return all(_may_complete(node) for node in statements)


def _may_complete(node: Any) -> bool:
    if isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
        return False
    if isinstance(node, ast.If):
        return not node.orelse or completes(node.body) or completes(node.orelse)
    if isinstance(node, ast.While):
        return not _is_endless(node) or "break" in _jumps(node.body, True)
    if isinstance(node, _TRY):
        regularly = completes(node.body) and completes(node.orelse)
        return completes(node.finalbody) and (regularly or any(completes(h.body) for h in node.handlers))
    return True  # a `with` may swallow an exception


def _is_endless(node: Any) -> bool:
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)


def _flag(name: str, value: bool, where: ast.AST) -> ast.stmt:
    return at(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), where)


def _without_idle_flags(suite: list[Any], tested: set[str]) -> list[ast.stmt]:
    def is_idle(node: Any) -> bool:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            return False
        if not isinstance(node.value, ast.Constant):  # it is no flag, or one that a `try` tests
            return False
        name = node.targets[0].id
        return name.startswith(OURS) and name != VALUE and name not in tested

    kept = [node for node in suite if not is_idle(node)]
    for node in kept:
        for inner in _suites(node):
            inner[:] = _without_idle_flags(inner, tested)
    return kept or [at(ast.Pass(), suite[0])]
