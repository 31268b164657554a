"""Branch and bound on intervals of sets: the engine for f - g in general."""
