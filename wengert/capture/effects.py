"""What a function must not change outside while it is captured: containers, objects and variables of Python.

A compiled program writes to arrays. If the function also binds a global, sets an attribute of an object from outside or
changes a list from outside, that would happen when it is captured, with symbols, and never again. So what is there
before is noted, put back afterwards, and a difference is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CellType
from typing import Any

import numpy as np

from wengert.box.writing import become, clone, make_views_stale, plain, settled
from wengert.capture.objects import content, put
from wengert.errors import StagingError
from wengert.ops.op import Traced

_MISSING = object()


class Effects:
    """Things from outside, with what they were like before."""

    def __init__(self) -> None:
        self._noted: dict[Any, tuple[Any, str, Callable[[], dict], Callable[[dict], None], dict]] = {}

    def _note(self, key: Any, thing: Any, what: str, get: Callable[[], dict], put: Callable[[dict], None]) -> None:
        if key not in self._noted:
            self._noted[key] = (thing, what, get, put, get())

    def note_list(self, thing: list) -> None:
        def put(before: dict) -> None:
            thing[:] = before.values()

        self._note(id(thing), thing, "a list", lambda: dict(enumerate(thing)), put)

    def note_dict(self, thing: dict) -> None:
        self._note(id(thing), thing, "a dict", lambda: dict(thing), lambda before: _refill(thing, before))

    def note_object(self, thing: Any) -> None:
        self._note(id(thing), thing, f"an attribute of a {type(thing).__name__}", lambda: content(thing),
                   lambda before: put(thing, before))  # fmt: skip

    def note_array(self, thing: np.ndarray) -> None:
        def put(before: dict) -> None:
            thing[...] = before["content"]

        kept = thing.copy()

        def get() -> dict:
            return {"content": kept if thing.tobytes() == kept.tobytes() else thing}

        if thing.flags.writeable and thing.dtype.kind in "biufc":
            self._note(id(thing), thing, "an array", get, put)

    def note_box(self, thing: Any) -> None:
        """An array that is traced outside; while its value is held here it is not written in place."""
        while thing._view_of is not None:
            thing = thing._view_of.root

        def put(before: dict) -> None:
            become(thing, before["kept"])
            make_views_stale(thing)

        held = settled(thing)
        kept = clone(held) if isinstance(held, Traced) else held

        def get() -> dict:
            now = settled(thing)
            if not isinstance(now, Traced):
                return {"kept": now}
            same = now.__class__ is kept.__class__ and all(getattr(now, s) is getattr(kept, s) for s in now._state)  # type: ignore[attr-defined]
            return {"kept": kept if same else now}

        self._note(id(thing), thing, "an array", get, put)

    def note_cell(self, cell: CellType, name: str) -> None:
        def put(before: dict) -> None:
            if name in before:
                cell.cell_contents = before[name]

        self._note(id(cell), cell, f"the variable {name}", lambda: _content(cell, name), put)

    def note_global(self, namespace: dict, name: str) -> None:
        def get() -> dict:
            return {name: namespace[name]} if name in namespace else {}

        def put(before: dict) -> None:
            namespace.pop(name, None)
            namespace.update(before)

        self._note((id(namespace), name), namespace, f"the global variable {name}", get, put)

    def arrays(self) -> list[np.ndarray]:
        """What the arrays among them hold now."""
        return [np.array(plain(thing)) for thing, what, *_ in self._noted.values() if what == "an array"]

    def undo(self, stands_for: Callable[[Any], Any] = lambda x: x) -> str | None:
        """Put back what was there; say what was changed. `stands_for(x)` is what stands for x in the program."""
        changed = None
        for _, what, get, put_back, before in self._noted.values():
            now = get()
            if now.keys() == before.keys() and all(now[k] is before[k] for k in now):
                continue
            put_back(before)
            same = now.keys() == before.keys() and all(
                now[k] is before[k] or now[k] is stands_for(before[k]) for k in now
            )
            changed = changed if same else what  # (`self.w += 1` writes to the array that is there)
        return changed


def refuse(what: str) -> StagingError:
    """The error for a change outside."""
    return StagingError(
        f"a compiled function changes {what} from outside, which would happen only once",
        remedy="return the new value and assign it where the function is called, or keep it in an array",
    )


def _refill(thing: dict, before: dict) -> None:
    thing.clear()
    thing.update(before)


def _content(cell: CellType, name: str) -> dict:
    try:
        return {name: cell.cell_contents}
    except ValueError:  # empty
        return {}
