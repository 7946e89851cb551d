"""Names that stand for objects by reference, where data decide for which, and the object is then changed.

    best = a if a.cost < b.cost else b      which = where(a.cost < b.cost, 0, 1)
    best.cost = 0.0                     ->  if which == 0: a.cost = 0.0
                                            else: b.cost = 0.0

After a branch a name may stand for one of two objects of a class. Mostly it is enough to know what such an object
holds: a new one is put together of the parts of both (`merging.py`), which costs a choice for each of its numbers.
But the new one is another object, so that changing it, or one of the two, is refused; unless nobody holds the others
(`outlived.py`).

Where that refusal would be the end, the function is captured once more, with references: an object that was there
before the branch or loop is then one of several constants (`one_of.py`), and what is done to a name is done to the
object that it stands for, in a branch for each. An object that a branch has made gets its number there; after the
branch the number stands for what it has become. That is right whoever holds which object under how many names, and
slower.
"""

from __future__ import annotations

from wengert.capture.session import current
from wengert.errors import StagingError


class NeedsReferences(StagingError):
    """An object is changed, or it is asked which one it is, and that is not known, or it may have another name. The
    function is captured once more, with references."""


def refers() -> bool:
    """Whether names stand for objects by reference."""
    return current.session is not None and current.session.refers
