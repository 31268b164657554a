"""The door: check, normalise, presolve, choose, solve, lift, and the result."""
