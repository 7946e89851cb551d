"""Degrees and dynamic orders of vertices whose neighbours are reached in two hops; see `graphs/ordering.py`."""


def degrees_in(n, start, middle, begin, end, degrees, seen):
    """How many neighbours each vertex has."""
    for v in range(n):
        seen[v] = v
        count = 0
        for p in range(start[v], start[v + 1]):
            r = middle[p]
            for q in range(begin[r], begin[r + 1]):
                w = end[q]
                if seen[w] != v:
                    seen[w] = v
                    count += 1
        degrees[v] = count


def by_rank(n, start, middle, begin, end, rank, heap, place, seen, found):
    """Take the vertex of least rank, lower the ranks of its neighbours by n, and so on.

    `heap` is a binary heap of the vertices that are left, `place` says where each stands in it, -1 if it is gone.
    """
    for k in range(n):
        v = heap[0]
        found[k] = v
        place[v] = -1
        size = n - 1 - k
        # The last one of the heap takes the first place, and sinks
        w = heap[size]
        if w != v:
            key = rank[w]
            hole = 0
            child = 1
            while child < size:
                if child + 1 < size and rank[heap[child + 1]] < rank[heap[child]]:
                    child += 1
                if rank[heap[child]] < key:
                    heap[hole] = heap[child]
                    place[heap[hole]] = hole
                    hole = child
                    child = 2 * hole + 1
                else:
                    child = size
            heap[hole] = w
            place[w] = hole
        seen[v] = v
        for p in range(start[v], start[v + 1]):
            r = middle[p]
            for q in range(begin[r], begin[r + 1]):
                w = end[q]
                if seen[w] != v:
                    seen[w] = v
                    hole = place[w]
                    if hole >= 0:
                        key = rank[w] - n
                        rank[w] = key
                        above = (hole - 1) >> 1
                        while hole > 0 and rank[heap[above]] > key:
                            heap[hole] = heap[above]
                            place[heap[hole]] = hole
                            hole = above
                            above = (hole - 1) >> 1
                        heap[hole] = w
                        place[w] = hole
