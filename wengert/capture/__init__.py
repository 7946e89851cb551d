"""Instrumentation of users' source: what NumPy's protocols cannot see is made visible."""
