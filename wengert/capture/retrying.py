"""Statements of a `try` that may fail by themselves: `y = 1 / x` (`attempts.py` has the syntax).

Whether it fails is known only when the program runs. The statement is executed until it checks something (`Fails`);
what it has done so far is undone, and a branch is staged: if the condition does not hold there is a jump to the
handlers, otherwise the statement is executed again from its beginning, knowing that the condition holds, and then what
follows it. So

    y = 1 / x + math.log(x)          if x != 0:
    z = y * y                            if x > 0:
                                             y = 1 / x + math.log(x)
                                             z = y * y
                                         else:
                                             raised = 2      # a ValueError
                                     else:
                                         raised = 1          # a ZeroDivisionError

Conditions that fail in the same state are one branch (`Attempt`): here both are, and `raised` is 1 or 2 in the other.
The first one that does not hold decides, and what is computed after a failure is used for nothing: there is no infinity
whose derivative would have to be masked. What functions that it calls do until then, and on their way out (`finally`),
has happened: where that is more than to bind variables, the branch that fails executes the statement once more up to
where it raises, before it jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wengert.capture.branching import branch
from wengert.capture.carried import cells_of
from wengert.capture.containers import depth
from wengert.capture.exceptions import OWN_ERRORS, Attempt, Fails, Trying, code_of, settle_all, somebody_catches
from wengert.capture.objects import put
from wengert.capture.values import is_symbolic
from wengert.errors import StagingError
from wengert.ir.build import put_back
from wengert.ir.node import Node
from wengert.ops.op import Traced, call
from wengert.ops.sizes import require
from wengert.running import running


def attempted(trying: Trying, statement: Callable, rest: Callable | None, fail: Callable, get: Callable, set: Callable,
              names: Sequence[str], temporaries: Sequence[str] = ()) -> None:  # fmt: skip
    """A statement of a `try`, and the rest of its suite; `fail` jumps to the handlers."""

    cells = cells_of(get) if trying.cells is None else trying.cells

    def needed() -> tuple:
        return tuple([value for name, value in zip(names, get(), strict=True) if name not in temporaries])

    def execute(known: tuple[BaseException, ...]) -> None:
        fails = _fails(trying, statement, Attempt(known, cells, None, needed), get, set)
        if fails is None:
            if rest is not None:
                rest()
        elif is_symbolic(fails.ok):
            again, failing = (
                (lambda: execute((*known, *[part.error for part in fails.parts]))),
                (lambda: jump(fails, known)),
            )
            branch(fails.ok, again, failing, get, set, names, temporaries)
        else:
            jump(fails, known)

    def jump(fails: Fails, known: tuple[BaseException, ...]) -> None:
        for ok, error, message in fails.demands:
            call(require, ok, error=error, message=message)
        if fails.state is not None:
            then, now = iter(fails.state), zip(names, get(), strict=True)
            set(tuple([value if name in temporaries else next(then) for name, value in now]))
        elif fails.ok is not _RAISED and _fails(trying, statement, Attempt(known, cells, fails), get, set) is None:
            raise StagingError(
                f"a {type(fails.error).__name__} that may be raised when the compiled program runs is caught on its "
                "way to the try", remedy="catch it where it is raised, with a try, or use jit(f, fallback=True)",
            )  # fmt: skip
        trying.code = code_of(fails, trying)
        fail()

    execute(())


_RAISED = False, "while the program is captured"


def _fails(trying: Trying, statement: Callable, attempt: Attempt, get: Callable, set: Callable) -> Fails | None:
    """Execute a statement; on what condition it goes on, if there is one."""
    capture, state = running.state.capture, get()
    if capture is None:
        statement()
        return None
    outer, around = trying.attempt, capture.journal
    settle_all()
    journal: list[tuple[Any, Any]] = []
    trying.attempt, capture.journal = attempt, journal
    nodes = len(capture.nodes)
    try:
        attempt.run(statement)
    except Fails as fails:
        if fails.attempt is not attempt:
            raise
        if fails.depth != attempt.depth or any(map(has_effect, capture.nodes[nodes:])):
            raise StagingError(
                f"a {type(fails.error).__name__} may be raised when the compiled program runs, and a try around it "
                "would catch it, but before that something happens that cannot be undone, such as printing",
                remedy="let what may raise be a statement of its own in the try, or use jit(f, fallback=True)",
            ) from None
        if fails.state is None and not journal and not fails.more:
            fails.state = attempt.needed()
        _undo(journal)
        set(state)
        return fails
    except Exception as error:  # Python knows already
        if attempt.last is not None and error is attempt.last.error:
            return attempt.last
        if isinstance(error, OWN_ERRORS) or depth() == trying.depth or not somebody_catches(error):
            raise
        return Fails(attempt, _RAISED, error)
    finally:
        trying.attempt, capture.journal, capture.taken_for_granted = outer, around, None
        if around is not None:
            around += journal
    return None


def undone_if_refused(function: Callable[[], Any], refusals: tuple) -> tuple[Any, BaseException | None]:
    """The result of a function in a program that is being captured. If it is refused, what it did is undone, what the
    program would have done outside (printing, drawing) is taken out of it, and the refusal is returned."""
    capture = running.state.capture
    around, capture.journal, nodes = capture.journal, [], len(capture.nodes)
    try:
        return function(), None
    except refusals as refusal:
        _undo(capture.journal)
        capture.nodes[nodes:] = _without_effects(capture.nodes[nodes:])
        return None, refusal
    finally:
        if around is not None:
            around += capture.journal
        capture.journal = around


def without_effects(items: Iterable[Any], function: str) -> list[Any]:
    """The items of an iterable, which a builtin may not come to: refused if getting them changes something."""
    capture = running.state.capture
    around, capture.journal, nodes = capture.journal, [], len(capture.nodes)
    try:
        found = list(items)
        if capture.journal or any(map(has_effect, capture.nodes[nodes:])):
            raise StagingError(
                f"{function} stops or goes on as a value says that is known only when the compiled program runs, and "
                "what it goes through changes something", remedy="write a for loop with if and break",
            )  # fmt: skip
        return found
    finally:
        if around is not None:
            around += capture.journal
        capture.journal = around


def _without_effects(nodes: Sequence[Node]) -> list[Node]:
    """Nodes, without those that do something outside, and without what is computed from these."""
    kept, gone = [], set()
    for node in nodes:
        if has_effect(node) or any(id(x) in gone for x in (*node.args, *node.sizes)):
            gone.update(map(id, node.outs))
        else:
            kept.append(node)
    return kept


def has_effect(node: Node) -> bool:
    """Whether something happens that is seen outside. (A check before is made again, and raises the same.)"""
    if node.blocks:
        return any(has_effect(inner) for block in node.blocks for inner in block.nodes)
    return node.op.effect and node.op is not require


def _undo(journal: list[tuple[Any, Any]]) -> None:
    """Give arrays and objects back what they were before they were changed."""
    while journal:
        thing, before = journal.pop()
        if isinstance(thing, Traced):
            put_back(thing, before)
        else:
            put(thing, before)
