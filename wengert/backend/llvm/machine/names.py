"""Names of values in a function of LLVM."""

from __future__ import annotations

from llvmlite.ir._utils import NameScope


class NumberedNames(NameScope):
    """Names with numbers, which differ by these: nothing is looked up, as llvmlite does for each.

    >>> names = NumberedNames()
    >>> names.register("x", deduplicate=True), names.register("x", deduplicate=True)
    ('x_1', 'x_2')
    """

    def __init__(self) -> None:
        super().__init__()
        self._last = 0

    def register(self, name: str, deduplicate: bool = False) -> str:
        if not deduplicate:
            return super().register(name)
        self._last += 1
        return f"{name}_{self._last}"
