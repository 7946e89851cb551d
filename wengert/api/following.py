"""Which packages are followed into: `instrument` and `leave_alone`."""

from __future__ import annotations

from wengert.errors import told
from wengert.packages import decide


@told
def instrument(name: str) -> None:
    """Follow into a package or module, by its name, when its functions are differentiated.

    Installed packages are followed anyway, except some that compute in compiled code, have a calculus of their own, or
    have nothing to do with numbers (`wengert/packages.py` lists them). What follows is compiled once more from its
    source, so that `math`, constructors and writes in place work on traced values there.

    >>> instrument("fractions")
    """
    decide(name, True)


@told
def leave_alone(name: str) -> None:
    """Run the code of a package or module, by its name, as it is.

    >>> leave_alone("fractions")
    """
    decide(name, False)
