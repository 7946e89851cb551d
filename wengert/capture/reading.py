"""To which functions a container from outside is passed that only read items of it: `def rate(p): return p["rate"]`.

Such a container need not be compared as a whole whenever the program is called, only what was read of it. Passing it on
to another function counts as reading if that one only reads (`only_read.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FunctionType, MethodType
from typing import Any

from wengert.capture.guards import has_fields
from wengert.capture.locate import locate
from wengert.capture.lower import can_be_lowered
from wengert.capture.of_code import OfCode
from wengert.capture.only_read import only_read

_known = OfCode()
"""What `only_read` says of functions, by their code."""


def containers_only_read(f: Any, passed: Sequence[Any], args: tuple, kwargs: dict[str, Any]) -> Iterator[Any]:
    """Those containers among the arguments of a call, of the ones that were `passed`, of which only items are read."""
    first = 0
    if type(f) is MethodType:
        f, first = f.__func__, 1
    if type(f) is not FunctionType:
        return
    code = f.__code__
    reads = _known.get(code)
    if reads is None:
        found = locate(code, f.__globals__)
        is_seen = found is not None and can_be_lowered(found.node)
        reads = _known.put(code, only_read(found.node) if found is not None and is_seen else {})
    names = code.co_varnames[first : code.co_argcount]
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if name in reads and any(value is container for container in passed):
            if has_fields(value, reads[name]):
                yield value
