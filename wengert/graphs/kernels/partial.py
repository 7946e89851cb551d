"""Greedy distance-2 colouring of one side of a bipartite graph; see `graphs/partial.py`."""


def greedy(n, order, start, middle, begin, gap, length, listed, forbidden, colors):
    """The least colour that no row of the column has.

    All colours below `gap[r]` are taken in row r; those above it are `listed`, `length[r]` of them, from `begin[r]` on.
    """
    for k in range(n):
        v = order[k]
        least = 0
        for p in range(start[v], start[v + 1]):
            r = middle[p]
            if gap[r] > least:
                least = gap[r]
            for q in range(begin[r], begin[r] + length[r]):
                forbidden[listed[q]] = k
        c = least
        while forbidden[c] == k:
            c += 1
        colors[v] = c
        for p in range(start[v], start[v + 1]):
            r = middle[p]
            if c > gap[r]:
                listed[begin[r] + length[r]] = c
                length[r] += 1
            else:
                # The gap closes: it moves to the next colour that is not listed
                g = c + 1
                q = begin[r]
                while q < begin[r] + length[r]:
                    if listed[q] == g:
                        length[r] -= 1
                        listed[q] = listed[begin[r] + length[r]]
                        g += 1
                        q = begin[r]
                    else:
                        q += 1
                gap[r] = g
