"""Which object a name stands for, where data have chosen it: `s = LOW if x < 1 else HIGH`, and later `s is LOW`.

Two instances of one class, or two containers of one structure, are put together into a new one after a branch
(`merging.py`), and a loop has one of its own in place of what it carries (`carried.py`). Such an object has the parts
of the one that it stands for, but it is another object. So these are noted, with the condition and the two of which it
is one, and whoever asks whether it is a certain object gets the answer from those. Of what a loop carries nobody knows
(`stand_in` in `containers.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert.box.writing import settled
from wengert.capture.one_of import OneOf, answer_in, negated, note_answer, whether
from wengert.capture.references import NeedsReferences
from wengert.capture.session import current
from wengert.capture.values import is_symbolic, truth
from wengert.errors import EscapedValueError
from wengert.ir.infer import demand_which, is_either
from wengert.ir.numbers import innermost, noted_boolean, python_class
from wengert.ops import elementwise as e
from wengert.ops.op import Traced, call


def note_chosen(things: Iterable[tuple[Any, Any, Any]], pred: Any) -> None:
    """Objects that stand for the first of two others where the condition holds, and otherwise for the second."""
    if current.session is not None:
        current.session.chosen.update({id(made): (made, pred, a, b) for made, a, b in things})


def _choice(x: Any) -> tuple[Any, Any, Any, Any] | None:
    found = None if current.session is None else current.session.chosen.get(id(x))
    return found if found is not None and found[0] is x else None


def is_chosen(x: Any) -> bool:
    """Whether data have chosen which object this is."""
    return _choice(x) is not None


def compares_by_identity(x: Any) -> bool:
    """Whether an object is equal to itself only."""
    return x.__class__.__eq__ is object.__eq__


def decided(x: Any, ask: Callable[[Any], Any]) -> Any:
    """What is asked of an object, of which data have chosen which one it is: `ask` of each of the two, by the data."""
    choice = _choice(x)
    assert choice is not None
    _, pred, a, b = choice
    if pred is None:
        raise NeedsReferences(
            "it is asked which object a name stands for that a loop binds to several, and that is known only when the "
            "compiled program runs",
            remedy="keep a number or a flag beside it, and compare that",
        )
    one, other = ask(a), ask(b)
    if one is other:
        return one
    try:
        if one.__class__ is bool and other.__class__ is bool:
            return noted_boolean(truth(pred) if one else e.logical_not(truth(pred)))
        return e.where(truth(pred), one, other)
    except EscapedValueError:
        raise NeedsReferences(
            "it is asked which object a name stands for that data have chosen in a loop or branch",
            remedy="keep a number or a flag beside it, and compare that",
        ) from None


def same_object(x: Any, y: Any) -> Any:
    """`x is y`."""
    for one, other in ((x, y), (y, x)):
        if one.__class__ is OneOf:
            return True if one is other else whether(one, functools.partial(same_object, other))
    if x is not y and current.session is not None and current.session.chosen:
        for one, other in ((x, y), (y, x)):
            if is_chosen(one) and other.__class__ is one.__class__:
                return decided(one, functools.partial(same_object, other))
    if x is y:
        return True
    if isinstance(x, Traced) or isinstance(y, Traced):
        return _is_same_number(x, y)
    _demand_known(x, y)
    return False


def other_object(x: Any, y: Any) -> Any:
    """`x is not y`."""
    return negation(same_object(x, y))


def negation(x: Any) -> Any:
    """`not x`, of what decides."""
    if not is_symbolic(x):
        return not settled(x)
    return note_answer(noted_boolean(e.logical_not(truth(x))), negated(answer_in(x)))


def _is_same_number(x: Any, y: Any) -> Any:
    """`x is y` for values of which one is traced: there is one True and one False, and one of each small integer."""
    x, y = settled(x), settled(y)
    for one, other in ((x, y), (y, x)):
        if python_class(other) in (bool, int) or is_either(innermost(other)):
            demand_which(innermost(one), "whether something is the same object is asked")
    kind = python_class(x)
    if kind not in (bool, int) or kind is not python_class(y):
        return False
    same = call(e.equal, x, y)
    if kind is int:
        same = call(e.logical_and, same, call(e.logical_and, call(e.greater_equal, x, -5), call(e.less_equal, x, 256)))
    return noted_boolean(same) if isinstance(same, Traced) else bool(same)


def _demand_known(x: Any, y: Any) -> None:
    """Refuse to say whether two objects are the same where one of them stands for one of several."""
    session = current.session
    if session is None or x.__class__ is not y.__class__:
        return
    if any(id(thing) in session.chosen for thing in (x, y)):
        kind = x.__class__.__name__
        raise NeedsReferences(
            f"whether two objects of the class {kind} are the same: one of them stands for one of several, and "
            "for which is known only when the compiled program runs",
            remedy="compare what they hold, as in a.name == b.name, or keep a number that says which one it is",
        )


def identified(key: Any) -> Any:
    """A key of a dict: its hash must be known."""
    if current.session is not None and current.session.chosen and is_chosen(key) and not _is_by_value(key):
        raise NeedsReferences(
            "an object that data have chosen is a key of a dict, or an element of a set",
            remedy="use a number as a key, or a list and an integer",
        )
    return key


def _is_by_value(key: Any) -> bool:
    return isinstance(key, (tuple, str, int, float, np.generic))
