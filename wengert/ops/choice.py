"""Where a function has a kink there is a choice of derivative; this is which one the rows take.

Each thread has its own. `wg.subgradient` sets it for a while.
"""

from __future__ import annotations

import threading


class Choice(threading.local):
    """`ties`: who gets the derivative of a maximum or minimum if several are equal. `kinks`: the slope of |x| at 0.
    `watched`: whether somebody looks on (`modes/watching.py`), so that compiled code is not run."""

    ties = "share"
    kinks = "zero"
    watched = False

    def is_default(self) -> bool:
        return not self.__dict__ or (self.ties == "share" and self.kinks == "zero" and not self.watched)


TIES = ("share", "first", "last")
KINKS = ("zero", "left", "right")

choice = Choice()
