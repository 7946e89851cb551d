"""The command `wengert`: derivatives, traces, pages, checks and timings of functions in files, from a shell."""
