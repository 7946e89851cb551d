"""One of several things as a value of the program: data decide which text, function, class or object a name stands for.

    state = "run" if x > 1 else "idle"      ->      which = where(x > 1, 0, 1), and the texts are constants

Compiled code computes with numbers. So each constant of a capture has a number, and a `OneOf` holds an integer of the
program, `which`, that is the number of the one it stands for, and the numbers of all that it may stand for. What staged
code asks of it is answered for each of these: a question with the answer yes or no by comparing `which`, all else by a
branch for each (`each_of.py`). Branches and loops carry `which` like any integer; what may be meant is united.

Values of different kinds, such as an instance of one class or of another, are alternatives in the same way: the number
is that of the kind, and the value stands beside `which`.

To those who take values apart (`containers.py`) it is a container: `which`, and such values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.box.box import Box
from wengert.box.writing import settled
from wengert.capture.assuming import DependsOnWhichThing
from wengert.capture.kinds import is_object
from wengert.capture.objects import MUTABLE, held_in
from wengert.capture.opened import Opened, PooledRow
from wengert.capture.session import current
from wengert.capture.undefined import UNDEFINED, Perhaps
from wengert.capture.values import is_number, is_symbolic, truth
from wengert.errors import UnsupportedFunctionError
from wengert.ir.numbers import innermost, noted_boolean
from wengert.ops import elementwise as e
from wengert.ops.op import Traced, call
from wengert.ops.sizes import require
from wengert.ops.succeeds import Handlers
from wengert.running import running
from wengert.types import SCALARS, own_dict, shape_of

MOST = 64
"""So many things a name may stand for."""


class OneOf:
    """See the module's text. `codes` are the numbers of what it may stand for, `values` those that are no constants."""

    __slots__ = ("codes", "constants", "values", "which")

    def __init__(self, which: Any, codes: tuple[int, ...], values: dict[int, Any], constants: Any = None):
        self.which, self.codes, self.values = which, codes, values
        self.constants = _constants() if constants is None else constants

    def alternative(self, code: int) -> Any:
        """What it stands for if that is its number."""
        return self.values[code] if code in self.values else self.constants[code]

    def is_(self, code: int) -> Any:
        """Whether that is what it stands for."""
        return note_answer(e.equal(self.which, code), SaysWhich(self.which, frozenset((code,))))

    @property
    def possible(self) -> tuple[int, ...]:
        """The numbers of what it may stand for here, in branches that are taken for some of them only."""
        known = () if current.session is None else current.session.facts
        found = self.codes
        for fact, holds in known:
            if fact.which is self.which:
                found = tuple([code for code in found if (code in fact.codes) == (holds == fact.is_one)])
        return found or self.codes

    def among(self, codes: Sequence[int]) -> Any:
        """The same, where it is known to be one of these."""
        values = {code: x for code, x in self.values.items() if code in codes}
        return one_of(self.which, tuple(codes), values, self.constants)

    def __repr__(self) -> str:
        return f"<one of {', '.join([repr(self.alternative(code)) for code in self.codes])}>"

    def __copy__(self) -> OneOf:
        return self

    def __deepcopy__(self, memo: Any) -> OneOf:
        return self


class ValueKind(NamedTuple):
    """What is alike in values of one kind, which are no constants: the class, and for numbers how many axes."""

    kind: Any
    parts: tuple


class SaysWhich(NamedTuple):
    """What a truth value of the program says: that a thing is one of these, or that it is none of them."""

    which: Any
    codes: frozenset[int]
    is_one: bool = True


def negated(answer: SaysWhich | None) -> SaysWhich | None:
    return None if answer is None else answer._replace(is_one=not answer.is_one)


def note_answer(x: Any, answer: SaysWhich | None) -> Any:
    """Note of a truth value what it says."""
    if answer is not None and current.session is not None and isinstance(x, Traced):
        current.session.answers[id(x)] = (x, answer)
    return x


def answer_in(x: Any) -> SaysWhich | None:
    """What a truth value says about which one of several things something is."""
    found = None if current.session is None else current.session.answers.get(id(x))
    return found[1] if found is not None and found[0] is x else None


def knowing(answer: SaysWhich | None, holds: bool, suite: Callable | None) -> Callable | None:
    """A suite that runs only if an answer is yes, or only if it is no."""
    session = current.session
    if answer is None or suite is None or session is None:
        return suite

    def run() -> Any:
        session.facts.append((answer, holds))
        try:
            return suite()
        finally:
            session.facts.pop()

    return run


def _constants() -> list[Any]:
    known = current.constants if current.session is None else current.session.constants
    assert known is not None
    return known


def one_of(which: Any, codes: tuple[int, ...], values: dict[int, Any], constants: Any = None) -> Any:
    """One of several things; itself, where it is known which one."""
    made = OneOf(which, codes, values, constants)
    if len(codes) > 1 and isinstance(settled(which), Traced):
        return made
    return made.alternative(codes[0] if len(codes) == 1 else int(settled(which)))


