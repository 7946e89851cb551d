"""The articulated hand (simple) for JAX: the program without writes."""

import jax.numpy as jnp

import problems

NOTE = "matrices by `stack` instead of writes"
module = problems.load("hand_functional")
module.np = jnp
objective = module.simple
