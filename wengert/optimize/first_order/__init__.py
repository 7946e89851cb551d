"""First-order methods for learning: pairs of functions on containers, which compile into the training step."""
