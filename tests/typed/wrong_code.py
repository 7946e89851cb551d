"""What type checkers must reject (`test_typing.py`): on each marked line there is an error, and on no other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import wengert as wg

Array = NDArray[np.float64]


def loss(w: Array, scale: float) -> float:
    return float(np.sum(w)) * scale


def mistakes() -> None:
    w = np.ones(3)
    wg.jit(loss)(w)  # wrong
    wg.jit(loss)(w, "two")  # wrong
    wg.grad(loss)(w)  # wrong
    wg.grad(loss)(w, 1.0, 2.0)  # wrong
    wg.grad(3.0)  # wrong
    text: str = wg.grad(loss)(w, 1.0)  # wrong
    print(text)
    wg.value_and_grad(loss)(w, 1.0)[1].missing()  # wrong
    wg.jit(loss, static_argnumbers=1)  # wrong
