import dsprog as ds

NAME = "BruteForce"
LARGEST = 20
SOLVER = ds.BruteForce()
