"""The H-equation in CasADi."""

SYMBOLS = "MX"


def objective(h, kernel):
    """Return the residuals."""
    return h - 1 / (1 - kernel @ h)
