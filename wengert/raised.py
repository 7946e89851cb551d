"""Exceptions by name: compiled code knows the name of what it raises, and the class is looked up when it does."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np


def name_of(kind: type[BaseException]) -> str:
    """A name under which `class_named` finds a class again; for one that has none, that of the nearest base with one.

    >>> name_of(KeyError), name_of(np.linalg.LinAlgError)
    ('KeyError', 'LinAlgError')
    """
    for base in kind.__mro__:
        for name in (base.__name__, f"{base.__module__}:{base.__qualname__}"):
            if _found(name) is base:
                return name
    return "RuntimeError"


def class_named(name: str) -> Any:
    """The exception of that name: a builtin one, one of NumPy's, or `module:name`.

    >>> class_named("IndexError"), class_named("LinAlgError")
    (<class 'IndexError'>, <class 'numpy.linalg.LinAlgError'>)
    """
    found = _found(name)
    return found if isinstance(found, type) and issubclass(found, BaseException) else RuntimeError


def made(name: str, text: str) -> BaseException:
    """An exception of that name with a text. Its class may want other arguments than a text, so it is not asked."""
    kind = class_named(name)
    if kind.__module__ in ("builtins", "numpy.linalg", "numpy.exceptions"):
        return kind(text)
    error = kind.__new__(kind, text)
    error.args = (text,)
    return error


def _found(name: str) -> Any:
    module, separator, path = name.partition(":")
    if not separator:
        return getattr(builtins, name, None) or getattr(np.linalg, name, None) or getattr(np.exceptions, name, None)
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found
