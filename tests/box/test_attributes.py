"""The attributes of traced arrays: NumPy's, and no others that a library could take for its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.box.box import Box
from wengert.modes.batch import Batch
from wengert.modes.dual import Dual
from wengert.modes.tape import Tape


@pytest.mark.parametrize("kind", [Box, Tape, Dual, Batch])
def test_public_attributes_are_those_of_numpy(kind: type) -> None:
    public = {name for name in dir(kind) if not name.startswith("_")}
    assert public <= set(dir(np.ndarray)) - {"value", "state", "units"}


class Quantity:
    """As packages of units do it: what has a value is asked for it."""

    def __init__(self, a: Any):
        self.held = getattr(a, "value", a)


@pytest.mark.parametrize("how", [lambda f: f, wg.jit])
def test_an_object_that_asks_for_a_value_keeps_the_derivative(how: Any) -> None:
    assert how(wg.grad(lambda k: Quantity(k * 3.0).held))(2.0) == 3.0
    assert wg.jvp(lambda k: Quantity(k * 3.0).held, (2.0,), (1.0,))[1] == 3.0
