"""Answers of solvers, with the derivative of the answer instead of that of the iterations."""
