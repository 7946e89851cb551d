"""Products, factorisations and linear systems: BLAS, LAPACK, and code of our own for small matrices."""
