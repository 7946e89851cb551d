"""Loops that several threads share: which may be, how they are cut, and the pool that runs the chunks."""
