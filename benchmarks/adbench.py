"""The data of the ADBench suite (Šrajer, Kukelova and Fitzgibbon 2018), or random numbers of the same shapes.

The files belong to that suite and are not part of this repository. They are looked for in the folder that the variable
`ADBENCH_DATA` names, or else in `benchmarks/data/adbench`: `gmm/`, `ba/`, `lstm/`, `hand/` as the suite has them, and
`golden/*.npz` with results of its hand-written derivatives (`F` the value, `J` the derivative). Without them, numbers
are made up, and the results are compared with NumPy's and among the tools only.
"""

import os
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("ADBENCH_DATA") or Path(__file__).with_name("data") / "adbench")
TOLERANCE = 1e-8


def text(name: str) -> str | None:
    """Return what is in a file of the suite, or None if it is not there."""
    path = FOLDER / name
    return path.read_text() if path.exists() else None


def numbers(name: str) -> np.ndarray | None:
    """Return all numbers of a file of the suite, in order, or None if it is not there."""
    found = text(name)
    return None if found is None else np.array(found.split(), float)


def taken(values: np.ndarray, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Cut a vector into arrays of the given shapes, one after the other."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [part.reshape(shape).copy() for part, shape in zip(np.split(values, ends), shapes, strict=False)]


def golden(name: str) -> dict[str, np.ndarray] | None:
    """Return the suite's own results for a case, or None if they are not there."""
    path = FOLDER / "golden" / f"{name}.npz"
    if not path.exists():
        return None
    with np.load(path) as found:
        return dict(found)


def error(a: np.ndarray, b: np.ndarray) -> float:
    """Return the suite's measure of difference, |a - b| / max(1, |a| + |b|), at its largest."""
    return float(np.max(np.abs(a - b) / np.maximum(1.0, np.abs(a) + np.abs(b))))
