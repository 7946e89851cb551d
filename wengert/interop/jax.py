"""`wg.to_jax`: a NumPy function inside JAX's transformations.

`jax.pure_callback` calls the function from compiled code, and `jax.custom_vjp` says that its derivative is its
pullback: a callback again, whose pullback is known as well, so reverse mode nests to any depth.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.flat import OfLeaves
from wengert.api.jit import jit as compiled
from wengert.api.optional import package
from wengert.errors import WengertError
from wengert.interop.pullbacks import pullback_of


def to_jax(f: Callable, *, jit: bool = False) -> Callable:
    """A NumPy function as a function of JAX arrays, for `jax.grad`, `jax.jit` and `jax.vmap`.

    Args:
        f: a function of numbers, arrays and containers of them. It is called from JAX's compiled code.
        jit: whether function and pullback are compiled by this library.

    Returns:
        A function with the arguments of `f`; arrays in them may be JAX's. Reverse mode nests: the Hessian is
        `jax.jacrev(jax.grad(g))`; JAX does not allow forward mode through such functions. Needs JAX: the extra `jax`.
    """
    package("jax", "jax")
    function = compiled(f) if jit else f
    known: dict[Any, tuple[list[Any], Any]] = {}

    @functools.wraps(f, updated=())
    def of_jax_arrays(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        examples = [_example(x) for x in leaves]
        plain_args, plain_kwargs = tree.unflatten(structure, examples)
        g = OfLeaves(function, plain_args, plain_kwargs)
        key = (structure, *[(np.shape(x), str(getattr(x, "dtype", type(x)))) for x in examples])
        if key not in known:
            known[key] = (_results_like(g), g.structure)
        results, out = known[key]
        return tree.unflatten(out, list(_callback(g, g.leaves, results)(*[leaves[k] for k in g.places])))

    return of_jax_arrays


def _example(x: Any) -> Any:
    """Ones in place of a JAX array, whose values are not known when a function is traced; anything else as it is."""
    if hasattr(x, "aval") and hasattr(x, "dtype"):
        return np.ones(x.shape, x.dtype)[()]
    return x


def _callback(g: Callable[..., tuple], inputs: list[Any], outputs: list[Any]) -> Callable:
    """A function of arrays to a tuple of arrays, like these, as one of JAX's, with its pullback."""
    jax = package("jax", "jax")
    shapes = [jax.ShapeDtypeStruct(np.shape(y), np.asarray(y).dtype) for y in outputs]

    def on_host(*arrays: Any) -> list[np.ndarray]:
        results = g(*[np.asarray(a)[()] for a in arrays])
        return [np.asarray(y, s.dtype) for y, s in zip(results, shapes, strict=True)]

    @jax.custom_vjp
    def called(*arrays: Any) -> Any:
        return jax.pure_callback(on_host, shapes, *arrays, vmap_method="sequential")

    def forward(*arrays: Any) -> Any:
        return called(*arrays), arrays

    def backward(arrays: Any, cts: Any) -> tuple:
        return tuple(_callback(pullback_of(g, len(inputs)), [*inputs, *outputs], inputs)(*arrays, *cts))

    called.defvjp(forward, backward)
    return called


def _results_like(g: OfLeaves) -> list[Any]:
    """Arrays of the shapes and dtypes of a function's results: found by capturing it, if need be by running it."""
    try:
        found = compiled(g).lower(*g.leaves).program.block.results
        if all(r.type.is_static for r in found):
            return [np.empty(r.type.shape, r.type.dtype) for r in found]
    except WengertError:
        pass
    with np.errstate(all="ignore"):
        return list(g(*g.leaves))
