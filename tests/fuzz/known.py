"""Programs of the fixed sample that are known to fail, as (seed, composition)."""

KNOWN: set[tuple[int, str]] = set()
