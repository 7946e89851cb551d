"""Which distances occur between columns that share a row; see `graphs/lattice.py`."""


def distances(m, begin, end, near):
    """Mark `near[d]` where two columns of a row, in ascending order, are d apart."""
    for r in range(m):
        for p in range(begin[r], begin[r + 1]):
            for q in range(p + 1, begin[r + 1]):
                near[end[q] - end[p]] = 1


def carries(m, n, digits, begin, end, number, residues, met):
    """Mark `met[d, code]`: bit l of the code says that the residue of the later column by stride l is the smaller one.

    `number` numbers the distances; residues by stride l stand from l·n on.
    """
    for r in range(m):
        for p in range(begin[r], begin[r + 1]):
            i = end[p]
            for q in range(p + 1, begin[r + 1]):
                j = end[q]
                code = 0
                bit = 1
                for digit in range(digits):
                    if residues[digit * n + j] < residues[digit * n + i]:
                        code += bit
                    bit *= 2
                met[number[j - i] * bit + code] = 1
