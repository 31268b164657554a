"""Compact models: every term of an objective says how it enters a mixed-integer programme."""
