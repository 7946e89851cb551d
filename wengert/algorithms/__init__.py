"""Numerical algorithms in plain NumPy, as a user would write them: they run eagerly, and `jit` compiles them.

Code in this folder is followed like a user's (`packages.py`). It knows vectors and functions of vectors only:
containers, and the derivatives of answers, are the business of those who call it.
"""
