"""The program as data: typed SSA with regions."""
