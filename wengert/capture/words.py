"""Arrays of texts and objects of which data choose the elements: `categories[np.digitize(x, bins)]`.

Compiled code computes with numbers, so nobody can say in it what such an element is. But many functions only put such a
label beside the numbers that they compute. So the array is there, as a `ChosenWords`, can be written to and put away;
whoever looks at it, or returns it, is told that this is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.errors import StagingError


def are_words(container: Any) -> bool:
    """Whether a plain array holds texts or objects."""
    return container.__class__ is np.ndarray and container.dtype.kind in "OUST"


def refused(*args: Any, **kwargs: Any) -> Any:
    raise StagingError(
        "texts or objects that were chosen by values known only when the compiled program runs are used, or returned; "
        "compiled code computes with numbers",
        remedy="choose them outside, from the numbers that the function returns, or use jit(f, fallback=True)",
    )


class ChosenWords:
    """Texts or objects that the running program would choose. It holds the symbols that do, so that it is not returned
    in a container that nobody looks into."""

    __slots__ = ("_chosen_by",)
    __array_ufunc__ = None

    def __init__(self, chosen_by: Any):
        self._chosen_by = chosen_by

    def __setitem__(self, key: Any, value: Any) -> None:
        """What they are was not known before."""

    def __getitem__(self, key: Any) -> ChosenWords:
        return self

    __getattr__ = __array__ = __len__ = __iter__ = __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = refused
    __ge__ = __contains__ = __add__ = __radd__ = __mul__ = __rmul__ = __str__ = __format__ = __int__ = refused
    __float__ = __index__ = __hash__ = refused
