"""Engines for nonlinear programs: each takes a `FlatProgram` and gives an `Outcome`."""
