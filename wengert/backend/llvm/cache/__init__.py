"""Compiled programs on disk: what a program is in a few bytes, and its parameters as plain data."""
