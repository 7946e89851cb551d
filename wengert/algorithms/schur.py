"""Normal equations with a block-diagonal part: Schur's complement, as in bundle adjustment.

Unknowns are of two kinds: groups of `size` unknowns each that no two groups have a residual in common (points), and
the rest (cameras). With U, W and V the blocks of JᵀJ for the rest, the rest with groups, and groups,

    (U W; Wᵀ V) (c; e) = −(gc; ge)   ⇔   (U − W V⁻¹ Wᵀ) c = −(gc − W V⁻¹ ge),  e = −V⁻¹ (ge + Wᵀ c)

and V is inverted group by group. The rest is divided into blocks of as many unknowns each, such as cameras, so that
all products are those of small blocks of known size. W is kept by blocks, `size` × `width`: one for each block of the
rest that a group has to do with.
These are loops over integers, written to be compiled; they write into arrays that they are given. `optimize/schur.py`
makes the index arrays.
"""

from __future__ import annotations

import numpy as np


def assemble(data, f, first, rows, inner, start, outer, block, place, u, v, w, gc, ge):
    """Blocks of JᵀJ and Jᵀ f, from the entries `data` of J and f; of U the lower ones.

    Args:
        first: where the rows of each group start in `rows`.
        rows: residuals, group by group.
        inner: for each of these rows the places of its entries for the group, in `data`.
        start: where the other entries of each row start in `outer`, `block` and `place`, block by block, sorted.
        outer, block, place: the places of the entries of a block in `data`, the block, and its place in W.
    """
    size, width = inner.shape[1], outer.shape[1]
    for g in range(first.shape[0] - 1):
        for q in range(first[g], first[g + 1]):
            r = f[rows[q]]
            for a in range(size):
                x = data[inner[q, a]]
                ge[g, a] += x * r
                for b in range(size):
                    v[g, a, b] += x * data[inner[q, b]]
            for p in range(start[q], start[q + 1]):
                i = block[p]
                k = place[p]
                for b in range(width):
                    gc[i, b] += data[outer[p, b]] * r
                for a in range(size):
                    x = data[inner[q, a]]
                    for b in range(width):
                        w[k, a, b] += x * data[outer[p, b]]
                for o in range(start[q], p + 1):
                    j = block[o]
                    for a in range(width):
                        y = data[outer[p, a]]
                        for b in range(width):
                            u[i, j, a, b] += y * data[outer[o, b]]


def eliminate(v, w, ge, damping, begin, blocks, factors, y, s, rhs):
    """Take the groups out: subtract W V⁻¹ Wᵀ from `s` (its lower blocks) and W V⁻¹ ge from `rhs`.

    `damping` is what is added to the diagonals of V; `begin` is where the blocks of W of each group start, `blocks`,
    sorted in each group, are those of the rest that they stand for. Cholesky's factors of V are left in `factors`, and
    `y` is room for what they make of W.
    """
    size = v.shape[1]
    for g in range(v.shape[0]):
        t = np.zeros(size)
        for i in range(size):
            for j in range(i + 1):
                x = v[g, i, j]
                if i == j:
                    x = x + damping[g, i]
                for k in range(j):
                    x -= factors[g, i, k] * factors[g, j, k]
                if i == j:
                    factors[g, i, i] = np.sqrt(np.maximum(x, 1e-300))
                else:
                    factors[g, i, j] = x / factors[g, j, j]
            x = ge[g, i]
            for k in range(i):
                x -= factors[g, i, k] * t[k]
            t[i] = x / factors[g, i, i]
        for p in range(begin[g], begin[g + 1]):
            i = blocks[p]
            for a in range(size):
                row = w[p, a]
                for k in range(a):
                    row = row - factors[g, a, k] * y[p, k]
                row = row / factors[g, a, a]
                y[p, a] = row
                rhs[i] -= row * t[a]
            for o in range(begin[g], p + 1):
                s[i, blocks[o]] -= y[p].T @ y[o]


def back(w, ge, begin, blocks, factors, c, e):
    """The unknowns of the groups, from those of the rest."""
    size = w.shape[1]
    for g in range(ge.shape[0]):
        for a in range(size):
            x = ge[g, a]
            for p in range(begin[g], begin[g + 1]):
                x += np.sum(w[p, a] * c[blocks[p]])
            for k in range(a):
                x -= factors[g, a, k] * e[g, k]
            e[g, a] = x / factors[g, a, a]
        for i in range(size):
            a = size - 1 - i
            x = e[g, a]
            for k in range(a + 1, size):
                x -= factors[g, k, a] * e[g, k]
            e[g, a] = x / factors[g, a, a]
        for a in range(size):
            e[g, a] = -e[g, a]


def of_columns(data, indices, start, f, squares, gradient):
    """Sums of squares of the columns of J, and Jᵀ f, in one pass over the entries of J, row by row."""
    for i in range(f.shape[0]):
        r = f[i]
        for p in range(start[i], start[i + 1]):
            k = indices[p]
            x = data[p]
            squares[k] += x * x
            gradient[k] += x * r


def solve(s, side):
    """The solution of a system with a symmetric matrix, of which the lower part is given; not finite if the matrix is
    not positive definite. Cholesky's factor is left in `s`, the solution in `side`.

    Rows are taken one after the other, so that all products are those of contiguous rows. For some hundred unknowns
    that is quicker than LAPACK, whose threads wait for each other.
    """
    n = s.shape[0]
    for i in range(n):
        for j in range(i):
            s[i, j] = (s[i, j] - s[i, :j] @ s[j, :j]) / s[j, j]
        s[i, i] = np.sqrt(s[i, i] - s[i, :i] @ s[i, :i])
        side[i] = (side[i] - s[i, :i] @ side[:i]) / s[i, i]
    for k in range(n):
        i = n - 1 - k
        side[i] = side[i] / s[i, i]
        side[:i] = side[:i] - side[i] * s[i, :i]
