"""Second derivatives: `hessian`, `hvp` and what is computed along with them.

The Hessian is the Jacobian of the gradient. Forward on reverse is the default everywhere: the inner reverse sweep
costs a constant times the function, the outer tangents ride along, all at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Literal, Unpack, overload

from wengert import tree
from wengert.api.arguments import Argnums, Prepared
from wengert.api.budget import Budgeted, Memory, budget_of
from wengert.api.grad import grad, value_and_grad
from wengert.api.jacobian import jacobian, sparse_derivatives, value_and_jacobian
from wengert.api.operators import Operated, operation, result_of
from wengert.api.products import jvp
from wengert.api.signatures import Array, P, V, X
from wengert.api.sparse import is_sparse
from wengert.errors import MismatchError
from wengert.ops.shape import sum


@overload
def hessian(
    f: Callable[Concatenate[V, P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    sparse: Literal[False] = False,
    **budget: Unpack[Budgeted],
) -> Operated[Concatenate[V, P], Array]: ...
@overload
def hessian(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    sparse: Any = False,
    **budget: Unpack[Budgeted],
) -> Operated[P, Any]: ...
@operation
def hessian(f: Callable, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False,
            sparse: Any = False, *, checkpoints: int | None = None, memory: Memory = None,
            spill: str | None = None) -> Callable:  # fmt: skip
    """All second derivatives of a function with one real result.

    Arguments as for `grad`. The result has the containers of the argument, twice nested, with arrays of shape
    `x.shape + x.shape`. With `has_aux`, `(hessian, aux)`. With `sparse=True`, or a pattern, they are sparse matrices of
    shape `(x.size, x.size)`, as those of `jacobian` are.

    Cost: as many tangents as there are inputs, all at once, on one gradient; with `sparse`, as many as a star colouring
    of the pattern has colours.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    >>> hessian(lambda x: np.sum(x[1:] * x[:-1]), sparse=True)(np.ones(3)).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    budget = budget_of(checkpoints, memory, spill)
    gradient = grad(f, argnums, has_aux, holomorphic)
    if not is_sparse(sparse):
        return result_of("hessian", f, budget)(jacobian(gradient, argnums, "forward", has_aux, holomorphic))
    both = sparse_derivatives("hessian", f, gradient, argnums, "symmetric", has_aux, holomorphic, sparse)

    @result_of("hessian", f, budget)
    def second_derivatives(*args: Any, **kwargs: Any) -> Any:
        value, result = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return second_derivatives


def _gradient_and_second(f: Callable, g: Callable, argnums: Argnums, has_aux: bool, sparse: Any) -> Callable:
    """A gradient, and its Jacobian."""
    if is_sparse(sparse):
        return sparse_derivatives("hessian", f, g, argnums, "symmetric", has_aux, False, sparse)
    return value_and_jacobian(g, argnums, "forward", has_aux)


@operation
def grad_and_hessian(f: Callable, argnums: Argnums = 0, has_aux: bool = False, sparse: Any = False, *,
                     checkpoints: int | None = None, memory: Memory = None,
                     spill: str | None = None) -> Callable:  # fmt: skip
    """`(gradient, hessian)`, at the cost of the Hessian; with `has_aux`, `((gradient, aux), hessian)`.

    >>> grad_and_hessian(lambda x: x**3)(2.0)
    (np.float64(12.0), np.float64(12.0))
    """
    return result_of("grad_and_hessian", f, budget_of(checkpoints, memory, spill))(
        _gradient_and_second(f, grad(f, argnums, has_aux), argnums, has_aux, sparse)
    )


@operation
def value_grad_and_hessian(f: Callable, argnums: Argnums = 0, has_aux: bool = False, sparse: Any = False, *,
                           checkpoints: int | None = None, memory: Memory = None,
                           spill: str | None = None) -> Callable:  # fmt: skip
    """`(value, gradient, hessian)`, at the cost of the Hessian; with `has_aux`, `((value, aux), gradient, hessian)`.

    >>> value_grad_and_hessian(lambda x: x**3)(2.0)
    (8.0, np.float64(12.0), np.float64(12.0))
    """

    both = value_and_grad(f, argnums, has_aux)

    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return gradient, value

    first_and_second = _gradient_and_second(f, gradient_and_value, argnums, True, sparse)

    @result_of("value_grad_and_hessian", f, budget_of(checkpoints, memory, spill))
    def all_three(*args: Any, **kwargs: Any) -> Any:
        (gradient, value), second = first_and_second(*args, **kwargs)
        return value, gradient, second

    return all_three


