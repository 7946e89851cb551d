"""Whole Jacobians: `jacobian`, `jacfwd`, `jacrev`, `value_and_jacobian`.

A Jacobian is as many products as its smaller side has entries (`dense.py`), or as a colouring of its pattern has
colours (`sparse.py`), computed all at once with a hidden axis. The result has the containers of the function's value,
each leaf holding the containers of the argument, with arrays of shape `value.shape + argument.shape`, or sparse
matrices of shape `(value.size, argument.size)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Literal, Unpack, overload

from wengert.api.arguments import Argnums, Prepared, demand_complex
from wengert.api.budget import Budgeted, Memory, budget_of
from wengert.api.dense import demand_real, value_and_dense
from wengert.api.operators import Operated, operation, result_of
from wengert.api.signatures import Array, P, V
from wengert.api.sparse import Plans, is_sparse, value_and_blocks
from wengert.api.sparsity import of_numbers
from wengert.types import aval_of

MODES = ("auto", "forward", "reverse", "accumulate")
_NAMES = {"auto": "jacobian", "accumulate": "jacobian", "forward": "jacfwd", "reverse": "jacrev"}


@overload
def value_and_jacobian(
    f: Callable[Concatenate[V, P], Array],
    argnums: Literal[0] = 0,
    mode: str = "auto",
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    sparse: Literal[False] = False,
    **budget: Unpack[Budgeted],
) -> Operated[Concatenate[V, P], tuple[Array, Array]]: ...
@overload
def value_and_jacobian(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    mode: str = "auto",
    has_aux: bool = False,
    holomorphic: bool = False,
    sparse: Any = False,
    **budget: Unpack[Budgeted],
) -> Operated[P, Any]: ...
@operation
def value_and_jacobian(f: Callable, argnums: Argnums = 0, mode: str = "auto", has_aux: bool = False,
                       holomorphic: bool = False, sparse: Any = False, *, checkpoints: int | None = None,
                       memory: Memory = None, spill: str | None = None) -> Callable:  # fmt: skip
    """A function that returns the value of `f` and its Jacobian.

    Arguments as for `jacobian`. Returns `(value, jacobian)`; with `has_aux`, `((value, aux), jacobian)`.

    >>> import numpy as np
    >>> value_and_jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    (array([1., 4.]), array([[2., 0.],
           [0., 4.]]))
    """
    budget = budget_of(checkpoints, memory, spill)
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
    if is_sparse(sparse):
        both = sparse_derivatives("value_and_jacobian", f, f, argnums, mode, has_aux, holomorphic, sparse)
        return result_of("value_and_jacobian", f, budget)(both)

    if mode == "accumulate":
        raise ValueError('mode="accumulate" gives sparse matrices: write sparse=True')
    return result_of("value_and_jacobian", f, budget)(value_and_dense(f, argnums, mode, has_aux, holomorphic))


@overload
def jacobian(
    f: Callable[Concatenate[V, P], Array],
    argnums: Literal[0] = 0,
    mode: str = "auto",
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    sparse: Literal[False] = False,
    **budget: Unpack[Budgeted],
) -> Operated[Concatenate[V, P], Array]: ...
@overload
def jacobian(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    mode: str = "auto",
    has_aux: bool = False,
    holomorphic: bool = False,
    sparse: Any = False,
    **budget: Unpack[Budgeted],
) -> Operated[P, Any]: ...
@operation
def jacobian(f: Callable, argnums: Argnums = 0, mode: str = "auto", has_aux: bool = False,
             holomorphic: bool = False, sparse: Any = False, *, checkpoints: int | None = None,
             memory: Memory = None, spill: str | None = None) -> Callable:  # fmt: skip
    """All first derivatives of a function.

    Args:
        f: a function of numbers, arrays and containers of them, with a result of the same kind.
        argnums: which positional argument to differentiate, or a tuple of several.
        mode: "forward" (one tangent per input), "reverse" (one cotangent per output), or "auto": run once, then
            whichever is fewer. With `sparse` also "accumulate": no products, each entry by itself, which "auto" chooses
            in compiled code where that is less work (transforms, solutions and large products count as their matrices).
        has_aux: whether `f` returns `(result, aux)`.
        holomorphic: whether `f` is a holomorphic function of complex numbers; the Jacobian is then complex.
        sparse: True for sparse matrices: the pattern is found (`sparsity`) and coloured (`coloring`), and as many
            products computed as there are colours. Or the pattern, a sparse matrix or a boolean array, which may be
            too large; that it is not too small is tried with a random vector.
        checkpoints, memory, spill: what reverse mode may keep of loops, as for `grad`.

    Returns:
        A function with the arguments of `f` that returns the Jacobian: in the containers of the result, each leaf in
        the containers of the argument, with arrays of shape `result.shape + argument.shape`. With `has_aux`,
        `(jacobian, aux)`. With `sparse`, each is a `scipy.sparse.csr_array` of shape `(result.size, argument.size)`,
        in which all entries of the pattern are stored; from call to call the index arrays are the same objects.

    Cost: min(inputs, outputs) products, all at once; with `sparse`, as many as there are colours.

    >>> import numpy as np
    >>> jacobian(lambda x: np.stack([x[0] * x[1], x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    >>> jacobian(lambda x: x[1:] * x[:-1], sparse=True)(np.array([2.0, 3.0, 5.0])).toarray()
    array([[3., 2., 0.],
           [0., 5., 3.]])
    """
    both = value_and_jacobian(
        f, argnums, mode, has_aux, holomorphic, sparse, checkpoints=checkpoints, memory=memory, spill=spill
    )

    @result_of(_NAMES[mode], f)
    def derivatives(*args: Any, **kwargs: Any) -> Any:
        value, result = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return derivatives


@overload
def jacfwd(
    f: Callable[Concatenate[V, P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Operated[Concatenate[V, P], Array]: ...
@overload
def jacfwd(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Operated[P, Any]: ...
@operation
def jacfwd(f: Callable, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Callable:
    """`jacobian` by forward mode: constant memory, best for few inputs.

    >>> import numpy as np
    >>> jacfwd(np.sin)(0.0)
    np.float64(1.0)
    """
    return jacobian(f, argnums, "forward", has_aux, holomorphic)


@overload
def jacrev(
    f: Callable[Concatenate[V, P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    **budget: Unpack[Budgeted],
) -> Operated[Concatenate[V, P], Array]: ...
@overload
def jacrev(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    **budget: Unpack[Budgeted],
) -> Operated[P, Any]: ...
@operation
def jacrev(f: Callable, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False, *,
           checkpoints: int | None = None, memory: Memory = None, spill: str | None = None) -> Callable:  # fmt: skip
    """`jacobian` by reverse mode: best for few outputs.

    >>> import numpy as np
    >>> jacrev(lambda x: x @ x)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return jacobian(f, argnums, "reverse", has_aux, holomorphic, checkpoints=checkpoints, memory=memory, spill=spill)


def sparse_derivatives(name: str, f: Callable, g: Callable, argnums: Argnums, mode: str, has_aux: bool,
                       holomorphic: bool, sparse: Any) -> Callable:  # fmt: skip
    """A function that returns the value of `g` and its Jacobian as sparse matrices; `g` is made of `f`."""
    plans = Plans(sparse, mode)

    @result_of(name, f)
    def value_and_derivatives(*args: Any, **kwargs: Any) -> Any:
        prepared = Prepared(g, argnums, args, kwargs, has_aux)
        if holomorphic:
            demand_complex(prepared.leaves, "argument")
        else:
            demand_real([aval_of(x) for x in prepared.leaves])
        plan = plans.plan(g, argnums, has_aux, prepared, args, kwargs)

        def at_numbers() -> Prepared:
            chosen, named = of_numbers((args, kwargs))
            return Prepared(g, argnums, chosen, named, has_aux)

        values, blocks = value_and_blocks(prepared, plan, plans, at_numbers)
        if holomorphic:
            demand_complex(values, "result")
        result = prepared.outputs([prepared.inputs(row) for row in blocks])
        value = prepared.outputs(values)
        return ((value, prepared.aux), result) if has_aux else (value, result)

    return value_and_derivatives
