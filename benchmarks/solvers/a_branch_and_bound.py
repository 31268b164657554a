import dsprog as ds

NAME = "BranchAndBound"
LARGEST = 1000
SOLVER = ds.BranchAndBound()
