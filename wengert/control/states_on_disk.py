"""States of loops on disk, where memory is too small for them.

The states of a loop are a stack: the last one that was written is needed first, and its place is free afterwards. So
they are one file, which the system removes when nobody has it open any more, whatever happens to the process.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, NamedTuple

import numpy as np

_SMALL = 512
"""So many bytes are not worth a place in a file."""


class PlaceOnDisk(NamedTuple):
    """Where an array stands in the file."""

    start: int
    shape: tuple[int, ...]
    dtype: np.dtype


class StatesOnDisk:
    """A file with arrays, one after the other."""

    def __init__(self, folder: str):
        os.makedirs(folder, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=folder, prefix="wengert-", buffering=0)  # noqa: SIM115 (while it is needed)
        self.end = 0

    @staticmethod
    def takes(x: Any) -> bool:
        """Whether something is an array that is worth it."""
        return x.__class__ is np.ndarray and x.nbytes >= _SMALL and not x.dtype.hasobject

    def write(self, x: np.ndarray, start: int | None = None) -> PlaceOnDisk:
        """Write an array where the file ends, or where it is said to start."""
        place = PlaceOnDisk(self.end if start is None else start, x.shape, x.dtype)
        rest = np.ascontiguousarray(x).reshape(-1).view(np.uint8).data
        self._file.seek(place.start)
        while rest:
            rest = rest[self._file.write(rest) :]
        self.end = max(self.end, place.start + x.nbytes)
        return place

    def read(self, place: PlaceOnDisk) -> np.ndarray:
        x = np.empty(place.shape, place.dtype)
        rest = x.reshape(-1).view(np.uint8).data
        self._file.seek(place.start)
        while rest:
            count = self._file.readinto(rest)
            if not count:
                raise OSError("a file with states of a loop has become shorter while it was needed")
            rest = rest[count:]
        return x
