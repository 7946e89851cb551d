"""The names of the hooks that lowered functions call; `lower.py` says what they are called with."""

from __future__ import annotations

(
    IF, FOR, WHILE, AND, OR, NOT, IFEXP, CHAIN, LOAD, ATTR, ASSERT, RAISE, ITERATE, TEST, UNDEFINED_NAME, DEFINED, MADE,
    NAMED, GIVEN, SET_ATTRIBUTE, DELETE_ATTRIBUTE, DELETE_ITEM, TRYING, RAISED_HERE, CAUGHT, CATCHES, ERROR_OF,
    OWN_ERRORS, BASE,
) = LOWERED_HOOKS = (
    "_wengert_if",
    "_wengert_for",
    "_wengert_while",
    "_wengert_and",
    "_wengert_or",
    "_wengert_not",
    "_wengert_ifexp",
    "_wengert_chain",
    "_wengert_load",
    "_wengert_attr",
    "_wengert_assert",
    "_wengert_raise",
    "_wengert_iterate",
    "_wengert_test",
    "_wengert_undefined",
    "_wengert_defined",
    "_wengert_made",
    "_wengert_named",
    "_wengert_given",
    "_wengert_set_attribute",
    "_wengert_delete_attribute",
    "_wengert_delete_item",
    "_wengert_trying",
    "_wengert_raised_here",
    "_wengert_caught",
    "_wengert_catches",
    "_wengert_error_of",
    "_wengert_own_errors",
    "_wengert_base",
)  # fmt: skip
