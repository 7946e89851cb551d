"""Models in files: NumPy's `.npz`, and the safetensors format that other libraries read.

A file in that format is the length of a header in 8 bytes, the header in JSON (of each array its type, shape, and where
it lies), and the arrays, one after the other.
"""

from __future__ import annotations

import json
import os
import secrets
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from wengert.errors import MismatchError, told
from wengert.nn.parameters import named, with_arrays

_TYPES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
    "I8": np.int8, "U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64, "BOOL": np.bool_,
    "C64": np.complex64,
}  # fmt: skip
_NAMES = {np.dtype(t): name for name, t in _TYPES.items()}


@told
def save(path: Any, model: Any) -> None:
    """Write the arrays of a model, or of any container, to a `.npz` or `.safetensors` file.

    The file is written beside and then moved to its place, so that there is never half of one.

    >>> import tempfile
    >>> from wengert import nn
    >>> model = nn.Dense(3, 2, rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nn.save(folder + "/model.npz", model)
    ...     again = nn.load(folder + "/model.npz", nn.Dense(3, 2, rng=1))
    >>> bool(np.all(again.weight == model.weight))
    True
    """
    write(path, {name: np.asarray(leaf) for name, leaf in named(model).items()})


@told
def load(path: Any, model: Any) -> Any:
    """A model like the one that is given, with arrays from a `.npz` or `.safetensors` file.

    Arrays that are one in the model that is given stay one.
    """
    return with_arrays(model, read(path))


def write(path: Any, arrays: dict[str, np.ndarray]) -> None:
    """Arrays by name into a file."""
    path = Path(path)
    if path.suffix not in (".npz", ".safetensors"):
        raise MismatchError(f"a file named {path.name}", remedy="save to a .npz or .safetensors file")
    beside = path.with_name(f".{path.stem}.{secrets.token_hex(8)}{path.suffix}")
    try:
        with open(beside, "xb") as file:
            if path.suffix == ".npz":
                _write_npz(file, arrays)
            else:
                _write_safetensors(file, arrays)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read(path: Any) -> dict[str, np.ndarray]:
    """The arrays of a file by name."""
    path = Path(path)
    if path.suffix == ".safetensors":
        return _read_safetensors(path.read_bytes())
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _write_npz(file: Any, arrays: dict[str, np.ndarray]) -> None:
    """As `np.savez` does it, which takes arrays of some names, such as `file`, for arguments of its own."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, x in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, x, allow_pickle=False)


def _write_safetensors(file: Any, arrays: dict[str, np.ndarray]) -> None:
    header, end = {}, 0
    for name, x in arrays.items():
        if x.dtype not in _NAMES:
            raise MismatchError(f"{name} is of type {x.dtype}, which safetensors has not", remedy="save to .npz")
        header[name] = {"dtype": _NAMES[x.dtype], "shape": list(x.shape), "data_offsets": [end, end + x.nbytes]}
        end += x.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<Q", len(text)) + text)
    for x in arrays.values():
        file.write(np.ascontiguousarray(x).astype(x.dtype.newbyteorder("<"), copy=False).tobytes())


def _read_safetensors(data: bytes) -> dict[str, np.ndarray]:
    start = 8 + int.from_bytes(data[:8], "little")
    if not 8 < start <= len(data):
        raise MismatchError("no file in the safetensors format", remedy="look whether it was written to its end")
    header = json.loads(data[8:start])
    found = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in _TYPES:
            raise MismatchError(f"{name} is of type {entry['dtype']}, which NumPy has not", remedy="convert the file")
        first, last = entry["data_offsets"]
        if start + last > len(data):
            raise MismatchError(f"the file ends within {name}", remedy="look whether it was written to its end")
        dtype = np.dtype(_TYPES[entry["dtype"]]).newbyteorder("<")
        x = np.frombuffer(data[start + first : start + last], dtype).reshape(entry["shape"])
        found[name] = x.astype(dtype.newbyteorder("="))
    return found
