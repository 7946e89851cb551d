"""Functions that are followed like a user's, so that their loops are captured as loops."""
