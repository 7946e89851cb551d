"""Nested lists and tuples of arrays, as the problems use them for parameters."""


def leaves(tree) -> list:
    """Return the leaves from left to right."""
    if isinstance(tree, list | tuple):
        return [leaf for branch in tree for leaf in leaves(branch)]
    return [tree]


def map_leaves(function, tree):
    """Return the same nesting with `function` applied to every leaf."""
    if isinstance(tree, list | tuple):
        return type(tree)(map_leaves(function, branch) for branch in tree)
    return function(tree)