# ----------------------------------------------------------------------------------------------------------- constants


def is_constant(x: Any, inside: Sequence[Any] = ()) -> bool:
    """Whether something is the same object whenever it is looked at, and nothing in it was made in these captures."""
    if x is None or x.__class__ in SCALARS or x is np.ma.masked:
        return True
    if x.__class__ is tuple:
        return all(is_constant(item, inside) for item in x)
    if x.__class__ in (str, bytes, np.str_, np.bytes_) or isinstance(x, (type, Enum, np.ufunc, ModuleType, np.dtype)):
        return True
    if x is UNDEFINED or is_number(x) or isinstance(x, (OneOf, str, Perhaps, Opened, PooledRow, *MUTABLE)):
        return False
    if type(x) is FunctionType:
        held = [*[held_in(cell) for cell in x.__closure__ or ()], *(x.__defaults__ or ())]
        return not any(_is_made(v, inside) for v in (*held, *(x.__kwdefaults__ or {}).values()))
    if type(x) is MethodType:
        owner = x.__self__
        return not _is_made(owner, inside) if isinstance(owner, Box) else is_constant(owner, inside)
    if x.__class__ is partial:
        return all(is_constant(v, inside) for v in (x.func, *x.args, *x.keywords.values()))
    if type(x) is BuiltinFunctionType:
        return x.__self__ is None or is_constant(x.__self__, inside)
    if any(id(x) in capture.created for capture in inside):
        return False
    return is_object(x) or (callable(x) and _is_hashable(x))


def _is_made(x: Any, inside: Sequence[Any]) -> bool:
    """Whether a variable of a function holds something that was made in these captures."""
    symbol = innermost(x) if isinstance(x, Traced) else x
    if isinstance(symbol, Traced):
        return any(symbol._owner is c or symbol._owner.tag > c.tag for c in inside)
    if x.__class__ in (tuple, list):
        return any(_is_made(item, inside) for item in x)
    return any(id(x) in capture.created for capture in inside)


def _is_hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _is_same(a: Any, b: Any) -> bool:
    """Whether two constants are one and the same to a program."""
    if a is b:
        return True
    if a.__class__ is not b.__class__:
        return False
    if a.__class__ is tuple:
        return len(a) == len(b) and all(map(_is_same, a, b))
    if type(a) is FunctionType:
        return a.__code__ is b.__code__ and a.__globals__ is b.__globals__ and _hold_the_same(a, b)
    if a.__class__ is float:
        return a.hex() == b.hex()
    if isinstance(a, (str, bytes, int, MethodType, BuiltinFunctionType, ValueKind)):
        return bool(a == b)
    return False


def _hold_the_same(a: FunctionType, b: FunctionType) -> bool:
    cells = [[*(f.__closure__ or ()), *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()] for f in (a, b)]
    return len(cells[0]) == len(cells[1]) and all(x is y for x, y in zip(*cells, strict=True))


def code_of(constant: Any) -> int:
    """The number of a constant in this capture."""
    known = _constants()
    for code, other in enumerate(known):
        if _is_same(other, constant):
            return code
    known.append(constant)
    return len(known) - 1


def renew(code: int, thing: Any) -> None:
    """Let the number of an object that a branch has made stand for what it is after the branch."""
    _constants()[code] = thing


def only_values(codes: Sequence[int]) -> bool:
    """Whether these are numbers of what may be None, and is no constant otherwise."""
    return bool(codes) and all(
        one is None or one.__class__ is ValueKind for one in map(_constants().__getitem__, codes)
    )


def united(a: OneOf, b: OneOf) -> tuple[int, ...] | None:
    """The numbers of what one or the other may stand for."""
    codes = tuple(sorted({*a.codes, *b.codes}))
    return codes if len(codes) <= MOST else None


# ----------------------------------------------------------------------------------------------------------- questions


def whether(x: OneOf, ask: Callable[[Any], Any]) -> Any:
    """The answer to a question with yes or no, which is asked of each thing that it may be."""
    answers = {code: ask(x.alternative(code)) for code in x.possible}
    known = {bool(settled(answer)) for answer in answers.values() if not is_symbolic(answer)}
    if len(known) == 1 and not any(map(is_symbolic, answers.values())):
        return known.pop()
    found: Any = False
    for code, answer in answers.items():
        if is_symbolic(answer) or settled(answer):
            is_it = e.logical_and(x.is_(code), truth(answer)) if is_symbolic(answer) else x.is_(code)
            found = is_it if found is False else e.logical_or(found, is_it)
    if not any(map(is_symbolic, answers.values())):
        note_answer(found, SaysWhich(x.which, frozenset([code for code, answer in answers.items() if settled(answer)])))
    return noted_boolean(found)


