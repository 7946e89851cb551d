"""Functions of the package bottleneck, which pandas and others call in place of NumPy's: they mean the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.dispatch import implements_blind
from wengert.imported import when_imported

_SAME = ("nansum", "nanmean", "nanmin", "nanmax", "nanmedian", "median", "nanargmin", "nanargmax")


@when_imported("bottleneck")
def _bottleneck(module: Any) -> None:
    for name in _SAME:
        _means(getattr(module, name), getattr(np, name))
    implements_blind(module.nanstd)(lambda a, axis=None, ddof=0: np.nanstd(a, axis, ddof=ddof))
    implements_blind(module.nanvar)(lambda a, axis=None, ddof=0: np.nanvar(a, axis, ddof=ddof))
    implements_blind(module.ss)(lambda a, axis=None: np.sum(a * a, axis))


def _means(function: Any, of_numpy: Any) -> None:
    implements_blind(function)(lambda a, axis=None: of_numpy(a, axis))
