"""The mathematics: set functions on batches, what they know, their algebra, constraints, problems."""
