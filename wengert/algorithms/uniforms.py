"""Uniform random numbers in compiled loops: SplitMix64 (Steele, Lea, Flood 2014), whose state is one integer.

A loop that does not know how many it needs starts from a seed that a NumPy generator drew.
"""

from __future__ import annotations

import numpy as np


def uniform(state):
    """The next state, and a number in (0, 1)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return state, ((z >> np.uint64(11)) + 0.5) * 2.0**-53
