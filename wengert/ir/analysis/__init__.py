"""What is known of a program before it runs: one module answers one question, and every pass and planner asks it.

    raising   whether a node may raise, or not come to an end
    regions   which elements of an array an index names, and how two such sets lie to each other
    ranges    the smallest and the largest value of integers; what loops name in the course of their iterations
    affine    integers as sums of loop counters
    uses      who makes a value, and who uses it
    keys      whether two computations are the same

An answer is certain, or it is "not known": whoever asks then does nothing.
"""
