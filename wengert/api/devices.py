"""On which device arrays are made that meet no others: `device` and `set_device`."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.errors import UnsupportedFunctionError, told
from wengert.running import chosen, making, running


@contextlib.contextmanager
def device(name: str) -> Iterator[None]:
    """Where functions that are being differentiated or compiled make arrays, if nothing else says so.

    Args:
        name: `"cuda"` for the current GPU, `"cuda:1"` for another, by arrays of CuPy; `"cpu"` for NumPy.

    Constructors in a function, such as `np.zeros(n)`, follow the arrays that the function is given; this is about
    functions that are given numbers only. Arguments are not moved: pass arrays of CuPy, which stay where they are.

    >>> import numpy as np, wengert as wg
    >>> with wg.device("cpu"):
    ...     wg.grad(lambda x: np.sum(x * np.ones(3)))(2.0)
    np.float64(3.0)
    """
    library, gpu = _library(name)
    with making(library), gpu:
        yield


@told
def set_device(name: str) -> None:
    """The same from now on, in this thread and in those that are started later.

    >>> set_device("cpu")
    """
    library, gpu = _library(name)
    if not isinstance(gpu, contextlib.nullcontext):
        gpu.use()
    running.state.library = chosen[0] = library


def _library(name: str) -> tuple[Any, Any]:
    """An empty array of the library, and what makes the device the current one."""
    kind, _, number = name.partition(":")
    if kind == "cpu" and not number:
        return None, contextlib.nullcontext()
    if kind != "cuda" or (number and not number.isdigit()):
        raise ValueError(f'there is no device {name!r}: write "cpu", "cuda", or "cuda:1"')
    try:
        cupy = importlib.import_module("cupy")
        gpu = cupy.cuda.Device(int(number)) if number else cupy.cuda.Device()
        with gpu:
            return cupy.empty(0, np.float64), gpu
    except Exception as error:
        raise UnsupportedFunctionError(
            f"the device {name!r}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",
            remedy="install CuPy for the version of CUDA of your driver, for instance pip install cupy-cuda12x",
        ) from None
