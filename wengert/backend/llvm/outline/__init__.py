"""Large kernels in several functions: what occurs again is written once."""
