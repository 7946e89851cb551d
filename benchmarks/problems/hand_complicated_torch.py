"""The articulated hand (complicated) for PyTorch: the program without writes."""

import torch

import problems

NOTE = "matrices by `stack` instead of writes"
module = problems.load("hand_functional")
module.np = torch
objective = module.complicated
