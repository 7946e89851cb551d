"""`wg.to_torch`: a NumPy function inside PyTorch's autograd.

A `torch.autograd.Function` runs the function on the tensors' memory and answers `backward` with the pullback. When a
graph of the backward pass is wanted (`create_graph=True`), the pullback is applied as such a Function itself, whose
pullback is known as well: so derivatives of any order work.
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
from wengert.api.products import vjp
from wengert.interop.pullbacks import pullback_of


def to_torch(f: Callable, *, jit: bool = False) -> Callable:
    """A NumPy function as a function of PyTorch tensors that PyTorch can differentiate, to any order.

    Args:
        f: a function of numbers, arrays and containers of them.
        jit: whether function and pullback are compiled.

    Returns:
        A function with the arguments of `f`, in which tensors may stand for arrays; results are tensors, on the device
        of the first tensor. It computes on the CPU. Needs PyTorch: the extra `torch`.

    Cost: that of `wg.vjp`. Tensors on the CPU are not copied on the way in.
    """
    torch = package("torch", "torch")
    function = compiled(f) if jit else f

    @functools.wraps(f, updated=())
    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
        device = tensors[0].device if tensors else torch.device("cpu")
        plain_args, plain_kwargs = tree.unflatten(structure, [_array(x) for x in leaves])
        g = OfLeaves(function, plain_args, plain_kwargs)
        given = [leaves[k] if isinstance(leaves[k], torch.Tensor) else torch.as_tensor(leaves[k]) for k in g.places]
        results = _function().apply(g, device, *given)
        return tree.unflatten(g.structure, list(results))

    return of_tensors


def _array(x: Any) -> Any:
    """The array in a tensor's memory; anything else as it is."""
    torch = package("torch", "torch")
    if not isinstance(x, torch.Tensor):
        return x
    return x.detach().cpu().numpy() if x.dim() else x.detach().cpu().numpy()[()]


@functools.cache
def _function() -> Any:
    torch = package("torch", "torch")

    class Applied(torch.autograd.Function):  # type: ignore[name-defined]
        """A function of arrays to a tuple of arrays, applied to tensors."""

        @staticmethod
        def forward(ctx: Any, g: Callable, device: Any, *tensors: Any) -> tuple:
            arrays = [_array(t) for t in tensors]
            ctx.g, ctx.device, ctx.pull = g, device, None
            if any(ctx.needs_input_grad[2:]):
                results, ctx.pull = vjp(g, *arrays)
            else:
                results = g(*arrays)
            ctx.save_for_backward(*tensors)
            return tuple([torch.as_tensor(np.array(y), device=device) for y in results])

        @staticmethod
        def backward(ctx: Any, *cts: Any) -> tuple:
            tensors = ctx.saved_tensors
            if ctx.pull is not None and not torch.is_grad_enabled():
                found = ctx.pull(tuple([_array(ct) for ct in cts]))
                grads: tuple = tuple([torch.as_tensor(np.array(d), device=ctx.device) for d in found])
            else:
                grads = Applied.apply(pullback_of(ctx.g, len(tensors)), ctx.device, *tensors, *cts)
            return (None, None, *grads)

    return Applied
