"""What every traced value is: NumPy's protocols, and which op each NumPy function means."""
