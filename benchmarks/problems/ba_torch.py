"""Bundle adjustment in PyTorch: two reverse sweeps over all observations at once give both rows of all blocks."""

import torch

NOTE = "a reverse sweep for each of the two rows of all blocks"


def residuals(c, points, weights, features):
    """Return the weighted errors of all projections."""
    rotation, centre, focal, principal, bend = c[:, :3], c[:, 3:6], c[:, 6:7], c[:, 7:9], c[:, 9:]
    x = points - centre
    angle = torch.sqrt(torch.sum(rotation**2, 1, keepdim=True))
    axis = rotation / angle
    along = torch.sum(axis * x, 1, keepdim=True)
    x = x * torch.cos(angle) + torch.linalg.cross(axis, x) * torch.sin(angle) + axis * along * (1 - torch.cos(angle))
    p = x[:, :2] / x[:, 2:]
    r = torch.sum(p**2, 1, keepdim=True)
    p = focal * p * (1 + bend[:, :1] * r + bend[:, 1:] * r**2) + principal
    return weights[:, None] * (p - features)


def derivative(cameras, points, weights, features, camera, point):
    """Return the blocks of the sparse Jacobian."""
    given = [cameras.detach()[camera], points[point], weights.detach()]
    for tensor in given:
        tensor.requires_grad_()
    first, second = torch.sum(residuals(*given, features), 0)
    rows = torch.autograd.grad(first, given, retain_graph=True), torch.autograd.grad(second, given)
    (diagonal,) = torch.autograd.grad(torch.sum(1 - given[2] ** 2), given[2:])
    return *(torch.stack(pair, 1) for pair in zip(*rows, strict=True)), diagonal
