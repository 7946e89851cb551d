"""Packages that are used where they are installed and missed with a clear error where they are not."""

from __future__ import annotations

import importlib
from typing import Any

from wengert.errors import MissingPackageError


def package(name: str, extra: str) -> Any:
    """An optional package, imported when it is first needed; `extra` is the extra of this package that brings it.

    >>> package("math", "none").pi
    3.14159
    >>> package("no_such_package", "some")
    Traceback (most recent call last):
    ...
    wengert.errors.MissingPackageError: the package no_such_package is needed here, and it is not installed
      remedy: pip install "wengert[some]"
    ...
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != name.split(".")[0]:
            raise  # it is there, and something it needs is not
        raise MissingPackageError(
            f"the package {name} is needed here, and it is not installed", remedy=f'pip install "wengert[{extra}]"'
        ) from None
