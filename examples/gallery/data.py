"""Data that several programs of the gallery use."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits


def digits(small: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scikit-learn's handwritten digits, 8 × 8 pixels between 0 and 1: images and labels to train and to test with.

    >>> [part.shape for part in digits()]
    [(1437, 64), (1437,), (360, 64), (360,)]
    """
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order] / 16, labels[order]
    count = 400 if small else 1437
    return images[:count], labels[:count], images[1437:], labels[1437:]
