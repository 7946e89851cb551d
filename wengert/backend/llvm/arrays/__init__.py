"""Arrays in native code: where elements lie or how they are computed, and the loops that read and write them."""
