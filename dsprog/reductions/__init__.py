"""A smaller problem with the same optimum, before any search, and the way back."""
