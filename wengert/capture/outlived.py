"""Objects that stand for one of several, of which nobody holds another one any more.

    best = min(swarm, key=cost).place       after the statement nobody has the particle that was the best
    for p in swarm: p.place = …             so that each of them may be changed
    if shrinks: simplex = [a, b]            nor the list that this one took the place of
    simplex.sort()                          so that what is one of the two may be

An object that was put together for one of two (`merging.py`) would have to be seen to change with these, and they with
it. So none of them is changed while somebody holds another one. Who does is told by reference counts: all that there
are, without those of our own notes. That takes a search through all objects, and is asked only where a refusal is the
alternative.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from sys import getrefcount
from typing import Any

from wengert.capture.session import current
from wengert.ir.build import Capture
from wengert.running import running


def note_standing(made: Iterable[tuple[Any, Any, Any]]) -> None:
    """Objects of which each stands for one of two others."""
    session = current.session
    if session is not None:
        for new, a, b in made:
            for thing in (a, b):
                session.standing.setdefault(id(thing), (thing, []))[1].append(new)


def is_outlived(thing: Any) -> bool:
    """Whether nobody holds what an object stands for, or what stands for it; then it is an object like any other."""
    session = current.session
    if session is None or not _has_others(thing):
        return False
    others = _others(thing)
    if others is None or any(_is_held(others, k) for k in range(len(others))):
        return False
    del session.frozen[id(thing)]
    return True


def _has_others(thing: Any) -> bool:
    assert current.session is not None
    return any(
        notes.get(id(thing), (None,))[0] is thing
        for notes in (current.session.standing, current.session.chosen, current.session.orders)
    )


def _others(thing: Any) -> list[Any] | None:
    """All that may be the same object as this one: what it stands for, what stands for it, and for that. `None` if it
    is not known."""
    session = current.session
    assert session is not None
    found = {id(thing): thing}
    waiting = [thing]
    for one in waiting:  # down to what it stands for
        made, _, *several = session.chosen.get(id(one), (None, None))
        if made is one:
            if several[0] is None and several[1] is None:  # a loop has made it
                return None
            waiting += [x for x in several if id(x) not in found]
            found.update({id(x): x for x in several})
    waiting = list(found.values())
    for one in waiting:  # and up
        same, standing = session.standing.get(id(one), (None, ()))
        if same is one:
            waiting += [x for x in standing if id(x) not in found]
            found.update({id(x): x for x in standing})
    walked: list[Any] = []
    waiting = list(found.values())
    for one in waiting:  # and to those that were sorted, or came out of that: no two of these are the same
        same, groups = session.orders.get(id(one), (None, ()))
        for group in groups if same is one else ():
            if any(group is other for other in walked):
                continue
            walked.append(group)
            for x in group[0] if any(x is one for x in group[1]) else group[1]:
                if id(x) not in found:
                    if any(notes.get(id(x), (None,))[0] is x for notes in (session.standing, session.chosen)):
                        return None
                    found[id(x)] = x
                    waiting.append(x)
    del found[id(thing)]
    return list(found.values())


def _is_held(things: list[Any], k: int) -> bool:
    """Whether there are more references to one of these things than those of notes."""
    session = current.session
    assert session is not None
    key, known = id(things[k]), 0
    if key in session.gone:
        return False
    captures = [trace for trace in running.state.traces if trace.__class__ is Capture]
    notes = {id(note) for note in (things, *session.about_objects())}
    notes.update(id(note) for capture in captures for note in capture.objects.values())
    for holder in gc.get_referrers(things[k]):
        if id(holder) in notes:
            known += sum(1 for item in holder if id(item) == key)
        elif holder.__class__ is dict and (holder is session.made_inside or _is_of_a_capture(holder)):
            known += 1
    if getrefcount(things[k]) - _OF_THE_CALL > known:
        return True
    session.gone[key] = things[k]  # and it stays so: who could get hold of it?
    return False


def _is_of_a_capture(made: dict) -> bool:
    """Whether it says what was made in a block, which may have been given up."""
    return any(holder.__class__ is Capture and holder.created is made for holder in gc.get_referrers(made))


_OF_THE_CALL = getrefcount([object()][0])
