"""Programs to compile, by subject. Each is a plain function; see `jit/programs.py`."""
