"""Star and acyclic colouring; see `graphs/symmetric.py`."""


def place_of(key, mask, keys):
    """The place of a key in the table, or the free one where it belongs. Keys are not zero."""
    place = (key * 11400714819 >> 7) & mask
    while keys[place] != key and keys[place] != 0:
        place = (place + 1) & mask
    return place


def star(n, order, start, other, mask, keys, first, palette, shades, hubs, spokes, seen, twice, forbidden, colors):
    """The least colour that leaves all two-coloured structures stars.

    `first` is the first vertex of a bundle, -1 - it if the bundle is a star with hub w. From `start[w]` on stand, in
    `palette`, the `shades[w]` colours of neighbours of w, and in `hubs` the colours of the `spokes[w]` hubs of stars
    with other vertices, of which w is a spoke.
    """
    for k in range(n):
        v = order[k]
        for p in range(start[v], start[v + 1]):
            b = colors[other[p]]
            if b >= 0:
                if seen[b] == k:
                    twice[b] = k
                seen[b] = k
        for p in range(start[v], start[v + 1]):
            w = other[p]
            b = colors[w]
            if b >= 0:
                forbidden[b] = k
                if twice[b] == k:
                    # Case 1: v lies between two of colour b, so it cannot have the colour of a neighbour of theirs
                    for q in range(start[w], start[w] + shades[w]):
                        forbidden[palette[q]] = k
                else:
                    # Case 2: w is a spoke already, and v would be behind it
                    for q in range(start[w], start[w] + spokes[w]):
                        forbidden[hubs[q]] = k
        c = 0
        while forbidden[c] == k:
            c += 1
        colors[v] = c
        for p in range(start[v], start[v + 1]):
            w = other[p]
            b = colors[w]
            key = w * n + c + 1
            place = place_of(key, mask, keys)
            if keys[place] == 0:
                keys[place] = key
                first[place] = v
                palette[start[w] + shades[w]] = c
                shades[w] += 1
            elif b >= 0:
                # w has two neighbours of colour c: it is a hub, and they are spokes
                hubs[start[v] + spokes[v]] = b
                spokes[v] += 1
                x = first[place]
                if x >= 0:
                    hubs[start[x] + spokes[x]] = b
                    spokes[x] += 1
                    first[place] = -1 - x
            if b >= 0 and twice[b] == k:
                # v is a hub of its neighbours of colour b
                hubs[start[w] + spokes[w]] = c
                spokes[w] += 1
                place = place_of(v * n + b + 1, mask, keys)
                if first[place] >= 0:
                    first[place] = -1 - first[place]


def root_of(place, parent):
    """The bundle that stands for the tree of a bundle; paths are halved on the way."""
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


def acyclic(n, order, start, other, mask, keys, parent, visited, palette, shades, forbidden, colors):
    """The least colour that leaves all two-coloured structures trees.

    Bundles of the same tree have the same root in `parent`; `visited` says for which vertex a tree was met last.
    """
    for k in range(n):
        v = order[k]
        for p in range(start[v], start[v + 1]):
            b = colors[other[p]]
            if b >= 0:
                forbidden[b] = k
        for p in range(start[v], start[v + 1]):
            w = other[p]
            if colors[w] >= 0:
                for q in range(start[w], start[w] + shades[w]):
                    c = palette[q]
                    if forbidden[c] != k:
                        tree = root_of(place_of(w * n + c + 1, mask, keys), parent)
                        if visited[tree] == k:
                            forbidden[c] = k  # v would join two vertices of the tree, and close a cycle
                        visited[tree] = k
        c = 0
        while forbidden[c] == k:
            c += 1
        colors[v] = c
        for p in range(start[v], start[v + 1]):
            w = other[p]
            b = colors[w]
            if b >= 0:
                key = w * n + c + 1
                place = place_of(key, mask, keys)
                if keys[place] == 0:
                    keys[place] = key
                    palette[start[w] + shades[w]] = c
                    shades[w] += 1
                key = v * n + b + 1
                back = place_of(key, mask, keys)
                if keys[back] == 0:
                    keys[back] = key
                    palette[start[v] + shades[v]] = b
                    shades[v] += 1
                parent[root_of(place, parent)] = root_of(back, parent)
