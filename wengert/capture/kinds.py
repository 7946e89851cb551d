"""What kind of thing something is that a function meets: whose module or class, whose instance."""

from __future__ import annotations

import itertools
import sys
from argparse import Namespace
from collections.abc import Iterator
from io import IOBase
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.distributions.lookup import is_of_scipy_stats
from wengert.capture.effects import USED_UP_ONCE
from wengert.capture.instrument import is_user_file
from wengert.errors import StagingError
from wengert.types import has_own_dict, own_dict


def is_of_user(thing: Any) -> bool:
    """Whether a module, or a class, is of the user's own source."""
    module = thing if thing.__class__ is ModuleType else sys.modules.get(thing.__module__)
    about = own_dict(module)  # (what stands for a module may be an object of a class that is followed, too)
    if module is not None and (about.get("__name__") == "__main__" or about.get("__spec__") is None):
        return True  # (which has no file where Python is used interactively), or a module that was made by hand
    return is_user_file(about.get("__file__") or "<frozen>")


def is_object(thing: Any) -> bool:
    """Whether something is an instance of a user's class, or of Python's records, with attributes that can be set."""
    kind = thing.__class__
    has_attributes = has_own_dict(thing) or hasattr(kind, "__slots__")
    if not has_attributes or isinstance(thing, (type, ModuleType, FunctionType, MethodType, Box)):
        return False
    return (is_of_user(kind) and not hasattr(kind, "__wrapped__")) or kind in (SimpleNamespace, Namespace)


def is_method_of_array(f: Any) -> bool:
    """Whether something is a method of a plain array, such as `A.dot`."""
    return f.__class__ in (BuiltinFunctionType, MethodWrapperType) and isinstance(f.__self__, np.ndarray)


def is_of_libraries(thing: Any) -> bool:
    """Whether something is an object of NumPy's or SciPy's with attributes that may change, such as a spline."""
    no_objects = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType, np.ufunc)
    gives_attributes: Any = type(thing).__getattribute__
    if gives_attributes is not object.__getattribute__:  # which may have none, as a file that was read
        return False
    if isinstance(thing, no_objects) or is_of_scipy_stats(thing):
        return False
    return thing.__class__.__module__.partition(".")[0] in ("numpy", "scipy") and not isinstance(thing, np.generic)


def class_sharing(thing: Any, name: str, value: Any) -> type | None:
    """The class of the user's that an object made inside shares an attribute with: data from outside."""
    if name in own_dict(thing):
        return None
    for kind in thing.__class__.__mro__:
        if name in vars(kind):
            return thing.__class__ if vars(kind)[name] is value and is_of_user(kind) else None
    return None


def refuse_iterator(thing: Any) -> None:
    """Each call would go on where the one before has stopped. (A count does: `next_number` in `outside.py`.)"""
    no_others = (IOBase, Box, itertools.count)
    if isinstance(thing, Iterator) and not isinstance(thing, no_others) and not is_object(thing):
        raise StagingError(
            USED_UP_ONCE, remedy="make a list of it before, or call next outside and pass what it gives as an argument"
        )
