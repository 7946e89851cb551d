"""Programs of the fixed sample that are known to fail, as (seed, composition)."""

KNOWN: set[tuple[int, str]] = {
    (17, "wg.hvp(jitted_total)"),
    (28, "wg.jit(f)"),
    (51, "wg.jit(f)"),
    (53, "wg.hvp(total, mode='reverse-forward')"),
    (62, "wg.jit(f)"),
    (84, "wg.grad(total, (0, 1, 2))"),
    (100, "wg.jit(f)"),
    (114, "wg.jit(f)"),
    (114, "slope # helpers compiled"),
    (115, "wg.jit(f)"),
    (115, "slope_of_jitted"),
    (116, "wg.jit(f)"),
    (122, "wg.jit(f)"),
    (173, "f # helpers compiled"),
    (191, "wg.vmap(wg.grad(total, (0, 1, 2)))"),
}
