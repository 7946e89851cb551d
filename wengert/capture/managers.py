"""`with` statements in staged code: managers that keep exceptions to themselves, as `contextlib.suppress` does.

Such a statement is a `try`. `with suppress(ValueError): …` is written as one (`attempts.py`), so that what is raised in
it is a jump. Of other managers it is known only when they are entered whether they may swallow something: then what the
program itself may raise inside is refused, as in a `try` that cannot be followed, and so is an exception that they have
swallowed while the program was captured, since what happened before it may be lost (in a loop, for instance).
"""

from __future__ import annotations

import contextlib
import dis
from types import CodeType
from typing import Any

from wengert.capture.classes import followed
from wengert.capture.exceptions import OWN_ERRORS, Trying
from wengert.errors import StagingError


def swallowed(manager: Any) -> tuple[type[BaseException], ...]:
    """The exceptions that `with suppress(…)` suppresses; none for what is called so and is something else."""
    return tuple(manager._exceptions) if isinstance(manager, contextlib.suppress) else ()  # type: ignore[attr-defined]


def managed(manager: Any) -> Any:
    """A manager of a `with` statement, watched."""
    kind = type(manager)
    return _Managed(manager) if hasattr(kind, "__enter__") and hasattr(kind, "__exit__") else manager


class _Managed:
    def __init__(self, manager: Any):
        self.manager = manager
        kinds = swallowed(manager) or ((BaseException,) if _may_swallow(manager) else ())
        self.trying = Trying(lambda: kinds) if kinds else None

    def __enter__(self) -> Any:
        value = type(self.manager).__enter__(self.manager)
        if self.trying is not None:
            self.trying.__enter__()
        return value

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self.trying is not None:
            try:
                self.trying.__exit__(kind, error, trace)
            except BaseException as refusal:
                type(self.manager).__exit__(self.manager, type(refusal), refusal, refusal.__traceback__)
                raise
        silent = type(self.manager).__exit__(self.manager, kind, error, trace)
        if not silent or error is None or isinstance(error, OWN_ERRORS):
            return
        raise StagingError(
            f"the manager of a with statement swallows a {kind.__name__} while the function is compiled",
            remedy="write try and except, or with contextlib.suppress(…) where the statement begins",
        )


def _may_swallow(manager: Any) -> bool:
    """Whether it may, as far as its code tells: `__exit__` returns something, or its generator handles exceptions."""
    generator: Any = getattr(manager, "gen", None)
    if isinstance(manager, contextlib.AbstractContextManager) and hasattr(generator, "gi_code"):
        return any(i.opname == "CHECK_EXC_MATCH" for i in dis.get_instructions(generator.gi_code))
    code = getattr(followed(type(manager).__exit__), "__code__", None)
    return isinstance(code, CodeType) and _returns_something(code)


def _returns_something(code: CodeType) -> bool:
    before = None
    for instruction in dis.get_instructions(code):
        if instruction.opname == "RETURN_CONST" and instruction.argval:
            return True
        if instruction.opname == "RETURN_VALUE":
            if before is None or before.opname != "LOAD_CONST" or before.argval:
                return True
        before = instruction
    return False
