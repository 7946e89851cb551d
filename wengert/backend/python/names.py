"""What the variables of a program are called in source: the user's names where there are some, made unique.

A name is used again when the value that had it is needed no more, as people do: `x = x + 1`.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter, defaultdict

from wengert.ir.node import Var

_USED = {"np", "scipy", "special", "base64", "math"}
_USED |= {"range", "len", "float", "complex", "int", "bool", "reversed", "slice"}
_USED |= {name for name in dir(builtins) if name.endswith("Error")}


class Names:
    """The names of one generated function. `reads` says how often each variable will still be read."""

    def __init__(self, reads: Counter[Var]):
        self.reads = reads
        self.holders: dict[str, list[Var]] = defaultdict(list)
        self.reserved: Counter[str] = Counter(_USED)
        self._temporaries = 0

    def is_free(self, name: str) -> bool:
        """Whether nobody needs what has this name now."""
        return not self.reserved[name] and not any(self.reads[v] > 0 for v in self.holders[name])

    def bind(self, var: Var, name: str) -> None:
        """Let a variable have a name that it may share with others."""
        self.holders[name].append(var)

    def new(self, *hints: str | None, otherwise: str | None = None) -> str:
        """A name after the first of the hints that there is."""
        for hint in hints:
            stem = cleaned(hint)
            if stem:
                return self._unique(stem)
        if otherwise:
            return self._unique(otherwise)
        while True:
            name = f"t{self._temporaries}"
            self._temporaries += 1
            if self.is_free(name):
                return name

    def _unique(self, stem: str) -> str:
        name, k = stem, 1
        while not self.is_free(name):
            name, k = f"{stem}_{k}", k + 1
        return name


def cleaned(hint: str | None) -> str:
    """A hint as an identifier, without leading underscores: those are for the functions of the file.

    >>> cleaned("_x.y"), cleaned("lambda"), cleaned(None)
    ('x_y', 'lambda_', '')
    """
    name = re.sub(r"\W", "_", hint or "").strip("_")
    if not name or name[0].isdigit():
        return ""
    return name + "_" if keyword.iskeyword(name) else name
