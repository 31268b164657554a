"""Dynamic programming over an elimination order, for functions that join few elements at a time."""
