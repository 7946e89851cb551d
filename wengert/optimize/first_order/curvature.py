"""Methods for learning that also use second derivatives of the loss on a mini-batch: products, or the whole Hessian.

Beside gradients, `update` is given functions of the same mini-batch by keyword:

    opt.update(grads, state, params, product=lambda v: wg.hvp(loss)(params, batch, v))

`product(v)` multiplies a symmetric matrix with v, both in the containers of the parameters: the Hessian, Gauss and
Newton's matrix or Fisher's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import tree
from wengert.api.flat import Layout
from wengert.errors import MismatchError
from wengert.optimize.first_order.chain import FirstOrder, Schedule, at, nothing, zeros


def _demanded(given: Any, name: str, keyword: str, example: str) -> Any:
    if given is None:
        raise MismatchError(
            f"{name} needs {keyword}= of the mini-batch", remedy=f"write opt.update(grads, state, params, {example})"
        )
    return given


def smd(learning_rate: float = 1e-2, meta_rate: float = 0.05, decay: float = 0.99) -> FirstOrder:
    """Stochastic meta-descent: each parameter has a rate η of its own, which descends as well (Schraudolph 1999, 2002).

    η ← η max(½, 1 − μ v g), p ← p − η g, v ← λ v − η (g + λ H v), with v the change of p by a change of log η. `update`
    takes `product=`, which multiplies with the Hessian of the loss on this mini-batch, at `params`.

    >>> import numpy as np, wengert as wg
    >>> loss = lambda p: np.sum(np.array([1.0, 10.0]) * p**2)
    >>> opt, p = smd(0.01, decay=0.9), np.ones(2)
    >>> state = opt.init(p)
    >>> for _ in range(300):
    ...     p, state = opt.update(wg.grad(loss)(p), state, p, product=lambda v: wg.hvp(loss)(p, v))
    >>> bool(loss(p) < 1e-3)
    True
    """

    def start(params: Any) -> tuple:
        return tree.map(lambda p: np.full_like(p, learning_rate), params), zeros(params)

    def change(grads: Any, state: tuple, params: Any, count: Any, product: Any = None) -> tuple:
        multiply = _demanded(product, "smd", "product", "product=lambda v: wg.hvp(loss)(params, batch, v)")
        rates, v = state
        bent = multiply(v)
        rates = tree.map(lambda r, v, g: r * np.maximum(0.5, 1 - meta_rate * v * g), rates, v, grads)
        v_next = tree.map(lambda r, v, g, b: decay * v - r * (g + decay * b), rates, v, grads, bent)
        return tree.map(lambda r, g: -r * g, rates, grads), (rates, v_next)

    return FirstOrder("smd", start, change)


def natural_gradient(learning_rate: Schedule = 1e-1, damping: float = 1e-3, iterations: int = 20) -> FirstOrder:
    """The natural gradient: −η (F + damping)⁻¹ g, by conjugate gradients (Amari 1998; Martens 2020).

    `update` takes `product=`, which multiplies with Fisher's matrix, for instance
    `lambda v: wg.vjp(model, params)[1](wg.jvp(model, (params,), (v,))[1] / n)` for a Gaussian likelihood.

    >>> import numpy as np
    >>> opt = natural_gradient(1.0, damping=0.0)
    >>> p, _ = opt.update(np.array([2.0, 40.0]), opt.init(np.ones(2)), np.ones(2), product=lambda v: [2.0, 40.0] * v)
    >>> p.round(12)
    array([0., 0.])
    """

    def change(grads: Any, state: Any, params: Any, count: Any, product: Any = None) -> tuple:
        multiply = _demanded(product, "natural_gradient", "product", "product=lambda v: …  # Fisher's matrix times v")
        layout = Layout(params)
        apply = lambda v: layout.ravel(multiply(layout.unravel(v)))
        g = layout.ravel(grads)
        d = conjugate_gradients(apply, g, np.zeros_like(g), damping, iterations)
        rate = at(learning_rate, count)
        return layout.unravel(-rate * d), state

    return FirstOrder("natural_gradient", nothing, change)


def hessian_free(damping: float = 1.0, iterations: int = 50, warm: float = 0.95) -> FirstOrder:
    """Hessian-free optimisation: truncated Newton steps with a damping that adapts itself (Martens 2010).

    The step d minimises g·d + ½ d·(B + damping) d by conjugate gradients, which start from `warm` times the last step.
    The damping grows or shrinks with how well the quadratic model foretells the loss, as Levenberg and Marquardt's. A
    step that makes the loss larger is not made. `update` takes `product=`, which multiplies with B (Gauss and Newton's
    matrix, or the Hessian), and `loss=`, the loss on this mini-batch as a function of the parameters.

    >>> import numpy as np, wengert as wg
    >>> loss = lambda p: np.sum(np.array([1.0, 100.0]) * (p - 1) ** 2)
    >>> opt, p = hessian_free(), np.zeros(2)
    >>> state = opt.init(p)
    >>> for _ in range(20):
    ...     p, state = opt.update(wg.grad(loss)(p), state, p, product=lambda v: wg.hvp(loss)(p, v), loss=loss)
    >>> bool(loss(p) < 1e-9)
    True
    """

    def start(params: Any) -> tuple:
        return np.asarray(damping), zeros(params)

    def change(grads: Any, state: tuple, params: Any, count: Any, product: Any = None, loss: Any = None) -> tuple:
        example = "product=lambda v: wg.hvp(loss)(params, batch, v), loss=lambda p: loss(p, batch)"
        multiply = _demanded(product, "hessian_free", "product", example)
        value = _demanded(loss, "hessian_free", "loss", example)
        layout = Layout(params)
        apply = lambda v: layout.ravel(multiply(layout.unravel(v)))
        lam, last = state
        g, p = layout.ravel(grads), layout.ravel(params)
        d = -conjugate_gradients(apply, g, -warm * layout.ravel(last), lam, iterations)
        promised = g @ d + 0.5 * (d @ apply(d))
        changed = value(layout.unravel(p + d)) - value(params)
        # The ratio of the two, compared without a division: both are negative for a good step, or zero at a minimum.
        lam = np.where(changed <= 0.75 * promised, lam * 2 / 3, np.where(changed > 0.25 * promised, lam * 3 / 2, lam))
        step = layout.unravel(np.where(changed <= 0, 1.0, 0.0) * d)
        return step, (lam, layout.unravel(d))

    return FirstOrder("hessian_free", start, change)


def conjugate_gradients(apply: Any, b: Any, x: Any, damping: Any, iterations: int) -> Any:
    """(A + damping) x = b from a first guess; directions of negative curvature are not followed."""
    r = b - apply(x) - damping * x
    d = r
    left = r @ r
    enough = 1e-24 * (b @ b)
    k = 0
    while k < iterations and left > enough:
        bent = apply(d) + damping * d
        curvature = d @ bent
        if curvature > 0:
            step = left / curvature
            x = x + step * d
            r = r - step * bent
            after = r @ r
            d = r + (after / left) * d
            left = after
        else:
            left = 0.0 * left
        k = k + 1
    return x


def newton(learning_rate: Schedule = 1.0, damping: float = 1e-3) -> FirstOrder:
    """Newton's method on mini-batches: −η (|H| + damping)⁻¹ g, with the eigenvalues of H by their size.

    Taking eigenvalues by their size leads away from saddles (Dauphin et al. 2014). `update` takes `hessian=`, what
    `wg.hessian(loss)(params, batch)` gives, in whatever containers. Costs the cube of the number of parameters.

    >>> import numpy as np, wengert as wg
    >>> loss = lambda p: (p["a"] - 1) ** 2 + 5 * (p["b"] - p["a"]) ** 2
    >>> opt, p = newton(damping=0.0), {"a": 0.0, "b": 3.0}
    >>> p, _ = opt.update(wg.grad(loss)(p), opt.init(p), p, hessian=wg.hessian(loss)(p))
    >>> round(float(p["a"]), 9), round(float(p["b"]), 9)
    (1.0, 1.0)
    """

    def change(grads: Any, state: Any, params: Any, count: Any, hessian: Any = None) -> tuple:
        found = _demanded(hessian, "newton", "hessian", "hessian=wg.hessian(loss)(params, batch)")
        layout = Layout(params)
        blocks = tree.leaves(found)
        k, sizes = len(layout.sizes), layout.sizes
        rows = [
            np.concatenate([np.reshape(blocks[i * k + j], (sizes[i], sizes[j])) for j in range(k)], axis=1)
            for i in range(k)
        ]
        w, v = np.linalg.eigh(np.concatenate(rows, axis=0))
        size = np.maximum(np.abs(w) + damping, 1e-12 * np.max(np.abs(w)) + 1e-300)
        rate = at(learning_rate, count)
        return layout.unravel(-rate * (v @ ((v.T @ layout.ravel(grads)) / size))), state

    return FirstOrder("newton", nothing, change)


def stochastic_lbfgs(learning_rate: Schedule = 1e-1, memory: int = 5, damping: float = 1e-4) -> FirstOrder:
    """L-BFGS on mini-batches, without line searches (Schraudolph, Yu and Günter 2007, online L-BFGS).

    The change of the gradient over a step must be that of one mini-batch: `update` takes `gradient=`, the gradient of
    the loss on this mini-batch as a function of the parameters. `damping` times the step is added to the change.

    >>> import numpy as np, wengert as wg
    >>> loss = lambda p: np.sum(np.array([1.0, 10.0]) * (p - 1) ** 2)
    >>> opt, p = stochastic_lbfgs(0.5), np.zeros(2)
    >>> state = opt.init(p)
    >>> for _ in range(60):
    ...     p, state = opt.update(wg.grad(loss)(p), state, p, gradient=wg.grad(loss))
    >>> bool(loss(p) < 1e-9)
    True
    """

    def start(params: Any) -> tuple:
        n = Layout(params).size
        return np.zeros((memory, n)), np.zeros((memory, n))

    def change(grads: Any, state: tuple, params: Any, count: Any, gradient: Any = None) -> tuple:
        slope = _demanded(gradient, "stochastic_lbfgs", "gradient", "gradient=lambda p: wg.grad(loss)(p, batch)")
        layout = Layout(params)
        steps, changes = state
        g, p = layout.ravel(grads), layout.ravel(params)
        products = np.sum(steps * changes, axis=1)
        known = products > 0
        weights = np.where(known, 1 / np.where(known, products, 1.0), 0.0)
        q = g
        alpha: list[Any] = [0.0] * memory
        for i in range(memory - 1, -1, -1):
            alpha[i] = weights[i] * (steps[i] @ q)
            q = q - alpha[i] * changes[i]
        squares = np.sum(changes * changes, axis=1)
        scales = np.where(known, products / np.where(known, squares, 1.0), 0.0)
        filled = np.sum(np.where(known, 1.0, 0.0))
        # Before anything is known a short step along the gradient is made.
        q = q * np.where(filled > 0, np.sum(scales) / np.maximum(filled, 1.0), 1e-2)
        for i in range(memory):
            beta = weights[i] * (changes[i] @ q)
            q = q + (alpha[i] - beta) * steps[i]
        rate = at(learning_rate, count)
        s = -rate * q
        y = layout.ravel(slope(layout.unravel(p + s))) - g + damping * s
        curved = s @ y > 1e-10 * np.sqrt((s @ s) * (y @ y))
        steps = np.where(curved, np.concatenate([steps[1:], np.reshape(s, (1, -1))]), steps)
        changes = np.where(curved, np.concatenate([changes[1:], np.reshape(y, (1, -1))]), changes)
        return layout.unravel(s), (steps, changes)

    return FirstOrder("stochastic_lbfgs", start, change)
