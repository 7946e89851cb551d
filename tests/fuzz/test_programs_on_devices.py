"""Random programs give on a strict device what they give on NumPy's arrays (`tests/gpu` does the same on a GPU)."""

from __future__ import annotations

import emulated_device
import pytest
from strict_array import StrictArray, host, strict

from fuzz.on_device import outcomes, useful_program
from fuzz.program import text_of

CHUNK, FAILED = 5, 0.25
"""So many programs at a time, and how many of their runs may be refused, or need what the library does not have."""
assert emulated_device.EmulatedDevice


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 20, CHUNK))
def test_a_fixed_sample(start):
    failed = runs = 0
    for seed in range(start, start + CHUNK):
        program = useful_program(seed)
        if program is None:
            continue
        for way, outcome in outcomes(program, strict, lambda y: host(y) if isinstance(y, StrictArray) else y).items():
            assert not outcome.startswith("wrong"), f"seed {seed}, {way}: {outcome}\n{text_of(program)}"
            failed, runs = failed + (outcome != "same"), runs + 1
    assert failed <= FAILED * runs
