"""Which entries are read from rows and which from columns, and their colours; see `graphs/bicoloring.py`."""


def peel(m, size, start, other, top, degrees, first, after, before, when):
    """When each vertex is taken away: the first m are rows, the others columns.

    `first[d]` and `first[top + d]` are one row and one column with d entries left; `after` and `before` link those
    alike.
    """
    for k in range(size):
        v = size - 1 - k
        d = degrees[v]
        if v >= m:
            d += top
        w = first[d]
        after[v] = w
        if w >= 0:
            before[w] = v
        first[d] = v
    row = 1
    column = 1
    most_row = 0
    most_column = 0
    for k in range(size):
        while row < top and first[row] < 0:
            row += 1
        while column < top and first[top + column] < 0:
            column += 1
        if row < top:
            # Whichever raises the number of colours less; up to `most_row`, column colours cost nothing. Of equals the
            # one with fewer entries in all: whatever is read in a long row must differ from all that is there.
            up = row - most_row
            if up < 0:
                up = 0
            beside = column - most_column
            if beside < 0:
                beside = 0
            if up == beside:
                v = first[row]
                up = start[v + 1] - start[v]
                v = first[top + column]
                beside = start[v + 1] - start[v]
            if up <= beside:
                v = first[row]
                base = 0
                list_of = row
                if row > most_row:
                    most_row = row
            else:
                v = first[top + column]
                base = top
                list_of = top + column
                if column > most_column:
                    most_column = column
            w = after[v]
            first[list_of] = w
            if w >= 0:
                before[w] = -1
            when[v] = k
            base = top - base
            for p in range(start[v], start[v + 1]):
                w = other[p]
                if when[w] == size:
                    d = degrees[w] + base
                    left = before[w]
                    right = after[w]
                    if left >= 0:
                        after[left] = right
                    else:
                        first[d] = right
                    if right >= 0:
                        before[right] = left
                    degrees[w] -= 1
                    right = first[d - 1]
                    before[w] = -1
                    after[w] = right
                    if right >= 0:
                        before[right] = w
                    first[d - 1] = w
            if row > 1:
                row -= 1
            if column > 1:
                column -= 1


def distinct(count, order, start, other, read_here, begin, until, end, forbidden, colors):
    """The least colour with which all entries can be read that are read from this side."""
    for k in range(count):
        v = order[k]
        for p in range(start[v], start[v + 1]):
            r = other[p]
            stop = until[r]
            if read_here[p] == 1:
                stop = begin[r + 1]
            for q in range(begin[r], stop):
                c = colors[end[q]]
                if c >= 0:
                    forbidden[c] = k
        c = 0
        while forbidden[c] == k:
            c += 1
        colors[v] = c
