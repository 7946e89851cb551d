import numpy as np


def row_sums(A):
    """Takes A, float64 (2, 3). Returns float64 (2,), float64 (2, 3)."""
    sums = np.zeros(2)  # rows.py:2
    A = A.copy()
    for i in range(2):
        row = A[i]  # rows.py:3
        total = np.sum(row)  # rows.py:4
        sums[i] = total  # rows.py:5
        A[i] = row / total  # rows.py:6
    return sums, A