def known_one(x: OneOf) -> Any:
    """What it stands for, for code that cannot be asked for each: outside of compiled functions it is known. In one the
    function is compiled once for each of the branches that choose it (`assuming.py`)."""
    if running.state.capture is None:
        return x.alternative(next((code for code in x.codes[:-1] if x.is_(code)), x.codes[-1]))
    raise DependsOnWhichThing(
        f"what is done here depends on which one of several things a name stands for ({_listed(x)}), and that is known "
        "only when the compiled program runs",
        remedy="compare it with ==, `is` or `in` in your own code, or use numbers or booleans as flags",
    )


def demand_known_things(x: Any, depth: int = 3) -> None:
    """Refuse, in that way, what code is given or gets that does not know of such things."""
    if x.__class__ is OneOf:
        known_one(x)
    if not depth or isinstance(x, (Traced, type)):
        return
    if x.__class__ is np.ndarray:
        parts = x.ravel().tolist() if x.dtype.kind == "O" else []
    elif isinstance(x, (list, tuple)):
        parts = list(x)
    elif isinstance(x, dict):
        parts = [*x, *x.values()]
    else:
        own = own_dict(x)
        parts = list(own.values()) if own.__class__ is dict else []
    for part in parts:
        demand_known_things(part, depth - 1)


def _listed(x: OneOf) -> str:
    texts = [repr(x.alternative(code)) for code in x.possible[:3]]
    return ", ".join([text if len(text) < 40 else text[:37] + "…" for text in texts]) + ("…" if x.possible[3:] else "")


# ------------------------------------------------------------------------------------------------------------ None

NOT_ITERABLE = "'NoneType' object is not iterable"
NOT_A_CONTAINER = "'NoneType' object does not support item assignment"
NOT_A_NUMBER = "a value is None here, and cannot be used as if it were a number or an array"


def narrowed(x: Any) -> Any:
    """Of several things that x may be, those that it can be in the branch that is being staged."""
    return x.among(x.possible) if x.__class__ is OneOf else x


def not_none(x: Any, message: str) -> Any:
    """What may be None, for those who can do nothing with None: the program raises a TypeError if it is."""
    if x.__class__ is not OneOf:
        return x
    ok = whether(x, lambda one: one is not None)
    if not is_symbolic(ok):
        return narrowed(x) if ok else None
    if not Handlers.catch(ok, "TypeError", message):
        call(require, ok, error="TypeError", message=message)
    return x.among([code for code in x.possible if x.alternative(code) is not None])


def numbers_in(x: Any) -> Any:
    """The same for what a function returned that others need numbers of, and for items of tuples, lists and dicts."""
    kind = x.__class__
    if kind is list or kind is tuple or (isinstance(x, tuple) and hasattr(x.__class__, "_make")):
        new = [numbers_in(item) for item in x]
        if all(a is b for a, b in zip(new, x, strict=True)):
            return x
        return kind._make(new) if hasattr(kind, "_make") else kind(new)
    if kind is dict:
        values = {key: numbers_in(item) for key, item in x.items()}
        return x if all(values[key] is x[key] for key in x) else values
    return not_none(x, NOT_A_NUMBER)


# ------------------------------------------------------------------------------------------- results and arguments


class _Choices:
    """What else there is to a `OneOf` than its parts, for containers of users: it may be met in another capture."""

    __slots__ = ("codes", "constants", "kinds")

    def __init__(self, x: OneOf):
        self.codes, self.kinds = x.codes, tuple(x.values)
        self.constants = tuple([x.constants[code] for code in x.codes])

    def __hash__(self) -> int:
        return hash((self.codes, self.kinds))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Choices):
            return False
        alike = self.codes == other.codes and self.kinds == other.kinds
        return alike and all(map(_is_same, self.constants, other.constants))


def _apart(x: OneOf) -> tuple:
    return (x.which, *x.values.values()), _Choices(x), ("which", *map(str, x.values))


def _together(choices: _Choices, parts: Sequence[Any]) -> Any:
    """Put together what a program returned, or what it was given by another one."""
    which, *held = parts
    values = dict(zip(choices.kinds, held, strict=True))
    now = settled(which)
    constants = dict(zip(choices.codes, choices.constants, strict=True))
    if not isinstance(now, Traced):
        chosen = [values.get(code, constants[code]) for code in np.ravel(now).tolist()]
        if not shape_of(now):
            return chosen[0]
        if not values:  # those of a batch
            return np.array(chosen).reshape(shape_of(now))
        raise UnsupportedFunctionError(
            "examples of a batch return things of different kinds, of which no array can be made",
            remedy="return numbers, and one that says which kind it is",
        )
    if current.session is None or running.state.capture is None:  # a transformation around it looks at it
        return OneOf(which, choices.codes, values, constants)
    codes = [code_of(constant) for constant in choices.constants]
    new = which if tuple(codes) == choices.codes else codes[-1]
    if new is not which:
        for old, code in zip(choices.codes[:-1], codes[:-1], strict=True):
            new = e.where(e.equal(which, old), code, new)
    renamed = dict(zip(choices.codes, codes, strict=True))
    return OneOf(new, tuple(sorted(codes)), {renamed[code]: value for code, value in values.items()})


tree.register(OneOf, _apart, _together, looks=True)
