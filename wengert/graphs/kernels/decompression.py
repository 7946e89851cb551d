"""Substitution: its order, and doing it; see `graphs/decompression.py`."""


def peel(tail, none, one, two, crowds, sums, queue, unknown, source, target):
    """Take away unknowns that are alone in a cell; `sums` are those of the numbers of the unknowns in a cell."""
    head = 0
    done = 0
    while head < tail:
        cell = queue[head]
        head += 1
        if crowds[cell] == 1:
            u = sums[cell]
            other = one[u]
            if other == cell:
                other = two[u]
            unknown[done] = u
            source[done] = cell
            target[done] = none
            done += 1
            crowds[cell] = 0
            if other != cell and other != none:
                target[done - 1] = other
                sums[other] -= u
                crowds[other] -= 1
                if crowds[other] == 1:
                    queue[tail] = other
                    tail += 1


def substitute(count, source, target, cells, values):
    for k in range(count):
        value = cells[source[k]]
        values[k] = value
        cells[target[k]] -= value
