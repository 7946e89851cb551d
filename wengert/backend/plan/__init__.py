"""What is decided before code is written: which values lie in memory, where, and what is computed where it is read."""
