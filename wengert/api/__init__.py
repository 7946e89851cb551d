"""The operators users call, one file each."""
