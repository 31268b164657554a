"""Instance families, one to a file: ``NAME``, ``SIZES`` and ``build(n, seed)``."""
