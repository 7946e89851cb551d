"""Loops over integers, in plain Python: functions of numbers and arrays that write what they find into arrays.

They are followed like users' code (`packages.py`), so that they can be compiled.
"""
