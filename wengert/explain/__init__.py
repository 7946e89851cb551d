"""What people look at: the Wengert list of an evaluation, its graph, and a page that steps through both sweeps."""
