"""The articulated hand (simple) for autograd: the program without writes."""

import autograd.numpy as np

import problems

SIZES = (100,)
NOTE = "matrices by `stack` instead of writes"
module = problems.load("hand_functional")
module.np = np
objective = module.simple
