"""Methods of first order for learning: gradient descent, momentum, and those that scale each parameter by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import tree
from wengert.optimize.first_order.chain import FirstOrder, Schedule, at, nothing, zeros


def gradient_descent(learning_rate: Schedule = 1e-2) -> FirstOrder:
    """Gradient descent, p − η g; stochastic where the gradients are of mini-batches.

    >>> import numpy as np
    >>> opt = gradient_descent(0.1)
    >>> opt.update(np.ones(2), opt.init(np.zeros(2)), np.zeros(2))[0]
    array([-0.1, -0.1])
    """

    def change(grads: Any, state: Any, params: Any, count: Any) -> tuple:
        rate = at(learning_rate, count)
        return tree.map(lambda g: -rate * g, grads), state

    return FirstOrder("gradient_descent", nothing, change)


sgd = gradient_descent
"""Another name of gradient descent."""


def momentum(learning_rate: Schedule = 1e-2, decay: float = 0.9) -> FirstOrder:
    """Polyak's heavy ball: v ← decay v + g, p ← p − η v (1964).

    >>> import numpy as np
    >>> opt = momentum(0.1)
    >>> opt.update(np.ones(2), opt.init(np.zeros(2)), np.zeros(2))[0]
    array([-0.1, -0.1])
    """

    def change(grads: Any, v: Any, params: Any, count: Any) -> tuple:
        rate = at(learning_rate, count)
        v = tree.map(lambda v, g: decay * v + g, v, grads)
        return tree.map(lambda v: -rate * v, v), v

    return FirstOrder("momentum", zeros, change)


def nesterov(learning_rate: Schedule = 1e-2, decay: float = 0.9) -> FirstOrder:
    """Nesterov's accelerated gradient in the form of Sutskever et al. (2013): v ← decay v + g, p ← p − η (g + decay v).

    >>> import numpy as np
    >>> opt = nesterov(0.1)
    >>> opt.update(np.ones(2), opt.init(np.zeros(2)), np.zeros(2))[0]
    array([-0.19, -0.19])
    """

    def change(grads: Any, v: Any, params: Any, count: Any) -> tuple:
        rate = at(learning_rate, count)
        v = tree.map(lambda v, g: decay * v + g, v, grads)
        return tree.map(lambda v, g: -rate * (g + decay * v), v, grads), v

    return FirstOrder("nesterov", zeros, change)


def adagrad(learning_rate: Schedule = 1e-2, eps: float = 1e-10) -> FirstOrder:
    """Adagrad: s ← s + g², p ← p − η g / (√s + ε) (Duchi, Hazan and Singer 2011).

    >>> import numpy as np
    >>> opt = adagrad(0.1)
    >>> opt.update(np.full(2, 3.0), opt.init(np.zeros(2)), np.zeros(2))[0]
    array([-0.1, -0.1])
    """

    def change(grads: Any, s: Any, params: Any, count: Any) -> tuple:
        rate = at(learning_rate, count)
        s = tree.map(lambda s, g: s + g * g, s, grads)
        return tree.map(lambda s, g: -rate * g / (np.sqrt(s) + eps), s, grads), s

    return FirstOrder("adagrad", zeros, change)


def rmsprop(learning_rate: Schedule = 1e-2, decay: float = 0.99, eps: float = 1e-8) -> FirstOrder:
    """RMSprop: s ← decay s + (1 − decay) g², p ← p − η g / (√s + ε) (Tieleman and Hinton 2012).

    >>> import numpy as np
    >>> opt = rmsprop(0.1, decay=0.75)
    >>> opt.update(np.full(2, 3.0), opt.init(np.zeros(2)), np.zeros(2))[0].round(6)
    array([-0.2, -0.2])
    """

    def change(grads: Any, s: Any, params: Any, count: Any) -> tuple:
        rate = at(learning_rate, count)
        s = tree.map(lambda s, g: decay * s + (1 - decay) * g * g, s, grads)
        return tree.map(lambda s, g: -rate * g / (np.sqrt(s) + eps), s, grads), s

    return FirstOrder("rmsprop", zeros, change)


def adadelta(learning_rate: Schedule = 1.0, decay: float = 0.9, eps: float = 1e-6) -> FirstOrder:
    """Adadelta: steps in the units of the parameters, without a rate to choose (Zeiler 2012).

    s ← decay s + (1 − decay) g², Δ = √(u + ε) / √(s + ε) g, u ← decay u + (1 − decay) Δ², p ← p − η Δ.

    >>> import numpy as np
    >>> opt = adadelta()
    >>> opt.update(np.full(1, 3.0), opt.init(np.zeros(1)), np.zeros(1))[0].round(6)
    array([-0.003162])
    """

    def start(params: Any) -> tuple:
        return zeros(params), zeros(params)

    def change(grads: Any, state: tuple, params: Any, count: Any) -> tuple:
        rate = at(learning_rate, count)
        s, u = state
        s = tree.map(lambda s, g: decay * s + (1 - decay) * g * g, s, grads)
        delta = tree.map(lambda s, u, g: np.sqrt(u + eps) / np.sqrt(s + eps) * g, s, u, grads)
        u = tree.map(lambda u, d: decay * u + (1 - decay) * d * d, u, delta)
        return tree.map(lambda d: -rate * d, delta), (s, u)

    return FirstOrder("adadelta", start, change)


def adam(learning_rate: Schedule = 1e-3, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> FirstOrder:
    """Adam: means of gradients and of their squares, corrected for their start (Kingma and Ba 2015, Algorithm 1).

    >>> import numpy as np
    >>> opt = adam(0.1)
    >>> params = {"w": np.zeros(2)}
    >>> opt.update({"w": np.array([1.0, -5.0])}, opt.init(params), params)[0]["w"].round(6)
    array([-0.1,  0.1])
    """
    return adamw(learning_rate, b1, b2, eps, weight_decay=0.0, _name="adam")


def adamw(
    learning_rate: Schedule = 1e-3,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
    _name: str = "adamw",
) -> FirstOrder:
    """Adam with weights that decay by themselves, p ← p − η (step + weight_decay p) (Loshchilov and Hutter 2019).

    >>> import numpy as np
    >>> opt = adamw(0.1, weight_decay=0.5)
    >>> opt.update(np.zeros(1), opt.init(np.ones(1)), np.ones(1))[0]
    array([0.95])
    """

    def start(params: Any) -> tuple:
        return zeros(params), zeros(params)

    def change(grads: Any, state: tuple, params: Any, count: Any) -> tuple:
        rate = at(learning_rate, count)
        m, v = state
        t = count + 1.0
        m = tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, grads)
        v = tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, v, grads)
        mean, spread = 1 - b1**t, 1 - b2**t

        def step(m: Any, v: Any, p: Any) -> Any:
            moved = -rate * (m / mean) / (np.sqrt(v / spread) + eps)
            return moved - rate * weight_decay * p if weight_decay else moved

        return tree.map(step, m, v, params), (m, v)

    return FirstOrder(_name, start, change)


def lion(learning_rate: Schedule = 1e-4, b1: float = 0.9, b2: float = 0.99, weight_decay: float = 0.0) -> FirstOrder:
    """Lion: p ← p − η (sign(b1 m + (1 − b1) g) + weight_decay p), m ← b2 m + (1 − b2) g (Chen et al. 2023).

    >>> import numpy as np
    >>> opt = lion(0.1)
    >>> opt.update(np.array([3.0, -0.01]), opt.init(np.zeros(2)), np.zeros(2))[0]
    array([-0.1,  0.1])
    """

    def change(grads: Any, m: Any, params: Any, count: Any) -> tuple:
        rate = at(learning_rate, count)
        steps = tree.map(lambda m, g, p: -rate * (np.sign(b1 * m + (1 - b1) * g) + weight_decay * p), m, grads, params)
        return steps, tree.map(lambda m, g: b2 * m + (1 - b2) * g, m, grads)

    return FirstOrder("lion", zeros, change)


def rprop(
    learning_rate: float = 1e-2, smaller: float = 0.5, larger: float = 1.2, least: float = 1e-6, most: float = 50.0
) -> FirstOrder:
    """Rprop: each parameter has a step of its own, which grows while the sign of its gradient stays (Riedmiller 1993).

    The gradient is forgotten where its sign has changed (iRprop−, Igel and Hüsken 2000). For whole batches.

    >>> import numpy as np
    >>> opt = rprop(0.1)
    >>> opt.update(np.array([3.0, -0.01]), opt.init(np.zeros(2)), np.zeros(2))[0]
    array([-0.1,  0.1])
    """

    def start(params: Any) -> tuple:
        return zeros(params), tree.map(lambda p: np.full_like(p, learning_rate), params)

    def change(grads: Any, state: tuple, params: Any, count: Any) -> tuple:
        before, sizes = state
        agree = tree.map(lambda g, b: g * b, grads, before)
        sizes = tree.map(
            lambda a, s: np.where(
                a > 0, np.minimum(s * larger, most), np.where(a < 0, np.maximum(s * smaller, least), s)
            ),
            agree,
            sizes,
        )
        grads = tree.map(lambda a, g: np.where(a < 0, 0.0 * g, g), agree, grads)
        return tree.map(lambda g, s: -np.sign(g) * s, grads, sizes), (grads, sizes)

    return FirstOrder("rprop", start, change)
