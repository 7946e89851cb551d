def f(x, t):
    """Takes x, float64 (3,); t, float64. Returns float64 (3,), float64."""
    a = x * 2.0
    p = t > 0.0
    if p:
        a[0] = t
    else:
        t = t * 3.0
    return a, t
