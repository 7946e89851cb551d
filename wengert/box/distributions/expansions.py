"""Series and continued fractions, evaluated backwards from a depth: of what `tails.py` has logarithms of.

These are plain loops, followed like a user's (`packages.py`), so that in a compiled program the depth may be computed.
"""

from __future__ import annotations

from typing import Any


def gamma_series(depth: int, a: Any, x: Any) -> Any:
    """Σ xⁿ/((a + 1)…(a + n)) (DLMF 8.11.4)."""
    total = 1 + 0 * (a * x)
    for n in range(depth, 0, -1):
        total = 1 + total * (x / (a + n))
    return total


def gamma_fraction(depth: int, a: Any, x: Any) -> Any:
    """x + 1 − a − 1(1 − a)/(x + 3 − a − 2(2 − a)/(x + 5 − a − …)) (DLMF 8.9.2)."""
    total = x + (2 * depth + 1) - a
    for n in range(depth, 0, -1):
        total = x + (2 * n - 1) - a - n * (n - a) / total
    return total


def beta_fraction(depth: int, a: Any, b: Any, x: Any) -> Any:
    """1 + d₁/(1 + d₂/(1 + …)) (DLMF 8.17.22)."""
    total = 1 + 0 * (a * b * x)
    for m in range(depth, -1, -1):
        even = (m + 1) * (b - (m + 1)) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        total = 1 + odd / (1 + even / total)
    return total
