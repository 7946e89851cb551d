"""Networks: layers as plain dataclasses of arrays, losses, and a loop that trains them."""
