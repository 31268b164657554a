"""Instance families, one to a file: ``NAME``, ``SIZES``, ``build(n, seed)``, and ``constraints(n)`` if there are."""
