"""The readings of a program: forward (dual), reverse (tape, linear), batched (batch)."""
