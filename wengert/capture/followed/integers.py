"""Functions of integers from Python's `math`, and methods of integers: followed where only the program knows these."""

from __future__ import annotations

import math


def greatest_divisor(*numbers: int) -> int:
    """`math.gcd`."""
    found = 0
    for n in numbers:
        rest = abs(n)
        while rest:
            found, rest = rest, found % rest
    return found


def least_multiple(*numbers: int) -> int:
    """`math.lcm`."""
    found = 1
    for n in numbers:
        if n == 0:
            found = 0
        else:
            found = found // greatest_divisor(found, n) * abs(n)
    return found


def factorial(n: int) -> int:
    """`math.factorial`."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


def selections(n: int, k: int) -> int:
    """`math.comb`."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    found = 1 if k <= n else 0
    for j in range(1, min(k, n - k) + 1):
        found = found * (n - j + 1) // j
    return found


def arrangements(n: int, k: int | None = None) -> int:
    """`math.perm`."""
    if k is None:
        return factorial(n)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    found = 1 if k <= n else 0
    if k <= n:
        for j in range(n - k + 1, n + 1):
            found *= j
    return found


def root(n: int) -> int:
    """`math.isqrt`."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    found = int(math.sqrt(n))
    while found and found > n // found:
        found -= 1
    while found + 1 <= n // (found + 1):
        found += 1
    return found


def power_modulo(base: int, exp: int, mod: int) -> int:
    """`pow` with three arguments: by repeated squaring, so that no product is larger than the square of the modulus."""
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    if exp < 0:
        base, exp = _inverse(base, mod), -exp
    result, base = 1 % mod, base % mod
    while exp:
        if exp & 1:
            result = result * base % mod
        if exp > 1:
            base = base * base % mod
        exp >>= 1
    return result


def _inverse(n: int, mod: int) -> int:
    """By Euclid's algorithm."""
    r, rest, factor, other = n % mod, mod, 1, 0
    while rest:
        quotient = r // rest
        r, rest = rest, r - quotient * rest
        factor, other = other, factor - quotient * other
    if abs(r) != 1:
        raise ValueError("base is not invertible for the given modulus")
    return factor * r % mod


def bit_length(n: int) -> int:
    """`int.bit_length`."""
    count, rest = 0, abs(n)
    while rest:
        rest >>= 1
        count += 1
    return count


def bit_count(n: int) -> int:
    """`int.bit_count`."""
    count, rest = 0, abs(n)
    while rest:
        count += rest & 1
        rest >>= 1
    return count
