"""Log determinants of principal submatrices against modular costs: spectral bounds with an optimised diagonal."""