@overload
def hvp(
    f: Callable[Concatenate[X, P], Any],
    argnums: Literal[0] = 0,
    mode: str = "forward-reverse",
    has_aux: Literal[False] = False,
    **budget: Unpack[Budgeted],
) -> Operated[..., X]: ...
@overload
def hvp(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    mode: str = "forward-reverse",
    has_aux: bool = False,
    **budget: Unpack[Budgeted],
) -> Operated[..., Any]: ...
@operation
def hvp(f: Callable, argnums: Argnums = 0, mode: str = "forward-reverse", has_aux: bool = False, *,
        checkpoints: int | None = None, memory: Memory = None, spill: str | None = None) -> Callable:  # fmt: skip
    """The Hessian times a vector, without the Hessian: `hvp(f)(x, v)`.

    The vector is the last positional argument, in the containers of the differentiated argument.

    Args:
        mode: "forward-reverse" differentiates the gradient along v (the cheapest), "reverse-forward" takes the
            gradient of the derivative along v, "reverse-reverse" the gradient of <gradient, v>.
        checkpoints, memory, spill: what reverse mode may keep of loops, as for `grad`.

    Returns:
        H v in the containers of the argument; with `has_aux`, `(H v, aux)`.

    Cost: a small multiple of the gradient.

    >>> import numpy as np
    >>> hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    both = grad_and_hvp(f, argnums, mode, has_aux, checkpoints=checkpoints, memory=memory, spill=spill)

    @result_of("hvp", f)
    def product(*args: Any, **kwargs: Any) -> Any:
        gradient, result = both(*args, **kwargs)
        return (result, gradient[1]) if has_aux else result

    return product


@operation
def grad_and_hvp(f: Callable, argnums: Argnums = 0, mode: str = "forward-reverse", has_aux: bool = False, *,
                 checkpoints: int | None = None, memory: Memory = None,
                 spill: str | None = None) -> Callable:  # fmt: skip
    """`(gradient, H v)`, at the cost of `hvp`; with `has_aux`, `((gradient, aux), H v)`.

    >>> grad_and_hvp(lambda x: x**3)(2.0, 1.0)
    (np.float64(12.0), np.float64(12.0))
    """
    if not isinstance(mode, str) or mode not in _SECOND:
        raise ValueError(f"mode is one of {', '.join(_SECOND)}, not {mode!r}")

    @result_of("grad_and_hvp", f, budget_of(checkpoints, memory, spill))
    def gradient_and_product(*args: Any, **kwargs: Any) -> Any:
        if len(args) < 2:
            raise MismatchError(
                f"the Hessian is multiplied by a vector, which is missing: there are {len(args)} argument(s)",
                remedy="call it with the arguments of the function and then the vector: wg.hvp(f)(x, v)",
            )
        *args_of_f, v = args
        prepared = Prepared(f, argnums, tuple(args_of_f), kwargs, has_aux)
        g, x = prepared.restricted, prepared.inputs(prepared.leaves)
        vector = prepared.inputs(prepared.input_leaves(v, "the vector"))
        gradient, product, aux = _SECOND[mode](g, x, vector, has_aux)
        return ((gradient, aux), product) if has_aux else (gradient, product)

    return gradient_and_product


def _forward_reverse(g: Callable, x: Any, v: Any, has_aux: bool) -> tuple:
    gradient, product, *aux = jvp(grad(g, 0, has_aux), (x,), (v,), has_aux)
    return gradient, product, aux[0] if has_aux else None


def _reverse_forward(g: Callable, x: Any, v: Any, has_aux: bool) -> tuple:
    product = grad(lambda x: jvp(g, (x,), (v,), has_aux)[1])(x)
    found = grad(g, 0, has_aux)(x)
    return (found[0], product, found[1]) if has_aux else (found, product, None)


def _reverse_reverse(g: Callable, x: Any, v: Any, has_aux: bool) -> tuple:
    def along(x: Any) -> Any:
        found = grad(g, 0, has_aux)(x)
        gradient, aux = found if has_aux else (found, None)
        total: Any = 0.0
        for a, b in zip(tree.flatten_values(gradient)[0], tree.flatten_values(v)[0], strict=True):
            total = total + sum(a * b)
        return total, (gradient, aux)

    product, (gradient, aux) = grad(along, has_aux=True)(x)
    return gradient, product, aux


_SECOND = {
    "forward-reverse": _forward_reverse,
    "reverse-forward": _reverse_forward,
    "reverse-reverse": _reverse_reverse,
}
