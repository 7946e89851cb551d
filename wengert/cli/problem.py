"""Mistakes of a command line: what is wrong, and what to type instead."""

from __future__ import annotations


class UsageError(Exception):
    """The command cannot be carried out as it was typed; the process ends with code 2."""

    def __init__(self, problem: str, *, remedy: str):
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


class TargetError(UsageError):
    """The user's own file or function failed; the process ends with code 1, since the command was right."""
