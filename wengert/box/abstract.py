"""Boxes without a value: all that is known of what they stand for is its shape and dtype."""

from __future__ import annotations

import numpy as np

from wengert.box.box import Box


class AbstractBox(Box):
    """What symbols of a program, unknown tangents and sparsity patterns have in common: `_aval` instead of `_value`."""

    __slots__ = ()

    @Box.shape.getter  # type: ignore[attr-defined]
    def shape(self) -> tuple[int, ...]:
        return self._aval.shape

    @Box.dtype.getter  # type: ignore[attr-defined]
    def dtype(self) -> np.dtype:
        return self._aval.dtype
