"""What a call of a function does that is decorated with wrapt: its objects are of classes in C, and pretend to be the
function that they wrap. What they hold is documented: the function, and what is called in its place."""

from __future__ import annotations

import functools
from typing import Any


def decorated(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a function or bound method that is wrapped."""
    enabled, wrapped = f._self_enabled, f.__wrapped__
    if enabled is not None and not (enabled() if callable(enabled) else enabled):
        return wrapped(*args, **kwargs)
    instance, kind = f._self_instance, f._self_binding
    if instance is None and f._self_parent is not None and kind in ("function", "callable"):
        if args and isinstance(args[0], getattr(f, "_self_owner", object)):  # a method is called of the class
            return f._self_wrapper(functools.partial(wrapped, args[0]), args[0], args[1:], kwargs)
    elif instance is None or kind == "classmethod":
        instance = getattr(wrapped, "__self__", None)
    return f._self_wrapper(wrapped, instance, args, kwargs)
