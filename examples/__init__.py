"""Programs to read and to run: `make demo`, and the gallery."""
