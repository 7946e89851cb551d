"""Bundle adjustment for autograd: two reverse sweeps over all observations at once give both rows of all blocks."""

import autograd
import autograd.numpy as np

import problems

NOTE = "a reverse sweep for each of the two rows of all blocks"
module = problems.load("ba")


def cross(a, b):
    """Return the cross product, which autograd has no derivative for."""
    (a0, a1, a2), (b0, b1, b2) = a.T, b.T
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=1)


class Namespace:
    """`autograd.numpy`, with a cross product."""

    cross = staticmethod(cross)

    def __getattr__(self, name):
        return getattr(np, name)


module.np = Namespace()


def derivative(cameras, points, weights, features, camera, point):
    """Return the blocks of the sparse Jacobian."""
    every = np.arange(len(weights))

    def row(k):
        error = lambda *given: np.sum(module.objective(*given, features, every, every)[0][:, k])
        return autograd.grad(error, argnum=(0, 1, 2))(cameras[camera], points[point], weights)

    diagonal = autograd.elementwise_grad(module.weight_error)(weights)
    return *(np.stack(rows, axis=1) for rows in zip(row(0), row(1), strict=True)), diagonal
