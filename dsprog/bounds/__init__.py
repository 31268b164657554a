"""Lower bounds of f - g, one to a file."""
