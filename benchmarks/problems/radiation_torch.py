"""The H-equation in PyTorch."""


def objective(h, kernel):
    """Return the residuals."""
    return h - 1 / (1 - kernel @ h)
