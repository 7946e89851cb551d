"""Programs made smaller and quicker: each pass maps valid programs to valid ones with the same results."""
