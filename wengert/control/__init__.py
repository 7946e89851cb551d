"""Ops that hold code: loop, while, cond and call, each with its derivatives and its batch rule."""

from wengert.control import call, cond, loop, while_

__all__ = ["call", "cond", "loop", "while_"]
