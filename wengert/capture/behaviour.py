"""What instances of users' classes do: a compiled function is for the classes that it met, as they were then.

Nobody reads a method in `a + b`, `a(x)`, `a[k]`, `with a` or `p.energy`, so no guard of what was read sees that it was
replaced. Classes are therefore compared as a whole: whatever decides what an instance does, which is their methods,
descriptors and special attributes, and those of their bases. Other attributes of classes are data, which count where
they are read (`session.py`). Objects from outside have to be of the class that they were of.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from wengert.capture.classes import followed

_NOTES = frozenset(
    (
        "__doc__", "__module__", "__annotations__", "__annotations_cache__", "__annotate__", "__annotate_func__",
        "__weakref__", "__dict__", "__qualname__", "__firstlineno__", "__static_attributes__",
    )
)  # fmt: skip
"""Special attributes that say something about a class, but not what its instances do."""


class Behaviour(NamedTuple):
    """What one class itself (not its bases) states of its instances."""

    cls: type
    names: tuple[str, ...]
    values: tuple
    """All that the class had. While it is the same, there is nothing more to look at."""
    stated: dict[str, Any]

    @classmethod
    def of(cls, kind: type) -> Behaviour:
        return cls(kind, tuple(vars(kind)), tuple(vars(kind).values()), _stated(kind))

    def holds(self) -> bool:
        now = vars(self.cls)
        if all(map(operator.is_, now.values(), self.values)) and tuple(now) == self.names:
            return True
        new = _stated(self.cls)
        return new.keys() == self.stated.keys() and all(new[name] is value for name, value in self.stated.items())


def _stated(kind: type) -> dict[str, Any]:
    return {n: v for n, v in vars(kind).items() if n not in _NOTES and (_is_special(n) or _is_descriptor(v))}


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_descriptor(value: Any) -> bool:
    return hasattr(value.__class__, "__get__")


class BehaviourGuard(NamedTuple):
    """Objects from outside with their classes, and all classes that were met with their bases."""

    objects: list[Any]
    classes: list[type]
    met: list[tuple[type, tuple[type, ...]]]
    behaviours: list[Behaviour]
    codes: list[tuple[Any, CodeType]]
    """The methods that ran, with their code, which may be replaced in place."""

    def holds(self) -> bool:
        for thing, kind in zip(self.objects, self.classes, strict=True):
            if thing.__class__ is not kind:
                return False
        for kind, bases in self.met:
            if kind.__mro__ is not bases and kind.__mro__ != bases:
                return False
        for f, code in self.codes:
            if f.__code__ is not code:
                return False
        return all(b.holds() for b in self.behaviours)


def methods_among(functions: list[FunctionType], behaviours: Iterable[Behaviour]) -> list[tuple[Any, CodeType]]:
    """The functions that classes have as methods, with their code."""
    stated = [value for behaviour in behaviours for value in behaviour.stated.values()]
    methods = {id(followed(getattr(v, part, None))) for v in stated for part in ("__func__", "fget", "fset", "func")}
    methods.update([id(followed(v)) for v in stated])
    return [(f, f.__code__) for f in functions if id(f) in methods]
