"""The objective as one mixed-integer programme, for large problems with structure."""
