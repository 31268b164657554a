"""Lower bounds, one to a file."""
