"""What every traced value is: NumPy's protocols, and which op each NumPy function means."""

from wengert.box import functions  # whichever module of this folder is asked for, what functions mean is known

__all__ = ["functions"]
