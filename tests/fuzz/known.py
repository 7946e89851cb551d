"""Programs of the fixed sample that are known to fail, as (seed, composition)."""

KNOWN: set[tuple[int, str]] = {
    (84, "wg.grad(total, (0, 1, 2))"),  # gradient
    (173, "f # helpers compiled"),  # TypeError: iteration over a #-d array at ?
}
