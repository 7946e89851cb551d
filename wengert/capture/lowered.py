"""The names of the hooks that lowered functions call; `lower.py` says what they are called with."""

from __future__ import annotations

_NAMES = """
    if for while and or not ifexp chain load attr assert raise iterate test undefined defined made named given
    set_attribute delete_attribute delete_item trying raised_here caught catches error_of own_errors base text is
    subject attempted failed passed default builtin rebinds chosen filtered equal ordered over_items swallowed
    managed generated extended chosen_of held listed recurses recursed default_of of_item kept
"""
(
    IF, FOR, WHILE, AND, OR, NOT, IFEXP, CHAIN, LOAD, ATTR, ASSERT, RAISE, ITERATE, TEST, UNDEFINED_NAME, DEFINED, MADE,
    NAMED, GIVEN, SET_ATTRIBUTE, DELETE_ATTRIBUTE, DELETE_ITEM, TRYING, RAISED_HERE, CAUGHT, CATCHES, ERROR_OF,
    OWN_ERRORS, BASE, TEXT, IS, SUBJECT, ATTEMPTED, FAILED, PASSED, DEFAULT, BUILTIN, REBINDS, CHOSEN, FILTERED,
    EQUAL, ORDERED, OVER_ITEMS, SWALLOWED, MANAGED, GENERATED, EXTENDED, CHOSEN_OF, HELD, LISTED,
    RECURSES, RECURSED, DEFAULT_OF, OF_ITEM, KEPT,
) = LOWERED_HOOKS = tuple([f"_wengert_{name}" for name in _NAMES.split()])  # fmt: skip
