"""From a plain NumPy function to its minimum: optimisation, least squares, equations, nonlinear programs."""
