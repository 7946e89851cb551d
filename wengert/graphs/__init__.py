"""Colourings of sparsity patterns: which columns and rows of a sparse matrix can share one product."""
